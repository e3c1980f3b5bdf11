"""The tables of SlguSet's bias: their columns, and how they are read and written."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand.errors import InputError
from evenhand.io.tables import read_columns

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

#: One row per sentence of the dataset, in its order. Logarithms are in the base of the gate.
BIAS = pa.schema(
    [
        ("sentence_id", pa.string()),
        ("log_p_male", pa.float64()),
        ("log_p_female", pa.float64()),
        ("bias", pa.float64()),
        ("bias_left_to_right", pa.float64()),
        ("bias_right_to_left", pa.float64()),
        ("bias_one_character", pa.float64()),
        ("bias_single_mask", pa.float64()),
        ("n_masks", pa.int32()),
        ("n_masks_opposite", pa.int32()),
        ("has_unk", pa.bool_()),
        ("excluded", pa.string()),
    ]
)

#: Other ways to read a word of several tokens: column, and what it is called in tables.
VARIANTS = {
    "bias": "whole_word",
    "bias_left_to_right": "left_to_right",
    "bias_right_to_left": "right_to_left",
    "bias_one_character": "one_character",
    "bias_single_mask": "single_mask",
}

#: What is read of a gate.
GATE = ("model", "family", "log_base", "trusted", "reason", "check")


def read_models(
    dataset: Path, columns: list[str], bias: list[Path], gates: list[Path]
) -> tuple["pd.DataFrame", dict[str, dict[str, Any]], dict[str, "pd.DataFrame"]]:
    """Read a dataset and what several models say of it.

    Parameters
    ----------
    dataset : Path
        The dataset that was scored (Parquet).
    columns : list of str
        What is read of it beside sentence_id; with surface, surface_opposite and gender among
        them, the column surface_pair (``男人/女人``) is added.
    bias, gates : list of Path
        The bias table and the gate of each model, in the same order.

    Returns
    -------
    sentences : DataFrame
    gates : dict
        By the model's name, `GATE`.
    scores : dict of DataFrame
        By the model's name, the columns of `BIAS`, row for row as the sentences.

    Raises
    ------
    InputError
        The dataset is empty, a file lacks a column or is no gate, two models have one name,
        log bases differ, or a bias table is of other sentences.
    """
    if len(bias) != len(gates) or not bias:
        raise InputError(f"there are {len(bias)} bias tables and {len(gates)} gates")
    sentences = read_columns(dataset, ["sentence_id", *columns]).to_pandas()
    if sentences.empty:
        raise InputError("holds no sentence, so there is nothing to describe", file=dataset)
    if {"surface", "surface_opposite", "gender"} <= {*columns}:
        sentences["surface_pair"] = _surface_pairs(sentences)
    read = [read_gate(path) for path in gates]
    names = [gate["model"] for gate in read]
    if len(set(names)) < len(names):
        raise InputError(f"two models have one name: {', '.join(sorted(names))}")
    if len({gate["log_base"] for gate in read}) > 1:
        raise InputError("the models were scored in different log bases", file=gates[0])
    scores = {}
    for name, path in zip(names, bias, strict=True):
        scores[name] = read_columns(path, BIAS.names).to_pandas()
        if list(scores[name]["sentence_id"]) != list(sentences["sentence_id"]):
            raise InputError(
                "its sentences are not those of the dataset, in the same order",
                file=path,
                remedy=f"score {dataset.name} again",
            )
    return sentences, dict(zip(names, read, strict=True)), scores


def read_gate(path: Path, keys: Sequence[str] = GATE) -> dict[str, Any]:
    """These keys of a model's gate.

    Raises
    ------
    InputError
        It is no gate.
    """
    try:
        gate = json.loads(path.read_text(encoding="utf-8"))
        return {key: gate[key] for key in keys}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("is not a gate of a scored model", file=path) from error


def by_bias(bias: "np.ndarray", ids: Sequence[str], direction: str) -> list[int]:
    """The rows of the sentences that lean in a direction, the strongest first.

    Parameters
    ----------
    bias : array of float, shape (n,)
        NaN where there is none.
    ids : sequence of str
        What decides between equal sentences.
    direction : str
        ``male`` (> 0) or ``female`` (< 0).
    """
    sign = 1 if direction == "male" else -1
    strength = [sign * float(value) for value in bias]
    rows = [row for row, value in enumerate(strength) if value > 0]
    return sorted(rows, key=lambda row: (-strength[row], ids[row]))


def _surface_pairs(sentences: "pd.DataFrame") -> "pd.Series":
    """The male and the female surface word of each sentence: ``男人/女人``."""
    male = sentences["gender"] == "male"
    own, other = sentences["surface"], sentences["surface_opposite"]
    return own.where(male, other) + "/" + other.where(male, own)
