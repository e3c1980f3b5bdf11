"""Stage: the explorer of legal cases, with the predictions of every training."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.legal.built import (
    case_batches,
    group_names,
    label_names,
    read_cases_table,
    read_labels,
    read_splits,
    with_none,
)
from evenhand.legal.dataset import Attribute, Dataset
from evenhand.legal.declaration import read_dataset
from evenhand.legal.groups import title as title_of
from evenhand.legal.predictions import NO_ATTRIBUTE, labelled
from evenhand.legal.records import SPLITS
from evenhand.legal.scored import Cases, Setting, as_classes, read_scored
from evenhand.metrics.classification import predicted_labels
from evenhand.report.explorer import Document, coded, column, form, rounded, write_explorer
from evenhand.report.render import plural, visible

#: Characters of a piece of evidence that are shown.
EVIDENCE = 240

#: Numbers of a case beside its id, of the metadata of its source, and their names.
NUMBERS = {"application_number": "Application", "docket": "Docket", "us_cite": "Citation"}

#: Where evidence was found.
PLACES = {"text": "facts", "context": "header or procedure", "given": "metadata of the source"}

#: The languages for browsers, where ours have other codes.
LANGUAGES = {"zh": "zh-Hans"}

COLUMNS = ["case_id", "date", "title", "language", "source", "source_position", "duplicate_of"]

ANSWERS = [
    ("right", "exactly right by most seeds"),
    ("wrong", "not exactly right"),
    ("differ", "seeds differ"),
]


def explore_cases(
    *,
    templates: list[Input],
    out: Output,
    tables_out: Output,
    names: list[str],
    titles: list[str],
    cases: list[Input],
    records: list[Input] | None = None,
    parts: list[str] | None = None,
    predictions: list[Input] | None = None,
    trainings: list[str] | None = None,
    objectives: list[str] | None = None,
    objective_titles: list[str] | None = None,
    splits: list[str] | None = None,
    characters: int = 300,
    most: int = 10_000,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the explorer of legal cases. Data sets without classifiers come last.

    Parameters
    ----------
    templates, out, tables_out, pages
        Of `evenhand.report.explorer.write_explorer`.
    names, titles : lists of str
        Of each data set.
    cases : list of path
        ``{name}.parquet`` of `build_cases`, in the order of `names`.
    records : list of path, optional
        Of `read_cases`, for each part: numbers of cases, and the precision of dates.
    parts : list of str, optional
        ``{name}/{part}`` for each file of `records`.
    predictions : list of path, optional
        Of the training stages.
    trainings : list of str, optional
        ``{name}/{classifier}/{objective}/{attribute}/{seed}`` for each file of `predictions`.
    objectives, objective_titles : list of str, optional
        Titles of objectives; others are shown by their names.
    splits : list of str, optional
        Those that the page shows, in its order; by default test and dev.
    characters : int
        Of the facts of each case that the page shows; 0 for none.
    most : int
        Cases of a data set, at most; the page states how many it leaves out.

    Returns
    -------
    dict
        Of `write_explorer`, and left_out (by data set).

    Raises
    ------
    InputError
        There is not one file of each kind for each data set, part or training, not one title
        for each objective, or the predictions are not of these cases.
    """
    if any(len(one) != len(names) for one in (titles, cases)):
        raise InputError("there is not one file of each kind for each data set")
    records_of = _by_name(names, records or [], parts or [], "part")
    predictions_of = _by_name(names, predictions or [], trainings or [], "training")
    objectives, objective_titles = objectives or [], objective_titles or []
    if len(objectives) != len(objective_titles):
        raise InputError("there is not one title for each objective")
    splits = ["test", "dev"] if splits is None else splits
    _check(splits, characters, most)
    called = dict(zip(objectives, objective_titles, strict=True))
    described, left_out, notes, files = [], {}, {}, {}
    for name, title, data in zip(names, titles, cases, strict=True):
        one, counts, left_out[name] = describe_cases(
            name, title, data, records_of[name], predictions_of[name],
            called=called, splits=splits, characters=characters, most=most,
        )  # fmt: skip
        described.append(one)
        notes[name] = [", ".join(f"{counts[split]:,} {split}" for split in splits)]
        if left_out[name]:
            notes[name].append(f"the last {left_out[name]:,} of these are not on this page")
        trained = plural(len(one["models"]), "training")
        notes[name].append(trained if one["models"] else "no classifier was trained on it")
        own = [place.split("/", 1)[1] for place in trainings or () if place.startswith(f"{name}/")]
        files[name] = [f"legal/{name}/{name}.parquet"]
        files[name] += [f"legal/{name}/predictions/{place}.parquet" for place in own]
    counts = write_explorer(
        "cases", sorted(described, key=lambda one: not one["models"]), files, notes,
        out=out, tables_out=tables_out, templates=templates, pages=pages,
        splits=splits, characters=characters,
    )  # fmt: skip
    return counts | {"left_out": left_out}


