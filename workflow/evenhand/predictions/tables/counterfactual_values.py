"""The direction in which predictions change, by the value that the attribute is set to."""

from collections.abc import Iterator

from evenhand.core.tables import (
    NotApplicable,
    Row,
    Table,
    integer,
    number,
    text,
    with_interval,
)
from evenhand.metrics.inference import bounded, interval_p_value, sign_flip_interval, total
from evenhand.metrics.paired import adjust
from evenhand.predictions.study import PredictionStudy, order_of

TABLE = Table(
    "counterfactual_values",
    title="Change of the predictions by counterfactual value",
    key=("attribute", "value"),
    columns=(
        text("attribute", "That differs in the counterfactual rows"),
        text("value", "That it is set to"),
        text("label", "The positive label"),
        integer("cases", "With a counterfactual row of this value"),
        integer("rows", "Counterfactual rows of this value"),
        number(
            "signed_change",
            "Mean change of the label's probability from the factual row; without probabilities,"
            " rows in which the label is predicted anew less those in which it is no longer, as a"
            " share of all",
            "-1 to 1",
            interval=True,
            neutral=0,
            items="counterfactual_rows",
        ),
        number("p_value", "Of no change: the sign-flip test"),
        number("p_adjusted", "By Holm over the values of the attribute"),
    ),
)


def rows(study: PredictionStudy) -> Iterator[Row]:
    """Yield a row per attribute that counterfactual rows change, and value."""
    predictions = study.predictions
    if not len(predictions.factual):
        raise NotApplicable("there are no counterfactual rows")
    if predictions.positive is None:
        raise NotApplicable("no label is positive")
    for name, of_attribute in study.counterfactuals.groupby("attribute", sort=False):
        tested = []
        by_value = dict(iter(of_attribute.groupby("value")))
        for value in sorted(by_value, key=order_of):
            some = by_value[value]
            totals = total(some["signed_change"], predictions.clusters[some["place"]])
            ends = bounded(sign_flip_interval(totals, level=study.level), -1.0, 1.0)
            tested.append({
                "attribute": name,
                "value": value,
                "label": predictions.classes[predictions.positive],
                "cases": some["place"].nunique(),
                "rows": len(some),
                "p_value": interval_p_value(totals, level=study.level),
                **with_interval("signed_change", some["signed_change"].mean(), *ends),
            })  # fmt: skip
        adjust(tested, "p_value", "p_adjusted")
        yield from tested
