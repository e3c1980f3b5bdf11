"""Section: every legal case by itself, as columns that a script draws.

`data` of a data set is a JSON document with

- ``key``: the name of the data set, which addresses name (see ``cases.js``), its ``title``, and
  the ``splits`` of the page.
- ``id``, ``title_of`` (or null), ``date`` (a year alone where no more is known, or null),
  ``text`` (the beginning of the facts, or blank), ``position`` (in its source): of each case.
- ``language``, ``split``, ``source``, ``numbers`` (what else it is known by: lists of [name,
  value]), ``duplicate_of``: coded columns (`evenhand.report.sections.explorer.coded`).
- ``labels``: the names of the classes; where a case may have several labels, the last one is
  that it has none. ``several``: whether it may. ``gold``: a coded column of lists of places in
  ``labels``, null where no label is known.
- ``attributes``: of each ``name``, ``title``, ``groups`` (the unknown one last; nothing for a
  number), coded columns ``value``, ``rule`` and ``evidence`` (lists of [place, words]).
- ``trainings``: of each ``name`` (in words), ``classifier``, ``objective``, ``trained_for`` (an
  attribute or blank), ``seeds`` (how many), and what they say: ``right``, the seeds whose answer
  is exactly right; ``loss``, the mean over seeds of the loss in thousandths of a nat; both null
  for a case without a known label. ``said`` is a text that holds a pair of digits of ``digits``
  for each case and class: votes × ``steps`` + probability × (``steps`` - 1), where votes are the
  seeds that give the class, and the probability (0 to 1) is their mean; it says nothing of "no
  label".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.legal.built import (
    case_batches,
    group_names,
    label_names,
    load_dataset,
    read_cases_table,
    read_labels,
    read_splits,
    with_none,
)
from evenhand.legal.dataset import Attribute, Dataset
from evenhand.legal.predictions import NO_ATTRIBUTE, labelled
from evenhand.legal.records import SPLITS
from evenhand.legal.scored import Cases, Setting, as_classes, read_scored
from evenhand.metrics.classification import predicted_labels
from evenhand.report.digits import DIGITS, from_digits, to_digits
from evenhand.report.render import visible
from evenhand.report.sections.explorer import coded

#: Cases that the page shows without its script.
SHOWN = 25

#: Steps between no and full probability, at most.
STEPS = 1001

#: Characters of a piece of evidence that are shown.
EVIDENCE = 240

#: What a case is known by beside its id, of the metadata of its source, and what that is called.
NUMBERS = {
    "application_number": "Application",
    "docket": "Docket",
    "us_cite": "Citation",
}

#: Where evidence stands.
PLACES = {"text": "facts", "context": "header or procedure", "given": "metadata of the source"}

#: What browsers are told of a language.
LANGUAGES = {"zh": "zh-Hans"}

COLUMNS = ["case_id", "date", "title", "language", "source", "source_position", "duplicate_of"]


def describe_cases(
    key: str,
    title: str,
    kind: str,
    data: Path,
    records: Iterable[Path] = (),
    predictions: Sequence[Path] = (),
    *,
    called: Mapping[str, str] | None = None,
    splits: Sequence[str] = ("test", "dev"),
    characters: int = 300,
    most: int = 10_000,
) -> dict[str, Any]:
    """A data set's cases of some splits, with what each training says of them.

    Parameters
    ----------
    key, title : str
        What addresses call the data set, and what the page calls it.
    kind : str
        ecthr, scotus, fscs or cail.
    data : Path
        {dataset}.parquet of `build_cases`.
    records : iterable of Path
        What `read_cases` wrote: for numbers, and for how much of a date is known.
    predictions : sequence of Path
        What the training stages wrote.
    called : mapping of str
        What people call the objectives; one that is not there has its own name.
    splits : sequence of str
        In the order of the page.
    characters : int
        Of the facts of each case; 0 for none.
    most : int
        No more cases than this are taken, the first ones.

    Returns
    -------
    dict
        key, title, data, rows (cases on the page), cases (of each split), left_out (of the
        splits of the page), shown (rows for readers without the script), trainings (how many).

    Raises
    ------
    InputError
        A split is none or named twice, a number is below zero, or the predictions are not of
        these cases.
    """
    _check(splits, characters, most)
    dataset = load_dataset(kind)
    of_case = read_splits(data)
    chosen = np.concatenate([np.flatnonzero(of_case == split) for split in splits])
    left_out, chosen = max(len(chosen) - most, 0), chosen[:most]
    known, hot = read_labels(data, dataset)
    table = read_cases_table(data, COLUMNS).take(pa.array(chosen))
    told = _told(records, set(table["case_id"].to_pylist()))
    gold = with_none(hot, dataset)[chosen]
    names = [visible(name) for name in label_names(dataset)]
    document = {
        "key": key,
        "title": visible(title),
        "id": _texts(table["case_id"]),
        "title_of": _texts(table["title"]),
        "date": _dates(table, told),
        "language": coded([LANGUAGES.get(one, one) for one in table["language"].to_pylist()]),
        "splits": list(splits),
        "split": coded(of_case[chosen].tolist()),
        "source": coded(table["source"].to_pylist()),
        "position": table["source_position"].to_pylist(),
        "numbers": coded([told[case][1] if case in told else () for case in _ids(table)]),
        "duplicate_of": coded(table["duplicate_of"].to_pylist()),
        "text": _beginnings(data, chosen, characters),
        "labels": names,
        "several": dataset.task == "multi_label",
        "gold": coded(
            [
                tuple(np.flatnonzero(row).tolist()) if there else None
                for row, there in zip(gold, known[chosen], strict=True)
            ]
        ),
        "attributes": [_attribute(data, one, chosen) for one in dataset.attributes],
        "digits": DIGITS,
        "trainings": _trainings(data, predictions, kind, splits, known, of_case, chosen),
    }
    for one in document["trainings"]:
        one["name"] = _name(one, dataset, called or {})
    counts = {split: int((of_case == split).sum()) for split in SPLITS}
    return {
        "key": key,
        "title": title,
        "data": document,
        "rows": len(chosen),
        "cases": counts,
        "left_out": left_out,
        "shown": _shown(document),
        "trainings": len(document["trainings"]),
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


def _ids(table: pa.Table) -> list[str]:
    return table["case_id"].to_pylist()


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    return [value and visible(value) for value in column.to_pylist()]


def _told(
    records: Iterable[Path], wanted: set[str]
) -> dict[str, tuple[str, tuple[tuple[str, str], ...]]]:
    """Of each case how much of its date is known, and its numbers; the first record counts."""
    found: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {}
    for path in records:
        for row in read_rows(path, ["case_id", "given"]):
            if row["case_id"] in found or row["case_id"] not in wanted:
                continue
            given = {one["name"]: one["value"] for one in row["given"]}
            numbers = tuple(
                (title, given[name]) for name, title in NUMBERS.items() if name in given
            )
            found[row["case_id"]] = given.get("date_precision", ""), numbers
    return found


def _dates(table: pa.Table, told: dict[str, Any]) -> list[str | None]:
    dates = []
    for case, date in zip(_ids(table), table["date"].to_pylist(), strict=True):
        year = case in told and told[case][0] == "year"
        dates.append(date and (f"{date.year:04}" if year else date.isoformat()))
    return dates


def _beginnings(data: Path, chosen: np.ndarray, characters: int) -> list[str]:
    """The first characters of the facts of some cases; paragraphs are lines."""
    if not characters:
        return [""] * len(chosen)
    place = {row: i for i, row in enumerate(chosen.tolist())}
    texts = [""] * len(chosen)
    first = 0
    for batch in case_batches(data, ["case_id", "text"]):
        wanted = [row for row in range(first, first + len(batch)) if row in place]
        own = batch["text"].take(pa.array([row - first for row in wanted], pa.int64()))
        for row, paragraphs in zip(wanted, own.to_pylist(), strict=True):
            texts[place[row]] = visible(_cut("\n".join(paragraphs or ()), characters))
        first += len(batch)
    return texts


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters].rstrip() + "…"


def _attribute(data: Path, attribute: Attribute, chosen: np.ndarray) -> dict[str, Any]:
    names = [attribute.name, f"{attribute.name}_rule", f"{attribute.name}_evidence"]
    table = read_cases_table(data, names).take(pa.array(chosen))
    groups = group_names(attribute) if attribute.groups else ()
    unknown = groups[-1] if groups else None
    value, rule, evidence = (
        table[name].to_pylist() if name in table.column_names else [None] * len(chosen)
        for name in names
    )
    return {
        "name": attribute.name,
        "title": visible(attribute.title),
        "groups": [visible(one) for one in groups],
        "value": coded([unknown if one is None else one for one in value]),
        "rule": coded([one and one.replace("_", " ") for one in rule]),
        "evidence": coded(
            [
                tuple((_place(one), _cut(one["words"], EVIDENCE)) for one in found or ())
                for found in evidence
            ]
        ),
    }


def _place(evidence: dict[str, Any]) -> str:
    where = PLACES.get(evidence["part"], evidence["part"])
    paragraph = evidence["paragraph"]
    return where if paragraph < 0 else f"{where}, paragraph {paragraph + 1}"


def _trainings(
    data: Path,
    predictions: Sequence[Path],
    kind: str,
    splits: Sequence[str],
    known: np.ndarray,
    of_case: np.ndarray,
    chosen: np.ndarray,
) -> list[dict[str, Any]]:
    """What each training says of the chosen cases."""
    if not predictions:
        return []
    places = labelled(known, of_case)
    scored = [split for split in splits if (of_case[places] == split).any()]
    if len(places) and not scored:
        return []
    cases, runs = read_scored(data, predictions, kind, scored or list(splits))
    kept = places[np.isin(of_case[places], scored)]
    row_of = {case: row for row, case in enumerate(chosen.tolist())}
    rows = np.array([row_of.get(case, -1) for case in kept.tolist()], dtype=np.int64)
    there = rows >= 0
    cases, runs = cases.of(there), runs._replace(logits=runs.logits[:, there])
    return [
        _training(setting, runs.logits[own], cases, rows[there], len(chosen))
        for setting, own in runs.by_setting().items()
    ]


def _name(training: dict[str, Any], dataset: Dataset, called: Mapping[str, str]) -> str:
    objective = training["objective"]
    words = [training["classifier"], called.get(objective, objective.replace("_", " "))]
    if training["trained_for"]:
        words.append(f"trained for {dataset.attribute(training['trained_for']).title}")
    return visible(", ".join(words))


def _training(
    setting: Setting, logits: np.ndarray, cases: Cases, rows: np.ndarray, count: int
) -> dict[str, Any]:
    """What the seeds of one training say, in the order of the page, which has `count` cases.

    The logits, float32, have the shape (seeds, n, labels); `rows`, int64, are the places of the
    n cases on the page.
    """
    seeds = len(logits)
    predicted = predicted_labels(logits, cases.dataset.task).astype(bool)
    votes = as_classes(predicted, cases.dataset).sum(axis=0)
    probability, loss = likelihoods(logits.astype(np.float64), cases.true, cases.dataset)
    steps = max(min(STEPS, len(DIGITS) ** 2 // (seeds + 1)), 1)
    of_class = np.zeros(votes.shape)
    of_class[:, : probability.shape[-1]] = probability.mean(axis=0)
    said = np.zeros((count, votes.shape[1]), dtype=np.int64)
    said[rows] = votes * steps + np.rint(of_class * (steps - 1)).astype(np.int64)
    right = (predicted == cases.true).all(axis=-1).sum(axis=0)
    return {
        "classifier": visible(setting.classifier),
        "objective": visible(setting.objective),
        "trained_for": "" if setting.trained_for == NO_ATTRIBUTE else setting.trained_for,
        "seeds": seeds,
        "steps": steps,
        "said": to_digits(said),
        "right": _placed(right, rows, count),
        "loss": _placed(np.rint(loss.mean(axis=0) * 1000).astype(np.int64), rows, count),
    }


def likelihoods(
    logits: np.ndarray, true: np.ndarray, dataset: Dataset
) -> tuple[np.ndarray, np.ndarray]:
    """The probability of each label, and the loss of each case.

    The loss is minus the logarithm of the probability of the true label, or, where a case may
    have several labels, the mean over labels of minus that of what is true of each.

    Parameters
    ----------
    logits : array of float64, shape (seeds, n, labels)
        Finite.
    true : array of bool, shape (n, labels)
        The labels that apply, without a class for "none".
    dataset : Dataset
        Whose task says what logits mean.

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


