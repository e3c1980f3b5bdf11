"""Words and their weights: the input of the linear models (TF-IDF of n-grams).

A case is a bag of n-grams of words; its weights are scikit-learn's TF-IDF (raw counts, smoothed
inverse document frequency, rows of length 1). The training cases alone select the n-grams:
those in at least `min_df` of them, and of these the most frequent ones.

scikit-learn's vectorizer would hold every n-gram of the corpus as a string, gigabytes for the
published ECtHR, and break ties between equally frequent ones by the processor's sort. Here
n-grams are numbers; one longer than a word is counted only where both n-grams that it contains
are frequent enough, which loses none. Equally frequent ones are taken in the order of their code
points.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from evenhand.errors import InputError
from evenhand.io.tables import read_arrow

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Words of languages with blanks between them: scikit-learn's pattern, two letters or more.
WORD = re.compile(r"\b\w\w+\b")

_DIGITS = re.compile(r"\d")
_LETTER = re.compile(r"\w")

#: Stands between paragraphs: no n-gram goes across.
BORDER = -1

#: Training cases from which the published `min_df` is right; smaller sets take their share.
CASES_OF_MIN_DF = 1000

#: But no word of a single case, which could tell nothing but that case.
LEAST_MIN_DF = 2

#: Under this key the file says how many n-grams count.
FEATURES = "features"

#: Cases per batch of the file.
BATCH_ROWS = 4096

#: The file's columns: case_id as in the data set, whose order the rows have; columns (places in
#: the vocabulary, ascending) and their weights.
WEIGHTS = pa.schema(
    [
        ("case_id", pa.string()),
        ("columns", pa.list_(pa.int32())),
        ("weights", pa.list_(pa.float32())),
    ]
)


@dataclass(frozen=True)
class Features:
    """Weighted n-grams.

    Attributes
    ----------
    matrix : csr_matrix of float32, shape (cases, features)
        Rows of length 1, or 0 where a case has none of the n-grams.
    terms : list of str
        The n-grams, words joined by blanks, in the order of their code points.
    cases : array of int64, shape (features,)
        Number of training cases that contain each.
    times : array of int64, shape (features,)
        Number of its occurrences in them.
    idf : array of float64, shape (features,)
        Its weight: ln((1 + training cases) / (1 + cases)) + 1.
    """

    matrix: "csr_matrix"
    terms: list[str]
    cases: np.ndarray
    times: np.ndarray
    idf: np.ndarray


def words_of(text: str, language: str | None) -> list[str]:
    """Return the words of a text in lower case, digits blanked.

    Chinese (``zh``) is segmented by jieba's dictionary, and a word has at least one letter. In
    other languages words are runs of two letters or more.
    """
    text = _DIGITS.sub(" ", text.lower())
    if language == "zh":
        from evenhand.text.segmentation import cut

        return [word for word in cut(text) if _LETTER.search(word)]
    return WORD.findall(text)


def scaled_min_df(min_df: int, training_cases: int) -> int:
    """`min_df` for a small training set.

    As many in a thousand training cases, rounded up, but not fewer than `LEAST_MIN_DF` (and
    never more than `min_df`).
    """
    share = -(-min_df * training_cases // CASES_OF_MIN_DF)
    return min(min_df, max(LEAST_MIN_DF, share))


def fit_documents(
    documents: Iterable[tuple[Sequence[str], str | None]],
    train: np.ndarray,
    *,
    features: int = 5000,
    ngrams: int = 3,
    min_df: int = 5,
) -> Features:
    """Weigh the n-grams of documents.

    Parameters
    ----------
    documents : iterable of (paragraphs, language)
        Read once.
    train : array of bool, shape (documents,)
        Those that select and weigh the n-grams.
    features : int
        Maximum number of n-grams.
    ngrams : int
        The longest, in words.
    min_df : int
        Minimum number of training documents with an n-gram; see `scaled_min_df`.

    Raises
    ------
    InputError
        No n-gram occurs in so many training documents.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    words, vocabulary, lengths = _numbered(documents)
    document = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    levels = list(_levels(words, document, train, ngrams, min_df))
    terms, cases, times, at = [], [], [], []
    for level in levels:
        terms += level.terms(vocabulary)
        cases.append(level.cases)
        times.append(level.times)
        at.append(len(level.cases))
    cases, times = np.concatenate(cases), np.concatenate(times)
    if not len(terms):
        raise InputError(
            f"no word stands in {min_df} of the {int(train.sum())} training cases",
            remedy="give more cases, or a lower min_df",
        )
    spelt = sorted(range(len(terms)), key=lambda one: (-times[one], terms[one]))[:features]
    kept = np.array(sorted(spelt, key=terms.__getitem__), dtype=np.int64)
    column = np.full(len(terms), -1, dtype=np.int64)
    column[kept] = np.arange(len(kept))
    rows, columns = [], []
    for level, first in zip(levels, np.cumsum([0, *at]), strict=False):
        there = np.flatnonzero(level.codes >= 0)
        found = column[first + level.codes[there]]
        rows.append(document[there[found >= 0]])
        columns.append(found[found >= 0])
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    counts = csr_matrix(
        (np.ones(len(rows), dtype=np.float64), (rows, columns)), shape=(len(lengths), len(kept))
    )
    counts.sum_duplicates()
    transformer = TfidfTransformer().fit(counts[np.flatnonzero(train)])
    matrix = transformer.transform(counts).astype(np.float32)
    matrix.sort_indices()
    return Features(
        matrix=matrix,
        terms=[terms[one] for one in kept],
        cases=cases[kept],
        times=times[kept],
        idf=transformer.idf_,
    )


