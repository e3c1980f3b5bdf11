"""The scores of all models on one set of pairs, from which the tables are computed."""

from dataclasses import dataclass
from typing import Any

from evenhand.stereotypes.read_scores import Model, Pairs


@dataclass(frozen=True, eq=False)
class PairStudy:
    """A set of pairs, its models, and the settings of tests and intervals.

    Parameters
    ----------
    pairs : Pairs
    models : list of Model
        In the order of the configuration, including untrusted ones.
    gates : dict
        The validity check of each model, as `score_pairs` wrote it.
    delta : float
        The smallest preference that matters, in percentage points.
    level : float
        Coverage of all intervals; one minus the size of the tests.
    agreeing : tuple of int
        Numbers of annotators who must name the bias type of a pair for it to count as biased.
    """

    pairs: Pairs
    models: list[Model]
    gates: dict[str, dict[str, Any]]
    delta: float = 5.0
    level: float = 0.95
    agreeing: tuple[int, ...] = (3, 4, 5)
