"""Individual fairness: how often counterfactual rows have another prediction."""

from collections.abc import Iterator

from evenhand.core.tables import (
    NotApplicable,
    Row,
    Table,
    integer,
    percent,
    share,
    text,
    with_interval,
)
from evenhand.metrics.inference import bounded, korn_graubard, sign_flip_interval, total
from evenhand.predictions.study import PredictionStudy

TABLE = Table(
    "counterfactuals",
    title="Factual and counterfactual predictions",
    key=("attribute",),
    columns=(
        text("attribute", "That differs in the counterfactual rows"),
        integer("cases", "With a counterfactual row"),
        integer("rows", "Counterfactual rows"),
        percent(
            "ifr_b",
            "Counterfactual rows with the same predicted label",
            interval=True,
            neutral=100,
            items="counterfactual_rows",
        ),
        percent(
            "ifr_p",
            "Counterfactual rows with a similar probability; blank without probabilities",
            interval=True,
            neutral=100,
            items="counterfactual_rows",
        ),
        share(
            "moved",
            "Mean absolute change of the probabilities: half of its sum over the classes, which of"
            " two is that of either",
            interval=True,
            neutral=0,
            items="counterfactual_rows",
        ),
    ),
    source="IIFR (Journal of Software 34(9), 2023), section 3.2",
)


def rows(study: PredictionStudy) -> Iterator[Row]:
    """Yield a row per attribute that counterfactual rows change."""
    if not len(study.predictions.factual):
        raise NotApplicable("there are no counterfactual rows")
    for name, rows in study.counterfactuals.groupby("attribute", sort=False):
        clusters = study.predictions.clusters[rows["place"]]
        row: Row = {"attribute": name, "cases": rows["place"].nunique(), "rows": len(rows)}
        for key in rows.columns.intersection(["ifr_b", "ifr_p"]):
            ends = korn_graubard(total(rows[key] / 100, clusters), study.level)
            row |= with_interval(key, rows[key].mean(), *(100 * end for end in ends))
        if "moved" in rows:
            interval = sign_flip_interval(total(rows["moved"], clusters), level=study.level)
            row |= with_interval("moved", rows["moved"].mean(), *bounded(interval, 0.0, 1.0))
        yield row
