"""Individual fairness: how often counterfactual rows have another prediction."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, percent, share, text
from evenhand.metrics.individual import similar_outputs
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
        percent(
            "ifr_b",
            "Counterfactual rows with the same predicted label",
            interval=True,
            neutral=100,
        ),
        percent(
            "ifr_p",
            "Counterfactual rows with a similar probability; blank without probabilities",
            interval=True,
            neutral=100,
        ),
        share(
            "moved",
            "Mean absolute change of the probabilities: half of its sum over the classes, which of"
            " two is that of either",
        ),
    ),
    source="IIFR (Journal of Software 34(9), 2023), section 3.2",
)


def rows(study: PredictionStudy) -> Iterator[Row]:
    """Yield a row per attribute that counterfactual rows change."""
    predictions = study.predictions
    if not len(predictions.factual):
        raise NotApplicable("there are no counterfactual rows")
    for name in dict.fromkeys(predictions.changed.tolist()):
        some = predictions.changed == name
        cases = predictions.factual[some]
        before, after = predictions.predicted[0, cases], predictions.flipped_predicted[some]
        shares = {"ifr_b": (before == after).all(axis=1).astype(float)}
        row: Row = {"attribute": name, "cases": len(np.unique(cases)), "rows": len(cases)}
        if predictions.probabilities is not None:
            p, flipped = predictions.probabilities[0, cases], predictions.flipped[some]
            shares["ifr_p"] = similar_outputs(p, flipped[:, None])
            row["moved"] = float(np.abs(flipped - p).sum(axis=1).mean() / 2)
        for key, values in shares.items():
            low, high = korn_graubard(total(values, predictions.clusters[cases]), study.level)
            row |= {key: 100 * values.mean(), f"{key}_low": 100 * low, f"{key}_high": 100 * high}
        yield row
