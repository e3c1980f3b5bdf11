"""Error rates and power of the tests and intervals of clustered items, by simulation.

    python benchmarks/inference.py [--pairs crows_pairs_anonymized.csv] [--samples 1000] [--seed 0]

The clusters are those of CrowS-Pairs: pairs that swap the same words. Without --pairs their sizes
are read from a list in this file, and no two share a word. Rates of clusters are drawn from
Beta(p s, (1 - p) s), so that items of one cluster correlate by 1 / (s + 1). For macro-F1 there are
equal and unequal clusters, within which classes and errors correlate, and independent cases. Where
swaps share words, the model prefers some words to others; where pairs share templates, it prefers
the stereotype more in some of them than in others. A rate that misses its target by
more than two standard errors of the simulation makes the exit status 1.
"""

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

from evenhand.metrics import classification, inference  # noqa: E402
from evenhand.metrics.inference import Totals  # noqa: E402
from evenhand.stereotypes.clusters import swapped_words  # noqa: E402

#: By bias type: sizes of the clusters and how many clusters have them, counted in CrowS-Pairs.
SIZES = {
    "all": "181 49 43 37 35 27 23 19 16 15x2 14x2 13 10 9 8 7x4 6x6 5x7 4x7 3x20 2x54 1x685",
    "race-color": "180 22 14 10 6x3 5x2 4 3x9 2x22 1x187",
    "socioeconomic": "49 19 6 2x3 1x92",
    "gender": "42 34 15 7x2 6 5 4 3x3 2x8 1x117",
    "disability": "7x2 2x3 1x40",
    "nationality": "11 5 4x2 3x4 2x6 1x111",
    "sexual-orientation": "37 4x2 2x3 1x33",
    "physical-appearance": "4x2 3x5 1x40",
    "religion": "15 13 11 9 6 3 2x4 1x40",
    "age": "27 4 2x5 1x46",
}

#: The targets hold for clusters that are worth at least so many.
LEAST_EFFECTIVE = 10

CORRELATIONS = (0.0, 0.05, 0.3, 1.0)
RATES = (0.5, 0.55, 0.6, 0.65, 0.7)

#: Rates near the border, numbers of clusters and their size, and correlations within them.
BORDER_RATES = (0.9, 0.95, 0.98)
FEW_CLUSTERS = ((8, 25), (12, 20), (12, 60), (30, 25))
BORDER_CORRELATIONS = (0.05, 0.3, 0.6)
DELTA = 0.05

#: Effective clusters of labelled cases, by kind; independent cases are clusters of their own.
CLUSTERED = {"equal": (10, 30, 100), "unequal": (10, 30, 100), "independent": (150, 1000)}

#: Lists of words, the share of their swaps that a set has, and the most pairs of a swap. The last
#: was not used to choose the method.
LISTS = {
    "10 × 10": (10, 10, 1.0, 1),
    "20 × 20": (20, 20, 1.0, 1),
    "5 × 40": (5, 40, 1.0, 1),
    "8 × 30, half of the swaps, 1 to 4 pairs": (8, 30, 0.5, 4),
}

#: The deviations of the preferences for words, by list.
EFFECTS = {"neither": (0, 0), "first": (1, 0), "second": (0, 1), "both": (1, 1)}

#: The bias types of CrowS-Pairs whose words have preferences too, with --pairs.
SHARED = ("all", "nationality", "religion", "gender")

#: How much the preference of a pair varies besides that of its words, whose deviation is 1.
NOISES = (0, 1, 2)

#: A list of at least so many words, each in as many swaps, has the target for skewed values.
ENOUGH_WORDS = 10

#: Templates that are crossed with 26 swaps, the share of these pairs that a set has, and the
#: deviations of the preferences in templates and for swaps, where that of a pair is 1; infinite:
#: the template alone decides. Of fewer than 8 templates there is no interval.
TEMPLATES, PRESENT = (8, 12, 20, 50), (1.0, 0.5)
IN_TEMPLATES, FOR_SWAPS = (0, 0.3, 0.6, 1, np.inf), 0.5

