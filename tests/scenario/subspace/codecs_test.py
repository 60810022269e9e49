#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scenarios/subspace/training_codecs.json: what each codec between the stages costs in loss and gains in time, three seeds, 1500
steps. Prints a table; the order is held, not the numbers."""
import sys

import product

FILE = product.REPOSITORY / "scenarios" / "subspace" / "training_codecs.json"
SEEDS = (1, 2, 3)


def main():
    arguments = product.parser().parse_args()
    checks = product.Checks()
    run = product.run(arguments.wafervp, FILE, "--quiet", timeout=3400)
    checks.that(run.status == 0, "runs", run.output[-300:])
    if run.status != 0:
        return checks.status()
    rows = {row["name"]: row for row in run.summary["variants"]}
    names = list(dict.fromkeys(name.split("-seed=")[0] for name in rows))
    loss = {name: [rows[f"{name}-seed={seed}"]["final_loss"] for seed in SEEDS] for name in names}
    mean = {name: sum(each) / len(each) for name, each in loss.items()}
    print(f"{'variant':15} " + " ".join(f"seed {seed} " for seed in SEEDS) + "   mean   simulated s")
    for name in names:
        seconds = rows[f"{name}-seed=1"]["time_ps"] / 1e12
        print(f"{name:15} " + " ".join(f"{each:7.4f}" for each in loss[name]) + f" {mean[name]:7.4f} {seconds:9.1f}")

    # Exact codecs: the same bits, or rounding that 1500 steps of fp32 may let grow.
    checks.that(loss["lossless"] == loss["free"], "lossless changes no bit")
    for with_codec, without in zip(loss["subspace"], loss["subspace_model"]):
        checks.within(with_codec, without - 0.01, without + 0.01, "the subspace codec on the model that keeps to it")
    # A restricted model learns as well here; both come near the chain's 1.063 from ln 64 = 4.159.
    checks.within(mean["subspace"] - mean["free"], -0.1, 0.1, "the model in the subspace over the unconstrained one")
    for mild in ("bf16", "int8", "zfp"):
        checks.within(mean[mild] - mean["free"], -0.02, 0.02, f"{mild} over none")
    checks.within(mean["subspace_bf16"] - mean["subspace"], -0.03, 0.03, "coefficients in bf16 over fp32")
    # What travels and what is lost decide the order; the chain decides how far the losses lie apart.
    order = ("free", "int4", "plain_projection", "top_k")
    for less, more in zip(order, order[1:]):
        checks.that(max(loss[less]) < min(loss[more]), f"{more} loses more than {less}, whatever the seed")
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
