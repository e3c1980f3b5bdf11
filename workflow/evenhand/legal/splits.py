"""Divide cases into training, development and test: in time, near duplicates together.

In this order:

1. A split that the source itself gives (FairLex's files) is kept, whatever its texts are. If it
   gives train and test alone, a part of train becomes dev, chosen as in 2 and 3.
2. Cases without one, but with dates, are divided by date, the oldest first (ties by case id): so
   that a model is tested on cases later than those that it learned from.
3. Cases without a date (CAIL2018) are divided by a digest of the case id, by the same shares.
   That is no chronological split, and the counts say of how many cases.

Near duplicates (`evenhand.text.near_duplicates`) are not parted: a group goes where its
earliest member goes, or where its member with a given split does. Only given splits can part
them; such groups are counted. Of several records with the same case id, the first file's is
kept.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import read_rows, write_table
from evenhand.legal.records import BATCH_CASES, SPLITS
from evenhand.text.near_duplicates import find_near_duplicates, words

SPLIT = pa.schema(
    [
        ("case_id", pa.string()),
        ("source", pa.int32()),
        ("split", pa.string()),
        ("duplicate_of", pa.string()),
        ("method", pa.string()),
    ]
)

DUPLICATE = pa.schema(
    [
        ("case_id", pa.string()),
        ("source", pa.int32()),
        ("duplicate_of", pa.string()),
        ("how", pa.string()),
        ("similarity", pa.float64()),
    ]
)

#: Shares of train, dev and test.
SHARES = (0.8, 0.1, 0.1)

_UNDATED = (
    "{:,} of {:,} cases without a split of their own have no date; a digest of the case id divides"
    " these, so their split is not chronological"
)


class Case(NamedTuple):
    """The properties of a case that determine its split."""

    case_id: str
    source: int
    date: date | None
    split: str | None


def split_cases(
    *,
    records: list[Path],
    out: Path,
    duplicates: Path,
    counts: Path,
    shares: list[float] | None = None,
    threshold: float = 0.8,
) -> dict[str, Any]:
    """Divide the cases of a data set.

    Parameters
    ----------
    records : list of path
        The records of `read_cases`, of all sources of the data set.
    out : path
        ``splits.parquet``, a row a case in the order of `records`: case_id, source (which of
        `records`, from 0), split, duplicate_of (the first case of its group of near
        duplicates, null for itself), method (``given``, ``chronological``, ``undated``,
        ``held_out`` of a given train, or ``group`` for a near duplicate of a case with a given
        split).
    duplicates : path
        Parquet: case_id, source, duplicate_of, how (``same_id``: this record is left out;
        ``near_duplicate``), similarity (Jaccard, with the first case of the group; null for
        ``same_id``).
    counts : path
        JSON: the returned dict.
    shares : list of float
        Of train, dev and test; 0.8, 0.1, 0.1 by default. A border lies where it is nearest to
        the share without parting a group.
    threshold : float
        Jaccard similarity from which texts are near duplicates, above 0 and up to 1.

    Raises
    ------
    InputError
        The shares are not three that sum up to 1, the threshold is none, or there are no cases.
    """
    shares = list(SHARES) if shares is None else shares
    if len(shares) != 3 or min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise InputError(
            f"the shares {', '.join(map(str, shares))} do not divide a data set",
            remedy="give three shares, of train, dev and test, that sum up to 1",
        )
    if not 0 < threshold <= 1:
        raise InputError(f"the threshold {threshold} is no similarity above 0 and up to 1")
    cases, repeated = _read(records)
    if not cases:
        raise InputError("there is no case to divide", file=records[0] if records else None)
    kept = {(case.source, case.case_id) for case in cases}
    near = find_near_duplicates(lambda: map(words, _texts(records, kept)), threshold)
    groups: dict[int, list[int]] = {}
    for place, group in enumerate(near.groups().tolist()):
        groups.setdefault(group, []).append(place)

    ordered = [sorted(members, key=lambda i: _order(cases[i])) for members in groups.values()]
    ordered.sort(key=lambda members: _order(cases[members[0]]))
    first = {i: members[0] for members in ordered for i in members}
    decided = _decide(cases, ordered, shares)

    def rows() -> Iterator[dict[str, Any]]:
        for place, case in enumerate(cases):
            split, method = decided[place]
            other = cases[first[place]].case_id if first[place] != place else None
            yield {
                "case_id": case.case_id,
                "source": case.source,
                "split": split,
                "duplicate_of": other,
                "method": method,
            }

    write_table(out, SPLIT, rows())
    found = [
        {
            "case_id": cases[place].case_id,
            "source": cases[place].source,
            "duplicate_of": cases[other].case_id,
            "how": "near_duplicate",
            "similarity": near.similarity(place, other),
        }
        for place, other in sorted(first.items())
        if place != other
    ]
    write_table(duplicates, DUPLICATE, [*repeated, *found])
    free = sum(case.split is None for case in cases)
    undated = sum(method == "undated" for _, method in decided.values())
    result = {
        "cases": len(cases),
        "same_id": len(repeated),
        "near_duplicates": len(found),
        "groups_of_several": sum(len(members) > 1 for members in ordered),
        "largest_group": max(map(len, ordered)),
        "groups_parted_by_given_splits": sum(
            len({decided[i][0] for i in members}) > 1 for members in ordered
        ),
        "methods": dict(sorted(Counter(method for _, method in decided.values()).items())),
        "splits": _splits(cases, decided),
        "note": _UNDATED.format(undated, free) if undated else "",
    }
    write_json(counts, result)
    return result


def _read(records: list[Path]) -> tuple[list[Case], list[dict[str, Any]]]:
    """The cases, each id once, and rows of `DUPLICATE` for the others."""
    cases: dict[str, Case] = {}
    repeated = []
    for source, path in enumerate(records):
        for row in read_rows(path, ["case_id", "date", "split"]):
            case = Case(row["case_id"], source, row["date"], row["split"])
            if cases.setdefault(case.case_id, case) is not case:
                repeated.append(
                    {
                        "case_id": case.case_id,
                        "source": source,
                        "duplicate_of": case.case_id,
                        "how": "same_id",
                        "similarity": None,
                    }
                )
    return list(cases.values()), repeated


def _texts(records: list[Path], kept: set[tuple[int, str]]) -> Iterator[tuple[str, ...]]:
    for source, path in enumerate(records):
        for row in read_rows(path, ["case_id", "text"], BATCH_CASES):
            if (source, row["case_id"]) in kept:
                yield tuple(row["text"])


def _order(case: Case) -> tuple[date, bytes, str]:
    """Return the sort key: the oldest first; undated cases last, in the order of a digest."""
    if case.date:
        return case.date, b"", case.case_id
    return date.max, blake2b(case.case_id.encode(), digest_size=8).digest(), case.case_id


def _decide(
    cases: list[Case], ordered: list[list[int]], shares: list[float]
) -> dict[int, tuple[str, str]]:
    """Split and method of each case; `ordered` are the groups, and their members, by age."""
    decided: dict[int, tuple[str, str]] = {}
    dated, undated, lent = [], [], []
    no_dev = {case.split for case in cases} == {"train", "test"}
    for members in ordered:
        given = [cases[i].split for i in members if cases[i].split]
        if no_dev and {*given} == {"train"}:
            lent.append(members)
        elif given:
            for i in members:
                decided[i] = (cases[i].split, "given") if cases[i].split else (given[0], "group")
        else:
            (dated if cases[members[0]].date else undated).append(members)
    for method, groups in (("chronological", dated), ("undated", undated)):
        before, total = 0, sum(map(len, groups))
        borders = [shares[0] * total, (shares[0] + shares[1]) * total]
        for members in groups:
            middle = before + len(members) / 2
            split = SPLITS[sum(middle > border for border in borders)]
            decided |= dict.fromkeys(members, (split, method))
            before += len(members)
    total, kept = sum(map(len, lent)), 0
    for members in lent:
        train = kept + len(members) / 2 <= total * shares[0] / (shares[0] + shares[1])
        decided |= dict.fromkeys(members, ("train", "given") if train else ("dev", "held_out"))
        kept += len(members)
    return decided


def _splits(cases: list[Case], decided: dict[int, tuple[str, str]]) -> dict[str, Any]:
    """Cases of each split, and their first and last date."""
    result = {}
    for split in SPLITS:
        own = [case for place, case in enumerate(cases) if decided[place][0] == split]
        dates = sorted(case.date for case in own if case.date)
        result[split] = {
            "cases": len(own),
            "first_date": str(dates[0]) if dates else None,
            "last_date": str(dates[-1]) if dates else None,
        }
    return result
