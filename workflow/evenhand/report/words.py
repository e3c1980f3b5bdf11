"""Readable words for the codes in the tables."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from evenhand.core.phrases import phrases_of
from evenhand.report.headline import plain

#: Words for the codes in the tables, by table.
WORDS = phrases_of(__file__)

#: The name and the meaning of why a sentence with a keyword is not accepted, by reason.
Reasons = dict[str, Sequence[str]]


def file_content(file: str) -> str | None:
    """Return the description of a result file's content; None if its kind is unknown.

    The first of the ``files`` of the sentences counts that matches the end of the path.
    """
    steps = PurePosixPath(file).parts
    for pattern, words in WORDS["files"].items():
        tail = "/".join(steps[-len(pattern.split("/")) :])
        if fnmatchcase(tail, pattern):
            return words
    return None


def codes(reason: str | None) -> list[str]:
    """Return the codes of a cell with reasons."""
    return re.findall(r"[^,;\s][^,;]*", reason or "")


def gate_meaning(word: str, unit: str = "character") -> str:
    """Return why a model is not trusted, in words; an unknown reason is returned unchanged.

    `unit` is what the model predicts: a ``character`` of SlguSet, or a ``token``.
    """
    return plain("gate", name=word, unit=unit) or word


def positive_label(meta: Mapping[str, Any]) -> str | None:
    """Return the label 1 of ``data.json`` in words: ``approved`` of ``decision = approved``."""
    label = meta.get("label")
    return label and label.rpartition(" = ")[2]


def reason_name(reason: str, known: Reasons) -> str:
    """Return a reason's title; an unknown reason is only capitalised."""
    return known[reason][0] if reason in known else reason.replace("_", " ").capitalize()


def reason_meaning(reason: str, known: Reasons) -> str | None:
    """Return the meaning of a reason, or None if it is unknown."""
    return known[reason][1] if reason in known else None
