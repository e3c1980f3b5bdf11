"""Stage: the TF-IDF weights of counterfactuals, with the vocabulary of the cases."""

from typing import Any

import numpy as np

from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.legal.built import BuiltCases
from evenhand.legal.features import transform_documents, write_features
from evenhand.legal.fit_tfidf import HEADER


def transform_tfidf(*, counterfactuals: Input, vocabulary: Input, out: Output) -> dict[str, Any]:
    """Transform swapped texts with the vocabulary and weights that `fit_tfidf` has learned.

    A text in which nothing was swapped has the weights of its case to the last bit.

    Parameters
    ----------
    counterfactuals : path
        Of `make_counterfactuals`.
    vocabulary : path
        The CSV of `fit_tfidf` for the cases.
    out : path
        Arrow, as that of `fit_tfidf`.

    Returns
    -------
    dict
        cases, features, without_features (counterfactuals that have none).

    Raises
    ------
    InputError
        The vocabulary is not of `fit_tfidf`.
    """
    rows = read_resource(vocabulary, HEADER)
    cases = BuiltCases(counterfactuals)
    times = np.array([int(row["train_cases"]) for row in rows])
    matrix = transform_documents(
        cases.documents(), [row["term"] for row in rows], times, int(cases.trained.sum())
    )
    write_features(out, cases.case_ids, matrix)
    return {
        "cases": matrix.shape[0],
        "features": matrix.shape[1],
        "without_features": int((np.diff(matrix.indptr) == 0).sum()),
    }
