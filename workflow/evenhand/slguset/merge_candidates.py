"""Merge all shards into one table of candidates, each sentence once, each with its verdict."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import BATCH_ROWS, read_batches, read_table_schema, write_batches
from evenhand.slguset import keyword_tables
from evenhand.slguset.verdicts import ACCEPTED, FINDINGS
from evenhand.text.near_duplicates import characters, find_near_duplicates


def schema(keywords: pa.Schema = keyword_tables.SCHEMA) -> pa.Schema:
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

#: What DuckDB may hold in memory while it sorts; the rest of the rows waits on the disk.
SORT_MEMORY = "384MB"


def merge_candidates(
    *,
    judged: list[Input],
    out: Output,
    near_duplicates: float | None = None,
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
        There is no table, two shards contradict each other, or `near_duplicates` is out of range.
    """
    if not judged:
        raise InputError("there is no shard", remedy="give a corpus with one file at least")
    if near_duplicates is not None and not 0 < near_duplicates <= 1:
        raise InputError(
            f"near_duplicates is {near_duplicates}",
            remedy="give a similarity above 0 and up to 1, or none",
        )
    columns = schema(read_table_schema(judged[0]))
    read: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="evenhand-merge-") as name:
        folder = Path(name)
        decided = (_decided(batch) for path in judged for batch in read_batches(path))
        rows = rebatched(deduplicated(_sorted(_counted(decided, read), folder, columns)))
        if near_duplicates is not None:
            merged = folder / "merged.parquet"
            write_batches(merged, columns, rows)
            rows = _without(merged, _near_duplicates(merged, near_duplicates))
        written = write_batches(out, columns, _tallied(rows, verdicts))
    copies = verdicts.pop("copies", 0)
    if copies != read["copies"] or verdicts.total() != written:
        raise RuntimeError(f"{read['copies']} copies were read, but {copies} were written")
    return {
        "read": read["rows"],
        "duplicates": read["rows"] - written,
        "sentences": written,
        "verdicts": dict(sorted(verdicts.items())),
    }


