"""Stage: how long cases are, and how much of them an encoder's limits leave out.

FairLex (Chalkidis et al. 2022) shows the lengths in its Figure 2.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import case_batches, load_dataset
from evenhand.legal.dataset import Dataset
from evenhand.legal.tokens import read_meta, token_batches

HEADER = [
    *("dataset", "unit", "tokenizer", "quantity", "from", "to", "value"),
    *("count", "of", "share"),
]

#: Languages without blanks between words: their characters are counted.
WITHOUT_BLANKS = frozenset({"zh", "ja"})

#: Bars of a histogram up to the 99th percentile, at most; all above stands in a last one.
BARS = 40


def measure_lengths(
    *,
    data: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    tokens: list[Input] | None = None,
    metas: list[Input] | None = None,
) -> dict[str, Any]:
    """Measure how long cases are, and how much the limits of the published encoder leave out.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    out : path
        CSV: unit (words; characters without blanks for Chinese; paragraphs; tokens without
        special ones), tokenizer (of tokens), quantity, and

        - ``mean``, ``median``, ``percentile 95``, ``min``, ``max``: value, per case;
        - ``histogram``: count of cases, of cases, with a length from `from` to `to` (blank: open);
        - ``beyond the segments``: words, characters or tokens in paragraphs that the encoder does
          not read, because it reads only so many (value); of paragraphs the cases that have any;
        - ``beyond the tokens``: tokens that it leaves out of the paragraphs that it reads, because
          of each it reads only so many (value, special ones included);
        - ``cut``: both together; ``cases cut``: cases of which tokens are left out;
        - ``slots filled``: tokens read, special ones included, of all the places that a padded
          input of segments times tokens has.
    kind : str
        ecthr, scotus, fscs or cail: the limits are its.
    dataset : str
        What the data set is called in the table.
    tokens, metas : list of path, optional
        What `tokenise_cases` wrote of this data set, one pair a tokenizer.

    Returns
    -------
    dict
        cases, rows.

    Raises
    ------
    InputError
        The token ids are of another data set.
    """
    fixed = load_dataset(kind)
    if len(tokens or []) != len(metas or []):
        raise InputError("each file of token ids needs its description beside it")
    cases, ids = _measured(data, fixed)
    rows = [row for unit, found in cases.items() for row in _unit_rows(unit, found, fixed)]
    for file, meta in zip(tokens or [], metas or [], strict=True):
        document = read_meta(meta)
        found = _token_counts(file, document, ids, fixed)
        for row in _token_rows(found, fixed):
            rows.append({"unit": "tokens", "tokenizer": document["tokenizer"]} | row)
    written = write_rows(out, HEADER, ({"dataset": dataset} | row for row in rows))
    return {"cases": len(ids), "rows": written}


def _measured(data: Path, fixed: Dataset) -> tuple[dict[str, list[tuple[int, int]]], list[str]]:
    """By unit, each case's (length, length of what lies beyond the segments); and the ids."""
    found: dict[str, list[tuple[int, int]]] = {"words": [], "characters": [], "paragraphs": []}
    ids: list[str] = []
    for batch in case_batches(data, ["case_id", "language", "text"]):
        ids += batch["case_id"].to_pylist()
        for language, text in zip(
            batch["language"].to_pylist(), batch["text"].to_pylist(), strict=True
        ):
            if language in WITHOUT_BLANKS:
                lengths = [len("".join(paragraph.split())) for paragraph in text]
            else:
                lengths = [len(paragraph.split()) for paragraph in text]
            unit = "characters" if language in WITHOUT_BLANKS else "words"
            found[unit].append((sum(lengths), sum(lengths[fixed.segments :])))
            found["paragraphs"].append((len(text), max(0, len(text) - fixed.segments)))
    return {unit: pairs for unit, pairs in found.items() if pairs}, ids


