"""TF-IDF of n-grams against scikit-learn's vectorizer, and its file."""

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
    theirs = TfidfVectorizer(analyzer=lambda one: ngrams(one, longest), min_df=min_df)
    learned = [one for one, is_train in zip(documents, train, strict=True) if is_train]
    try:
        theirs.fit(learned)
    except ValueError:  # theirs when nothing is left
        with pytest.raises(InputError, match="no word stands in"):
            fit_documents(documents, train, ngrams=longest, min_df=min_df)
        return
    ours = fit_documents(documents, train, ngrams=longest, min_df=min_df)
    assert ours.terms == list(theirs.get_feature_names_out())
    np.testing.assert_allclose(ours.idf, theirs.idf_, rtol=1e-12)
    expected = theirs.transform(documents).toarray()
    np.testing.assert_allclose(ours.matrix.toarray(), expected, atol=1e-6)
    counted = [sum(ngrams(one, longest).count(term) for one in learned) for term in ours.terms]
    assert ours.times.tolist() == counted
    has = [sum(term in ngrams(one, longest) for one in learned) for term in ours.terms]
    assert ours.cases.tolist() == has


def test_the_most_frequent_are_taken_and_ties_go_by_spelling() -> None:
    documents = [(["pear apple plum", "plum"], "en"), (["apple pear plum"], "en")]
    train = np.array([True, True])
    found = fit_documents(documents, train, features=2, ngrams=1, min_df=1)
    assert found.terms == ["apple", "plum"]  # plum 3 times, apple and pear twice
    again = fit_documents(documents[::-1], train, features=2, ngrams=1, min_df=1)
    assert again.terms == found.terms
    assert (again.matrix[::-1] != found.matrix).nnz == 0


def test_only_training_cases_decide() -> None:
    documents = [(["old word"], "en"), (["old word"], "en"), (["new new new old"], "en")]
    train = np.array([True, True, False])
    found = fit_documents(documents, train, ngrams=2, min_df=2)
    assert found.terms == ["old", "old word", "word"]
    assert found.matrix[2].toarray().tolist() == [[1.0, 0.0, 0.0]]


def test_no_ngram_crosses_a_border() -> None:
    documents = [(["first second", "third"], "en"), (["first", "second third"], "en")]
    found = fit_documents(documents, np.array([True, True]), ngrams=3, min_df=1)
    assert found.terms == ["first", "first second", "second", "second third", "third"]


def test_a_document_without_words_has_no_weights() -> None:
    documents = [(["court"], "en"), ([], "en"), (["1999 . x"], "en"), ([""], None)]
    found = fit_documents(documents, np.ones(4, dtype=bool), min_df=1)
    assert found.matrix.toarray().tolist() == [[1.0], [0.0], [0.0], [0.0]]


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
    ("cases", "used"), [(5000, 5), (1000, 5), (801, 5), (800, 4), (262, 2), (20, 2), (1, 2)]
)
def test_min_df_of_small_sets(cases: int, used: int) -> None:
    assert scaled_min_df(5, cases) == used


def test_min_df_is_never_raised() -> None:
    assert scaled_min_df(1, 20) == 1


def test_the_file(tmp_path) -> None:
    documents = [(["court fine"], "en"), ([], "en"), (["court"], "en")]
    found = fit_documents(documents, np.ones(3, dtype=bool), min_df=1)
    write_features(tmp_path / "words.arrow", ["a", "b", "c"], found.matrix)
    case_ids, matrix = read_features(tmp_path / "words.arrow")
    assert case_ids == ["a", "b", "c"]
    assert matrix.shape == found.matrix.shape
    assert matrix.dtype == np.float32
    assert (matrix != found.matrix).nnz == 0
    write_features(tmp_path / "again.arrow", ["a", "b", "c"], found.matrix)
    assert (tmp_path / "again.arrow").read_bytes() == (tmp_path / "words.arrow").read_bytes()


def test_another_file(tmp_path) -> None:
    path = tmp_path / "words.arrow"
    path.write_text("no arrow")
    with pytest.raises(InputError, match="is no Arrow file"):
        read_features(path)
    schema = pa.schema([("case_id", pa.string())])
    with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_pylist([{"case_id": "a"}], schema))
    with pytest.raises(InputError, match="other columns"):
        read_features(path)
