"""Check that a stage reads its declared inputs only, and runs no code outside its digest.

With the environment variable ``EVENHAND_HERMETIC`` set, `evenhand.core.stage.run` fails a job that
opens an undeclared file of the working folder or imports a module of this library that its code
digest does not cover: a change there would not run the job again. Files that compiled libraries
open without Python are not seen.
"""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from evenhand.core.phrases import SENTENCES
from evenhand.core.places import LIBRARY, ROOT

_allowed: set[Path] = set()


def allow(path: Path) -> None:
    """Let a stage open a file whose content a declared input fixes, by a checksum for example."""
    _allowed.add(path)


class Watch:
    """The files that this process has opened for reading since the watch began."""

    def __init__(self) -> None:
        self.opened: set[str] = set()
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple) -> None:
        if event != "open" or not isinstance(arguments[0], str | bytes):
            return
        if not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            self.opened.add(os.fsdecode(arguments[0]))

    def undeclared(self, declared: Iterable[Path]) -> list[str]:
        """Return the opened files below the working folder that no declared path covers."""
        here = Path.cwd().resolve()
        allowed = (ROOT / "requirements", Path(sys.prefix), *_allowed, *declared)
        covered = {path.resolve() for path in allowed}
        names = []
        for name in sorted(self.opened):
            path = Path(name).resolve()
            # the digest of a module covers its sentences; `pip install -e` leaves .egg-info here
            is_code = path.suffix in (".py", ".pyc", ".digest") or path.parent == SENTENCES
            is_code = is_code or path.parent.suffix == ".egg-info"
            inside = here in path.parents and path.is_file()
            is_covered = is_code and LIBRARY in path.parents
            if inside and not is_covered and not ({path, *path.parents} & covered):
                names.append(str(path.relative_to(here)))
        return names


def uncovered_modules(covered: Iterable[str]) -> list[str]:
    """Return the modules of this library that are loaded and not among these."""
    loaded = {name for name in sys.modules if name.split(".")[0] == "evenhand"}
    return sorted(loaded - set(covered))
