"""Describe the inputs of a job in its parameters: roles, order, and content of users' files.

Snakemake compares the sorted names of a job's inputs, and contents only where a file is newer
than the outputs. That misses a file that is swapped, moved or replaced by an older one, and a
change inside a folder. So each job's inputs become one of its parameters: by role, in order, and
with a SHA-256 for each file or folder that no rule makes.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from evenhand.core.files import atomic, content_digest, folder_digest

#: A list of results is recorded by its digest if it is longer than this.
LISTED = 20

#: A file that changed less than so many seconds ago may change again with the same time stamp.
SETTLED = 2.0


class Checksums:
    """SHA-256 of files, kept between runs by size, time stamps and inode.

    Parameters
    ----------
    store : Path or None
        The JSON file in which they are kept. None keeps nothing.
    """

    def __init__(self, store: Path | None = None) -> None:
        self.store = store
        self.known: dict[str, list] = {}
        self.used: dict[str, list] = {}
        self.unsettled: set[str] = set()
        self.seen: dict[str, str] = {}
        # a store that is absent or damaged is made anew
        with suppress(OSError, ValueError, TypeError):
            if store:
                self.known = dict(json.loads(store.read_bytes()))

    def __call__(self, path: str) -> str:
        """Return the SHA-256 of a file, or of a folder's file names and contents; "" without one.

        Each path is read once in the life of this object.
        """
        if path not in self.seen:
            folder = Path(path)
            self.seen[path] = (
                folder_digest(folder, lambda file: self._file(str(file)))
                if folder.is_dir()
                else self._file(path)
            )
        return self.seen[path]

    def _file(self, path: str) -> str:
        try:
            status = os.stat(path)  # noqa: PTH116  # several times faster than Path
        except FileNotFoundError:
            return ""
        state = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        *before, digest = self.known.get(path, [None])
        if before != state:
            digest = content_digest(Path(path))
        if time.time() - max(status.st_mtime, status.st_ctime) > SETTLED:
            self.used[path] = [*state, digest]
        else:
            self.unsettled.add(path)
        return digest

    def save(self) -> None:
        """Write the store, if its folder exists and something changed."""
        rows = self.known | self.used
        rows = {path: row for path, row in rows.items() if path not in self.unsettled}
        if self.store and self.store.parent.is_dir() and rows != self.known:
            with atomic(self.store) as path:
                path.write_text(json.dumps(rows), encoding="utf-8")


def planned_digest(store: Path, path: Path) -> str | None:
    """Return the SHA-256 that a file had when the run was planned, if the store has it."""
    try:
        return json.loads(store.read_bytes()).get(str(path), [None])[-1]
    except (OSError, ValueError):
        return None


def named_in_results(value: Any, results: str | None = None) -> list[str]:
    """Return the paths in the folder of results that a configuration, or a part of it, names."""
    results = results or value["results"]
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [path for part in parts for path in named_in_results(part, results)]
    is_in = isinstance(value, str) and value.startswith(f"{results}/")
    return [value.rstrip("/")] if is_in else []


def describe(
    roles: Iterable[tuple[str, Iterable[str]]],
    is_made: Callable[[str], bool],
    checksum: Callable[[str], str],
) -> dict[str, list[str]]:
    """Describe the inputs of a job for its parameters.

    Parameters
    ----------
    roles : iterable of (str, iterable of str)
        The files of each role, in order.
    is_made : callable
        Function that returns whether a path is a result, which Snakemake itself compares.
    checksum : callable
        Function that returns the SHA-256 of a file or folder.

    Returns
    -------
    dict
        By role a list with ``path`` for a result and ``path@checksum`` (16 hex digits) for any
        other file. More than `LISTED` results become ``{count} results@{digest of their paths}``.
    """
    described: dict[str, list[str]] = {}
    for role, paths in roles:
        described.setdefault(role, []).extend(paths)
    for role, paths in described.items():
        if len(paths) > LISTED and all(map(is_made, paths)):
            digest = hashlib.sha256("\n".join(paths).encode()).hexdigest()
            described[role] = [f"{len(paths)} results@{digest[:16]}"]
        else:
            described[role] = [
                path if is_made(path) else f"{path}@{checksum(path)[:16]}" for path in paths
            ]
    return described
