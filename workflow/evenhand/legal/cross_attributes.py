"""Stage: how the groups of one attribute fall into those of another, and FairLex's claims of it.

The text of FairLex (Chalkidis et al. 2022, section 5) explains some gaps between groups by what
else its groups share (83 % of the male applicants' cases are against C.E. European states).
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import Groups, group_names, load_dataset, read_groups
from evenhand.legal.dataset import Dataset
from evenhand.legal.describe_cases import NOT_REPRODUCED, NOT_RUN, REPRODUCED
from evenhand.metrics.proportions import wilson_share

HEADER = [
    *("dataset", "attribute", "group", "other_attribute", "other_group"),
    *("cases", "of", "share", "low", "high", "known", "share_known", "published", "verdict"),
]

#: Columns of the table of claims (`published_cross.csv`).
CLAIMS = ["kind", "attribute", "group", "other_attribute", "other_group", "published"]

#: attribute, group, other attribute, other group.
Cell = tuple[str, str, str, str]


def cross_attributes(
    *,
    data: Input,
    claims: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    published: bool = False,
) -> dict[str, Any]:
    """Count the groups of each attribute by those of each other, beside FairLex's claims.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    claims : path
        What FairLex says (published_cross.csv): kind, attribute, group, other_attribute,
        other_group, published (a share, as many decimals as it has).
    out : path
        CSV, over all splits, a row per group of `attribute` and group of `other_attribute` (the
        unknown ones last): cases, of (all cases of `group`), share with Wilson's interval, known
        (those of them with a known `other_group`), share_known, published, verdict (of `share`:
        it rounds to what was published).
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the table.
    published : bool
        Whether the cases are FairLex's own. If not, the verdict on its claims is not_run.

    Returns
    -------
    dict
        rows, reproduced, not_reproduced, not_run.

    Raises
    ------
    InputError
        A claim is about an attribute or group that the kind does not have, or is no share.
    """
    fixed = load_dataset(kind)
    said = _claims(claims, fixed)
    groups = read_groups(data, fixed)
    rows = [
        {"dataset": dataset} | row
        for one in groups
        for other in groups
        if one is not other
        for row in _crossed(one, other)
    ]
    for row in rows:
        claim = said.pop(tuple(row[name] for name in CLAIMS[1:5]), None)
        if claim is not None:
            row["published"] = claim
            row["verdict"] = _verdict(claim, row["cases"], row["of"], published)
    for cell, claim in said.items():  # of an attribute that the data set was built without
        named = dict(zip(CLAIMS[1:5], cell, strict=True))
        rows.append({"dataset": dataset} | named | {"published": claim, "verdict": NOT_RUN})
    write_rows(out, HEADER, rows)
    verdicts = [row.get("verdict") for row in rows]
    return {"rows": len(rows)} | {
        verdict: verdicts.count(verdict) for verdict in (REPRODUCED, NOT_REPRODUCED, NOT_RUN)
    }


def _claims(path: Path, fixed: Dataset) -> dict[Cell, str]:
    found = {}
    for line, row in enumerate(read_resource(path, CLAIMS, unique=tuple(CLAIMS[:5])), start=2):
        if row["kind"] != fixed.kind:
            continue
        for name, group in (("attribute", "group"), ("other_attribute", "other_group")):
            try:
                names = group_names(fixed.attribute(row[name]))
            except KeyError as error:
                raise InputError(
                    f"{fixed.title} has no attribute {row[name]!r}", file=path, line=line
                ) from error
            if row[group] not in names:
                raise InputError(
                    f"the {row[name]} has no group {row[group]!r}",
                    file=path,
                    line=line,
                    remedy=f"the groups are {', '.join(names)}",
                )
        whole, _, decimals = row["published"].partition(".")
        if not (whole + decimals).isdecimal() or float(row["published"]) > 1:
            raise InputError(
                f"{row['published']!r} is no share",
                file=path,
                line=line,
                remedy="write 83 per cent as 0.83",
            )
        found[tuple(row[name] for name in CLAIMS[1:5])] = row["published"]
    return found


def _crossed(one: Groups, other: Groups) -> list[dict[str, Any]]:
    width = len(other.names)
    flat = np.bincount(one.codes * width + other.codes, minlength=len(one.names) * width)
    rows = []
    for name, counts in zip(one.names, flat.reshape(-1, width).tolist(), strict=True):
        of, known = sum(counts), sum(counts[:-1])
        for code, (theirs, count) in enumerate(zip(other.names, counts, strict=True)):
            rows.append(
                {
                    "attribute": one.attribute.name,
                    "group": name,
                    "other_attribute": other.attribute.name,
                    "other_group": theirs,
                    "cases": count,
                    "of": of,
                    **wilson_share(count, of)._asdict(),
                    "known": known,
                    "share_known": count / known if known and code != other.unknown else None,
                }
            )
    return rows


def _verdict(claim: str, cases: int, of: int, published: bool) -> str:
    if not published or not of:
        return NOT_RUN
    digits = 10 ** len(claim.partition(".")[2])
    rounded = (2 * cases * digits + of) // (2 * of)
    return REPRODUCED if rounded == round(float(claim) * digits) else NOT_REPRODUCED


if __name__ == "__main__":
    stage.run(cross_attributes)
