"""The share of samples in which a model prefers the stereotype, from lm-evaluation-harness."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, percent, share, text
from evenhand.metrics.inference import infer, swap_codes, total, verdict
from evenhand.metrics.paired import adjust, holm
from evenhand.predictions.lm_eval import Answer, parts
from evenhand.stereotypes.clusters import (
    alike_sentences,
    templates,
    words,
    words_taking_turns,
)

#: The task of the pairs of one bias type, such as ``crows_pairs_english_age``.
SUBTASK = re.compile(r"\b(crows_pairs_[a-z]+)_[a-z_]+")

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
        integer(
            "misplaced", "Pairs with this flag: a sentence fits another pair better than its own"
        ),
        integer("one_longer", "Scored pairs in which the same side has more words, of either side"),
        integer("unequal", "Scored pairs of which one side has more words"),
        percent(
            "score",
            "Of these, for the stereotype; a tie is half",
            interval=True,
            neutral=50,
            clusters="clusters",
            items="log_answers",
        ),
        percent(
            "harness_score",
            "Of pairs, as the harness computes pct_stereotype from the log-likelihoods: a tie is"
            " not for the stereotype",
        ),
        integer("clusters", "Swapped words of pairs, templates of BBQ"),
        integer(
            "templates",
            "Sentences around the swapped words of pairs, or words that take turns in them:"
            " whichever tests count",
        ),
        text("taking_turns", "Examples of these words; blank where sentences count"),
        text("alike", "Two sentences that count as one; blank where words count"),
        number(
            "effective_clusters",
            "n^2 / sum of squared cluster sizes; divided by inflation, independent samples",
        ),
        number("inflation", "Of the variance of the score, by pairs that share words or sentences"),
        number("p_value", "Of no preference, by the signs of the clusters"),
        number("p_adjusted", "By Holm over the tests of this model and task"),
        integer("tests", "Tests of the adjustment: contexts, or bias types in all contexts"),
        number(
            "least_p",
            "The least p_adjusted that so few clusters can have: 2^(1 - clusters), two-sided,"
            " adjusted beside the p-values of the other tests",
        ),
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
    """Yield a row per task, condition and bias type.

    Each task of each model is a question of its own: its p-values are adjusted for its own tests
    only, so that the verdict does not depend on the other logs. The contexts of a task are a
    family, and its bias types in all contexts; tasks of one bias type (`SUBTASK`) belong to the
    latter.
    """
    tested = [_row(key, group, study) for key, group in parts(study.answers)]
    families = defaultdict(list)
    for row, _ in tested:
        task = SUBTASK.sub(r"\1", row["task"])
        families[task, row["bias_type"] == "all" and task == row["task"]].append(row)
    for family in families.values():
        adjust(family, "p_value", "p_adjusted")
        p_values = np.array([row["p_value"] for row in family])
        for place, row in enumerate(family):
            row["tests"] = int(np.isfinite(p_values).sum())
            if np.isfinite(row["p_value"]):
                least = p_values.copy()
                least[place] = row["least_p"]
                row["least_p"] = float(holm(least)[place])
    for row, inference in tested:
        if inference is not None:
            p = row["p_adjusted"]
            row["verdict"] = verdict(inference, level=study.level, p_value=p)
        yield row


def _row(key: tuple[str, str, str], group: list[Answer], study: LogStudy) -> tuple:
    task, condition, category = key
    row = {"task": task, "condition": condition, "bias_type": category, "samples": len(group)}
    row |= {"p_value": float("nan"), "verdict": "not_scored"}
    row["misplaced"] = None if condition else sum(answer.misplaced for answer in group)
    right = [answer.right for answer in group if answer.right is not None]
    row["accuracy"] = 100 * float(np.mean(right)) if right else None
    scored = [answer for answer in group if answer.preference is not None]
    row |= {"scored": len(scored), "ties": sum(answer.preference == 0 for answer in scored)}
    if not scored:
        return row, None
    if not right:
        sizes = [[*map(len, map(words, answer.sentences))] for answer in scored]
        counts = [sum(a > b for a, b in sizes), sum(a < b for a, b in sizes)]
        row |= {"one_longer": max(counts), "unequal": sum(counts)}
    frames = None if right else templates((*answer.sentences, None) for answer in scored)
    clusters = swap_codes([answer.cluster for answer in scored], templates=frames)
    signs = np.sign([answer.preference for answer in scored])
    items = np.array([answer.item for answer in scored])
    totals = total((signs + 1) / 2, clusters, items=items)  # a tie is half a hit
    row["templates"] = None if right else totals.template_count
    if totals.templates is not None:
        counted = totals.templates.counted
        row["taking_turns"] = words_taking_turns(frames, counted)
        stereotypical = [answer.sentences[0] for answer in scored]
        row["alike"] = alike_sentences(stereotypical, frames, counted)
    inference = infer(
        totals, neutral=0.5, delta=study.delta / 100, is_share=True, level=study.level
    )
    names = ("score", "score_low", "score_high")
    numbers = (inference.estimate, inference.low, inference.high)
    row |= {name: 100 * value for name, value in zip(names, numbers, strict=True)}
    # of BBQ the harness has no such share, but the score of the paper
    row["harness_score"] = None if right else 100 * float((signs > 0).mean())
    row |= inference.cells("p_value", "power", "further_clusters")
    row["least_p"] = 2.0 ** (1 - min(inference.clusters, row["templates"] or inference.clusters))
    row |= inference.cells("clusters", "effective_clusters", "inflation")
    if right:
        errors = 1 - np.mean(right) if condition.startswith("amb") else 1.0
        row["bias_score"] = float(errors * (2 * inference.estimate - 1))
    return row, inference
