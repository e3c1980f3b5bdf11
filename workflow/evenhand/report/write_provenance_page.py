"""Stage: the provenance report, with an entry for each file of the run."""

from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.report.render import Page
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
    """Write the page that traces any file to its stage, its inputs and the sources.

    Each file has the anchor ``file-{slug}`` of its path below the results folder
    (`evenhand.report.render.slug`; a second file of the same slug gets the suffix ``-2``), each
    stage ``stage-{slug}`` and each source ``source-{slug}``. The page's script shows the details
    of a file on demand. Without it the page lists the files, the stages with code, parameters and
    packages, and the sources with their checksums.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The page, HTML.
    provenance : path
        ``provenance.json`` of `evenhand.report.collect_provenance`.
    results : str
        The results folder, with which the paths in `provenance` begin. The page belongs in its
        folder ``report``; its links to files go one folder up from there.
    pages : list of str, optional
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.
    """
    described = describe_provenance(provenance, results)
    written = Page("provenance", out, templates, pages).write(
        **described, sections=[(id, name, "") for id, name in SECTIONS], most_names=MOST_NAMES
    )
    return described["totals"] | {"bytes": written}


if __name__ == "__main__":
    stage.run(write_provenance_page)
