"""Unreadable input: file, position, reason, and the number of parts behind each row."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

from evenhand.core.files import path_text
from evenhand.core.limits import DETAIL, LimitError
from evenhand.core.phrases import phrases_of
from evenhand.errors import one_line
from evenhand.io.tables import schema_of, write_table

SCHEMA = schema_of(
    file="string", position="int64", unit="string", reason="string", detail="string", parts="int64"
)

#: Every reason, with its consequence.
REASONS = phrases_of(__file__)["reasons"]

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
        self._first_places: dict[str, str] = {}
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
        place = f"{unit} {position} of " if position is not None else ""
        self._first_places.setdefault(reason, place + PurePath(file).name)
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

    def first_place(self, reason: str) -> str | None:
        """Return where the first case of a reason is: ``line 7 of a.jsonl``; None without one."""
        return self._first_places.get(reason)

    def first_detail(self, reason: str, beginning: str = "") -> str | None:
        """Return the detail of the first case of a reason, or None if there is none.

        With a `beginning`, return the rest of the first detail that begins with it.
        """
        if not beginning:
            return self._first_details.get(reason)
        details = (row[4] for row in self._rows if row[3] == reason)
        fitting = (detail for detail in details if detail.startswith(beginning))
        return next((detail.removeprefix(beginning) for detail in fitting), None)

    def write(self, path: Path) -> int:
        """Write the table, and return its number of rows."""
        rows = (dict(zip(SCHEMA.names, row, strict=True)) for row in self.rows())
        return write_table(path, SCHEMA, rows)

    def rows(self) -> list[tuple[str, int | None, str, str, str, int]]:
        """Return all rows as tuples, in the order of `SCHEMA`."""
        return self._rows
