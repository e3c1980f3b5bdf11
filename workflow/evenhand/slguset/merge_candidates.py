"""Merge all shards into one table of candidates, each sentence once, each with its verdict."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evenhand.core.stage import Input, Output, Share, checked
from evenhand.io.tables import read_batches, read_table_schema, write_batches
from evenhand.slguset import surface_pairs
from evenhand.slguset.distinct_sentences import merged
from evenhand.slguset.verdicts import ACCEPTED, FINDINGS
from evenhand.text.near_duplicates import characters, find_near_duplicates


def schema(keywords: pa.Schema = surface_pairs.SCHEMA) -> pa.Schema:
    """Return the columns of candidates.parquet, for a keywords table with or without findings."""
    others = (FINDINGS.name, "reasons", "evidence")
    columns = [field for field in keywords if field.name not in others]
    return pa.schema([*columns, ("reasons", pa.list_(pa.string())), ("evidence", pa.string())])


#: The columns for gender, one keyword a sentence.
SCHEMA = schema()

#: Those that do not come from the keyword tables as they are.
DECISION = ("verdict", "reasons", "evidence")

#: Why the merge itself rejects a sentence.
REASONS = {
    "near_duplicate": (
        "Almost said before",
        "Another sentence that is kept says nearly the same; the evidence is its id.",
    )
}


@checked
def merge_candidates(
    *, judged: list[Input], out: Output, near_duplicates: Share | None = None
) -> dict[str, Any]:
    """Merge all shards into one table of candidates, each sentence once, each with its verdict.

    A sentence of several shards becomes one row: its copies are summed, and its
    source is the smallest (source, source_position), so that the result does not depend on
    how the corpus was cut. The verdict is `accepted` or the first reason in the order:
    keywords, the filters as configured, near duplicates. `reasons` lists all that apply and
    `evidence` belongs to the verdict. Rejected sentences stay. Rows are sorted by
    sentence_id. Sorting uses the folder for temporary files (TMPDIR) and less than 0.5 GB of
    memory, whatever the size of the corpus.

    Parameters
    ----------
    judged : list of Path
        The tables of `apply_filters`, one per shard.
    out : Path
        candidates.parquet.
    near_duplicates : float, optional
        Jaccard similarity of two accepted sentences' character trigrams, above 0 and up to
        1, from which the one with the larger sentence_id is rejected as `near_duplicate`,
        with the kept sentence's id as evidence. Without it, none is. It takes about 1 kB of
        memory per accepted sentence.

    Returns
    -------
    dict
        read (rows of all shards), duplicates (rows that another shard has too),
        sentences (rows written), verdicts (sentences by verdict).

    Raises
    ------
    InputError
        Two shards contradict each other.
    """
    columns = schema(read_table_schema(judged[0]))
    read: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="evenhand-merge-") as folder:
        shards = (batch for path in judged for batch in read_batches(path))
        rows = merged(_decided(shards, read), columns, ("sentence", "verdict"))
        if near_duplicates is not None:
            table = Path(folder) / "merged.parquet"
            write_batches(table, columns, rows)
            rows = _without(table, _near_duplicates(table, near_duplicates))
        written = write_batches(out, columns, _counted(rows, verdicts))
    copies = verdicts.pop("copies", 0)
    if copies != read["copies"] or verdicts.total() != written:
        raise RuntimeError(f"{read['copies']} copies were read, but {copies} were written")
    return {
        "read": read["rows"],
        "duplicates": read["rows"] - written,
        "sentences": written,
        "verdicts": dict(sorted(verdicts.items())),
    }


def _decided(shards: Iterable[pa.RecordBatch], read: Counter[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows in the columns of `SCHEMA`: the first finding is the verdict."""
    for batch in shards:
        read["rows"] += batch.num_rows
        read["copies"] += pc.sum(batch["copies"]).as_py() or 0
        decisions: dict[str, list[Any]] = {name: [] for name in DECISION}
        columns = (batch[name].to_pylist() for name in ("verdict", "word", "findings"))
        for verdict, word, findings in zip(*columns, strict=True):
            rejected = [] if verdict == ACCEPTED else [verdict]
            reasons = [*dict.fromkeys(finding["reason"] for finding in findings)]
            decisions["verdict"].append(reasons[0] if findings else verdict)
            decisions["reasons"].append(reasons or rejected)
            evidence = findings[0]["evidence"] if findings else word if rejected else None
            decisions["evidence"].append(evidence)
        yield _with_decisions(batch, decisions)


def _with_decisions(batch: pa.RecordBatch, decisions: dict[str, list[Any]]) -> pa.RecordBatch:
    columns = schema(batch.schema)
    kept = [batch[name] for name in columns.names if name not in decisions]
    made = [pa.array(values, columns.field(name).type) for name, values in decisions.items()]
    return pa.record_batch([*kept, *made], schema=columns)


def _counted(batches: Iterable[pa.RecordBatch], counts: Counter[str]) -> Iterator[pa.RecordBatch]:
    """Pass on batches, and count copies and verdicts."""
    for batch in batches:
        counts["copies"] += pc.sum(batch["copies"]).as_py() or 0
        for group in pc.value_counts(batch["verdict"]).to_pylist():
            counts[group["values"]] += group["counts"]
        yield batch


def _accepted(path: Path) -> Iterator[tuple[str, str]]:
    """(sentence_id, sentence) of the accepted rows, in order."""
    columns = ["sentence_id", "sentence", "verdict"]
    for batch in read_batches(path, columns):
        rows = batch.filter(pc.equal(batch["verdict"], ACCEPTED))
        yield from zip(rows["sentence_id"].to_pylist(), rows["sentence"].to_pylist(), strict=True)


def _near_duplicates(path: Path, threshold: float) -> dict[str, str]:
    """The id of each accepted sentence that is rejected, and of the one that is kept for it."""
    near = find_near_duplicates(
        lambda: (characters(sentence) for _, sentence in _accepted(path)), threshold
    )
    kept_for = near.kept_for()
    ids = [key for key, _ in _accepted(path)]
    return {ids[dropped]: ids[kept] for dropped, kept in kept_for.items()}


def _without(path: Path, kept_for: dict[str, str]) -> Iterator[pa.RecordBatch]:
    """The rows of a merged table, near duplicates (id: id of the kept one) rejected."""
    for batch in read_batches(path):
        decisions = {name: batch[name].to_pylist() for name in DECISION}
        for row, key in enumerate(batch["sentence_id"].to_pylist()):
            if key in kept_for:
                (decisions["verdict"][row],) = decisions["reasons"][row] = list(REASONS)
                decisions["evidence"][row] = kept_for[key]
        yield _with_decisions(batch, decisions)
