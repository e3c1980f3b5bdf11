"""Stage: the report on the classifiers of legal cases, one HTML file."""

from typing import Any

from evenhand.core import stage
from evenhand.core.rows import grouped, where
from evenhand.core.stage import Input, Output, Source
from evenhand.errors import InputError
from evenhand.legal.objective_titles import titles_of
from evenhand.report.headlines.legal import conclude, gaps_of
from evenhand.report.read import read_json
from evenhand.report.render import Page
from evenhand.report.sections import legal_classifiers as classifiers
from evenhand.report.sections.legal_data import read_datasets, titles_by_name
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
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.

    Raises
    ------
    InputError
        There is not one declaration and title of each data set, or there are no findings.
    """
    found = read_json(findings)
    if not (isinstance(found, dict) and "findings" in found):
        raise InputError("holds no findings", file=findings)
    below = [one for one in found["findings"] if one["id"] not in ELSEWHERE]
    called = titles_of(objectives, objective_titles)
    datasets = read_datasets(tables, declarations, titles)
    known = titles_by_name(datasets)
    about, gaps = [], []
    for one in datasets:
        own = one.tables
        table_4 = where(own["table_4"], objective=classifiers.BASE)
        scores = where(own["group_scores"], objective=classifiers.BASE)
        worst, lowest = (
            {(row["attribute"], row["classifier"]): row for row in rows}
            for rows in (
                where(own["table_2"], worst=True),
                gaps_of({one.name: own["table_4"]}, known, "worst"),
            )
        )
        for gap in gaps_of({one.name: own["table_4"]}, known):
            key = gap["attribute"], gap["classifier"]
            gaps.append(gap | {"id": one.name, "worst": worst.get(key), "lowest": lowest.get(key)})
        about.append(
            one.head
            | {
                "table_4": classifiers.describe_table_4(table_4),
                "claims": own["claims"],
                "table_2": [
                    {"name": attribute, "classifier": classifier, "rows": rows}
                    | classifiers.draw_table_2(rows, scores)
                    for (attribute, classifier), rows in grouped(
                        own["table_2"], "attribute", "classifier"
                    ).items()
                ],
                "calibration": grouped(
                    where(own["calibration"], objective=classifiers.BASE), "attribute"
                ),
                "counterfactual": classifiers.by_training(own.get("counterfactual", [])),
                "swapped": swapped.replace("_", " "),
                "group_scores": classifiers.describe_group_scores(scores, called),
                "calibration_curves": classifiers.describe_calibration_curves(
                    own["calibration_bins"]
                ),
                "findings": [
                    _bare(finding["sentence"], one.name)
                    for finding in where(below, dataset=one.name)
                ],
            }
        )
    written = Page("legal_classifiers", out, templates, pages).write(
        sections=[
            ("glance", "At a glance", ""),
            ("reading", "How to read it", ""),
            *((one["id"], one["title"], "") for one in about),
            ("limits", "Limits", ""),
        ],
        about=about,
        files=[f"tables/classifiers/{one.name}/table_4.csv" for one in tables],
        gaps=sorted(gaps, key=lambda one: one["noise_verdict"] != "above"),
        lead=conclude(
            *({one.name: one.tables[name] for one in datasets} for name in ("table_4", "table_2")),
            known,
        ),
        over_all=[one for one in below if one["dataset"] is None],
        test_cases=linked is None or "test" in linked,
        objective=called.heading,
        measures=classifiers.MEASURES,
        verdicts=VERDICTS,
        noise_verdicts=classifiers.NOISE_VERDICTS,
        noise_words=classifiers.noise_words,
        more_tables=MoreTables(
            {f"tables/classifiers/{one.name}": one for one in tables}, but=OF_MITIGATION
        ),
        provenance=provenance,
    )
    return {"datasets": len(about), "bytes": written}


def _bare(sentence: str, name: str) -> str:
    """Return the sentence without the data set's name, which is in the heading."""
    words = sentence.removeprefix(f"On {name}, ")
    return words[:1].upper() + words[1:]


if __name__ == "__main__":
    stage.run(write_classifiers_page)