def transform_documents(
    documents: Iterable[tuple[Sequence[str], str | None]],
    terms: Sequence[str],
    cases: np.ndarray,
    train: int,
) -> "csr_matrix":
    """Weigh documents by n-grams fitted on others.

    Parameters
    ----------
    documents : iterable of (paragraphs, language)
        Read once.
    terms : sequence of str
        The n-grams that count (`Features.terms`).
    cases : array of int64, shape (features,)
        Number of training documents that contain each (`Features.cases`).
    train : int
        Number of training documents.

    Returns
    -------
    csr_matrix of float32, shape (documents, features)
        A document that was among the others has its weights to the last bit.
    """
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    longest = max(term.count(" ") for term in terms) + 1

    def ngrams(document: tuple[Sequence[str], str | None]) -> Iterator[str]:
        for paragraph in document[0]:
            words = words_of(paragraph, document[1])
            for length in range(1, longest + 1):
                for first in range(len(words) - length + 1):
                    yield " ".join(words[first : first + length])

    vectorizer = CountVectorizer(analyzer=ngrams, vocabulary=list(terms), dtype=np.float64)
    transformer = TfidfTransformer()
    transformer.idf_ = np.log((1.0 + train) / (1.0 + cases)) + 1.0
    matrix = transformer.transform(vectorizer.transform(documents)).astype(np.float32)
    matrix.sort_indices()
    return matrix


@dataclass
class _Level:
    """The n-grams of one length.

    `codes` (t,) has the n-gram that begins at each word of the corpus, -1: none that counts.
    `cases` and `times` (m,) are counts in training documents; `first` (m,) is the position of an
    n-gram in `words`, `length` its number of words.
    """

    words: np.ndarray
    codes: np.ndarray
    cases: np.ndarray
    times: np.ndarray
    first: np.ndarray
    length: int

    def terms(self, vocabulary: list[str]) -> list[str]:
        """The n-grams as text."""
        return [
            " ".join(vocabulary[word] for word in self.words[at : at + self.length])
            for at in self.first.tolist()
        ]


def _numbered(
    documents: Iterable[tuple[Sequence[str], str | None]],
) -> tuple[np.ndarray, list[str], list[int]]:
    """All words as numbers with `BORDER` after each paragraph, the words, and lengths."""
    number: dict[str, int] = {}
    pieces, lengths = [], []
    for paragraphs, language in documents:
        length = 0
        for paragraph in paragraphs:
            found = [number.setdefault(word, len(number)) for word in words_of(paragraph, language)]
            found.append(BORDER)
            pieces.append(np.array(found, dtype=np.int32))
            length += len(found)
        lengths.append(length)
    words = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int32)
    return words, list(number), lengths


