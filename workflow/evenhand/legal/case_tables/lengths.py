"""The lengths of the cases, and how much of them the limits of the published encoder leave out.

- ``mean``, ``median``, ``percentile 95``, ``min``, ``max``: `value`, per case.
- ``histogram``: `count` of cases with a length from `from` to `to` (blank: open).
- ``beyond the segments``: words, characters or tokens in paragraphs that the encoder does not
  read, because it reads only `value` of them; of paragraphs, the cases that have any.
- ``beyond the tokens``: tokens left out of the paragraphs that it reads, because it reads only
  `value` tokens of each (special ones included).
- ``cut``: both together; ``cases cut``: cases of which tokens are left out.
- ``slots filled``: tokens read, special ones included, of all places of a padded input.

FairLex (Chalkidis et al. 2022) shows the lengths in its Figure 2.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.legal.built import CaseStudy, check_ids
from evenhand.legal.declaration import Dataset
from evenhand.legal.stores import read_tokens, read_tokens_meta

TABLE = Table(
    "lengths",
    title="Lengths of the cases",
    key=("dataset", "unit", "tokenizer", "quantity", "from", "to"),
    columns=(
        text("dataset"),
        text("unit", "words, characters (languages without blanks), paragraphs or tokens"),
        text("tokenizer", "Of tokens"),
        text("quantity"),
        integer("from", "Of a bar of the histogram"),
        integer("to", "Of a bar; blank: open"),
        number("value"),
        integer("count"),
        integer("of"),
        share("share"),
    ),
    source="FairLex (Chalkidis et al. 2022), figure 2",
)

#: Languages without blanks between words: their characters are counted.
WITHOUT_BLANKS = frozenset({"zh", "ja"})

#: Bars of a histogram up to the 99th percentile, at most; one more holds all longer cases.
BARS = 40


def rows(study: CaseStudy) -> Iterator[Row]:
    """Yield the rows of words or characters, of paragraphs, and of the tokens of each tokenizer."""
    for unit, lengths in _lengths(study).items():
        for row in _unit_rows(unit, lengths, study.dataset):
            yield {"unit": unit, **row}
    for file, meta in study.tokens:
        document = read_tokens_meta(meta)
        for row in _token_rows(_token_counts(file, document, study), study.dataset):
            yield {"unit": "tokens", "tokenizer": document["tokenizer"], **row}


def _lengths(study: CaseStudy) -> dict[str, list[tuple[int, int]]]:
    """Return by unit each case's (length, length beyond the segments)."""
    pairs: dict[str, list[tuple[int, int]]] = {"words": [], "characters": [], "paragraphs": []}
    segments = study.dataset.segments
    for batch in study.batches("language", "text"):
        for row in batch.to_pylist():
            words = [paragraph.split() for paragraph in row["text"]]
            if row["language"] in WITHOUT_BLANKS:
                unit, lengths = "characters", [sum(map(len, parts)) for parts in words]
            else:
                unit, lengths = "words", list(map(len, words))
            pairs[unit].append((sum(lengths), sum(lengths[segments:])))
            pairs["paragraphs"].append((len(words), len(words[segments:])))
    return {unit: some for unit, some in pairs.items() if some}


def _unit_rows(unit: str, pairs: list[tuple[int, int]], dataset: Dataset) -> Iterator[Row]:
    lengths, beyond = np.array(pairs, dtype=np.int64).T
    yield from _distribution(lengths)
    if unit == "paragraphs":
        count, of = int((beyond > 0).sum()), len(lengths)
    else:
        count, of = int(beyond.sum()), int(lengths.sum())
    yield {"value": dataset.segments} | _share("beyond the segments", count, of)


def _distribution(lengths: np.ndarray) -> Iterator[Row]:
    """Yield means and a histogram of the lengths of one case or more."""
    for quantity, value in (
        ("mean", float(lengths.mean())),
        ("median", float(np.median(lengths))),
        ("percentile 95", float(np.quantile(lengths, 0.95))),
        ("min", int(lengths.min())),
        ("max", int(lengths.max())),
    ):
        yield {"quantity": quantity, "value": value}
    width = _width(float(np.quantile(lengths, 0.99)))
    last = int(np.quantile(lengths, 0.99)) // width + 1
    bars = np.bincount(np.minimum(lengths // width, last), minlength=last + 1)
    for bar, count in enumerate(bars.tolist()):
        if bar < last or count:
            to = (bar + 1) * width - 1 if bar < last else None
            yield {"from": bar * width, "to": to} | _share("histogram", count, len(lengths))


def _width(high: float) -> int:
    """Return the width of a bar: 1, 2 or 5 times a power of ten, so that `BARS` reach `high`."""
    widths = (step * 10**power for power in itertools.count() for step in (1, 2, 5))
    return next(width for width in widths if high < width * BARS)


def _token_counts(file: Path, document: dict[str, Any], study: CaseStudy) -> np.ndarray:
    """Return tokens, those beyond the segments and beyond the tokens, and places filled: (4, n)."""
    special = len(document["special"]["before"]) + len(document["special"]["after"])
    table, dataset, counts = read_tokens(file), study.dataset, []
    check_ids(table["case_id"].to_pylist(), study.case_ids, file)
    for lengths in table["lengths"]:
        lengths = lengths.values.to_numpy()
        read = lengths[: dataset.segments]
        kept = np.minimum(read, dataset.tokens - special)
        filled = kept.sum() + special * len(kept)
        counts.append((lengths.sum(), lengths.sum() - read.sum(), (read - kept).sum(), filled))
    return np.array(counts, dtype=np.int64).reshape(-1, 4).T


def _token_rows(counts: np.ndarray, dataset: Dataset) -> Iterator[Row]:
    lengths, segments, over, _ = counts
    if not len(lengths):
        return
    yield from _distribution(lengths)
    total, beyond, cut, filled = counts.sum(axis=1).tolist()
    yield {"value": dataset.segments} | _share("beyond the segments", beyond, total)
    yield {"value": dataset.tokens} | _share("beyond the tokens", cut, total)
    yield _share("cut", beyond + cut, total)
    yield _share("cases cut", int((segments + over > 0).sum()), len(lengths))
    yield _share("slots filled", filled, len(lengths) * dataset.segments * dataset.tokens)


def _share(quantity: str, count: int, of: int) -> dict[str, Any]:
    share = count / of if of else None
    return {"quantity": quantity, "count": count, "of": of, "share": share}
