"""Stage: a page of the report, one HTML file."""

import importlib
from typing import Annotated, Any

from evenhand.core.stage import Delta, Input, Output, Plugin, Source, checked
from evenhand.errors import InputError
from evenhand.report.render import render_page
from evenhand.report.study import Study


@checked
def write_page(
    *,
    page: Annotated[str, Plugin("evenhand.report.pages")],
    templates: list[Input],
    out: Output,
    files: list[Source] | None = None,
    systems: Annotated[list[str] | None, Plugin("evenhand.report.headlines")] = None,
    planted: Source | None = None,
    names: list[str] | None = None,
    titles: list[str] | None = None,
    declarations: list[str] | None = None,
    linked: list[str] | None = None,
    swapped: str = "gender",
    delta: Delta = 5.0,
    results: str = "results",
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write a page of the report.

    Parameters
    ----------
    page
        The module of `evenhand.report.pages` with the page's content, which is also the name of
        its template.
    templates
        The files of ``evenhand/report/templates``.
    out
        The page, HTML.
    files
        The results that the page shows, recognised by their paths below the results folder. The
        page states which are missing.
    systems
        The systems of this configuration, of `evenhand.report.headline.SYSTEMS`.
    planted
        The truth planted in the data, see `evenhand.report.pages.front`.
    names, titles
        Names and titles: of data sets, of their attributes (``data_set/attribute``), of objectives
        (``objectives/name``) and reasons (``reasons/name``, and
        ``meanings/name`` for the meaning).
    declarations
        The declarations of the legal data sets, in the order of their folders of tables.
    linked
        The splits of the case explorer, to which numbers link; by default test and dev.
    swapped
        The attribute whose words are swapped in counterfactuals.
    delta
        The smallest share of decisions, in %, that matters if they change with an attribute.
    results
        The results folder, with which the paths in the provenance begin.
    pages
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.

    Returns
    -------
    dict
        bytes.

    Raises
    ------
    InputError
        A file is malformed, or the numbers of names and titles differ.
    """
    if len(names or []) != len(titles or []):
        raise InputError("there is not one title for each name")
    study = Study(
        files=files or [],
        titles=dict(zip(names or [], titles or [], strict=True)),
        systems=systems or [],
        planted=planted,
        declarations=declarations or [],
        linked=["test", "dev"] if linked is None else linked,
        swapped=swapped,
        delta=delta,
        results=results,
    )
    values = importlib.import_module(f"evenhand.report.pages.{page}").content(study)
    return {"bytes": render_page(page, values, out, templates, pages)}
