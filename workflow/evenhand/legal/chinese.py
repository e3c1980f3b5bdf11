"""Chinese judgments: paragraphs, numbers and dates as courts write them, and the sentence.

FairLex (Chalkidis et al. 2022, section 3) takes the term of imprisonment for the severity of a
punishment, in CAIL's six classes. The rules that it leaves open:

- imprisonment for a fixed term (有期徒刑) and detention (拘役) count with their months, also
  where they are suspended (缓刑), as CAIL2018 counts them; days count as thirtieths;
- surveillance (管制), a fine, exemption from punishment and acquittal are no imprisonment: 0;
- life imprisonment and death, also with a reprieve, are above every term: >120;
- of several counts the term that the court decides to be served (决定执行) counts; of several
  defendants the heaviest sentence, because the facts are about the crime of all.
"""

import math
import re
from dataclasses import dataclass
from datetime import date
from itertools import chain, takewhile

#: Digits of a number or year, as courts write them: 一, 1, １, and all forms of zero.
_DIGITS = {c: i for i, c in enumerate("〇一二三四五六七八九")}
_DIGITS |= {c: i for i, c in enumerate("０１２３４５６７８９")} | {str(i): i for i in range(10)}
_DIGITS |= dict.fromkeys("○ΟОOoＯｏ零", 0) | {"两": 2}
_UNITS = {"十": 10, "百": 100}

#: Characters of a number.
NUMBER = f"[{''.join(_DIGITS)}{''.join(_UNITS)}]+"

_YEAR = f"[{''.join(_DIGITS)}]{{4}}"
_DATE = re.compile(rf"({_YEAR})\s*年\s*({NUMBER})\s*月\s*({NUMBER})\s*日")

#: Sources write blanks where the judgment had line ends; inside a line there are some too.
_BORDER = re.compile(r"(?<=[。！？；：”])\s+|[\r\n\u2028\u2029]+")
_BLANKS = re.compile(r"\s+")

#: How the court's reasons begin.
_REASONS = "本院认为"


def paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, cut at line ends and at blanks after a sentence.

    Runs of blanks (wide and non-breaking ones too) become one; blank paragraphs are left out.
    """
    return tuple(filter(None, (_BLANKS.sub(" ", part).strip() for part in _BORDER.split(text))))


def facts_of(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a source's facts, up to the court's own reasons.

    Some records hold the whole judgment there; from 本院认为 on, the court reasons and decides.
    """
    return tuple(takewhile(lambda part: not part.startswith(_REASONS), paragraphs(text)))


def number_of(words: str) -> int:
    """Return the number that characters of `NUMBER` write: 二十五, 十, 25, ２５, 零六.

    Raises ValueError if they write none (十十).
    """
    if not any(unit in words for unit in _UNITS):
        value = 0
        for character in words:
            value = 10 * value + _DIGITS[character]
        return value
    total = pending = 0
    floor = 1000
    for character in words:
        if character in _UNITS:
            unit = _UNITS[character]
            if unit >= floor:
                raise ValueError(f"{words} is no number")
            total, pending, floor = total + (pending or 1) * unit, 0, unit
        elif pending:
            raise ValueError(f"{words} is no number")
        else:
            pending = _DIGITS[character]
    return total + pending


def dates_of(text: str) -> list[tuple[int, date | None]]:
    """Return where dates begin (二〇一七年六月二十八日, 2017年6月28日), and the dates.

    None is one that no calendar has.
    """
    return [(match.start(), _date(match)) for match in _DATE.finditer(text)]


def _date(match: re.Match[str]) -> date | None:
    try:
        return date(*(number_of(part) for part in match.groups()))
    except ValueError:
        return None


#: Kinds of sentences, from the lightest.
KINDS = ("acquittal", "exemption", "fine", "surveillance", "detention", "imprisonment")
KINDS += ("life", "death")

#: Upper ends of all classes but the last, in months; and the classes.
_BOUNDS = (0, 12, 36, 60, 120)
CLASSES = ("0", *(f"<={bound}" for bound in _BOUNDS[1:]), f">{_BOUNDS[-1]}")

