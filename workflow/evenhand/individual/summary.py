"""Means over seeds: their spread and intervals."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

#: What a mean over seeds is made of.
SUMMARY = ("mean", "sd", "low", "high", "seeds")

#: Coverage of the intervals.
LEVEL = 0.95


def summarise(values: Sequence[float]) -> dict[str, Any]:
    """Mean, standard deviation and 95 % t interval of the mean over seeds.

    Without a value there is no number, and with one value no sd and no interval. The sd is that
    of single runs (ddof 1).
    """
    count = len(values)
    if not count:
        return dict.fromkeys(SUMMARY) | {"seeds": 0}
    mean = float(np.mean(values))
    if count == 1:
        return dict.fromkeys(SUMMARY) | {"mean": mean, "seeds": 1}
    sd = float(np.std(values, ddof=1))
    reach = t_quantile(count - 1) * sd / math.sqrt(count)
    return {"mean": mean, "sd": sd, "low": mean - reach, "high": mean + reach, "seeds": count}


def t_quantile(degrees: int, level: float = LEVEL) -> float:
    """The number of standard errors that a t interval reaches to each side."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + level) / 2))
