"""The ledger: which sentences were handed out to annotators, and in which round.

A round's `handed_out.csv` becomes part of it when a person puts it into the folder of the
ledger (`evenhand.slguset.hand_out`).
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from evenhand.errors import InputError
from evenhand.io.sheets import read_csv, write_csv

COLUMNS = ["round", "rank", "sentence_id", "sentence"]

#: Names of rounds and of annotators become names of files.
_NAME = re.compile(r"\w(?:[\w.-]{0,62}\w)?")


class Entry(NamedTuple):
    """One sentence that was handed out, and where the ledger says so."""

    round: str
    rank: int
    sentence_id: str
    sentence: str
    file: Path
    line: int


def check_name(name: str, kind: str) -> None:
    """Raise InputError unless the name of a `kind` (round, annotator) can be a file's."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a {kind}",
            remedy="use up to 64 letters, digits, underscores, dots and hyphens, "
            "with a letter or digit first and last",
        )


def write_ledger(path: Path, rows: Iterable[Sequence[str | int]]) -> None:
    """Write one round's part of the ledger; rows have the columns `COLUMNS`."""
    write_csv(path, COLUMNS, rows)


def read_ledger(paths: Sequence[Path]) -> dict[str, Entry]:
    """Read the ledger.

    Parameters
    ----------
    paths : sequence of Path
        Its files, in any order.

    Returns
    -------
    dict of str to Entry
        The sentences that were handed out, by sentence_id.

    Raises
    ------
    InputError
        A sentence stands there twice, a round has a rank twice, or a cell is no rank, round
        or id.
    """
    entries: dict[str, Entry] = {}
    ranks: dict[tuple[str, int], Entry] = {}
    for path in paths:
        for line, row in read_csv(path, COLUMNS):
            if not row["rank"].isascii() or not row["rank"].isdigit():
                raise InputError(f"{row['rank']!r} is no rank", file=path, line=line)
            if not row["round"] or not re.fullmatch("[0-9a-f]{16}", row["sentence_id"]):
                raise InputError("the round or the sentence_id is broken", file=path, line=line)
            entry = Entry(
                row["round"], int(row["rank"]), row["sentence_id"], row["sentence"], path, line
            )
            for known in (
                entries.get(entry.sentence_id),
                ranks.get((entry.round, entry.rank)),
            ):
                if known:
                    raise InputError(
                        f"gives sentence {entry.sentence_id} or its rank a second time, after "
                        f"{known.file}:{known.line}",
                        file=path,
                        line=line,
                        remedy="keep one file per round in the ledger's folder, as it was made",
                    )
            entries[entry.sentence_id] = ranks[entry.round, entry.rank] = entry
    return entries
