"""Files as content: digests, and outputs that are whole or absent."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def content_digest(path: Path) -> str:
    """SHA-256 (64 hex digits) of a file, or of a folder's file names and contents."""
    if path.is_dir():
        whole = hashlib.sha256()
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            whole.update(f"{file.relative_to(path).as_posix()}\0{content_digest(file)}\n".encode())
        return whole.hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remove(path: Path) -> None:
    """Remove a file or a folder; nothing happens if there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def partial_path(path: Path) -> Path:
    """Where a file is written until it is whole: beside it, with its own suffixes."""
    return path.with_name(f".partial-{os.getpid()}-{path.name}")


def replace(source: Path, target: Path) -> None:
    """Move a finished file or folder into its place, over what was there."""
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    os.replace(source, target)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A path to write to; it becomes `path` if the block succeeds and vanishes if it fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_path(path)
    try:
        yield partial
        replace(partial, path)
    finally:
        remove(partial)


def link_or_copy(source: Path, target: Path) -> None:
    """Make `target` (a file or a folder) the same content as `source`: hard links where possible."""

    def one(a: str, b: str) -> None:
        try:
            os.link(a, b)
            os.utime(b)  # a result is as new as the run that put it there
        except OSError:
            remove(Path(b))
            shutil.copyfile(a, b)

    if source.is_dir():
        shutil.copytree(source, target, copy_function=one)
    else:
        one(str(source), str(target))