#: Numbers of templates, of words that take turns in each, and of swaps in each such sentence; and
#: the deviations of preferences in templates and for these words, where that of a pair is 1.
TAKING_TURNS = (
    (10, 10, 12), (8, 8, 8), (12, 9, 30), (30, 20, 3), (12, 16, 1), (5, 16, 1), (6, 8, 12),
    (1, 30, 12), (30, 3, 12),
)  # fmt: skip
TURNS = ((0, 0), (0.6, 0), (0, 0.6), (0.6, 0.6), (1, 0), (0, 1), (1, 1))

#: The true rates at which pairs of shared words or templates are tested.
SHARED_RATES = (0.5, 0.65)


#: Scores of pairs with ties, and ties as parts of the most that a score allows. A score of 90 can
#: have 20 % of ties, and then no pair that prefers the other side.
TIED_SCORES = (0.5, 0.7, 0.9, 0.95, 0.97)
TIED_PARTS = (0.1, 0.5, 0.9)


class Clusters(NamedTuple):
    """The sizes of clusters of pairs, and their two words; None if they share none."""

    sizes: np.ndarray
    words: np.ndarray | None = None

    @property
    def effective(self) -> float:
        return inference.effective_number(self.sizes)


#: Shares of the classes, and true values of macro-F1.
CLASSES = {
    "2 equal": [0.5, 0.5],
    "2, 90/10": [0.9, 0.1],
    "5 equal": [0.2] * 5,
    "5, 60/10": [0.6] + [0.1] * 4,
}
SCORES = (0.5, 0.8, 0.95)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path, help="CSV with CrowS-Pairs' columns")
    parser.add_argument("--samples", type=int, default=1000, help="simulated sets of each cell")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    clusters = read_clusters(arguments.pairs) if arguments.pairs else listed_clusters()
    generator = np.random.default_rng(arguments.seed)
    missed = False
    for line, met in results(clusters, generator, arguments.samples):
        print(line + ("" if met else " **missed**"), flush=True)
        missed |= not met
    sys.exit(missed)


def listed_clusters() -> dict[str, Clusters]:
    """Return the clusters by bias type, from the list of this file."""
    found = {}
    for name, words in SIZES.items():
        parts = [word.partition("x") for word in words.split()]
        sizes = np.repeat(*np.array([(int(a), int(b or 1)) for a, _, b in parts]).T)
        found[name] = Clusters(sizes)
    return found


def read_clusters(path: Path) -> dict[str, Clusters]:
    """Return the clusters by bias type, from a file of pairs."""
    counts: dict[str, Counter[str]] = {"all": Counter()}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            swap = swapped_words(row["sent_more"], row["sent_less"])
            for name in ("all", row["bias_type"]):
                counts.setdefault(name, Counter())[swap] += 1
    return {
        name: Clusters(np.array([*own.values()]), inference.swap_codes([*own]))
        for name, own in counts.items()
    }


def draw_hits(
    clusters: Clusters, rate: float, correlation: float, generator: np.random.Generator
) -> Totals:
    """Draw a set whose pairs prefer the stereotype at a rate, and sum it by cluster."""
    sizes = clusters.sizes
    if 0 < correlation < 1:
        spread = 1 / correlation - 1
        rates = generator.beta(rate * spread, (1 - rate) * spread, size=len(sizes))
    else:
        rates = generator.random(len(sizes)) < rate if correlation else np.full(len(sizes), rate)
    hits = generator.binomial(sizes, rates).astype(float)
    return Totals(hits, sizes.astype(float), float(hits.sum()), words=clusters.words)


def draw_tied(
    sizes: np.ndarray, score: float, part: float, correlation: float, generator: np.random.Generator
) -> Totals:
    """Draw a set with at least one tie, whose expected score and ties are given."""
    ties = part * 2 * min(score, 1 - score)
    chances = np.array([score - ties / 2, ties, 1 - score - ties / 2])
    while True:
        rates = np.tile(chances, (len(sizes), 1))
        if correlation == 1:
            rates = generator.multinomial(1, chances, size=len(sizes)).astype(float)
        elif correlation:
            rates = generator.dirichlet(chances * (1 / correlation - 1), size=len(sizes))
        hits, tied, _ = generator.multinomial(sizes, rates).T
        if tied.any():
            sums = hits + tied / 2
            return Totals(sums, sizes.astype(float), float((hits + tied / 4).sum()))


