"""Plan the shards of a corpus in the config, one job each, without reading its files.

Files are sorted by path. Only the path and size of a file decide whether it ends a shard, so
that a new file changes its own shard and no other. A file ends a shard with a probability of its
share of the target size; the hash of its path is the random number. Caps limit the size of a
shard; they move borders only up to the next file that ends a shard by itself.

The Snakefile imports the module in every job: keep its imports light.
"""

import glob
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InputError
from evenhand.io.formats import CUT_AT_LINES, NO_FILE, Why, kind_of, unusable_name, walk
from evenhand.text.phrases import listed

#: Approximate bytes of text per compressed byte (Chinese news: 2.8).
EXPANSION = 3

#: Files and bytes of paths that a shard has on average; paths go on a command line.
TARGET_FILES = 1000
TARGET_PATHS = 48 << 10

#: A shard has at most so many times the targets: 2,000 files, 96 kB of paths, 4 times the size.
MOST_FILES = 2 * TARGET_FILES
MOST_PATHS = 2 * TARGET_PATHS
MOST_SIZE = 4

#: A file is cut into at most so many ranges: each reads the file from its beginning (to count
#: lines) and digests all of it, which must stay cheap beside the work on the range itself.
MOST_RANGES = 16


@dataclass(frozen=True)
class Shard:
    """The input of one job.

    Attributes
    ----------
    id : str
        ``{corpus}-{8 hex}``, a digest of the first file's path; ``-{n}`` behind it for the
        ranges of a file.
    files : tuple of str
        Paths as given in the config, in order.
    first_byte, end_byte : int or None
        For a range of the one file: the lines that begin in it, `end_byte` exclusive.
    """

    id: str
    files: tuple[str, ...]
    first_byte: int | None = None
    end_byte: int | None = None


@dataclass(frozen=True)
class Skipped:
    """A file or folder that is not read: a reason of the quarantine, and a readable detail."""

    path: str
    reason: str
    detail: str


@dataclass(frozen=True)
class Plan:
    """Shards in the order of their files, and skipped paths in the order of the paths."""

    shards: tuple[Shard, ...]
    skipped: tuple[Skipped, ...]


def plan_shards(
    corpus: str,
    files: Iterable[str],
    *,
    target_mb: float,
    format: str = "auto",
    paragraphs: str = "line",
    header: bool = True,
) -> Plan:
    """Divide a corpus into shards.

    Parameters
    ----------
    corpus : str
        Its name in the config; shards are named after it.
    files : iterable of str
        Folders (read with all folders below), globs (``**`` matches nested folders; a
        matching folder is read like a listed one), files and archives. A file that several of
        them match is read once.
    target_mb : float
        Average size of a shard in megabytes (10^6 bytes) of text; that of compressed files
        is estimated.
    format : str
        The corpus's format. With ``auto`` only suffixes of `evenhand.io.formats` are read,
        with any other every file that is not hidden.
    paragraphs : str
        With ``blank_line`` no file is cut.
    header : bool
        Whether the tables have one; then no TSV file is cut.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        A path is missing, a folder is empty, a glob matches nothing, or no file of the
        corpus can be read; the message names it.
    """
    target = round(target_mb * 1e6)
    by_place: dict[str, tuple[str, int, Why | None]] = {}
    for pattern in files:
        for file in _expand(corpus, pattern):
            place = os.path.abspath(file[0])  # noqa: PTH100  # 10 times faster than Path
            by_place.setdefault(place, file)
    sizes: dict[str, int] = {}
    skipped: dict[str, Why] = {}
    for path, size, why in by_place.values():
        if reason := why or _unusable(path, format):
            skipped[path] = reason
        else:
            sizes[path] = size
    if not sizes:
        details = [f"{path} ({detail})" for path, (_, detail) in sorted(skipped.items())]
        what = f"; skipped: {listed(details, 3)}" if skipped else ""
        remedy = "give text, JSON lines or tables as CSV, or folders or archives of them"
        raise InputError(f"corpus {corpus} has no file that can be read{what}", remedy=remedy)
    cuttable = CUT_AT_LINES if paragraphs == "line" else frozenset()
    if header:
        cuttable -= {"tsv"}
    shards = _identify(corpus, _divide(sorted(sizes.items()), target, format, cuttable))
    return Plan(tuple(shards), tuple(Skipped(p, *why) for p, why in sorted(skipped.items())))


