"""Stage: a legal data set's card, in the format of the Hugging Face hub."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.io.markdown import render, size_category
from evenhand.legal.built import group_names, load_dataset, read_cases_table
from evenhand.legal.dataset import Dataset

#: With fewer test cases a group's score is little more than chance.
FEW = 100

_SIZES = dict.fromkeys(("quantity", "item", "ours", "of", "published", "verdict"), str)
_GROUPS = {"attribute": str, "split": str, "group": str, "cases": int, "share": float}
_LABELS = {"split": str, "label": str, "cases": int}
_SHIFT = {"attribute": str, "group": str, "splits": str, "train_cases": int, "other_cases": int,
          "distance": float, "low": float, "high": float, "noise_95": float,
          "above_noise": str}  # fmt: skip
_LENGTHS = {"unit": str, "tokenizer": str, "quantity": str, "value": float, "share": float}
_LEAKAGE = {"language": str, "pattern": str, "label": str, "cases": int, "share": float,
            "p": float, "associated": str}  # fmt: skip
_RULES = {"attribute": str, "rule": str, "value": str, "cases": int, "share": float,
          "mean_confidence": float}  # fmt: skip
_AUDIT = {"attribute": str, "scope": str, "rule": str, "cases": int, "answered": int,
          "right": int, "wrong": int, "cannot_tell": int, "precision": float, "low": float,
          "high": float}  # fmt: skip


def write_legal_card(
    *,
    data: Input,
    sizes: Input,
    groups: Input,
    labels: Input,
    template: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    shift: Input | None = None,
    lengths: Input | None = None,
    leakage: Input | None = None,
    rules: Input | None = None,
    audit: Input | None = None,
    name: str = "",
    licence: str = "other",
    sources: list[str] | None = None,
    notice: str | None = None,
    published: bool = False,
) -> dict[str, Any]:
    """Write a data set's card, in the format of the Hugging Face hub.

    Parameters
    ----------
    data : path
        {dataset}.parquet, which the card stands beside.
    sizes, groups, labels : path
        What `describe_cases` counted of it.
    template : path
        The card's template (data_card.md.jinja).
    out : path
        README.md.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the file of the data set is called.
    shift, lengths, leakage, rules, audit : path, optional
        The tables of `measure_shift`, `measure_lengths`, `check_leakage`, `count_rules` and
        `read_audit`; the card has no section about a table that is not there, and says of the
        audit that there was none.
    name : str
        What the data set is called; FairLex's name if blank.
    licence : str
        The licence's identifier on the hub, like cc-by-nc-sa-4.0; `other` if it has none.
    sources : list of str, optional
        What the cases were taken from.
    notice : str, optional
        What a reader must know first.
    published : bool
        Whether the cases are FairLex's own.

    Returns
    -------
    dict
        cases.

    Raises
    ------
    InputError
        A table lacks a column, or the tables are of another data set.
    """
    fixed = load_dataset(kind)
    own = read_cases_table(data, ["language", "label_known"])
    cases, languages = own.num_rows, set(own["language"].to_pylist())
    rows = {
        "sizes": _read(sizes, _SIZES, dataset),
        "groups": _read(groups, _GROUPS, dataset),
        "labels": _read(labels, _LABELS, dataset),
        "shift": _read(shift, _SHIFT, dataset),
        "lengths": _read(lengths, _LENGTHS, dataset),
        "leakage": _read(leakage, _LEAKAGE, dataset),
        "rules": _read(rules, _RULES, dataset),
        "audit": _read(audit, _AUDIT, dataset),
    }
    counted = [
        row["ours"] for row in rows["sizes"] if (row["quantity"], row["item"]) == ("cases", "")
    ]
    if counted != [str(cases)]:
        raise InputError(
            f"is no table of a data set of {cases} cases",
            file=sizes,
            remedy="remove the tables and run the workflow again",
        )
    unlabelled = own["label_known"].to_pylist().count(False)
    found = [one["attribute"] for one in rows["groups"]]
    text = render(
        template,
        {
            "name": name or fixed.title,
            "title": fixed.title,
            "kind": kind,
            "dataset": dataset,
            "task": fixed.task,
            "licence": licence,
            "dataset_licence": fixed.licence,
            "people": fixed.people,
            "notice": notice,
            "published": published,
            "sources": sources or [],
            "languages": sorted(languages - {None}),
            "size": size_category(cases),
            "cases": cases,
            "unlabelled": unlabelled,
            "attributes": [one for one in fixed.attributes if one.name in found or not one.groups],
            "sizes": rows["sizes"],
            "labels": _by_split(rows["labels"], ("label",)),
            "groups": _by_split(rows["groups"], ("attribute", "group")),
            "shift": [
                row
                for row in rows["shift"] or []
                if row["splits"] == "train-test" and row["distance"] is not None
            ],
            "lengths": list(_lengths(rows["lengths"] or [])),
            "leakage": _leakage(rows["leakage"]),
            "rules": rows["rules"],
            "audit": rows["audit"],
            "cannot": list(_cannot(fixed, rows, cases, unlabelled, published)),
        },
    )
    out.write_text(text, encoding="utf-8")
    return {"cases": cases}


def _read(
    path: Path | None, columns: dict[str, Callable[[str], Any]], dataset: str
) -> list[dict[str, Any]] | None:
    """Rows of a result table, with blank text "" and blank numbers None; None without a table."""
    if path is None:
        return None
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        wanted = ["dataset", *columns]
        if missing := [name for name in wanted if name not in (reader.fieldnames or [])]:
            raise InputError(f"lacks the column {missing[0]}", file=path, line=1)
        rows = []
        for row in reader:
            if row["dataset"] != dataset:
                raise InputError(
                    f"is about the data set {row['dataset']}", file=path, line=reader.line_num
                )
            rows.append(
                {
                    name: read(row[name]) if row[name] or read is str else None
                    for name, read in columns.items()
                }
            )
    return rows


def _by_split(rows: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """A row for each value of `names`, with the cases of each split; share is of all."""
    table: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        cells = table.setdefault(key, dict(zip(names, key, strict=True)))
        cells[row["split"]] = row["cases"]
        if row["split"] == "all":
            cells["share"] = row.get("share")
    return list(table.values())


def _lengths(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What is said of lengths, a sentence each."""
    for unit, tokenizer in dict.fromkeys((row["unit"], row["tokenizer"]) for row in rows):
        cells = {
            row["quantity"]: row
            for row in rows
            if (row["unit"], row["tokenizer"]) == (unit, tokenizer)
        }
        median, highest = cells["median"]["value"], cells["max"]["value"]
        said = f"{unit.capitalize()}{f' of {tokenizer}' if tokenizer else ''} of a case:"
        said += f" {median:,.0f} in the median, {highest:,.0f} at most"
        if "cut" in cells:
            said += f"; the limits of the published encoder leave out {cells['cut']['share']:.1%}"
        elif cells["beyond the segments"]["share"] and unit != "paragraphs":
            beyond = cells["beyond the segments"]
            said += (
                f"; {beyond['share']:.1%} lie beyond the first {beyond['value']:.0f} paragraphs,"
                " which the published encoder does not read"
            )
        yield f"{said}."


