"""Results that several tests ask for are written once, and copied."""

import atexit
import functools
import inspect
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def made_once(write: Callable) -> Callable:
    """Copy what a function has written before for the same arguments, but for its `folder`.

    It returns paths in the folder, or a list or named tuple with such paths.
    """
    root = Path(tempfile.mkdtemp(prefix="made-"))
    atexit.register(shutil.rmtree, root)
    signature, made = inspect.signature(write), {}

    @functools.wraps(write)
    def copied(*given: Any, **options: Any) -> Any:
        arguments = signature.bind(*given, **options).arguments
        folder, key = arguments.pop("folder"), repr(arguments)
        if key not in made:
            origin = root / str(len(made))
            origin.mkdir()
            made[key] = origin, write(folder=origin, **arguments)
        origin, found = made[key]
        shutil.copytree(origin, folder, dirs_exist_ok=True)
        return _moved(found, origin, folder)

    return copied


def _moved(found: Any, origin: Path, folder: Path) -> Any:
    if isinstance(found, Path):
        return folder / found.relative_to(origin)
    if isinstance(found, list):
        return [_moved(one, origin, folder) for one in found]
    if hasattr(found, "_fields"):
        return type(found)(*(_moved(one, origin, folder) for one in found))
    return found
