"""Judgments of the Strasbourg court: paragraphs, sections, findings of the operative part.

Judgments since 1960 have the same form: a header (title, composition), PROCEDURE (since 2019 an
INTRODUCTION), THE FACTS (until 1998 AS TO THE FACTS; in short judgments of committees SUBJECT
MATTER OF THE CASE) with the circumstances first and the relevant law after them, THE LAW, and
the operative part after FOR THESE REASONS. Its paragraphs are numbered from 1 through all
sections. Only the circumstances are facts from which the outcome may be predicted.
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import unescape

from evenhand.io.markup import strip_html

# --- from characters to lines ---------------------------------------------------------------

#: A rule of a style sheet, as the text of HUDOC's pages begins with: ``.sFE10 { color:red }``.
_CSS_RULE = re.compile(r"\s*[.#@*]?\w[\w.#:,*>@ -]{0,80}\{[^{}]{0,2000}\}")

_TAG = re.compile(r"</?(?:p|br|div|span|table|t[rdh]|b|i|em|strong|html|body|h[1-6]|a)\b[^<>]*>")

#: Soft hyphens, byte-order marks and blanks without width go.
_ODD = str.maketrans(
    dict.fromkeys("\u00ad\ufeff\u200b\u200c\u200d\u2060")
    | dict.fromkeys("\u2007\u202f", "\u00a0")
    | dict.fromkeys("\u2028\u2029\r", "\n")
)

#: A hyphen that does not break is a run of text of its own, between blanks.
_HYPHEN = re.compile(r"\s?\u2011\s?")

_BEFORE_MARK = re.compile(r"\s+(?=[,;)\]”](?:\W|$)|[.:](?:\s|$))")
_AFTER_MARK = re.compile(r"(?<=[(\[“])\s+")

# Beginnings of lines in a text that has lost its lines. Numbers, and the numerals and letters of
# headings, are followed by non-breaking blanks there.
_UPPER = (
    r"(?:AS TO THE |THE )?(?:FACTS|LAW)\b(?! OF)|PROCEDURE\b|INTRODUCTION\b|"
    r"SUBJECT[ -]MATTER OF THE CASE|"
    r"(?:THE )?(?:PARTICULAR )?CIRCUMSTANCES OF THE CASE|"
    r"(?:THE )?RELEVANT [A-Z]{3,}|(?<!RELEVANT )(?<!AND )DOMESTIC LAW\b|"
    r"PROCEEDINGS BEFORE THE COMMISSION|"
    r"FINAL SUBMISSIONS|THE COURT[’']S ASSESSMENT|(?:THE )?ALLEGED VIOLATION|"
    r"FOR THESE REASONS|for these reasons,? the [Cc]ourt|JOINDER OF|"
    r"(?:THE )?APPLICANTS?[’']? COMPLAINTS|COMPLAINTS?\b|"
    r"DONE IN (?:ENGLISH|FRENCH)|Done in (?:English|French)"
)
_BLANKS = r"[^\S\u00a0]*+\u00a0\s*+(?=\S)"  # one of them non-breaking, to the last one
_NUMBERED = re.compile(rf"(?<=\s)(?:\d{{1,3}}|1[0-7]\d\d)\s?\.(?:\s*\[\d+\])?{_BLANKS}")
_EMPTY_LINES = re.compile(r"(?:\u00a0\s*){4,}")
_WEAK_NUMBER = re.compile(r"(?<=[.;:”’)\]A-Z]\s)\d{1,3}\s?\.\s+(?=[A-Z“‘\"(])")
_LETTERED = re.compile(rf"(?<=\s)(?:[IVX]{{1,5}}|[ivx]{{1,5}}|[A-Z])\s?\.{_BLANKS}")
_SECTION = re.compile(rf"(?<=\s)(?:{_UPPER})")
_ALONE = re.compile(
    r"(?:AS TO THE |THE )?(?:FACTS|LAW)|PROCEDURE|INTRODUCTION|"
    r"SUBJECT[ -]MATTER OF THE CASE|(?:THE )?(?:PARTICULAR )?CIRCUMSTANCES OF THE CASE"
)
_ENDS_IN_NUMERAL = re.compile(r"(?:^|\s)(?:[IVX]{1,5}|[ivx]{1,5}|[A-Z])\s?\.\s*$")
_TITLE_OR_INITIAL = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Miss|Dr|Sir|Prof|No|no|and|Judges?)|\b[A-Z])\.?$"
)

_LONE_NUMERAL = re.compile(r"(?:[IVX]{1,5}|[A-Z]|\d{1,3}|[a-z])\.|[IVX]{1,5}")

#: The end of a sentence, quotes and brackets included.
_TERMINATED = re.compile(r"[.!?;:…,][”’\"')\]]*(?:\s?\[\d+\])*$")
_SENTENCE_END = re.compile(r"(?<=[.!?;…”)\]])\s+(?=[A-Z“‘(]|[a-z]\.\s|[ivx]{2,4}\.\s|\d{1,2}\.\s)")
_ABBREVIATED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|no|nos|No|Nos|v|cf|Art|pp?|[A-Za-z])\.|\b\d\.)$"
)

#: A text with longer lines on average has lost its lines.
CHARACTERS_PER_LINE = 2000

#: Characters of the longest heading.
LONGEST_HEADING = 200


def clean(text: str) -> str:
    """Return a line without markup and odd blanks, with one blank between words."""
    text = _HYPHEN.sub("-", text) if "\u2011" in text else text
    text = " ".join(text.split())
    return _AFTER_MARK.sub("", _BEFORE_MARK.sub("", text))


def lines_of(text: str) -> list[str]:
    """Return the lines of a judgment; those of a flat text are recovered.

    Style sheets, tags and entities go. A text with few line ends (HUDOC's pages taken as one
    string), and a line with several numbered paragraphs, is cut before numbered paragraphs,
    before headings with a numeral or letter, and before and after the headings of sections.
    Other headings are found as the unfinished sentence at the end of a paragraph.

    Returns
    -------
    list of str
        Not empty, without blanks at their ends or runs of blanks inside.
    """
    text = text.lstrip("\ufeff \n")
    at = 0
    while match := _CSS_RULE.match(text, at):
        at = match.end()
    text = text[at:]
    if _TAG.search(text):
        text = strip_html(text)
    text = unescape(text).translate(_ODD)
    flat = text.count("\n") * CHARACTERS_PER_LINE < len(text)
    lines: list[str] = []
    for line in text.split("\n"):
        if flat or len(_NUMBERED.findall(line)) > 1:
            pieces = filter(None, map(clean, _cut(line)))
            lines += [part for piece in pieces for part in _part_heading(piece)]
        elif cleaned := clean(line):
            lines.append(cleaned)
    return _join_numerals(lines)


def _join_numerals(lines: list[str]) -> list[str]:
    """Join numerals, letters and numbers on lines of their own to the next line."""
    joined: list[str] = []
    for line in lines:
        if joined and _LONE_NUMERAL.fullmatch(joined[-1]):
            joined[-1] = f"{joined[-1]} {line}"
        else:
            joined.append(line)
    return joined


def _cut(text: str) -> list[str]:
    """Cut a flat text where lines begin."""
    cuts = {match.start() for match in _NUMBERED.finditer(text)}
    cuts |= {match.start() for match in _WEAK_NUMBER.finditer(text)}
    cuts |= {match.end() for match in _EMPTY_LINES.finditer(text)}
    for match in _LETTERED.finditer(text):
        before = text[max(0, match.start() - 20) : match.start()].rstrip()
        ended = before[-1:] in ".;:”’)]" or before[-1:].isupper()
        if ended and not _TITLE_OR_INITIAL.search(before):
            cuts.add(match.start())
    for match in _SECTION.finditer(text):
        before = text[max(0, match.start() - 12) : match.start()]
        numeral = _ENDS_IN_NUMERAL.search(before)
        begin = match.start() - (len(before) - numeral.start()) if numeral else match.start()
        last = text[max(0, begin - 6) : begin].rstrip()[-1:]
        ended = last in '.;:”’)],…"' or last.isdigit() or not last
        if ended or (last.isupper() and match[0] not in ("LAW", "FACTS", "COMPLAINTS")):
            cuts.discard(match.start())
            cuts.add(begin)
            if alone := _ALONE.match(text, match.start()):
                cuts.add(alone.end())
    places = [0, *sorted(cuts), len(text)]
    return [text[begin:end] for begin, end in itertools.pairwise(places)]


def _part_heading(line: str) -> list[str]:
    """Divide a paragraph from a heading at its end."""
    if _TERMINATED.search(line) or not line[:1].isdigit():
        return [line]
    for match in reversed(list(_SENTENCE_END.finditer(line, max(0, len(line) - LONGEST_HEADING)))):
        if not _ABBREVIATED.search(line[: match.start()]):
            return [line[: match.start()], line[match.end() :]]
    return [line]


# --- from lines to sections -----------------------------------------------------------------

_NUMERAL = r"(?:(?:[IVX]{1,5}|[ivx]{1,5}|[A-Z]|\d{1,2}|[a-z])\s?\.\s*)?"

#: The heading of each section.
_SECTIONS = {
    section: re.compile(pattern)
    for section, pattern in {
        "procedure": rf"{_NUMERAL}(?:PROCEDURE|INTRODUCTION)(?:\W*$|\s[A-Z]{{2,}})",
        "facts": rf"{_NUMERAL}(?:AS TO )?(?:THE )?(?:FACTS|SUBJECT[ -]MATTER OF THE CASE|"
        r"(?:PARTICULAR )?CIRCUMSTANCES OF THE CASE)\b",
        "law": rf"{_NUMERAL}(?:(?:AS TO )?(?:THE )?LAW\W*$|THE LAW\b(?! OF)|"
        r"THE COURT[’']S ASSESSMENT|(?:THE )?ALLEGED (?:VIOLATION|BREACH)|ADMISSIBILITY\W*$|"
        r"JOINDER OF)",
        "operative": r"(?:FOR|ON) THESE (?:REASONS|GROUNDS)\b|"
        r"[Ff]or these (?:reasons|grounds),? the [Cc]ourt\b(?! (?:of|has|will|considers)\b)",
        "end": r"(?i:done (?:in|at) (?:english|french|strasbourg|the human))\b",
    }.items()
}
_CIRCUMSTANCES = re.compile(rf"{_NUMERAL}(?:the )?(?:particular )?circumstances", re.IGNORECASE)

_LAW_WORDS = (
    r"(?:laws?|legislation|legal|practices?|case-law|framework|provisions?|instruments?|"
    r"materials?|texts?|standards|sources|rules|regulations|documents|documentation|reports?|"
    r"recommendations?|principles|guidelines|acts?|code|constitution|findings)"
)
_LAW_OF = (
    r"(?:domestic|national|international|comparative|european(?: union)?|community|eu|"
    r"council of europe|united nations)"
)

#: Headings within the facts after which no facts come.
_NOT_FACTS = re.compile(
    rf"{_NUMERAL}(?:"
    r"(?:(?:other|further|additional|the|summary of(?: the)?) )*(?:relevant|applicable|pertinent) "
    r"(?!facts\b|information\b|background\b|events\b|developments\b|(?:\w+ )?proceedings\b)"
    rf"(?:.*\b{_LAW_WORDS}\b|(?:domestic|international|european)\W*$)|"
    rf"(?:the )?{_LAW_OF}(?:(?:,| and| or) (?:and )?{_LAW_OF})* {_LAW_WORDS}\b|"
    r"(?:the )?(?:legal|statutory) (?:framework|background|context|position)\b|"
    r"proceedings before the (?:european )?commission|"
    r"(?:as to )?(?:the )?final submissions"
    r")",
    re.IGNORECASE,
)
_COMPLAINTS = re.compile(
    r"(?:[IVX]{1,5}\.\s*)?(?:THE )?(?:APPLICANTS?[’']?S? )?COMPLAINTS?(?: BEFORE THE COURT)?\W*$"
)

#: Such a heading in capitals, whatever follows it on its line.
_LAW_IN_CAPITALS = re.compile(
    rf"{_NUMERAL}(?:THE )?(?:OTHER )?RELEVANT (?:[A-Z]{{2,}},? ){{0,8}}?"
    r"(?:LAW|LEGISLATION|FRAMEWORK|PRACTICE|PROVISIONS|MATERIALS?|INSTRUMENTS|TEXTS)\b"
)

#: The beginning of a paragraph on a provision.
_PROVISION = re.compile(
    r"(?:\d{1,4}\s?\.\s*)?(?:(?:[Ff]or t|[Tt])he (?:relevant|applicable) "
    r"(?:(?:provisions?|parts?|sections?|articles?|rules?)\b|"
    r"(?:domestic|international|national) (?:law|legislation|provisions)\b)|"
    r"(?:Article|Section|Rule)s? \d[^.;]{0,120}?\b(?:provide[sd]?|reads?|states?|stipulates?|"
    r"lays? down|guarantees?|regarding)\b|Under (?:Article|[Ss]ection|Rule)s? \d)"
)
_APPLICANT = re.compile(r"\bapplicants?\b", re.IGNORECASE)

#: Share of the paragraphs that mention the applicant: at least so many of the facts, at most
#: so many of the law.
_OF_FACTS, _OF_LAW = 0.3, 0.1

_NUMBERED_LINE = re.compile(r"(\d{1,4})\s?\.\s*(?=\S)")
_HEADING_PREFIX = re.compile(
    r"(?:[IVX]{1,5}|[A-Z]|\d{1,2}|[a-z]|\([a-z0-9]{1,4}\))\s?[.)]?\s+(?=\S)"
)

#: Numbers that are looked ahead to tell a lost number from a number in a quotation.
_AHEAD = 25

#: Share of a judgment that its table of contents takes at most.
_LONGEST_CONTENTS = 0.3

#: Numbers that may be lost between two paragraphs.
_GAP = 4


@dataclass
class Judgment:
    """A judgment's parts, each a list of paragraphs.

    Attributes
    ----------
    header : list of str
        Title, application, date, composition.
    procedure : list of str
        PROCEDURE or INTRODUCTION.
    facts : list of str
        The circumstances of the case: numbered paragraphs, their quotations and lists
        joined by blanks; without headings.
    rest : list of str
        The relevant law, THE LAW.
    operative : list of str
        From FOR THESE REASONS to the signature.
    """

    header: list[str] = field(default_factory=list)
    procedure: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    operative: list[str] = field(default_factory=list)


def parse(lines: list[str]) -> Judgment:
    """Divide a judgment's lines (see `lines_of`) into its sections.

    A judgment whose facts end at THE LAW without a heading on the relevant law may have lost it:
    a tail of paragraphs that begins with a provision, and that (nearly) never mentions the
    applicant, goes to `rest`.
    """
    start = _after_contents(lines)
    judgment = Judgment(header=lines[:start])
    lines = lines[start:]
    starts = _paragraph_starts(lines)
    zone = "header"
    begun = False  # whether a numbered paragraph of this zone has begun
    facts_ended = False  # whether a heading within the facts has ended them
    last, more = judgment.header, []  # the list of the last paragraph, and its further lines
    for place, line in enumerate(lines):
        numbered = place in starts
        if not numbered:
            section = _section(line, zone, bool(judgment.facts))
            if section == "end":
                break
            if section is not None:
                zone, begun = section, begun and section == zone
                if section != "operative":
                    continue
            elif zone == "facts":
                heading = _is_heading(lines, place, starts)
                patterns = (_NOT_FACTS, _COMPLAINTS) if heading else (_LAW_IN_CAPITALS,)
                if any(pattern.match(line) for pattern in patterns):
                    zone, begun, facts_ended = "rest", False, True
                if heading:
                    continue
        if begun and not numbered and zone in ("facts", "procedure"):
            more.append(line)
            continue
        _join_lines(last, more)
        begun = begun or numbered
        last = judgment.rest if zone == "law" else getattr(judgment, zone)
        last.append(line)
    _join_lines(last, more)
    if not facts_ended and (start := _law_without_heading(judgment.facts)):
        judgment.rest[:0] = judgment.facts[start:]
        del judgment.facts[start:]
    return judgment


def _join_lines(part: list[str], more: list[str]) -> None:
    """Join further lines to the last paragraph of a part, all at once."""
    if more:
        part[-1] = " ".join([part[-1], *more])
        more.clear()


def _law_without_heading(facts: list[str]) -> int | None:
    """Return where the relevant law begins among paragraphs without a heading, if it does."""
    mentions = [bool(_APPLICANT.search(paragraph)) for paragraph in facts]
    before, after = 0, sum(mentions)
    for start, paragraph in enumerate(facts):
        if (
            start
            and not mentions[start]
            and after <= _OF_LAW * (len(facts) - start)
            and before >= _OF_FACTS * start
            and _PROVISION.match(paragraph)
        ):
            return start
        before, after = before + mentions[start], after - mentions[start]
    return None


def _after_contents(lines: list[str]) -> int:
    """Return where the judgment begins behind a table of contents.

    It does at a PROCEDURE or INTRODUCTION that follows a heading THE FACTS and is followed by
    another.
    """
    heads = [place for place, line in enumerate(lines) if _SECTIONS["facts"].match(line)]
    if len(heads) < 2:
        return 0
    longest = sum(map(len, lines)) * _LONGEST_CONTENTS
    start = before = 0
    for place, line in enumerate(lines[: heads[-1]]):
        if place > heads[0] and _SECTIONS["procedure"].match(line):
            start = place
        before += len(line)
        if before > longest:
            break
    return start


def _section(line: str, zone: str, has_facts: bool) -> str | None:
    """Return the section that a line begins, if it is a heading that may come after `zone`."""
    if zone in ("operative", "law"):
        section = "end" if zone == "operative" else "operative"
        return section if _SECTIONS[section].match(line) else None
    short = len(line) < LONGEST_HEADING
    allowed = {
        "procedure": zone == "header",
        "facts": (zone in ("header", "procedure") or not has_facts) and short,
        "law": zone in ("facts", "rest") and has_facts,
        "operative": zone in ("facts", "rest") and line.startswith("FOR"),
    }
    for section, may_follow in allowed.items():
        if may_follow and _SECTIONS[section].match(line):
            return section
    if not has_facts and short and not _TERMINATED.search(line) and _CIRCUMSTANCES.match(line):
        return "facts"
    return None


def _is_heading(lines: list[str], place: int, starts: dict[int, int]) -> bool:
    """Return whether a line that begins no numbered paragraph is a heading."""
    line = lines[place]
    if len(line) > LONGEST_HEADING or _TERMINATED.search(line):
        return False
    if _NOT_FACTS.match(line):
        return True
    prefix = _HEADING_PREFIX.match(line)
    first = line[prefix.end() if prefix else 0 :][:1]
    if not (first.isupper() or first in "“‘\"'(" or prefix):
        return False
    if place and lines[place - 1].endswith((":", ",", ";", " and", " or")):
        return False
    following = place + 1
    while following < len(lines) and following not in starts:
        if _TERMINATED.search(lines[following]) or following - place > 3:
            return False
        following += 1
    return True


def _paragraph_starts(lines: list[str]) -> dict[int, int]:
    """Return the lines that begin a numbered paragraph: place -> number.

    The numbers run from 1 through the judgment; those of quoted laws do not fit into the
    sequence. Where a number was lost, the sequence continues if the next ones fit.
    """
    matches = ((place, _NUMBERED_LINE.match(line)) for place, line in enumerate(lines))
    candidates = [(place, int(match[1])) for place, match in matches if match]
    starts: dict[int, int] = {}
    last = 0
    for at, (place, number) in enumerate(candidates, start=1):
        continues = number == last + 1
        if last + 1 < number <= last + 1 + _GAP:
            ahead = [following for _, following in candidates[at : at + _AHEAD]]
            continues = last + 1 not in ahead and number + 1 in ahead
        if continues:
            starts[place] = last = number
    return starts


# --- findings --------------------------------------------------------------------

_ARTICLE = re.compile(r"\bArticles?\s+(?=\d)", re.IGNORECASE)
_ONE_ARTICLE = re.compile(
    r"(?P<article>\d{1,2})(?![\d/])"
    r"(?:\s*(?:§§?|para(?:graph)?s?\.?|lit\.?)\s*\d+(?:\s*(?:,|and|or|to|-)\s*\d+(?!\d|\s+of\s+(?:the\s+\w+\s+)?Protocol))*"
    r"|\s*\([a-z0-9]{1,3}\)|\s*\(arts?\.[^()]*\)|\s+(?:and|or)\s+(?:\([a-z0-9]{1,3}\)|§\s*\d+)"
    r"|\s*(?:and|or|,)\s*\d+\s*\([a-z]\))*"
    r"(?:\s+(?:of|to)\s+(?:the\s+)?(?P<protocol>(?:First|Second|Fourth|Sixth|Seventh|Twelfth|"
    r"Thirteenth)\s+Protocol|(?:Additional\s+)?Protocol(?:\s+N[o°º]\.?)?\s*\d{1,2}))?",
    re.IGNORECASE,
)
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ORDINALS += ("ninth", "tenth", "eleventh", "twelfth", "thirteenth")
_CONVENTION = r"(?:\s+(?:of|to)\s+the\s+(?:said\s+)?Convention)?"
_NEXT_ARTICLE = re.compile(
    rf"{_CONVENTION}\s*(?:,\s*(?:taken\s+alone,?\s+)?(?:and\s+|or\s+|as\s+well\s+as\s+)?|and\s+|or\s+"
    r"|as\s+well\s+as\s+)(?:of\s+|to\s+|under\s+)?(?:Articles?\s+)?(?=\d)",
    re.IGNORECASE,
)
_TAKEN = r"(?:(?:when\s+|as\s+|if\s+)?(?:taken|read|considered|examined|viewed)\s+)?"
_JOINED = re.compile(
    rf"{_CONVENTION},?\s*\(?{_TAKEN}(?:(?:both\s+)?alone\s+(?:and|or)\s+)?{_TAKEN}"
    r"(?:(?:in\s+conjunction|together|combined|in\s+combination|in\s+connection)\s+)?with\s+"
    r"(?:the\s+(?:procedural|substantive)\s+(?:limb|aspect)s?\s+of\s+)?(?=Articles?\s+\d)",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\band\s+(?:a\s+violation\s+)?of\s+(?=Articles?\s+\d)"
    r"|\band\s+(?=Article\s+\d+(?:\s+§\s+\d+)?\s+of\s+(?:the\s+Convention|(?:the\s+First\s+)?Protocol)\b)",
    re.IGNORECASE,
)

_ADVERBS = (
    r"(?:[\s,]+(?:also|therefore|accordingly|consequently|thus|thereby|hence|further|been|be|"
    r"in any event))*[\s,]+"
)
_KINDS = (
    r"(?:(?:a|an|any|both|and|separate|further|continuing|procedural|substantive|double|the)\s+)*"
)
_ASIDE = r"(?:,[^,;]{1,80},)?"  # would, if it were carried out, give rise to
_VIOLATION = r"(?:violations?|breach(?:es)?|infringements?)\b"
#: A finding: with "no" or "not", or without; and the articles that it names.
_FOUND = re.compile(
    rf"\bthere\s+(?:has|have|had|was|were|is|would|will){_ADVERBS}"
    rf"(?P<no1>no\s+|not\s+been\s+)?{_KINDS}{_VIOLATION}(?P<of1>[^;]*)"
    rf"|\b(?:would|will|did|does|do|has|have|had){_ASIDE}\s+(?P<no2>not\s+)?(?:be|been|"
    r"constitutes?|constituted|gives?\s+rise\s+to|given\s+rise\s+to|entail(?:s|ed)?|involved?|"
    rf"amount(?:s|ed)?\s+to|disclosed?){_ASIDE}\s+(?P<no3>no\s+|in\s+no\s+)?(?:in\s+)?{_KINDS}"
    rf"{_VIOLATION}(?P<of2>[^;]*)"
    rf"|\bdiscloses?\s+(?P<no4>no\s+)?{_KINDS}{_VIOLATION}(?P<of3>[^;]*)"
    r"|\bwould\s+(?P<no5>not\s+)?(?:violate|breach|infringe|be\s+contrary\s+to|be\s+incompatible"
    r"\s+with)\s+(?P<of4>[^;]*)"
    r"|(?P<of5>\bArticles?\s+\d[^;]{0,80}?)\s+(?:of\s+the\s+Convention\s+)?"
    r"(?:has|have|was|were|would\s+be)\s+(?P<no6>not\s+)?(?:been\s+)?"
    r"(?:violated|breached|infringed)\b",
    re.IGNORECASE,
)

_ITEM = re.compile(
    r";\s*|(?<=[a-z.,)]) (?=(?:\d{1,2}\.\s*)?"
    r"(?:Holds|Declares|Dismisses|Decides|Rejects|Finds|Says|Joins)\b)"
)
_NOT_EXAMINED = re.compile(
    r"\b(?:not|un)\s?necessary to|\bno need to|\bno (?:separate|distinct) issue|"
    r"\bnot (?:be )?called (?:up)?on to|\bfinding of (?:a|the) violation"
)

#: The sentence that ends the examination of a complaint; the Court writes "has" of what it
#: finds, "had" of what others said.
_CONCLUSION = re.compile(
    r"(?:(?:^|[.:;”’)]\s)(?:\d{1,4}\.\s+)?(?:(?:Accordingly|Consequently|Therefore|Thus|Hence|"
    r"It follows that|In conclusion|In sum|(?:In (?:the )?(?:light|view) of|Having regard to) "
    r"(?:all )?(?:the|these) [^,.;]{1,60}),?\s+(?:that\s+)?)?|"
    r"\b(?:follows|concludes?|finds?|considers|holds|and)(?: accordingly|,[^,]{1,60},)?\s+that\s+"
    r"(?:in the present case,?\s+)?)"
    r"(?P<finding>[Tt]here\s+(?:has|have|is|would)\b(?:[^.;]|(?<=\b[Nn]o)\.|(?<=\bart)\.|"
    r"(?<=\bpara)\.){0,500}?\b(?:violations?|breach(?:es)?)\b"
    r"(?:[^.;]|(?<=\b[Nn]o)\.|(?<=\bart)\.|(?<=\bpara)\.)*)"
)


def articles_in(text: str) -> list[str]:
    """Return the articles that a finding names, without paragraphs, in order: ``14``, ``P1-1``.

    Of "Article 14 taken in conjunction with Article 8" both are returned, as HUDOC's field has
    it; of "Article 10 read in the light of Article 9" the first.
    """
    articles: list[str] = []
    following = _ARTICLE.search(text)
    while following:
        end = _read_articles(text, following.end(), articles)
        joined = _JOINED.match(text, end) or _MORE.search(text, end)
        following = _ARTICLE.match(text, joined.end()) if joined else None
    return list(dict.fromkeys(articles))


def _read_articles(text: str, at: int, articles: list[str]) -> int:
    """Add the articles of a list such as "8 and 13 of the Convention"; return where it ends."""
    pending: list[str] = []  # "Articles 2 and 3 of Protocol No. 4": the protocol comes last
    while match := _ONE_ARTICLE.match(text, at):
        pending.append(match["article"])
        at = match.end()
        if protocol := match["protocol"]:
            digits = re.search(r"\d+", protocol)
            number = int(digits[0]) if digits else _ORDINALS.index(protocol.split()[0].lower())
            articles += [f"P{number}-{article}" for article in pending]
            pending = []
        following = _NEXT_ARTICLE.match(text, at)
        if following is None:
            break
        if re.search("convention|article", following[0], re.IGNORECASE):
            articles += pending
            pending = []
        at = following.end()
    articles += pending
    return at


def findings(operative: list[str]) -> tuple[list[str], list[str]]:
    """Return the articles that the operative part finds violated, and those that it does not.

    "Holds that there has been a violation of Article 6 § 1" is one, also with votes, "breach",
    "would, if carried out, give rise to a violation" of an expulsion. "It is not necessary to
    examine" is none.

    Returns
    -------
    violated, not_violated : list of str
        In the order of the operative part, each once: ``6``, ``P1-1``.
    """
    return _findings(_ITEM.split(" ".join(operative)))


def conclusions(law: list[str]) -> tuple[list[str], list[str]]:
    """Return the same from the sentences that end the examination of each complaint.

    For texts whose operative part was lost: "There has accordingly been a violation of
    Article 8 of the Convention." On 147 judgments with known findings it finds one in 130;
    it named no article too many and in one judgment of nine one too few.
    """
    return _findings(
        match["finding"] for paragraph in law for match in _CONCLUSION.finditer(paragraph)
    )


def _findings(items: Iterable[str]) -> tuple[list[str], list[str]]:
    violated: list[str] = []
    not_violated: list[str] = []
    for item in items:
        if _NOT_EXAMINED.search(item):
            continue
        at = 0
        while match := _FOUND.search(item, at):
            groups = {name: words for name, words in match.groupdict().items() if words}
            name = next((name for name in groups if name.startswith("of")), None)
            negated = any(group.startswith("no") for group in groups)
            articles = articles_in(groups[name]) if name else []
            (not_violated if negated else violated).extend(articles)
            # a second finding may follow: "of Article 8, and that there would be ..."
            at = match.start(name) if name and name != "of5" else match.end()
    return list(dict.fromkeys(violated)), list(dict.fromkeys(not_violated))
