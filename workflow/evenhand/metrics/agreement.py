"""Agreement between annotators with categorical answers.

All functions take `answers`, an array of shape (items, annotators) of codes: whole numbers
from 0, one per kind of answer, no order among them, none missing.
"""

import numpy as np


def unanimous(answers: np.ndarray) -> np.ndarray:
    """Return, per item, whether all annotators give the same answer."""
    return (answers == answers[:, :1]).all(axis=1)


def percent_agreement(answers: np.ndarray) -> float:
    """Percent agreement as a share (0 to 1): pairs of annotators that agree, averaged over items.

    Raises
    ------
    ValueError
        There is no item, or fewer than two annotators.
    """
    _check(answers)
    counts = _counts(answers)
    annotators = answers.shape[1]
    agreeing = (counts * (counts - 1)).sum(axis=1) / (annotators * (annotators - 1))
    return float(agreeing.mean())


def fleiss_kappa(answers: np.ndarray) -> float | None:
    """Fleiss' kappa (1971), by statsmodels; None where it is not defined.

    Agreement is compared with the agreement by chance of annotators who all draw from the overall
    shares of answers. It is undefined if all answers are the same.

    Raises
    ------
    ValueError
        There is no item, or fewer than two annotators.
    """
    from statsmodels.stats.inter_rater import fleiss_kappa as kappa

    _check(answers)
    if _one_answer_only(answers):
        return None
    return float(kappa(_counts(answers), method="fleiss"))


def krippendorff_alpha(answers: np.ndarray) -> float | None:
    """Krippendorff's alpha for nominal data, by krippendorff; None where it is not defined.

    Like Fleiss' kappa, with a correction for few items; undefined in the same case.

    Raises
    ------
    ValueError
        There is no item, or fewer than two annotators.
    """
    import krippendorff

    _check(answers)
    if _one_answer_only(answers):
        return None
    return float(krippendorff.alpha(value_counts=_counts(answers), level_of_measurement="nominal"))


def _check(answers: np.ndarray) -> None:
    if answers.ndim != 2 or not answers.shape[0] or answers.shape[1] < 2:
        raise ValueError(f"agreement needs items and two annotators, not shape {answers.shape}")


def _one_answer_only(answers: np.ndarray) -> bool:
    return bool((answers == answers.flat[0]).all())


def _counts(answers: np.ndarray) -> np.ndarray:
    """Count each answer that occurs, per item: shape (items, kinds of answer)."""
    kinds = int(answers.max()) + 1
    counts = np.stack([(answers == kind).sum(axis=1) for kind in range(kinds)], axis=1)
    return counts[:, counts.any(axis=0)]
