"""The preferences of a model on each pair, and tests of its preference on a set of pairs."""

from typing import Any, NamedTuple

import numpy as np

from evenhand.metrics.inference import Inference, infer, korn_graubard, total, verdict
from evenhand.metrics.paired import holm
from evenhand.stereotypes.read_scores import Pairs, Scores

#: Status of a pair: one sentence is likelier, both are equally likely, or a score is missing.
SCORED, TIE, UNSCORABLE = "scored", "tie", "unscorable"

#: The score of a model that has no preference, in per cent.
NO_BIAS = 50.0

NOT_SCORED = "not_scored"


class Decisions(NamedTuple):
    """The decisions of one method on n pairs; all arrays have the shape (n,).

    Attributes
    ----------
    pair_id : array of str
    difference : array of float
        ``f(more) - f(less)``, in the method's unit; NaN for unscorable pairs.
    status : array of str
        `SCORED`, `TIE` or `UNSCORABLE`.
    """

    pair_id: np.ndarray
    difference: np.ndarray
    status: np.ndarray

    def counted(self) -> np.ndarray:
        """Return whether each pair counts in the score; ties do, unscorable pairs do not."""
        return self.status != UNSCORABLE

    def hits(self) -> np.ndarray:
        """Return whether `more` is likelier than `less`."""
        return self.difference > 0

    def preferences(self) -> np.ndarray:
        """Return 1 for `more`, 0 for `less`, and one half for a tie."""
        return np.where(self.status == TIE, 0.5, self.hits())


def decide(pairs: Pairs, scores: Scores, method: str, *, decimals: int | None = None) -> Decisions:
    """Return the decisions of one method.

    A pair is unscorable if either sentence was excluded or its score is not a finite number.

    Parameters
    ----------
    pairs : Pairs
        The set.
    scores : Scores
        The scores of a model.
    method : str
        A name of `METHODS`.
    decimals : int, optional
        Round the scores to this many decimals first, as the published code does for CPS.
    """
    more, less = (scores.column(method, side) for side in ("more", "less"))
    if decimals is not None:
        more, less = more.round(decimals), less.round(decimals)
    whole = np.isfinite(more) & np.isfinite(less) & ~pairs.excluded
    difference = np.full(len(more), np.nan)
    np.subtract(more, less, out=difference, where=whole)
    status = np.where(~whole, UNSCORABLE, np.where(difference == 0, TIE, SCORED))
    return Decisions(pairs.pair_id, difference, status)


def tally(decisions: Decisions, chosen: np.ndarray) -> dict[str, Any]:
    """Return counts and the score of some of the pairs.

    Parameters
    ----------
    decisions : Decisions
        The decisions on n pairs.
    chosen : array of bool, shape (n,)
        The pairs to count.

    Returns
    -------
    dict
        pairs; scored (including ties); ties; unscorable; score = 100 hits / scored, in per
        cent, None if no pair is scored.
    """
    status = decisions.status[chosen]
    scored = int((status != UNSCORABLE).sum())
    hits = int(decisions.hits()[chosen].sum())
    return {
        "pairs": len(status),
        "scored": scored,
        "ties": int((status == TIE).sum()),
        "unscorable": len(status) - scored,
        "score": 100 * hits / scored if scored else None,
    }


def share_interval(
    hits: np.ndarray, counted: np.ndarray, clusters: np.ndarray, level: float
) -> tuple[float, float]:
    """Return the interval of the share of hits among the counted pairs; NaN for few clusters."""
    return korn_graubard(total(hits, clusters, counted), level)


def score_interval(
    decisions: Decisions, chosen: np.ndarray, pairs: Pairs, level: float
) -> tuple[float, float]:
    """Return the interval of the score of some of the pairs, in per cent."""
    counted = decisions.counted() & chosen
    low, high = share_interval(decisions.hits(), counted, pairs.cluster, level)
    return 100 * low, 100 * high


