"""The grid of linear classifiers: attributes x objectives x seeds, and what it costs.

    python benchmarks/linear_grid.py [--epochs 1] [--attributes 2] [--full]
        [--cases 10000] [--features 5000] [--words 150] [--seeds 5] [--batch 16]
        [--objectives erm erm_group_uniform group_dro v_rex irm adversarial] [--skip-plain]

The grid is ten attributes, with as many groups as FairLex's ten have, times the objectives times
the seeds, each training 20 epochs long: nobody stops early, so that it is the most it can cost.
`--attributes` says how many of the attributes are measured (spread over the ten), `--epochs` how
many epochs of each training; the rest is extrapolated, in proportion to attributes and epochs.
`--full` measures all. One thread; what several processors do at once divides the seconds.

Beside it, in the same run, a training as one would write it: `evenhand.learning.trainer` on a
dense layer, seed after seed, on the same cases and batches (its first steps).

Cases are synthetic: n-grams by Zipf's law, `--words` different ones a case on average (SCOTUS 140,
CAIL 170, ECtHR 870), weights as TF-IDF's, eleven classes, 80 % for training.
"""

import argparse
import contextlib
import io
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import nn

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "workflow")]

from evenhand.learning import loop  # noqa: E402
from evenhand.learning.examples import Examples  # noqa: E402
from evenhand.learning.linear import train_models  # noqa: E402
from evenhand.learning.objective import Objective, load_objective  # noqa: E402
from evenhand.learning.problem import Problem  # noqa: E402
from evenhand.learning.settings import Settings  # noqa: E402
from evenhand.learning.trainer import Training  # noqa: E402
from evenhand.scoring.device import repeatable  # noqa: E402

#: The groups of FairLex's attributes, the unknown ones included.
GROUPS = (2, 3, 4, 5, 2, 3, 6, 9, 2, 7)

OBJECTIVES = ("erm", "erm_group_uniform", "group_dro", "v_rex", "irm", "adversarial")

