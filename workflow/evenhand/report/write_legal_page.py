"""Stage: the page of the legal data sets, one HTML file."""

import importlib
from typing import Annotated, Any
from urllib.parse import quote

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.records import SPLITS
from evenhand.report.read import read_json
from evenhand.report.render import write_page
from evenhand.report.sections.legal_data import (
    describe_duplicates,
    describe_groups,
    describe_labels,
    describe_reading,
    describe_sizes,
)
from evenhand.report.sections.legal_measures import (
    describe_audit,
    describe_cross,
    describe_leakage,
    describe_lengths,
    describe_rules,
    describe_shift,
)
from evenhand.report.sections.paper import describe_paper


def write_legal_page(
    *,
    templates: list[Input],
    out: Output,
    names: list[str],
    kinds: Annotated[list[str], Plugin("evenhand.legal.datasets")],
    titles: list[str],
    parts: list[str],
    sizes: list[Input],
    groups: list[Input],
    labels: list[Input],
    shift: list[Input],
    cross: list[Input],
    lengths: list[Input],
    leakage: list[Input],
    rules: list[Input],
    counts: list[Input],
    duplicates: list[Input],
    divided: list[Input],
    audits: list[Input] | None = None,
    paper: Input | None = None,
    splits: list[str] | None = None,
    provenance: str = "",
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the page of the legal data sets: one HTML file that needs nothing beside it.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The page, HTML.
    names, kinds, titles : lists of str
        Of each data set.
    parts : list of str
        ``{name}/{part}`` for each file of `counts`.
    sizes, groups, labels, shift, cross, lengths, leakage, rules : lists of path
        ``legal_{name}_sizes.csv`` and so on, in the order of `names`.
    counts : list of path
        What `read_cases` says of each part, in the order of `parts`.
    duplicates, divided : lists of path
        ``duplicates.parquet`` and ``splits.json`` of `split_cases`, in the order of `names`.
    audits : list of path, optional
        ``legal_{name}_audit.csv`` of `read_audit`, of the data sets that people have checked.
    paper : path, optional
        ``resources/paper_items.csv``: the tables and figures of the paper, of which the page then
        says where ours stand.
    splits : list of str, optional
        Those whose cases the page of `write_cases_page` shows; by default test and dev.
    provenance : str
        Where ``provenance.json`` lies, seen from the page; blank: no link.
    pages : list of str, optional
        The pages that this run makes, of `evenhand.report.pages.PAGES`; all if it is not said.

    Raises
    ------
    InputError
        There is not one file for each data set or part.
    """
    lists = (kinds, titles, sizes, groups, labels, shift, cross, lengths, leakage, rules)
    lists = (*lists, duplicates, divided)
    if any(len(one) != len(names) for one in lists) or len(counts) != len(parts):
        raise InputError("there is not one file of each kind for each data set or part")
    checked = {
        path.name.removeprefix("legal_").removesuffix("_audit.csv"): describe_audit(path)
        for path in audits or []
    }
    about = []
    for i, name in enumerate(names):
        own = [k for k, part in enumerate(parts) if part.split("/", 1)[0] == name]
        fixed = importlib.import_module(f"evenhand.legal.datasets.{kinds[i]}").DATASET
        about.append(
            {
                "id": name,
                "title": titles[i],
                "fixed": fixed,
                "attributes": {one.name: one.title for one in fixed.attributes},
                "sizes": describe_sizes(sizes[i]),
                "groups": describe_groups(groups[i]),
                "labels": describe_labels(labels[i]),
                "shift": describe_shift(shift[i]),
                "cross": describe_cross(cross[i]),
                "lengths": describe_lengths(lengths[i]),
                "leakage": describe_leakage(leakage[i]),
                "rules": describe_rules(rules[i]),
                "reading": describe_reading(
                    [counts[k] for k in own],
                    [parts[k].split("/", 1)[1] for k in own],
                ),
                "duplicates": describe_duplicates(duplicates[i]),
                "divided": read_json(divided[i]),
                "audit": checked.get(name, []),
            }
        )
    sections = [("glance", "At a glance", ""), ("reading", "How to read it", "")]
    sections += [(one["id"], one["title"], "") for one in about]
    sections += [("limits", "Limits", "")]
    written = write_page(
        out,
        "legal_cases",
        templates,
        pages,
        sections=sections,
        about=about,
        split_items=_split_items(["test", "dev"] if splits is None else splits),
        divided_files=[
            file for name in names for file in (f"legal_{name}_sizes", f"legal/{name}/splits.json")
        ],
        paper=describe_paper(paper, "legal_cases", pages),
        provenance=quote(provenance, safe="/.") if provenance else None,
    )
    return {"datasets": len(about), "bytes": written}


def _split_items(splits: list[str]) -> dict[str, str]:
    """What a column of a split asks of the page of the cases, for those that it shows."""
    every = {"all": "split="} if set(SPLITS) <= set(splits) else {}
    return {split: f"split={split}" for split in splits} | every


if __name__ == "__main__":
    stage.run(write_legal_page)
