"""The bias of models on a data set: the columns of its tables, and the models read together."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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

#: Ways to read a word of several tokens: column, and name in tables.
VARIANTS = {
    "bias": "whole_word",
    "bias_left_to_right": "left_to_right",
    "bias_right_to_left": "right_to_left",
    "bias_one_character": "one_character",
    "bias_single_mask": "single_mask",
}

#: The columns of the data set that tables need.
DATASET = [
    *("sentence_id", "sentence", "pair", "surface", "surface_opposite", "gender", "start", "end"),
    *("surface_start", "surface_end", "source", "source_position"),
]

#: The keys of a gate that are read.
GATE = ("model", "family", "log_base", "trusted", "reason", "check")


class Settings(NamedTuple):
    """The arguments of `evenhand.slguset.tabulate_bias` that its tables read."""

    threshold: float
    top: int
    compounds: list[str] | None
    stop_words: Path
    published: Path | None
    scores: list[Path]
    score_gates: list[Path]


class Scored(NamedTuple):
    """The sentences of a data set, and the models that were scored on them.

    Attributes
    ----------
    sentences : DataFrame
        `DATASET`, and surface_pair (``男人/女人``).
    gates : dict
        By the model's name, `GATE`.
    scores : dict of DataFrame
        By the model's name, the columns of `BIAS`, row for row as the sentences.
    settings : Settings
    """

    sentences: "pd.DataFrame"
    gates: dict[str, dict[str, Any]]
    scores: dict[str, "pd.DataFrame"]
    settings: Settings

    def trusted(self) -> list[str]:
        """The models whose numbers can be trusted."""
        return [name for name, gate in self.gates.items() if gate["trusted"]]

    def bias(self, model: str) -> "np.ndarray":
        """The bias of each sentence, NaN where it was excluded."""
        return self.scores[model]["bias"].to_numpy(dtype=float)


def read_models(dataset: Path, bias: list[Path], gates: list[Path], settings: Settings) -> Scored:
    """Read a data set with the bias tables and gates of several models, in the same order.

    Raises
    ------
    InputError
        The dataset is empty, a file lacks a column or is no gate, two models have one name,
        log bases differ, or a bias table is of other sentences.
    """
    if len(bias) != len(gates) or not bias:
        raise InputError(f"there are {len(bias)} bias tables and {len(gates)} gates")
    sentences = read_columns(dataset, DATASET).to_pandas()
    if sentences.empty:
        raise InputError("has no sentence, so there is nothing to describe", file=dataset)
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
    return Scored(sentences, dict(zip(names, read, strict=True)), scores, settings)


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


def _surface_pairs(sentences: "pd.DataFrame") -> "pd.Series":
    """The male and the female surface word of each sentence: ``男人/女人``."""
    male = sentences["gender"] == "male"
    own, other = sentences["surface"], sentences["surface_opposite"]
    return own.where(male, other) + "/" + other.where(male, own)
