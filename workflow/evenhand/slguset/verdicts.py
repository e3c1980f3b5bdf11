"""The one way in which filters read keyword rows and write their verdicts.

A filter judges each accepted row of a keywords table. What it writes is one row per judged
row, in the same order: sentence_id, reason (a fixed word; null if the sentence passes) and
evidence (the words that gave the reason, joined by ``、``; null if none).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from evenhand.io.tables import read_batches, write_batches

VERDICTS = pa.schema(
    [
        pa.field("sentence_id", pa.string(), nullable=False),
        pa.field("reason", pa.string()),
        pa.field("evidence", pa.string()),
    ]
)

#: The verdict of `find_keywords` on sentences that go on to the filters.
ACCEPTED = "accepted"


class Finding(NamedTuple):
    """Why a filter drops a sentence."""

    reason: str
    evidence: Sequence[str] = ()


def write_verdicts(
    keywords: Path,
    out: Path,
    check: Callable[..., Finding | None],
    columns: Sequence[str] = ("sentence",),
) -> dict[str, Any]:
    """Judge each accepted row by itself.

    Parameters
    ----------
    keywords : Path
        A keywords table.
    out : Path
        The filter's table (`VERDICTS`).
    check : callable
        Gets the values of `columns` of one row, in that order; returns None if the sentence
        passes.
    columns : sequence of str
        Columns of the keywords table.

    Returns
    -------
    dict
        sentences (rows judged), passed, reasons (rows per reason, by reason).
    """

    def judge(*values: list[Any]) -> Iterable[Finding | None]:
        return map(check, *values)

    return write_verdicts_in_batches(keywords, out, judge, columns)


def write_verdicts_in_batches(
    keywords: Path,
    out: Path,
    check: Callable[..., Iterable[Finding | None]],
    columns: Sequence[str] = ("sentence",),
) -> dict[str, Any]:
    """Judge many accepted rows at a time.

    As `write_verdicts`, but `check` gets one list per column, all of one length (32,768 rows
    at most), and returns as many findings in the same order.
    """
    reasons: Counter[str | None] = Counter()

    def batches() -> Iterator[pa.RecordBatch]:
        for ids, values in _accepted(keywords, columns):
            findings = list(check(*values))
            if len(findings) != len(ids):
                raise ValueError(f"{len(findings)} findings for {len(ids)} sentences")
            reasons.update(f and f.reason for f in findings)
            yield pa.RecordBatch.from_arrays(
                [
                    ids,
                    pa.array([f and f.reason for f in findings], pa.string()),
                    pa.array([_evidence(f) for f in findings], pa.string()),
                ],
                schema=VERDICTS,
            )

    rows = write_batches(out, VERDICTS, batches())
    passed = reasons.pop(None, 0)
    return {"sentences": rows, "passed": passed, "reasons": dict(sorted(reasons.items()))}


def _accepted(keywords: Path, columns: Sequence[str]) -> Iterator[tuple[pa.Array, list[list]]]:
    wanted = list(dict.fromkeys(["sentence_id", "verdict", *columns]))
    for batch in read_batches(keywords, wanted):
        accepted = batch.filter(pc.equal(batch["verdict"], ACCEPTED))
        if accepted.num_rows:
            yield accepted["sentence_id"], [accepted[name].to_pylist() for name in columns]


def _evidence(finding: Finding | None) -> str | None:
    if finding is None or not finding.evidence:
        return None
    return "、".join(dict.fromkeys(finding.evidence))
