# SPDX-License-Identifier: Apache-2.0
"""Rules 8 to 12 of modules/link/README.md for errors that overlap, packet by packet, with random numbers of its own: how often
the links of a tree send what they have sent before. Nothing of the product is used here."""
import collections
import heapq
import math

PACKET, CONTROL = 4096, 512


class Link:
    """A link of a tree of links from (or to) an I/O controller."""

    def __init__(self, rate, latency, above):
        self.packet, self.latency, self.above = PACKET * 10**12 / rate, latency, above
        self.control = CONTROL * 10**12 / rate
        # From the start of a packet in error to the time when this end knows; when the first link is asked; when
        # the packet is here once more.
        self.told = self.packet + 2 * latency + self.control
        self.asked = self.told + sum(each.latency + each.control for each in above)
        self.back = self.asked + sum(each.latency for each in above)
        self.free = self.errors = 0


def draws(q, random):
    """Tries of a link until one fails, again and again."""
    return lambda: math.inf if q == 0 else int(math.log(1 - random.random()) / math.log1p(-q))


def load(tree, packets, q, random):
    """Weights: links in the order from the channel on, each with the links between (the nearest to the controller first).
    (packets that the channel sends again, errors of each link)."""
    channel, rest = tree[0], tree[1:]
    clear = draws(q, random)
    until_error = [clear() for _ in tree]
    errors = [0] * len(tree)
    parent = [tree.index(link.above[-1]) if link.above else None for link in tree]
    requests, again, now, frontier, owed = [], 0, 0.0, 0, 0
    for link in tree:
        link.free = 0.0
    passed = [0.0] * len(tree)

    def take(now, owed):
        while requests and requests[0][0] <= now:
            owed += max(0, frontier - heapq.heappop(requests)[1])
        return owed

    while frontier < packets:
        owed = take(now, owed)
        if owed:
            owed -= 1
            again += 1
            now += channel.packet
            continue
        if until_error[0] == 0:
            # In error: all that the channel sends until it knows is in vain, and if it has been asked, that.
            errors[0] += 1
            until_error[0] = clear()
            told, end = now + channel.told, packets - frontier
            while now < told:
                owed = take(now, owed)
                if owed:
                    owed -= 1
                elif end:
                    end -= 1
                else:
                    break
                again += 1
                now += channel.packet
            now = max(now, told)
            continue
        until_error[0] -= 1
        passed[0] = now
        for i, link in enumerate(rest, 1):
            above = tree[parent[i]]
            start = max(passed[parent[i]] + above.latency + max(0, above.packet - link.packet), link.free)
            while until_error[i] == 0:
                errors[i] += 1
                until_error[i] = clear()
                heapq.heappush(requests, (start + link.asked, frontier))
                start += link.back
            until_error[i] -= 1
            passed[i] = start
            link.free = start + link.packet
        frontier += 1
        now += channel.packet
    # What is asked for behind the last packet.
    again += owed
    while requests:
        again += max(0, frontier - heapq.heappop(requests)[1])
    return again, errors


class Sum:
    """A link of a tree of sums: `behind` are those that end in the switch that feeds it, none where a source does."""

    def __init__(self, rate, latency, behind=()):
        self.packet, self.latency, self.behind = PACKET * 10**12 / rate, latency, behind
        self.control = CONTROL * 10**12 / rate
        self.told = self.packet + 2 * latency + self.control
        # To the time when all sources have sent it once more.
        self.nack = max((2 * each.latency + each.control + each.nack for each in behind), default=0)


def store(channel, packets, spacing, q, random):
    """Gradients: a packet from each source every `spacing`. (packets that the channel sends again, its errors, those of the
    other links, ps by which the last packet is later)."""
    clear = draws(q, random)
    count = collections.Counter()

    def passing(link):
        """When each packet begins to pass the link for good; the same without errors for the last one."""
        if link.behind:
            inputs = [(each, *passing(each)) for each in link.behind]
            slower = [each.latency + max(0, each.packet - link.packet) for each, _, _ in inputs]
            ready = [max(times) for times in zip(*([time + more for time in times]
                                                   for more, (_, times, _) in zip(slower, inputs)))]
            clean = max(last + more for more, (_, _, last) in zip(slower, inputs))
        else:
            ready, clean = [spacing * j for j in range(packets)], spacing * (packets - 1)
        free, until_error, starts = 0.0, clear(), []
        for j, here in enumerate(ready):
            start = max(here, free)
            while until_error == 0:
                until_error = clear()
                in_vain, free = 0, start
                while j + in_vain < packets and max(ready[j + in_vain], free) < start + link.told:
                    free = max(ready[j + in_vain], free) + link.packet
                    in_vain += 1
                count[link is channel, "errors"] += 1
                count[link is channel, "again"] += in_vain
                start = max(free, start + link.told + link.nack)
            until_error -= 1
            starts.append(start)
            free = start + link.packet
        return starts, clean

    starts, clean = passing(channel)
    return count[True, "again"], count[True, "errors"], count[False, "errors"], starts[-1] - clean
