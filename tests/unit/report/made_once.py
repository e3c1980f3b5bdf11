"""Results that several tests ask for are written once, and copied."""

import atexit
import functools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def made_once(write: Callable[..., Path]) -> Callable[..., Path]:
    """Copy what a function has written before for the same arguments, but for its folder."""
    root = Path(tempfile.mkdtemp(prefix="made-"))
    atexit.register(shutil.rmtree, root)
    made: dict[str, Path] = {}

    @functools.wraps(write)
    def copied(folder: Path, *arguments, **options) -> Path:
        key = repr((arguments, options))
        if key not in made:
            made[key] = write(root / str(len(made)), *arguments, **options)
        return shutil.copytree(made[key], folder, dirs_exist_ok=True)

    return copied
