"""Japanese words by SudachiPy and its core dictionary (``pip install evenhand[ja]``).

Both are optional, so that their versions are not part of the run's record.
"""

import importlib
from collections.abc import Callable
from typing import Any

from evenhand.errors import InputError


def segmenter(language: str) -> Callable[[str], list[str]]:
    """Return a function that cuts a sentence into words, which joined are the sentence."""
    cut = tokenizer()
    return lambda text: [token.surface() for token in cut.tokenize(text)]


def tokenizer() -> Any:
    """Return SudachiPy's tokenizer.

    Raises
    ------
    InputError
        SudachiPy or its dictionary is not installed.
    """
    try:
        sudachi = importlib.import_module("sudachipy")
        return sudachi.Dictionary(dict="core").tokenizer(mode=sudachi.SplitMode.B)
    except ImportError as error:
        raise InputError(
            "the segmenter sudachi needs SudachiPy and its dictionary",
            remedy="run pip install 'evenhand[ja]', or use a pack with `segmenter: characters` "
            "and without the filter names_sudachi",
        ) from error
