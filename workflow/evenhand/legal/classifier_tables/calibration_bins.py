"""The bins behind the calibration of each group: predictions of all seeds together."""

from collections.abc import Iterator

from evenhand.core.tables import Row, Table, integer, number, share
from evenhand.legal.classifier_study import ClassifierStudy
from evenhand.legal.classifier_tables.calibration import GROUP, calibrate

TABLE = Table(
    "calibration_bins",
    title="Confidence and accuracy, by bins",
    key=(*(column.name for column in GROUP), "bin"),
    columns=(
        *GROUP,
        integer("bin"),
        number("from", "Lowest confidence of the bin"),
        number("to", "Highest confidence of the bin"),
        integer("predictions", "Of all seeds; bins without one are left out"),
        share("confidence", "Mean"),
        share("share_right", "Predictions that are right; of labels, those that apply"),
    ),
)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per bin of each row of `calibration`."""
    return (row for _, bins in calibrate(study) for row in bins)