def draw_shared(
    clusters: Clusters,
    effects: tuple[float, float],
    noise: float,
    rate: float,
    generator: np.random.Generator,
) -> Totals:
    """Draw a set whose model prefers words to different degrees, and sum it by cluster.

    `effects` are the deviations of the preferences for first and second words.
    """
    member_of = np.repeat(np.arange(len(clusters.sizes)), clusters.sizes)
    of_word = generator.normal(size=clusters.words.max() + 1)
    margin = (of_word[clusters.words] * effects).sum(axis=1)[member_of]
    margin = margin + noise * generator.normal(size=len(member_of))
    deviation = (np.square(effects).sum() + noise**2) ** 0.5
    chosen = (margin + deviation * special.ndtri(rate) > 0).astype(float)
    hits = np.bincount(member_of, weights=chosen)
    return Totals(hits, clusters.sizes.astype(float), float(hits.sum()), words=clusters.words)


def draw_values(
    clusters: Clusters, correlation: float, generator: np.random.Generator, skewed: bool
) -> Totals:
    """Draw a set of values with the mean 0 and the variance 1, and sum it by cluster."""
    sizes = clusters.sizes
    member_of = np.repeat(np.arange(len(sizes)), sizes)
    shape = (generator.standard_exponential, 1) if skewed else (generator.standard_normal, 0)
    shared, own = (shape[0](count) - shape[1] for count in (len(sizes), len(member_of)))
    values = correlation**0.5 * shared[member_of] + (1 - correlation) ** 0.5 * own
    words = member_of if clusters.words is None else clusters.words[member_of]
    return inference.total(values, words)


def covers(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] <= truth <= interval[1]


def holds(seen: float, target: float, samples: int, *, most: bool = False) -> bool:
    """Whether a simulated rate meets a target, within two standard errors."""
    slack = 2 * (target * (1 - target) / samples) ** 0.5
    return seen <= target + slack if most else seen >= target - slack


def coverage(
    clusters: Clusters,
    correlation: float,
    generator: np.random.Generator,
    samples: int,
    rates: tuple[float, ...] = RATES,
) -> list[float]:
    """Return the coverage of the interval of a share at each rate."""
    return [
        np.mean(
            [
                covers(
                    inference.korn_graubard(draw_hits(clusters, rate, correlation, generator)), rate
                )
                for _ in range(samples)
            ]
        )
        for rate in rates
    ]


def of_borders(generator: np.random.Generator, samples: int) -> Iterator[tuple[str, bool]]:
    """Yield the coverage of shares near 1, which few clusters may not reach."""
    yield "\n## Coverage of the 95 % interval of a share near its border\n", True
    yield "No target: a few clusters hold too few misses to show how much they vary.\n", True
    yield row(["clusters", "correlation", *percents(BORDER_RATES)]), True
    yield "|---" * (2 + len(BORDER_RATES)) + "|", True
    for number, size in FEW_CLUSTERS:
        for correlation in BORDER_CORRELATIONS:
            clusters = Clusters(np.full(number, size))
            seen = coverage(clusters, correlation, generator, samples, BORDER_RATES)
            yield row([f"{number} x {size}", f"{correlation:g}", *percents(seen)]), True


def results(
    clusters: dict[str, Clusters], generator: np.random.Generator, samples: int
) -> Iterator[tuple[str, bool]]:
    """Yield the lines of the report, and whether each meets its target."""
    enough = {name: own for name, own in clusters.items() if own.effective >= LEAST_EFFECTIVE}
    yield f"Seed by argument, {samples} sets a cell; rates in per cent.\n", True
    yield "## Coverage of the 95 % interval of a share\n", True
    yield "Target: at least 94, and 92 at correlation 1.\n", True
    rates = " | ".join(f"{100 * rate:g}" for rate in RATES)
    yield f"| clusters | effective | correlation | {rates} |", True
    yield "|---" * (3 + len(RATES)) + "|", True
    for name, own in enough.items():
        for correlation in CORRELATIONS:
            seen = coverage(own, correlation, generator, samples)
            target = 0.92 if correlation == 1 else 0.94
            cells = [name, f"{own.effective:.1f}", f"{correlation:g}", *percents(seen)]
            yield row(cells), all(holds(one, target, samples) for one in seen)
    yield "\n## Verdicts\n", True
    yield "Targets: at most 6 % significant at 50; at correlation .05 and all pairs at least", True
    yield "75 % at 55 and 92 % at 57.5; at most 5 % equivalent at 55 (delta is 5 points).\n", True
    yield (
        row(["clusters", "rate", "correlation", "significant", "equivalent", "stated power"]),
        True,
    )
    yield "|---" * 6 + "|", True
    for name in dict.fromkeys(("all", "gender", *enough)):
        if name not in enough:
            continue
        for rate in (0.5, 0.55, 0.575, 0.6) if name in ("all", "gender") else (0.5, 0.55):
            for correlation in CORRELATIONS:
                yield verdicts(name, enough[name], rate, correlation, generator, samples)
    yield "\n## Coverage of the 95 % interval of a mean\n", True
    yield row(["clusters", "correlation", "normal", "exponential"]), True
    yield "|---" * 4 + "|", True
    for name in [name for name in ("all", "gender", "religion") if name in enough]:
        for correlation in CORRELATIONS:
            seen = [
                mean_coverage(enough[name], correlation, generator, samples, skewed)
                for skewed in (False, True)
            ]
            yield row([name, f"{correlation:g}", *percents(seen)]), holds(seen[0], 0.94, samples)
    yield from of_scores(generator, samples)
    yield from of_shared_words(clusters, generator, samples)
    yield from of_templates(generator, samples)
    yield from of_taking_turns(generator, samples)
    yield from of_ties(generator, samples)
    yield from of_borders(generator, samples)


