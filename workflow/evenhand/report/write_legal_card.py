"""Stage: the card of a legal data set, in the format of the Hugging Face hub."""

from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.core.tables import read_table, read_tables
from evenhand.io.markdown import render
from evenhand.legal.built import group_names, load_dataset, read_cases_table
from evenhand.legal.dataset import Attribute
from evenhand.slguset.write_card import size_category

Rows = list[dict[str, Any]]

#: With fewer test cases a group's score is mostly noise.
FEW = 100


def write_legal_card(
    *,
    data: Input,
    tables: Input,
    template: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
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
        {dataset}.parquet, in the folder of the card.
    tables : path
        The folder that `tabulate_cases` wrote.
    template : path
        The card's template (legal_card.md.jinja).
    out : path
        README.md.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        The name of the file of the data set.
    audit : path, optional
        The folder of `read_audit`; without it the card states that there was no audit.
    name : str
        The title of the data set; FairLex's title if blank.
    licence : str
        The licence's identifier on the hub, like cc-by-nc-sa-4.0; `other` if it has none.
    sources : list of str, optional
        The sources of the cases.
    notice : str, optional
        A note at the top of the card.
    published : bool
        Whether the cases are FairLex's own.

    Returns
    -------
    dict
        cases.
    """
    fixed, rows = load_dataset(kind), read_tables(tables)
    columns = read_cases_table(data, ["language", "label_known"])
    cases, languages = columns.num_rows, set(columns["language"].to_pylist())
    attributes = {row["attribute"] for row in rows["groups"]}
    shift = [row for row in rows["shift"] if row["distance"] is not None]
    found = [row for row in rows["leakage"] if row["label"] is None and row["cases"]]
    facts = {
        "fixed": fixed,
        "name": name or fixed.title,
        "dataset": dataset,
        "licence": licence,
        "notice": notice,
        "published": published,
        "sources": sources or [],
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
        "audit": read_table(audit / "audit.csv") if audit else [],
    }
    out.write_text(render(template, facts), encoding="utf-8")
    return {"cases": cases}


def _by_split(rows: Rows, names: tuple[str, ...]) -> Rows:
    """A row for each value of `names`, with the cases of each split; share is of all."""
    table: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        cells = table.setdefault(key, dict(zip(names, key, strict=True)))
        cells[row["split"]] = row["cases"]
        if row["split"] == "all":
            cells["share"] = row["share"]
    return list(table.values())


def _lengths(rows: Rows) -> Rows:
    """The quantities of each unit and tokenizer by name."""
    units: dict[tuple[str, str | None], dict[str, Any]] = {}
    for row in rows:
        key = row["unit"], row["tokenizer"]
        unit = units.setdefault(key, {"unit": row["unit"], "tokenizer": row["tokenizer"]})
        unit[row["quantity"].replace(" ", "_")] = row
    return list(units.values())


def _limits(attribute: Attribute, rows: Rows, cases: int) -> dict[str, Any]:
    """The cases whose group is unknown, and the groups with few test cases."""
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
    stage.run(write_legal_card)
