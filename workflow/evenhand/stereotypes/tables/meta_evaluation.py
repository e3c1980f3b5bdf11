"""Agreement of each method with human ratings: the area under the ROC curve (AUC).

Label: a pair is biased if at least k of its annotators named its bias type. Score: the signed
``f(more) - f(less)``, the log-odds that the model prefers the stereotypical sentence. Neither a
threshold nor the sign is fitted to the labels, so that an AUC below 0.5 is possible.

The paper (Kaneko and Bollegala, AAAI 2022, section 5) compares each method with a binary human
rating by ROC curves; its code for this was not released, so the label and the sign are ours.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, number, share, text
from evenhand.metrics.inference import bounded, interval_p_value, sign_flip_interval, total
from evenhand.metrics.roc import auc, auc_contributions
from evenhand.stereotypes.decisions import decide
from evenhand.stereotypes.read_scores import Pairs, PairStudy

#: With fewer biased or unbiased pairs than this, an AUC has no interval and no p-value.
LEAST_PAIRS = 10

TABLE = Table(
    "meta_evaluation",
    title="Agreement with human ratings (AUC)",
    key=("model", "method", "agreeing"),
    columns=(
        text("model"),
        text("method"),
        integer("agreeing", "Annotators who must name the bias type of a pair"),
        integer("biased", "Scored pairs that are biased by this label"),
        integer("unbiased", "Scored pairs that are not"),
        share("auc", "A tie counts one half; below 0.5 the order is reversed", interval=True),
        number("p_value", "Of an AUC of 0.5, two-sided, by random signs of the clusters"),
    ),
    source="Kaneko and Bollegala 2022, section 5",
)


class Agreement(NamedTuple):
    """The agreement of a model's methods with one human label.

    Parameters
    ----------
    model : str
    agreeing : int
        Annotators who must name the bias type of a pair.
    differences : dict of array of float, shape (n,)
        By method, ``f(more) - f(less)``; NaN without a score.
    labels, rated : array of bool, shape (n,)
        Whether a pair is biased, and whether anyone rated it.
    areas : dict
        See `compare`.
    """

    model: str
    agreeing: int
    differences: dict[str, np.ndarray]
    labels: np.ndarray
    rated: np.ndarray
    areas: dict[tuple[str, str], tuple[float, float, float, float]]


@lru_cache(maxsize=1)  # three tables share it
def agreements(study: PairStudy) -> list[Agreement]:
    """Compare the scores with the ratings, for each trusted model and number of annotators."""
    pairs = study.pairs
    rated = np.isfinite(pairs.agreement)
    if not rated.any():
        raise NotApplicable("no pair has been rated by annotators")
    if any(("unrelated", "original") in model.scores.rows for model in study.trusted):
        raise NotApplicable("annotators rated single sentences, not pairs")
    results = []
    for model in study.models:
        differences = {name: decide(pairs, model.scores, name).difference for name in model.methods}
        for number_agreeing in study.agreeing:
            labels = pairs.agreement >= number_agreeing
            areas = compare(pairs, differences, labels, rated)
            results.append(
                Agreement(model.name, number_agreeing, differences, labels, rated, areas)
            )
    return results


def by_method(study: PairStudy) -> Iterator[tuple[Row, Agreement, np.ndarray]]:
    """Yield the key of each row with its agreement, and which pairs are rated and have a score."""
    for agreement in agreements(study):
        for method, difference in agreement.differences.items():
            key = {"model": agreement.model, "method": method, "agreeing": agreement.agreeing}
            yield key, agreement, agreement.rated & np.isfinite(difference)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted model, method and number of annotators.

    Tests use random signs of clusters: shuffling labels between pairs would ignore the dependence
    within clusters, and give p-values that are far too small.
    """
    for key, agreement, rated in by_method(study):
        names = ("auc", "auc_low", "auc_high", "p_value")
        area = dict(zip(names, agreement.areas[key["method"], key["method"]], strict=True))
        biased = int((rated & agreement.labels).sum())
        yield key | {"biased": biased, "unbiased": int(rated.sum()) - biased} | area


def compare(
    pairs: Pairs, differences: dict[str, np.ndarray], labels: np.ndarray, rated: np.ndarray
) -> dict[tuple[str, str], tuple[float, float, float, float]]:
    """Return the AUC of each method, and the AUC difference of each two methods.

    Parameters
    ----------
    pairs : Pairs
        The set of n pairs.
    differences : dict of array of float, shape (n,)
        By method, ``f(more) - f(less)``; NaN without a score.
    labels, rated : array of bool, shape (n,)
        Whether the pair is biased by the label, and whether it was rated.

    Returns
    -------
    dict
        By two methods (twice the same: its AUC): value, lower and upper bound, p-value; NaN if not
        available. Two methods are compared over the pairs that both scored.
    """
    known = {method: rated & np.isfinite(values) for method, values in differences.items()}
    couples = [*((method, method) for method in differences), *combinations(differences, 2)]
    areas = {}
    for a, b in couples:
        chosen = known[a] & known[b]
        label, cluster = labels[chosen], pairs.cluster[chosen]
        value, influence = 0.0, np.zeros(len(label))
        for sign, method in ((1, a), (-1, b))[: 1 if a == b else 2]:
            scores = differences[method][chosen]
            value += sign * (auc(scores, label) - (0.5 if a == b else 0))
            influence += sign * auc_contributions(scores, label) * len(label)
        low = high = p_value = float("nan")
        if np.isfinite(value) and min(label.sum(), (~label).sum()) >= LEAST_PAIRS:
            totals = total(influence, cluster)
            p_value = interval_p_value(totals)
            low, high = sign_flip_interval(totals)
        centre = 0.5 if a == b else 0.0
        ends = bounded((centre + low, centre + high), 0.0 if a == b else -1.0, 1.0)
        areas[a, b] = (centre + value, *ends, p_value)
    return areas
