"""Criterion (b): reject sentences in which another word reveals the keyword's gender.

The table lists such words: 兄弟俩 beside 弟弟, 小伙子 beside 他. A word counts where it does not
overlap the keyword. One that names a person (person_words.csv) counts unless it must denote
another person: it belongs to the keyword (他的大哥), or only a conjunction or preposition is
between the two (他和那个小伙子, 他把小伙子送走了). A relative after the keyword is another person
(她去外婆家) unless the sentence says that it is the same (他是我的表弟).
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.slguset.patterns import Occurrence, pattern_filter

FILES = ("coreference.csv", "person_words.csv")
OPTIONAL = ("person_words.csv",)
COLUMNS = ("sentence", "surface", "surface_opposite", "value", "surface_start", "surface_end")
REASONS = {
    "coreference": (
        "Another {attribute} term",
        "Criterion (b): a second word may tell the {attribute} of the same person.",
    )
}

#: Between a person and what the sentence says that the person is.
_SAYS_WHO = re.compile("[也曾原就正]?[是系][^，。；：、！？]*")
_BETWEEN_TWO_PEOPLE = re.compile(
    "的|(?:和|与|跟|同|及|以及|或|、|对|向|给|把|被|让|叫|请|帮|替|比|为|帮助|看见|遇见|遇到|认识|喜欢)"
    "(?:了|着|过)?(?:[这那另]?[一两几]?[个位名些群对])?(?:[^，。；：、！？]{0,5}的)?"
)


def _make_counts(files: Mapping[str, Path]) -> Callable[..., bool]:
    path = files.get("person_words.csv")
    rows = read_resource(path, ["word", "relative"], optional=("relative",)) if path else []
    people = {row["word"]: row["relative"] for row in rows}

    def counts(word: Occurrence, sentence: str, start: int, end: int) -> bool:
        if word.start < end and start < word.end:
            return False
        if word.text not in people:
            return True
        between = sentence[end : word.start] if end <= word.start else sentence[word.end : start]
        if people[word.text] and end <= word.start:
            return bool(_SAYS_WHO.fullmatch(between))
        return not _BETWEEN_TWO_PEOPLE.fullmatch(between)

    return counts


prepare = pattern_filter("coreference", _make_counts)