def _by_name(
    names: list[str], files: list[Path], places: list[str], what: str
) -> dict[str, list[Path]]:
    """Return the files of each data set, by the first part of their places."""
    owners = [place.split("/", 1)[0] for place in places]
    if len(files) != len(places) or not set(owners) <= set(names):
        raise InputError(f"there is not one data set of the page for each {what}")
    return {
        name: [file for file, owner in zip(files, owners, strict=True) if owner == name]
        for name in names
    }


def _check(splits: Sequence[str], characters: int, most: int) -> None:
    if not splits or len(set(splits)) != len(splits) or not set(splits) <= set(SPLITS):
        raise InputError(
            f"the splits of the page are {', '.join(splits) or 'none'}",
            remedy=f"name each of {', '.join(SPLITS)} once, or some of them",
        )
    if characters < 0 or most < 1:
        raise InputError(
            f"the page cannot show {characters} characters of {most} cases",
            remedy="give a number of cases, and of characters or 0",
        )


def describe_cases(
    key: str, title: str, data: Path, records: Iterable[Path],
    predictions: Sequence[Path], *, called: Mapping[str, str], splits: Sequence[str],
    characters: int, most: int,
) -> tuple[Document, dict[str, int], int]:  # fmt: skip
    """Return the cases of some splits as a set, the cases of each split, and how many are left out.

    The arguments are those of `explore_cases`, of one data set; `called` has the titles of
    objectives.
    """
    dataset = read_dataset(data)
    of_case = read_splits(data)
    chosen = np.concatenate([np.flatnonzero(of_case == split) for split in splits])
    left_out, chosen = max(len(chosen) - most, 0), chosen[:most]
    known, hot = read_labels(data, dataset)
    table = read_cases_table(data, COLUMNS).take(pa.array(chosen)).to_pydict()
    ids = table["case_id"]
    details = _details(records, set(ids))
    names = [visible(name) for name in label_names(dataset)]
    gold = [
        [names[k] for k in np.flatnonzero(row)] if there else None
        for row, there in zip(with_none(hot, dataset)[chosen], known[chosen], strict=True)
    ]
    split_of = of_case[chosen].tolist()
    attributes = [column for one in dataset.attributes for column in _attribute(data, one, chosen)]
    trainings = _trainings(data, predictions, splits, known, of_case, chosen)
    line: dict[str, Any] = {"place": "line", "filter": True}
    document = form("cases") | {
        "key": key,
        "title": visible(title),
        "id": [visible(one) for one in ids],
        "language": coded(LANGUAGES.get(one, one) for one in table["language"]),
        "columns": [
            column("title", "Title", table["title"], place="head"),
            column("date", "Date", _dates(ids, table["date"], details), place="line"),
            column("numbers", "Numbers", (details.get(one, NO_DETAILS)[1] for one in ids),
                   place="line"),
            column("split", "Split", split_of, options=[(one, one) for one in splits],
                   default=split_of[0] if ids else "", **line),
            column("labels", "Label", gold, ask="label", none="not known",
                   options=[(one, one) for one in names], **line),
            *attributes,
            column("source", "Source", table["source"]),
            column("position", "Record", table["source_position"]),
            column("duplicate_of", "Nearly the same as", table["duplicate_of"]),
            column("labelled", "Label known", ("yes" if ok else "no" for ok in known[chosen]),
                   filter=True, table=False, options=[(one, one) for one in ("yes", "no")]),
            column("text", "Beginning of the facts", _beginnings(data, chosen, characters),
                   place="text", table=False),
        ],
        "models": [_model(*one, dataset, names, called) for one in trainings],
    }  # fmt: skip
    return document, {split: int((of_case == split).sum()) for split in SPLITS}, left_out


