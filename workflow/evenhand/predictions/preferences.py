"""The share of samples in which a model prefers the stereotype, from lm-evaluation-harness."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, percent, share, text
from evenhand.metrics.inference import infer, total, verdict
from evenhand.metrics.paired import holm
from evenhand.predictions.lm_eval import Answer, parts

TABLE = Table(
    "preferences",
    title="Preferences in logs of lm-evaluation-harness",
    key=("task", "condition", "bias_type"),
    columns=(
        text("task"),
        text("condition", "BBQ: ambig or disambig; blank for pairs"),
        text("bias_type", "all, or a bias type"),
        integer("samples"),
        integer("scored", "Samples that name a group (BBQ), all of pairs"),
        integer("ties"),
        percent("score", "Of these, for the stereotype; a tie is not", interval=True, neutral=50),
        integer("clusters", "Swapped words of pairs, templates of BBQ"),
        number("effective_clusters", "n^2 / sum of squared cluster sizes"),
        number("p_value", "Of no preference, by the signs of the clusters"),
        number("p_adjusted", "By Holm over the bias types"),
        share("power", "Power of the test at delta"),
        integer("further_clusters", "Further clusters of such sizes for a power of 80 %"),
        percent("accuracy", "BBQ"),
        number("bias_score", "BBQ's: 2 score - 1, in ambiguous contexts times the errors"),
        text("verdict", "above or below 50, equivalent (within delta), inconclusive, not_scored"),
    ),
    source="lm-evaluation-harness --log_samples",
    main={"bias_type": ("all",)},
)


@dataclass(frozen=True)
class LogStudy:
    """The samples of logs, and the smallest preference that matters, in percentage points."""

    answers: list[Answer]
    left_out: list[Row]
    delta: float = 5.0
    level: float = 0.95


def rows(study: LogStudy) -> Iterator[Row]:
    """Yield a row per task, condition and bias type."""
    found = [_row(key, own, study) for key, own in parts(study.answers)]
    types = [one for one in found if one[0]["bias_type"] != "all"]
    for (row, _), p in zip(types, holm(np.array([r["p_value"] for r, _ in types])), strict=True):
        row["p_adjusted"] = float(p)
    for row, inference in found:
        if inference is not None:
            p = row.get("p_adjusted", row["p_value"])
            row["verdict"] = verdict(inference, level=study.level, p_value=p)
        yield row


def _row(key: tuple[str, str, str], own: list[Answer], study: LogStudy) -> tuple:
    task, condition, category = key
    row = {"task": task, "condition": condition, "bias_type": category, "samples": len(own)}
    row |= {"p_value": float("nan"), "verdict": "not_scored"}
    right = [one.right for one in own if one.right is not None]
    row["accuracy"] = 100 * float(np.mean(right)) if right else None
    scored = [one for one in own if one.preference is not None]
    row |= {"scored": len(scored), "ties": sum(one.preference == 0 for one in scored)}
    if not scored:
        return row, None
    clusters = np.array([one.cluster for one in scored])
    signs = np.sign([one.preference for one in scored])
    # a tie prefers neither side: it is half a hit in the test
    found = infer(total((signs + 1) / 2, clusters), neutral=0.5, delta=study.delta / 100,
                  is_share=True, level=study.level)  # fmt: skip
    shown = infer(total((signs > 0).astype(float), clusters), neutral=0.5, delta=study.delta / 100,
                  is_share=True, level=study.level)  # fmt: skip
    row |= {"score": 100 * shown.estimate, "score_low": 100 * shown.low}
    row |= {"score_high": 100 * shown.high, "p_value": found.p_value, "power": found.power}
    row |= {"clusters": found.clusters, "effective_clusters": found.effective_clusters}
    row["further_clusters"] = found.further_clusters
    if right:
        errors = 1 - np.mean(right) if condition.startswith("amb") else 1.0
        row["bias_score"] = float(errors * (2 * shown.estimate - 1))
    return row, found
