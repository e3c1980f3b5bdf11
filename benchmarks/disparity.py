"""Error rates and power of tests of disparity between groups, and coverage, by simulation.

    python benchmarks/disparity.py [--samples 200] [--seed 0] [--held-out]

Two classifiers of three seeds predict the same cases. Their errors correlate by case, and those of
the seeds of a classifier more. Compared are the test by swaps of predictions, as before, and that
of the tables, over cases alone: a verdict also needs a small p-value over seeds. With --held-out
the cells are others, that were not used to choose the method. A share of significant sets without a
change that misses its target (6 % without a disparity, 7 % where both have the same one) by more
than two standard errors of the simulation makes the exit status 1; so does an interval of the mean
over groups, of gd, of the worst group or of a difference of worst groups that covers the truth in
fewer than 94 %.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

from evenhand.legal.classifier_tables.mitigation import worst_cell  # noqa: E402
from evenhand.legal.classifier_tables.tests import Gap, test_gap  # noqa: E402
from evenhand.metrics.classification import (  # noqa: E402
    counts_of,
    influence,
    over_all,
    stacked,
)
from evenhand.metrics.disparity import (  # noqa: E402
    disparity,
    gd_interval,
    mean_interval,
    permuted_sums,
    redrawn_sums,
    share_as_far,
    worst_interval,
)
from evenhand.metrics.inference import share_interval, total  # noqa: E402
from evenhand.metrics.paired import swapped_sums  # noqa: E402

MEASURES = {"gd": partial(np.std, axis=-1), "gap": partial(np.ptp, axis=-1)}
SEEDS, DRAWS, DELTA = 3, 199, 5.0

#: Groups with fewer cases have no interval.
FEW = 20

#: The largest share of significant sets without a change: without a disparity, and with the same.
MOST, MOST_SAME = 0.06, 0.07

#: The least coverage of an interval of 95 %.
LEAST_COVERAGE = 0.94


class Design(NamedTuple):
    """Sizes of groups, accuracies of both classifiers, and correlations of their errors.

    `shared` is that by case, `own` what the seeds of a classifier share besides. With `gaps` the
    rates compared are those of selection, which differ by so much between the first group and the
    last, where labels are positive in 30 and in 70 % of the cases.
    """

    sizes: tuple[int, ...]
    accuracies: tuple[float, float]
    shared: float = 0.3
    own: float = 0.3
    gaps: tuple[float, float] | None = None


UNEQUAL = (10, 15, 25, 40, 60, 100, 160, 300)
SIZES = {
    **{f"2 x {n}": (n,) * 2 for n in (10, 30, 100, 300)},
    **{f"5 x {n}": (n,) * 5 for n in (10, 30, 100, 300)},
    **{f"10 x {n}": (n,) * 10 for n in (10, 30, 100)},
    **{f"20 x {n}": (n,) * 20 for n in (10, 30, 100)},
    "10 to 300": UNEQUAL,
}
ACCURACIES = ((0.75, 0.75), (0.6, 0.8), (0.75, 0.9), (0.55, 0.95), (0.85, 0.97))
CHANGED = ("2 x 100", "5 x 30", "5 x 100", "10 x 100", "20 x 100", "10 to 300")
UNCHANGED = ("2 x 30", "2 x 100", "5 x 30", "5 x 100", "10 x 30", "20 x 30", "10 to 300")
OF_CLASSES = ("2 x 30", "5 x 30", "10 x 30", "10 to 300")

#: Cells that were not used to choose the method.
OTHER_SIZES = {
    "4 x 50": (50,) * 4,
    "8 x 60": (60,) * 8,
    "16 x 25": (25,) * 16,
    "3 x 200": (200,) * 3,
    "15 to 250": (250, 150, 90, 60, 40, 25, 15),
}
OTHER_ACCURACIES = ((0.9, 0.9), (0.7, 0.8), (0.8, 0.95), (0.5, 0.85), (0.88, 0.98))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=200, help="simulated sets of each cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true")
    arguments = parser.parse_args()
    missed = False
    for line, met in results(arguments.seed, arguments.samples, held_out=arguments.held_out):
        print(line + ("" if met else " **missed**"), flush=True)
        missed |= not met
    sys.exit(missed)


def results(seed: int, samples: int, *, held_out: bool) -> Iterator[tuple[str, bool]]:
    """Yield the lines of the report, and whether each meets its target."""
    sizes = OTHER_SIZES if held_out else SIZES
    accuracies = OTHER_ACCURACIES if held_out else ACCURACIES
    correlations = (0.2, 0.4) if held_out else (0.3, 0.3)
    lower = (0.15, 0.25) if held_out else (0.1, 0.2)

    def table(
        title: str,
        names: tuple[str, ...],
        pairs: tuple[tuple[float, float], ...],
        shifts: Callable[[int], tuple[np.ndarray, np.ndarray]],
        *,
        most: float = 1.0,
        classes: int = 1,
        gaps: tuple[float, float] | None = None,
    ) -> Iterator[tuple[str, bool]]:
        generator = np.random.default_rng([seed, *title.encode()])
        yield f"\n## {title}\n", True
        yield "Significant in per cent, before and now: gd; gap.\n", True
        yield f"| groups | {' | '.join(f'{a:g}, {b:g}' for a, b in pairs)} |", True
        yield "|---" * (1 + len(pairs)) + "|", True
        for name in names:
            cells, met = [], True
            for pair in pairs:
                design = Design(sizes[name], pair, *correlations, gaps)
                seen = significant(design, shifts(len(sizes[name])), classes, generator, samples)
                slack = 2 * (most * (1 - most) / samples) ** 0.5
                met &= max(seen[1], seen[3]) <= most + slack
                before, now, gap_before, gap = (f"{100 * one:.1f}" for one in seen)
                cells.append(f"{before}, {now}; {gap_before}, {gap}")
            yield f"| {name} | {' | '.join(cells)} |", met

    every = tuple(sizes)
    near = tuple(pair for pair in accuracies if pair[0] - max(lower) >= 0.4)
    yield from table("No disparity: rates", every, accuracies, fair, most=MOST)
    some = every if held_out else OF_CLASSES
    yield from table(
        "No disparity: macro-F1 of three classes", some, accuracies, fair, most=MOST, classes=3
    )
    some = every if held_out else UNCHANGED
    for points in lower:
        title = f"The same disparity: one group lower by {points:g}"
        for turn, which in enumerate(("the same", "another")):
            shifts = partial(one_low, points, turn)
            yield from table(f"{title}, {which}", some, near, shifts, most=MOST_SAME)
    some = every if held_out else CHANGED
    for points in lower:
        title = f"One group lower by {points:g} in the first classifier alone"
        yield from table(title, some, near, partial(one_low, points, None))
    for points in lower:
        title = f"Labels differ between groups; both selection rates by {points:g}"
        some, gaps = every if held_out else UNCHANGED, (points, points)
        yield from table(title, some, accuracies, fair, most=MOST_SAME, gaps=gaps)
        title = f"Labels differ between groups; selection rates by {points + 0.2:g}, {points:g}"
        some, gaps = every if held_out else CHANGED, (points + 0.2, points)
        yield from table(title, some, accuracies, fair, gaps=gaps)
    enough = {name: some for name, some in sizes.items() if min(some) >= FEW}
    yield from of_intervals(seed, samples, enough)


def of_intervals(
    seed: int, samples: int, sizes: dict[str, tuple[int, ...]]
) -> Iterator[tuple[str, bool]]:
    """Yield the coverage of 95 % intervals: of accuracies, and of macro-F1 of three classes."""
    generator = np.random.default_rng([seed, len(sizes)])
    yield "\n## Coverage of intervals\n", True
    yield "Of the mean, gd, worst group; macro-F1 (not judged); difference of worst groups.\n", True
    kinds = {"equal": 0.0, "first low": -0.15, "last low": -0.15, "rising": 0.3}
    yield f"| groups | {' | '.join(kinds)} |", True
    yield "|---" * (1 + len(kinds)) + "|", True
    for name, some in sizes.items():
        cells, met = [], True
        for kind, points in kinds.items():
            true = np.full(len(some), 0.75)
            if kind == "rising":
                true += np.linspace(-points / 2, points / 2, len(some))
            else:
                true[-1 if kind == "last low" else 0] += points
            hits = np.zeros((2, 3))
            for classes in (1, 3):
                for _ in range(samples):
                    hits[classes // 2] += covered(some, true, classes, generator)
            over = np.mean([covered_difference(some, true, generator) for _ in range(samples)])
            shares = hits / samples
            slack = 2 * (LEAST_COVERAGE * (1 - LEAST_COVERAGE) / samples) ** 0.5
            met &= min(*shares[0], over) >= LEAST_COVERAGE - slack
            both = ["/".join(f"{100 * one:.0f}" for one in part) for part in shares]
            cells.append(f"{'; '.join(both)}; {100 * over:.0f}")
        yield f"| {name} | {' | '.join(cells)} |", met


def covered(
    sizes: tuple[int, ...], true: np.ndarray, classes: int, generator: np.random.Generator
) -> list[bool]:
    """Return whether the intervals of mean, gd and worst group of a drawn set have the truth."""
    scores, intervals, influences = [], [], []
    for size, accuracy in zip(sizes, true, strict=True):
        right = generator.random(size) < accuracy
        if classes == 1:
            score, effect = right.mean(), (right - right.mean())[:, None] / size
        else:
            labels = generator.integers(classes, size=size)
            other = (labels + generator.integers(1, classes, size)) % classes
            hot = np.eye(classes, dtype=bool)
            values = stacked(hot[labels], hot[np.where(right, labels, other)][None])
            score = over_all(counts_of(values.sum(axis=0), classes))[0]
            effect = influence(values, classes, over_all)
        pseudo_values = total(score + size * effect[:, 0], np.arange(size))
        intervals.append(share_interval(pseudo_values, pseudo_values=True))
        scores.append(score)
        influences.append(effect)
    each = np.array([scores]), intervals, 0.95
    ends = mean_interval(*each), gd_interval(*each, influences=influences), worst_interval(*each)
    return [low <= part <= high for (low, high), part in zip(ends, disparity(true), strict=True)]


def covered_difference(
    sizes: tuple[int, ...], true: np.ndarray, generator: np.random.Generator
) -> bool:
    """Return whether the interval of the difference of two classifiers' worst groups has it.

    The second has the accuracies in reverse; half of their errors are shared.
    """
    codes = np.repeat(np.arange(len(sizes)), sizes)
    first, second = generator.random((2, len(codes)))
    second = np.where(generator.random(len(codes)) < 0.5, first, second)
    worst, other = (
        worst_cell((drawn < accuracy[codes])[:, None].astype(float), codes)
        for drawn, accuracy in ((first, true), (second, true[::-1]))
    )
    _, low, high = worst.over(other)
    return low <= 0 <= high


def fair(groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Return no shift of any group, of both classifiers."""
    return np.zeros(groups), np.zeros(groups)


