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
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from evenhand.errors import InputError
from evenhand.io.tables import read_arrow, schema_of

if TYPE_CHECKING:
    import pandas
    from scipy.sparse import csr_matrix

#: The paragraphs of a case, and its language.
Document = tuple[Sequence[str], str | None]

#: Words of languages with blanks between them: scikit-learn's pattern, two letters or more.
WORD = re.compile(r"\b\w\w+\b")

_DIGITS = re.compile(r"\d")
_LETTER = re.compile(r"\w")

#: The number between paragraphs: no n-gram goes across.
BORDER = -1

#: Training cases from which the published `min_df` is right; smaller sets take their share.
CASES_OF_MIN_DF = 1000

#: But no word of a single case, which could tell nothing but that case.
LEAST_MIN_DF = 2

#: The key of the file's metadata with the number of n-grams.
FEATURES = "features"

#: Cases per batch of the file.
BATCH_ROWS = 4096

#: The file's columns: case_id as in the data set, whose order the rows have; columns (places in
#: the vocabulary, ascending) and their weights.
WEIGHTS = schema_of(case_id="string", columns=pa.list_(pa.int32()), weights=pa.list_(pa.float32()))


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
    documents: Iterable[Document],
    train: np.ndarray,
    *,
    features: int = 5000,
    ngrams: int = 3,
    min_df: int = 5,
) -> "tuple[csr_matrix, pandas.DataFrame]":
    """Select the n-grams of documents, and weigh them.

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

    Returns
    -------
    matrix : csr_matrix of float32, shape (documents, features)
        Rows of length 1, or 0 where a document has none of the n-grams.
    vocabulary : DataFrame
        The n-grams in the order of their code points: term (words joined by blanks), words (how
        many), train_cases (training documents with it), train_times (its occurrences in them),
        idf (ln((1 + training documents) / (1 + train_cases)) + 1).

    Raises
    ------
    InputError
        No n-gram occurs in so many training documents.
    """
    import pandas
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfTransformer

    terms, counts = zip(*_frequent_ngrams(documents, train, ngrams, min_df), strict=True)
    counts = hstack(counts, format="csr")
    in_train = counts[train]
    vocabulary = pandas.DataFrame(
        {
            "term": [term for some in terms for term in some],
            "words": np.repeat(range(1, ngrams + 1), [len(some) for some in terms]),
            "train_cases": in_train.getnnz(axis=0),
            "train_times": np.asarray(in_train.sum(axis=0)).ravel().astype(np.int64),
        }
    )
    if vocabulary.empty:
        raise InputError(
            f"no word of two letters or more stands in {min_df} of the {int(train.sum())} training"
            " cases (digits are no letters)",
            remedy="give more cases, or a lower min_df",
        )
    frequent = vocabulary.sort_values(["train_times", "term"], ascending=[False, True])
    vocabulary = frequent[:features].sort_values("term")
    counts = counts[:, vocabulary.index]
    counts.sort_indices()
    transformer = TfidfTransformer().fit(counts[train])
    matrix = transformer.transform(counts).astype(np.float32)
    return matrix, vocabulary.assign(idf=transformer.idf_)


def _frequent_ngrams(
    documents: Iterable[Document], train: np.ndarray, ngrams: int, min_df: int
) -> "Iterator[tuple[list[str], csr_matrix]]":
    """Yield the n-grams of each length in `min_df` training documents, and counts by document."""
    import pandas
    from scipy.sparse import csr_matrix

    numbers: dict[str, int] = defaultdict(lambda: len(numbers))
    texts = []
    for paragraphs, language in documents:
        text = []
        for paragraph in paragraphs:
            text += [numbers[word] for word in words_of(paragraph, language)]
            text.append(BORDER)
        texts.append(np.array(text, dtype=np.int32))
    names, words = list(numbers), np.concatenate(texts)
    document = np.repeat(np.arange(len(texts), dtype=np.int32), list(map(len, texts)))
    keys = words  # the n-gram that begins at each word; BORDER: none
    for length in range(1, ngrams + 1):
        starts = np.flatnonzero(keys >= 0).astype(np.int32)
        codes, unique = pandas.factorize(keys[starts])
        counts = csr_matrix(
            (np.ones(len(starts)), (document[starts], codes)), shape=(len(texts), len(unique))
        )
        frequent = np.flatnonzero(counts[train].getnnz(axis=0) >= min_df)
        first = np.empty(len(unique), dtype=np.int32)  # where each occurs first: assigned last
        first[codes[::-1]] = starts[::-1]
        terms = [
            " ".join(names[word] for word in words[start : start + length])
            for start in first[frequent].tolist()
        ]
        yield terms, counts[:, frequent]
        # a word more: the n-grams that begin at a word and at the next one must both be frequent
        place = np.full(len(unique), BORDER, dtype=np.int64)
        place[frequent] = np.arange(len(frequent))
        here = np.full(len(words), BORDER, dtype=np.int64)
        here[starts] = place[codes]
        both = (here >= 0) & (np.roll(here, -1) >= 0)
        keys = np.where(both, here * len(names) + np.roll(words, -length), BORDER)


def transform_documents(
    documents: Iterable[Document], terms: Sequence[str], cases: np.ndarray, train: int
) -> "csr_matrix":
    """Weigh documents by n-grams fitted on others.

    Parameters
    ----------
    documents : iterable of (paragraphs, language)
        Read once.
    terms : sequence of str
        The n-grams of the vocabulary.
    cases : array of int64, shape (features,)
        Number of training documents that contain each.
    train : int
        Number of training documents.

    Returns
    -------
    csr_matrix of float32, shape (documents, features)
        A document that was among the others has its weights to the last bit.
    """
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    longest = max(term.count(" ") for term in terms) + 1

    def ngrams(document: Document) -> Iterator[str]:
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
