"""The share of samples in which a model prefers the stereotype, from lm-evaluation-harness."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, percent, share, text
from evenhand.metrics.inference import bounded, infer, swap_codes, total, verdict
from evenhand.metrics.paired import adjust
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
        percent("score", "Of these, for the stereotype; a tie is half", interval=True, neutral=50),
        percent(
            "harness_score",
            "Of pairs, the harness's pct_stereotype: a tie is not for the stereotype",
        ),
        integer("clusters", "Swapped words of pairs, templates of BBQ"),
        number("effective_clusters", "n^2 / sum of squared cluster sizes"),
        number("p_value", "Of no preference, by the signs of the clusters"),
        number("p_adjusted", "By Holm over all bias types, or whole tasks; blank for one whole"),
        share("power", "Power of the test at delta"),
        integer("further_clusters", "Further clusters of such sizes for a power of 80 %"),
        percent("accuracy", "BBQ"),
        number("bias_score", "The harness's amb_bias_score and disamb_bias_score, -1 to 1 (BBQ)"),
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
    tested = [_row(key, group, study) for key, group in parts(study.answers)]
    for is_whole in (True, False):
        family = [row for row, _ in tested if (row["bias_type"] == "all") == is_whole]
        if not is_whole or len(family) > 1:  # a single whole is one planned test
            adjust(family, "p_value", "p_adjusted")
    for row, inference in tested:
        if inference is not None:
            p = row.get("p_adjusted", row["p_value"])
            row["verdict"] = verdict(inference, level=study.level, p_value=p)
        yield row


def _row(key: tuple[str, str, str], group: list[Answer], study: LogStudy) -> tuple:
    task, condition, category = key
    row = {"task": task, "condition": condition, "bias_type": category, "samples": len(group)}
    row |= {"p_value": float("nan"), "verdict": "not_scored"}
    right = [answer.right for answer in group if answer.right is not None]
    row["accuracy"] = 100 * float(np.mean(right)) if right else None
    scored = [answer for answer in group if answer.preference is not None]
    row |= {"scored": len(scored), "ties": sum(answer.preference == 0 for answer in scored)}
    if not scored:
        return row, None
    clusters = swap_codes([answer.cluster for answer in scored])
    signs = np.sign([answer.preference for answer in scored])
    items = np.array([answer.item for answer in scored])
    # a tie is half a hit; with some, the interval is that of the test, and fits its verdict
    inference = infer(
        total((signs + 1) / 2, clusters, items=items),
        neutral=0.5,
        delta=study.delta / 100,
        is_share=row["ties"] in (0, len(scored)),
        level=study.level,
    )
    ends = bounded((inference.low, inference.high), 0.0, 1.0)
    names = ("score", "score_low", "score_high")
    numbers = (inference.estimate, *ends)
    row |= {name: 100 * value for name, value in zip(names, numbers, strict=True)}
    # of BBQ the harness has no such share, but the score of the paper
    row["harness_score"] = None if right else 100 * float((signs > 0).mean())
    row |= inference.cells("p_value", "power", "further_clusters")
    row |= inference.cells("clusters", "effective_clusters")
    if right:
        errors = 1 - np.mean(right) if condition.startswith("amb") else 1.0
        row["bias_score"] = float(errors * (2 * inference.estimate - 1))
    return row, inference
