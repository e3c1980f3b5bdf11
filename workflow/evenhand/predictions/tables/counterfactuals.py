"""Individual fairness: how often counterfactual rows have another prediction."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, number, percent, text
from evenhand.metrics.individual import similar_outputs, unchanged_labels
from evenhand.metrics.inference import korn_graubard, total
from evenhand.predictions.study import PredictionStudy

TABLE = Table(
    "counterfactuals",
    title="Factual and counterfactual predictions",
    key=("attribute",),
    columns=(
        text("attribute", "That differs in the counterfactual rows"),
        integer("cases", "With a counterfactual row"),
        integer("rows", "Counterfactual rows"),
        percent("ifr_b", "Counterfactual rows with the same predicted label", interval=True),
        percent("ifr_p", "Counterfactual rows with a similar probability", interval=True),
        number("moved", "Mean change of the probability of the positive class", "-1 to 1"),
    ),
    source="IIFR (Journal of Software 34(9), 2023), section 3.2",
)


def rows(study: PredictionStudy) -> Iterator[Row]:
    """Yield a row per attribute that counterfactual rows change."""
    predictions = study.predictions
    if predictions.probabilities is None or not len(predictions.factual):
        raise NotApplicable("there are no counterfactual rows with probabilities")
    for name in dict.fromkeys(predictions.changed.tolist()):
        some = predictions.changed == name
        p, flipped = (
            predictions.probabilities[0, predictions.factual[some]],
            predictions.flipped[some][:, None, :],
        )
        clusters = predictions.clusters[predictions.factual[some]]
        row: Row = {"attribute": name, "rows": int(some.sum())}
        row["cases"] = len(np.unique(predictions.factual[some]))
        for key, measure in (("ifr_b", unchanged_labels), ("ifr_p", similar_outputs)):
            shares = measure(p, flipped)
            low, high = korn_graubard(total(shares, clusters), study.level)
            row |= {key: 100 * shares.mean(), f"{key}_low": 100 * low, f"{key}_high": 100 * high}
        if predictions.positive is not None:
            row["moved"] = float((flipped[:, 0] - p)[:, predictions.positive].mean())
        yield row
