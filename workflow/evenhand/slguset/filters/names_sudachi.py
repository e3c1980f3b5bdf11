"""Reject Japanese sentences in which SudachiPy finds a name (``pip install evenhand[ja]``).

A name is a word with the part of speech 人名, or one in katakana that the dictionary lacks, as most
foreign names.
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.slguset.filters.names_listed import REASONS as REASONS
from evenhand.slguset.verdicts import Finding, Judge
from evenhand.text.segmenters.sudachi import tokenizer

FILES = ()
COLUMNS = ("sentence",)

_KATAKANA = re.compile("[ァ-ヺー]{3,}")


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    cut = tokenizer()

    def check(sentence: str) -> Finding | None:
        names = [
            word.surface()
            for word in cut.tokenize(sentence)
            if "人名" in word.part_of_speech()
            or (word.is_oov() and _KATAKANA.fullmatch(word.surface()))
        ]
        return Finding("name", names) if names else None

    return partial(map, check)
