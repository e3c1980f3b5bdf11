"""Stage: the report on the classifiers of legal cases, one HTML file."""

from typing import Any
from urllib.parse import quote

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_tables
from evenhand.errors import InputError
from evenhand.legal.declaration import read_declaration
from evenhand.legal.objective_titles import titles_of
from evenhand.report.headlines.legal import conclude, gaps_of
from evenhand.report.read import read_json
from evenhand.report.render import write_page
from evenhand.report.sections.legal_classifiers import (
    MEASURES,
    NOISE_VERDICTS,
    TWIN_MEASURES,
    describe_calibration,
    describe_claims,
    describe_counterfactual,
    describe_table_2,
    describe_table_4,
    noise_words,
)
from evenhand.report.sections.legal_figures import (
    BASE,
    describe_calibration_curves,
    describe_group_scores,
    draw_table_2,
)
from evenhand.report.sections.more_tables import OF_MITIGATION, MoreTables
from evenhand.text.phrases import VERDICTS

#: The findings of the first paragraph, and of the report on mitigation.
ELSEWHERE = ("gaps_above_noise", "objectives_against_erm", "average_loss_against_erm")


def write_classifiers_page(
    *,
    templates: list[Input],
    out: Output,
    tables: list[Source],
    declarations: list[str],
    titles: list[str],
    findings: Input,
    objectives: list[str] | None = None,
    objective_titles: list[str] | None = None,
    swapped: str = "gender",
    linked: list[str] | None = None,
    provenance: str = "",
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the report on the classifiers, one HTML file.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The report, HTML.
    tables : list of path
        The folders that `tabulate_classifiers` wrote, each named after its data set.
    declarations, titles : lists of str
        Of each of these data sets.
    findings : path
        The output of `write_classifier_findings`.
    objectives, objective_titles : list of str, optional
        The titles of the objectives; one that is not named has its own name.
    swapped : str
        The attribute whose words are swapped in counterfactuals.
    linked : list of str, optional
        The splits of the case explorer; by default test and dev. Without test no number links
        to it.
    provenance : str
        The place of ``provenance.json`` relative to the report; blank: no link.
    pages : list of str, optional
        The pages of this run, of `evenhand.report.pages.PAGES`; all by default.

    Raises
    ------
    InputError
        There is not one declaration and title of each data set, or there are no findings.
    """
    if not len(declarations) == len(titles) == len(tables):
        raise InputError("there is not one declaration and title of each data set")
    found = read_json(findings)
    if not (isinstance(found, dict) and "findings" in found):
        raise InputError("holds no findings", file=findings)
    below = [one for one in found["findings"] if one["id"] not in ELSEWHERE]
    called = titles_of(objectives, objective_titles)
    about, gaps, known, tables_4 = [], [], {}, {}
    for folder, declared, title in zip(tables, declarations, titles, strict=True):
        name, own = folder.name, read_tables(folder)
        plain = {
            table: [row for row in own[table] if row["objective"] == BASE]
            for table in ("table_4", "group_scores")
        }
        attributes = {one.name: one.title for one in read_declaration(declared).attributes}
        known |= {name: title} | {f"{name}/{one}": words for one, words in attributes.items()}
        worst = {
            (row["attribute"], row["classifier"]): row for row in own["table_2"] if row["worst"]
        }
        tables_4[name] = own["table_4"]
        lowest = {
            (row["attribute"], row["classifier"]): row
            for row in gaps_of({name: own["table_4"]}, known, "worst")
        }
        for gap in gaps_of({name: own["table_4"]}, known):
            key = gap["attribute"], gap["classifier"]
            gaps.append(gap | {"id": name, "worst": worst.get(key), "lowest": lowest.get(key)})
        about.append(
            {
                "id": name,
                "title": title,
                "attributes": attributes,
                "table_4": describe_table_4(plain["table_4"]),
                "claims": describe_claims(own["claims"]),
                "table_2": [
                    block | draw_table_2(block["rows"], plain["group_scores"])
                    for block in describe_table_2(own["table_2"])
                ],
                "calibration": describe_calibration(own["calibration"]),
                "counterfactual": describe_counterfactual(own.get("counterfactual", [])),
                "swapped": swapped.replace("_", " "),
                "group_scores": describe_group_scores(plain["group_scores"], called),
                "calibration_curves": describe_calibration_curves(own["calibration_bins"]),
                "findings": [
                    _bare(one["sentence"], name) for one in below if one["dataset"] == name
                ],
            }
        )
    written = write_page(
        out,
        "legal_classifiers",
        templates,
        pages,
        sections=[
            ("glance", "At a glance", ""),
            ("reading", "How to read it", ""),
            *((one["id"], one["title"], "") for one in about),
            ("limits", "Limits", ""),
        ],
        about=about,
        files=[f"tables/classifiers/{one.name}/table_4.csv" for one in tables],
        gaps=sorted(gaps, key=lambda one: one["noise_verdict"] != "above"),
        lead=conclude(tables_4, known),
        over_all=[one for one in below if one["dataset"] is None],
        test_cases=linked is None or "test" in linked,
        objective=called.heading,
        measures=MEASURES,
        verdicts=VERDICTS,
        noise_verdicts=NOISE_VERDICTS,
        noise_words=noise_words,
        twin_measures=TWIN_MEASURES,
        more_tables=MoreTables(
            {f"tables/classifiers/{one.name}": one for one in tables}, but=OF_MITIGATION
        ),
        provenance=quote(provenance, safe="/.") if provenance else None,
    )
    return {"datasets": len(about), "bytes": written}


def _bare(sentence: str, name: str) -> str:
    """Return the sentence without the data set's name, which is in the heading."""
    words = sentence.removeprefix(f"On {name}, ")
    return words[:1].upper() + words[1:]


if __name__ == "__main__":
    stage.run(write_classifiers_page)
