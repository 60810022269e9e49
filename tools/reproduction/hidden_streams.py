# SPDX-License-Identifier: Apache-2.0
"""Transformer-1T of Fig. 11 with streams beside computation, derived from a study in which they follow each other."""

import math
import statistics


class HiddenStreams:
    """What the study would give if weights and gradients streamed beside the computation of each pass, and that took
    `factor` times as long: from the study's own parts. A pass takes the longer of the two; a third of the computation is
    forward. A pass of streams has the rate of the most loaded link, 9P forward and 12P with gradients on the mesh."""

    PAPER_SPEEDUP = 1.44
    CHANNEL, LINK = 128, 750

    def __init__(self, mesh, fred):
        """Rows of the study by (MP, DP, PP)."""
        self.mesh, self.fred = mesh, fred
        self.stream = self.fred[(1, 20, 1)]["breakdown_ps"]["weight_streaming"] / 2
        self.mesh_rates = [trees * self.CHANNEL / self.LINK for trees in (9, 12)]

    def times(self, row, slower, factor):
        """(step, exposed communication) in ps."""
        parts = row["breakdown_ps"]
        compute = factor * parts["compute"]
        passes = [max(share * compute, slow * self.stream) for share, slow in zip((1 / 3, 2 / 3), slower)]
        other = parts["mp"] + parts["pp"]
        return sum(passes) + other, sum(passes) - compute + other

    def both(self, factor):
        for strategy, row in self.fred.items():
            yield self.times(self.mesh[strategy], self.mesh_rates, factor), self.times(row, (1, 1), factor)

    def speedup(self, factor):
        return statistics.fmean(mesh[0] / fred[0] for mesh, fred in self.both(factor))

    def exposed(self, factor):
        pairs = list(self.both(factor))
        return sum(mesh[1] for mesh, _ in pairs) / sum(fred[1] for _, fred in pairs)

    def fit(self):
        """The factor that gives the paper's speed-up, which falls as computation grows."""
        low, high = 1.0, 1024.0
        for _ in range(60):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.speedup(middle) > self.PAPER_SPEEDUP else (low, middle)
        return low
