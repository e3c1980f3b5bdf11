"""Criterion (a): reject keywords whose opposite does not fit, or differs in more than gender.

The table pair_fit.csv lists words around the keyword: 男儿 (a man of mettle; 女儿 is a
daughter), 女王. A word counts where it contains the keyword, and so does the title of a work
(《听妈妈讲那过去的事情》, in Japanese 『』 or short 「」, in German short „…“), which has this one
form only. The table referent.csv lists words for non-persons: 香港，她; 小猫 ... 她. Such a word
counts where the pronoun begins a clause and the word is the subject of the sentence or ends the
clause before, with no person between.
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.slguset.patterns import Occurrence, pattern_filter
from evenhand.slguset.verdicts import Finding, Judge

FILES = ("pair_fit.csv", "referent.csv")
OPTIONAL = ("referent.csv",)
COLUMNS = ("sentence", "surface", "surface_opposite", "value", "start", "end")
REASONS = {
    "pair_fit": (
        "The pair does not fit",
        "Criterion (a): in this slot the two words differ in more than {attribute}.",
    ),
    "referent": ("No person", "Criterion (a): the pronoun speaks of a place, animal or thing."),
}

#: The title of a work, by language; in German and Japanese, speech has the same marks.
_TITLES = {
    "zh": "《[^《》]*》",
    "de": r"[\"„“»«‚‘](?=\w)[^\"„“”»«‚‘’.,;:!?]{1,60}(?<=\w)[\"“”«»‘’](?!\w)",
    "ja": "『[^『』。]*』(?!と[言話述答聞叫])|「[^「」。、！？]{1,15}」(?=[をにでがはもの／・])",
}

_MARKS = "，,；;：:—。"
_SUBJECT = re.compile("[“‘《「]?[这那]?[一]?[只条座朵艘位头个]?")
#: Before a thing that a clause ends with: the clause is it, or says what something is.
_NAMED_LAST = re.compile(f"(?:^|[{_MARKS}]|是|像|叫)$")
#: How a clause goes on of which the thing is the subject.
_PREDICATE = re.compile("[，,是像有以用历经曾正在也又被把从不很就开盛飞跑跳叫睡吃游爬凋绽]")
#: Characters in which words for people end.
_PERSON = re.compile("[人员者师生孩童妹姐哥弟娘婆爷奶妈爸叔姨民友家]")


def _holds_keyword(word: Occurrence, sentence: str, start: int, end: int) -> bool:
    return word.start <= start and end <= word.end


def _is_antecedent(word: Occurrence, sentence: str, start: int, end: int) -> bool:
    """Return whether a word for a thing is the antecedent of a clause-initial pronoun."""
    if word.end > start - 1 or sentence[start - 1] not in _MARKS:
        return False
    between = sentence[word.end : start - 1]
    if not between:
        return bool(_NAMED_LAST.search(sentence, 0, word.start))
    opens = _SUBJECT.fullmatch(sentence, 0, word.start)
    return bool(opens and _PREDICATE.match(between) and not _PERSON.search(between))


_FITS = pattern_filter("pair_fit", lambda files: _holds_keyword)
_REFERS = pattern_filter("referent", lambda files: _is_antecedent)


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    parts = [_FITS, _REFERS] if "referent.csv" in files else [_FITS]
    judges = [prepare_part(files, settings) for prepare_part in parts]
    titles = re.compile(_TITLES.get(settings.get("language", "zh"), "(?!)"))

    def title(sentence: str, *columns: Any) -> Finding | None:
        """Return the title that holds the keyword."""
        start = columns[COLUMNS.index("start") - 1]
        around = (
            each[0] for each in titles.finditer(sentence) if each.start() < start < each.end()
        )
        return next((Finding("pair_fit", [text]) for text in around), None)

    def check(*columns: Any) -> Finding | None:
        findings = (next(iter(judge(*([c] for c in columns)))) for judge in judges)
        return next(filter(None, findings), None) or title(*columns)

    return partial(map, check)
