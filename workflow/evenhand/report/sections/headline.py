"""The lead of the SlguSet report: one sentence on the data set, computed from the numbers."""

from pathlib import Path
from typing import Any

from evenhand.report.render import count, decimal, percent, plural

#: Below this, coders agree too little even for tentative conclusions (Krippendorff 2004).
LEAST_ALPHA = 0.667


def describe_headline(
    funnel: dict[str, Any] | None,
    annotation: dict[str, Any] | None,
    sentences: int | None,
    published: int | None,
    sums: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Return the sentence and the numbers at the top of the page.

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
    flow = [
        {"name": name, "n": totals[step]["sentences"], "final": False}
        for step, name in (
            ("read", "sentences read"),
            ("keyword", "with a gender keyword"),
            ("accepted", "accepted by every filter"),
        )
        if step in totals
    ]
    if annotation:
        answered = bool(annotation["answered"])
        name = "answered by annotators" if answered else "drawn for the annotators"
        n = annotation["answered" if answered else "drawn"]
        flow.append({"name": name, "n": n, "final": False})
    if sentences is not None:
        flow.append({"name": "in the data set", "n": sentences, "final": True})
    own = [_corpus(totals), _people(annotation, sentences), _balance(sums), _agreement(annotation)]
    parts = [*own, _published(published, alone=not any(own) and sentences is None)]
    return {"sentence": " ".join(filter(None, parts)) or "Nothing was built yet.", "flow": flow}


def rows_of(dataset: Path | None) -> int | None:
    """Return the number of rows of a Parquet file; None without a file."""
    if dataset is None:
        return None
    import pyarrow.parquet as pq

    return pq.read_metadata(dataset).num_rows


def _corpus(totals: dict[str, Any]) -> str | None:
    if not {"read", "keyword", "accepted"} <= totals.keys():
        return None
    read, keyword, accepted = (totals[s]["sentences"] for s in ("read", "keyword", "accepted"))
    if not read:
        return "The corpus holds no sentence."
    return (
        f"Of {plural(read, 'sentence')} read, {count(keyword)} ({percent(keyword / read)}) hold a "
        f"gender keyword, and {count(accepted)} ({percent(accepted / read, 2)}) passed every "
        "filter."
    )


def _people(annotation: dict[str, Any] | None, sentences: int | None) -> str | None:
    if not annotation:
        return None
    if not annotation["answered"]:
        return (
            f"{count(annotation['drawn'])} of these were drawn for the annotators, "
            "whose answers are still to come."
        )
    people, answered = len(annotation["annotators"]), annotation["answered"]
    text = f"{plural(people, 'annotator')} answered for {count(answered)} of these"
    if sentences is None:
        return f"{text}."
    return f"{text}; the {count(sentences)} that all accepted make the data set."


def _balance(sums: dict[str, int] | None) -> str | None:
    if not sums:
        return None
    (first, number), *others = [(value, n) for value, n in sums.items() if value != "total"]
    rest = [f"{count(n)} a {value} one" for value, n in others]
    return f"{count(number)} have a {first} word and {', '.join(rest)}."


def _agreement(annotation: dict[str, Any] | None) -> str | None:
    alpha = ((annotation or {}).get("overall") or {}).get("krippendorff_alpha")
    if alpha is None:
        return None
    verdict = "enough" if alpha >= LEAST_ALPHA else "too little"
    words = f"The annotators agree {verdict} for conclusions: Krippendorff’s alpha is"
    return f"{words} {decimal(alpha, 2)}, and {LEAST_ALPHA} is the least to go by."


def _published(published: int | None, *, alone: bool) -> str | None:
    if published is None:
        return None
    if alone:
        number = plural(published, "sentence")
        return f"The published file has {number}. No other was read in this run."
    return f"The published file, with {plural(published, 'sentence')}, stands beside it."