def _unit_rows(unit: str, found: list[tuple[int, int]], fixed: Dataset) -> Iterator[dict[str, Any]]:
    lengths, beyond = np.array(found, dtype=np.int64).T
    for row in _distribution(lengths):
        yield {"unit": unit} | row
    if unit == "paragraphs":
        count, of = int((beyond > 0).sum()), len(lengths)
    else:
        count, of = int(beyond.sum()), int(lengths.sum())
    row = {"unit": unit, "value": fixed.segments}
    yield row | _share("beyond the segments", count, of)


def _distribution(lengths: np.ndarray) -> Iterator[dict[str, Any]]:
    """Means and a histogram of lengths of one case or more."""
    yield {"quantity": "mean", "value": float(lengths.mean())}
    yield {"quantity": "median", "value": float(np.median(lengths))}
    yield {"quantity": "percentile 95", "value": float(np.quantile(lengths, 0.95))}
    yield {"quantity": "min", "value": int(lengths.min())}
    yield {"quantity": "max", "value": int(lengths.max())}
    width = _width(float(np.quantile(lengths, 0.99)))
    last = int(np.quantile(lengths, 0.99)) // width + 1
    bars = np.bincount(np.minimum(lengths // width, last), minlength=last + 1)
    for bar, count in enumerate(bars.tolist()):
        if bar == last and not count:
            continue
        to = (bar + 1) * width - 1 if bar < last else None
        yield {"from": bar * width, "to": to} | _share("histogram", count, len(lengths))


def _width(high: float) -> int:
    """The width of a bar: 1, 2 or 5 times a power of ten, so that `BARS` reach `high`."""
    power = 1
    while True:
        for step in (1, 2, 5):
            if high < step * power * BARS:
                return step * power
        power *= 10


def _token_counts(
    file: Path, document: dict[str, Any], ids: list[str], fixed: Dataset
) -> dict[str, np.ndarray]:
    """Per case: tokens, beyond the segments, beyond the tokens, places filled."""
    special = len(document["special"]["before"]) + len(document["special"]["after"])
    room = fixed.tokens - special
    parts: dict[str, list[int]] = {"all": [], "segments": [], "tokens": [], "filled": []}
    done = 0
    for batch in token_batches(file):
        if batch["case_id"].to_pylist() != ids[done : done + batch.num_rows]:
            break
        done += batch.num_rows
        for one in batch["lengths"]:
            lengths = one.values.to_numpy()
            read = lengths[: fixed.segments]
            kept = np.minimum(read, room)
            parts["all"].append(int(lengths.sum()))
            parts["segments"].append(int(lengths[fixed.segments :].sum()))
            parts["tokens"].append(int((read - kept).sum()))
            parts["filled"].append(int(kept.sum()) + special * len(kept))
    if done != len(ids):
        raise InputError(
            "holds other cases than the data set",
            file=file,
            remedy="tokenise the data set again",
        )
    return {name: np.array(values, dtype=np.int64) for name, values in parts.items()}


def _token_rows(found: dict[str, np.ndarray], fixed: Dataset) -> Iterator[dict[str, Any]]:
    if not len(found["all"]):
        return
    yield from _distribution(found["all"])
    total = int(found["all"].sum())
    beyond, over = int(found["segments"].sum()), int(found["tokens"].sum())
    yield {"value": fixed.segments} | _share("beyond the segments", beyond, total)
    yield {"value": fixed.tokens} | _share("beyond the tokens", over, total)
    yield _share("cut", beyond + over, total)
    cut = int((found["segments"] + found["tokens"] > 0).sum())
    yield _share("cases cut", cut, len(found["all"]))
    places = len(found["all"]) * fixed.segments * fixed.tokens
    yield _share("slots filled", int(found["filled"].sum()), places)


def _share(quantity: str, count: int, of: int) -> dict[str, Any]:
    share = count / of if of else None
    return {"quantity": quantity, "count": count, "of": of, "share": share}


if __name__ == "__main__":
    stage.run(measure_lengths)