def _placed(values: np.ndarray, rows: np.ndarray, count: int) -> list[int | None]:
    placed: list[int | None] = [None] * count
    for row, value in zip(rows.tolist(), values.tolist(), strict=True):
        placed[row] = value
    return placed


def _shown(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The first cases as a template shows them: id, title, date, split, labels, groups."""
    rows = []
    for i in range(min(len(document["id"]), SHOWN)):
        gold = decoded(document["gold"], i)
        rows.append(
            {
                "id": document["id"][i],
                "title": document["title_of"][i],
                "date": document["date"][i],
                "split": decoded(document["split"], i),
                "labels": None if gold is None else [document["labels"][k] for k in gold],
                "groups": [
                    {"title": one["title"], "value": decoded(one["value"], i)}
                    for one in document["attributes"]
                    if one["groups"]
                ],
            }
        )
    return rows


def cases_table(data: dict[str, Any]) -> tuple[list[str], Iterator[list[Any]]]:
    """The header and the rows of a table of the cases of a data set's `data`.

    id, title, date, what else it is known by, split, labels, for each attribute its value and
    rule, source, position, duplicate_of. Lists have semicolons between; labels are blank where
    none is known.
    """
    names = [one["name"] for one in data["attributes"]]
    header = ["id", "title", "date", "numbers", "split", "labels"]
    header += [column for name in names for column in (name, f"{name}_rule")]
    header += ["source", "position", "duplicate_of"]

    def rows() -> Iterator[list[Any]]:
        for i, case in enumerate(data["id"]):
            numbers = "; ".join(" ".join(pair) for pair in decoded(data["numbers"], i))
            found = [decoded(one[k], i) for one in data["attributes"] for k in ("value", "rule")]
            yield [
                *(case, data["title_of"][i], data["date"][i], numbers, decoded(data["split"], i)),
                *(_labels(data, i), *found, decoded(data["source"], i), data["position"][i]),
                decoded(data["duplicate_of"], i),
            ]

    return header, rows()


def answers_table(data: dict[str, Any]) -> tuple[list[str], Iterator[list[Any]]]:
    """The header and the rows of a table of what each training says of each case it was asked of.

    id, split, labels, classifier, objective, trained_for, seeds, seeds_right, loss (nats), and for
    each label the seeds that give it and its probability (none of "no label"), to three decimals.
    """
    labels, classes = data["labels"], len(data["labels"])
    header = ["id", "split", "labels", "classifier", "objective", "trained_for", "seeds"]
    header += ["seeds_right", "loss"]
    header += [f"{what} {name}" for name in labels for what in ("seeds", "probability")]
    if data["several"]:
        header.pop()

    def rows() -> Iterator[list[Any]]:
        for one in data["trainings"]:
            votes, steps = np.divmod(from_digits(one["said"]).reshape(-1, classes), one["steps"])
            share = np.round(steps / max(one["steps"] - 1, 1), 3)
            numbers = np.stack([votes.astype(object), share.astype(object)], axis=-1)
            numbers = numbers.reshape(len(votes), 2 * classes)[:, : len(header) - 9].tolist()
            named = [one[name] for name in ("classifier", "objective", "trained_for", "seeds")]
            for i, right in enumerate(one["right"]):
                if right is not None:
                    about = [data["id"][i], decoded(data["split"], i), _labels(data, i), *named]
                    yield [*about, right, one["loss"][i] / 1000, *numbers[i]]

    return header, rows()


def _labels(data: dict[str, Any], row: int) -> str | None:
    gold = decoded(data["gold"], row)
    return None if gold is None else "; ".join(data["labels"][k] for k in gold)


def decoded(column: dict[str, Any], row: int) -> Any:
    """What a coded column has in a row."""
    return column["values"][column["codes"][row]]