def verdicts(
    name: str,
    clusters: Clusters,
    rate: float,
    correlation: float,
    generator: np.random.Generator,
    samples: int,
) -> tuple[str, bool]:
    """Return a row of the table of verdicts, and whether it meets its target."""
    found = []
    for _ in range(samples):
        one = inference.infer(
            draw_hits(clusters, rate, correlation, generator),
            neutral=0.5,
            delta=DELTA,
            is_share=True,
        )
        found.append((inference.verdict(one), one.power))
    words = np.array([word for word, _ in found])
    significant = np.isin(words, [inference.ABOVE, inference.BELOW]).mean()
    equivalent = (words == inference.EQUIVALENT).mean()
    met = rate != 0.5 or holds(significant, 0.06, samples, most=True)
    met &= rate != 0.55 or holds(equivalent, 0.05, samples, most=True)
    least = {0.55: 0.75, 0.575: 0.92}.get(rate) if (name, correlation) == ("all", 0.05) else None
    met &= least is None or holds(significant, least, samples)
    power = np.nanmean([chance for _, chance in found])
    shares = percents([significant, equivalent, power])
    return row([name, f"{100 * rate:g}", f"{correlation:g}", *shares]), met


def mean_coverage(
    clusters: Clusters,
    correlation: float,
    generator: np.random.Generator,
    samples: int,
    skewed: bool,
) -> float:
    """Return the coverage of the interval of a mean."""
    return np.mean(
        [
            covers(
                inference.sign_flip_interval(
                    draw_values(clusters, correlation, generator, skewed), seed=sample, flips=999
                ),
                0.0,
            )
            for sample in range(samples)
        ]
    )


def sizes_of(kind: str, effective: int) -> np.ndarray:
    """Return sizes of clusters, 20 cases in the mean; unequal ones are quantiles of a lognormal."""
    if kind != "unequal":
        return np.full(effective, 20 if kind == "equal" else 1)
    count, sizes = effective, np.ones(1)
    while inference.effective_number(sizes) < effective:
        quantiles = np.exp(special.ndtri((np.arange(count) + 0.5) / count))
        sizes, count = np.maximum(1, (20 * quantiles).round()).astype(int), count + 1
    return sizes


def accuracy_for(shares: np.ndarray, score: float) -> float:
    """Return the accuracy, the same in each class, with which the true macro-F1 is `score`."""

    def macro_f1(accuracy: float) -> float:
        wrong = (1 - accuracy) * (1 - shares) / (len(shares) - 1)
        # errors go to each other class alike
        predicted = accuracy * shares + wrong
        return float((2 * accuracy * shares / (shares + predicted)).mean())

    return optimize.brentq(lambda accuracy: macro_f1(accuracy) - score, 1e-6, 1 - 1e-9)


