"""Stage: the TF-IDF weights of the n-grams of a legal data set, for linear classifiers."""

from typing import Any

import numpy as np

from evenhand.core.stage import Count, Input, Output, checked
from evenhand.core.tables import write_rows
from evenhand.errors import InputError
from evenhand.legal.built import BuiltCases
from evenhand.legal.features import fit_documents, scaled_min_df, write_features

HEADER = ["column", "term", "words", "train_cases", "train_times", "idf"]


@checked
def fit_tfidf(
    *,
    data: Input,
    out: Output,
    vocabulary: Output,
    features: Count = 5000,
    ngrams: Count = 3,
    min_df: Count = 5,
) -> dict[str, Any]:
    """Weigh the n-grams of each case by TF-IDF, as the linear classifiers of FairLex read them.

    The n-grams and their weights are fitted on the training cases with a known label.
    Words are in lower case, digits blanked, Chinese cut by jieba; no n-gram crosses the border of
    a paragraph. See `evenhand.legal.features`.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    out : path
        Arrow: case_id, columns, weights of all cases, in the order of the data set.
    vocabulary : path
        CSV: column, term (its words joined by blanks), words (how many), train_cases (how many
        have it), train_times, idf.
    features : int
        Maximum number of n-grams: the most frequent ones.
    ngrams : int
        The longest, in words.
    min_df : int
        Minimum number of training cases with an n-gram, where there are 1,000 cases or more; see
        `evenhand.legal.features.scaled_min_df` for fewer.

    Returns
    -------
    dict
        cases, train_cases, features, min_df (as used), by_length (features of 1, 2, 3 words),
        without_features (cases that have none).

    Raises
    ------
    InputError
        No training case has a known label, or no n-gram is frequent enough.
    """
    cases = BuiltCases(data)
    train = cases.trained
    if not train.any():
        problem = "has no case with a label in the split train, to learn words from"
        raise InputError(problem, file=data)
    used = scaled_min_df(min_df, int(train.sum()))
    matrix, fitted = fit_documents(
        cases.documents(), train, features=features, ngrams=ngrams, min_df=used
    )
    write_features(out, cases.case_ids, matrix)
    fitted.insert(0, "column", range(len(fitted)))
    write_rows(vocabulary, HEADER, fitted.to_dict("records"))
    return {
        "cases": matrix.shape[0],
        "train_cases": int(train.sum()),
        "features": len(fitted),
        "min_df": used,
        "by_length": np.bincount(fitted["words"], minlength=ngrams + 1)[1:].tolist(),
        "without_features": int((np.diff(matrix.indptr) == 0).sum()),
    }
