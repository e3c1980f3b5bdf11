"""Stage: the explorer of legal cases, with the predictions of every training."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenhand.core.stage import Count, Input, Natural, Output, checked
from evenhand.io.tables import read_rows
from evenhand.legal.built import NO_LABEL, BuiltCases, group_names, label_names, with_none
from evenhand.legal.classifier_study import Cases, Setting, read_scored
from evenhand.legal.declaration import Attribute, Dataset
from evenhand.legal.groups import NO_ATTRIBUTE
from evenhand.legal.groups import title as title_of
from evenhand.legal.records import SPLITS
from evenhand.metrics.classification import predicted_labels
from evenhand.report.explorer import Document, coded, column, columns, form, rounded, write_explorer
from evenhand.report.headline import plain
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


@checked
def explore_cases(
    *,
    templates: list[Input],
    out: Output,
    tables_out: Output,
    titles: list[str],
    cases: list[Input],
    records: list[Input] | None = None,
    predictions: list[Input] | None = None,
    objectives: list[str] | None = None,
    objective_titles: list[str] | None = None,
    splits: list[str] | None = None,
    characters: Natural = 300,
    most: Count = 10_000,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the explorer of legal cases. Data sets without classifiers come last.

    Parameters
    ----------
    templates, out, tables_out, pages
        Of `evenhand.report.explorer.write_explorer`.
    titles : list of str
        The title of each data set.
    cases : list of path
        ``{name}/{name}.parquet`` of `build_cases` of each data set.
    records : list of path, optional
        Of `read_cases`, below the folder of the data set: numbers of cases, and the precision of
        dates.
    predictions : list of path, optional
        Of the training stages, below the folder of the data set.
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
    """
    title_of_objective = dict(zip(objectives or [], objective_titles or [], strict=True))
    splits = splits or ["test", "dev"]
    sets, left_out, notes, files = [], {}, {}, {}
    for title, data in zip(titles, cases, strict=True):
        name = data.stem
        below = {
            kind: [path for path in paths or [] if path.is_relative_to(data.parent)]
            for kind, paths in (("records", records), ("predictions", predictions))
        }
        document, counts, left_out[name] = describe_cases(
            name, title, data, **below, objective_titles=title_of_objective,
            splits=splits, characters=characters, most=most,
        )  # fmt: skip
        sets.append(document)
        notes[name] = [", ".join(f"{counts[split]:,} {split}" for split in splits)]
        if left_out[name]:
            notes[name].append(plain("explorer_last", cases=left_out[name]))
        trained = plural(len(document["models"]), "training")
        notes[name].append(trained if document["models"] else plain("explorer_untrained"))
        paths = (path.relative_to(data.parent) for path in (data, *below["predictions"]))
        files[name] = [f"legal/{name}/{path.as_posix()}" for path in paths]
    counts = write_explorer(
        "cases", sorted(sets, key=lambda document: not document["models"]), files, notes,
        out=out, tables_out=tables_out, templates=templates, pages=pages,
        splits=splits, characters=characters,
    )  # fmt: skip
    return counts | {"left_out": left_out}


def describe_cases(
    key: str, title: str, path: Path, records: Iterable[Path], predictions: Sequence[Path], *,
    objective_titles: Mapping[str, str], splits: Sequence[str], characters: int, most: int,
) -> tuple[Document, dict[str, int], int]:  # fmt: skip
    """Return the cases of some splits as a set, the cases of each split, and how many are left out.

    The arguments are those of `explore_cases`, of one data set; the titles of objectives are by
    name.
    """
    data = BuiltCases(path)
    dataset, of_case = data.dataset, data.splits
    chosen = np.concatenate([np.flatnonzero(of_case == split) for split in splits])
    left_out, chosen = max(len(chosen) - most, 0), chosen[:most]
    known, hot = data.labels
    table = data.table(*COLUMNS).take(pa.array(chosen)).to_pydict()
    ids = table["case_id"]
    details = _details(records, set(ids))
    names = [
        "no label" if name == NO_LABEL and name not in dataset.labels else visible(name)
        for name in label_names(dataset)
    ]
    gold = [
        [names[k] for k in np.flatnonzero(row)] if is_known else None
        for row, is_known in zip(with_none(hot, dataset)[chosen], known[chosen], strict=True)
    ]
    split_of = of_case[chosen].tolist()
    dates = [
        date and (f"{date.year:04}" if details[case][0] == "year" else date.isoformat())
        for case, date in zip(ids, table["date"], strict=True)
    ]
    labelled = ["yes" if is_known else "no" for is_known in known[chosen]]
    head = {
        "title": table["title"],
        "date": dates,
        "numbers": (details[case][1] for case in ids),
        "split": split_of,
        "labels": gold,
    }
    tail = {
        "source": table["source"],
        "position": table["source_position"],
        "duplicate_of": table["duplicate_of"],
        "labelled": labelled,
        "text": _beginnings(data, chosen, characters),
    }
    choices = {"split": {"options": splits, "default": split_of[0] if ids else ""}}
    choices["labels"] = {"options": names}
    groups = (
        part for attribute in dataset.attributes for part in _attribute(data, attribute, chosen)
    )
    item_columns = [*columns("cases", head, choices), *groups, *columns("cases", tail)]
    trainings = _trainings(data, predictions, splits, chosen)
    document = form("cases") | {
        "key": key,
        "title": visible(title),
        "id": [visible(case) for case in ids],
        "language": coded(LANGUAGES.get(code, code) for code in table["language"]),
        "columns": item_columns,
        "models": [_model(*training, dataset, names, objective_titles) for training in trainings],
    }
    return document, {split: int((of_case == split).sum()) for split in SPLITS}, left_out