def drawn_score(
    sizes: np.ndarray,
    shares: np.ndarray,
    accuracy: float,
    correlation: float,
    generator: np.random.Generator,
) -> tuple[float, Callable[[float], tuple[float, float]]] | None:
    """Return the macro-F1 of a drawn set and its interval by level; None: it has no interval."""
    classes, member_of = len(shares), np.repeat(np.arange(len(sizes)), sizes)
    of_cluster, right = np.tile(shares, (len(sizes), 1)), np.full(len(sizes), accuracy)
    if correlation:
        spread = 1 / correlation - 1
        of_cluster = generator.dirichlet(shares * spread, size=len(sizes))
        right = generator.beta(accuracy * spread, (1 - accuracy) * spread, size=len(sizes))
    drawn = generator.random((len(member_of), 1))
    true = (drawn > of_cluster.cumsum(axis=1)[member_of, :-1]).sum(axis=1)
    other = (true + generator.integers(1, classes, len(true))) % classes
    predicted = np.where(generator.random(len(true)) < right[member_of], true, other)
    few = np.bincount(true, minlength=classes).min() < classification.LEAST_OF_CLASS
    if few or (true != predicted).sum() < classification.LEAST_WRONG:
        return None
    hot = np.eye(classes, dtype=bool)
    values = classification.stacked(hot[true], hot[predicted][None])
    macro = classification.over_all
    estimate = macro(classification.counts_of(values.sum(axis=0), classes))[0]
    influence = classification.influence(values, classes, macro)[:, 0]
    totals = inference.total(estimate + len(true) * influence, member_of)
    return estimate, inference.share_interval(totals, pseudo_values=True)


def score_coverage(
    parts: list[np.ndarray], score: float, samples: int, *design: Any
) -> tuple[float, int]:
    """Return the coverage of the interval of macro-F1, and in how many sets there is one.

    Of two parts that of their difference, whose true value is 0.
    """
    hits = []
    for _ in range(samples):
        drawn = [drawn_score(sizes, *design) for sizes in parts]
        if None in drawn:
            continue
        estimates, intervals = zip(*drawn, strict=True)
        ends = [each(0.95) for each in intervals]
        if len(parts) == 1:
            hits.append(covers(ends[0], score))
        else:
            hits.append(covers(inference.recovered_interval(*ends, *estimates), 0))
    return (float(np.mean(hits)) if hits else float("nan")), len(hits)


def of_scores(generator: np.random.Generator, samples: int) -> Iterator[tuple[str, bool]]:
    """Yield the lines about macro-F1: the least coverage over the correlations."""
    for title, times in {
        "macro-F1": (1,),
        "the difference in macro-F1 of a group and three times as many others": (1, 3),
    }.items():
        yield f"\n## Coverage of the 95 % interval of {title}\n", True
        yield (
            "Target: at least 94, least over correlations 0 to .3; blank: half of the sets lack"
            " one.\n",
            True,
        )
        yield row(["clusters", "effective", "classes", *(f"{score:g}" for score in SCORES)]), True
        yield "|---" * (3 + len(SCORES)) + "|", True
        for kind, effective, (name, shares) in (
            (kind, effective, item)
            for kind, counts in CLUSTERED.items()
            for effective in counts
            for item in CLASSES.items()
        ):
            parts, cells, met = [sizes_of(kind, effective * each) for each in times], [], True
            for score in SCORES:
                accuracy = accuracy_for(np.array(shares), score)
                cell = [
                    score_coverage(
                        parts, score, samples, np.array(shares), accuracy, correlation, generator
                    )
                    for correlation in ((0.0,) if kind == "independent" else CORRELATIONS[:-1])
                ]
                cell = [(seen, count) for seen, count in cell if count >= samples / 2]
                met &= all(holds(seen, 0.94, count) for seen, count in cell)
                cells += percents([min(cell)[0]]) if cell else [""]
            yield row([kind, str(effective), name, *cells]), met


