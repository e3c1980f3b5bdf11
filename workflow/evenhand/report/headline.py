"""The content of a system's section on the front page, and helpers for its headline.

A headline is a module of `evenhand.report.headlines` with one function,
``describe(files, titles) -> Headline``, which recognises its files by their names.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from evenhand.errors import InputError
from evenhand.report.page_list import FOLDER, PHRASES
from evenhand.report.render import count, decimal, percent, plural, signed, visible
from evenhand.text.catalogue import read_catalogue

if TYPE_CHECKING:
    from altair import LayerChart

#: The question of each system, and its pages
#: (of `evenhand.report.page_list.PAGES`), the main one first.
SYSTEMS = {
    "language_models": ("Is this language model biased?", ("language_models",)),
    "predictions": ("Are these predictions fair to groups?", ("predictions",)),
    "legal": ("Is this classifier fair to groups?", ("legal_cases", "legal_classifiers")),
    "individual_fairness": ("Are similar people treated alike?", ("individual_fairness",)),
    "mitigation": ("What did mitigation change?", ("mitigation",)),
    "slguset": ("Is this data set balanced and clean?", ("slguset", "sentences")),
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
NO_NUMBER, DOUBTFUL = "no_published_number", "doubtful"
VERDICTS = {
    REPRODUCED: "Reproduced",
    NOT_REPRODUCED: "Not reproduced",
    NOT_RUN: "Not run",
    DOUBTFUL: "In doubt",
    NO_NUMBER: "No published number",
}

#: The same verdicts by their codes in the tables.
WORDS = {
    code: verdict
    for verdict, codes in {
        REPRODUCED: ("reproduced",),
        NOT_REPRODUCED: ("not_reproduced", "differs"),
        NOT_RUN: ("not_run", "not_given", "not_scored", "not_comparable"),
        NO_NUMBER: ("no_published_value", "not_published", "not_checked", ""),
        DOUBTFUL: ("inconsistent_in_paper", "undecided"),
    }.items()
    for code in codes
}


class SourcedStatement(Markup):
    """A sentence with the results it is based on, by their paths below the results folder."""

    files: tuple[str, ...] = ()


def with_sources(text: str, files: Iterable[str]) -> SourcedStatement:
    """Return a sentence (escaped unless it is markup) with the results that it is based on."""
    one = SourcedStatement(escape(text))
    one.files = tuple(dict.fromkeys(files))
    return one


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
    more : list of str
        Further sentences.
    figure : dict or None
        One drawing, its `caption`, and the results that it is drawn from (`figure_files`).
    verdicts : list of Verdicts
    doubts : list of str
        Results that cannot be trusted, and why.
    unjudged : str
        The published numbers that could not be judged, and why.
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
    unjudged: str = ""
    against: Sequence[str] = ()
    main: str = ""
    next: str = ""
    strength: float = 0.0
    short: str = ""

    @property
    def line(self) -> str:
        """The clearest finding, or that there is none."""
        return self.main or self.sentence

    @property
    def answer(self) -> Markup:
        """The sentences, as the first paragraph of the system's page."""
        return Markup(" ").join([escape(self.sentence), *map(escape, self.more)])

    @property
    def files(self) -> list[str]:
        """The results that the sentences refer to, each once, in their order."""
        words = [self.sentence, *self.more, self.next, *self.doubts]
        found = [file for one in words for file in getattr(one, "files", ())]
        return list(dict.fromkeys([*found, *self.figure_files]))


def by_kind(files: Iterable[Path], patterns: Mapping[str, str]) -> dict[str, list[Path]]:
    """Group files by kind, in their order.

    Parameters
    ----------
    files : iterable of Path
        Result files.
    patterns : mapping
        The end of the path of each kind, with ``*`` for any part of a name; the first match
        gives a file's kind.

    Returns
    -------
    dict
        A list for every kind, which may be empty.

    Raises
    ------
    InputError
        A file matches no kind.
    """
    found: dict[str, list[Path]] = {kind: [] for kind in patterns}
    for file in map(Path, files):
        kind = next((kind for kind, end in patterns.items() if file.match(end)), None)
        if kind is None:
            raise InputError(
                "is no file that this headline is made of",
                file=file,
                remedy=f"give {', '.join(sorted(set(patterns.values())))}",
            )
        found[kind].append(file)
    return found


def place(path: Path, pattern: str) -> str:
    """Return the path of a file of this kind (see `by_kind`) below the results folder."""
    return "/".join(path.parts[-len(PurePath(pattern).parts) :])


def places(
    found: Mapping[str, Sequence[Path]], patterns: Mapping[str, str], *kinds: str
) -> tuple[str, ...]:
    """Return the paths of the files of some kinds; ``kind/table``: a table of folders."""
    return tuple(
        place(path, patterns[kind]) + (f"/{table}.csv" if table else "")
        for kind, _, table in (one.partition("/") for one in kinds)
        for path in found[kind]
    )


def tally(verdicts: Iterable[str | None]) -> dict[str, int]:
    """Count a table's verdicts by `VERDICTS`; an unknown word counts as doubt.

    A blank means that no value was published.
    """
    counts = Counter(WORDS.get(verdict or "", DOUBTFUL) for verdict in verdicts)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def total(verdicts: Iterable[Verdicts]) -> dict[str, int]:
    """Return the sum of all lines, with a number for each of `VERDICTS`."""
    lines = list(verdicts)
    return {verdict: sum(one.counts.get(verdict, 0) for one in lines) for verdict in VERDICTS}


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
    return Markup("<bdi>{}</bdi>").format(visible(text))


def listed(words: Sequence[str], most: int = 4, others: str = "others") -> Markup:
    """Return ``a``, ``a and b``, ``a, b and 3 others``; names are escaped unless markup."""
    shown = [Markup("{}").format(word) for word in words]
    if len(shown) > most:
        rest = len(shown) - most + 1
        shown = [*shown[: most - 1], Markup("{} {}").format(rest, others)]
    return Markup(" and ").join(filter(None, [Markup(", ").join(shown[:-1]), *shown[-1:]]))


def every(words: Sequence[str]) -> Markup:
    """Return all words, ``a, b and c``; they are escaped unless markup."""
    return listed(words, most=len(words))


def reasons(counts: Mapping[str, int]) -> Markup:
    """Return ``bad label (3), duplicate case (2) and 4 other reasons (9)``, most frequent first."""
    most = sorted(counts, key=lambda reason: (-counts[reason], reason))
    shown = most if len(most) <= 4 else most[:3]
    words = [f"{reason.replace('_', ' ')} ({count(counts[reason])})" for reason in shown]
    if rest := most[len(shown) :]:
        words.append(f"{len(rest)} other reasons ({count(sum(counts[one] for one in rest))})")
    return listed(words)


def say(phrase: str, files: Iterable[str] = (), /, **facts: Any) -> SourcedStatement:
    """Return a sentence of ``templates/phrases.jinja`` with its facts, which are escaped.

    A page with such sentences has the catalogue among its templates (`pages.USED`).
    """
    return with_sources(_catalogue()(phrase, **facts), files)


@cache
def _catalogue() -> Callable[..., str]:
    numbers = {"count": count, "decimal": decimal, "percent": percent, "plural": plural}
    words = {"listed": listed, "every": every, "name": name, "signed": signed}
    return read_catalogue(FOLDER / PHRASES, html=True, **numbers, **words)
