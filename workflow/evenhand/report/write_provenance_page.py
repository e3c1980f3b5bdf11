"""Stage: the page of provenance, on which each file of the run has its place."""

from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.report.render import write_page
from evenhand.report.sections.provenance import MOST_NAMES, describe_provenance

#: The sections in the order of the page: id and short name.
SECTIONS = (("files", "Files"), ("stages", "Stages"), ("sources", "Sources"))


def write_provenance_page(
    *,
    templates: list[Input],
    out: Output,
    provenance: Input,
    results: str = "results",
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the page that leads from any file to what made it and back to the sources.

    Each file has the anchor ``file-{slug}`` of its path below the results folder
    (`evenhand.report.render.slug`; a second file of the same slug gets ``-2`` behind it), each
    stage ``stage-{slug}`` and each source ``source-{slug}``. The details of a file are drawn by
    the page's own script when they are asked for; without it the files, the stages with code,
    parameters and packages, and the sources with their checksums are there to be read.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The page, HTML.
    provenance : path
        ``provenance.json`` of `evenhand.report.collect_provenance`.
    results : str
        The results folder, as the paths in `provenance` begin. The page is meant to lie in its
        folder ``report``; its links to files go one folder up from there.
    pages : list of str, optional
        The pages that this run makes, of `evenhand.report.pages.PAGES`; all if it is not said.
    """
    described = describe_provenance(provenance, results)
    written = write_page(
        out,
        "provenance",
        templates,
        pages,
        described,
        sections=[(id, name, "") for id, name in SECTIONS],
        most_names=MOST_NAMES,
    )
    return described["totals"] | {"bytes": written}


if __name__ == "__main__":
    stage.run(write_provenance_page)
