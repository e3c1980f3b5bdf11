"""Stage: the explorer of test individuals, with factual and counterfactual decisions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.individual.names import titles_of
from evenhand.individual.people import (
    WITH_INTEGERS,
    Answers,
    name_of,
    read_answers,
    read_people,
    settings_of_tables,
    trainings,
)
from evenhand.individual.results import SETTING
from evenhand.metrics.individual import TAU
from evenhand.report.explorer import Document, coded, column, form, rounded, write_explorer
from evenhand.report.features import features_of, read_words
from evenhand.report.read import read_json
from evenhand.report.render import plural, visible
from evenhand.report.sections.individual_words import likeness, method, setting
from evenhand.tabular.prepared import Prepared

#: The groups of a method that differ from those of its data set.
INTEGERS = "EIDIG’s whole numbers"

ANSWERS = {
    "positive": "decided 1",
    "negative": "decided 0",
    "wrong": "wrong",
    "right": "right",
    "changes": "the decision changes",
    "stays": "the decision stays",
    "beyond": "beyond tau",
    "within": "within tau",
}

#: The answers that are shown beside the probability, and their CSS classes.
BADGES = {"positive": "", "negative": "", "wrong": "bad", "changes": "bad", "beyond": ""}


def explore_people(
    *,
    templates: list[Input],
    out: Output,
    tables_out: Output,
    people: list[Input],
    meta: list[Input],
    formats: list[str],
    runs: list[Input] | None = None,
    predictions: list[Input] | None = None,
    trained_on: list[str] | None = None,
    tables: Input | None = None,
    words: Input | None = None,
    most: int = 50_000,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the explorer of test individuals.

    It shows the input columns of the networks and no other column of the source, so no names and
    no register numbers.

    Parameters
    ----------
    templates, out, tables_out, pages
        Of `evenhand.report.explorer.write_explorer`.
    people, meta : list of path
        ``data.parquet`` and ``data.json`` of each data set.
    formats : list of str
        How each was read, of `evenhand.tabular.formats`.
    runs, predictions : list of path, optional
        Of `train_table` and `train_eidig`, in the same order.
    trained_on : list of str, optional
        ``{dataset}/{split}/{method}`` of each of them.
    tables : path, optional
        The folder of `tabulate_individual`, for the settings of Tables 4 and 8.
    words : path, optional
        ``resources/iifr/feature_words.csv``.
    most : int
        Individuals of a data set, at most; the page states how many it leaves out.

    Returns
    -------
    dict
        Of `write_explorer`, answers and left_out (by data set).

    Raises
    ------
    InputError
        There is not one file of each kind for each data set or training, they do not belong
        together, or `most` is below one.
    """
    if most < 1:
        raise InputError(f"the page cannot show {most} people", remedy="give a number of people")
    places = trained_on or []
    found = read_people(people, meta)
    if len(formats) != len(found):
        raise InputError("there is not one format for each table of people")
    titles = titles_of(read_json(path) for path in meta)
    known = read_words(words)
    shown = [tables / f"table_{number}.csv" for number in (4, 8)] if tables else []
    settings = settings_of_tables(shown)
    order = {name_of(setting): i for i, setting in enumerate(settings)}
    answers: dict[str, list[Answers]] = {name: [] for name in found}
    for run, prediction, name in trainings(runs or [], predictions or [], places, found):
        answers[name] += read_answers(run, prediction, found[name], order)
    described, left_out, notes, files = [], {}, {}, {}
    for (name, table), format in zip(found.items(), formats, strict=True):
        own = sorted(answers[name], key=lambda one: order[one.name])
        one, left_out[name] = describe_people(
            titles[name], table, own, words=known, format=format, most=most
        )
        described.append(one)
        label = table.meta.get("label")
        notes[name] = [f"the attribute is {table.attribute_name}"]
        notes[name] += [f"the label 1 means {label}"] if label else []
        if left_out[name]:
            notes[name].append(f"{left_out[name]:,} more individuals are not on this page")
        notes[name] += [plural(len(own), "training"), *map(_seeds, own[:1])]
        files[name] = [f"tabular/{name}/data.parquet", "tables/individual/individuals.csv"]
        trained = [one.split("/", 1)[1] for one in places if one.startswith(f"{name}/")]
        files[name] += [f"tabular/{name}/predictions/{place}.parquet" for place in trained]
    every = [one for own in answers.values() for one in own]
    counts = write_explorer(
        "people", described, files, notes,
        out=out, tables_out=tables_out, templates=templates, pages=pages,
        alike=likeness({one[SETTING.index("js_base")] for one in settings}, TAU),
        integers=any(one.name[1].startswith(WITH_INTEGERS) for one in every),
    )  # fmt: skip
    sizes = {one["key"]: sum(len(model["row"]) for model in one["models"]) for one in described}
    return counts | {"answers": sizes, "left_out": left_out}


