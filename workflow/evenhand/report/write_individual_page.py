"""The individual fairness report, one HTML file."""

from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.core.tables import read_tables
from evenhand.individual.names import title, titles_of
from evenhand.io.documents import read_description
from evenhand.metrics.individual import TAU
from evenhand.report.headlines.individual_fairness import conclude
from evenhand.report.render import Page
from evenhand.report.sections import individual_words
from evenhand.report.sections.individual_people import Behind
from evenhand.report.sections.individual_tables import describe_data, describe_results
from evenhand.report.sections.more_tables import OF_MITIGATION, MoreTables
from evenhand.tabular.prepared import RECORD

SECTIONS = [
    ("glance", "At a glance", "At a glance"),
    ("reading", "How to read it", "What the numbers mean"),
    ("table-4", "Accuracy", "Accuracy and individual fairness"),
    ("table-6", "By group", "Individual fairness by group"),
    ("table-7", "Groups", "Group fairness"),
    ("table-8", "Threshold", "The threshold of similarity"),
    ("data", "Data", "The data"),
    ("training", "Training", "How the networks were trained"),
    ("limits", "Limits", "Limitations"),
]


def write_individual_page(
    *,
    templates: list[Input],
    out: Output,
    tables: Input,
    data: list[Input],
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the individual fairness report, one HTML file.

    Parameters
    ----------
    templates
        The files of ``evenhand/report/templates``.
    out
        The page, HTML.
    tables
        The folder of `tabulate_individual`. The page lists the tables missing from it.
    data
        ``data.json`` of each data set.
    pages
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.
    """
    found = read_tables(tables)
    documents = [read_description(path, RECORD, "prepare_table") for path in data]
    titles = titles_of(documents)
    groups = {one["name"]: one["attribute_values"] for one in documents}
    integers = {one["name"]: one["meta"].get("integer_groups") or [] for one in documents}
    behind = Behind(found.get("individuals", []))
    results = {
        f"table-{n}": describe_results(
            found.get(f"table_{n}", []), groups, integers, titles, behind
        )
        for n in "4678"
    }
    grid, findings = found.get("grid", []), found.get("findings", [])
    by_dataset: dict[str, list[str]] = {}
    for row in sorted(findings, key=lambda row: row["finding"] == "missing_rows"):
        if row["dataset"] is not None and not row["finding"].startswith("front_"):
            by_dataset.setdefault(row["dataset"], []).append(row["sentence"])
    written = Page("individual_fairness", out, templates, pages).write(
        sections=SECTIONS,
        results=results,
        about=describe_data(found.get("groups", []), documents, titles),
        training=[
            row | {"title": title(row["dataset"], titles)} for row in found.get("training", [])
        ],
        headline=conclude(found, documents)[1],
        by_dataset=[
            {"name": title(name, titles), "sentences": sentences}
            for name, sentences in by_dataset.items()
        ],
        individual=individual_words,
        behind=behind,
        alike=individual_words.likeness({row["js_base"] for row in grid}, TAU),
        more_tables=MoreTables({"tables/individual": tables}, but=OF_MITIGATION),
    )
    return {
        "tables": sum(one is not None for one in results.values()),
        "findings": sum(map(len, by_dataset.values())),
        "bytes": written,
    }


if __name__ == "__main__":
    stage.run(write_individual_page)
