"""Write the cards of legal data sets, in the format of the Hugging Face hub."""

from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.rows import grouped, where
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_table, read_tables
from evenhand.io.markdown import render, size_category
from evenhand.legal.built import group_names, read_cases_table
from evenhand.legal.dataset import Attribute, Dataset
from evenhand.legal.declaration import read_dataset

Rows = list[dict[str, Any]]

#: With fewer test cases a group's score is mostly noise.
FEW = 100


def write_legal_cards(
    *,
    data: list[Input],
    tables: list[Input],
    template: Input,
    out: list[Output],
    datasets: list[str],
    titles: list[str],
    sources: list[str],
    audits: list[Source] | None = None,
    published: list[str] | None = None,
    notice: str = "",
) -> dict[str, Any]:
    """Write the cards of legal data sets, in the format of the Hugging Face hub.

    Parameters
    ----------
    data, tables : list of path
        {dataset}.parquet, in the folder of the card, and the folder of `tabulate_cases`, of each
        data set.
    template : path
        The card's template (legal_card.md.jinja).
    out : list of path
        README.md of each data set.
    datasets, titles, sources : list of str
        Of each data set: ecthr, scotus, fscs or cail; the name of its file; its title; the
        sources of its cases.
    audits : list of path, optional
        The folders of `read_audit`, named after the data sets; a card without one states that
        there was no audit.
    published : list of str, optional
        The data sets whose cases are FairLex's own.
    notice : str
        A notice to readers.

    Returns
    -------
    dict
        cases, by data set.
    """
    audited = {path.name: path for path in audits or []}
    given = zip(datasets, data, tables, out, titles, sources, strict=True)
    counts = {}
    for dataset, file, folder, card, title, source in given:
        audit = audited.get(dataset)
        facts = _facts(read_dataset(file), file, read_tables(folder)) | {
            "notice": notice,
            "name": title,
            "dataset": dataset,
            "published": dataset in (published or []),
            "sources": source,
            "audit": read_table(audit / "audit.csv") if audit else [],
        }
        card.write_text(render(template, facts), encoding="utf-8")
        counts[dataset] = facts["cases"]
    return counts


def _facts(fixed: Dataset, data: Path, rows: dict[str, Rows]) -> dict[str, Any]:
    """Return the facts of a card that come from the data set and its tables."""
    columns = read_cases_table(data, ["language", "label_known"])
    cases, languages = columns.num_rows, set(columns["language"].to_pylist())
    attributes = {row["attribute"] for row in rows["groups"]}
    shift = [row for row in rows["shift"] if row["distance"] is not None]
    found = [row for row in rows["leakage"] if row["label"] is None and row["cases"]]
    return {
        "fixed": fixed,
        "languages": sorted(languages - {None}),
        "size": size_category(cases),
        "cases": cases,
        "unlabelled": columns["label_known"].to_pylist().count(False),
        "attributes": [one for one in fixed.attributes if one.name in attributes or not one.groups],
        "limits": [
            _limits(one, rows["groups"], cases)
            for one in fixed.attributes
            if one.name in attributes
        ],
        "few": FEW,
        "sizes": rows["sizes"],
        "labels": _by_split(rows["labels"], ("label",)),
        "groups": _by_split(rows["groups"], ("attribute", "group")),
        "shift": [row for row in shift if row["splits"] == "train-test"],
        "shifts": len(rows["shift"]),
        "shifted": sum(row["above_noise"] is True for row in shift),
        "lengths": _lengths(rows["lengths"]),
        "leakage": sorted(
            found, key=lambda row: (-row["cases"], row["language"] or "", row["pattern"])
        ),
        "rules": rows.get("rules", []),
    }


def _by_split(rows: Rows, names: tuple[str, ...]) -> Rows:
    """Return a row per value of `names`, with the cases of each split and the share of all."""
    table = []
    for key, own in grouped(rows, *names).items():
        line = dict(zip(names, key if len(names) > 1 else (key,), strict=True))
        line |= {row["split"]: row["cases"] for row in own}
        for row in where(own, split="all"):
            line["share"] = row["share"]
        table.append(line)
    return table


def _lengths(rows: Rows) -> Rows:
    """Return the quantities of each unit and tokenizer by name."""
    return [
        {"unit": unit, "tokenizer": tokenizer}
        | {row["quantity"].replace(" ", "_"): row for row in own}
        for (unit, tokenizer), own in grouped(rows, "unit", "tokenizer").items()
    ]


def _limits(attribute: Attribute, rows: Rows, cases: int) -> dict[str, Any]:
    """Return the cases whose group is unknown, and the groups with few test cases."""
    own = [row for row in rows if row["attribute"] == attribute.name]
    unknown = group_names(attribute)[-1]
    [row] = [row for row in own if (row["split"], row["group"]) == ("all", unknown)]
    test = [row for row in own if row["split"] == "test" and row["group"] != unknown]
    few = [one["group"] for one in test if one["cases"] < FEW]
    known = row["cases"] < cases or not cases
    return {
        "name": attribute.name,
        "known": known,
        "unknown": row["cases"],
        "share": row["share"],
        "few": few if known else [],
    }


if __name__ == "__main__":
    stage.run(write_legal_cards)
