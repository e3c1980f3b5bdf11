"""The files in a folder and in the folders below it, with the reason for each that is not read.

The Snakefile imports the module in every job: keep its imports light.
"""

import os
from collections.abc import Iterator

from evenhand.io.formats import is_hidden

#: The reason for not reading a file: one of the quarantine, and a readable detail.
Why = tuple[str, str]

LINK = "a link to a folder: name the folder under `files`"
NO_FILE = ("unreadable_file", "a broken link, or no regular file")


def walk(folder: str) -> Iterator[tuple[str, int, Why | None]]:
    """Yield path, size and, for one that is not read, the reason of each file, by name."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            if is_hidden(entry.name):
                detail = "a hidden folder" if entry.is_dir() else "hidden"
                yield entry.path, 0, ("hidden_file", detail)
            elif entry.is_dir(follow_symlinks=False):
                yield from walk(entry.path)
            elif entry.is_dir():
                yield entry.path, 0, ("unreadable_file", LINK)
            elif not entry.is_file():
                yield entry.path, 0, NO_FILE
            else:
                yield entry.path, entry.stat().st_size, None
