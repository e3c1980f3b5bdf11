"""Sentences without duplicates, sorted by id, in bounded memory."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from evenhand.errors import InputError
from evenhand.io.tables import BATCH_ROWS
from evenhand.slguset.surface_pairs import SENTENCES

#: The distinct sentences, and their characters, that are held before DuckDB takes them.
MOST_SENTENCES = 100_000
MOST_CHARACTERS = 8_000_000

#: What DuckDB may hold in memory while it sorts the sentences of a shard, and of all shards; the
#: rest of the rows waits on the disk.
SHARD_MEMORY, SORT_MEMORY = "128MB", "384MB"

#: Text is compared by its bytes, hence by code points: the locale has no effect.
MERGE = """
SELECT * REPLACE (CAST(sum(copies) OVER same AS BIGINT) AS copies), {differ} AS contradicted
FROM rows
WINDOW same AS (PARTITION BY sentence_id)
QUALIFY row_number() OVER (PARTITION BY sentence_id ORDER BY source, source_position) = 1
ORDER BY sentence_id
"""


def sentence_id(sentence: str) -> str:
    """Return the sentence's id, 16 hex digits: BLAKE2b-8 of its UTF-8."""
    return blake2b(sentence.encode(), digest_size=8).hexdigest()


def distinct(
    occurrences: Iterable[tuple[str, str, int]], most_sentences: int = MOST_SENTENCES
) -> Iterator[pa.RecordBatch]:
    """Yield each sentence once, with its number of occurrences, as batches of `SENTENCES`.

    Parameters
    ----------
    occurrences : iterable of (str, str, int)
        Sentences, each with its source and its position there. Of several sources the least is
        kept (by name, then by position), so that the result does not depend on the order.
    most_sentences : int
        How many are held before they are passed on to be merged.
    """
    batches = _held(occurrences, most_sentences)
    first, second = next(batches), next(batches, None)
    if second is None and pc.count_distinct(first["sentence_id"]).as_py() == len(first):
        rows = first.sort_by("sentence_id")
        yield from (rows.slice(at, BATCH_ROWS) for at in range(0, len(rows), BATCH_ROWS))
    else:  # DuckDB takes 1.7 GB of addresses, and 85 MB of memory
        batches = chain([first], [] if second is None else [second], batches)
        yield from merged(batches, SENTENCES, ("sentence",), SHARD_MEMORY)


def _held(occurrences: Iterable[tuple[str, str, int]], most: int) -> Iterator[pa.RecordBatch]:
    held: dict[str, tuple[str, int, int]] = {}
    characters = 0
    for sentence, source, position in occurrences:
        place, copies = (source, position), 0
        if known := held.get(sentence):
            place, copies = min(known[:2], place), known[2]
        else:
            characters += len(sentence)
        held[sentence] = (*place, copies + 1)
        if len(held) >= most or characters >= MOST_CHARACTERS:
            yield _batch(held)
            held, characters = {}, 0
    yield _batch(held)


def _batch(held: dict[str, tuple[str, int, int]]) -> pa.RecordBatch:
    rows = [(sentence_id(sentence), sentence, *others) for sentence, others in held.items()]
    columns = zip(*rows, strict=True) if rows else [[]] * len(SENTENCES)
    return pa.RecordBatch.from_arrays([*map(list, columns)], schema=SENTENCES)


def merged(
    batches: Iterable[pa.RecordBatch],
    columns: pa.Schema,
    constant: Sequence[str],
    memory: str = SORT_MEMORY,
) -> Iterator[pa.RecordBatch]:
    """Yield one row per sentence_id, sorted: that of the least source, with all copies.

    Batches have exactly `BATCH_ROWS` rows, but for the last: row groups, and so the bytes of a
    file, do not depend on how the rows came. The rows beyond `memory` are in the folder for
    temporary files.

    Raises
    ------
    InputError
        Two rows of a sentence_id differ in one of the columns `constant`.
    """
    import duckdb

    failures: list[Exception] = []

    def kept_failures() -> Iterator[pa.RecordBatch]:
        """Yield the batches, and keep an error: DuckDB replaces it by one of its own."""
        try:
            yield from batches
        except Exception as error:
            failures.append(error)
            raise

    rows = pa.RecordBatchReader.from_batches(columns, kept_failures())
    differ = " OR ".join(f"min({name}) OVER same <> max({name}) OVER same" for name in constant)
    with tempfile.TemporaryDirectory(prefix="evenhand-merge-") as folder:
        config = {"memory_limit": memory, "threads": 1, "temp_directory": folder}
        with duckdb.connect(config=config) as connection:
            connection.register("rows", rows)
            try:
                for batch in connection.sql(MERGE.format(differ=differ)).to_arrow_reader(
                    BATCH_ROWS
                ):
                    if pc.any(batch["contradicted"]).as_py():
                        index = pc.index(batch["contradicted"], True).as_py()
                        raise InputError(
                            f"two shards differ in sentence {batch['sentence_id'][index]}",
                            remedy="remove the results of the stages before and run the workflow"
                            " again",
                        )
                    yield batch.drop_columns("contradicted").cast(columns)
            except duckdb.Error as error:
                if failures:
                    raise failures[0] from error
                raise
