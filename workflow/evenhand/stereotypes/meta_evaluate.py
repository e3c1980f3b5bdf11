"""How far each method agrees with people on which pairs show a bias: ROC curves and AUC.

People: a pair is *biased* if at least k of its annotators named the pair's own bias type.
Method: ``f(more) - f(less)``, as it is, with its sign: how much likelier the model finds the
stereotypical sentence. No threshold and no sign is fitted to the labels, so an AUC below 0.5 is
possible, and says that the method finds the stereotype likelier where people see none.

The paper (Kaneko and Bollegala, AAAI 2022, section 5) compares each method with a binary human
rating by ROC curves; its code for this was not released, so the label and the sign are ours.
"""

from itertools import combinations
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.io.csv_tables import write_rows
from evenhand.metrics.bootstrap import percentile_interval
from evenhand.metrics.paired import holm, sign_flip_p_values
from evenhand.metrics.roc import auc, auc_contributions, auc_replicates, roc_points
from evenhand.stereotypes.decisions import decide
from evenhand.stereotypes.read_scores import Pairs, read_models, read_pair_set, summary

HEADER = [
    "model",
    "method",
    "agreeing",
    "biased",
    "unbiased",
    "auc",
    "auc_low",
    "auc_high",
    "p_value",
]
ROC_HEADER = ["model", "method", "agreeing", "false_positive_rate", "true_positive_rate"]
TESTS_HEADER = [
    "model",
    "agreeing",
    "method_a",
    "method_b",
    "difference",
    "difference_low",
    "difference_high",
    "p_value",
    "p_adjusted",
]

#: Biased pairs, and unbiased ones, below which an AUC says nothing of how it varies.
LEAST_PAIRS = 10


