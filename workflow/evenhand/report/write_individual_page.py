"""Stage: the page of individual fairness on tables, one HTML file."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.individual.names import title
from evenhand.metrics.individual import TAU
from evenhand.report.read import read_json
from evenhand.report.render import write_page
from evenhand.report.sections.individual_people import Behind
from evenhand.report.sections.individual_sweeps import bases_of, describe_fronts, describe_sweeps
from evenhand.report.sections.individual_tables import describe_results
from evenhand.report.sections.individual_tests import (
    describe_checks,
    describe_data,
    describe_tests,
)
from evenhand.report.sections.individual_training import describe_training
from evenhand.report.sections.individual_words import likeness
from evenhand.report.sections.paper import describe_paper

SECTIONS = [
    ("glance", "At a glance", "What was found"),
    ("reading", "How to read it", "What the numbers mean"),
    ("table-4", "Table 4", "Accuracy and individual fairness"),
    ("table-6", "Table 6", "Individual fairness by group"),
    ("table-7", "Table 7", "Group fairness"),
    ("table-8", "Table 8", "How near is near: the threshold"),
    ("sweeps", "Weights", "How hard to push: the weight of the individual loss"),
    ("fronts", "Fronts", "Accuracy against fairness"),
    ("tests", "Tests", "Which differences are more than chance"),
    ("inconsistencies", "The paper’s cells", "Where the paper contradicts itself"),
    ("data", "Data", "The data"),
    ("training", "Training", "How the networks were trained"),
    ("limits", "Limits", "What these numbers cannot tell"),
]


def write_individual_page(
    *,
    templates: list[Input],
    out: Output,
    table_4: Input | None = None,
    table_6: Input | None = None,
    table_7: Input | None = None,
    table_8: Input | None = None,
    sweeps: Input | None = None,
    fronts: Input | None = None,
    tests: Input | None = None,
    inconsistencies: Input | None = None,
    findings: Input | None = None,
    people: Input | None = None,
    data_tables: list[Input] | None = None,
    data: list[Input] | None = None,
    training: Input | None = None,
    training_file: str = "",
    paper: Input | None = None,
    provenance: str = "",
    pages: list[str] | None = None,
    tau: float = TAU,
) -> dict[str, Any]:
    """Write the page of individual fairness: one HTML file that needs nothing beside it.

    Whatever is left out, the page says in words that it is not there.

    Parameters
    ----------
    templates
        The files of ``evenhand/report/templates``.
    out
        The page, HTML.
    table_4, table_6, table_7, table_8
        ``iifr_table_4.csv`` and so on, of `tabulate_results`.
    sweeps, fronts, tests, inconsistencies, findings
        Of `sweep_lambdas`, `find_fronts`, `compare_methods`, `check_paper`, `write_findings`.
    people
        ``iifr_people.csv`` of `count_people`: who stands behind the numbers.
    data_tables
        ``{dataset}_groups.csv`` of `describe_table`: who is in the data, beside Tables 1 and 2.
    data
        ``data.json`` of each data set: what it is and is called, and the names of its groups.
    training
        ``resources/iifr/training.csv``: layers, rates, batches and epochs by data set.
    training_file
        Where that file lies in the repository, as the page of provenance calls it; blank: no link.
    paper
        ``resources/paper_items.csv``: the tables and figures of the paper, of which the page then
        says where ours stand.
    provenance
        Where ``provenance.json`` lies, seen from the page; blank: no link.
    pages
        The pages that this run makes, of `evenhand.report.pages.PAGES`; all if it is not said.
    tau
        How far outputs may lie apart and still count as alike in IFR_p, as in `train_table`.
    """
    about = describe_data(list(data_tables or []), list(data or []))
    titles = about["titles"]
    groups, integers = (
        {one["key"]: one[name] for one in about["documents"]}
        for name in ("values", "integer_values")
    )
    behind = Behind(people)
    results = {
        name: describe_results(path, groups, integers, titles, behind)
        for name, path in (
            ("table-4", table_4),
            ("table-6", table_6),
            ("table-7", table_7),
            ("table-8", table_8),
        )
    }
    found = read_json(findings) if findings else None
    if found is not None and not (isinstance(found, dict) and "findings" in found):
        raise InputError("holds no findings", file=findings)
    written = write_page(
        out,
        "individual_fairness",
        templates,
        pages,
        sections=SECTIONS,
        results=results,
        sweeps=describe_sweeps(sweeps, titles),
        fronts=describe_fronts(fronts, titles, behind),
        tests=describe_tests(tests, titles, behind),
        checks=describe_checks(inconsistencies, titles),
        about=about,
        training=describe_training(training, titles),
        training_file=training_file,
        found=found,
        by_dataset=_by_dataset(found, titles),
        alike=likeness(bases_of(sweeps), tau),
        paper=describe_paper(paper, "individual_fairness", pages),
        provenance=quote(provenance, safe="/.") if provenance else None,
    )
    return {
        "tables": sum(one is not None for one in results.values()),
        "findings": len(found["findings"]) if found else 0,
        "bytes": written,
    }


def _by_dataset(found: dict[str, Any] | None, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The findings by data set."""
    paragraphs: dict[str | None, list[str]] = {}
    for one in (found or {"findings": []})["findings"]:
        words = one["sentence"]
        if one["dataset"] is not None:  # its name stands above
            words = words.removeprefix(f"On {title(one['dataset'], titles)}, ")
        paragraphs.setdefault(one["dataset"], []).append(words[:1].upper() + words[1:])
    return [
        {
            "name": "Against the paper" if name is None else title(name, titles),
            "sentences": sentences,
        }
        for name, sentences in paragraphs.items()
    ]


if __name__ == "__main__":
    stage.run(write_individual_page)