def _leakage(rows: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """The patterns that are found, the most frequent first; None if nobody looked."""
    if rows is None:
        return None
    found = [row for row in rows if not row["label"] and row["cases"]]
    return sorted(found, key=lambda row: (-row["cases"], row["language"], row["pattern"]))


def _cannot(
    fixed: Dataset, rows: dict[str, Any], cases: int, unlabelled: int, published: bool
) -> Iterator[str]:
    """What the data set cannot show, by its numbers."""
    whole = [row for row in rows["groups"] if row["split"] == "all"]
    for one in fixed.attributes:
        own = {row["group"]: row for row in whole if row["attribute"] == one.name}
        unknown = own.get(group_names(one)[-1])
        if unknown and cases and unknown["cases"] == cases:
            yield f"Anything about {one.name}: it is known of no case."
        elif unknown and unknown["cases"]:
            yield (
                f"How cases fare of which the {one.name} is not known ({unknown['cases']:,} of"
                f" {cases:,}, {unknown['share']:.1%}); they are not a random part."
            )
        test = {
            row["group"]: row["cases"]
            for row in rows["groups"]
            if row["attribute"] == one.name and row["split"] == "test"
        }
        few = [group for group in one.groups if test.get(group, FEW) < FEW]
        if own and few and (not unknown or unknown["cases"] < cases):
            yield (
                f"Small differences between groups of {one.name}: fewer than {FEW} test cases are"
                f" of {', '.join(few)}."
            )
    if unlabelled:
        yield (
            f"Anything about the outcome of {unlabelled:,} of {cases:,} cases: the source does"
            " not tell it."
        )
    above = [row for row in rows["shift"] or [] if row["above_noise"] == "true"]
    if above:
        yield (
            "What a classifier would do on cases of the time that it learned from: the labels"
            f" shift between the splits (beyond chance in {len(above)} of {len(rows['shift'])}"
            " comparisons by group)."
        )
    if not published:
        yield "FairLex's published results: these are other cases."
    yield "That a difference between groups is caused by the attribute: groups differ in much else."
    if not rows["audit"]:
        yield "How often the attributes are wrong: no sample of them was checked by people."


if __name__ == "__main__":
    stage.run(write_legal_card)
