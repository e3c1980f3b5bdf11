"""Stage: the page of the classifiers of legal cases, one HTML file."""

import importlib
from typing import Annotated, Any
from urllib.parse import quote

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.objective_titles import titles_of
from evenhand.report.read import read_json
from evenhand.report.render import write_page
from evenhand.report.sections.legal_classifiers import (
    MEASURES,
    TWIN_MEASURES,
    describe_calibration,
    describe_claims,
    describe_counterfactual,
    describe_table_2,
    describe_table_4,
    describe_tests,
)
from evenhand.report.sections.legal_figures import (
    describe_calibration_curves,
    describe_group_scores,
    describe_training,
    draw_table_2,
)
from evenhand.report.sections.paper import describe_paper


def write_classifiers_page(
    *,
    templates: list[Input],
    out: Output,
    names: list[str],
    kinds: Annotated[list[str], Plugin("evenhand.legal.datasets")],
    titles: list[str],
    table_4: list[Input],
    claims: list[Input],
    tests: list[Input],
    table_2: list[Input],
    calibration: list[Input],
    findings: Input,
    group_scores: list[Input] | None = None,
    bins: list[Input] | None = None,
    curves: list[Input] | None = None,
    objectives: list[str] | None = None,
    objective_titles: list[str] | None = None,
    counterfactual: list[Input] | None = None,
    twinned: list[str] | None = None,
    swapped: str = "gender",
    paper: Input | None = None,
    splits: list[str] | None = None,
    provenance: str = "",
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the page of the classifiers: one HTML file that needs nothing beside it.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The page, HTML.
    names, kinds, titles : lists of str
        Of each data set that classifiers are trained on.
    table_4, claims, tests, table_2, calibration : lists of path
        ``legal_{name}_table_4.csv`` and so on, in the order of `names`.
    findings : path
        What `write_classifier_findings` says.
    group_scores, bins, curves : lists of path, optional
        ``legal_{name}_group_scores.csv``, ``legal_{name}_calibration_bins.csv`` and
        ``legal_{name}_curves.csv``, in the order of `names`; without them their figures are left
        out.
    objectives, objective_titles : list of str, optional
        What people call the objectives; one that is not named has its own name.
    counterfactual : list of path, optional
        ``legal_{name}_counterfactual.csv`` of the data sets whose cases have twins.
    twinned : list of str, optional
        The data set, of `names`, of each of them.
    swapped : str
        What is swapped in a twin.
    paper : path, optional
        ``resources/paper_items.csv``: the tables and figures of the paper, of which the page then
        says where ours stand.
    splits : list of str, optional
        Those whose cases the page of `write_cases_page` shows; by default test and dev. Without
        test no number leads there.
    provenance : str
        Where ``provenance.json`` lies, seen from the page; blank: no link.
    pages : list of str, optional
        The pages that this run makes, of `evenhand.report.pages.PAGES`; all if it is not said.

    Raises
    ------
    InputError
        There is not one file of each kind for each data set, not one data set for each table of
        twins, not one title for each objective, or there are no findings.
    """
    lists = (kinds, titles, table_4, claims, tests, table_2, calibration)
    if any(len(one) != len(names) for one in lists):
        raise InputError("there is not one file of each kind for each data set")
    if any(one and len(one) != len(names) for one in (group_scores, bins, curves)):
        raise InputError("there is not one file of each kind for each data set")
    called = titles_of(objectives, objective_titles)
    counterfactual, twinned = counterfactual or [], twinned or []
    if len(counterfactual) != len(twinned) or not set(twinned) <= set(names):
        raise InputError("there is not one data set of the page for each table of twins")
    twins = dict(zip(twinned, counterfactual, strict=True))
    found = read_json(findings)
    if not (isinstance(found, dict) and "findings" in found):
        raise InputError("holds no findings", file=findings)
    said = found.get("headline") or []
    below = [one for one in found["findings"] if one["sentence"] not in said]
    below = below or found["findings"]
    about = []
    for i, name in enumerate(names):
        fixed = importlib.import_module(f"evenhand.legal.datasets.{kinds[i]}").DATASET
        about.append(
            {
                "id": name,
                "title": titles[i],
                "attributes": {one.name: one.title for one in fixed.attributes},
                "table_4": describe_table_4(table_4[i]),
                "claims": describe_claims(claims[i]),
                "tests": describe_tests(tests[i]),
                "table_2": [
                    block | draw_table_2(block["rows"], group_scores[i] if group_scores else None)
                    for block in describe_table_2(table_2[i])
                ],
                "calibration": describe_calibration(calibration[i]),
                "counterfactual": describe_counterfactual(twins[name]) if name in twins else [],
                "swapped": swapped.replace("_", " "),
                "group_scores": describe_group_scores(group_scores[i], called)
                if group_scores
                else [],
                "calibration_curves": describe_calibration_curves(bins[i]) if bins else [],
                "training": describe_training(curves[i], called) if curves else [],
                "findings": [
                    _bare(one["sentence"], name) for one in below if one["dataset"] == name
                ],
            }
        )
    sections = [("glance", "At a glance", ""), ("reading", "How to read it", "")]
    sections += [(one["id"], one["title"], "") for one in about]
    sections += [("limits", "Limits", "")]
    written = write_page(
        out,
        "legal_classifiers",
        templates,
        pages,
        sections=sections,
        about=about,
        found=found,
        over_all=[one for one in below if one["dataset"] is None],
        test_cases=splits is None or "test" in splits,
        objective=called.heading,
        measures=MEASURES,
        twin_measures=TWIN_MEASURES,
        paper=describe_paper(paper, "legal_classifiers", pages),
        provenance=quote(provenance, safe="/.") if provenance else None,
    )
    return {"datasets": len(about), "bytes": written}


def _bare(sentence: str, name: str) -> str:
    """The sentence without the data set's name, which stands above it."""
    words = sentence.removeprefix(f"On {name}, ")
    return words[:1].upper() + words[1:]


if __name__ == "__main__":
    stage.run(write_classifiers_page)
