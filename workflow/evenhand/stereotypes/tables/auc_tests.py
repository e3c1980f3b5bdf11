"""Tests of the difference between two methods' agreement with human ratings."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, text
from evenhand.metrics.paired import holm
from evenhand.stereotypes.read_scores import PairStudy
from evenhand.stereotypes.tables.meta_evaluation import agreements

TABLE = Table(
    "auc_tests",
    title="Differences in agreement with human ratings",
    key=("model", "agreeing", "method_a", "method_b"),
    columns=(
        text("model"),
        integer("agreeing", "Annotators who must name the bias type of a pair"),
        text("method_a"),
        text("method_b"),
        number("difference", "AUC of a minus AUC of b, over pairs that both score", interval=True),
        number("p_value", "Two-sided, by random signs of the clusters"),
        number("p_adjusted", "Adjusted by Holm for the tests of the model and label"),
    ),
)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted model, number of annotators, and two methods."""
    for agreement in agreements(study):
        couples = list(combinations(agreement.differences, 2))
        adjusted = holm(np.array([agreement.areas[couple][3] for couple in couples]))
        for couple, p_adjusted in zip(couples, adjusted.tolist(), strict=True):
            numbers = dict(zip(TABLE.header[4:8], agreement.areas[couple], strict=True))
            yield {
                "model": agreement.model,
                "agreeing": agreement.agreeing,
                "method_a": couple[0],
                "method_b": couple[1],
                **numbers,
                "p_adjusted": p_adjusted,
            }
