"""Stage: words in the facts from which the outcome could be read, and whether they tell it."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import case_batches, hot_labels, label_names, load_dataset, with_none
from evenhand.legal.dataset import Dataset

#: Columns of the table of words (`outcome_words.csv`).
WORDS = ["kind", "language", "pattern"]

HEADER = [
    *("dataset", "language", "pattern", "label", "cases", "of", "share", "paragraphs"),
    *("mutual_information", "noise_95", "p", "associated"),
    *("label_with", "of_with", "label_without", "of_without"),
    *("risk_ratio", "low", "high", "examples"),
]

#: Cases that are named as examples of a pattern.
EXAMPLES = 5


@dataclass
class Found:
    """What is known of one pattern."""

    language: str
    pattern: str
    cases: int = 0
    paragraphs: int = 0
    examples: list[str] = field(default_factory=list)
    with_it: list[np.ndarray] = field(default_factory=list)


def check_leakage(
    *,
    data: Input,
    words: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    seed: int = 1,
    resamples: int = 1000,
) -> dict[str, Any]:
    """Look in the facts for words of outcomes, and measure whether they go with the labels.

    That a pattern is found does not mean that the outcome stands there: facts tell of earlier
    judgments and of courts below. One that goes with the labels deserves to be read.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    words : path
        What to look for (outcome_words.csv): kind, language (ISO 639-1; only cases of that
        language are searched), pattern (a regular expression of RE2; capitals do not matter,
        save inside ``(?-i:...)``), note.
    out : path
        CSV. A row per pattern, with a blank label: cases in whose text it is found, of (cases of
        the language), share, paragraphs; mutual_information (bits) of it and the labels (of a
        task with several labels their sets), noise_95 (95th percentile if the same number of
        cases had been drawn at random), p, associated (p below 0.05); examples, up to five, as
        case_id paragraph:start-end, paragraphs from 0, characters, `end` exclusive. And, if it is
        found in a case with known labels, a row per label that occurs: label_with of of_with
        cases with the pattern have the label, and label_without of of_without without it;
        risk_ratio of the two shares with its 95 per cent interval (Katz 1978, 0.5 added to all
        four cells if one has no case).
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the table.
    seed, resamples : int
        Of the draws behind noise_95 and p.

    Returns
    -------
    dict
        cases, patterns, found (patterns), cases_with (cases in which any is found), associated
        (patterns).

    Raises
    ------
    InputError
        A pattern is no regular expression, or finds nothing at all (the empty text).
    """
    if resamples < 1:
        raise InputError(f"{resamples} resamples say nothing", remedy="give at least 100")
    fixed = load_dataset(kind)
    patterns = _patterns(words, fixed)
    columns = ["case_id", "language", "text", "labels", "label_known"]
    languages, known, hot = [np.zeros(0, str)], [np.zeros(0, bool)], []
    touched = 0
    for batch in case_batches(data, columns):
        told = batch["label_known"].to_numpy(zero_copy_only=False).astype(bool)
        known.append(told)
        hot.append(hot_labels(data, batch["labels"], told, fixed))
        languages.append(np.array(batch["language"].fill_null("").to_pylist(), dtype=str))
        touched += _search(batch, languages[-1], patterns)
    language_of, told = np.concatenate(languages), np.concatenate(known)
    labels = np.concatenate([np.zeros((0, len(fixed.labels)), np.int64), *hot])
    rows = []
    for one in patterns:
        members = language_of == one.language
        with_it = np.concatenate([np.zeros(0, bool), *one.with_it])
        rows += _rows(one, members, with_it, told, with_none(labels, fixed), fixed, seed, resamples)
    write_rows(out, HEADER, ({"dataset": dataset} | row for row in rows))
    return {
        "cases": len(told),
        "patterns": len(patterns),
        "found": sum(bool(one.cases) for one in patterns),
        "cases_with": touched,
        "associated": sum(row.get("associated") is True for row in rows),
    }


def _patterns(path: Path, fixed: Dataset) -> list[Found]:
    import pyarrow.compute as pc

    found = []
    for line, row in enumerate(read_resource(path, WORDS), start=2):
        try:
            empty = pc.match_substring_regex(pa.array([""]), _expression(row["pattern"]))[0].as_py()
        except pa.ArrowInvalid as error:
            raise InputError(
                f"{row['pattern']!r} is no regular expression", file=path, line=line,
                remedy="write a backslash before signs that are meant as such",
            ) from error  # fmt: skip
        if empty:
            raise InputError(f"{row['pattern']!r} is found in every text", file=path, line=line)
        if row["kind"] == fixed.kind:
            found.append(Found(row["language"], row["pattern"]))
    return found


def _expression(pattern: str) -> str:
    return f"(?i){pattern}"


def _search(batch: pa.RecordBatch, languages: np.ndarray, patterns: list[Found]) -> int:
    """Add a batch to what is found of each pattern; return the cases with any of them."""
    import pyarrow.compute as pc

    text = batch["text"].fill_null([])
    texts, case_of = text.flatten(), text.value_parent_indices().to_numpy()
    first = np.concatenate([[0], np.cumsum(text.value_lengths().to_numpy())])
    ids = batch["case_id"].to_pylist()
    any_of_them = np.zeros(batch.num_rows, dtype=bool)
    for language in {one.language for one in patterns}:
        places = np.flatnonzero((languages == language)[case_of])
        paragraphs = texts.take(pa.array(places))
        for one in (one for one in patterns if one.language == language):
            expression = _expression(one.pattern)
            hits = pc.match_substring_regex(paragraphs, expression).to_numpy(zero_copy_only=False)
            hits = places[hits.astype(bool)]
            with_it = np.zeros(batch.num_rows, dtype=bool)
            with_it[case_of[hits]] = True
            any_of_them |= with_it
            one.with_it.append(with_it)
            one.cases += int(with_it.sum())
            one.paragraphs += len(hits)
            # the first paragraph of each case that holds it
            wanted = EXAMPLES - len(one.examples)
            for place in hits[np.unique(case_of[hits], return_index=True)[1]][:wanted].tolist():
                start, end = _span(texts[place], expression)
                case = int(case_of[place])
                one.examples.append(f"{ids[case]} {place - int(first[case])}:{start}-{end}")
    return int(any_of_them.sum())


def _span(paragraph: pa.StringScalar, expression: str) -> tuple[int, int]:
    """Where the first match stands, in characters."""
    import pyarrow.compute as pc

    first = pc.find_substring_regex(paragraph, expression).as_py()  # in bytes
    without = pc.replace_substring_regex(paragraph, expression, "", max_replacements=1).as_py()
    text = paragraph.as_py()
    start = len(text.encode()[:first].decode())
    return start, start + len(text) - len(without)


def _rows(
    one: Found,
    members: np.ndarray,
    with_it: np.ndarray,
    told: np.ndarray,
    labels: np.ndarray,
    fixed: Dataset,
    seed: int,
    resamples: int,
) -> list[dict[str, Any]]:
    of = int(members.sum())
    head = {"language": one.language, "pattern": one.pattern}
    whole = head | {
        "cases": one.cases,
        "of": of,
        "share": one.cases / of if of else None,
        "paragraphs": one.paragraphs,
        "examples": "; ".join(one.examples),
    }
    within = members & told
    has, own = with_it[within], labels[within]
    if not has.any():
        return [whole]
    _, set_of = np.unique(own, axis=0, return_inverse=True)
    name = f"{seed} {one.language} {one.pattern}"
    whole |= _association(set_of.reshape(-1), has, name, resamples)
    rows = [whole]
    for label, column in zip(label_names(fixed), own.T, strict=True):
        if not column.any():
            continue
        a, n = int(column[has].sum()), int(has.sum())
        b, m = int(column[~has].sum()), int((~has).sum())
        ratio, low, high = risk_ratio(a, n, b, m)
        rows.append(
            head
            | {"label": label, "label_with": a, "of_with": n, "label_without": b, "of_without": m}
            | {"risk_ratio": ratio, "low": low, "high": high}
        )
    return rows


def _association(set_of: np.ndarray, has: np.ndarray, name: str, resamples: int) -> dict[str, Any]:
    """Mutual information in bits, and how much of it chance alone would show."""
    totals = np.bincount(set_of)
    with_it = np.bincount(set_of[has], minlength=len(totals))
    found = float(mutual_information(with_it[None], totals)[0])
    seed = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
    generator = np.random.default_rng(seed)
    drawn = generator.multivariate_hypergeometric(totals, int(has.sum()), size=resamples)
    noise = mutual_information(drawn, totals)
    p = (1 + int((noise >= found - 1e-12).sum())) / (1 + resamples)
    return {
        "mutual_information": found,
        "noise_95": np.quantile(noise, 0.95),
        "p": p,
        "associated": bool(p < 0.05),
    }


def mutual_information(with_it: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Bits that knowing of a pattern tells of a label, from counts.

    Parameters
    ----------
    with_it : array of int, shape (r, k)
        Cases of each label that have the pattern; r tables at once.
    totals : array of int, shape (k,)
        Cases of each label.

    Returns
    -------
    array of float, shape (r,)
    """
    from scipy.special import rel_entr

    count = totals.sum()
    joint = np.stack([with_it, totals - with_it], axis=1) / count
    alone = joint.sum(axis=2, keepdims=True) * (totals / count)
    return np.maximum(rel_entr(joint, alone).sum(axis=(1, 2)), 0) / np.log(2)


def risk_ratio(a: int, n: int, b: int, m: int) -> tuple[float, float, float]:
    """``(a / n) / (b / m)`` with its 95 per cent interval; NaN where n or m is 0.

    The interval is normal on the scale of logarithms. Source: Katz and others, Obtaining
    confidence intervals for the risk ratio in cohort studies (Biometrics 34, 1978). If a cell is
    empty, 0.5 is added to all four.
    """
    if not n or not m:
        return float("nan"), float("nan"), float("nan")
    if not (a and b and n - a and m - b):
        a, b, n, m = a + 0.5, b + 0.5, n + 1, m + 1
    ratio = (a / n) / (b / m)
    half = 1.959963984540054 * (1 / a - 1 / n + 1 / b - 1 / m) ** 0.5
    return ratio, float(ratio * np.exp(-half)), float(ratio * np.exp(half))


if __name__ == "__main__":
    stage.run(check_leakage)
