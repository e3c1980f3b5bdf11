"""How severe a punishment is: the months of imprisonment, in CAIL's six classes.

FairLex (Chalkidis et al. 2022, section 3) takes the term of imprisonment for the severity. The
rules that it leaves open:

- imprisonment for a fixed term (有期徒刑) and detention (拘役) count with their months, also
  where they are suspended (缓刑), as CAIL2018 counts them; days count as thirtieths;
- surveillance (管制), a fine, exemption from punishment and acquittal are no imprisonment: 0;
- life imprisonment and death, also with a reprieve, are above every term: >120;
- of several counts the term that the court decides to be served (决定执行) counts; of several
  defendants the heaviest sentence, because the facts tell of the crime of all.
"""

import math
import re
from dataclasses import dataclass

from evenhand.legal.chinese import NUMBER, number_of

#: Kinds of sentences, from the lightest.
KINDS = (
    "acquittal",
    "exemption",
    "fine",
    "surveillance",
    "detention",
    "imprisonment",
    "life",
    "death",
)

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
    """The class of a sentence: one of the labels of CAIL.

    Raises ValueError if the months are negative or no number.
    """
    if sentence.kind in ("life", "death"):
        return CLASSES[-1]
    if not math.isfinite(sentence.months) or sentence.months < 0:
        raise ValueError(f"{sentence.months} is no number of months")
    if sentence.kind not in ("imprisonment", "detention"):
        return CLASSES[0]
    place = sum(sentence.months > bound for bound in _BOUNDS)
    return CLASSES[place]


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
    found = [one for piece in _DEFENDANT.split(_drop_quashed(part)) for one in _imposed(piece)]
    return max(found, key=_weight, default=None)


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
    """By class first, then by the term, then by kind."""
    kind = KINDS.index(sentence.kind)
    return CLASSES.index(severity(sentence)), sentence.months, kind


def _imposed(piece: str) -> list[Sentence]:
    """Return one defendant's sentences: those finally decided, else those of every count."""
    decided = piece.rfind(_DECIDED)
    found = []
    for match in _SENTENCE.finditer(piece, max(decided, 0)):
        if match["kind"]:
            months = _months(match)
            if months:
                found.append(Sentence(_TERMS[match["kind"]], months))
        else:
            found.append(Sentence(match.lastgroup))
    return found


def _months(match: re.Match[str]) -> float:
    """The months of a matched term; 0 if it has none (有期徒刑 in a title, or masked)."""
    try:
        years, months, days = (number_of(match[n] or "0") for n in ("years", "months", "days"))
    except ValueError:
        return 0.0
    halves = 6 * bool(match["half_year"]) + 0.5 * bool(match["half_month"])
    return 12 * years + months + halves + days / 30