def of_ties(generator: np.random.Generator, samples: int) -> Iterator[tuple[str, bool]]:
    """Yield the lines about scores of pairs with ties: the least coverage over shares of ties."""
    yield "\n## Coverage of the 95 % interval of a score of pairs with ties\n", True
    yield "Least over ties: correlations 0 to .3 (target: at least 94), 1 (at least 92).\n", True
    yield row(["clusters", "effective", *(f"{100 * score:g}" for score in TIED_SCORES)]), True
    yield "|---" * (2 + len(TIED_SCORES)) + "|", True

    def covered(sizes: np.ndarray, score: float, *design: float) -> bool:
        totals = draw_tied(sizes, score, *design, generator)
        return covers(inference.share_interval(totals, may_tie=True)(0.95), score)

    def least(sizes: np.ndarray, score: float, correlation: float) -> float:
        return min(
            np.mean([covered(sizes, score, part, correlation) for _ in range(samples)])
            for part in TIED_PARTS
        )

    for kind, effective in (
        (kind, count) for kind, counts in CLUSTERED.items() for count in counts
    ):
        sizes, cells, met = sizes_of(kind, effective), [], True
        for score in TIED_SCORES:
            some = (0.0,) if kind == "independent" else CORRELATIONS[:-1]
            cell = [min(least(sizes, score, each) for each in some)]
            met &= holds(cell[0], 0.94, samples)
            if kind != "independent":
                cell.append(least(sizes, score, 1.0))
                met &= holds(cell[1], 0.92, samples)
            cells.append(", ".join(percents(cell)))
        yield row([kind, str(effective), *cells]), met