# --- which files -------------------------------------------------------------------------


def _expand(corpus: str, pattern: str) -> list[tuple[str, int, Why | None]]:
    """Return path, size and, for a skipped path, the reason of each file that a pattern matches."""
    path = str(Path(pattern))
    is_pattern = glob.has_magic(path) and not os.path.lexists(path)
    matches = sorted(glob.glob(path, recursive=True)) if is_pattern else [path]  # noqa: PTH207
    files: list[tuple[str, int, Why | None]] = []
    for match in matches:
        files += walk(match) if os.path.isdir(match) else [_stat(corpus, match)]  # noqa: PTH112
    if not files:
        problem = f"nothing matches {pattern}" if is_pattern else f"the folder {path} is empty"
        raise InputError(f"corpus {corpus}: {problem}", remedy="correct the path")
    return files


def _stat(corpus: str, path: str) -> tuple[str, int, Why | None]:
    try:
        status = os.stat(path)  # noqa: PTH116
        return path, status.st_size, None if stat.S_ISREG(status.st_mode) else NO_FILE
    except OSError as error:
        problem = f"corpus {corpus}: cannot be read ({error.strerror})"
        remedy = f"correct `slguset.corpora.{corpus}.files`; paths begin where the run starts"
        raise InputError(problem, file=path, remedy=remedy) from error


def _unusable(path: str, format: str) -> Why | None:
    """Why a file cannot be used, or None."""
    name = os.path.basename(path)  # noqa: PTH119
    if detail := unusable_name(path):
        return "unusable_name", detail
    kind = kind_of(name)
    if format == "auto" and not kind.archive and not kind.format:
        return "unknown_format", "its suffix names no format"
    return None


# --- where shards end ----------------------------------------------------------------------


def _divide(
    files: list[tuple[str, int]], target: int, format: str, cuttable: frozenset[str]
) -> list[tuple[list[str], int | None, int | None]]:
    """Return the files, first and end byte of each shard."""
    shards: list[tuple[list[str], int | None, int | None]] = []
    shard: list[str] | None = None  # the one that takes the next file
    size = paths = 0
    for path, bytes_on_disk in files:
        kind = kind_of(path)
        text_format = kind.format if format == "auto" else format
        packed = kind.archive or kind.compression
        if bytes_on_disk > target and text_format in cuttable and not packed:
            step = max(target, -(-bytes_on_disk // MOST_RANGES))
            for first in range(0, bytes_on_disk, step):
                shards.append(([path], first, min(first + step, bytes_on_disk)))
            shard = None
            continue
        weight = bytes_on_disk * (EXPANSION if packed else 1)
        length = len(os.fsencode(path)) + 3  # a blank, and perhaps quotation marks
        if (
            shard is None
            or size + weight > MOST_SIZE * target
            or len(shard) == MOST_FILES
            or paths + length > MOST_PATHS
        ):
            shard, size, paths = [], 0, 0
            shards.append((shard, None, None))
        shard.append(path)
        size, paths = size + weight, paths + length
        if _die(path) < max(weight / target, 1 / TARGET_FILES, length / TARGET_PATHS):
            shard = None
    return shards


def _die(path: str) -> float:
    """A number from 0 to 1 that only the path decides."""
    return int(_digest(path)[:8], 16) / 0x1_0000_0000


def _digest(path: str) -> str:
    return hashlib.blake2b(os.fsencode(path), digest_size=16).hexdigest()


def _identify(
    corpus: str, shards: Iterable[tuple[list[str], int | None, int | None]]
) -> Iterator[Shard]:
    """Give ids; where two first files have the same 8 digits, the later one gets more."""
    owner: dict[str, str] = {}
    ranges: dict[str, int] = {}
    for files, first, end in shards:
        digest = _digest(files[0])[8:]  # the die has the other digits
        length = 8
        while owner.setdefault(digest[:length], files[0]) != files[0]:
            length += 8
        id = f"{corpus}-{digest[:length]}"
        if first is not None:
            ranges[id] = ranges.get(id, -1) + 1
            id = f"{id}-{ranges[id]}"
        yield Shard(id, tuple(files), first, end)
