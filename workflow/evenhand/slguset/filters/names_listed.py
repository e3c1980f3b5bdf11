"""Reject sentences with a personal name or title of a list; it needs no trained model.

names.csv has given names and forms of address, which count where they are words by themselves and
are no part of the keyword (弟さん); in German their genitive too (Traugotts).
name_cues.csv helps to find others by the capital letter of a word that is neither in the table
(`word`: Monday, Court) nor a function word:

- two such words, one after the other; an initial (W.) counts as one;
- one after a `title` (Captain), which is no name itself;
- one that begins a sentence and is not its keyword, before a word of the table (`does`: said);
- where the table has words after which a capital letter is no sign of a name (`after`: in Ohio),
  any inside a sentence; at its beginning, and after these words, one in the possessive (Gordon's).
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.slguset.verdicts import Finding, Judge

FILES = ("names.csv", "name_cues.csv")
OPTIONAL = ("name_cues.csv",)
COLUMNS = ("sentence", "keyword")
#: The kinds of rows of name_cues.csv.
KINDS = ("word", "title", "after", "does")

#: What makes a word a possessive, as a word of its own.
POSSESSIVES = ("'s", "’s", "'", "’")

#: What the genitive of a name ends in, by language, where no apostrophe separates it.
_GENITIVES = {"de": "s"}

#: How a name is written: Smith, Carl-Julius, W.
_SHAPE = re.compile(r"[^\W\d_a-zß-ÿ](?:[^\W\d_A-ZÀ-Þ]+(?:-[^\W\d_a-zß-ÿ][^\W\d_A-ZÀ-Þ]+)*|\.)")

REASONS = {
    "name": (
        "A person’s name",
        "The filter takes a word for a name, whose {attribute} a reader may know; it can be wrong.",
    )
}


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    names = {row["name"] for row in read_resource(files["names.csv"], ["name"])}
    cut, genitive = settings["cut"], _GENITIVES.get(settings.get("language", ""), "")
    names |= {name + genitive for name in names}
    known = None
    if path := files.get("name_cues.csv"):
        from spacy.util import get_lang_class

        rows = read_resource(path, ["kind", "word"])
        known = {kind: {r["word"] for r in rows if r["kind"] == kind} for kind in KINDS}
        known["function"] = get_lang_class(settings["language"]).Defaults.stop_words

    def check(sentence: str, keyword: str) -> Finding | None:
        parts = cut(sentence)
        starts = accumulate(map(len, parts), initial=0)
        keywords = [match.span() for match in re.finditer(re.escape(keyword), sentence)]
        words, inside = [], []
        for word, start in zip(parts, starts, strict=False):
            if not word.isspace():
                words.append(word)
                end = start + len(word)
                inside.append(word != keyword and any(a <= start and end <= b for a, b in keywords))
        names_found = [
            word
            for place, word in enumerate(words)
            if (word in names and not inside[place])
            or (known and _is_name(words, place, known, keyword))
        ]
        return Finding("name", names_found) if names_found else None

    return partial(map, check)


def _is_name(words: Sequence[str], place: int, known: Mapping[str, set[str]], keyword: str) -> bool:
    def capital(place: int) -> bool:
        """Whether a word has a capital letter that a name would have."""
        word = words[place] if 0 <= place < len(words) else ""
        shaped = _SHAPE.fullmatch(word) is not None
        listed = word in known["word"] or word in known["title"]
        return shaped and not listed and word.lower() not in known["function"]

    if not capital(place):
        return False
    if capital(place - 1) or capital(place + 1) or (place and words[place - 1] in known["title"]):
        return True
    before, after = (
        words[place - 1] if place else "",
        words[place + 1] if words[place + 1 :] else "",
    )
    opens = not any(word.isalnum() for word in words[:place])
    if opens and words[place] != keyword and after in known["does"]:
        return True
    if not known["after"] or after[:1].isupper() or (opens and words[place] == keyword):
        return False
    if after in POSSESSIVES:
        return True
    inside = before[:1].islower() or before == "," or (place == 1 and before.isalpha())
    return inside and before.lower() not in known["after"]
