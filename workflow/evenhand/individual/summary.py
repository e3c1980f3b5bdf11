"""Means over seeds, with standard deviations and intervals."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

#: Coverage of the intervals.
LEVEL = 0.95


def summarise(values: Sequence[float]) -> dict[str, Any]:
    """Return mean, sd of single runs, t interval of the mean, and the number of values (seeds).

    Without values the mean is None; with one value the sd and the interval are None.
    """
    summary: dict[str, Any] = dict.fromkeys(("mean", "sd", "low", "high")) | {"seeds": len(values)}
    if not values:
        return summary
    mean = float(np.mean(values))
    if len(values) == 1:
        return summary | {"mean": mean}
    sd = float(np.std(values, ddof=1))
    reach = t_quantile(len(values) - 1) * sd / math.sqrt(len(values))
    return summary | {"mean": mean, "sd": sd, "low": mean - reach, "high": mean + reach}


def t_quantile(degrees: int, level: float = LEVEL) -> float:
    """Return the half-width of a t interval in standard errors."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + level) / 2))