def _decided(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of a shard in the columns of `SCHEMA`: the first finding is the verdict."""
    decisions: dict[str, list[Any]] = {name: [] for name in DECISION}
    for verdict, findings in zip(
        batch["verdict"].to_pylist(), batch["findings"].to_pylist(), strict=True
    ):
        rejected = [] if verdict == ACCEPTED else [verdict]
        decisions["verdict"].append(findings[0]["reason"] if findings else verdict)
        decisions["reasons"].append([*dict.fromkeys(f["reason"] for f in findings)] or rejected)
        decisions["evidence"].append(findings[0]["evidence"] if findings else None)
    return _with_decisions(batch, decisions)


def _with_decisions(batch: pa.RecordBatch, decisions: dict[str, list[Any]]) -> pa.RecordBatch:
    made = schema(batch.schema)
    columns = [batch[name] for name in made.names if name not in decisions]
    columns += [pa.array(values, made.field(name).type) for name, values in decisions.items()]
    return pa.record_batch(columns, schema=made)


def _counted(batches: Iterable[pa.RecordBatch], read: Counter[str]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        read["rows"] += batch.num_rows
        read["copies"] += pc.sum(batch["copies"]).as_py() or 0
        yield batch


def _tallied(batches: Iterable[pa.RecordBatch], verdicts: Counter[str]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        verdicts["copies"] += pc.sum(batch["copies"]).as_py() or 0
        for one in pc.value_counts(batch["verdict"]).to_pylist():
            verdicts[one["values"]] += one["counts"]
        yield batch


def _sorted(
    batches: Iterable[pa.RecordBatch], folder: Path, columns: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows sorted by sentence_id, source, source_position, on disk in `folder`."""
    import duckdb

    failures: list[InputError] = []

    def kept_failures() -> Iterator[pa.RecordBatch]:
        """Yield the batches, and keep our error: DuckDB replaces it by one of its own."""
        try:
            yield from batches
        except InputError as error:
            failures.append(error)
            raise

    reader = pa.RecordBatchReader.from_batches(columns, kept_failures())
    config = {"memory_limit": SORT_MEMORY, "threads": 1, "temp_directory": str(folder)}
    with duckdb.connect(config=config) as connection:
        connection.register("decided", reader)
        # Text is compared by its bytes, hence by code points: no locale has a say in it.
        query = "SELECT * FROM decided ORDER BY sentence_id, source, source_position NULLS LAST"
        try:
            for batch in connection.sql(query).to_arrow_reader(BATCH_ROWS):
                yield batch.cast(columns)
        except duckdb.Error as error:
            if failures:
                raise failures[0] from error
            raise


def deduplicated(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Keep the first row of each sentence_id, with the sum of its copies.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Rows in the columns of `SCHEMA`, rows of one sentence_id side by side.

    Yields
    ------
    pyarrow.RecordBatch
        Rows in the same order; batches of any size.

    Raises
    ------
    InputError
        Two rows with one sentence_id differ in sentence or verdict.
    """
    held = None  # the last sentence of a batch may go on in the next one
    for batch in batches:
        if not batch.num_rows:
            continue
        rows = pa.concat_batches([held, batch]) if held is not None else batch
        ids = rows["sentence_id"]
        new = np.append(True, pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False))
        starts = np.flatnonzero(new)
        _check_same(rows, new, starts)
        copies = np.add.reduceat(rows["copies"].to_numpy(), starts)
        firsts = rows.take(pa.array(starts)).set_column(
            rows.schema.get_field_index("copies"),
            SCHEMA.field("copies"),
            pa.array(copies, pa.int64()),
        )
        held = firsts.slice(firsts.num_rows - 1)
        yield firsts.slice(0, firsts.num_rows - 1)
    if held is not None:
        yield held


def _check_same(rows: pa.RecordBatch, new: np.ndarray, starts: np.ndarray) -> None:
    """Raise InputError unless rows of one sentence_id agree in sentence, verdict and evidence."""
    again = np.flatnonzero(~new)
    if not again.size:
        return
    first = starts[np.cumsum(new)[again] - 1]
    for name in ("sentence", "verdict", "evidence"):
        column = rows[name].fill_null("")
        same = pc.equal(column.take(pa.array(again)), column.take(pa.array(first)))
        if not pc.all(same).as_py():
            one = rows["sentence_id"][int(again[pc.index(same, False).as_py()])].as_py()
            raise InputError(
                f"two shards give sentence {one} with different values of {name}",
                remedy="remove the results of the stages before and run the workflow again",
            )


def rebatched(
    batches: Iterable[pa.RecordBatch], size: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of exactly `size` rows, but for the last.

    Row groups, and so the bytes of a file, then do not depend on how the rows came.
    """
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        while count >= size:
            rows = pa.concat_batches(waiting)
            yield pa.concat_batches([rows.slice(0, size)])
            waiting, count = [rows.slice(size)], count - size
    if count:
        yield pa.concat_batches(waiting)


def _accepted(path: Path) -> Iterator[tuple[str, str]]:
    """(sentence_id, sentence) of the accepted rows, in order."""
    columns = ["sentence_id", "sentence", "verdict"]
    for batch in read_batches(path, columns):
        rows = batch.filter(pc.equal(batch["verdict"], ACCEPTED))
        yield from zip(rows["sentence_id"].to_pylist(), rows["sentence"].to_pylist(), strict=True)


def _near_duplicates(path: Path, threshold: float) -> dict[str, str]:
    """The id of each accepted sentence that is rejected, and of the one that is kept for it."""
    found = find_near_duplicates(
        lambda: (characters(sentence) for _, sentence in _accepted(path)), threshold
    )
    kept_for = found.kept_for()
    ids = [one for one, _ in _accepted(path)]
    return {ids[one]: ids[kept] for one, kept in kept_for.items()}


def _without(path: Path, kept_for: dict[str, str]) -> Iterator[pa.RecordBatch]:
    """The rows of a merged table, near duplicates (id: id of the kept one) rejected."""
    for batch in read_batches(path):
        decisions = {name: batch[name].to_pylist() for name in DECISION}
        for row, one in enumerate(batch["sentence_id"].to_pylist()):
            if one in kept_for:
                (decisions["verdict"][row],) = decisions["reasons"][row] = list(REASONS)
                decisions["evidence"][row] = kept_for[one]
        yield _with_decisions(batch, decisions)


if __name__ == "__main__":
    stage.run(merge_candidates)
