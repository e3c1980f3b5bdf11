"""The lead of the SlguSet report: one sentence on the data set, computed from the numbers."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from evenhand.report.headline import SourcedStatement, say

#: Below this, coders agree too little even for tentative conclusions (Krippendorff 2004).
LEAST_ALPHA = 0.667


def judge(
    sentences: int | None, overall: dict[str, Any] | None, files: tuple[str, ...] = ()
) -> SourcedStatement:
    """Return whether the data set can be used, by the agreement of its annotators.

    Parameters
    ----------
    sentences : int, optional
        The number of sentences of the data set; None while there is none.
    overall : dict, optional
        The row of all pairs in the table ``agreement``.
    files : tuple of str
        The results with these numbers.
    """
    return say("slguset_usable", files, sentences=sentences, row=overall, least=LEAST_ALPHA)


def describe_headline(
    funnel: dict[str, Any] | None,
    annotation: dict[str, Any] | None,
    sentences: int | None,
    published: int | None,
    sums: dict[str, int] | None = None,
) -> Markup:
    """Return the sentences at the top of the page.

    Parameters
    ----------
    funnel, annotation : dict, optional
        The content of those sections.
    sentences : int, optional
        The number of sentences of the data set; None while there is none.
    published : int, optional
        The number of sentences of the published file; None if it was not read.
    sums : dict, optional
        The numbers of sentences of the data set with a male and with a female word.
    """
    totals = funnel["totals"] if funnel else {}
    text = say(
        "slguset_lead",
        totals={step: one["sentences"] for step, one in totals.items()},
        annotation=annotation,
        sentences=sentences,
        published=published,
        sums=[(value, n) for value, n in (sums or {}).items() if value != "total"],
    )
    verdict = judge(sentences, (annotation or {}).get("overall")) if funnel or annotation else ""
    return Markup(" ").join(filter(None, [verdict, text])) or say("nothing")


def rows_of(dataset: Path | None) -> int | None:
    """Return the number of rows of a Parquet file; None without a file."""
    if dataset is None:
        return None
    import pyarrow.parquet as pq

    return pq.read_metadata(dataset).num_rows
