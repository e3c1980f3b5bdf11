"""Stage: the explorer of test individuals, with factual and counterfactual decisions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.core.stage import Count, Input, Output, checked
from evenhand.individual.names import titles_of
from evenhand.individual.people import (
    WITH_INTEGERS,
    Answers,
    name_of,
    read_answers,
    read_people,
    settings_of_tables,
)
from evenhand.metrics.individual import TAU
from evenhand.report.explorer import Document, coded, column, columns, form, rounded, write_explorer
from evenhand.report.features import Feature, features_of, read_words
from evenhand.report.headline import plain
from evenhand.report.read import read_json
from evenhand.report.render import plural, visible
from evenhand.report.sections.individual_words import likeness, method, setting
from evenhand.report.words import positive_label
from evenhand.tabular.prepared import Prepared

#: The groups of a method that differ from those of its data set.
INTEGERS = "EIDIG’s whole numbers"

#: The two answers to each question about a decision.
ANSWERS = (("positive", "negative"), ("wrong", "right"), ("changes", "stays"), ("beyond", "within"))


@checked
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
    tables: Input | None = None,
    words: Input | None = None,
    most: Count = 50_000,
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
        Of `train_table` and `train_eidig`, in the same order, below the folder of their data set.
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
        The files do not belong together.
    """
    titles = titles_of(read_json(path) for path in meta)
    known_words = read_words(words)
    reported = [tables / f"table_{number}.csv" for number in (4, 8)] if tables else []
    settings = settings_of_tables(reported)
    order = {name_of(setting): i for i, setting in enumerate(settings)}
    trainings = list(zip(runs or [], predictions or [], strict=True))
    sets, left_out, notes, files, integers = [], {}, {}, {}, False
    prepared = read_people(people, meta).values()
    for table, path, format in zip(prepared, meta, formats, strict=True):
        name, folder = table.name, path.parent
        pairs = [pair for pair in trainings if pair[1].is_relative_to(folder)]
        answers = [part for pair in pairs for part in read_answers(*pair, table, order)]
        answers.sort(key=lambda training: order[training.name])
        integers = integers or any(part.name[1].startswith(WITH_INTEGERS) for part in answers)
        document, left_out[name] = describe_people(
            titles[name], table, answers, words=known_words, format=format, most=most
        )
        sets.append(document)
        label = table.meta.get("label")
        notes[name] = [f"the attribute is {table.attribute_name}"]
        notes[name] += [f"the label 1 means {label}"] if label else []
        if left_out[name]:
            notes[name].append(plain("explorer_more", items=left_out[name], noun="individual"))
        notes[name] += [plural(len(answers), "training"), *map(_seeds, answers[:1])]
        files[name] = [f"tabular/{name}/data.parquet", "tables/individual/individuals.csv"]
        trained = (file.relative_to(folder).as_posix() for _, file in pairs)
        files[name] += [f"tabular/{name}/{file}" for file in trained]
    counts = write_explorer(
        "people", sets, files, notes,
        out=out, tables_out=tables_out, templates=templates, pages=pages,
        alike=likeness({setting.js_base for setting in settings}, TAU),
        integers=integers,
    )  # fmt: skip
    sizes = {data["key"]: sum(len(model["row"]) for model in data["models"]) for data in sets}
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
    rows = [training.row for training in answers]
    held_out = np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)
    chosen = held_out[:most]
    label, attribute = positive_label(table.meta), table.attribute_name
    labels = [("1", f"1: {label}"), ("0", f"0: not {label}")] if label else ["1", "0"]
    item_columns = [
        *columns("people", {"label": map(str, table.y[chosen])}, {"label": {"options": labels}}),
        *(_feature(feature, chosen) for feature in features_of(table, words, format)),
    ]
    models = [_model(training, chosen) for training in answers]
    members = _members(table)
    regrouped = [not np.array_equal(_members(part.people), members) for part in answers]
    if any(regrouped):
        people = answers[regrouped.index(True)].people
        title_of_groups = f"{attribute}, {INTEGERS}"
        groups = _group(people, chosen, f"group, {INTEGERS}", title_of_groups, ask="group")
        item_columns.insert(0, groups | {"filter": False})
    item_columns.insert(0, _group(table, chosen, "group", attribute, place="line"))
    for model, differs in zip(models, regrouped, strict=True):
        model |= {"instead": {"group": 1}} if differs else {}
    several = any(regrouped) or len(table.attribute_values) > 2
    shared = form("people")
    return shared | {
        "key": table.name,
        "title": visible(title),
        "id": [str(row) for row in table.row[chosen].tolist()],
        "columns": item_columns,
        "shares": shared["shares"][: None if several else -1],
        "models": models,
    }, len(held_out) - len(chosen)


