"""What a stage has done so far, kept over a crash, so that the next attempt goes on from there.

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
    """The folder of the stage that is running; it is there, and may hold an earlier attempt.

    With `part` it is one inside that, for a stage whose parts are done one after the other.
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
