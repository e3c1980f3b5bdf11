"""Files as content: digests, and outputs that are whole or absent."""

import hashlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evenhand.core.whole import check_file
from evenhand.errors import InputError

#: Files below this are copied, not linked: people edit sheets and tables, and a link would
#: carry the edit into the run cache and into every other result that it serves.
LINK_FROM_BYTES = 32 * 2**20

#: Prefix of the names of incomplete files.
PARTIAL = ".partial-"

#: Snakemake's file in each folder that a job has made.
TIMESTAMP = ".snakemake_timestamp"


def content_digest(path: Path) -> str:
    """Return the SHA-256 (64 hex digits) of a file, or of a folder's file names and contents.

    Incomplete files of other jobs and Snakemake's timestamp do not count: a folder has the same
    digest before and after a workflow uses it.

    Raises InputError if it is a pipe, a device, or nothing.
    """
    if path.is_dir():
        return folder_digest(path, content_digest)
    check_file(path)
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_files(folder: Path) -> list[str]:
    """Return the files of a folder and of all folders below, relative to it, in a fixed order."""
    return [path.relative_to(folder).as_posix() for path in _entries(folder) if path.is_file()]


def folder_digest(folder: Path, digest: Callable[[Path], str]) -> str:
    """Return the SHA-256 of a folder: of the names in it, and of the digest of each file.

    Of other entries (a link to a folder or to nothing, a pipe, a device) only name and kind count;
    they are never opened.
    """

    def kind(path: Path) -> str:
        return "link" if path.is_symlink() else "special"

    lines = (
        os.fsencode(path.relative_to(folder))
        + f"\0{digest(path) if path.is_file() else kind(path)}\n".encode()
        for path in _entries(folder)
    )
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _entries(folder: Path) -> list[Path]:
    """Return all entries below a folder except folders, in a fixed order."""
    inside = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(p for p in inside if p.name != TIMESTAMP and not p.name.startswith(PARTIAL))


def path_text(path: Path | str) -> str:
    r"""Return a path as valid UTF-8 text: bytes that are no UTF-8 become ``\xff``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def remove(path: Path) -> None:
    """Remove a file or a folder; nothing happens if there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def partial_path(path: Path) -> Path:
    """Return the path for a file until it is whole: beside it, with the same suffixes.

    Each call gives another name, so that jobs on several machines never share one.
    """
    return path.with_name(f"{PARTIAL}{uuid.uuid4().hex[:8]}-{path.name}")


def replace(source: Path, target: Path) -> None:
    """Move a finished file or folder into its place, over a former one.

    Raises
    ------
    InputError
        The target is a folder with other content, which is never removed.
    """
    if target.is_dir():
        made = {path.name for path in source.iterdir()} if source.is_dir() else set()
        there = {path.name for path in target.iterdir()} - {TIMESTAMP}
        if other := sorted(there - made):
            problem = f"is a folder that holds {other[0]!r}, which is none of what is written there"
            remedy = "name another place, or remove the folder"
            raise InputError(problem, file=target, remedy=remedy)
    if source.is_dir() or target.is_dir():  # only a file can take the place of a file at once
        remove(target)
    source.replace(target)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a path to write to; it becomes `path` if the block succeeds, else it is removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_path(path)
    try:
        yield partial
        replace(partial, path)
    finally:
        remove(partial)


def link_or_copy(source: Path, target: Path) -> None:
    """Give `target` (a file or a folder) the same content as `source`.

    Large files become hard links where the file system and their owner allow it.
    """

    def link_file(source: str, target: str) -> None:
        if Path(source).stat().st_size < LINK_FROM_BYTES:
            shutil.copyfile(source, target)
            return
        try:
            os.link(source, target)
            os.utime(target)  # a result is as new as the run that put it there
        except OSError:
            remove(Path(target))
            shutil.copyfile(source, target)

    if source.is_dir():
        shutil.copytree(source, target, copy_function=link_file)
    else:
        link_file(str(source), str(target))


def files_of(folder: Path, suffixes: Iterable[str]) -> list[str]:
    """Return the files of a folder with these suffixes, hidden and lock files excluded; sorted."""
    return sorted(
        str(file)
        for file in (folder.iterdir() if folder.is_dir() else ())
        if file.suffix.lower() in suffixes and not file.name.startswith((".", "~"))
    )
