"""Stage: the twins of cases as weighted n-grams, with the words and weights of the cases."""

from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import (
    case_batches,
    load_dataset,
    read_cases_table,
    read_labels,
    read_splits,
)
from evenhand.legal.features import weigh_by, write_features
from evenhand.legal.weigh_words import HEADER


def weigh_twins(
    *,
    twins: Input,
    vocabulary: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
) -> dict[str, Any]:
    """Weigh the n-grams of swapped texts as `weigh_words` has weighed the cases themselves.

    Which n-grams count, and how much, was learned from the cases; nothing is learned from their
    twins. A text in which nothing was swapped has the weights of its case to the last bit.

    Parameters
    ----------
    twins : path
        Of `swap_cases`.
    vocabulary : path
        The CSV of `weigh_words` for the cases.
    out : path
        Arrow, as that of `weigh_words`.
    kind : str
        ecthr, scotus, fscs or cail.

    Returns
    -------
    dict
        cases, features, without_features (twins that have none).

    Raises
    ------
    InputError
        The vocabulary is not what `weigh_words` writes.
    """
    rows = read_resource(vocabulary, HEADER)
    if not rows or not all(row["train_cases"].isdecimal() for row in rows):
        raise InputError("is no vocabulary that weigh_words wrote", file=vocabulary)
    known, _ = read_labels(twins, load_dataset(kind))
    train = int((known & (read_splits(twins) == "train")).sum())
    documents = (
        (text or [], language)
        for batch in case_batches(twins, ["text", "language"])
        for text, language in zip(
            batch["text"].to_pylist(), batch["language"].to_pylist(), strict=True
        )
    )
    cases = np.array([int(row["train_cases"]) for row in rows])
    matrix = weigh_by(documents, [row["term"] for row in rows], cases, train)
    write_features(out, read_cases_table(twins, ["case_id"])["case_id"].to_pylist(), matrix)
    return {
        "cases": matrix.shape[0],
        "features": matrix.shape[1],
        "without_features": int((np.diff(matrix.indptr) == 0).sum()),
    }


if __name__ == "__main__":
    stage.run(weigh_twins)
