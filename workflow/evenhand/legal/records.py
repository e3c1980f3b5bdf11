"""The common form of the cases of all sources: `Record`, a row of ``records.parquet``."""

import datetime
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

import pyarrow as pa

from evenhand.io.tables import read_rows, schema_of, write_table

_PARAGRAPHS = pa.list_(pa.string())

RECORD = schema_of(
    case_id="string",
    source="string",
    source_position="int64",
    date="date32",
    title="string",
    language="string",
    split="string",
    text=_PARAGRAPHS,
    context=_PARAGRAPHS,
    labels=_PARAGRAPHS,
    given=pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())])),
)

#: Cases held in memory at once: some have a million characters.
BATCH_CASES = 256

#: Parts of a data set.
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, kw_only=True)
class Record:
    """A case of a source.

    Attributes
    ----------
    case_id : str
        Unique in a data set and the same whatever else is read (HUDOC's item id, SCDB's case
        id; a digest of the text where the source has none).
    source : str
        The file's name, with ``!member`` for archives.
    source_position : int
        Line or record from 1; 1 for a file that is one case.
    date : date or None
        Of the judgment.
    title, language : str or None
        The name of the case; an ISO 639-1 code.
    split : str or None
        One of `SPLITS`, where the source itself divides its cases.
    text : tuple of str
        The paragraphs of the facts, and of nothing from which the outcome could be read.
    context : tuple of str
        Paragraphs in which attributes may be looked for and that never enter `text`.
    labels : tuple of str or None
        Names of `Dataset.labels`, in their order; () is a case to which none applies, None one
        whose source does not state them.
    metadata : dict of str to str
        Metadata of the source that attributes are read from; the column ``given``.
    without_group : tuple of str
        Attributes that lack a group because their value gives no single one. Counted, not written.
    unit : str
        What `source_position` counts: a unit of the quarantine. Not written.
    """

    case_id: str
    source: str
    source_position: int
    text: tuple[str, ...]
    date: datetime.date | None = None
    title: str | None = None
    language: str | None = None
    split: str | None = None
    context: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    metadata: dict[str, str]
    without_group: tuple[str, ...] = ()
    unit: str = "record"


def text_id(text: tuple[str, ...]) -> str:
    """Return 16 hex digits that depend on the text alone: BLAKE2b-8 of the paragraphs as lines."""
    return blake2b("\n".join(text).encode(), digest_size=8).hexdigest()


def write_records(
    path: Path, records: Iterable[Record], metadata: Callable[[], dict[str, str]] | None = None
) -> int:
    """Write records as they come, in the order of the files that they were read from."""
    return write_table(path, RECORD, map(_row, records), BATCH_CASES, metadata)


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a file."""
    for row in read_rows(path, batch_rows=BATCH_CASES):
        metadata = {entry["name"]: entry["value"] for entry in row.pop("given")}
        for name in ("text", "context", "labels"):
            row[name] = None if row[name] is None else tuple(row[name])
        yield Record(**row, metadata=metadata)


def tables_of(module: ModuleType, paths: list[Path]) -> dict[str, Path]:
    """Return the tables that a format or an attribute reads, by name."""
    tables = {path.stem: path for path in paths}
    return {name: tables[name] for name in getattr(module, "TABLES", ())}


def read_distinct(paths: list[Path]) -> Iterator[Record]:
    """Yield the records of several files; of several with the same case id, the first."""
    seen: set[str] = set()
    for path in paths:
        for record in read_records(path):
            if record.case_id not in seen:
                seen.add(record.case_id)
                yield record


def _row(record: Record) -> dict:
    if record.split not in (None, *SPLITS):
        raise ValueError(f"the case {record.case_id} is in the split {record.split}")
    row = asdict(record)
    del row["without_group"], row["unit"]
    metadata = sorted(row.pop("metadata").items())
    return row | {"given": [{"name": name, "value": value} for name, value in metadata]}
