"""The ROC curves behind the agreement with human ratings."""

from collections.abc import Iterator

from evenhand.core.tables import Row, Table, integer, share, text
from evenhand.metrics.roc import roc_points
from evenhand.stereotypes.read_scores import PairStudy
from evenhand.stereotypes.tables.meta_evaluation import by_method

TABLE = Table(
    "roc",
    title="ROC curves of the agreement with human ratings",
    key=(),
    columns=(
        text("model"),
        text("method"),
        integer("agreeing", "Annotators who must name the bias type of a pair"),
        share("false_positive_rate"),
        share("true_positive_rate"),
    ),
    source="Kaneko and Bollegala 2022, figure 1",
)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield the points of each curve, at most 200."""
    for key, agreement, rated in by_method(study):
        difference = agreement.differences[key["method"]]
        for point in zip(*roc_points(difference[rated], agreement.labels[rated]), strict=True):
            yield key | dict(zip(TABLE.header[3:], map(float, point), strict=True))
