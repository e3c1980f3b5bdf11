"""Stage: the report on mitigation, one HTML file: the effects of objectives and methods."""

from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_tables
from evenhand.individual.names import titles_of
from evenhand.io.documents import read_description
from evenhand.legal.objective_titles import titles_of as objectives_of
from evenhand.report.headlines import mitigation
from evenhand.report.render import Page
from evenhand.report.sections import individual_words
from evenhand.report.sections import legal_classifiers as classifiers
from evenhand.report.sections.individual_people import Behind
from evenhand.report.sections.individual_sweeps import describe_fronts, describe_sweeps
from evenhand.report.sections.individual_tables import TESTED, describe_tests
from evenhand.report.sections.legal_data import read_datasets, titles_by_name
from evenhand.report.sections.more_tables import OF_MITIGATION, MoreTables
from evenhand.tabular.prepared import RECORD
from evenhand.text.phrases import VERDICTS

#: The most figures at a glance.
MOST = 4

#: The sections on tables of people.
OF_PEOPLE = [
    ("tests", "Tests", "Which differences between methods are significant"),
    ("fronts", "Fronts", "Accuracy against fairness"),
    ("sweeps", "Weights", "The weight of the individual loss"),
]


def write_mitigation_page(
    *,
    templates: list[Input],
    out: Output,
    tables: list[Source] | None = None,
    declarations: list[str] | None = None,
    titles: list[str] | None = None,
    objectives: list[str] | None = None,
    objective_titles: list[str] | None = None,
    individual: Source | None = None,
    data: list[Source] | None = None,
    linked: list[str] | None = None,
    provenance: str = "",
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the report on mitigation, one HTML file.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The report, HTML.
    tables : list of path, optional
        The folders that `tabulate_classifiers` wrote, each named after its data set.
    declarations, titles : lists of str
        Of each of these data sets.
    objectives, objective_titles : list of str, optional
        The titles of the objectives; one that is not named has its own name.
    individual : path, optional
        The folder of `tabulate_individual`.
    data : list of path
        ``data.json`` of each data set of people.
    linked : list of str, optional
        The splits whose cases the case explorer contains; by default test and dev.
    provenance : str
        The place of ``provenance.json`` relative to the report; blank: no link.
    pages : list of str, optional
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.

    Raises
    ------
    InputError
        There is not one declaration and title of each data set.
    """
    tables = tables or []
    datasets = read_datasets(tables, declarations or [], titles or [])
    called = objectives_of(objectives, objective_titles)
    known = {f"objectives/{name}": called[name] for name in objectives or []}
    known |= titles_by_name(datasets)
    figures = [
        figure | {"file": f"tables/classifiers/{one.name}/table_4.csv"}
        for one in datasets
        for figure in classifiers.draw_objectives(
            one.tables["table_4"], one.title, one.attributes, called
        )
    ]
    about = [
        one.head
        | {
            "table_4": classifiers.describe_table_4(one.tables["table_4"]),
            "tests": one.tables["tests"],
            "group_scores": classifiers.describe_group_scores(one.tables["group_scores"], called),
            "training": classifiers.describe_training(one.tables["curves"], called),
        }
        for one in datasets
    ]
    people = read_tables(individual) if individual else {}
    of = titles_of(read_description(path, RECORD, "prepare_table") for path in data or [])
    behind = Behind(people.get("individuals", []))
    given = filter(None, [individual])
    changes = mitigation.find_changes(tables, given, data or [], known)
    places = {f"tables/classifiers/{one.name}": one for one in tables}
    places |= {"tables/individual": individual} if individual else {}
    written = Page("mitigation", out, templates, pages).write(
        sections=[
            ("glance", "At a glance", ""),
            *((one["id"], one["title"], "") for one in about),
            *(OF_PEOPLE if people else []),
            ("reading", "How to read it", ""),
            ("limits", "Limits", ""),
        ],
        headline=mitigation.conclude(changes),
        methods=mitigation.by_method(changes),
        about=about,
        figures=sorted(figures, key=lambda one: -one["spots"])[:MOST],
        of_people=OF_PEOPLE if people else [],
        tests=describe_tests(people.get("tests", []), of, behind),
        fronts=describe_fronts(people.get("pareto_fronts", []), of),
        sweeps=describe_sweeps(people.get("grid", []), of),
        behind=behind,
        tested=TESTED,
        individual=individual_words,
        test_cases=linked is None or "test" in linked,
        objective=called.heading,
        measures=classifiers.MEASURES,
        verdicts=VERDICTS,
        noise_words=classifiers.noise_words,
        more_tables=MoreTables(places, only=OF_MITIGATION - {"inconsistencies"}),
        provenance=provenance,
    )
    return {"datasets": len(about), "bytes": written}


if __name__ == "__main__":
    stage.run(write_mitigation_page)
