"""The individual fairness report."""

from functools import partial
from typing import Any

from evenhand.core.rows import grouped
from evenhand.individual.names import title, titles_of
from evenhand.individual.tables.findings import OF_DATA
from evenhand.io.documents import read_description
from evenhand.metrics.individual import TAU
from evenhand.report.headline import say
from evenhand.report.headlines.individual_fairness import conclude, draw
from evenhand.report.sections import individual_words
from evenhand.report.sections.individual_tables import Behind, describe_results
from evenhand.report.sections.more_tables import OF_MITIGATION, MoreTables
from evenhand.report.study import Study
from evenhand.tabular.prepared import RECORD

#: The findings before and after all others: a remedy that works, and doubts about the data.
PLACES = {"counterfactual_pairs": -1} | dict.fromkeys(OF_DATA, 1)


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    tables = study.tables("tables/individual")
    documents = [
        read_description(path, RECORD, "prepare_table") for path in study.paths("*/data.json")
    ]
    titles = titles_of(documents)
    behind = Behind(tables.get("individuals", []))
    findings = [
        row
        for row in tables.get("findings", [])
        if row["dataset"] is not None and not row["finding"].startswith("front_")
    ]
    findings.sort(key=lambda row: PLACES.get(row["finding"], 0))
    return {
        "results": {
            f"table-{n}": describe_results(tables.get(f"table_{n}", []), documents, titles, behind)
            for n in "4678"
        },
        "documents": documents,
        "data_files": [f"tabular/{document['name']}/data.json" for document in documents],
        "groups": tables.get("groups", []),
        "training": tables.get("training", []),
        "headline": conclude(tables, documents, study.delta)[1]
        or ([say("if_nothing")] if tables else []),
        "drawn": draw(tables.get("table_4", []), titles),
        "findings": grouped(findings, "dataset"),
        "dataset_title": partial(title, titles=titles),
        "individual": individual_words,
        "behind": behind,
        "alike": individual_words.likeness({row["js_base"] for row in tables.get("grid", [])}, TAU),
        "more_tables": MoreTables(study, ["tables/individual"], but=OF_MITIGATION),
    }
