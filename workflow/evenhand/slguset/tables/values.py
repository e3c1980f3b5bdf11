"""The mean log probability ratio of each value's words to other values' words in their place.

It replaces the table of models where the values are not male and female. A sentence
counts for the value of its word and for that of its counterpart. Sentences about one surface pair
share its bias, so the pairs are the clusters of tests and intervals, as in the table of models.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.metrics.inference import ABOVE, BELOW, infer, total, verdict
from evenhand.metrics.paired import holm
from evenhand.slguset.bias_tables import Scored

TABLE = Table(
    "values",
    title="Bias by model and value",
    key=("model", "value"),
    columns=(
        text("model"),
        text("value"),
        integer("n", "Sentences scored"),
        integer("surface_pairs", "Pairs of words"),
        number(
            "mean_bias",
            "Mean of log p(word of the value) - log p(word of another value)",
            interval=True,
            neutral=0,
        ),
        number("p_value", "Of a mean bias of 0, two-sided, by random signs of the pairs"),
        number("p_adjusted", "By Holm over the values of a model"),
        text("verdict", "likelier, less likely, equivalent, inconclusive or not_scored"),
        share("power", "Power of the test where the mean bias is the threshold"),
        text("reason", "Why there is no verdict"),
    ),
)

#: The verdicts of the inference that have another name here.
WORDS = {ABOVE: "likelier", BELOW: "less likely"}


def rows(scored: Scored) -> Iterator[Row]:
    """Yield a row per model and value that has a sentence."""
    sentences = scored.sentences
    clusters = scored.clusters
    for name, gate in scored.gates.items():
        bias = scored.bias(name)
        inferences = {}
        for value in scored.settings.values:
            # a sentence has a word of the value, or the counterpart of one
            chosen = (sentences[["first", "second"]] == value).any(axis=1) & np.isfinite(bias)
            if chosen.any():
                signed = bias * np.where(sentences["first"] == value, 1.0, -1.0)
                totals = total(signed[chosen], clusters[chosen])
                inference = infer(totals, neutral=0, delta=scored.settings.threshold)
                inferences[value] = int(chosen.sum()), inference
        adjusted = holm(np.array([inference.p_value for _, inference in inferences.values()]))
        for (value, (count, inference)), p_value in zip(
            inferences.items(), adjusted.tolist(), strict=True
        ):
            decision = verdict(inference, p_value=p_value)
            yield {
                "model": name,
                "value": value,
                "n": count,
                "surface_pairs": inference.clusters,
                **inference.with_interval("mean_bias"),
                **inference.cells("p_value", "power"),
                "p_adjusted": p_value,
                "verdict": WORDS.get(decision, decision) if gate["trusted"] else "not_scored",
                "reason": gate["reason"],
            }
