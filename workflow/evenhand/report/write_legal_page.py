"""Stage: the report on the legal data sets, one HTML file."""

from typing import Any

from evenhand.core import stage
from evenhand.core.rows import grouped
from evenhand.core.stage import Input, Output, Source
from evenhand.errors import InputError
from evenhand.legal.records import SPLITS
from evenhand.report.read import read_json
from evenhand.report.render import Page
from evenhand.report.sections import legal_measures as measures
from evenhand.report.sections.legal_data import read_datasets
from evenhand.report.sections.more_tables import MoreTables


def write_legal_page(
    *,
    templates: list[Input],
    out: Output,
    tables: list[Source],
    declarations: list[str],
    titles: list[str],
    counts: list[Source],
    splits: list[Source],
    duplicates: list[Source],
    audits: list[Source] | None = None,
    linked: list[str] | None = None,
    provenance: str = "",
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the report on the legal data sets, one HTML file.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The report, HTML.
    tables : list of path
        The folders that `tabulate_cases` wrote, each named after its data set.
    declarations, titles : lists of str
        Of each of these data sets.
    counts : list of path
        ``{data set}/records/{part}.counts.json`` of `read_cases`.
    splits, duplicates : lists of path
        ``{data set}/splits.json`` and ``{data set}/duplicates.parquet`` of `build_cases`.
    audits : list of path, optional
        The folders of `read_audit`, named after the data sets that people have checked.
    linked : list of str, optional
        The splits whose cases the case explorer contains; by default test and dev.
    provenance : str
        The place of ``provenance.json`` relative to the report; blank: no link.
    pages : list of str, optional
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.

    Raises
    ------
    InputError
        There is not one declaration, title, split and count of each data set.
    """
    divided = {path.parent.name: path for path in splits}
    twice = {path.parent.name: path for path in duplicates}
    names = [folder.name for folder in tables]
    lists = (declarations, titles, divided, twice)
    others = ({*divided}, {*twice}, {path.parents[1].name for path in counts})
    if any(len(one) != len(names) for one in lists) or any(one != {*names} for one in others):
        raise InputError("there is not one declaration, title, split and count of each data set")
    audited = {path.name: measures.describe_audit(path) for path in audits or []}
    about = []
    for one in read_datasets(tables, declarations, titles):
        own, name = one.tables, one.name
        about.append(
            one.head
            | {
                "fixed": one.declaration,
                "sizes": own["sizes"],
                "published": any(row["published"] for row in own["sizes"]),
                "groups": measures.describe_groups(own["groups"]),
                "rarest": _rarest(own["groups"], one.attributes),
                "labels": [measures.by_split(own["labels"], "label")] if own["labels"] else [],
                "shift": measures.describe_shift(own["shift"]),
                "cross": measures.describe_cross(own["cross"]),
                "lengths": measures.describe_lengths(own["lengths"]),
                "leakage": measures.describe_leakage(own["leakage"]),
                "rules": grouped(own.get("rules", []), "attribute"),
                "reading": measures.describe_reading(
                    [x for x in counts if x.parents[1].name == name]
                ),
                "duplicates": measures.describe_duplicates(twice[name]),
                "divided": read_json(divided[name]),
                "audit": audited.get(name, []),
            }
        )
    linked = ["test", "dev"] if linked is None else linked
    every = {"all": "split="} if set(SPLITS) <= set(linked) else {}
    files = ("tables/cases/{}/sizes.csv", "legal/{}/splits.json")
    written = Page("legal_cases", out, templates, pages).write(
        sections=[
            ("glance", "At a glance", ""),
            ("reading", "How to read it", ""),
            *((one["id"], one["title"], "") for one in about),
            ("limits", "Limits", ""),
        ],
        about=about,
        split_items={split: f"split={split}" for split in linked} | every,
        divided_files=[file.format(name) for name in names for file in files],
        more_tables=MoreTables({f"tables/cases/{one.name}": one for one in tables}),
        provenance=provenance,
    )
    return {"datasets": len(about), "bytes": written}


def _rarest(rows: list[dict[str, Any]], titles: dict[str, str]) -> dict[str, Any] | None:
    """Return the smallest known group: its cases, and its name with its attribute's title."""
    known = [
        row
        for row in rows
        if row["split"] == "all" and row["group"] not in ("unknown", "n/a") and row["cases"]
    ]
    if not known:
        return None
    row = min(known, key=lambda row: row["cases"])
    name = titles.get(row["attribute"], row["attribute"])
    return {"cases": row["cases"], "name": f"{name}: {row['group']}"}


if __name__ == "__main__":
    stage.run(write_legal_page)
