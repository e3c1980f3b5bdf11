"""How the groups of an attribute are distributed over labels and other groups; FairLex's claims.

The text of FairLex (Chalkidis et al. 2022, section 5) explains some gaps between groups by another
attribute (83 % of the male applicants' cases are against C.E. European states).
"""

from collections.abc import Iterator, Mapping
from itertools import permutations
from pathlib import Path

import numpy as np

from evenhand.core.resources import read_resource
from evenhand.core.tables import Row, Table, integer, share, text
from evenhand.legal.built import CaseStudy, Groups, label_names, with_none
from evenhand.legal.case_tables.labels import UNKNOWN
from evenhand.legal.declaration import Dataset
from evenhand.legal.groups import LABEL
from evenhand.legal.published import NOT_REPRODUCED, NOT_RUN, REPRODUCED
from evenhand.metrics.proportions import wilson_share

#: The columns that name a cell: a group of one attribute, and a group of another.
CELL = ("attribute", "group", "other_attribute", "other_group")

#: Columns of the table of claims (`published_cross.csv`): a share, with its published digits.
CLAIMS = ["kind", *CELL, "published"]

TABLE = Table(
    "cross",
    title="Groups by label and by other attribute",
    key=("dataset", "split", *CELL),
    columns=(
        text("dataset"),
        text("split", "train, dev, test or all; all for groups of other attributes"),
        *map(text, ("attribute", "group")),
        text("other_attribute", f"{LABEL}: the labels of the cases, of which there may be several"),
        text("other_group", "The unknown group or label is the last"),
        integer("cases"),
        integer("of", "All cases of the group in the split"),
        share("share", "Interval by Wilson", interval=("low", "high")),
        integer("known", "Cases of the group with a known other group or label"),
        share("share_known", "Share of these"),
        text("published", "The share that FairLex's text states"),
        text("verdict", "Whether our share rounds to it"),
    ),
    source="FairLex (Chalkidis et al. 2022), table 3 and section 5",
)


def rows(study: CaseStudy) -> Iterator[Row]:
    """Yield a row per split, group, and label or group of another attribute.

    Claims are about all splits; those without a cell are last.
    """
    claims = read_claims(study.claims, study.dataset)
    known, hot = study.labels
    of_label = (with_none(hot, study.dataset).astype(bool) & known[:, None]).T
    names = [*label_names(study.dataset), UNKNOWN]
    labelled = (LABEL, dict(zip(names, [*of_label, ~known], strict=True)))
    crossed = [(split, groups, *labelled) for split in study.parts for groups in study.groups]
    for groups, others in permutations(study.groups, 2):
        members = {name: others.codes == code for code, name in enumerate(others.names)}
        crossed.append(("all", groups, others.attribute.name, members))
    for split, groups, other, members in crossed:
        for row in _crossed(groups, other, members, study.parts[split]):
            row["split"] = split
            claim = claims.pop(tuple(row[name] for name in CELL), None) if split == "all" else None
            if claim is not None:
                verdict = _verdict(claim, row["cases"], row["of"]) if study.published else NOT_RUN
                row |= {"published": claim, "verdict": verdict}
            yield row
    for cell, claim in claims.items():  # of an attribute that the data set was built without
        cells = dict(zip(CELL, cell, strict=True))
        yield cells | {"split": "all", "published": claim, "verdict": NOT_RUN}


def read_claims(path: Path, dataset: Dataset) -> dict[tuple[str, ...], str]:
    """Return the published shares of a kind by `CELL`."""
    rows = read_resource(path, CLAIMS, unique=tuple(CLAIMS[:5]))
    rows = [row for row in rows if row["kind"] == dataset.kind]
    return {tuple(row[name] for name in CELL): row["published"] for row in rows}


def _crossed(
    groups: Groups, other: str, members: Mapping[str, np.ndarray], part: np.ndarray
) -> Iterator[Row]:
    """Yield the cells of each group and the cases of each name, of which the last is unknown.

    Only the cases of a split count (`part`).
    """
    width = len(groups.names)
    counts = {
        name: np.bincount(groups.codes[cases & part], minlength=width)
        for name, cases in members.items()
    }
    *_, unknown = counts
    sizes = np.bincount(groups.codes[part], minlength=width).tolist()
    for code, (group, of) in enumerate(zip(groups.names, sizes, strict=True)):
        known = of - int(counts[unknown][code])
        for name, cases in ((name, int(count[code])) for name, count in counts.items()):
            cell = (groups.attribute.name, group, other, name)
            yield dict(zip(CELL, cell, strict=True)) | {
                "cases": cases,
                "of": of,
                **wilson_share(cases, of)._asdict(),
                "known": known,
                "share_known": cases / known if known and name != unknown else None,
            }


def _verdict(claim: str, cases: int, of: int) -> str:
    if not of:
        return NOT_RUN
    digits = 10 ** len(claim.partition(".")[2])
    rounded = (2 * cases * digits + of) // (2 * of)
    return REPRODUCED if rounded == round(float(claim) * digits) else NOT_REPRODUCED
