"""Agreement between annotators with categorical answers.

All functions take `answers`, an array of shape (items, annotators) of codes: whole numbers
from 0, one per kind of answer, no order among them; -1 where an annotator did not answer. Items
with fewer than two answers do not count for agreement.
"""

from typing import NamedTuple

import numpy as np

#: The code of a missing answer.
MISSING = -1


def percent_agreement(answers: np.ndarray) -> float:
    """Percent agreement as a share (0 to 1): pairs of annotators that agree, averaged over items.

    Raises
    ------
    ValueError
        There is no item with two answers.
    """
    counts = _counts(answers)
    answered = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (answered * (answered - 1))
    return float(agreeing.mean())


def fleiss_kappa(answers: np.ndarray) -> float | None:
    """Fleiss' kappa (1971), by statsmodels; None where it is not defined.

    Agreement is compared with the agreement by chance of annotators who all draw from the overall
    shares of answers. It is undefined if all answers are the same, or if items have different
    numbers of answers.

    Raises
    ------
    ValueError
        There is no item with two answers.
    """
    from statsmodels.stats.inter_rater import fleiss_kappa as kappa

    counts = _counts(answers)
    if counts.shape[1] == 1 or np.ptp(counts.sum(axis=1)):
        return None
    return float(kappa(counts, method="fleiss"))


def krippendorff_alpha(answers: np.ndarray) -> float | None:
    """Krippendorff's alpha for nominal data, by krippendorff; None where it is not defined.

    Like Fleiss' kappa, with a correction for few items, and with any number of answers per item;
    undefined if all answers are the same.

    Raises
    ------
    ValueError
        There is no item with two answers.
    """
    import krippendorff

    counts = _counts(answers)
    if counts.shape[1] == 1:
        return None
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


class Truths(NamedTuple):
    """The estimates of `dawid_skene`.

    Attributes
    ----------
    shares : np.ndarray
        Probability of each true answer per item, shape (items, truths).
    confusion : np.ndarray
        Probability that an annotator gives an answer, by the true one: shape (annotators, truths,
        kinds).
    accuracy : np.ndarray
        Probability that an annotator's answer is the true one, shape (annotators,).
    """

    shares: np.ndarray
    confusion: np.ndarray
    accuracy: np.ndarray


def dawid_skene(answers: np.ndarray, kinds: int, *, truths: int | None = None) -> Truths:
    """Estimate true answers and annotators' errors (Dawid and Skene 1979).

    Expectation maximisation from the shares of answers per item, until no probability changes by
    more than 1e-6, in at most 500 rounds. Each annotator's counts begin with one answer per true
    answer, distributed as the average annotator's, so that few answers do not count as certainty;
    the average begins with one right answer and one guess per true answer. Annotators are taken
    to err independently of each other.

    Parameters
    ----------
    answers : np.ndarray
        See the module; every item has an answer.
    kinds : int
        Number of kinds of answer.
    truths : int, optional
        The true answers are the first of these kinds; an answer like "unsure" is none. All kinds
        by default.
    """
    truths = truths or kinds
    indicators = (answers[:, :, None] == np.arange(kinds)).astype(float)  # items, annotators, kinds
    votes = indicators[:, :, :truths].sum(axis=1) + 1 / truths
    shares = votes / votes.sum(axis=1, keepdims=True)
    for _ in range(500):
        prior = (shares.sum(axis=0) + 1) / (len(answers) + truths)
        counts = np.einsum("it,iak->atk", shares, indicators)
        average = counts.sum(axis=0) + np.eye(truths, kinds) + 1 / kinds
        counts += average / average.sum(axis=1, keepdims=True)
        confusion = counts / counts.sum(axis=2, keepdims=True)
        logs = np.log(prior) + np.einsum("iak,atk->it", indicators, np.log(confusion))
        new = np.exp(logs - logs.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        moved = np.abs(new - shares).max(initial=0)
        shares = new
        if moved < 1e-6:
            break
    return Truths(shares, confusion, np.einsum("t,att->a", prior, confusion[:, :, :truths]))


def _counts(answers: np.ndarray) -> np.ndarray:
    """Count each answer that occurs, per item with two answers: shape (items, kinds)."""
    if answers.ndim != 2 or not (paired := (answers != MISSING).sum(axis=1) > 1).any():
        raise ValueError(f"agreement needs items with two answers, not shape {answers.shape}")
    kinds = int(answers.max()) + 1
    rows = answers[paired]
    counts = np.stack([(rows == kind).sum(axis=1) for kind in range(kinds)], axis=1)
    return counts[:, counts.any(axis=0)]