def _levels(
    words: np.ndarray, document: np.ndarray, train: np.ndarray, ngrams: int, min_df: int
) -> Iterator[_Level]:
    """Yield the n-grams that occur in `min_df` training documents, length by length."""
    of_train = train[document]
    keys = words.astype(np.int64)
    single = None
    for length in range(1, ngrams + 1):
        level = _level(words, keys, document, of_train, length, min_df)
        yield level
        single = single or level
        # an n-gram and a word more: both the first n words and the last word must count
        keys = np.full(len(words), BORDER, dtype=np.int64)
        if len(words) > length:
            before, last = level.codes[:-length], single.codes[length:]
            inner = level.codes[1 : len(words) - length + 1]
            whole = (before >= 0) & (last >= 0) & (inner >= 0)
            keys[:-length][whole] = before[whole] * np.int64(len(single.cases)) + last[whole]


def _level(
    words: np.ndarray,
    keys: np.ndarray,
    document: np.ndarray,
    of_train: np.ndarray,
    length: int,
    min_df: int,
) -> _Level:
    """Count the n-grams with these keys (-1: none) and keep the frequent ones."""
    import pandas

    there = np.flatnonzero(keys >= 0).astype(np.int32)
    code, unique = pandas.factorize(keys[there])
    count = len(unique)
    first = np.empty(count, dtype=np.int32)
    first[code[::-1]] = there[::-1]
    counted = of_train[there]
    times = np.bincount(code[counted], minlength=count)
    documents = np.int64(len(document) + 1)
    pairs = code[counted] * documents + document[there[counted]]
    cases = np.bincount(pandas.unique(pairs) // documents, minlength=count)
    frequent = cases >= min_df
    new = np.where(frequent, np.cumsum(frequent) - 1, -1).astype(np.int32)
    codes = np.full(len(words), -1, dtype=np.int32)
    codes[there] = new[code]
    return _Level(words, codes, cases[frequent], times[frequent], first[frequent], length)


def write_features(path: Path, case_ids: Sequence[str], matrix: "csr_matrix") -> None:
    """Write the weights of cases and the number of n-grams as an Arrow file (`WEIGHTS`)."""
    schema = WEIGHTS.with_metadata({FEATURES: str(matrix.shape[1])})
    with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, schema) as writer:
        for start in range(0, matrix.shape[0], BATCH_ROWS):
            some = matrix[start : start + BATCH_ROWS]
            offsets = pa.array(some.indptr.astype(np.int32))
            columns = [
                pa.array(case_ids[start : start + BATCH_ROWS], pa.string()),
                pa.ListArray.from_arrays(offsets, pa.array(some.indices.astype(np.int32))),
                pa.ListArray.from_arrays(offsets, pa.array(some.data)),
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def changed_rows(matrix: "csr_matrix", swapped: "csr_matrix") -> np.ndarray:
    """Whose weights differ from those of the counterfactual: array of bool, shape (n,)."""
    return (matrix != swapped).getnnz(axis=1) > 0


def read_features(path: Path) -> tuple[list[str], "csr_matrix"]:
    """Read the output of `write_features`: the ids of the cases, and their weights.

    Raises
    ------
    InputError
        It is something else.
    """
    from scipy.sparse import csr_matrix

    table = read_arrow(path, WEIGHTS.names, "fit_tfidf")
    columns, weights = table["columns"].combine_chunks(), table["weights"].combine_chunks()
    indptr = np.concatenate([[0], np.cumsum(columns.value_lengths().to_numpy())])
    matrix = csr_matrix(
        (weights.flatten().to_numpy(), columns.flatten().to_numpy(), indptr),
        shape=(len(table), int(table.schema.metadata[FEATURES.encode()])),
    )
    return table["case_id"].to_pylist(), matrix
