"""Words of outcomes in the facts, and whether they are associated with the labels.

Of a data set that is declared by columns the words are the names of its labels.

A pattern that is found does not show that the outcome is stated: facts mention earlier judgments
and courts below. A pattern that is associated with the labels deserves to be read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from evenhand.core.decimals import ALPHA
from evenhand.core.resources import read_resource
from evenhand.core.tables import Row, Table, flag, integer, number, share, text
from evenhand.errors import InputError
from evenhand.legal.built import CaseStudy, label_names, with_none
from evenhand.legal.classifier_study import SEED
from evenhand.legal.declaration import KIND as DECLARED
from evenhand.legal.declaration import Dataset
from evenhand.metrics.association import mutual_information, risk_ratio
from evenhand.metrics.disparity import drawn_seed, share_as_far

#: Columns of the table of words (`outcome_words.csv`). A pattern is a regular expression of RE2;
#: capitals do not matter, except inside ``(?-i:...)``. Only cases of its language are searched.
WORDS = ["kind", "language", "pattern"]

TABLE = Table(
    "leakage",
    title="Words that may reveal the outcome",
    key=("dataset", "language", "pattern", "label"),
    columns=(
        text("dataset"),
        text("language", "ISO 639-1"),
        text("pattern", "Regular expression"),
        text("label", "Blank: the row of the pattern itself"),
        integer("cases", "Cases whose text contains it"),
        integer("of", "Cases of the language"),
        share("share"),
        integer("paragraphs", "Paragraphs that contain it"),
        number("mutual_information", "Of the pattern and the sets of labels", "bits"),
        number("noise_95", "95th percentile for as many cases drawn at random", "bits"),
        number("p", "Share of draws with as much information"),
        flag("associated", "p below 0.05"),
        integer("label_with", "Cases with the pattern that have the label"),
        integer("of_with", "Cases with the pattern and known labels"),
        integer("label_without", "Cases without the pattern that have the label"),
        integer("of_without", "Cases without the pattern and known labels"),
        number(
            "risk_ratio", "Of these shares; Katz et al. 1978", interval=("low", "high"), neutral=1
        ),
        text("examples", "Up to five: case_id paragraph:start-end, from 0, in characters"),
    ),
)

#: Cases that are named as examples of a pattern.
EXAMPLES = 5


@dataclass
class Pattern:
    """A pattern and its places."""

    language: str
    pattern: str
    cases: int = 0
    paragraphs: int = 0
    examples: list[str] = field(default_factory=list)
    with_it: list[np.ndarray] = field(default_factory=lambda: [np.zeros(0, bool)])

    @property
    def expression(self) -> str:
        """The regular expression, which ignores case."""
        return f"(?i){self.pattern}"


def rows(study: CaseStudy) -> Iterator[Row]:
    """Yield a row per pattern and, if it occurs in a case with known labels, one per label."""
    patterns = [*read_patterns(study.words, study.dataset.kind), *_label_patterns(study.dataset)]
    languages = [np.zeros(0, str)]
    for batch in study.batches("case_id", "language", "text"):
        languages.append(np.array(batch["language"].fill_null("").to_pylist(), dtype=str))
        _search(batch, languages[-1], patterns)
    for pattern in patterns:
        yield from _rows(study, pattern, np.concatenate(languages) == pattern.language)


def read_patterns(path: Path, kind: str) -> list[Pattern]:
    """Return the patterns of a kind.

    Raises
    ------
    InputError
        A pattern is no regular expression, or matches the empty text.
    """
    import pyarrow.compute as pc

    patterns = []
    for line, row in enumerate(read_resource(path, WORDS), start=2):
        pattern = Pattern(row["language"], row["pattern"])
        try:
            empty = pc.match_substring_regex(pa.array([""]), pattern.expression)[0].as_py()
        except pa.ArrowInvalid as error:
            problem = f"{row['pattern']!r} is no regular expression"
            remedy = "write a backslash before signs that are meant as such"
            raise InputError(problem, file=path, line=line, remedy=remedy) from error
        if empty:
            raise InputError(f"{row['pattern']!r} is found in every text", file=path, line=line)
        patterns += [pattern] if row["kind"] == kind else []
    return patterns


def _label_patterns(dataset: Dataset) -> list[Pattern]:
    """Return a pattern for each label of a declared data set: its name as a word."""
    if dataset.kind != DECLARED:
        return []
    return [
        Pattern(language, re.sub(r"^(?=\w)|(?<=\w)$", r"\\b", re.escape(label), flags=re.ASCII))
        for language in dataset.languages or ("",)
        for label in dataset.labels
    ]


def _search(batch: pa.RecordBatch, languages: np.ndarray, patterns: list[Pattern]) -> None:
    """Add a batch of cases to the results of each pattern."""
    import pyarrow.compute as pc

    column = batch["text"].fill_null([])
    texts, case_of = column.flatten(), column.value_parent_indices().to_numpy()
    first = np.concatenate([[0], np.cumsum(column.value_lengths().to_numpy())])
    ids = batch["case_id"].to_pylist()
    for language in {pattern.language for pattern in patterns}:
        places = np.flatnonzero((languages == language)[case_of])
        paragraphs = texts.take(pa.array(places))
        for pattern in (each for each in patterns if each.language == language):
            hits = pc.match_substring_regex(paragraphs, pattern.expression)
            hits = places[hits.to_numpy(zero_copy_only=False).astype(bool)]
            with_it = np.zeros(batch.num_rows, dtype=bool)
            with_it[case_of[hits]] = True
            pattern.with_it.append(with_it)
            pattern.cases += int(with_it.sum())
            pattern.paragraphs += len(hits)
            # the first paragraph of each case that contains it
            missing = EXAMPLES - len(pattern.examples)
            for place in hits[np.unique(case_of[hits], return_index=True)[1]][:missing].tolist():
                start, end = _span(texts[place], pattern.expression)
                case = int(case_of[place])
                pattern.examples.append(f"{ids[case]} {place - int(first[case])}:{start}-{end}")


def _span(paragraph: pa.StringScalar, expression: str) -> tuple[int, int]:
    """The first and last character of the first match."""
    import pyarrow.compute as pc

    first = pc.find_substring_regex(paragraph, expression).as_py()  # in bytes
    without = pc.replace_substring_regex(paragraph, expression, "", max_replacements=1).as_py()
    text = paragraph.as_py()
    start = len(text.encode()[:first].decode())
    return start, start + len(text) - len(without)


def _rows(study: CaseStudy, pattern: Pattern, members: np.ndarray) -> Iterator[Row]:
    known, hot = study.labels
    within = members & known
    has, labels = np.concatenate(pattern.with_it)[within], with_none(hot, study.dataset)[within]
    key, of = {"language": pattern.language, "pattern": pattern.pattern}, int(members.sum())
    yield key | {
        "cases": pattern.cases,
        "of": of,
        "share": pattern.cases / of if of else None,
        "paragraphs": pattern.paragraphs,
        "examples": "; ".join(pattern.examples),
        **_association(
            labels, has, f"{SEED} {pattern.language} {pattern.pattern}", study.permutations
        ),
    }
    for label, column in zip(label_names(study.dataset), labels.T, strict=True):
        if not has.any() or not column.any():
            continue
        counts = [int(part.sum()) for part in (column[has], has, column[~has], ~has)]
        names = ("label_with", "of_with", "label_without", "of_without")
        row = key | {"label": label} | dict(zip(names, counts, strict=True))
        yield row | dict(zip(("risk_ratio", "low", "high"), risk_ratio(*counts), strict=True))


def _association(labels: np.ndarray, has: np.ndarray, name: str, permutations: int) -> Row:
    """Mutual information with the sets of labels, and how much of it chance alone shows."""
    if not has.any():
        return {}
    set_of = np.unique(labels, axis=0, return_inverse=True)[1].reshape(-1)
    totals = np.bincount(set_of)
    with_it = np.bincount(set_of[has], minlength=len(totals))
    information = float(mutual_information(with_it[None], totals)[0])
    generator = np.random.default_rng(drawn_seed(name))
    drawn = generator.multivariate_hypergeometric(totals, int(has.sum()), size=permutations)
    noise = mutual_information(drawn, totals)
    p = float(share_as_far(noise, information))
    return {
        "mutual_information": information,
        "noise_95": np.quantile(noise, 0.95),
        "p": p,
        "associated": bool(p < ALPHA),
    }
