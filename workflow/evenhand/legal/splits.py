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

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date
from hashlib import blake2b
from pathlib import Path
from typing import Any

from evenhand.core.rows import grouped
from evenhand.errors import InputError
from evenhand.io.tables import read_rows, schema_of
from evenhand.legal.declaration import check_shares
from evenhand.legal.records import BATCH_CASES, SPLITS
from evenhand.text.near_duplicates import find_near_duplicates, words

#: A row a case in the order of the records: which of them it is from (from 0), its split, the first
#: case of its group of near duplicates (of train before dev before test, then in the order of the
#: records; null for itself), and what decided the split: ``given``, ``chronological``, ``undated``,
#: ``held_out`` of a given train, or ``group`` for a near duplicate of a case with a given split.
SPLIT = schema_of(
    case_id="string", source="int32", split="string", duplicate_of="string", method="string"
)

#: How a case is a duplicate: ``same_id`` (this record is left out) or ``near_duplicate``; and the
#: Jaccard similarity with the first case of the group, null for ``same_id``.
DUPLICATE = schema_of(
    case_id="string", source="int32", duplicate_of="string", how="string", similarity="float64"
)

#: A case: its id, date and place among all, the split that its source states, and its split.
Case = dict[str, Any]

#: Shares of train, dev and test.
SHARES = (0.8, 0.1, 0.1)

_UNDATED = (
    "{:,} of {:,} cases without a split of their own have no date; a digest of the case id divides"
    " these, so their split is not chronological"
)


def split_cases(
    records: list[Path], shares: list[float] | None, threshold: float
) -> tuple[dict[str, Case], list[dict[str, Any]], dict[str, Any]]:
    """Divide the cases of a data set.

    Parameters
    ----------
    records : list of path
        The records of `read_cases`, of all sources of the data set.
    shares : list of float, optional
        Of train, dev and test; 0.8, 0.1, 0.1 by default. A border lies where it is nearest to
        the share without parting a group.
    threshold : float
        Jaccard similarity from which texts are near duplicates, above 0 and up to 1.

    Returns
    -------
    cases : dict
        The cases by id, in the order of the records: `SPLIT`.
    duplicates : list of dict
        The rows of `DUPLICATE`.
    counts : dict
        Numbers of cases and duplicates; cases and dates of each split.

    Raises
    ------
    InputError
        The shares are not three that sum up to 1, the threshold is none, or there are no cases.
    """
    shares = list(SHARES) if shares is None else shares
    check_shares(shares)
    cases: dict[str, Case] = {}
    repeated = []
    for source, path in enumerate(records):
        for row in read_rows(path, ["case_id", "date", "split"]):
            case = row | {"stated": row["split"], "source": source, "place": len(cases)}
            if cases.setdefault(row["case_id"], case) is not case:
                repeated.append(_duplicate(case, row["case_id"], "same_id", None))
    if not cases:
        raise InputError("there is no case to divide", file=records[0] if records else None)
    near = find_near_duplicates(lambda: map(words, _texts(records, cases)), threshold)
    groups: dict[int, list[Case]] = defaultdict(list)  # the oldest first, as their members
    numbered = zip(near.groups().tolist(), cases.values(), strict=True)
    for group, case in sorted(numbered, key=lambda pair: _order(pair[1])):
        groups[group].append(case)
    members, similar = list(groups.values()), []
    _decide(members, shares)
    for some in members:
        # who drops the rows that name another one keeps those to train on
        first = min(some, key=lambda case: (SPLITS.index(case["split"]), case["place"]))
        for case in some:
            case["duplicate_of"] = None if case is first else first["case_id"]
    for case in cases.values():
        if first := case["duplicate_of"]:
            similarity = near.similarity(case["place"], cases[first]["place"])
            similar.append(_duplicate(case, first, "near_duplicate", similarity))
    methods = Counter(case["method"] for case in cases.values())
    free = sum(case["stated"] is None for case in cases.values())
    parted = [some for some in members if len({case["split"] for case in some}) > 1]
    of_splits = grouped(cases.values(), "split")
    counts = {
        "cases": len(cases),
        "same_id": len(repeated),
        "near_duplicates": len(similar),
        "groups_of_several": sum(len(some) > 1 for some in members),
        "largest_group": max(map(len, members)),
        "groups_parted_by_given_splits": len(parted),
        "methods": dict(sorted(methods.items())),
        "splits": {split: _summary(of_splits.get(split, [])) for split in SPLITS},
        "note": _UNDATED.format(methods["undated"], free) if methods["undated"] else "",
    }
    return cases, [*repeated, *similar], counts


def _duplicate(case: Case, duplicate_of: str, how: str, similarity: float | None) -> dict[str, Any]:
    """Return a row of `DUPLICATE`."""
    place = {"case_id": case["case_id"], "source": case["source"]}
    return place | {"duplicate_of": duplicate_of, "how": how, "similarity": similarity}


def _texts(records: list[Path], cases: dict[str, Case]) -> Iterator[tuple[str, ...]]:
    for source, path in enumerate(records):
        for row in read_rows(path, ["case_id", "text"], BATCH_CASES):
            if cases[row["case_id"]]["source"] == source:
                yield tuple(row["text"])


def _order(case: Case) -> tuple[date, bytes, str]:
    """Return the sort key: the oldest first; undated cases last, in the order of a digest."""
    case_id = case["case_id"]
    if case["date"]:
        return case["date"], b"", case_id
    return date.max, blake2b(case_id.encode(), digest_size=8).digest(), case_id


def _decide(groups: list[list[Case]], shares: list[float]) -> None:
    """Set split and method of each case; the groups, and their members, are in order of age."""
    dated, undated, lent = [], [], []
    no_dev = {case["stated"] for members in groups for case in members} == {"train", "test"}
    for members in groups:
        stated = [case["stated"] for case in members if case["stated"]]
        if no_dev and {*stated} == {"train"}:
            lent.append(members)
        elif stated:
            for case in members:
                case["split"] = case["stated"] or stated[0]
                case["method"] = "given" if case["stated"] else "group"
        else:
            (dated if members[0]["date"] else undated).append(members)
    for method, some in (("chronological", dated), ("undated", undated)):
        for case, middle, total in _middles(some):
            borders = (shares[0] * total, (shares[0] + shares[1]) * total)
            split = SPLITS[sum(middle > border for border in borders)]
            case |= {"split": split, "method": method}
    for case, middle, total in _middles(lent):
        train = middle <= total * shares[0] / (shares[0] + shares[1])
        split, method = ("train", "given") if train else ("dev", "held_out")
        case |= {"split": split, "method": method}


def _middles(groups: list[list[Case]]) -> Iterator[tuple[Case, float, int]]:
    """Yield each case, the number of cases before its group's middle, and that of all cases."""
    before, total = 0, sum(map(len, groups))
    for members in groups:
        for case in members:
            yield case, before + len(members) / 2, total
        before += len(members)


def _summary(cases: list[Case]) -> dict[str, Any]:
    """Return the number of cases, and their first and last date."""
    dates = sorted(str(case["date"]) for case in cases if case["date"]) or [None]
    return {"cases": len(cases), "first_date": dates[0], "last_date": dates[-1]}
