"""Reject sentences with a personal name or title of a list; it needs no trained model.

names.csv has given names and forms of address, which count where they are words by themselves.
With not_names.csv a word with a capital letter inside a sentence is a surname, unless the table has
it (`word`: Monday, Court), the word before it (`after`: in Ohio), or another capital beside it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.slguset.verdicts import Finding, Judge

FILES = ("names.csv", "not_names.csv")
OPTIONAL = ("not_names.csv",)
COLUMNS = ("sentence",)
REASONS = {"name": ("A person’s name", "It names a person, whose gender a reader may know.")}


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    names = {row["name"] for row in read_resource(files["names.csv"], ["name"])}
    cut = settings["cut"]
    known = None
    if path := files.get("not_names.csv"):
        rows = read_resource(path, ["kind", "word"])
        known = {kind: {r["word"] for r in rows if r["kind"] == kind} for kind in ("word", "after")}

    def check(sentence: str) -> Finding | None:
        words = [word for word in cut(sentence) if not word.isspace()]
        names_found = [
            word
            for place, word in enumerate(words)
            if word in names or (known and _is_surname(words, place, known))
        ]
        return Finding("name", names_found) if names_found else None

    return partial(map, check)


def _is_surname(words: Sequence[str], place: int, known: Mapping[str, set[str]]) -> bool:
    word = words[place]
    if not (place and word[0].isupper() and word[1:].islower()) or word in known["word"]:
        return False
    before, after = words[place - 1], words[place + 1] if place + 1 < len(words) else ""
    return before[0].islower() and before not in known["after"] and not after[:1].isupper()
