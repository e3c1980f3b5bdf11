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
text after a role in court that looks like a name, whatever the filter finds: 被告人许全德.

A form counts where it begins and ends with words of jieba's segmentation without the hidden
Markov model: 文 in 语文老师 is no surname.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evenhand.core.resources import read_resource
from evenhand.slguset.verdicts import Finding
from evenhand.text.posseg import dictionary_tags
from evenhand.text.segmentation import cut

Policy = Literal["drop", "keep"]

#: The columns of a keywords table that a name filter reads.
COLUMNS = ("sentence", "surface_start", "surface_end")

#: The reasons in their order where a sentence has several; the first is for a name of no form.
REASONS = {
    "name": ("A person’s name", "It names a person, whose gender a reader may know."),
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


class NameRules(NamedTuple):
    """The patterns of the forms and of names after roles, and which of them are dropped.

    A pattern is not searched where its trigger, a part of all its matches, is not found.
    """

    patterns: dict[str, re.Pattern[str]]
    triggers: dict[str, re.Pattern[str]]
    dropped: frozenset[str]


def read_rules(
    surnames: Path,
    titles: Path,
    roles: Path,
    *,
    anonymised: Policy = "drop",
    surname_title: Policy = "drop",
    familiar: Policy = "drop",
) -> NameRules:
    """Read the tables of surnames and titles.

    Parameters
    ----------
    surnames : Path
        CSV with the column `surname`. Surnames that are everyday words as well (于, 向, 和)
        are not in the table that comes with the workflow.
    titles : Path
        CSV with the column `title`.
    roles : Path
        CSV with the column `role`: before a name, in court (被告人).
    anonymised, surname_title, familiar : str
        The policies: `drop` or `keep`.

    Raises
    ------
    InputError
        A table is not well formed.
    """
    surname = _any_of(row["surname"] for row in read_resource(surnames, ["surname"]))
    title_rows = read_resource(titles, ["title"])
    title = _any_of(row["title"] for row in title_rows)
    role = _any_of(row["role"] for row in read_resource(roles, ["role"]))
    given = f"[^\\W\\d{_NO_SURNAME}]"
    # 阿 precedes a name, but not in 阿姨, 阿婆 and other words for kin.
    patterns = {
        NAME: re.compile(
            f"(?:{role})(?P<rest>{surname}(?:(?!某)[\u4e00-\u9fff]){{1,2}}?)"
            "(?=[，。、；：,（(）)的和与及在于向将对因为经驾持到以伙从以自由至]|等|先后|窜|伙同)"
            # in the heading of a judgment the text after a name marks it, whatever the surname
            f"|(?:{role})(?:自报)?(?P<heading>(?!人)(?:(?!某)[\u4e00-\u9fff]){{1,4}}?)"
            "(?=[，,][男女][，,]|[（(，,](?:曾用名|又名|化名|别名|绰号|乳名|自报|原名)|于\\d{4})"
        ),
        ANONYMISED: re.compile(
            f"(?:{surname}{given}?\\d?|{given}\\d|{given}(?=某某)"
            f"|(?:(?<=[人犯者])|(?<=被告)(?!人)){given}{{1,2}}\\d?(?!某[天日时年月处地位]))"
            f"某(?![{_PRONOUN}])[某甲乙丙丁]?"
        ),
        TITLED: re.compile(f"{surname}(?P<rest>{title})"),
        FAMILIAR: re.compile(
            f"(?:[小老](?={surname})|阿(?![姨婆嬷爸妈公爷]))(?P<rest>{surname}|[\u4e00-\u9fff])"
        ),
    }
    # plain literals are found without backtracking
    called = "|".join(map(re.escape, sorted(row["title"] for row in title_rows)))
    triggers = {NAME: role, ANONYMISED: "某", TITLED: called, FAMILIAR: f"[小老]{surname}|阿"}
    triggers = {reason: re.compile(pattern) for reason, pattern in triggers.items()}
    policies = {ANONYMISED: anonymised, TITLED: surname_title, FAMILIAR: familiar}
    dropped = {reason for reason, policy in policies.items() if policy == "drop"}
    return NameRules(patterns, triggers, frozenset({NAME, *dropped}))


def rules_from(files: Mapping[str, Path], settings: Mapping[str, Any]) -> NameRules:
    """Read the rules from the files and settings of a filter (`evenhand.slguset.apply_filters`)."""
    policies = {name: settings[name] for name in ("anonymised", "surname_title", "familiar")}
    tables = (files[f"{name}.csv"] for name in ("surnames", "titles", "roles"))
    return read_rules(*tables, **policies)


def judge_names(
    sentence: str,
    surface: tuple[int, int],
    names: Sequence[tuple[int, int]],
    rules: NameRules,
) -> Finding | None:
    """Decide whether the names of a sentence reject it.

    Parameters
    ----------
    sentence : str
        The sentence.
    surface : (int, int)
        The position of its keyword (the whole surface; end exclusive).
    names : sequence of (int, int)
        The spans that the filter takes for names.
    rules : NameRules
        See `read_rules`.

    Returns
    -------
    Finding or None
        The first reason in the order of `REASONS`, with all names that reject the
        sentence as evidence, in the order of the sentence; None if it has none.
    """
    keyword = Span(*surface)
    forms = find_forms(sentence, rules)
    if not names and not forms:
        return None
    found = [(s, reason) for s, reason in forms if reason in rules.dropped]
    for name in names:
        if not keyword.holds(name) and not any(span.holds(name) for span, _ in forms):
            found.append((Span(*name), NAME))
    if not found:
        return None
    reason = min((reason for _, reason in found), key=[*REASONS].index)
    return Finding(reason, [sentence[s.start : s.end] for s, _ in sorted(found)])


def find_forms(sentence: str, rules: NameRules) -> list[tuple[Span, str]]:
    """Return the spans of the forms and of names after roles, and the reason of each."""
    matches = [
        (match, reason)
        for reason, pattern in rules.patterns.items()
        if rules.triggers[reason].search(sentence)
        for match in pattern.finditer(sentence)
    ]
    if not matches:
        return []
    borders = {0, *accumulate(map(len, cut(sentence)))}
    return [
        (Span(*(_name_in(match) if reason == NAME else match.span())), reason)
        for match, reason in matches
        if match.start() in borders
        and (
            reason == ANONYMISED
            or (_is_name(match) if reason == NAME else _is_form(match, borders))
        )
    ]


def _name_in(match: re.Match[str]) -> tuple[int, int]:
    return match.span("rest" if match["rest"] else "heading")


def _is_name(match: re.Match[str]) -> bool:
    """Return whether the text after a role is not in the dictionary, or tagged there as a name."""
    return dictionary_tags().get(match[match.lastgroup], "nr").startswith("nr")


def _is_form(match: re.Match[str], borders: set[int]) -> bool:
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


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of some words, the longest first; single characters are one class."""
    words = sorted(set(words), key=lambda word: (-len(word), word))
    single = "".join(re.escape(word) for word in words if len(word) == 1)
    longer = [re.escape(word) for word in words if len(word) > 1]
    return f"(?:{'|'.join([*longer, *([f'[{single}]'] if single else [])])})"
