"""Cases by group of each attribute and split: FairLex's Tables 6 and 7."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, share, text
from evenhand.legal.built import CaseStudy

TABLE = Table(
    "groups",
    title="Cases by group and split",
    key=("dataset", "attribute", "split", "group"),
    columns=(
        text("dataset"),
        text("attribute"),
        text("split", "train, dev, test or all"),
        text("group", "The unknown group is the last"),
        integer("cases"),
        integer("of", "Cases of the split"),
        share("share"),
        integer("known", "Cases of the split with a known group"),
        share("share_known", "Share of these"),
    ),
    source="FairLex (Chalkidis et al. 2022), tables 6 and 7",
)


def rows(study: CaseStudy) -> Iterator[Row]:
    """Yield a row per attribute, split and group."""
    for groups in study.groups:
        for split, members in study.parts.items():
            counts = np.bincount(groups.codes[members], minlength=len(groups.names)).tolist()
            for name, cells in zip(groups.names, shares(counts), strict=True):
                key = {"attribute": groups.attribute.name, "split": split, "group": name}
                yield key | cells


def shares(counts: list[int]) -> Iterator[Row]:
    """Yield the cells of each group from the cases of the groups, of which the last is unknown."""
    of, known = sum(counts), sum(counts[:-1])
    for code, count in enumerate(counts):
        yield {
            "cases": count,
            "of": of,
            "share": count / of if of else None,
            "known": known,
            "share_known": count / known if known and code < len(counts) - 1 else None,
        }