def describe_people(
    title: str, table: Prepared, answers: Sequence[Answers],
    words: Sequence[dict[str, Any]] = (), format: str = "", most: int = 50_000,
) -> tuple[Document, int]:  # fmt: skip
    """Return the test individuals of a data set as a set, and how many are left out.

    Parameters
    ----------
    title : str
        Of the data set.
    table : Prepared
        Its people.
    answers : sequence of Answers
        Of each training, in the order of the page.
    words, format, most
        Of `evenhand.report.features.features_of`, and of `explore_people`.
    """
    rows = [one.row for one in answers]
    held_out = np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)
    chosen = held_out[:most]
    label, attribute = table.meta.get("label"), table.attribute_name
    columns = [
        column("label", "Label", map(str, table.y[chosen]), filter=True, place="line",
               options=[(one, f"{one}: {words}{label}" if label else one)
                        for one, words in (("1", ""), ("0", "not "))]),
    ]  # fmt: skip
    models = [_model(one, chosen) for one in answers]
    members = [_members(one.people) for one in answers]
    others = [not np.array_equal(one, _members(table)) for one in members]
    if any(others):
        groups = answers[others.index(True)].people
        named = f"group, {INTEGERS}"
        columns.insert(0, _group(groups, chosen, named, f"{attribute}, {INTEGERS}", ask="group"))
    columns.insert(0, _group(table, chosen, "group", attribute, filter=True, place="line"))
    for model, other in zip(models, others, strict=True):
        model |= {"instead": {"group": 1}} if other else {}
    for feature in features_of(table, words, format):
        values = [[visible(v) if isinstance(v, str) else _whole(v)] for v in feature.values]
        one = column(feature.name, feature.name, (), place="line", unit=feature.unit)
        one |= {"values": values, "codes": feature.codes[chosen].tolist()}
        columns.append(one | {"ask": f"feature: {feature.name}"})
    several = any(other or len(table.attribute_values) > 2 for other in [False, *others])
    shared = form("people")
    return shared | {
        "key": table.name,
        "title": visible(title),
        "id": [str(row) for row in chosen.tolist()],
        "columns": columns,
        "shares": shared["shares"][: None if several else -1],
        "models": models,
    }, len(held_out) - len(chosen)


def _members(people: Prepared) -> np.ndarray:
    return np.array(people.attribute_values)[people.a]


def _group(people: Prepared, chosen: np.ndarray, name: str, title: str, **more: Any) -> Document:
    """Return the column of the groups of some people."""
    options = [(value, value) for value in people.attribute_values]
    return column(name, title, _members(people)[chosen].tolist(), options=options, **more)


def _whole(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


def _seeds(answers: Answers) -> str:
    kept = len(answers.seeds)
    if kept < answers.runs:
        return f"the first {kept} of {plural(answers.runs, 'seed')}"
    return plural(kept, "seed")


def _model(answers: Answers, chosen: np.ndarray) -> dict[str, Any]:
    """Return a training as a model: an answer for each seed and each of its test individuals."""
    some = np.isin(answers.row, chosen)
    table, rows = answers.people, answers.row[some]
    p, flipped = answers.p[some].astype(float), answers.flipped[some].astype(float)
    positive, changed, beyond = (
        one[some] for one in (answers.positive, answers.changed, answers.beyond)
    )
    wrong = positive != (table.y[rows] == 1)
    moved = np.nanmax(np.abs(flipped - p[:, None]), axis=1)
    flips = len(table.attribute_values) - 1
    holds = (positive, wrong, changed.any(axis=1), beyond.any(axis=1))
    names = list(ANSWERS)
    tags = [np.where(one, *names[2 * i : 2 * i + 2]) for i, one in enumerate(holds)]
    kinds = {"factual": np.isnan(flipped), "decision changes": changed, "beyond tau": beyond}
    notes = np.stack(list(kinds.values()), axis=-1).reshape(-1, 3).tolist()
    shares = (~wrong, positive, 1 - changed.sum(axis=1) / flips, 1 - beyond.sum(axis=1) / flips,
              ~holds[-1])  # fmt: skip
    named = dict(zip(SETTING, answers.setting, strict=True))
    return {
        "name": visible(", ".join(filter(None, [method(named), setting(named)]))),
        "asks": {"training": answers.name[1], "method": named["method"]},
        "over": _seeds(answers),
        "row": np.searchsorted(chosen, rows).tolist(),
        "measures": [rounded(p, 3, (0.5,)), rounded(moved, 3)],
        "shares": [np.round(one.astype(float), 8).tolist() for one in shares],
        "columns": [
            column("seed", "Seed", (str(answers.seeds[one]) for one in answers.seed[some]),
                   filter=True, scope=True),
            column("answer", "Answer", np.stack(tags, axis=1).tolist(), filter=True,
                   options=list(ANSWERS.items()), badges=BADGES),
        ],
        "classes": [visible(one) for one in table.attribute_values],
        "cells": rounded(flipped.ravel(), 3, (0.5,)),
        "cell_notes": coded([n for n, on in zip(kinds, one, strict=True) if on] for one in notes),
    }  # fmt: skip


if __name__ == "__main__":
    stage.run(explore_people)
