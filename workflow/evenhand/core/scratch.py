"""Scratch folders: intermediate results that survive a crash, so that the next attempt resumes.

The runner opens a folder for each run of a stage, named after everything that determines the
result: a changed model, parameter or module finds an empty one. It is removed when the stage
is done. Called from Python, outside a run, a stage has no such folder and starts afresh.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from evenhand.core.files import remove

_folder: ContextVar[Path | None] = ContextVar("scratch_folder", default=None)


def scratch_folder(part: str = "") -> Path | None:
    """Return the existing folder of the running stage, which may hold an earlier attempt.

    With `part`, return a folder inside it, for a stage with consecutive parts.
    """
    folder = _folder.get()
    if folder is not None:
        folder = folder / part
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def scratch_at(folder: Path | None) -> Iterator[None]:
    """Run a block with a scratch folder; success removes it, failure leaves it for the next."""
    before = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(before)
    if folder is not None:
        remove(folder)
