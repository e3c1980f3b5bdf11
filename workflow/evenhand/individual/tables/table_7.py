"""Group fairness of each method."""

from collections.abc import Iterator

from evenhand.core.tables import Row
from evenhand.individual.reproduction import compare_overall, reproduction
from evenhand.individual.study import IndividualStudy

TABLE = reproduction("7", "Group fairness", main="ddp")
METRICS = ("ddp", "deo_0", "deo_1")


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per reported setting and metric."""
    return compare_overall(study, "7", METRICS)
