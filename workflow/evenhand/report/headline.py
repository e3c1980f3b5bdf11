"""The content of a system's section on the front page, and helpers for its headline.

A headline is a module of `evenhand.report.headlines` with one function,
``describe(study) -> Headline``. It reads the results that match its ``FILES``; the study's
titles give a name in the results its title, where the results themselves have none.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from evenhand.report.render import count, decimal, percent, plural, readable, signed
from evenhand.text import phrases as text
from evenhand.text.catalogue import other_data, read_catalogue

if TYPE_CHECKING:
    from altair import LayerChart

#: The pages of each system (of `evenhand.report.page_list.PAGES`), the main one first.
SYSTEMS = {
    "language_models": ("language_models",),
    "predictions": ("predictions",),
    "legal": ("legal_cases", "legal_classifiers"),
    "individual_fairness": ("individual_fairness",),
    "mitigation": ("mitigation",),
    "slguset": ("slguset", "sentences"),
}

#: The systems with published numbers, by their names on the papers' page.
PUBLISHED = {
    "slguset": "SlguSet",
    "language_models": "Language models",
    "individual_fairness": "Individual fairness",
    "legal": "Texts",
}

#: The verdicts on published numbers, in the order of the page.
REPRODUCED, NOT_REPRODUCED, NOT_RUN = "reproduced", "not_reproduced", "not_run"
DOUBTFUL = "doubtful"
VERDICTS = {
    REPRODUCED: "Reproduced",
    NOT_REPRODUCED: "Not reproduced",
    NOT_RUN: "Not compared",
    DOUBTFUL: "In doubt",
}

#: The same verdicts by their codes in the tables, and the codes of numbers that were not published.
WORDS = {
    code: verdict
    for verdict, codes in {
        REPRODUCED: ("reproduced",),
        NOT_REPRODUCED: ("not_reproduced", "differs"),
        NOT_RUN: ("not_run", "not_given", "not_scored", "not_comparable"),
        DOUBTFUL: ("inconsistent_in_paper", "undecided"),
    }.items()
    for code in codes
}


UNPUBLISHED = ("no_published_value", "not_published", "not_checked", "", None)


class SourcedStatement(Markup):
    """A sentence with the results it is based on, by their paths below the results folder."""

    files: tuple[str, ...] = ()


def with_sources(text: str, files: Iterable[str]) -> SourcedStatement:
    """Return a sentence (escaped unless it is markup) with the results that it is based on."""
    statement = SourcedStatement(escape(text))
    statement.files = tuple(dict.fromkeys(files))
    return statement


@dataclass(frozen=True)
class Verdicts:
    """Numbers of published values by reproduction verdict.

    Attributes
    ----------
    name : str
        The published values that are counted.
    counts : dict
        The number of values with each of `VERDICTS`.
    note : str
        A caveat for readers.
    files : sequence of str
        The results that were counted.
    """

    name: str
    counts: Mapping[str, int]
    note: str = ""
    files: Sequence[str] = ()


@dataclass(frozen=True)
class Headline:
    """The content of a system's section on the front page.

    Sentences made by `with_sources` (also in `more` and `doubts`) refer to their results.

    Attributes
    ----------
    sentence : str
        The main finding with its uncertainty, or that there is none.
    short : str
        The answer in few words, without numbers that need an explanation; `sentence` by default.
    question : str
        The question that it answers, if it is not always that of the system.
    groups : str
        Which group fares worse, if `sentence` answers another question.
    more : list of str
        Further sentences.
    figure : dict or None
        One drawing, its `caption`, and the results that it is drawn from (`figure_files`).
    verdicts : list of Verdicts
    of_others : list of str
        Of these, the clearest finding of each data set besides that of `sentence`.
    significant : list of str
        Those of `more` that are significant, though `line` and `strength` are not of them.
    doubts : list of str
        Results that cannot be trusted, and why.
    left_out : list of str
        Those of the doubts that the console states too: input that was left out.
    against : list of str
        Findings about the paper.
    main : str
        The clearest finding, if it is not `sentence`.
    next : str
        The recommended next step.
    strength : float
        The `strength` of the clearest significant effect, 0 without any: the front page begins
        with the largest.
    """

    sentence: str
    more: Sequence[str] = ()
    figure: "LayerChart | None" = None
    caption: str = ""
    figure_files: Sequence[str] = ()
    verdicts: Sequence[Verdicts] = ()
    doubts: Sequence[str] = field(default_factory=list)
    left_out: Sequence[str] = ()
    against: Sequence[str] = ()
    main: str = ""
    next: str = ""
    strength: float = 0.0
    short: str = ""
    question: str = ""
    of_others: Sequence[str] = ()
    groups: str = ""
    significant: Sequence[str] = ()

    @property
    def line(self) -> str:
        """The clearest finding, or that there is none."""
        return self.main or self.sentence

    @property
    def is_significant(self) -> bool:
        """Whether `line` is of a significant result."""
        return bool(self.main) or self.strength > 0

    @property
    def statements(self) -> list[str]:
        """The sentences, with which the system's page begins."""
        return [self.sentence, *self.more]

    @property
    def details(self) -> list[str]:
        """The sentences besides `line`."""
        return [words for words in self.statements if words not in self.line]

    @property
    def files(self) -> list[str]:
        """The results that the sentences refer to, each once, in their order."""
        texts = [self.sentence, *self.more, self.next, *self.doubts]
        files = [file for text in texts for file in getattr(text, "files", ())]
        return list(dict.fromkeys([*files, *self.figure_files]))


