"""How the groups of one attribute are distributed over those of another, and FairLex's claims.

The text of FairLex (Chalkidis et al. 2022, section 5) explains some gaps between groups by another
attribute (83 % of the male applicants' cases are against C.E. European states).
"""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np

from evenhand.core.resources import read_resource
from evenhand.core.tables import Row, Table, integer, share, text
from evenhand.legal.built import Groups
from evenhand.legal.case_study import CaseStudy
from evenhand.legal.case_tables.groups import shares
from evenhand.legal.declaration import Dataset
from evenhand.legal.published import NOT_REPRODUCED, NOT_RUN, REPRODUCED
from evenhand.metrics.proportions import wilson_share

#: The columns that name a cell: a group of one attribute, and a group of another.
CELL = ("attribute", "group", "other_attribute", "other_group")

#: Columns of the table of claims (`published_cross.csv`): a share, with its published digits.
CLAIMS = ["kind", *CELL, "published"]

TABLE = Table(
    "cross",
    title="Attributes of one case, crossed",
    key=("dataset", *CELL),
    columns=(
        *map(text, ("dataset", "attribute", "group", "other_attribute")),
        text("other_group", "The unknown group is the last"),
        integer("cases"),
        integer("of", "All cases of the group"),
        share("share", "Of all splits; interval by Wilson", interval=("low", "high")),
        integer("known", "Cases of the group with a known other group"),
        share("share_known", "Share of these"),
        text("published", "The share that FairLex's text states"),
        text("verdict", "Whether our share rounds to it"),
    ),
    source="FairLex (Chalkidis et al. 2022), table 3 and section 5",
)


def rows(study: CaseStudy) -> Iterator[Row]:
    """Yield a row per group of an attribute and group of another; claims without one are last."""
    claims = read_claims(study.claims, study.dataset)
    for groups, others in permutations(study.groups, 2):
        for row in _crossed(groups, others):
            claim = claims.pop(tuple(row[name] for name in CELL), None)
            if claim is not None:
                verdict = _verdict(claim, row["cases"], row["of"]) if study.published else NOT_RUN
                row |= {"published": claim, "verdict": verdict}
            yield row
    for cell, claim in claims.items():  # of an attribute that the data set was built without
        cells = dict(zip(CELL, cell, strict=True))
        yield cells | {"published": claim, "verdict": NOT_RUN}


def read_claims(path: Path, dataset: Dataset) -> dict[tuple[str, ...], str]:
    """Return the published shares of a kind by `CELL`."""
    rows = read_resource(path, CLAIMS, unique=tuple(CLAIMS[:5]))
    rows = [row for row in rows if row["kind"] == dataset.kind]
    return {tuple(row[name] for name in CELL): row["published"] for row in rows}


def _crossed(groups: Groups, others: Groups) -> Iterator[Row]:
    width = len(others.names)
    flat = np.bincount(groups.codes * width + others.codes, minlength=len(groups.names) * width)
    for name, counts in zip(groups.names, flat.reshape(-1, width).tolist(), strict=True):
        for other_name, cells in zip(others.names, shares(counts), strict=True):
            cell = (groups.attribute.name, name, others.attribute.name, other_name)
            interval = wilson_share(cells["cases"], cells["of"])._asdict()
            yield dict(zip(CELL, cell, strict=True)) | cells | interval


def _verdict(claim: str, cases: int, of: int) -> str:
    if not of:
        return NOT_RUN
    digits = 10 ** len(claim.partition(".")[2])
    rounded = (2 * cases * digits + of) // (2 * of)
    return REPRODUCED if rounded == round(float(claim) * digits) else NOT_REPRODUCED
