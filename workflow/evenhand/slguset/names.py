"""Personal names in a sentence: the rules that all name filters share.

Each name filter finds names by its own method (jieba's tags, a CRF, a spaCy pipeline). This
module decides whether they reject the sentence. The keyword itself is never a name (jieba tags
阿姨 and 老公 as names). Patterns find three forms, whether or not the filter finds a name in them.
Each form has its own policy, because opinions on them differ:

`anonymised_name`
    A surname and 某: 王某, 李某某, 张某甲; also with a number (黄1某), and any character that
    is no function word before 某某 (尕某某).
`surname_title`
    A surname and a form of address or rank: 王阿姨, 李先生, 陈校长.
`familiar_name`
    小 or 老 before a surname, or 阿 before any character: 小王, 老李, 阿强.

The policy `drop` rejects a sentence for such a form; `keep` lets it pass, and a name that the
filter found inside it does not count either. The paper drops sentences with personal names and
gives 小明, 琳琳 and 妞妞 as examples, so that `drop` is the default of all three; the authors'
file kept 418 sentences with the first form. All other names give the reason `name`; so does
text that looks like a name, whatever the filter finds: after a role in court or a title
(被告人许全德, 市长柯文哲), before 男 or 女 in the heading of a judgment, with a doubled character
(韩宁宁), and text that is likelier a name than the words of the dictionary that it is cut into
(付|永平, 沈政男, 拉加|德; `evenhand.text.unlisted_names`); and surnames that are no other word
(阿部), doubled given names (薇薇), and what a point joins (比利·乔). After a title a word for a
place is a name (总理巴拉克), and so is a surname that begins a clause (孙辩称).

A form counts where it begins and ends with words of jieba's segmentation without the hidden
Markov model: 文 in 语文老师 is no surname.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, compress, takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evenhand.core.resources import read_resource
from evenhand.slguset.name_weights import EVERYDAY, FUNCTION, is_count
from evenhand.slguset.verdicts import Finding, Judge
from evenhand.text.character_pairs import CharacterPairs
from evenhand.text.posseg import dictionary_frequencies, dictionary_tags
from evenhand.text.segmentation import cut_all
from evenhand.text.unlisted_names import (
    foreign_characters,
    foreign_name_score,
    full_name_score,
    name_surnames,
)

Policy = Literal["drop", "keep"]

#: The columns of a keywords table that a name filter reads.
COLUMNS = ("sentence", "surface_start", "surface_end")

#: The reasons in their order where a sentence has several; the first is for a name of no form.
REASONS = {
    "name": (
        "A person’s name",
        "The filter takes a word for a name, whose {attribute} a reader may know; it can be wrong.",
    ),
    "anonymised_name": ("A surname and 某", "It speaks of a person as 王某 or 李某某."),
    "surname_title": ("A surname and a title", "It names a person with a title: 王阿姨, 陈校长."),
    "familiar_name": ("A familiar name", "It names a person as 小王, 老李 or 阿强."),
}
NAME, ANONYMISED, TITLED, FAMILIAR = REASONS

#: After 某 these make it the pronoun: 某些, 某种 ...
_PRONOUN = "些种个项次"
#: Before 某 these are words of their own: 在某某公司, 由某某负责.
_NO_SURNAME = (
    "的了在是对与和向由被将把为于从给叫让找因到其该及或跟有以去来说问打即至称经个名位某"
    "一二三四五六七八九十"
)

#: No given name of people that is not in the dictionary contains these.
_NO_GIVEN = re.compile(f"[{EVERYDAY}]")
#: Surnames that are mostly other words.
_NO_SURNAMES = "查包钱高冷段曲代任曾戴祝莫万辛胡程"
#: Surnames that can be words by themselves where a clause begins.
_CLAUSE_WORDS = (
    f"{_NO_SURNAMES}盖尚关左闻严牛马白时温易游安乐常黄金龙熊叶江田石季史方文梅柳柴章童雷简韩伊"
)
#: Doubled, these make a name: 薇薇, 琳琳.
_DOUBLED = "薇琳彬妮莉娜婷妞莹璐倩媛玲芳蓉娟茜珊瑶莎菲娅雯燕萍霞"
#: The least scores of names that the dictionary does not list: full names with a surname of the
#: table, with another one or one that is mostly another word, and transliterated names.
_FULL, _RARE_SURNAME, _FOREIGN = 0, 6, 5
#: The frequency from which the dictionary's word for a place is none for a person.
_RARE = 500
#: After 某 these make it a place or a time: 于某年, 付某公司.
_PLACES = "年月日天时处地位公市县省区镇村乡小学医院店"

#: Words of the dictionary that are no names, though they look like 小王 and 老李.
_COMMON_WORD = re.compile(
    "小[许钱费康熊包牛麦曲段马苗项宗童叶景金石季巢付蓟龙]|老[翁巢赖牛庄马汤麦童景姜柴]"
)


class Span(NamedTuple):
    """A stretch of a sentence; `end` is exclusive."""

    start: int
    end: int

    def holds(self, other: "Span | tuple[int, int]") -> bool:
        """Whether the other one lies within this one."""
        return self.start <= other[0] and other[1] <= self.end

    def overlaps(self, other: "Span") -> bool:
        """Whether they share a character."""
        return self.start < other.end and other.start < self.end


class Form(NamedTuple):
    """A form of names: its reason and pattern. The last group is the name where there is one."""

    reason: str
    pattern: re.Pattern[str]


class NameRules(NamedTuple):
    """The forms, the reasons that are dropped, and how unlisted names are recognised.

    `triggers` has characters of which each match of a form, and last `foreign`, contains a pair.

    `surnames` has the score above which three characters that begin with a surname are a name,
    `given_name` matches the two others, and `foreign` what may be transliterated.
    """

    forms: list[Form]
    triggers: CharacterPairs
    dropped: frozenset[str]
    surnames: dict[str, float]
    given_name: re.Pattern[str]
    foreign: re.Pattern[str]


def read_surnames(path: Path) -> dict[str, bool]:
    """Return the surnames, and whether each is a name anywhere."""
    rows = read_resource(
        path,
        ["surname", "anywhere"],
        optional=("anywhere",),
        unique=("surname",),
        choices={"anywhere": ["yes"]},
    )
    return {row["surname"]: bool(row["anywhere"]) for row in rows}


def read_rules(files: Mapping[str, Path], settings: Mapping[str, Any] | None = None) -> NameRules:
    """Read the rules from the files and settings of a filter (`evenhand.slguset.apply_filters`).

    Parameters
    ----------
    files : mapping
        The tables by name: surnames.csv (surname; everyday words such as 于, 向, 和 are not in the
        table that comes with the workflow; anywhere: yes for a name wherever it stands, such as
        阿部), titles.csv (title), and roles.csv (role: before a name,
        in court, such as 被告人).
    settings : mapping, optional
        The policies `anonymised`, `surname_title` and `familiar`; `drop` by default.
    """
    settings = settings or {}
    surnames = read_surnames(files["surnames.csv"])
    listed = {*surnames}
    any_place = {surname for surname, anywhere in surnames.items() if anywhere}
    anywhere = _any_of(any_place)
    japanese_or_doubled = [*any_place, "太郎", "次郎", *(c * 2 for c in _DOUBLED)]
    surname, surname_ends = _any_of(listed), "".join(surname_[-1] for surname_ in listed)
    titles_ = [row["title"] for row in read_resource(files["titles.csv"], ["title"])]
    long_titles = [title_ for title_ in titles_ if len(title_) > 1]
    title, long_title = _any_of(titles_), _any_of(long_titles)
    roles = [row["role"] for row in read_resource(files["roles.csv"], ["role"])]
    role = _any_of(roles)
    any_given = f"[^\\W\\d{_NO_SURNAME}]"
    han = "[\u4e00-\u9fff]"
    named = f"(?!某){han}"
    then = "[，。、；：,（(）)的和与及在于向将对因为]"
    says = "[是也曾就都还则说称]|表示|认为|指出|透露|强调"
    content = f"(?![{EVERYDAY}{FUNCTION}]){han}"
    single = "".join(sorted(surname_ for surname_ in listed if len(surname_) == 1))
    no_first = {*single, *_NO_SURNAME, *EVERYDAY, *FUNCTION}
    least = dict.fromkeys(single, _FULL)
    least |= dict.fromkeys({*name_surnames()} - no_first | {*_NO_SURNAMES}, _RARE_SURNAME)
    known = foreign_characters()
    bare = "".join({*single, *"师何"} - {*_CLAUSE_WORDS})
    no_number = "(?<![一二三四五六七八九十])[·•・‧](?![一二三四五六七八九十])"
    after = "辩称|供述|再次|多次|又|的|在|与|和|将|把|被|对|向|称|说"
    # 阿 precedes a name, but not in 阿姨, 阿婆 and other words for kin.
    forms = [
        (
            NAME,
            _beginnings(roles),
            f"(?:{role})(?P<role>{surname}(?:{named}){{1,2}}?)"
            f"(?={then}|[经驾持到以伙从自由至]|等|先后|窜|伙同)"
            # in the heading of a judgment the text after a name marks it, whatever the surname
            f"|(?:{role})[：:]?(?:（[^（）]{{1,14}}）)?(?:自报)?(?P<heading>(?!人)(?:{named}){{1,4}}?)"
            "(?=[，,（(][男女][，,]|[（(，,](?:曾用名|又名|化名|别名|绰号|乳名|自报|原名)|于\\d{4})",
        ),
        (
            NAME,
            _beginnings(long_titles),
            f"(?:{long_title})(?:(?P<titled>{surname}(?:{named}){{1,2}}?)(?={then}|{says}|[一今昨])"
            f"|(?P<called>(?:{named}){{2,4}}))",
        ),
        # as an encyclopedia begins
        (NAME, [("（", "")], f"^(?P<record>{surname}(?:{named}){{1,2}})(?=（)"),
        (
            NAME,
            _beginnings(japanese_or_doubled),
            f"(?P<anywhere>{anywhere}|{content}{{1,2}}[太次]郎|([{_DOUBLED}])\\2)",
        ),
        (
            NAME,
            [("·•・‧", "")],
            f"(?P<joined>(?:(?<![{known}])[{known}]+"
            f"|(?<!{han})(?:(?![{known}]+[·•・‧]){han}){{1,4}}){no_number}"
            f"(?:[{known}]+|{han}{{1,4}}(?!{han})))",
        ),
        (NAME, [("", "")], f"(?P<twice>{surname}({named})\\2)"),
        (
            NAME,
            [("，,（(", "男女")],
            f"(?P<record>{surname}(?:{named}){{1,2}})(?=[，,（(][男女][，,])",
        ),
        (
            NAME,
            [(bare, "".join(word[0] for word in after.split("|")))],
            f"(?:^|(?<=[，。；：、“（,;:与和对被向将把由及跟]))(?P<bare>[{bare}])(?={after})",
        ),
        (
            ANONYMISED,
            [("某", "")],
            f"(?:{surname}{any_given}?\\d?|{any_given}\\d|{any_given}(?=某[某\\d])"
            f"|(?:(?<=[人犯者])|(?<=[人犯者告][：:])|(?<=[被原]告)(?!人)){any_given}{{1,2}}\\d?(?!某[天日时年月处地位]))"
            f"某(?![{_PRONOUN}])[某甲乙丙丁]?"
            f"|[于付路解师容时]某(?!某?[{_PLACES}号条]|{han}{{0,3}}(?:公司|厂|集团|单位))|[他她]{any_given}某(?![{_PRONOUN}{_PLACES}])",
        ),
        (ANONYMISED, [("*＊×○", "")], f"{surname}[*＊×○]{{1,3}}"),
        (
            TITLED,
            [*_beginnings(long_titles), (surname_ends, "".join({*titles_} - {*long_titles}))],
            f"(?![代祝]){surname}(?P<rest>{title})",  # an acting president, a wish to teachers
        ),
        # as newspapers of Taiwan speak of people: 陈妇, 林男
        (
            TITLED,
            [(surname_ends, "妇翁嫌男女")],
            f"(?![{_NO_SURNAMES}白仇]){surname}(?P<rest>[妇翁嫌男女])",
        ),
        (
            FAMILIAR,
            [("小老", "".join(surname_[0] for surname_ in listed)), ("阿", "")],
            f"(?:(?!(?<=[^记觉晓认懂]得)老)[小老](?={surname})|阿(?![姨婆嬷爸妈公爷{FUNCTION}了的给是就]))"
            f"(?P<rest>{surname}|{han})",
        ),
    ]
    made = [Form(reason, re.compile(pattern)) for reason, _, pattern in forms]
    triggers = CharacterPairs([*(pairs for _, pairs, _ in forms), [(known, known)]])
    policies = {ANONYMISED: "anonymised", TITLED: "surname_title", FAMILIAR: "familiar"}
    kept = {reason for reason, name in policies.items() if settings.get(name) == "keep"}
    given_name = re.compile(f"{content}(?:{content}|[男女])")
    foreign = re.compile(f"[{known}]{{3,}}")
    return NameRules(made, triggers, frozenset(REASONS.keys() - kept), least, given_name, foreign)


def name_filter(
    find_names: Callable[[list[str], list[list[str]]], Iterable[Sequence[tuple[int, int]]]],
    rules: NameRules,
) -> Judge:
    """Return a filter by a function that finds the spans of names of sentences and their words."""

    def judge(sentences: list[str], starts: list[int], ends: list[int]) -> Iterator[Finding | None]:
        words = cut_all(sentences)
        surfaces, names = zip(starts, ends, strict=True), find_names(sentences, words)
        triggered = rules.triggers.search(sentences)
        for *each, bits in zip(sentences, words, surfaces, names, triggered, strict=True):
            yield judge_names(*each, rules, bits)

    return judge


def judge_names(
    sentence: str,
    words: Sequence[str],
    surface: tuple[int, int],
    names: Sequence[tuple[int, int]],
    rules: NameRules,
    triggered: int | None = None,
) -> Finding | None:
    """Decide whether the names of a sentence reject it.

    Parameters
    ----------
    sentence : str
        The sentence.
    words : sequence of str
        Its words, of jieba's segmentation without the hidden Markov model.
    surface : (int, int)
        The position of its keyword (the whole surface; end exclusive).
    names : sequence of (int, int)
        The spans that the filter takes for names.
    rules : NameRules
        See `read_rules`.
    triggered : int, optional
        Which forms may occur, as `rules.triggers` has it.

    Returns
    -------
    Finding or None
        The first reason in the order of `REASONS`, with all names that reject the
        sentence as evidence, in the order of the sentence; None if it has none.
    """
    keyword = Span(*surface)
    forms = find_forms(sentence, words, rules, triggered)
    if not names and not forms:
        return None
    rejected = [(s, reason) for s, reason in forms if reason in rules.dropped]
    for name in names:
        if not keyword.holds(name) and not any(span.holds(name) for span, _ in forms):
            rejected.append((Span(*name), NAME))
    if not rejected:
        return None
    reason = min((reason for _, reason in rejected), key=[*REASONS].index)
    return Finding(reason, [sentence[s.start : s.end] for s, _ in sorted(rejected)])


def find_forms(
    sentence: str, words: Sequence[str], rules: NameRules, triggered: int | None = None
) -> list[tuple[Span, str]]:
    """Return the spans of the forms and of names after roles, and the reason of each.

    `words` are those of jieba's segmentation without the hidden Markov model.
    """
    if triggered is None:
        (triggered,) = rules.triggers.search([sentence])
    matches = [
        (match, form.reason)
        for form in compress(rules.forms, _bits(triggered))
        for match in form.pattern.finditer(sentence)
    ]
    foreign = list(rules.foreign.finditer(sentence)) if triggered >> len(rules.forms) else []
    unlisted = list(_full_names(words, rules))
    if not matches and not foreign and not unlisted:
        return []
    borders = dict(zip(accumulate(map(len, words), initial=0), range(len(words) + 1), strict=True))
    spans: dict[tuple[Span, str], None] = {}
    for match, reason in matches:
        if match.start() not in borders and not _after_a_dynasty(match, reason):
            continue
        if reason == NAME:
            span = _name_in(match, words, borders)
        else:
            span = Span(*match.span())
            if reason != ANONYMISED and not _is_form(match, borders):
                continue
        if span:
            spans[span, reason] = None
    # these give way to the others
    for span in [*unlisted, *_foreign_names(foreign, words, borders)]:
        if not any(span.overlaps(other) for other, _ in spans):
            spans[span, NAME] = None
    return list(spans)


@cache
def _bits(number: int) -> list[bool]:
    """Return whether each bit is set, the lowest first."""
    return [digit == "1" for digit in reversed(f"{number:b}")]


def _full_names(words: Sequence[str], rules: NameRules) -> Iterator[Span]:
    """Yield the full names of three characters that the dictionary does not list.

    The surname is a word by itself; after a count it is a measure: 五|张|贺卡.
    """
    if rules.surnames.keys().isdisjoint(words):
        return
    start = 0
    for place, word in enumerate(words):
        if word in rules.surnames:
            parts = words[place : place + 2]
            if len(parts[-1]) == 1:
                parts = words[place : place + 3]
            name = "".join(parts)
            if (
                len(name) == 3
                and rules.given_name.match(name, 1)
                and not (place and is_count(words[place - 1]))
                and full_name_score(parts) > rules.surnames[word]
            ):
                yield Span(start, start + 3)
        start += len(word)


def _foreign_names(
    matches: Iterable[re.Match[str]], words: Sequence[str], borders: Mapping[int, int]
) -> Iterator[Span]:
    """Yield the transliterated names among some matches: words that are likelier one name."""
    for match in matches:
        span = Span(*match.span())
        if span.start in borders and span.end in borders:
            parts = words[borders[span.start] : borders[span.end]]
            if len(parts) > 1 and foreign_name_score(parts) > _FOREIGN:
                yield span


def _after_a_dynasty(match: re.Match[str], reason: str) -> bool:
    """Whether jieba takes a surname for a part of a dynasty: 后赵|某甲."""
    return reason == ANONYMISED and match.string.endswith("后", 0, match.start())


def _name_in(match: re.Match[str], words: list[str], borders: Mapping[int, int]) -> Span | None:
    """Return the name in a text that looks like one; None if it is another word, or begins so.

    `borders` are the places where words begin, and the number of the word.
    """
    kind = match.lastgroup
    span = Span(*match.span(kind))
    text, tags = match[kind], dictionary_tags()
    if kind in ("bare", "anywhere"):
        return span if span.end in borders else None
    if kind == "joined" or (kind == "heading" and len(text) == 1):
        return span
    if kind == "called":
        return _after_title(span, words, borders)
    if not tags.get(text, "nr").startswith("nr"):
        return None
    if kind in ("role", "heading", "record"):
        return span
    if span.start not in borders:
        return None
    first = len(words[borders[span.start]])
    if first > len(text) or _NO_GIVEN.search(text):
        return None
    if first > 1:
        return span if tags.get(text[:first]) == "nz" else None
    return span if text[1:] not in tags or tags[text[1:]] in ("nr", "nrt", "ns", "nz") else None


def _after_title(span: Span, words: list[str], borders: Mapping[int, int]) -> Span | None:
    """Return the name that begins a text after a title: a word for a place, or characters of names.

    The dictionary takes 普京 and 巴拉克 for places.
    """
    place = borders.get(span.start, len(words) - 1)
    word = words[place]
    rare = dictionary_frequencies().get(word, _RARE) < _RARE
    if 1 < len(word) <= 4 and rare and dictionary_tags()[word] in ("ns", "nrt", "nz"):
        return Span(span.start, span.start + len(word))
    parts = list(takewhile(_only_foreign, words[place : place + 4]))
    end = span.start + sum(map(len, parts))
    is_name = len(parts) > 1 and foreign_name_score(parts) > _FOREIGN
    return Span(span.start, end) if is_name else None


def _only_foreign(word: str) -> bool:
    return not word.strip(foreign_characters())


def _is_form(match: re.Match[str], borders: Mapping[int, int]) -> bool:
    """Whether the two parts of a form are words, or both together are one (李先生, 老李)."""
    start, end = match.span()
    second = match.start("rest")
    if end not in borders:
        return False
    if second in borders:
        return True
    if any(between in borders for between in range(start + 1, end)):
        return False
    if match[0][0] in "小老阿":
        return match[0][0] != "阿" and not _COMMON_WORD.fullmatch(match[0])
    return end - second > 1  # 李先生, but not 吴哥 (Angkor)


def _beginnings(words: Iterable[str]) -> list[tuple[str, str]]:
    return [(word[0], word[1:2]) for word in words]


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of some words, the longest first; single characters are one class.

    Beside single characters the longer words are not tried where none of them begins.
    """
    words = sorted(set(words), key=lambda word: (-len(word), word))
    if not words:
        return "(?!)"  # which matches nothing
    single = "".join(re.escape(word) for word in words if len(word) == 1)
    longer = [word for word in words if len(word) > 1]
    pattern = "|".join(map(re.escape, longer))
    if single and longer:
        firsts = "".join(sorted({re.escape(word[0]) for word in longer}))
        return f"(?:(?=[{firsts}])(?:{pattern})|[{single}])"
    return f"(?:{pattern or f'[{single}]'})"