CLASSES, EPOCHS, PLAIN_STEPS = 11, 20, 60


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=5_000)
    parser.add_argument("--words", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--attributes", type=int, default=2)
    parser.add_argument("--objectives", nargs="+", default=OBJECTIVES)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--skip-plain", action="store_true")
    arguments = parser.parse_args()
    if arguments.full:
        arguments.epochs, arguments.attributes = EPOCHS, len(GROUPS)
    torch.set_num_threads(1)
    matrix, cases = made(arguments)
    of = range(0, len(GROUPS), -(-len(GROUPS) // arguments.attributes))
    warm = Settings(learning_rate=0.1, batch=arguments.batch, epochs=1, patience=1)
    few = replace(cases, train=cases.train[:64])
    train_models(matrix, Problem(few, load_objective("erm"), {}, warm), [0])
    print(f"| objective | ms a step of {arguments.seeds} seeds | the same plainly |", end="")
    print(f" times as fast | s for {len(GROUPS)} attributes | wall s |")
    print("|---|---|---|---|---|---|")
    total = np.zeros(2)
    for name in arguments.objectives:
        objective = load_objective(name)
        spent, steps = np.zeros(2), 0
        for which in of:
            examples = with_groups(cases, GROUPS[which], which)
            one, taken = stacked(matrix, examples, objective, arguments)
            spent += one
            steps += taken
        of_plain = float("nan")
        if not arguments.skip_plain:
            of_plain = plain(matrix, examples, objective, arguments) * arguments.seeds * 1e3
        a_step = spent[0] / steps * 1e3
        whole = spent * len(GROUPS) / len(of) * EPOCHS / arguments.epochs
        total += whole
        print(
            f"| {name} | {a_step:.2f} | {of_plain:.1f} | {of_plain / a_step:.1f} |"
            f" {whole[0]:.0f} | {whole[1]:.0f} |",
            flush=True,
        )
    trainings = len(GROUPS) * len(arguments.objectives) * arguments.seeds
    measured = "measured" if arguments.full else "extrapolated"
    print(
        f"| all {trainings} trainings, {measured} | | | | {total[0]:.0f}"
        f" ({total[0] / 60:.1f} min of one processor) | {total[1]:.0f} |"
    )


def made(arguments: argparse.Namespace) -> tuple[csr_matrix, Examples]:
    """Cases whose class a linear model can tell, with noise."""
    generator = np.random.default_rng(1)
    share = 1 / np.arange(2, arguments.features + 2)
    share *= arguments.words / share.sum()
    for _ in range(20):  # no n-gram stands in more than nine cases of ten
        share = np.minimum(share * arguments.words / share.sum(), 0.9)
    hits = generator.random((arguments.cases, arguments.features), dtype=np.float32) < share
    matrix = csr_matrix(hits, dtype=np.float32)
    counts = 1 + generator.geometric(0.6, matrix.nnz)
    matrix.data[:] = counts * np.log(1 / share)[matrix.indices]
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix.data /= np.repeat(np.maximum(lengths, 1e-9), np.diff(matrix.indptr))
    scores = matrix @ generator.normal(size=(arguments.features, CLASSES)).astype(np.float32)
    labels = (scores + generator.gumbel(size=scores.shape) * 0.3).argmax(axis=1)
    rows = generator.permutation(arguments.cases)
    ends = int(0.8 * len(rows)), int(0.9 * len(rows))
    return matrix, Examples(
        ids=[str(row) for row in range(arguments.cases)],
        labels=labels,
        classes=CLASSES,
        task="multi_class",
        train=np.sort(rows[: ends[0]]),
        dev=np.sort(rows[ends[0] : ends[1]]),
    )


def with_groups(cases: Examples, groups: int, seed: int) -> Examples:
    """The cases with an attribute whose groups get smaller by a half each."""
    share = 0.5 ** np.arange(groups)
    drawn = np.random.default_rng([2, seed]).choice(groups, len(cases.ids), p=share / share.sum())
    names = tuple(map(str, range(groups)))
    return replace(cases, groups=drawn, group_names=names, known_groups=groups)


def settings(arguments: argparse.Namespace) -> Settings:
    epochs = arguments.epochs
    return Settings(learning_rate=0.1, batch=arguments.batch, epochs=epochs, patience=epochs)


def stacked(
    matrix: csr_matrix, examples: Examples, objective: Objective, arguments: argparse.Namespace
) -> tuple[np.ndarray, int]:
    """Seconds (of the processor, of the clock) of all seeds, and their steps."""
    before = time.process_time(), time.perf_counter()
    seeds = range(arguments.seeds)
    problem = Problem(examples, objective, objective.OPTIONS, settings(arguments))
    models = train_models(matrix, problem, list(seeds))
    spent = time.process_time() - before[0], time.perf_counter() - before[1]
    return np.array(spent), models[0].trained.steps


class Dense(nn.Module):
    """A layer; the adversary reads its logits."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, CLASSES)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits = self.layer(x)
        return logits, logits


def plain(
    matrix: csr_matrix, examples: Examples, objective: Objective, arguments: argparse.Namespace
) -> float:
    """Processor seconds of a step of one seed, without stacks."""
    how = replace(settings(arguments), epochs=1)
    few = replace(examples, train=examples.train[: PLAIN_STEPS * arguments.batch])
    few = replace(few, dev=few.dev[:16])
    dense = torch.from_numpy(matrix.toarray())
    with repeatable(0, threads=how.threads), contextlib.redirect_stderr(io.StringIO()):
        problem = Problem(few, objective, objective.OPTIONS, how)
        model = Dense(matrix.shape[1])
        before = time.process_time()
        batcher = lambda rows: dense[rows]  # noqa: E731
        training = Training(model, batcher, problem, 0, CLASSES, "cpu", None)
        loop.run(training, None, {}, title="train")
        return (time.process_time() - before) / training.step


if __name__ == "__main__":
    main()
