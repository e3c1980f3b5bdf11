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

from evenhand.legal.declaration import Attribute
from evenhand.legal.findings import Evidence, Finding
from evenhand.legal.records import Record

KIND = "cail"

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
    return _stated(record) or _from_facts(record)


def _stated(record: Record) -> Finding | None:
    """Return the gender that the header states; None if it states no defendant's sex."""
    defendants: dict[str, tuple[str | None, Evidence | None]] = {}
    for number, paragraph in enumerate(record.context):
        end = _HEADER_ENDS.search(paragraph)
        for match in _DEFENDANT.finditer(paragraph, 0, end.start() if end else len(paragraph)):
            name = match["name"]
            if _NO_PERSON.search(name) or defendants.get(name, (None,))[0]:
                continue
            defendants[name] = (None, None)
            if sex := _STATED.search(paragraph, *match.span("rest")):
                words = paragraph[match.start() : sex.end()]
                evidence = Evidence("context", number, match.start(), sex.end(), words)
                defendants[name] = _SEX[sex["sex"]], evidence
        if end:
            break
    people = [
        (sex, evidence)
        for name, (sex, evidence) in defendants.items()
        # without those that are another name and the words that follow it: 刘某曾因盗窃
        if evidence
        or not any(
            other != name and re.match(re.escape(other) + _NAME_GOES_ON, name)
            for other in defendants
        )
    ]
    evidence = tuple(words for _, words in people if words)
    if not evidence:
        return None
    sexes = {sex for sex, _ in people}
    flags = ("several_defendants",) if len(people) > 1 else ()
    if len(sexes) > 1:
        return Finding(None, "several_defendants", 0.99, evidence, flags)
    return Finding(sexes.pop(), "stated_sex", 0.99, evidence, flags)


def _from_facts(record: Record) -> Finding:
    """Return the gender that the facts imply for the source's defendant, or for any 被告人."""
    names = [*filter(None, record.metadata.get("criminals", "").split(";"))]
    if len(names) > 1:
        return Finding(None, "several_defendants", 1.0)
    who = rf"被告人(?:{re.escape(names[0]) if names else _ANYBODY}){_NAME_GOES_ON}"
    kinship = [(sex, rf"{who}(?:{_WITH}其?|其)(?:{words})") for sex, words in _SPOUSE.items()]
    kinship += [(sex, rf"其(?:{words}){who}") for sex, words in _BEING.items()]
    in_brackets = [(sex, rf"{who}[（(，,]{word}(?=[，,)）])") for word, sex in _SEX.items()]
    for rule, confidence, patterns in (
        ("stated_in_facts", 0.95, in_brackets),
        ("kinship", 0.9, kinship),
        ("pregnancy", 0.95, [("female", who + _PREGNANT)]),
    ):
        first: dict[str, Evidence] = {}
        for sex, pattern in patterns:
            for number, paragraph in enumerate(record.text):
                if match := re.search(pattern, paragraph):
                    first.setdefault(sex, Evidence.of_match("text", number, match))
        if first:
            sex, rule = (*first, rule) if len(first) == 1 else (None, "contradiction")
            return Finding(sex, rule, confidence, tuple(first.values()))
    return Finding(None, "not_stated", 1.0)