def tally(verdicts: Iterable[str | None]) -> dict[str, int]:
    """Count a table's verdicts on published values by `VERDICTS`; an unknown word is a doubt."""
    counts = Counter(WORDS.get(word, DOUBTFUL) for word in verdicts if word not in UNPUBLISHED)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def total(verdicts: Iterable[Verdicts]) -> dict[str, int]:
    """Return the sum of all lines, with a number for each of `VERDICTS`."""
    counts = sum((Counter(line.counts) for line in verdicts), Counter())
    return {verdict: counts[verdict] for verdict in VERDICTS}


def strength(value: float, neutral: float, low: float | None, high: float | None) -> float:
    """Return a value's distance from the neutral one, in half-widths of its interval.

    Above 1 the effect is clear.
    """
    if low is None or high is None or high <= low:
        return 0.0
    half = value - low if value > neutral else high - value
    return abs(value - neutral) / max(half, 1e-9)


def name(text: str) -> Markup:
    """Return a name from the data in a ``bdi`` element, which isolates its writing direction."""
    return Markup("<bdi>{}</bdi>").format(readable(text))


def listed(words: Sequence[str], most: int = 4, others: str = "others") -> Markup:
    """Return ``a``, ``a and b``, ``a, b and 3 others``; names are escaped unless markup."""
    parts = [escape(word) for word in words]
    if len(parts) > most:
        rest = len(parts) - most + 1
        parts = [*parts[: most - 1], escape(f"{rest} {others}")]
    return Markup(" and ").join(filter(None, [Markup(", ").join(parts[:-1]), *parts[-1:]]))


def say(phrase: str, files: Iterable[str] = (), /, **facts: Any) -> SourcedStatement:
    """Return a sentence of the catalogue with its facts, which are escaped."""
    return with_sources(_markup(phrase, **facts), files)


def plain(phrase: str, /, **facts: Any) -> str:
    """Return such a sentence as plain text, for cards too; the template that shows it escapes."""
    return _text(phrase, **facts)


_FORMATS = {"count": count, "decimal": decimal, "percent": percent, "plural": plural}
_FORMATS |= {"name": name, "signed": signed, "other_data": other_data}
_text = read_catalogue(__file__, **_FORMATS, every=text.listed)
_markup = read_catalogue(
    __file__,
    html=True,
    **_FORMATS,
    listed=listed,
    every=lambda words: listed(words, most=len(words)),
)