def meta_evaluate(
    *,
    pairs: Input,
    scores: list[Source],
    gates: list[Source],
    out: Output,
    roc: Output,
    auc_tests: Output,
    methods: list[str] | None = None,
    agreeing: list[int] | None = None,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Hold each method's scores against the annotations of the pairs.

    Parameters
    ----------
    pairs : Path
        The set.
    scores, gates : list of Path
        What `score_pairs` wrote of each model; the files' names are the models'.
    out : Path
        CSV, per trusted model, method and number of agreeing annotators: biased and unbiased
        pairs among those that the method scored; AUC (a tie counts one half) with an interval by
        bootstrap over clusters; p_value of an AUC of 0.5, two-sided, by random signs of the
        clusters' contributions. Shuffling labels between pairs would ignore that pairs with the
        same swap go together, and give p-values that are far too small.
    roc : Path
        CSV, the points of each ROC curve, at most 200.
    auc_tests : Path
        CSV, per model and number of agreeing annotators, for each two methods: AUC of a minus
        AUC of b over the pairs that both scored, with an interval and a p-value of the same
        kinds, and the p-value adjusted by Holm for the tests of that model and number.
    methods : list of str, optional
        The methods that were asked for; by default those that the gates name.
    agreeing : list of int, optional
        How many annotators make a pair biased; by default 3, 4 and 5.
    resamples, level, seed
        The bootstrap; the seed is that of the signs too.

    Notes
    -----
    All three tables have their header only where the set has no annotations. Cells are blank
    where all pairs have one label, or there are too few clusters. An AUC over fewer than
    `LEAST_PAIRS` pairs of one label has no interval and no p-value.
    """
    pair_set = read_pair_set(pairs)
    models = read_models(pair_set, scores, gates, (), methods or ())
    rated = np.isfinite(pair_set.agreement)
    rows: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    tests: list[dict[str, Any]] = []
    draw = {"seed": seed, "resamples": resamples}
    for model in models if rated.any() else []:
        differences = {
            method: decide(pair_set, model.scores, method).difference for method in model.methods
        }
        for count in agreeing or [3, 4, 5]:
            head = {"model": model.name, "agreeing": count}
            labels = pair_set.agreement >= count
            found = compare(pair_set, differences, labels, rated, draw, level)
            for method, difference in differences.items():
                own = rated & np.isfinite(difference)
                value, low, high, p_value = found[method, method]
                rows.append(
                    head
                    | {
                        "method": method,
                        "biased": int((own & labels).sum()),
                        "unbiased": int((own & ~labels).sum()),
                        "auc": value,
                        "auc_low": low,
                        "auc_high": high,
                        "p_value": p_value,
                    }
                )
                points += [
                    head
                    | {
                        "method": method,
                        "false_positive_rate": float(false_rate),
                        "true_positive_rate": float(true_rate),
                    }
                    for false_rate, true_rate in zip(
                        *roc_points(difference[own], labels[own]), strict=True
                    )
                ]
            couples = list(combinations(differences, 2))
            adjusted = holm(np.array([found[couple][3] for couple in couples]))
            for couple, p_adjusted in zip(couples, adjusted.tolist(), strict=True):
                names = {"method_a": couple[0], "method_b": couple[1]}
                numbers = zip(TESTS_HEADER[4:8], found[couple], strict=True)
                tests.append(head | names | dict(numbers) | {"p_adjusted": p_adjusted})
    write_rows(out, HEADER, rows)
    write_rows(roc, ROC_HEADER, points)
    write_rows(auc_tests, TESTS_HEADER, tests)
    reason = None if rated.any() else "no annotations"
    return summary(models, len(rows), reason) | {"rated": int(rated.sum())}


def compare(
    pairs: Pairs,
    differences: dict[str, np.ndarray],
    labels: np.ndarray,
    rated: np.ndarray,
    draw: dict[str, int],
    level: float,
) -> dict[tuple[str, str], tuple[float, float, float, float]]:
    """AUC of each method, and the difference of the AUC of each two, on the same draws.

    Parameters
    ----------
    pairs : Pairs
        The set of n pairs.
    differences : dict of array of float, shape (n,)
        By method, ``f(more) - f(less)``; NaN where there is none.
    labels, rated : array of bool, shape (n,)
        Whether people call the pair biased, and whether anybody rated it.
    draw : dict
        seed, resamples.
    level : float
        Coverage of the intervals.

    Returns
    -------
    dict
        By two methods (a method and itself: its AUC): value, lower and upper border, p-value;
        NaN for what there is not. Two methods are compared over the pairs that both scored.
    """
    known = {method: rated & np.isfinite(values) for method, values in differences.items()}
    couples = [*((method, method) for method in differences), *combinations(differences, 2)]
    by_pairs: dict[bytes, list[tuple[str, str]]] = {}
    for a, b in couples:  # those over the same pairs share their draws
        by_pairs.setdefault((known[a] & known[b]).tobytes(), []).append((a, b))
    found = {}
    for key, own in by_pairs.items():
        chosen = np.frombuffer(key, dtype=bool)
        label, cluster = labels[chosen], pairs.cluster[chosen]
        methods = [method for method in differences if any(method in couple for couple in own)]
        scores = np.stack([differences[method][chosen] for method in methods], axis=1)
        area = {m: auc(scores[:, column], label) for column, m in enumerate(methods)}
        replicates = dict(
            zip(methods, auc_replicates(scores, label, cluster, **draw).T, strict=True)
        )
        added = {m: auc_contributions(scores[:, c], label) for c, m in enumerate(methods)}
        drawn, contributions, values = [], [], []
        for a, b in own:
            alone = a == b
            values.append(area[a] if alone else area[a] - area[b])
            drawn.append(replicates[a] if alone else replicates[a] - replicates[b])
            contributions.append(added[a] if alone else added[a] - added[b])
        low, high = percentile_interval(np.stack(drawn, axis=1), level)
        p_values = sign_flip_p_values(np.stack(contributions, axis=1), cluster, seed=draw["seed"])
        if min(label.sum(), (~label).sum()) < LEAST_PAIRS:
            low, high, p_values = (np.full(len(own), np.nan) for _ in range(3))
        p_values[np.isnan(values)] = np.nan
        rows = zip(values, low.tolist(), high.tolist(), p_values.tolist(), strict=True)
        found |= dict(zip(own, rows, strict=True))
    return found


if __name__ == "__main__":
    stage.run(meta_evaluate)