_AND = "[零又另]?"
_TERM = (
    rf"(?:(?P<years>{NUMBER})\s*年(?P<half_year>半)?)?{_AND}"
    rf"(?:(?P<months>{NUMBER})\s*个?(?P<half_month>半)?月)?{_AND}"
    rf"(?:(?P<days>{NUMBER})\s*[日天])?"
)
_SENTENCE = re.compile(
    rf"(?P<kind>有期徒刑|拘役|管制)(?:期限)?[为：:]?\s*{_TERM}"
    r"|(?P<life>无期徒刑)|(?P<death>死刑)|(?P<exemption>免(?:予|于|除)?(?:刑事)?(?:处罚|处分))"
    r"|(?P<acquittal>无罪)|(?P<fine>罚金)"
)
_TERMS = {"有期徒刑": "imprisonment", "拘役": "detention", "管制": "surveillance"}

_BRACKETS = re.compile(r"[（(][^（()）]*[)）]")
_OPERATIVE = re.compile(r"判决如下\s*[:：]?")
_AFTER = re.compile(r"如不服本判决|本判决为终审|审判[长员]")
_CLAUSE = re.compile("[^。；]*[。；]?")
_DEFENDANT = re.compile(
    r"(?=(?:被告人|上诉人)[^。；，]{1,20}犯)|[。；：:\s][一二三四五六七八九十]+、"
)
_DECIDED = "决定执行"


@dataclass(frozen=True)
class Sentence:
    """A punishment: one of `KINDS`, and the months of its term (0 where it has none)."""

    kind: str
    months: float = 0.0

    def labels(self) -> tuple[str]:
        """Return the label of a case with this sentence."""
        return (severity(self),)

    def metadata(self) -> dict[str, str]:
        """Return the sentence as metadata of a record."""
        return {"sentence": self.kind, "months": f"{self.months:g}"}


def severity(sentence: Sentence) -> str:
    """Return the class of a sentence: one of the labels of CAIL.

    Raises ValueError if the months are negative or no number.
    """
    if sentence.kind in ("life", "death"):
        return CLASSES[-1]
    if not math.isfinite(sentence.months) or sentence.months < 0:
        raise ValueError(f"{sentence.months} is no number of months")
    if sentence.kind not in ("imprisonment", "detention"):
        return CLASSES[0]
    return CLASSES[sum(sentence.months > bound for bound in _BOUNDS)]


def sentence_of(judgment: str) -> Sentence | None:
    """Return the sentence that a judgment imposes, or None if none can be read.

    Parameters
    ----------
    judgment : str
        The whole text. Its operative part follows the last 判决如下; sentences that a court of
        appeal quashes there (撤销) do not count, those that it upholds do.
    """
    starts = list(_OPERATIVE.finditer(judgment))
    if not starts:
        return None
    part = judgment[starts[-1].end() :]
    end = _AFTER.search(part)
    part = part[: end.start()] if end else part
    part = _BRACKETS.sub("", _BRACKETS.sub("", part))
    defendants = map(_imposed, _DEFENDANT.split(_drop_quashed(part)))
    return max(chain.from_iterable(defendants), key=_weight, default=None)


def _drop_quashed(part: str) -> str:
    """Remove quashed sentences: after 即, to the clause's end; else up to the decision."""
    kept = []
    for clause in _CLAUSE.findall(part):
        end = len(clause.rstrip("。；"))
        named = clause.rfind("即")
        at = 0
        while (begin := clause.find("撤销", at)) >= 0:
            kept.append(clause[at:begin])
            decided = -1 if named > begin else clause.find(_DECIDED, begin)
            at = end if decided < 0 else decided
        kept.append(clause[at:])
    return "".join(kept)


def _weight(sentence: Sentence) -> tuple[int, float, int]:
    """Return the sort key: by class first, then by the term, then by kind."""
    kind = KINDS.index(sentence.kind)
    return CLASSES.index(severity(sentence)), sentence.months, kind


def _imposed(piece: str) -> list[Sentence]:
    """Return one defendant's sentences: those finally decided, else those of every count."""
    decided = piece.rfind(_DECIDED)
    sentences = []
    for match in _SENTENCE.finditer(piece, max(decided, 0)):
        if not match["kind"]:
            sentences.append(Sentence(match.lastgroup))
        elif months := _months(match):
            sentences.append(Sentence(_TERMS[match["kind"]], months))
    return sentences


def _months(match: re.Match[str]) -> float:
    """Return the months of a matched term; 0 if it has none (有期徒刑 in a title, or masked)."""
    try:
        years, months, days = (number_of(match[n] or "0") for n in ("years", "months", "days"))
    except ValueError:
        return 0.0
    halves = 6 * bool(match["half_year"]) + 0.5 * bool(match["half_month"])
    return 12 * years + months + halves + days / 30
