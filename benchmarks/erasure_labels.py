"""Does erasure keep accuracy, or the worst cell, as `select` asks, where labels are unequal?

    python benchmarks/erasure_labels.py [--seeds 201 202 203]

Gaussian features whose mean moves with the label and with the group. In training most cases have
their label's group, in test label and group are independent. For each design the accuracy and the
worst cell of label x group, means over the seeds, of logistic regression on cells that weigh alike
(balanced batches), and of LEACE with each `select`.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "workflow")]

from evenhand.learning.erasure import fit_last_layer  # noqa: E402
from evenhand.learning.examples import Examples  # noqa: E402
from evenhand.learning.objective import load_objective  # noqa: E402
from evenhand.learning.problem import Problem  # noqa: E402
from evenhand.learning.settings import Settings  # noqa: E402

WIDTH, TRAIN, DEV, TEST = 24, 1200, 400, 6000

#: Shares of the labels, number of groups, share of cases that have their label's group.
DESIGNS = {
    "equal labels": ([0.5, 0.5], 2, 0.9),
    "80 and 20 %": ([0.8, 0.2], 2, 0.9),
    "three labels": ([0.5, 0.3, 0.2], 2, 0.9),
    "three groups": ([0.5, 0.5], 3, 0.85),
    "three of each": ([0.6, 0.25, 0.15], 3, 0.85),
}
METHODS = {"balanced batches": None, "macro_f1": "macro_f1", "worst_group_f1": "worst_group_f1"}


def drawn(rng, n, shares, groups, aligned, means):
    """Return features (n, WIDTH), labels and groups (n,)."""
    labels = rng.choice(len(shares), n, p=shares)
    same = rng.random(n) < aligned
    group = np.where(same, labels % groups, rng.integers(0, groups, n))
    return rng.normal(size=(n, WIDTH)) + means[0][labels] + means[1][group], labels, group


def scores(seed, shares, groups, aligned):
    """Return accuracy and worst cell of each method."""
    rng, n = np.random.default_rng(seed), TRAIN + DEV
    means = [rng.normal(size=(k, WIDTH)) * size for k, size in ((len(shares), 0.4), (groups, 0.6))]
    x, labels, group = drawn(rng, n, shares, groups, aligned, means)
    examples = Examples(
        ids=[str(row) for row in range(n)], labels=labels, classes=len(shares), task="multi_class",
        train=np.arange(TRAIN), dev=np.arange(TRAIN, n), groups=group,
        group_names=[str(one) for one in range(groups)], known_groups=groups,
    )  # fmt: skip
    unseen, truth, cells = drawn(rng, TEST, shares, groups, 0, means)
    module = load_objective("leace")
    for select in METHODS.values():
        if select is None:
            layer = fit_last_layer(x, examples, examples.train, examples.dev)
        else:
            problem = Problem(examples, module, module.OPTIONS, Settings(select=select))
            layer = module.last_layer(x, problem, np.arange(n))
        right = (unseen @ layer.weight + layer.bias).argmax(axis=1) == truth
        codes = truth * groups + cells
        yield right.mean(), min(right[codes == code].mean() for code in np.unique(codes))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[*range(201, 213)])
    seeds = parser.parse_args().seeds
    print("| design |", *(f"{name}: accuracy, worst cell |" for name in METHODS))
    print("|---" * (len(METHODS) + 1) + "|")
    for name, design in DESIGNS.items():
        found = np.mean([[*scores(seed, *design)] for seed in seeds], axis=0)
        print(f"| {name} |", *(f"{some[0]:.3f}, {some[1]:.3f} |" for some in found), flush=True)


if __name__ == "__main__":
    main()
