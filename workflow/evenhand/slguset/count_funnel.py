"""Count the sentences that each step removed, from all that were read to those accepted."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from evenhand.core.stage import Input, Output
from evenhand.core.tables import Row, Table, integer, share, text, write_tables
from evenhand.io.quarantine import ROWS_PER_REASON
from evenhand.io.tables import read_columns, read_rows
from evenhand.slguset.verdicts import ACCEPTED

FUNNEL = Table(
    "funnel",
    title="How many sentences fell at which step",
    key=("step", "reason"),
    columns=(
        text("step", "read, keyword, duplicate, rejected or accepted"),
        text("reason", "Of the rejected sentences"),
        integer("sentences"),
        share("share", "Of all sentences read"),
    ),
    form="",
)

QUARANTINE = Table(
    "quarantine",
    title="What of the corpus could not be read, and why",
    key=(),
    columns=(
        *map(text, ("reason", "file")),
        integer("position"),
        *map(text, ("unit", "detail")),
        integer("parts", "How many parts the row stands for"),
    ),
)

#: The verdicts of `find_keywords`, in the order in which it gives them.
KEYWORD_REASONS = [
    "several_keywords",
    "no_keyword",
    "unfinished",
    "length",
    "deny_listed",
    "not_a_gender_term",
]


def count_funnel(
    *,
    candidates: Input,
    counts: list[Input],
    out: Output,
    quarantine: list[Input] | None = None,
    reasons: list[str] | None = None,
    not_read: list[str] | None = None,
) -> dict[str, Any]:
    """Count the sentences that each step removed, from all that were read to those accepted.

    Rows: `read` (all sentences), `keyword` (those with the characters of a keyword),
    `duplicate` (those of the latter that repeat another one exactly), `rejected` (one row per
    reason), `accepted`. The shares are of all sentences read. A sentence counts once, under its
    verdict, which is the first reason that applies. Unreadable data are not sentences; the
    tables of quarantined lines and records list them, and the stage returns their number.

    Parameters
    ----------
    candidates : Path
        candidates.parquet.
    counts : list of Path
        The shards' counts.json.
    out : Path
        The folder of the tables: funnel, and quarantine by reason, file and position. The first
        `ROWS_PER_REASON` parts of one reason in one file have rows of their own, and the others
        share one.
    quarantine : list of Path, optional
        The shards' tables of unreadable data (`evenhand.io.quarantine`).
    reasons : list of str, optional
        The filters' reasons in the order of their rows; reasons that are not named come after
        these, in alphabetical order.
    not_read : list of str, optional
        Files that were left out before any was read, as `evenhand.plan_slguset` lists them: JSON
        with reason, file, detail, and parts (the number of files in a row).

    Returns
    -------
    dict
        read, keyword, duplicates, rejected, accepted (sentences), quarantined (lines,
        records and files), quarantined_by_reason.
    """
    shards = [json.loads(path.read_text(encoding="utf-8")) for path in counts]
    read = sum(shard["sentences"] for shard in shards)
    keyword = sum(shard["keyword_sentences"] for shard in shards)
    skipped = [json.loads(row) | {"position": None, "unit": "file"} for row in not_read or []]
    quarantined = sum((Counter(shard["quarantined"]) for shard in shards), Counter())
    for row in skipped:
        quarantined[row["reason"]] += row["parts"]
    sentences = read_columns(candidates, ["verdict", "copies"])
    groups = pc.value_counts(sentences["verdict"]).to_pylist()
    verdicts = Counter({group["values"]: group["counts"] for group in groups})
    copies = pc.sum(sentences["copies"]).as_py() or 0
    if copies != keyword or keyword > read:
        raise RuntimeError(
            f"{candidates} has {copies} sentences with copies; the shards read {keyword} with a"
            f" keyword among {read}"
        )
    accepted = verdicts.pop(ACCEPTED, 0)
    duplicates = copies - accepted - verdicts.total()
    order = [*KEYWORD_REASONS, *(reasons or [])]
    order += sorted(set(verdicts) - set(order))
    rows = [
        ("read", None, read),
        ("keyword", None, keyword),
        ("duplicate", None, duplicates),
        *(("rejected", reason, verdicts[reason]) for reason in order if reason in verdicts),
        ("accepted", None, accepted),
    ]
    funnel = [
        {"step": step, "reason": reason, "sentences": count}
        | {"share": round(count / read, 8) if read else None}
        for step, reason, count in rows
    ]
    write_tables(out, [(FUNNEL, funnel), (QUARANTINE, _quarantine(quarantine or [], skipped))])
    return {
        "read": read,
        "keyword": keyword,
        "duplicates": duplicates,
        "rejected": verdicts.total(),
        "accepted": accepted,
        "quarantined": quarantined.total(),
        "quarantined_by_reason": dict(sorted(quarantined.items())),
    }


def _quarantine(tables: list[Path], skipped: list[dict[str, Any]]) -> Iterator[Row]:
    """Yield the rows of unreadable data, independent of the division into shards."""
    read = (row for table in tables for row in read_rows(table))
    rows = sorted(chain(read, skipped), key=_place)
    for _, group in groupby(rows, key=lambda row: _place(row)[:3]):
        single: list[dict[str, Any]] = []
        others: list[dict[str, Any]] = []
        for row in group:
            alone = row["parts"] == 1 and len(single) < ROWS_PER_REASON
            (single if alone else others).append(row)
        yield from single
        if others:
            parts = sum(row["parts"] for row in others)
            yield others[0] | {"detail": f"{parts} in all from here on", "parts": parts}


def _place(row: dict[str, Any]) -> tuple[str, str, str, int, str]:
    return row["reason"], row["file"], row["unit"], row["position"] or 0, row["detail"]
