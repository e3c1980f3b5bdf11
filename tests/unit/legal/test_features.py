"""TF-IDF of n-grams against scikit-learn's vectorizer, and its file."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.legal.features import (
    fit_documents,
    read_features,
    scaled_min_df,
    words_of,
    write_features,
)

WORDS = ("court", "appeal", "state", "fine", "judge")
PARAGRAPHS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=3)


def ngrams(document: tuple[list[str], str | None], longest: int) -> list[str]:
    """All n-grams of a document, one after the other."""
    return [
        " ".join(words[start : start + length])
        for paragraph in document[0]
        for words in [words_of(paragraph, document[1])]
        for length in range(1, longest + 1)
        for start in range(len(words) - length + 1)
    ]


@given(
    st.lists(PARAGRAPHS, min_size=3, max_size=12),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(0, 3),
)
def test_weights_are_those_of_scikit_learn(texts, longest: int, min_df: int, others: int) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents = [(text, "en") for text in texts]
    train = np.arange(len(documents)) >= min(others, len(documents) - 1)
    expected = TfidfVectorizer(analyzer=lambda document: ngrams(document, longest), min_df=min_df)
    learned = list(itertools.compress(documents, train))
    try:
        expected.fit(learned)
    except ValueError:  # when nothing is left
        with pytest.raises(InputError, match="no word of two letters or more stands in"):
            fit_documents(documents, train, ngrams=longest, min_df=min_df)
        return
    matrix, vocabulary = fit_documents(documents, train, ngrams=longest, min_df=min_df)
    assert vocabulary["term"].tolist() == list(expected.get_feature_names_out())
    np.testing.assert_allclose(vocabulary["idf"], expected.idf_, rtol=1e-12)
    weights = expected.transform(documents).toarray()
    np.testing.assert_allclose(matrix.toarray(), weights, atol=1e-6)
    for row in vocabulary.itertuples():
        times = [ngrams(document, longest).count(row.term) for document in learned]
        assert (row.train_times, row.train_cases) == (sum(times), np.count_nonzero(times))
        assert row.words == len(row.term.split())


def terms_of(documents, train=None, **options):
    train = np.ones(len(documents), dtype=bool) if train is None else np.array(train)
    matrix, vocabulary = fit_documents([(text, "en") for text in documents], train, **options)
    return vocabulary["term"].tolist(), matrix.toarray().tolist()


def test_the_most_frequent_are_taken_and_ties_go_by_spelling() -> None:
    documents = [["pear apple plum", "plum"], ["apple pear plum"]]
    terms, weights = terms_of(documents, features=2, ngrams=1, min_df=1)
    assert terms == ["apple", "plum"]  # plum 3 times, apple and pear twice
    assert terms_of(documents[::-1], features=2, ngrams=1, min_df=1) == (terms, weights[::-1])


def test_words() -> None:
    assert words_of("On 12 May 1999, Mr X's CAR hit no. 7a", "en") == (
        ["on", "may", "mr", "car", "hit", "no"]
    )
    assert words_of("Das Bundesgericht weist Übriges ab", "de") == (
        ["das", "bundesgericht", "weist", "übriges", "ab"]
    )
    assert words_of("被告人于2013年盗窃手机,价值500元。", "zh") == (
        ["被告人", "于", "年", "盗窃", "手机", "价值", "元"]
    )


@pytest.mark.parametrize(
    ("min_df", "cases", "used"),
    [(5, 5000, 5), (5, 1000, 5), (5, 801, 5), (5, 800, 4), (5, 262, 2), (5, 1, 2), (1, 20, 1)],
)
def test_min_df_of_small_sets(min_df: int, cases: int, used: int) -> None:
    assert scaled_min_df(min_df, cases) == used


def test_the_file(tmp_path) -> None:
    documents = [(["court fine"], "en"), ([], "en"), (["court"], "en")]
    weights, _ = fit_documents(documents, np.ones(3, dtype=bool), min_df=1)
    path = tmp_path / "words.arrow"
    write_features(path, ["a", "b", "c"], weights)
    case_ids, matrix = read_features(path)
    assert case_ids == ["a", "b", "c"]
    assert (matrix.shape, matrix.dtype) == (weights.shape, np.float32)
    assert (matrix != weights).nnz == 0
    schema = pa.schema([("case_id", pa.string())])
    with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_pylist([{"case_id": "a"}], schema))
    with pytest.raises(InputError, match="other columns"):
        read_features(path)