#: The details of a case without a record: the precision of its date, and its numbers.
NO_DETAILS: tuple[str, list[str]] = ("", [])


def _details(records: Iterable[Path], case_ids: set[str]) -> dict[str, tuple[str, list[str]]]:
    """Return the precision of the date and the numbers of each case, of its first record."""
    found: dict[str, tuple[str, list[str]]] = {}
    for path in records:
        for row in read_rows(path, ["case_id", "given"]):
            if row["case_id"] in case_ids and row["case_id"] not in found:
                given = {one["name"]: one["value"] for one in row["given"]}
                numbers = [f"{NUMBERS[name]} {given[name]}" for name in NUMBERS if name in given]
                found[row["case_id"]] = given.get("date_precision", ""), numbers
    return found


def _dates(ids: list[str], dates: list[Any], details: dict[str, Any]) -> Iterator[str | None]:
    for case, date in zip(ids, dates, strict=True):
        year = details.get(case, NO_DETAILS)[0] == "year"
        yield date and (f"{date.year:04}" if year else date.isoformat())


def _beginnings(data: Path, chosen: np.ndarray, characters: int) -> list[str | None]:
    """Return the first characters of the facts of some cases; paragraphs are lines."""
    place = {row: i for i, row in enumerate(chosen.tolist())} if characters else {}
    texts: list[str | None] = [None] * len(chosen)
    first = 0
    for batch in case_batches(data, ["case_id", "text"]) if characters else ():
        rows = [row for row in range(first, first + len(batch)) if row in place]
        own = batch["text"].take(pa.array([row - first for row in rows], pa.int64()))
        for row, paragraphs in zip(rows, own.to_pylist(), strict=True):
            texts[place[row]] = _cut("\n".join(paragraphs or ()), characters) or None
        first += len(batch)
    return texts


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters].rstrip() + "…"


