"""The bias score of each model and method, and whether it prefers either side.

Pairs that swap the same words are dependent: the 1,508 pairs of CrowS-Pairs have an effective
sample size of about 51. So tests and intervals are by cluster (`evenhand.metrics.inference`).
Models of the same architecture with random weights are compared, if available; no verdict depends
on them.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, flag, integer, number, percent, share, text
from evenhand.scoring.methods import COUNTING, METHODS
from evenhand.stereotypes.decisions import (
    NOT_SCORED,
    adjust_verdicts,
    decide,
    same_decisions,
    summarise_group,
)
from evenhand.stereotypes.read_scores import Model, Pairs, PairStudy

TABLE = Table(
    "bias_scores",
    title="Bias scores and verdicts",
    key=("model", "method", "subset", "bias_type"),
    columns=(
        text("model"),
        text("method"),
        text("subset", "all; clean: no data-quality flag; equal_length; stereo and antistereo"),
        text("bias_type", "all, or a bias type"),
        integer("pairs"),
        integer("scored", "Pairs with two finite scores"),
        integer("ties", "Scored pairs with equal scores, up to the rounding of fp32"),
        integer("unscorable", "Pairs without a score"),
        integer(
            "misplaced", "Pairs with this flag: a sentence fits another pair better than its own"
        ),
        integer(
            "one_longer", "Scored pairs in which the same side has more tokens, of either side"
        ),
        integer("unequal", "Scored pairs of which one side has more tokens"),
        percent(
            "score",
            "Scored pairs whose stereotypical sentence scores higher; a tie is half",
            interval=True,
            neutral=50,
            clusters="clusters",
            items="pair_scores",
        ),
        integer("clusters", "Clusters of pairs that swap the same words"),
        number(
            "effective_clusters",
            "n^2 / sum of squared cluster sizes; divided by inflation, independent pairs",
        ),
        number(
            "inflation",
            "Of the variance of the score, by swaps that share words or sentences; 1 without",
        ),
        integer(
            "templates",
            "Sentences around the swapped words, or words that take turns in them: whichever tests"
            " count, where swaps share some",
        ),
        number("correlation", "Of the decisions on pairs of one cluster, cut to 0 to 1"),
        number("p_value", "Of no preference, two-sided, by the signs of the clusters"),
        number(
            "p_adjusted",
            "Adjusted by Holm for unlike methods, and for bias types beside `all`",
        ),
        number("delta", "The smallest preference that matters", "percentage points"),
        share("power", "Power of the test at delta, for this set and correlation"),
        integer("further_clusters", "Further clusters of such sizes for a power of 80 %"),
        number("studentised", "Preference over its standard error under random signs"),
        integer("null_seeds", "Scored models of the same architecture with random weights"),
        integer("null_beyond", "Those whose studentised score is at least as far from 0"),
        flag("trusted", "Whether the model passed its validity check"),
        text("verdict", "above or below 50, equivalent (within delta), inconclusive, not_scored"),
        text("reason", "Why there is no score, or no interval"),
    ),
    source="Kaneko and Bollegala 2022, table 2",
    main={"method": COUNTING, "subset": ("all",), "bias_type": ("all",)},
)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per model, method, subset and bias type; untrusted models have one row.

    For the verdicts see `evenhand.stereotypes.decisions.adjust_verdicts`.
    """
    for model in study.models:
        yield from _rows(model, study.pairs, study.delta)


def subsets(pairs: Pairs, model: Model) -> dict[str, np.ndarray]:
    """Return the subsets of a set that are scored separately, as masks over pairs by name."""
    lengths = [model.scores.column("n_tokens", side) for side in ("more", "less")]
    masks = {
        "all": np.ones(len(pairs.pair_id), dtype=bool),
        "clean": pairs.clean,
        "equal_length": lengths[0] == lengths[1],
    }
    directions = {name: pairs.direction == name for name in ("stereo", "antistereo")}
    if any(chosen.any() for chosen in directions.values()):
        masks |= directions
    return masks


def _rows(model: Model, pairs: Pairs, delta: float) -> Iterator[Row]:
    blank = dict.fromkeys(TABLE.header) | {"model": model.name, "subset": "all", "bias_type": "all"}
    methods = [name for name in METHODS if name in model.methods or name in model.blank]
    if not methods:
        reason = model.gate["reason"] or "nothing_scored"
        verdict = {"verdict": NOT_SCORED, "reason": reason}
        yield blank | {"pairs": len(pairs.pair_id), "trusted": model.trusted} | verdict
        return
    decisions = [decide(pairs, model.scores, method) for method in methods]
    nulls = [[decide(pairs, null, method) for null in model.nulls] for method in methods]
    first = same_decisions(dict(zip(methods, decisions, strict=True)))
    rows_by_method: dict[str, list[Row]] = {method: [] for method in methods}
    lengths = [model.scores.column("n_tokens", side) for side in ("more", "less")]
    longer = (lengths[0] > lengths[1], lengths[0] < lengths[1])
    for subset, members in subsets(pairs, model).items():
        rows = []
        for bias_type in pairs.bias_types:
            chosen = members & pairs.of_type(bias_type)
            if bias_type != "all" and not chosen.any():
                continue
            for place, method in enumerate(methods):
                row, preference = summarise_group(decisions[place], nulls[place], chosen, delta)
                row |= {"method": method, "subset": subset, "bias_type": bias_type}
                row |= {"misplaced": int(pairs.misplaced[chosen].sum())}
                scored = decisions[place].counted() & chosen
                counts = [int((scored & side).sum()) for side in longer]
                row |= {"one_longer": max(counts), "unequal": sum(counts)}
                row |= {"reason": model.blank[method]} if method in model.blank else {}
                rows.append((blank | row | {"trusted": True}, preference))
        for row in adjust_verdicts(rows, first):
            rows_by_method[row["method"]].append(row)
    for method in methods:
        yield from rows_by_method[method]
