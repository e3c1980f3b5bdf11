"""Calibration by group: mean probability and observed frequency, bin by bin."""

from collections.abc import Iterator

from evenhand.core.tables import NotApplicable, Row, Table, integer, share, text
from evenhand.metrics.calibration import BINS, filled_bins
from evenhand.metrics.group import group_sums
from evenhand.predictions.study import PredictionStudy

TABLE = Table(
    "calibration",
    title="Calibration by group",
    key=("attribute", "group", "bin"),
    columns=(
        text("attribute"),
        text("group"),
        integer("bin", f"Of {BINS} of equal width, from 1"),
        share("from"),
        share("to"),
        integer("cases"),
        share("confidence", "Mean probability of the positive class, else of the predicted one"),
        share("observed_frequency", "Fraction of positives: share of cases of that class"),
    ),
)


def rows(study: PredictionStudy) -> Iterator[Row]:
    """Yield a row per attribute, group and bin with a case."""
    if study.calibrated is None:
        raise NotApplicable("there are no probabilities")
    for attribute in study.attributes:
        sums = group_sums(study.calibrated, attribute.codes, len(attribute.values))
        for group, bins in zip(attribute.values, sums, strict=True):
            key = {"attribute": attribute.name, "group": group}
            for name, count, confidence, right in filled_bins(study.by_run(bins).mean(axis=0)):
                cells = {"cases": int(count), "confidence": confidence}
                yield key | name | cells | {"observed_frequency": right}
