"""Write the cards of legal data sets, in the format of the Hugging Face hub."""

from typing import Any

from evenhand.core.rows import grouped, where
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_table, read_tables
from evenhand.io.markdown import render, size_category
from evenhand.legal.built import BuiltCases, group_names
from evenhand.legal.case_tables.shift import find_shifts
from evenhand.legal.declaration import Attribute, Dataset
from evenhand.report.headline import say
from evenhand.report.sections.legal_data import clearest_associations, copied_statements

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
    arguments = zip(datasets, data, tables, out, titles, sources, strict=True)
    counts = {}
    for name, file, folder, card, title, source in arguments:
        data_set, rows = BuiltCases(file), read_tables(folder)
        facts = _facts(data_set, rows) | {
            "findings": _findings(name, title, data_set.dataset, rows),
            "notice": notice,
            "name": title,
            "dataset": name,
            "published": name in (published or []),
            "sources": source,
            "audit": read_table(audited[name] / "audit.csv") if name in audited else [],
        }
        card.write_text(render(template, facts), encoding="utf-8")
        counts[name] = facts["cases"]
    return counts


def _facts(data: BuiltCases, rows: dict[str, Rows]) -> dict[str, Any]:
    """Return the facts of a card that come from the data set and its tables."""
    dataset, columns = data.dataset, data.table("language", "label_known")
    cases, languages = columns.num_rows, set(columns["language"].to_pylist())
    groups = grouped(rows["groups"], "attribute")
    shift = [row for row in rows["shift"] if row["distance"] is not None]
    leakage = [row for row in rows["leakage"] if row["label"] is None and row["cases"]]
    leakage.sort(key=lambda row: (-row["cases"], row["language"] or "", row["pattern"]))
    lengths = []
    for (unit, tokenizer), of_unit in grouped(rows["lengths"], "unit", "tokenizer").items():
        quantities = {row["quantity"].replace(" ", "_"): row for row in of_unit}
        lengths.append({"unit": unit, "tokenizer": tokenizer} | quantities)
    attributes = [a for a in dataset.attributes if a.name in groups or not a.groups]
    limits = [
        _limits(attribute, groups[attribute.name], cases)
        for attribute in dataset.attributes
        if attribute.name in groups
    ]
    return {
        "fixed": dataset,
        "languages": sorted(languages - {None}),
        "size": size_category(cases),
        "cases": cases,
        "unlabelled": columns["label_known"].to_pylist().count(False),
        "attributes": attributes,
        "limits": limits,
        "few": FEW,
        "sizes": rows["sizes"],
        "labels": _by_split(rows["labels"], "label"),
        "groups": _by_split(rows["groups"], "attribute", "group"),
        "shift": where(shift, splits="train-test"),
        "shifts": find_shifts(rows["shift"]),
        "lengths": lengths,
        "leakage": leakage,
        "rules": rows.get("rules", []),
    }


def _findings(name: str, title: str, dataset: Dataset, rows: dict[str, Rows]) -> list[str]:
    """Return the sentences of the first page on copies, and on labels that go with attributes."""
    titles = {f"{name}/{attribute.name}": attribute.title for attribute in dataset.attributes}
    titles[name] = title
    statements = copied_statements({name: rows["sizes"]}, (), titles)
    associations, count = clearest_associations({name: rows["cross"]}, titles)
    if associations:
        facts = {"rows": associations, "count": count}
        statements.append(say("legal_associated", **facts, brief=True))
    return [statement.striptags() for statement in statements]


def _by_split(rows: Rows, *names: str) -> Rows:
    """Return a row per value of `names`, with the cases of each split and the share of all."""
    table = []
    for values in grouped(rows, *names).values():
        line = {name: values[0][name] for name in names}
        line |= {row["split"]: row["cases"] for row in values}
        [line["share"]] = [row["share"] for row in where(values, split="all")] or [None]
        table.append(line)
    return table


def _limits(attribute: Attribute, rows: Rows, cases: int) -> dict[str, Any]:
    """Return the cases whose group is unknown, and the groups with few test cases."""
    unknown = group_names(attribute)[-1]
    [row] = where(rows, split="all", group=unknown)
    known = row["cases"] < cases or not cases
    test = [row for row in where(rows, split="test") if row["group"] != unknown]
    return {
        "name": attribute.name,
        "known": known,
        "unknown": row["cases"],
        "share": row["share"],
        "few": [row["group"] for row in test if row["cases"] < FEW] if known else [],
    }
