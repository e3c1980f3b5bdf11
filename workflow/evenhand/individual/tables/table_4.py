"""Accuracy and individual fairness of each method.

Balanced accuracy and the positive rate are always reported with accuracy, because accuracy does not
show that a model predicts only one class.
"""

from collections.abc import Iterator

from evenhand.core.tables import Row
from evenhand.individual.reproduction import compare_overall, reproduction
from evenhand.individual.study import IndividualStudy

TABLE = reproduction("4", "Accuracy and individual fairness", main="ifr_b")
METRICS = ("acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p", "ifr_p_all")


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per reported setting and metric."""
    return compare_overall(study, "4", METRICS)
