"""The numbers of test individuals and answers behind Tables 4 and 8."""

import math
from collections.abc import Iterator
from operator import itemgetter
from statistics import NormalDist
from typing import Any

import numpy as np

from evenhand.core.rows import where
from evenhand.core.tables import Row, Table, integer, percent, share
from evenhand.individual.people import (
    count_answers,
    members,
    name_of,
    positive_rates,
    read_answers,
)
from evenhand.individual.results import FORM, SETTING, SETTING_COLUMNS, order, setting_of
from evenhand.individual.study import IndividualStudy
from evenhand.individual.tables import table_4, table_8
from evenhand.metrics.inference import bounded, recovered_interval

_KINDS = {
    "wrong": "predicted wrongly",
    "positive": "predicted positive",
    "changed": "with a changed label",
    "beyond": "whose probability moves beyond tau",
}

#: A rate with its interval.
RATE = ("positive_rate", "positive_rate_low", "positive_rate_high")

TABLE = Table(
    "individuals",
    title="Test individuals and answers behind the numbers",
    key=(*SETTING, "group", "label"),
    columns=(
        *SETTING_COLUMNS,
        integer("group", "Code of the attribute; blank: all"),
        integer("label", "0 or 1; blank: both"),
        integer("seeds", "Whose predictions were kept"),
        integer("runs", "That have measures"),
        integer("answers", "Of one seed on one test individual"),
        integer("people", "Test individuals"),
        *(
            column
            for kind, meaning in _KINDS.items()
            for column in (
                integer(kind, f"Answers {meaning}"),
                integer(f"{kind}_people", f"Test individuals {meaning}, by one seed at least"),
            )
        ),
        integer("flips", "Answers times other values of the attribute"),
        integer("changed_flips"),
        integer("beyond_flips"),
        percent(
            "acc",
            "Mean over these seeds, as all that follow; intervals are over individuals (clusters"
            " of answers)",
            interval=True,
        ),
        share("positive_rate", interval=True),
        percent("ifr_b", interval=True, neutral=100),
        percent("ifr_p", interval=True),
        percent("ifr_p_all", interval=True),
        share(
            "gap",
            "Of all groups: highest minus lowest positive_rate. The interval holds for any two"
            " groups together",
            interval=True,
            neutral=0,
        ),
        share("label_rate", "With label 1"),
        integer("extreme_seeds", "In which the group has the highest or lowest positive_rate"),
    ),
    form=FORM,
)


def _with_gaps(rows: list[dict[str, Any]], of_seeds: list[np.ndarray]) -> list[dict[str, Any]]:
    """Add the gap of the rates of positive predictions to the rows of all groups.

    Its interval holds for any two groups together (Bonferroni), as the two extremes are chosen.
    The rows of each group get the number of seeds in which it is an extreme, by the rates of each
    row in each seed.
    """
    for row in where(rows, group=None):
        groups = [other for other in where(rows, label=row["label"]) if other["group"] is not None]
        several = [each for other, each in zip(rows, of_seeds, strict=True) if other in groups]
        lowest, highest = np.fmin.reduce(several), np.fmax.reduce(several)
        for other, each in zip(groups, several, strict=True):
            at_end = (each == lowest) | (each == highest)
            other["extreme_seeds"] = int(at_end.sum())
        if len(groups) < 2:
            continue
        rates = ([each[name] for name in RATE] for each in groups)
        lowest, *_, highest = sorted(rates, key=itemgetter(0))
        row["gap"] = highest[0] - lowest[0]
        if None not in (*lowest, *highest):
            pairs = math.comb(len(groups), 2)
            wider = NormalDist().inv_cdf(0.025 / pairs) / NormalDist().inv_cdf(0.025)
            ends = (
                [rate + wider * (end - rate) for end in limits]
                for rate, *limits in (highest, lowest)
            )
            interval = recovered_interval(*ends, highest[0], lowest[0])
            row["gap_low"], row["gap_high"] = bounded(interval, -1.0, 1.0)
    return rows


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per setting of Tables 4 and 8, group and label with test individuals."""
    names = {
        name_of(setting_of(row)) for member in (table_4, table_8) for row in member.rows(study)
    }
    datasets = {row["file"]: row["dataset"] for row in study.runs}
    counted: dict[Any, list[dict[str, Any]]] = {}
    for number, (runs, predictions) in enumerate(study.trainings):
        if number not in datasets:
            continue
        for answers in read_answers(runs, predictions, study.people[datasets[number]], names):
            named = answers.setting.named | {"seeds": len(answers.seeds), "runs": answers.runs}
            chosen = list(members(answers))
            counts = [
                named | {"group": group, "label": label} | count_answers(answers, some)
                for group, label, some in chosen
            ]
            of_seeds = [positive_rates(answers, some) for *_, some in chosen]
            counted[answers.setting] = _with_gaps(counts, of_seeds)
    for setting in sorted(counted, key=order):
        yield from counted[setting]
