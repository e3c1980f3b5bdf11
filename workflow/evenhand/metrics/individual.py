"""Individual fairness: outputs for a person and for counterfactual values of the attribute.

Outputs are distributions over the classes; `flipped` holds the outputs for the same person with
each value of the attribute, NaN at the factual value. Source: IIFR (Journal of
Software 34(9), 2023, 4037-4055), section 3.2 and algorithm 1, with two readings that the paper
leaves open: the logarithm is natural, and with more than two values of the attribute a
person counts with the share of the counterfactual values (the authors drew one value per person;
this is its expectation).
"""

import math

import numpy as np

#: Outputs are similar up to this Jensen-Shannon divergence.
TAU = 0.001

#: Bases of logarithms by name.
BASES = {"e": math.e, "2": 2.0}


def js_divergence(p: np.ndarray, q: np.ndarray, *, base: float = math.e) -> np.ndarray:
    """Return the Jensen-Shannon divergence of distributions.

    Parameters
    ----------
    p, q : array of float, shape (..., classes)
        Distributions; NaN gives NaN.
    base : float
        The base of the logarithm: e gives nats (at most ln 2), 2 gives bits (at most 1).

    Returns
    -------
    array of float64, shape (...)
        At least 0. (The divergence, not its square root; rounding below 0 is cut.)
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    both = p + q
    total = _to_middle(p, both) + _to_middle(q, both)
    return np.maximum(total / 2, 0.0) / math.log(base)


def _to_middle(p: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Sum p ln(2 p / both) over the last axis; 0 ln 0 is 0."""
    ratio = np.divide(2 * p, both, out=np.ones(both.shape), where=p != 0)
    return (p * np.log(ratio)).sum(axis=-1)


def binary(p: np.ndarray) -> np.ndarray:
    """Turn P(Y=1), shape (...), into distributions, shape (..., 2)."""
    p = np.asarray(p, dtype=np.float64)
    return np.stack([1 - p, p], axis=-1)


def unchanged_labels(p: np.ndarray, flipped: np.ndarray) -> np.ndarray:
    """Return, per person, the share of counterfactual values with the same label.

    Parameters
    ----------
    p : array of float, shape (n, classes)
        The factual outputs. The label is the most probable class, the first of equal ones.
    flipped : array of float, shape (n, values, classes)
        The outputs with each value of the attribute; NaN at the factual value.

    Returns
    -------
    array of float64, shape (n,)

    Raises
    ------
    ValueError
        The shapes differ, an output is not finite, or a person has no counterfactual value.
    """
    p, flipped, other = _checked(p, flipped)
    labels = np.where(other[:, :, None], flipped, 0.0).argmax(axis=2)
    return _share(labels == p.argmax(axis=1)[:, None], other)


def similar_outputs(
    p: np.ndarray, flipped: np.ndarray, *, tau: float = TAU, base: float = math.e
) -> np.ndarray:
    """Return, per person, the share of counterfactual outputs within `tau` of the factual one.

    Parameters and errors as for `unchanged_labels`; `tau` is in the unit of `base`.

    Returns
    -------
    array of float64, shape (n,)
    """
    p, flipped, other = _checked(p, flipped)
    distance = js_divergence(p[:, None, :], np.where(other[:, :, None], flipped, p[:, None, :]))
    return _share(distance / math.log(base) <= tau, other)


def percent(shares: np.ndarray, *, strict: bool = False) -> float | None:
    """Return the mean of shares in percent, or with `strict` the percentage of shares of 1.

    None without a person.
    """
    if not len(shares):
        return None
    return 100 * float((shares == 1).mean() if strict else shares.mean())


def ifr_b(p: np.ndarray, flipped: np.ndarray) -> float | None:
    """Return IFR_b in percent: unchanged labels. See `unchanged_labels`; None without a person."""
    return percent(unchanged_labels(p, flipped))


def ifr_p(
    p: np.ndarray,
    flipped: np.ndarray,
    *,
    tau: float = TAU,
    base: float = math.e,
    strict: bool = False,
) -> float | None:
    """Return IFR_p in percent: similar outputs; with `strict`, for all counterfactual values.

    See `similar_outputs`; None without a person.
    """
    return percent(similar_outputs(p, flipped, tau=tau, base=base), strict=strict)


def _checked(p: np.ndarray, flipped: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both as float64, and a mask of the counterfactual values."""
    p, flipped = np.asarray(p, dtype=np.float64), np.asarray(flipped, dtype=np.float64)
    if p.ndim != 2 or flipped.ndim != 3 or (len(p), p.shape[1]) != flipped.shape[::2]:
        raise ValueError(f"outputs of the shapes {p.shape} and {flipped.shape}")
    missing = np.isnan(flipped)
    own = missing.all(axis=2)
    if not np.isfinite(p).all() or np.isinf(flipped).any() or (missing.any(axis=2) & ~own).any():
        raise ValueError("an output is no number")
    if (own.sum(axis=1) == flipped.shape[1]).any():
        raise ValueError("a person has no other value of the attribute")
    return p, flipped, ~own


def _share(holds: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (holds & other).sum(axis=1) / other.sum(axis=1)