def crossed(first: int, second: int, share: float, most: int) -> Clusters:
    """Return the swaps of two lists of words: all or a share of them, the same in each call."""
    place = np.arange(first * second)
    words = np.stack([place // second, first + place % second], axis=1)
    generator = np.random.default_rng(1)
    kept = generator.random(len(words)) < share
    return Clusters(generator.integers(1, most + 1, size=kept.sum()), words[kept])


def of_shared_words(
    clusters: dict[str, Clusters], generator: np.random.Generator, samples: int
) -> Iterator[tuple[str, bool]]:
    """Yield the lines about swaps that share words.

    A model prefers words to different degrees, and at a rate of 50 neither side.
    """
    yield "\n## Swaps that share words\n", True
    yield (
        "By noise: significant at 50 (by a test of swaps alone), coverage, significant at 65.",
        True,
    )
    yield "Targets: at most 7 % significant at 50, coverage of at least 93.\n", True

    def cell(
        name: str, own: Clusters, effects: tuple[float, float], noise: float
    ) -> tuple[str, bool]:
        seen = np.mean(
            [shared_words(own, effects, noise, generator) for _ in range(samples)], axis=0
        )
        met = holds(seen[0], 0.07, samples, most=True) and holds(seen[2], 0.93, samples)
        first, alone, covered, power = percents(seen)
        return f"{first} ({alone}), {covered}, {power}", met

    designs = {name: crossed(*lists) for name, lists in LISTS.items()}
    designs |= {f"CrowS-Pairs, {name}": clusters[name] for name in SHARED if name in clusters}
    yield from by_words(designs, cell)
    yield from of_shared_means(designs, generator, samples)


def by_words(
    designs: dict[str, Clusters], cell: Callable[..., tuple[str, bool]]
) -> Iterator[tuple[str, bool]]:
    """Yield a table of cells by design, preferred words and noise.

    `cell` returns the text of a cell, and whether it meets its targets, of the name of a design,
    its clusters, the deviations of preferences (`EFFECTS`), and the noise.
    """
    yield row(["words", "preferred words", *(f"noise {noise}" for noise in NOISES)]), True
    yield "|---" * (2 + len(NOISES)) + "|", True
    for name, own in designs.items():
        for side, effects in EFFECTS.items():
            if own.words is None or (name not in LISTS and side in ("first", "second")):
                continue
            noises = [1] if side == "neither" else NOISES
            cells = {noise: cell(name, own, effects, noise) for noise in noises}
            texts = [cells[noise][0] if noise in cells else "" for noise in NOISES]
            yield row([name, side, *texts]), all(met for _, met in cells.values())


def of_shared_means(
    designs: dict[str, Clusters], generator: np.random.Generator, samples: int
) -> Iterator[tuple[str, bool]]:
    """Yield the lines about means of values of swaps that share words."""
    yield "\n## Coverage of the 95 % interval of a mean where swaps share words\n", True
    yield (
        "By noise: normal, exponential. Targets: at least 94, and 93.5 for exponential values of"
        f" lists of {ENOUGH_WORDS} words or more.\n",
        True,
    )

    def covered(own: Clusters, effects: tuple[float, float], noise: float, skewed: bool) -> bool:
        totals = draw_shared_values(own, effects, noise, generator, skewed)
        return covers(inference.sign_flip_interval(totals, flips=999), 0.0)

    def cell(
        name: str, own: Clusters, effects: tuple[float, float], noise: float
    ) -> tuple[str, bool]:
        normal, exponential = (
            np.mean([covered(own, effects, noise, skewed) for _ in range(samples)])
            for skewed in (False, True)
        )
        few = name not in LISTS or min(LISTS[name][:2]) < ENOUGH_WORDS
        met = name not in LISTS or holds(normal, 0.94, samples)
        met &= few or holds(exponential, 0.935, samples)
        return ", ".join(percents([normal, exponential])), met

    yield from by_words(designs, cell)


def draw_shared_values(
    clusters: Clusters,
    effects: tuple[float, float],
    noise: float,
    generator: np.random.Generator,
    skewed: bool,
) -> Totals:
    """Draw values with the mean 0 that depend on words (`draw_shared`), and sum them by cluster."""

    def draw(count: int) -> np.ndarray:
        if skewed:
            return generator.standard_exponential(count) - 1
        return generator.standard_normal(count)

    member_of = np.repeat(np.arange(len(clusters.sizes)), clusters.sizes)
    of_word = draw(clusters.words.max() + 1)
    values = (of_word[clusters.words] * effects).sum(axis=1)[member_of]
    return inference.total(values + noise * draw(len(values)), clusters.words[member_of])


def of_templates(generator: np.random.Generator, samples: int) -> Iterator[tuple[str, bool]]:
    """Yield the lines about pairs that put 26 swaps into a few templates."""
    yield "\n## Templates\n", True
    yield (
        "By the deviation of preferences in templates: significant at 50 (by a test of swaps"
        " alone), coverage, significant at 65; coverage of a mean of normal values.",
        True,
    )
    yield "Targets: at most 6 % significant at 50, coverage of at least 94.\n", True
    yield row(["templates", "pairs", *(f"deviation {one:g}" for one in IN_TEMPLATES)]), True
    yield "|---" * (2 + len(IN_TEMPLATES)) + "|", True
    for count in TEMPLATES:
        for share in PRESENT:
            labels = crossed_templates(count, 26, share)
            cells, met = [], True
            for effect in IN_TEMPLATES:
                seen = np.mean(
                    [in_templates(labels, effect, generator) for _ in range(samples)], axis=0
                )
                met &= holds(seen[0], 0.06, samples, most=True)
                met &= holds(min(seen[2], seen[4]), 0.94, samples)
                first, alone, covered, power, mean = percents(seen)
                cells.append(f"{first} ({alone}), {covered}, {power}; {mean}")
            yield row([str(count), str(len(labels)), *cells]), met


def of_taking_turns(generator: np.random.Generator, samples: int) -> Iterator[tuple[str, bool]]:
    """Yield the lines about templates in which words, such as trades, take turns."""
    yield "\n## Words that take turns in templates\n", True
    yield (
        "By the deviations of preferences in templates and for these words: significant at 50,"
        " coverage, significant at 65.",
        True,
    )
    yield (
        "Targets as above. In brackets: it varies by what is taken as given (fewer than 8).\n",
        True,
    )
    yield row(["templates x words x swaps", *(f"{one:g}, {two:g}" for one, two in TURNS)]), True
    yield "|---" * (1 + len(TURNS)) + "|", True
    for shape in TAKING_TURNS:
        labels = taking_turns(*shape)
        cells, met = [], True
        for effects in TURNS:
            seen = np.mean([by_turns(labels, effects, generator) for _ in range(samples)], axis=0)
            first, covered, power = percents(seen)
            covered = covered if np.isfinite(seen[1]) else "none"
            # of few templates that a swap never shares, these count, and nothing is significant
            given = [count < 8 and shape[2] > 1 for count in shape[:2]]
            if any(effect and few for effect, few in zip(effects, given, strict=True)):
                cells.append(f"({first}, {covered}, {power})")
                continue
            met &= holds(seen[0], 0.06, samples, most=True)
            met &= not np.isfinite(seen[1]) or holds(seen[1], 0.94, samples)
            cells.append(f"{first}, {covered}, {power}")
        yield row([" x ".join(map(str, shape)), *cells]), met


def taking_turns(templates: int, words: int, swaps: int) -> np.ndarray:
    """Return the words of the swap, the template and the word in it, of all pairs.

    With one swap for each word in each template, no two pairs have the same sentence or swap.
    """
    template, word, swap = np.unravel_index(
        np.arange(templates * words * swaps), (templates, words, swaps)
    )
    if swaps == 1:
        swap = word = np.arange(len(template))
    return np.column_stack([2 * swap, 2 * swap + 1, template, word])


def by_turns(
    labels: np.ndarray, effects: tuple[float, float], generator: np.random.Generator
) -> list[float]:
    """Return what happens in one set: significant at 50, coverage, significant at 65."""
    hits = []
    for rate in SHARED_RATES:
        of_template, of_word, of_swap, own = (
            generator.normal(size=count)
            for count in (*(labels.max(axis=0)[[2, 3, 1]] + 1), len(labels))
        )
        margin = effects[0] * of_template[labels[:, 2]] + effects[1] * of_word[labels[:, 3]]
        margin += FOR_SWAPS * of_swap[labels[:, 1]] + own
        deviation = (effects[0] ** 2 + effects[1] ** 2 + FOR_SWAPS**2 + 1) ** 0.5
        at_rate = margin + deviation * special.ndtri(rate) > 0
        hits.append(inference.total(at_rate.astype(float), labels))
    intervals = [inference.share_interval(one, may_tie=True)(0.95) for one in hits]
    covered = [
        covers(interval, rate) if np.isfinite(interval[0]) else np.nan
        for interval, rate in zip(intervals, SHARED_RATES, strict=True)
    ]
    first, second = (float(inference.mean_p_value(one, 0.5) < 0.05) for one in hits)
    return [first, float(np.mean(covered)), second]


def crossed_templates(templates: int, swaps: int, share: float) -> np.ndarray:
    """Return the two words and the template of pairs: all pairs, or a share, the same each time."""
    template, swap = np.divmod(np.arange(templates * swaps), swaps)
    kept = np.random.default_rng(1).random(len(swap)) < share
    return np.column_stack([2 * swap, 2 * swap + 1, template])[kept]


def in_templates(labels: np.ndarray, effect: float, generator: np.random.Generator) -> list[float]:
    """Return what happens in one set, as `shared_words`; and whether the interval has the mean."""

    def margins() -> np.ndarray:
        of_template, of_swap, own = (
            generator.normal(size=count)
            for count in (*(labels.max(axis=0)[[2, 1]] + 1), len(labels))
        )
        if np.isinf(effect):
            return of_template[labels[:, 2]]
        return effect * of_template[labels[:, 2]] + FOR_SWAPS * of_swap[labels[:, 1]] + own

    deviation = (effect**2 + FOR_SWAPS**2 + 1) ** 0.5 if np.isfinite(effect) else 1.0
    hits = [
        inference.total((margins() + deviation * special.ndtri(rate) > 0).astype(float), labels)
        for rate in SHARED_RATES
    ]
    p_values = [inference.mean_p_value(one, 0.5) for one in hits]
    alone = inference.sign_flip_p_value(hits[0].sums - hits[0].sizes / 2)
    covered = [
        covers(inference.share_interval(one, may_tie=True)(0.95), rate)
        for one, rate in zip(hits, SHARED_RATES, strict=True)
    ]
    mean = inference.sign_flip_interval(inference.total(margins(), labels), flips=999)
    shares = p_values[0] < 0.05, alone < 0.05, np.mean(covered), p_values[1] < 0.05
    return [*map(float, shares), float(covers(mean, 0.0))]


def shared_words(
    clusters: Clusters, effects: tuple[float, float], noise: float, generator: np.random.Generator
) -> list[float]:
    """Return what happens in one set at each of `SHARED_RATES`.

    Whether it is significant without a preference, the same by a test of swaps alone, the share of
    intervals with the truth, and whether a preference is significant.
    """
    hits = [draw_shared(clusters, effects, noise, rate, generator) for rate in SHARED_RATES]
    inferences = [inference.infer(one, neutral=0.5, delta=DELTA, is_share=True) for one in hits]
    alone = inference.sign_flip_p_value(hits[0].sums - hits[0].sizes / 2)
    covered = [
        covers((one.low, one.high), rate)
        for one, rate in zip(inferences, SHARED_RATES, strict=True)
    ]
    first, second = (one.p_value < 0.05 for one in inferences)
    return [first, alone < 0.05, float(np.mean(covered)), second]


def percents(shares: list[float]) -> list[str]:
    return [f"{100 * one:.1f}" for one in shares]


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