def _attribute(data: Path, attribute: Attribute, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Return the columns of an attribute: its value, the rule that found it, and the words."""
    name, title = attribute.name, attribute.title
    read = [name, f"{name}_rule", f"{name}_evidence"]
    table = read_cases_table(data, read).take(pa.array(chosen)).to_pydict()
    value, rule, evidence = (table.get(one) or [None] * len(chosen) for one in read)
    groups = group_names(attribute) if attribute.groups else ()
    more = {"filter": True, "options": [(one, one) for one in groups]} if groups else {}
    unknown = groups[-1] if groups else None
    return [
        column(name, title, (unknown if one is None else one for one in value),
               place="line" if groups else "", **more),
        column(read[1], f"{title}, rule", (one and one.replace("_", " ") for one in rule)),
        column(read[2], f"{title}, evidence", ([*map(_words, one or ())] for one in evidence),
               lang=True, table=False),
    ]  # fmt: skip


def _words(evidence: dict[str, Any]) -> str:
    """Return a piece of evidence and where it was found."""
    where, paragraph = PLACES.get(evidence["part"], evidence["part"]), evidence["paragraph"]
    where += "" if paragraph < 0 else f", paragraph {paragraph + 1}"
    return f"{_cut(evidence['words'], EVIDENCE)} ({where})"


def _trainings(
    data: Path, predictions: Sequence[Path], splits: Sequence[str],
    known: np.ndarray, of_case: np.ndarray, chosen: np.ndarray,
) -> Iterator[tuple[Setting, np.ndarray, Cases, list[int]]]:  # fmt: skip
    """Yield the logits of each training, (seeds, n, labels), of n cases, and their places."""
    places = labelled(known, of_case)
    scored = [split for split in splits if (of_case[places] == split).any()]
    if not predictions or (len(places) and not scored):
        return
    cases, runs = read_scored(data, predictions, scored or list(splits))
    kept = places[np.isin(of_case[places], scored)]
    row_of = {case: row for row, case in enumerate(chosen.tolist())}
    rows = np.array([row_of.get(case, -1) for case in kept.tolist()], dtype=np.int64)
    there = rows >= 0
    cases = cases.take(there)
    for setting, own in runs.by_setting().items():
        yield setting, runs.logits[own][:, there], cases, rows[there].tolist()


def _model(
    setting: Setting, logits: np.ndarray, cases: Cases, rows: list[int],
    dataset: Dataset, names: list[str], called: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """Return a training as a model: one answer per case, that of most seeds."""
    seeds = len(logits)
    predicted = predicted_labels(logits, dataset.task).astype(bool)
    votes = as_classes(predicted, dataset).sum(axis=0)
    gold = as_classes(cases.true, dataset)
    probability, loss = likelihoods(logits.astype(np.float64), cases.true, dataset)
    right = (predicted == cases.true).all(axis=-1).sum(axis=0)
    differ = (votes * (seeds - votes)).sum(axis=1)
    given = 2 * votes > seeds
    tags = [
        ["right" if 2 * n > seeds else "wrong", *(["differ"] if pairs else [])]
        for n, pairs in zip(right, differ, strict=True)
    ]
    of_class = np.full(votes.shape, np.nan)
    of_class[:, : probability.shape[-1]] = 100 * probability.mean(axis=0)
    objective, attribute = setting.objective, setting.trained_for
    attribute = "" if attribute == NO_ATTRIBUTE else attribute
    words = [setting.classifier, called.get(objective, objective.replace("_", " "))]
    words += [f"trained for {title_of(attribute, dataset)}"] if attribute else []

    def labels(holds: np.ndarray, name: str, title: str, **more: Any) -> dict[str, Any]:
        found = ([names[k] for k in np.flatnonzero(row)] for row in holds)
        return column(name, title, found, filter=True, badges=True, **more)

    return {
        "name": visible(", ".join(words)),
        "asks": {"classifier": visible(setting.classifier), "objective": visible(objective),
                 "trained": attribute},
        "over": plural(seeds, "seed"),
        "seeds": seeds,
        "row": rows,
        "measures": [right.tolist(), rounded(loss.mean(axis=0), 3), differ.tolist()],
        "columns": [
            column("answer", "Answer", tags, filter=True, options=ANSWERS),
            labels(given, "predicted", "Predicted"),
            labels(gold & ~given, "missed", "Missed", tone="bad"),
            labels(given & ~gold, "wrongly", "Wrongly predicted", tone="bad"),
        ],
        "classes": names,
        "cells": rounded(of_class.ravel(), 1),
        "cell_notes": coded(f"{n} of {seeds}" for n in votes.ravel().tolist()),
    }  # fmt: skip


def likelihoods(
    logits: np.ndarray, true: np.ndarray, dataset: Dataset
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each label, and the loss of each case.

    The loss is the cross-entropy: minus the logarithm of the probability of the true label, or,
    where a case may have several labels, the mean of the binary cross-entropy over labels.

    Parameters
    ----------
    logits : array of float64, shape (seeds, n, labels)
        Finite.
    true : array of bool, shape (n, labels)
        The labels that apply, without a class for "none".
    dataset : Dataset
        Its task determines the meaning of the logits.

    Returns
    -------
    probability : array of float64, shape (seeds, n, labels)
    loss : array of float64, shape (seeds, n)
        In nats.
    """
    if dataset.task == "multi_label":
        towards = np.where(true, logits, -logits)
        return np.exp(-np.logaddexp(0, -logits)), np.logaddexp(0, -towards).mean(axis=-1)
    surely = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    return np.exp(surely), -np.where(true, surely, 0.0).sum(axis=-1)


if __name__ == "__main__":
    stage.run(explore_cases)