def one_low(points: float, turn: int | None, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a shift of one group; of the second classifier in a group `turn` on, or of none."""
    shift = np.zeros(groups)
    shift[groups // 2] = -points
    return shift, np.zeros(groups) if turn is None else np.roll(shift, turn)


def significant(
    design: Design,
    shifts: tuple[np.ndarray, np.ndarray],
    classes: int,
    generator: np.random.Generator,
    samples: int,
) -> np.ndarray:
    """Return the share of significant sets: gd by swaps, gd now, gap by swaps, gap now."""
    sets = [one_set(design, shifts, classes, generator) for _ in range(samples)]
    return np.mean(np.array(sets) < 0.05, axis=0)


def selection_rates(
    design: Design, codes: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Return the rate at which each classifier selects each case, (2, cases), by drawn labels.

    Groups are shifted, in proportion to their share of positive labels, as far as makes the gap.
    """
    place = np.linspace(-0.5, 0.5, len(design.sizes))
    positive = 0.5 + 0.4 * place
    labels = generator.random(len(codes)) < positive[codes]
    rates = []
    for accuracy, gap in zip(design.accuracies, design.gaps, strict=True):
        margin = special.logit(accuracy)

        def beyond(shift: float, margin: float = margin, gap: float = gap) -> float:
            ends = positive * special.expit(margin + shift * place)
            ends += (1 - positive) * special.expit(shift * place - margin)
            return ends[-1] - ends[0] - gap

        shift = optimize.brentq(beyond, -20, 20)
        rates.append(special.expit(np.where(labels, margin, -margin) + shift * place[codes]))
    return np.array(rates)


def one_set(
    design: Design,
    shifts: tuple[np.ndarray, np.ndarray],
    classes: int,
    generator: np.random.Generator,
) -> list[float]:
    """Return the p-values of one set: gd by swaps, gd now, gap by swaps, gap now."""
    codes = np.repeat(np.arange(len(design.sizes)), design.sizes)
    groups, count = len(design.sizes), len(codes)
    draws = [generator.normal(size=shape) for shape in ((1, 1, count), (2, 1, count))]
    rest = generator.normal(size=(2, SEEDS, count))
    margins = design.shared**0.5 * draws[0] + design.own**0.5 * draws[1]
    margins = margins + (1 - design.shared - design.own) ** 0.5 * rest
    if design.gaps:
        rates = selection_rates(design, codes, generator)[:, None]
    else:
        rates = np.add(np.array(design.accuracies)[:, None], shifts)[:, None, codes]
    hits = margins < special.ndtri(rates)
    strata = None
    if classes == 1:
        values = [some.T.astype(np.float32) for some in hits]
    else:  # a wrong prediction is the next class
        true = strata = generator.integers(classes, size=count)
        predicted = (true + ~hits) % classes
        known = np.arange(classes)
        values = [stacked(true[:, None] == known, some[..., None] == known) for some in predicted]

    def scores(sums: np.ndarray) -> np.ndarray:
        """Return scores (..., runs, groups) from sums (..., groups, m)."""
        if classes == 1:
            return 100 * np.swapaxes(sums, -1, -2) / np.array(design.sizes)
        return 100 * np.swapaxes(over_all(counts_of(sums, classes)), -1, -2)

    seeds = generator.integers(2**32, size=2).tolist()
    draw = {"seed": seeds[0], "strata": strata}
    both = np.hstack(values), codes, groups
    noise = [
        np.stack([scores(some) for some in np.split(drawn, 2, axis=-1)], axis=1)
        for drawn in (
            permuted_sums(*both, permutations=DRAWS, **draw),
            redrawn_sums(*both, draws=DRAWS, **draw),
        )
    ]
    whole = [(codes == np.arange(groups)[:, None]).astype(np.float32) @ some for some in values]
    swapped = swapped_sums(*values, codes, groups, seed=seeds[1], swaps=DRAWS)
    seen, others = np.stack([scores(some) for some in whole]), scores(sum(whole) - swapped)
    swapped = scores(swapped)
    p_values = []
    for measure in MEASURES.values():
        by_swaps = np.abs((measure(swapped) - measure(others)).mean(axis=-1))
        difference = np.abs((measure(seen[0]) - measure(seen[1])).mean())
        p_values.append(float(share_as_far(by_swaps, difference)))
        gap = Gap(measure, seen, *noise, np.array(design.sizes))
        p_values.append(test_gap(gap, DELTA)["p_cases"])
    return p_values


if __name__ == "__main__":
    main()