def _details(records: Iterable[Path], cases: set[str]) -> dict[str, tuple[str, list[str]]]:
    """Return the precision of the date and the numbers of each case, of its first record."""
    details = dict.fromkeys(cases, ("", []))
    waiting = set(cases)
    for path in records:
        for row in read_rows(path, ["case_id", "given"]):
            if row["case_id"] in waiting:
                waiting.remove(row["case_id"])
                metadata = {field["name"]: field["value"] for field in row["given"]}
                numbers = [
                    f"{NUMBERS[name]} {metadata[name]}" for name in NUMBERS if name in metadata
                ]
                details[row["case_id"]] = metadata.get("date_precision", ""), numbers
    return details


def _beginnings(data: BuiltCases, chosen: np.ndarray, characters: int) -> list[str | None]:
    """Return the first characters of the facts of some cases; paragraphs are lines."""
    if not characters:
        return [None] * len(chosen)
    texts, first = {}, 0
    for batch in data.batches("case_id", "text"):
        rows = chosen[(chosen >= first) & (chosen < first + len(batch))].tolist()
        part = batch["text"].take(pa.array([row - first for row in rows], pa.int64()))
        for row, paragraphs in zip(rows, part.to_pylist(), strict=True):
            texts[row] = _cut("\n".join(paragraphs or ()), characters) or None
        first += len(batch)
    return [texts[row] for row in chosen.tolist()]


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters].rstrip() + "…"


def _attribute(data: BuiltCases, attribute: Attribute, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Return the columns of an attribute: its value, the rule that found it, and the words."""
    name, title = attribute.name, attribute.title
    names = [name, f"{name}_rule", f"{name}_evidence"]
    table = data.table(*names).take(pa.array(chosen)).to_pydict()
    values, rules, evidence = (table.get(key) or [None] * len(chosen) for key in names)
    groups = group_names(attribute) if attribute.groups else []
    options = {"options": groups, "place": "line"} if groups else {"place": ""}
    values = [groups[-1] if value is None and groups else value for value in values]
    words = ([_words(piece) for piece in pieces or ()] for pieces in evidence)
    return [
        column(name, title, values, **options),
        column(names[1], f"{title}, rule", (rule and rule.replace("_", " ") for rule in rules)),
        column(names[2], f"{title}, evidence", words, lang=True, table=False),
    ]


def _words(evidence: dict[str, Any]) -> str:
    """Return a piece of evidence and its place."""
    place, paragraph = PLACES.get(evidence["part"], evidence["part"]), evidence["paragraph"]
    place += "" if paragraph < 0 else f", paragraph {paragraph + 1}"
    return f"{_cut(evidence['words'], EVIDENCE)} ({place})"


def _trainings(
    data: BuiltCases, predictions: Sequence[Path], splits: Sequence[str], chosen: np.ndarray
) -> Iterator[tuple[Setting, np.ndarray, Cases, list[int]]]:  # fmt: skip
    """Yield the logits of each training, (seeds, n, labels), of n cases, and their places."""
    places = data.labelled
    of_case = data.splits[places]
    scored = [split for split in splits if (of_case == split).any()]
    if not predictions or (len(places) and not scored):
        return
    cases, runs = read_scored(data, predictions, scored or list(splits))
    kept = places[np.isin(of_case, scored)]
    row_of = {case: row for row, case in enumerate(chosen.tolist())}
    rows = np.array([row_of.get(case, -1) for case in kept.tolist()], dtype=np.int64)
    on_page = rows >= 0
    cases = cases.take(on_page)
    for setting, numbers in runs.by_setting().items():
        yield setting, runs.logits[numbers][:, on_page], cases, rows[on_page].tolist()


def _model(
    setting: Setting, logits: np.ndarray, cases: Cases, rows: list[int],
    dataset: Dataset, names: list[str], objective_titles: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """Return a training as a model: one answer per case, that of most seeds."""
    seeds = len(logits)
    predicted = predicted_labels(logits, dataset.task).astype(bool)
    votes = with_none(predicted, dataset).sum(axis=0)
    gold = with_none(cases.true, dataset)
    probability, loss = likelihoods(logits.astype(np.float64), cases.true, dataset)
    right = (predicted == cases.true).all(axis=-1).sum(axis=0)
    differ = (votes * (seeds - votes)).sum(axis=1)
    majority = 2 * votes > seeds
    tags = [
        ["right" if 2 * n > seeds else "wrong", *(["differ"] if pairs else [])]
        for n, pairs in zip(right, differ, strict=True)
    ]
    of_class = np.full(votes.shape, np.nan)
    of_class[:, : probability.shape[-1]] = 100 * probability.mean(axis=0)
    objective, attribute = setting.objective, setting.trained_for
    attribute = "" if attribute == NO_ATTRIBUTE else attribute
    words = [setting.classifier, objective_titles.get(objective, objective.replace("_", " "))]
    words += [f"trained for {title_of(attribute, dataset)}"] if attribute else []

    masks = {"predicted": majority, "missed": gold & ~majority, "wrongly": majority & ~gold}
    named = {
        key: ([names[k] for k in np.flatnonzero(row)] for row in mask)
        for key, mask in masks.items()
    }
    return {
        "name": visible(", ".join(words)),
        "asks": {"classifier": visible(setting.classifier), "objective": visible(objective),
                 "trained": attribute},
        "over": plural(seeds, "seed"),
        "seeds": seeds,
        "row": rows,
        "measures": [right.tolist(), rounded(loss.mean(axis=0), 3), differ.tolist()],
        "columns": columns("cases", {"answer": tags} | named),
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