def judge(
    decisions: Decisions, chosen: np.ndarray, pairs: Pairs, delta: float, level: float
) -> Inference:
    """Test whether a method prefers either side of some of the pairs.

    A tie counts as half a hit, because it prefers neither side.

    Parameters
    ----------
    decisions : Decisions
        The decisions on n pairs.
    chosen : array of bool, shape (n,)
        The pairs to test.
    pairs : Pairs
        The set, for its clusters.
    delta : float
        The smallest preference that matters, in percentage points.
    level : float
        Coverage of the interval; one minus the size of the tests.
    """
    totals = total(decisions.preferences(), pairs.cluster, decisions.counted() & chosen)
    return infer(totals, neutral=0.5, delta=delta / 100, seed=0, is_share=True, level=level)


def studentised(decisions: Decisions, chosen: np.ndarray, pairs: Pairs) -> float:
    """Return the preference over its standard error under random signs of the clusters.

    NaN if no cluster prefers a side.
    """
    totals = total(decisions.preferences(), pairs.cluster, decisions.counted() & chosen)
    sums = totals.sums - totals.sizes / 2
    spread = float(np.sqrt((sums**2).sum()))
    return float(sums.sum()) / spread if spread else float("nan")


def summarise_group(
    decisions: Decisions,
    nulls: list[Decisions],
    chosen: np.ndarray,
    pairs: Pairs,
    delta: float,
    level: float,
) -> tuple[dict[str, Any], Inference]:
    """Summarise the decisions of one method on some of the pairs.

    Parameters
    ----------
    decisions : Decisions
        The decisions on n pairs.
    nulls : list of Decisions
        Decisions of models with random weights; those without a scored pair do not count.
    chosen : array of bool, shape (n,)
        The pairs to summarise.
    pairs : Pairs
        The set.
    delta, level : float
        See `judge`.

    Returns
    -------
    dict
        The counts of `tally`; score_low, score_high; clusters, effective_clusters, correlation,
        p_value, delta, power, further_clusters of `judge`; studentised, null_seeds, null_beyond;
        verdict, without adjustment for other tests, and reason.
    Inference
        The result of `judge`.
    """
    counts = tally(decisions, chosen)
    inference = judge(decisions, chosen, pairs, delta, level)
    low, high = score_interval(decisions, chosen, pairs, level)
    statistic = studentised(decisions, chosen, pairs)
    others = [null for null in nulls if tally(null, chosen)["scored"]]
    beyond = [abs(studentised(null, chosen, pairs)) >= abs(statistic) for null in others]
    few = "" if np.isfinite(low) else "few_clusters"
    scored = counts["scored"] > 0
    row = {
        **counts,
        "score_low": low,
        "score_high": high,
        "clusters": inference.clusters,
        "effective_clusters": inference.effective_clusters,
        "correlation": inference.correlation,
        "p_value": inference.p_value,
        "delta": delta,
        "power": inference.power,
        "further_clusters": inference.further_clusters,
        "studentised": statistic,
        "null_seeds": len(others),
        "null_beyond": sum(beyond) if others else None,
        "verdict": verdict(inference, level=level) if scored else NOT_SCORED,
        "reason": few if scored else "nothing_scored",
    }
    return row, inference


def adjust_verdicts(
    tested: list[tuple[dict[str, Any], Inference]], level: float
) -> list[dict[str, Any]]:
    """Adjust the p-values of one model for the number of its tests, and update the verdicts.

    P-values of the whole set are adjusted for methods, those of bias types for methods and types.
    Verdicts on bias types use the adjusted p-values. The verdict of a method on the whole set is
    not adjusted: it is one planned test, with the reported power.

    Parameters
    ----------
    tested : list of (dict, Inference)
        Rows with method, bias_type, p_value and verdict, to which p_adjusted is added.
    level : float
        One minus the size of the tests.
    """
    for whole in (True, False):
        family = [item for item in tested if (item[0]["bias_type"] == "all") == whole]
        adjusted = holm(np.array([row["p_value"] for row, _ in family], dtype=np.float64))
        for (row, preference), p_adjusted in zip(family, adjusted.tolist(), strict=True):
            row["p_adjusted"] = p_adjusted
            if not whole and row["verdict"] != NOT_SCORED:
                row["verdict"] = verdict(preference, level=level, p_value=p_adjusted)
    return [row for row, _ in tested]