def _members(people: Prepared) -> np.ndarray:
    return np.array(people.attribute_values)[people.a]


def _group(people: Prepared, chosen: np.ndarray, name: str, title: str, **more: Any) -> Document:
    """Return the column of the groups of some people."""
    values = _members(people)[chosen].tolist()
    return column(name, title, values, options=people.attribute_values, **more)


def _feature(feature: Feature, chosen: np.ndarray) -> Document:
    values = [
        visible(value) if isinstance(value, str) else int(value) if value.is_integer() else value
        for value in feature.values
    ]
    ask = f"feature: {feature.name}"
    described = column(feature.name, feature.name, (), place="line", unit=feature.unit, ask=ask)
    return described | {
        "values": [[value] for value in values],
        "codes": feature.codes[chosen].tolist(),
    }


def _seeds(answers: Answers) -> str:
    kept = len(answers.seeds)
    if kept < answers.runs:
        return f"the first {kept} of {plural(answers.runs, 'seed')}"
    return plural(kept, "seed")


def _model(answers: Answers, chosen: np.ndarray) -> dict[str, Any]:
    """Return a training as a model: an answer for each seed and each of its test individuals."""
    on_page = np.isin(answers.row, chosen)
    table, rows = answers.people, answers.row[on_page]
    p, flipped = answers.p[on_page].astype(float), answers.flipped[on_page].astype(float)
    positive, changed, beyond = (
        mask[on_page] for mask in (answers.positive, answers.changed, answers.beyond)
    )
    wrong = positive != (table.y[rows] == 1)
    moved = np.nanmax(np.abs(flipped - p[:, None]), axis=1)
    flips = len(table.attribute_values) - 1
    masks = (positive, wrong, changed.any(axis=1), beyond.any(axis=1))
    tags = [np.where(mask, *names) for mask, names in zip(masks, ANSWERS, strict=True)]
    kinds = {"factual": np.isnan(flipped), "decision changes": changed, "beyond tau": beyond}
    notes = np.stack(list(kinds.values()), axis=-1).reshape(-1, 3).tolist()
    shares = (~wrong, positive, 1 - changed.sum(axis=1) / flips, 1 - beyond.sum(axis=1) / flips,
              ~masks[-1])  # fmt: skip
    fields = answers.setting.named
    seeds = [str(answers.seeds[seed]) for seed in answers.seed[on_page]]
    return {
        "name": visible(", ".join(filter(None, [method(fields), setting(fields)]))),
        "asks": {"training": answers.name[1], "method": fields["method"]},
        "over": _seeds(answers),
        "row": np.searchsorted(chosen, rows).tolist(),
        "measures": [rounded(p, 3, (0.5,)), rounded(moved, 3)],
        "shares": [np.round(share.astype(float), 8).tolist() for share in shares],
        "columns": columns("people", {"seed": seeds, "answer": np.stack(tags, axis=1).tolist()}),
        "classes": [visible(value) for value in table.attribute_values],
        "cells": rounded(flipped.ravel(), 3, (0.5,)),
        "cell_notes": coded(
            [kind for kind, on in zip(kinds, mask, strict=True) if on] for mask in notes
        ),
    }  # fmt: skip
