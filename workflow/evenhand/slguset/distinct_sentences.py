"""Sentences without duplicates, sorted by id, in bounded memory."""

import heapq
import tempfile
from collections.abc import Iterator
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pyarrow as pa

#: The columns of a table of sentences.
SCHEMA = pa.schema(
    [
        ("sentence_id", pa.string()),
        ("sentence", pa.string()),
        ("source", pa.string()),
        ("source_position", pa.int64()),
        ("copies", pa.int64()),
    ]
)

#: What is held before a sorted run is written to disk: about 100 MB.
MOST_SENTENCES = 200_000
MOST_CHARACTERS = 16_000_000

#: Rows of each run in memory while runs are merged.
_BATCH_ROWS = 1024

_Row = tuple[str, str, str, int, int]


def sentence_id(sentence: str) -> str:
    """Return the sentence's id, 16 hex digits: BLAKE2b-8 of its UTF-8."""
    return blake2b(sentence.encode(), digest_size=8).hexdigest()


class DistinctSentences:
    """Collect sentences; return each once, sorted by id, with the number of its copies.

    Of several sources the least is kept (by name, then by position), so that the result does
    not depend on the order of the files. Sentences beyond `most_sentences` or `MOST_CHARACTERS`
    are written as sorted runs to a temporary folder in `folder`.
    """

    def __init__(self, folder: Path, most_sentences: int = MOST_SENTENCES) -> None:
        self.added = 0
        self._folder = folder
        self._most_sentences = most_sentences
        self._held: dict[str, tuple[str, int, int]] = {}
        self._characters = 0
        self._runs: tempfile.TemporaryDirectory[str] | None = None
        self._n_runs = 0

    def add(self, sentence: str, source: str, position: int) -> None:
        """Add one occurrence of a sentence."""
        self.added += 1
        held = self._held.get(sentence)
        if held is None:
            self._held[sentence] = (source, position, 1)
            self._characters += len(sentence)
            if len(self._held) >= self._most_sentences or self._characters >= MOST_CHARACTERS:
                self._spill()
        else:
            place = min(held[:2], (source, position))
            self._held[sentence] = (*place, held[2] + 1)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The sentences as record batches of `SCHEMA`; the collection is empty afterwards."""
        rows: Iterator[_Row] = self._sorted_held()
        if self._runs is not None:
            runs = [_read_run(self._run(number)) for number in range(self._n_runs)]
            rows = _merge(heapq.merge(*runs, rows, key=itemgetter(0)))
        yield from _batches(rows)
        self.close()

    def close(self) -> None:
        """Remove all sentences and the runs."""
        self._held, self._characters = {}, 0
        if self._runs is not None:
            self._runs.cleanup()
            self._runs = None

    def _sorted_held(self) -> Iterator[_Row]:
        ids = sorted((sentence_id(sentence), sentence) for sentence in self._held)
        return ((id, sentence, *self._held[sentence]) for id, sentence in ids)

    def _spill(self) -> None:
        if self._runs is None:
            self._runs = tempfile.TemporaryDirectory(dir=self._folder, prefix=".runs-")
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(self._run(self._n_runs), SCHEMA, options=options) as writer:
            for batch in _batches(self._sorted_held()):
                writer.write_batch(batch)
        self._n_runs += 1
        self._held, self._characters = {}, 0

    def _run(self, number: int) -> str:
        return f"{self._runs.name}/{number}.arrow"


def _batches(rows: Iterator[_Row]) -> Iterator[pa.RecordBatch]:
    columns: list[list[str | int]] = [[] for _ in SCHEMA]
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            column.append(value)
        if len(columns[0]) == _BATCH_ROWS:
            yield pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
            columns = [[] for _ in SCHEMA]
    if columns[0]:
        yield pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _read_run(path: str) -> Iterator[_Row]:
    with pa.OSFile(path) as file, pa.ipc.open_stream(file) as reader:
        for batch in reader:
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _merge(rows: Iterator[_Row]) -> Iterator[_Row]:
    """Rows of the same id become one."""
    for id, same in groupby(rows, key=itemgetter(0)):
        (_, sentence, source, position, copies), *others = same
        for _, other, other_source, other_position, more in others:
            if other != sentence:
                raise RuntimeError(f"two sentences have the id {id}: {sentence!r}, {other!r}")
            source, position = min((source, position), (other_source, other_position))
            copies += more
        yield id, sentence, source, position, copies
