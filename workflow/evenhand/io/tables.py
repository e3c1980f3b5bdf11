"""Read and write Parquet files, streamed and atomically.

A table holds data only, and its bytes depend on the data only: not on how a corpus was cut
into shards, nor on the code that wrote them, so that a stage after a changed one can be
served from the run cache if the table is unchanged. Its provenance is kept beside it
(see `evenhand.core.stage` and `results/provenance.json`, which names each file by its SHA-256).
Its pages have checksums, without which damage may read as other numbers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.files import atomic
from evenhand.core.whole import COPY, check_file
from evenhand.errors import InputError

#: How every file is written, by whichever writer of pyarrow.
FORM = {"compression": "zstd", "write_page_checksum": True}

#: Rows per row group, and per batch read: bounds the memory of a job.
BATCH_ROWS = 32_768


def write_table(
    path: Path,
    schema: pa.Schema,
    rows: Iterable[dict[str, Any]],
    batch_rows: int | None = None,
    metadata: Callable[[], dict[str, str]] | None = None,
) -> int:
    """Write rows (dicts with exactly the schema's columns) as a stream; return their number.

    The file appears when the last row is written. Rows that are whole documents need smaller
    batches (`batch_rows`). `metadata` is called after the last row, for values known only then.
    """
    columns = set(schema.names)

    def batches() -> Iterator[pa.RecordBatch]:
        batch: list[dict[str, Any]] = []
        for row in rows:
            if row.keys() != columns:  # pyarrow drops unknown columns, and fills with null
                raise ValueError(f"row has the columns {list(row)}, not {schema.names}")
            batch.append(row)
            if len(batch) == (batch_rows or BATCH_ROWS):
                yield pa.RecordBatch.from_pylist(batch, schema)
                batch = []
        if batch:
            yield pa.RecordBatch.from_pylist(batch, schema)

    return write_batches(path, schema, batches(), metadata)


def schema_of(**types: pa.DataType | str) -> pa.Schema:
    """Return the schema of columns by name; a type of PyArrow may be given by its name."""
    return pa.schema(types)


def read_arrow(path: Path, columns: Sequence[str], made_by: str) -> pa.Table:
    """Return the table in an Arrow file, mapped into memory: nothing is copied.

    Raises
    ------
    InputError
        It is no Arrow file, or has other columns than the stage `made_by` writes.
    """
    try:
        with pa.memory_map(str(path)) as stream, pa.ipc.open_file(stream) as file:
            table = file.read_all()
    except pa.ArrowInvalid as error:
        raise InputError("is no Arrow file", file=path) from error
    if table.column_names != [*columns]:
        raise InputError(f"has other columns than {made_by} writes", file=path)
    return table


def write_batches(
    path: Path,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    metadata: Callable[[], dict[str, str]] | None = None,
) -> int:
    """Write record batches as a stream; return the number of rows. See `write_table`."""
    written = 0
    with atomic(path) as partial, pq.ParquetWriter(partial, schema, **FORM) as writer:
        for batch in batches:
            writer.write_batch(batch)
            written += batch.num_rows
        if metadata:
            writer.add_key_value_metadata(metadata())
    return written


def read_rows(
    path: Path, columns: list[str] | None = None, batch_rows: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file as dicts, in order, with one batch in memory at a time.

    Raises
    ------
    InputError
        It is no Parquet file, or it is damaged.
    """
    for batch in read_batches(path, columns, batch_rows):
        yield from batch.to_pylist()


def read_batches(
    path: Path, columns: list[str] | None = None, batch_rows: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of a Parquet file, `batch_rows` long; some columns, or all.

    Raises
    ------
    InputError
        It is no Parquet file, or it is damaged.
    """
    with opened(path) as file:
        yield from file.iter_batches(batch_size=batch_rows or BATCH_ROWS, columns=columns)


@contextmanager
def opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Yield an open Parquet file, for reading in parts.

    Raises
    ------
    InputError
        It is no Parquet file, or the part that the block reads is damaged.
    """
    with _readable(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        yield file


def read_columns(
    path: Path, columns: Sequence[str] | None = None, remedy: str | None = None
) -> pa.Table:
    """Return these columns of a Parquet file, or all.

    Raises
    ------
    InputError
        It is no Parquet file, lacks one of them, or is damaged.
    """
    count_rows(path, columns or (), remedy)
    chosen = None if columns is None else list(columns)
    with _readable(path):
        return pq.read_table(path, columns=chosen, page_checksum_verification=True)


def read_table_schema(path: Path) -> pa.Schema:
    """Return the columns of a Parquet file.

    Raises
    ------
    InputError
        It is no Parquet file.
    """
    with opened(path) as file:
        return file.schema_arrow.remove_metadata()


def count_rows(path: Path, columns: Sequence[str] = (), remedy: str | None = None) -> int:
    """Return the number of rows of a Parquet file that has at least these columns.

    Raises
    ------
    InputError
        It is no Parquet file, or lacks one of them.
    """
    with _readable(path):
        metadata = pq.read_metadata(path)
        names = metadata.schema.to_arrow_schema().names
    if missing := [name for name in columns if name not in names]:
        raise InputError(f"lacks the column {missing[0]}", file=path, remedy=remedy)
    return metadata.num_rows


#: The first and the last bytes of a Parquet file.
MARK = b"PAR1"


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise an error that names the unreadable file."""
    check_file(path)
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError("has a name that is not UTF-8", file=path, remedy="rename it") from error
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        with path.open("rb") as stream:
            first = stream.read(len(MARK))
            stream.seek(-len(first), 2)
            last = stream.read()
        if first == MARK != last:
            problem = "is a Parquet file that is cut off"
            raise InputError(problem, file=path, remedy=COPY) from error
        raise InputError("is not a Parquet file", file=path) from error
    except OSError as error:
        if error.errno is not None:  # of the file system, which names the file
            raise
        problem = f"is damaged: {(str(error).splitlines() or ['it cannot be read'])[0]}"
        remedy = "remove it and make it again, or get it anew"
        raise InputError(problem, file=path, remedy=remedy) from error
