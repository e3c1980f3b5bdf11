"""Common parts of the readers of Strasbourg judgments: articles as labels, language, options."""

import re
from collections.abc import Iterable
from datetime import date

from evenhand.legal.rows import Note

#: The articles whose violation is a label, as in ``resources/legal/courts/ecthr.yaml``.
LABELS = ("2", "3", "5", "6", "8", "9", "10", "11", "14", "P1-1")

#: HUDOC's types of documents that are judgments.
JUDGMENTS = ("CHAMBER", "GRANDCHAMBER", "COMMITTEE")

#: How many articles the Convention ("", with those of before 1998) and its protocols have.
_ARTICLES = {"": 66, "P1": 6, "P2": 5, "P4": 7, "P6": 9, "P7": 10, "P12": 6, "P13": 8}

_ARTICLE = re.compile(r"(P\d{1,2}-\d{1,2}|\d{1,2})(?:-[\w-]+)?", re.IGNORECASE)

_WORDS = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    ("the", "of", "and", "to", "in", "that", "was", "had", "been", "by", "which", "for", "with")
)
_FRENCH = frozenset(
    ("le", "la", "les", "des", "du", "une", "et", "que", "dans", "qui", "est", "par", "pour", "au")
)

#: Words that are counted to tell the language.
_COUNTED = 2000


def article_of(part: str) -> str | None:
    """Return the article of ``5-1-f``, ``8`` or ``P1-1-1`` without paragraphs, or None."""
    match = _ARTICLE.fullmatch(part)
    if match is None:
        return None
    article = match[1].upper()
    protocol, _, number = article.rpartition("-")
    return article if 1 <= int(number) <= _ARTICLES.get(protocol, 0) else None


def split_articles(field: str) -> tuple[list[str], list[str]]:
    """Return the articles of a field such as ``3;5-1-f;14+8;P1-1-1`` without paragraphs, each once.

    Both articles of a pair such as ``14+8`` (Article 14 in conjunction with Article 8) are
    articles of the field: HUDOC lists them beside the pair.

    Returns
    -------
    articles : list of str
        ``3``, ``5``, ``14``, ``8``, ``P1-1``, in the field's order.
    unknown : list of str
        Parts that name no article of the Convention or its protocols.
    """
    parts = [*filter(None, map(str.strip, re.split(r"[;,|+]", field)))]
    articles = dict.fromkeys(filter(None, map(article_of, parts)))
    return list(articles), [part for part in parts if article_of(part) is None]


_CONCLUDED = re.compile(
    r"(?:^|[;.])\s*(?P<no>no |non-)?violations? (?:of |de )(?:l['’])?(?P<articles>[^;(]+)",
    re.IGNORECASE,
)
_OF_PROTOCOL = re.compile(r"(\d+) of (?:Protocol (?:No\.? ?)?|P)(\d+)", re.IGNORECASE)
_CODE = re.compile(r"(?<![\w-])(?:P\d{1,2}-\d{1,2}|\d{1,2})(?:-[\w]+)*")


def concluded(conclusion: str) -> tuple[list[str], list[str]]:
    """Return the articles that HUDOC's field ``conclusion`` finds violated, and not violated.

    The field is made for readers: ``Violation of Art. 6-1;No violation of P1-1``, later
    ``Violation of Article 14+8 - Prohibition of discrimination (Article 14 - ...)``.
    """
    violated: list[str] = []
    cleared: list[str] = []
    for match in _CONCLUDED.finditer(conclusion):
        codes = _OF_PROTOCOL.sub(r"P\2-\1", match["articles"].split(" - ")[0])
        articles = map(article_of, _CODE.findall(codes))
        (cleared if match["no"] else violated).extend(filter(None, articles))
    return list(dict.fromkeys(violated)), list(dict.fromkeys(cleared))


def as_labels(articles: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the data set's labels among articles, in its order; and the other articles."""
    articles = dict.fromkeys(articles)
    labels = tuple(label for label in LABELS if label in articles)
    return labels, tuple(article for article in articles if article not in LABELS)


def judged_on(text: str, item: str, note: Note) -> date | None:
    """Return the day of a judgment from an ISO date; None, with a note, if it is none."""
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        note("bad_date", f"{item} has {f'the date {text!r}' if text.strip() else 'no date'}")
        return None


def language_of(paragraphs: Iterable[str]) -> str:
    """Return ``en`` or ``fr``, by the words that each language uses most."""
    english = french = counted = 0
    for paragraph in paragraphs:
        words = _WORDS.findall(paragraph.lower())
        english += sum(word in _ENGLISH for word in words)
        french += sum(word in _FRENCH for word in words)
        counted += len(words)
        if counted > _COUNTED:
            break
    return "fr" if french > english else "en"
