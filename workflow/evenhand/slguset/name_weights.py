"""Judge by form and context whether a word that jieba tags as a name is one.

jieba tags 考完试 and 房屋中介 as names. A word is a name here if the weights of its features
(name_weights.csv; `benchmarks/learn_name_weights.py` learns them from tagged news) add up to more
than 0. A single character is none unless it is a surname: jieba tags 哈 and 恩 as names. The
features are

- the kind of the word: whether the dictionary lists it or the hidden Markov model joined it, its
  length, and whether it begins with a surname of surnames.csv;
- by kind, how much likelier its characters are a full name, or a transliterated one, than other
  words (`evenhand.text.unlisted_names`), and whether it begins with 小, 老 or 阿;
- jieba's tag, and those of the words before and after it;
- how many of its characters are rare in names (们), and how frequent the word is that it begins or
  ends with (陈列|柜);
- whether a word of one or two characters and the next one can be a full name (王|小波);
- the characters before and after it;
- the marks before and after it, by length, and the endings of places (县, 路) in it or after it;
- whether a surname follows a number, as a measure word does (一张).
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.text.posseg import (
    NameToken,
    dictionary_frequencies,
    dictionary_names,
    dictionary_tags,
)
from evenhand.text.unlisted_names import name_scores

#: Names of places end with these.
_PLACES = frozenset("县区市省村镇乡路街岛山河湖溪江门堡州港湾峡寺庙宫塔桥城庄沟岭坡屯里巷观营国")
#: Marks that are alike; a sentence begins and ends as after a comma.
_MARKS = (
    dict.fromkeys(("", *"，、。；！？"), "pause")
    | dict.fromkeys("：:", "colon")
    | dict.fromkeys("“”‘’《》", "quote")
)
#: After these, as after a number, a surname alone is a measure word: 那张贺卡.
_MEASURED = "几数多每那这两半哪"
#: Tags that count with two letters: names of people, places and bodies, and particles.
_TAGS = ("nr", "ns", "nt", "ud", "ug", "uj", "ul", "uv", "uz")
#: No given name of people that is not in the dictionary contains these.
EVERYDAY = (
    "我你他她它这那的了着过说问看想是有来去到和与在地得不没也都就又还很太最更再把被给让叫从向往对为以于而且或但如"
    "若因所其之此该每各另某本全上下里外中前后左右大小多少好坏新老高低长短快慢吃喝走跑坐站打拿放买卖做用开关要能会"
    "可应先只吧吗呢啊呀哦嘛么者们男女子儿人家时年月日天点分钟元块岁号次回遍种些头口手脚眼身水火车船机话事声色味气"
    "写读念唱画听学教帮送寄收借拉推抱抬挂贴装洗扫种养缝烧煮炒切纸字书图照桌椅床票卡单布皮网"
    "力段片条张根支件套双副群队班级第穿戴内间戏忘起蹶热才餐镇寺村路店馆街院县市省区乡"
    "一二三四五六七八九十百千万两几"
)
#: And no full name contains these.
FUNCTION = (
    "们但已并仍却便即又再均皆曾将会使令受遭获须需请谁"
    "怎仅才非无没未别莫勿双同还则乃亦每些按除给跟替信"
)
_RARE_IN_NAMES = frozenset(EVERYDAY + FUNCTION)
#: Longer words count as this long, and scores beyond it as this one.
_LONGEST, _MOST = 5, 10
#: Full names that are scored have this length at most.
_FULL = 3


class NameWeights:
    """The weights of features, and the surnames with which words of some kinds begin.

    `surnames` are those of `evenhand.slguset.names.read_surnames`; a surname that is a name
    anywhere does not begin one.
    """

    def __init__(self, weights: Mapping[str, float], surnames: Mapping[str, bool]) -> None:
        self._weights = weights
        self._surnames = {surname for surname, anywhere in surnames.items() if not anywhere}
        self._forms: dict[tuple[str, str], dict[str, float]] = {}

    def is_name(self, words: Sequence[str], name: NameToken) -> bool:
        """Return whether a word that jieba tags as a name is one.

        `words` are those of the sentence, cut without the hidden Markov model.
        """
        if not self.may_be_name(name.word):
            return False
        features = self.features(words, name).items()
        return sum(self._weights.get(key, 0.0) * value for key, value in features) > 0

    def may_be_name(self, word: str) -> bool:
        """Return whether a word has two characters or more, or is a surname."""
        return len(word) > 1 or word in self._surnames

    def features(self, words: Sequence[str], name: NameToken) -> dict[str, float]:
        """Return the features that are not 0."""
        known = self._forms.get((name.word, name.flag))
        if known is None:
            known = self._forms[name.word, name.flag] = dict(self._form(name.word, name.flag))
        starts = [*accumulate(map(len, words), initial=0)]
        before = words[bisect_left(starts, name.start) - 1] if name.start else ""
        following = words[bisect_left(starts, name.end) :][:2]
        context = dict.fromkeys(_context(before, "".join(following[:1]), name), 1.0)
        return known | context | dict(_with_next(name.word, following))

    def _form(self, word: str, flag: str) -> Iterator[tuple[str, float]]:
        length = min(len(word), _LONGEST)
        origin = "listed" if word in dictionary_names() else "joined"
        kind = f"{origin} {length}{' surname' if {word[0], word[:2]} & self._surnames else ''}"
        yield from dict.fromkeys(("always", kind, flag), 1.0).items()
        if length > 1:
            for model, score in name_scores(word).items():
                yield f"{model} {kind}", max(-_MOST, min(score, _MOST)) / _LONGEST
            if word[-1] in _PLACES:
                yield "ends like a place", 1.0
            if rare := sum(character in _RARE_IN_NAMES for character in word):
                yield f"rare characters {origin} {length}", rare
        if length > 2:
            for part, place in ((word[:2], "begins"), (word[-2:], "ends")):
                if part in dictionary_tags() and part not in dictionary_names():
                    frequency = math.log1p(dictionary_frequencies()[part])
                    yield f"{place} with a word {origin} {length}", frequency / _LONGEST
        if word[0] in "小老阿":
            yield f"familiar {kind}", 1.0


def read_weights(path: Path, surnames: Mapping[str, bool]) -> NameWeights:
    """Read a table with the columns feature and weight."""
    rows = read_resource(path, ["feature", "weight"], unique=("feature",), make=_weight)
    return NameWeights(dict(rows), surnames)


def _weight(row: dict[str, str]) -> tuple[str, float]:
    try:
        weight = float(row["weight"])
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise InputError(f"the weight {row['weight']!r} is no finite number")
    return row["feature"], weight


def _context(before: str, after: str, name: NameToken) -> Iterator[str]:
    if before[-1:].isalpha():
        yield f"behind {before[-1]}"
    if after[:1].isalpha():
        yield f"in front of {after[0]}"
    yield f"before {_tag(before)}"
    yield f"after {_tag(after)}"
    marks = (_MARKS.get(mark, "text") for mark in (before[-1:], after[:1]))
    yield f"between {' and '.join(marks)} {min(len(name.word), _LONGEST)}"
    if after and after[0] in _PLACES:
        yield "before a place"
    if len(name.word) == 1 and is_count(before):
        yield "a measure"


def _with_next(word: str, following: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield how likely a word of one or two characters is a full name with the next words."""
    length = len(word)
    if length < _FULL:
        names = (word + "".join(following[:count]) for count in (1, 2))
        full = [name for name in names if length < len(name) <= _FULL and name.isalpha()]
        if full:
            score = max(name_scores(name)["full"] for name in full)
            yield f"with next {length}", max(-_MOST, min(score, _MOST)) / _LONGEST
        else:
            yield f"no next {length}", 1.0


def is_count(word: str) -> bool:
    """Return whether the next word may be a measure word: 三, 10, 那."""
    return bool(word) and (word[-1].isnumeric() or word[-1] in _MEASURED)


def _tag(word: str) -> str:
    """Return the class of a word: the first letter of its tag, or two for names and particles."""
    tag = dictionary_tags().get(word, "x") if word else "end"
    return tag if tag == "end" else tag[:2] if tag[:2] in _TAGS else tag[0]
