"""The files of a folder, and archive, compression and text format of each by its name.

The Snakefile imports the module in every job: keep its imports light.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

#: The reason for not reading a file: one of the quarantine, and a readable detail.
Why = tuple[str, str]

LINK = "a link to a folder: name the folder under `files`"
NO_FILE = ("unreadable_file", "a broken link, or no regular file")


def walk(folder: str) -> Iterator[tuple[str, int, Why | None]]:
    """Yield path, size and, for one that is not read, the reason of each file, by name."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield folder, 0, ("unreadable_file", f"a folder that cannot be opened ({error.strerror})")
        return
    for entry in entries:
        try:
            status = entry.stat()
        except OSError:  # a link to nothing, or to itself
            mode = size = 0
        else:
            mode, size = status.st_mode, status.st_size
        if is_hidden(entry.name):
            detail = "a hidden folder" if stat.S_ISDIR(mode) else "hidden"
            yield entry.path, 0, ("hidden_file", detail)
        elif entry.is_dir(follow_symlinks=False):
            yield from walk(entry.path)
        elif stat.S_ISDIR(mode):
            yield entry.path, 0, ("unreadable_file", LINK)
        elif not stat.S_ISREG(mode):
            yield entry.path, 0, NO_FILE
        else:
            yield entry.path, size, None


def unusable_name(path: str) -> str:
    """Return why a path cannot be an input of a rule; blank if it can."""
    if not path.isprintable():
        return "a name with control characters or of no valid encoding"
    if not {"{", "}", "<", ">"}.isdisjoint(path):
        return "a name with {, }, < or >, which Snakemake takes for a wildcard"
    return ""


#: Suffix of a compressed single file -> compression.
COMPRESSIONS = {".gz": "gz", ".xz": "xz", ".zst": "zst"}

#: Suffix of an archive -> compression of the whole; zip compresses each member by itself.
ARCHIVES = {
    ".zip": ("zip", None),
    ".tar": ("tar", None),
    ".tgz": ("tar", "gz"),
    ".txz": ("tar", "xz"),
    ".tzst": ("tar", "zst"),
}

#: Suffix -> format of the text.
FORMATS = {
    ".txt": "txt",
    ".text": "txt",
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pku": "pku",
}

#: Formats whose files can be cut at any line end. Not csv (a quoted cell may hold line ends),
#: not md (comments run over lines), not json (its layout is known only when it is read). Tsv
#: only without a header, which a range from the middle would not see.
CUT_AT_LINES = frozenset({"txt", "jsonl", "tsv", "pku"})

#: Folders that are never meant, beside those whose name begins with a dot.
HIDDEN_FOLDERS = frozenset({"__MACOSX"})


@dataclass(frozen=True)
class Kind:
    """Suffixes of a name: ``a.tar.gz`` is (tar, gz, None), ``b.jsonl.zst`` (None, zst, jsonl)."""

    archive: str | None
    compression: str | None
    format: str | None


def kind_of(name: str) -> Kind:
    """Read a file name's suffixes, in any case; missing parts are None."""
    path = PurePosixPath(name.lower())
    if path.suffix in ARCHIVES:
        return Kind(*ARCHIVES[path.suffix], None)
    compression = COMPRESSIONS.get(path.suffix)
    if compression:
        path = path.with_suffix("")
        if path.suffix == ".tar":
            return Kind("tar", compression, None)
    return Kind(None, compression, FORMATS.get(path.suffix))


def is_hidden(name: str) -> bool:
    """Whether any part of a relative path is hidden (``.git``, ``._a.txt``, ``__MACOSX``)."""
    parts = PurePosixPath(name).parts
    return any(p in HIDDEN_FOLDERS or (p.startswith(".") and p not in (".", "..")) for p in parts)
