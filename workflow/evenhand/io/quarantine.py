"""Unreadable input: file, position, reason, and the number of parts behind each row."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from evenhand.core.files import path_text
from evenhand.core.limits import DETAIL, LimitError
from evenhand.errors import one_line
from evenhand.io.tables import write_table

SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        ("position", pa.int64()),
        ("unit", pa.string()),
        ("reason", pa.string()),
        ("detail", pa.string()),
        ("parts", pa.int64()),
    ]
)

#: Every reason, with its consequence.
REASONS = {
    "undecodable_bytes": "not of the file's encoding, or no character; U+FFFD stands for them",
    "unknown_encoding": "in no recognised encoding; left out from that byte on",
    "other_encoding": "not UTF-8; read in the encoding that was detected",
    "nul_bytes": "bytes (or UTF-16 units) of value 0; U+FFFD stands for them",
    "damaged_sentence": "a keyword sentence that holds U+FFFD; left out",
    "damaged_case": "a case whose text holds U+FFFD; left out",
    "empty_file": "0 bytes",
    "truncated_archive": "ends too early; what came before is used",
    "broken_archive": "not what its name says, or a wrong checksum; what came before is used",
    "unsafe_member": "absolute or climbing name, link, device or sparse file; left out",
    "hidden_member": "a name that begins with a dot, or of __MACOSX; left out",
    "nested_archive": "an archive inside an archive; left out",
    "encrypted_member": "needs a password; left out",
    "oversized_member": "longer than the limit for one file; its beginning is used",
    "oversized_line": "longer than the limit for one line; left out",
    "oversized_record": "a record or document longer than the limit; left out",
    "hidden_file": "a name that begins with a dot, or of __MACOSX; left out",
    "unreadable_file": "a link to a folder or to nothing, a pipe or a device; left out",
    "unusable_name": "a name with controls, braces or bytes of no encoding; left out",
    "unknown_format": "a suffix that names no format; left out",
    "broken_json": "not JSON; the rest is used, of an array what came before",
    "broken_csv": "not CSV; the next line begins a new record",
    "too_deep": "nested deeper than the limit; left out, of an array what comes behind it too",
    "missing_field": "a record without the field that holds the text; left out",
    "no_facts": "a case in which no facts were found; left out",
    "not_a_judgment": "a decision on admissibility, an opinion or another document; left out",
    "other_language": "a case in another language than the reader's; left out",
    "duplicate_case": "a case that was read already; left out",
    "bad_date": "what should be a date is none; the case stays without one",
    "conclusion_differs": "HUDOC's conclusion and violation name other articles; the case has both",
    "bad_label": "an outcome that is no outcome (a negative term, an unknown article); left out",
    "outside_labels": "an outcome that is not among the data set's labels; left out",
    "no_text": "a row whose text is blank; left out",
    "text_is_number": "a row whose text is a number; left out",
    "no_id": "a row whose id is blank; left out",
    "unknown_split": "a row whose split is none of train, dev and test; left out",
    "no_date": "a row without a readable date, where the split is by date; left out",
    "no_group": "a value that belongs to no group; the row stays, without a group",
    "unmatched_text": "an opinion without a row of its own in the metadata; left out",
    "unmatched_row": "a row of the metadata without a text; left out",
}

UNITS = frozenset({"line", "record", "byte", "file"})

#: Rows per file and reason; further cases are counted in one last row.
ROWS_PER_REASON = 100


class Quarantine:
    """Rows in the order in which they are added, and counts by reason.

    A broken file of a billion bytes must not become a billion rows: after
    `ROWS_PER_REASON` rows of one reason in one file, the others share a last row, which
    has the position of the first of them and their number.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._first_details: dict[str, str] = {}
        self._rows: list[tuple[str, int | None, str, str, str, int]] = []
        self._file: str | None = None
        self._in_file: Counter[tuple[str, str]] = Counter()
        self._shared: dict[tuple[str, str], tuple[int, int | None]] = {}

    def add(self, file: str, position: int | None, unit: str, reason: str, detail: str) -> None:
        """Add a case.

        Parameters
        ----------
        file : str
            The file as given, with ``!member`` for archives.
        position : int or None
            Line or record (from 1) or byte (from 0) in the decompressed file; None for the
            whole file.
        unit : str
            The unit of `position`: ``line``, ``record``, ``byte``, or ``file`` for none.
        reason : str
            One of `REASONS`.
        detail : str
            The problem, for people.
        """
        if reason not in REASONS or unit not in UNITS:
            raise ValueError(f"no such reason or unit: {reason}, {unit}")
        file, detail = path_text(file), one_line(detail, DETAIL)
        self.counts[reason] += 1
        self._first_details.setdefault(reason, detail)
        if file != self._file:
            self._file, self._in_file, self._shared = file, Counter(), {}
        self._in_file[reason, unit] += 1
        more = self._in_file[reason, unit] - ROWS_PER_REASON
        if more <= 0:
            self._rows.append((file, position, unit, reason, detail, 1))
            return
        place, first = self._shared.setdefault((reason, unit), (len(self._rows), position))
        detail = f"{more} more, the last at {position}"
        self._rows[place : place + 1] = [(file, first, unit, reason, detail, more)]

    @contextmanager
    def beyond_limits(self, file: str, position: int | None, unit: str) -> Iterator[None]:
        """Add a `LimitError` of the block as a row, and continue behind the block."""
        try:
            yield
        except LimitError as error:
            self.add(file, position, unit, error.reason, str(error))

    def first_detail(self, reason: str) -> str | None:
        """The detail of the first case of a reason, or None if there is none."""
        return self._first_details.get(reason)

    def write(self, path: Path) -> int:
        """Write the table, and return its number of rows."""
        rows = (dict(zip(SCHEMA.names, row, strict=True)) for row in self.rows())
        return write_table(path, SCHEMA, rows)

    def rows(self) -> list[tuple[str, int | None, str, str, str, int]]:
        """Return all rows as tuples, in the order of `SCHEMA`."""
        return self._rows
