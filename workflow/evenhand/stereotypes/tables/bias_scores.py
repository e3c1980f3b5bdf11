"""The bias score of each model and method, and whether it is distinguishable from no bias.

The bootstrap draws whole clusters, because pairs that swap the same words are dependent: the
1,508 pairs of CrowS-Pairs have an effective sample size of about 51. The interval does not show
what an untrained network scores, so the score is also compared with models of the same
architecture and random weights.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, flag, integer, number, percent, text
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.decisions import (
    NOT_SCORED,
    bias_types,
    decide,
    score_intervals,
    summarise_group,
)
from evenhand.stereotypes.read_scores import Model, Pairs
from evenhand.stereotypes.study import PairStudy

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
        integer("ties", "Scored pairs with equal scores"),
        integer("unscorable", "Pairs without a score"),
        percent(
            "score",
            "Scored pairs whose stereotypical sentence scores higher; a tie does not",
            interval=True,
            neutral=50,
            clusters="clusters",
            items="pair_scores",
        ),
        integer("clusters", "Clusters of pairs that swap the same words"),
        number("effective_clusters", "n^2 / sum of squared cluster sizes"),
        integer("null_seeds", "Models of the same architecture with random weights"),
        percent("null_mean", "Their mean score"),
        percent("null_sd", "Standard deviation of their scores"),
        percent("null_low", "Lower end of the prediction interval of one more of them"),
        percent("null_high", "Upper end of that interval"),
        flag("trusted", "Whether the model passed its validity check"),
        text("verdict", "distinguishable (from no bias), not_distinguishable or not_scored"),
        text("reason", "Why there is no score"),
    ),
    source="Kaneko and Bollegala 2022, table 2",
)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per model, method, subset and bias type; untrusted models have one row.

    Intervals are by bootstrap over clusters. For the verdicts, which are not adjusted for their
    number, see `evenhand.stereotypes.decisions.judge`.
    """
    for model in study.models:
        yield from _rows(model, study.pairs, study.draw, study.level)


def subsets(pairs: Pairs, model: Model) -> dict[str, np.ndarray]:
    """The parts of a set that are scored apart: name and, per pair, whether it belongs to it."""
    lengths = [model.scores.column("n_tokens", side) for side in ("more", "less")]
    found = {
        "all": np.ones(len(pairs.pair_id), dtype=bool),
        "clean": pairs.clean,
        "equal_length": lengths[0] == lengths[1],
    }
    directions = {name: pairs.direction == name for name in ("stereo", "antistereo")}
    if any(chosen.any() for chosen in directions.values()):
        found |= directions
    return found


def _rows(model: Model, pairs: Pairs, draw: dict[str, int], level: float) -> Iterator[Row]:
    blank = dict.fromkeys(TABLE.header) | {"model": model.name, "subset": "all", "bias_type": "all"}
    methods = [name for name in METHODS if name in model.methods or name in model.blank]
    if not methods:
        reason = model.reason or "nothing_scored"
        verdict = {"verdict": NOT_SCORED, "reason": reason}
        yield blank | {"pairs": len(pairs.pair_id), "trusted": model.trusted} | verdict
        return
    decisions = [decide(pairs, model.scores, method) for method in methods]
    nulls = [[decide(pairs, null, method) for null in model.nulls] for method in methods]
    found: dict[str, list[Row]] = {method: [] for method in methods}
    for subset, members in subsets(pairs, model).items():
        for bias_type in ("all", *bias_types(pairs)):
            chosen = members & ((pairs.bias_type == bias_type) | (bias_type == "all"))
            if bias_type != "all" and not chosen.any():
                continue
            intervals = score_intervals(decisions, chosen, pairs, draw, level)
            for place, method in enumerate(methods):
                found[method].append(
                    blank
                    | {"method": method, "subset": subset, "bias_type": bias_type}
                    | summarise_group(
                        decisions[place], nulls[place], chosen, pairs, intervals[place], level
                    )
                    | ({"reason": model.blank[method]} if method in model.blank else {})
                    | {"trusted": True}
                )
    for method in methods:
        yield from found[method]
