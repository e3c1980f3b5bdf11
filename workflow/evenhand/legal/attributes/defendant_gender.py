"""CAIL: the defendant's gender, as stated by the court or implied by words of the facts.

Rules in order of precedence; the first that applies decides:

``given_by_source`` (1.0)
    FairLex's files, or annotators.
``stated_sex`` (0.99)
    The header of the judgment gives it behind the name: 被告人张某，男，1975年…. Defenders,
    victims and representatives have a sex there too; only words after 被告人 or 上诉人 in the
    same sentence count.
``stated_in_facts`` (0.95)
    The facts give it behind the defendant's name: 被告人张某（女，…）.
``kinship`` (0.9)
    The defendant has a spouse or a partner in the facts (被告人张某与其妻, 被告人张某的丈夫), or is
    one (其妻被告人张某, 其父张某). Weaker, because 女友 may be a friend.
``pregnancy`` (0.95)
    The defendant is pregnant or nurses: 被告人张某系怀孕的妇女.

Reasons for no value: ``several_defendants`` (they differ, or the sex of one is not stated),
``contradiction`` (the facts state both), ``not_stated``. The charge is not a rule: nearly all
who are convicted of rape are men, so the attribute would depend on the case's outcome.
"""

import re
from collections.abc import Iterable

from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Evidence, Finding
from evenhand.legal.records import Record

KIND = "cail"
TABLES: tuple[str, ...] = ()

_SEX = {"男": "male", "女": "female"}

#: Where the header of a judgment ends and what happened begins.
_HEADER_ENDS = re.compile("审理终结|起诉书|提起公诉|提起自诉|经审理查明|指控[:：，,]")

_ROLE = r"(?:上诉人|原审被告人|被告人)"
#: A defendant in the header: begins a sentence; the name goes up to a comma or bracket.
_DEFENDANT = re.compile(
    rf"(?:(?<=[。；;\s\d号])|^){_ROLE}(?:[（(][^（()）]*[)）])?[:：\s]?(?:自报)?"
    r"(?P<name>[^，,。；;（(\s]{1,24})(?P<rest>[^。]*)"
)
_STATED = re.compile(r"[，,、\s）):：](?P<sex>[男女])(?:性)?(?=[，,、。；;\s（(]|$)")
_NO_PERSON = re.compile("罪|一案|判决书|不服|上诉|提出|犯")

_SPOUSE = {
    "male": "妻子|妻|老婆|媳妇|前妻|岳父|岳母|女朋友|女友",
    "female": "丈夫|老公|前夫|公公|婆婆|公婆|婆家|男朋友|男友",
}
_BEING = {
    "male": "丈夫|老公|前夫|男友|男朋友|父亲|父|爸爸|儿子|子|弟弟|弟|哥哥|兄|女婿|叔叔|侄子|岳父",
    "female": "妻子|妻|老婆|前妻|女友|女朋友|母亲|母|妈妈|女儿|女|姐姐|姐|妹妹|妹|儿媳|侄女|岳母",
}
_PREGNANT = "(?:系|正|已|因|在|正在|正处于|处于|发现|发现自己)?(?:怀孕|孕妇|有身孕|哺乳)"

_WITH = "(?:与|和|同|及|因|伙同|将|对|向|在|的|之)"

#: A name that the source does not give.
_ANYBODY = "[^，。；、（(与和同及因伙将对向的之在系]{1,6}"

#: Characters that distinguish masked names: 刘某 is not 刘某某 or 刘某2.
_NAME_GOES_ON = r"(?![某甲乙丙丁戊己庚辛×xX\d])"


def find(record: Record, attribute: Attribute, prepared: None) -> Finding:
    """Return the defendants' gender."""
    stated = _stated(record)
    return stated or _from_facts(record)


# --- the header -----------------------------------------------------------------------------


def _stated(record: Record) -> Finding | None:
    """Return the gender that the header states; None if it states no defendant's sex."""
    found: dict[str, tuple[str | None, Evidence | None]] = {}
    for number, paragraph in enumerate(record.context):
        end = _HEADER_ENDS.search(paragraph)
        for match in _DEFENDANT.finditer(paragraph, 0, end.start() if end else len(paragraph)):
            name = match["name"]
            if _NO_PERSON.search(name) or found.get(name, (None,))[0]:
                continue
            sex = _STATED.search(paragraph, match.start("rest"), match.end("rest"))
            if sex is None:
                found.setdefault(name, (None, None))
                continue
            begin, stop = match.start(), sex.end()
            words = paragraph[begin:stop]
            found[name] = _SEX[sex["sex"]], Evidence("context", number, begin, stop, words)
        if end:
            break
    found = {n: one for n, one in found.items() if one[1] or not _goes_on(n, found)}
    evidence = tuple(one for _, one in found.values() if one)
    if not evidence:
        return None
    sexes = {sex for sex, _ in found.values()}
    flags = ("several_defendants",) if len(found) > 1 else ()
    if len(sexes) > 1:
        return Finding(None, "several_defendants", 0.99, evidence, flags)
    return Finding(sexes.pop(), "stated_sex", 0.99, evidence, flags)


def _goes_on(words: str, names: Iterable[str]) -> bool:
    """Whether these words are one of the names and the words that follow it: 刘某曾因盗窃."""
    return any(words != name and re.match(re.escape(name) + _NAME_GOES_ON, words) for name in names)


# --- the facts ------------------------------------------------------------------------------


def _from_facts(record: Record) -> Finding:
    """Return the gender that the facts imply for the source's defendant, or for any 被告人."""
    names = [re.escape(one) for one in record.metadata.get("criminals", "").split(";") if one]
    if len(names) > 1:
        return Finding(None, "several_defendants", 1.0)
    who = rf"被告人(?:{names[0] if names else _ANYBODY}){_NAME_GOES_ON}"
    in_brackets = [(sex, rf"{who}[（(，,]{word}(?=[，,)）])") for word, sex in _SEX.items()]
    rules = (
        ("stated_in_facts", 0.95, in_brackets),
        ("kinship", 0.9, _kinship(who)),
        ("pregnancy", 0.95, [("female", who + _PREGNANT)]),
    )
    for rule, confidence, patterns in rules:
        found = _search(record.text, patterns)
        if len(found) > 1:
            return Finding(None, "contradiction", confidence, tuple(found.values()))
        for sex, evidence in found.items():
            return Finding(sex, rule, confidence, (evidence,))
    return Finding(None, "not_stated", 1.0)


def _kinship(who: str) -> list[tuple[str, str]]:
    has = [(sex, rf"{who}(?:{_WITH}其?|其)(?:{words})") for sex, words in _SPOUSE.items()]
    return has + [(sex, rf"其(?:{words}){who}") for sex, words in _BEING.items()]


def _search(text: tuple[str, ...], patterns: list[tuple[str, str]]) -> dict[str, Evidence]:
    """The first place for each sex."""
    found: dict[str, Evidence] = {}
    for sex, pattern in patterns:
        for number, paragraph in enumerate(text):
            match = re.search(pattern, paragraph)
            if match and sex not in found:
                found[sex] = Evidence("text", number, *match.span(), match.group())
    return found
