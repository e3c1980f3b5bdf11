"""The bias of models on a data set: the columns of its tables, and the models read together."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from evenhand.core.tables import NotApplicable
from evenhand.errors import InputError
from evenhand.io.documents import read_description
from evenhand.io.tables import read_columns, read_table_schema, schema_of
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.surface_pairs import attribute_of, sides, surface_pair

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


#: Ways to read a word of several tokens: column, and name in tables.
VARIANTS = {
    "bias": "whole_word",
    "bias_left_to_right": "left_to_right",
    "bias_right_to_left": "right_to_left",
    "bias_one_character": "one_character",
    "bias_single_mask": "single_mask",
}


def bias_columns(values: Sequence[str] = GENDERS) -> pa.Schema:
    """Return the columns of a bias table: one row per sentence of the dataset, in its order.

    Logarithms are in the base of the gate. Of more than two values, those of the other sentences
    are null.
    """
    log_p = [(f"log_p_{value}", pa.float64()) for value in values]
    return pa.schema([("sentence_id", pa.string()), *log_p, *_BIAS])


def log_p_columns(row: Mapping[str, Any], values: Sequence[str]) -> tuple[str, str]:
    """Return the columns of a row's two words, in the order of the values."""
    first, second = sides(row, values)
    return f"log_p_{first}", f"log_p_{second}"


_MASKS = {"n_masks": "int32", "n_masks_opposite": "int32", "has_unk": "bool", "excluded": "string"}
_BIAS = schema_of(**dict.fromkeys(VARIANTS, "float64"), **_MASKS)

#: The columns for gender.
BIAS = bias_columns()

#: The columns of the data set that tables need, beside those of the attribute.
DATASET = [
    *("sentence_id", "sentence", "pair", "surface", "surface_opposite", "opposite", "start"),
    *("end", "surface_start", "surface_end", "source", "source_position"),
]


class Scored(NamedTuple):
    """The sentences of a data set, and the models that were scored on them.

    Attributes
    ----------
    sentences : DataFrame
        `DATASET` and the attribute's, surface_pair (``男人/女人``), and the values of its two
        words: first, second.
    gates : dict
        By the model's name, its gate.
    scores : dict of DataFrame
        By the model's name, the columns of `BIAS`, row for row as the sentences.
    settings : SimpleNamespace
        The arguments of `evenhand.slguset.tabulate_bias`.
    """

    sentences: "pd.DataFrame"
    gates: dict[str, dict[str, Any]]
    scores: dict[str, "pd.DataFrame"]
    settings: SimpleNamespace

    def check_genders(self) -> None:
        """Raise NotApplicable unless the values are male and female, as columns are called."""
        if tuple(self.settings.values) != GENDERS:
            raise NotApplicable("the values are not male and female; see the table of values")

    def trusted(self) -> list[str]:
        """The models that passed the validity check."""
        return [name for name, gate in self.gates.items() if gate["trusted"]]

    @property
    def clusters(self) -> "np.ndarray":
        """The two words of each sentence's surface pair: the clusters of tests and intervals."""
        from evenhand.metrics.inference import swap_codes

        return swap_codes(self.sentences["surface_pair"], "/")

    def bias(self, model: str) -> "np.ndarray":
        """The bias of each sentence, NaN where it was excluded."""
        return self.scores[model]["bias"].to_numpy(dtype=float)


def read_models(settings: SimpleNamespace) -> Scored:
    """Read a data set with the bias tables and gates of several models, in the same order.

    Raises
    ------
    InputError
        The dataset is empty, a bias table is of other sentences, or the tables and gates are not
        those of different models in one log base.
    """
    dataset, bias, gates = settings.dataset, settings.bias, settings.gates
    if len(bias) != len(gates):
        raise InputError(f"there are {len(bias)} bias tables and {len(gates)} gates")
    names = read_table_schema(dataset).names
    attribute = attribute_of(names)
    needed = {*DATASET, attribute, f"{attribute}_opposite"}
    sentences = read_columns(dataset, [name for name in names if name in needed]).to_pandas()
    if sentences.empty:
        raise InputError("has no sentence, so there is nothing to describe", file=dataset)
    values = settings.values
    records = sentences.to_dict("records")
    sentences["surface_pair"] = [surface_pair(row, values) for row in records]
    sentences["first"], sentences["second"] = zip(
        *(sides(row, values) for row in records), strict=True
    )
    by_model, scores = {}, {}
    for path, gate_path in zip(bias, gates, strict=True):
        gate = read_gate(gate_path, "log_base", "check")
        if gate["model"] in by_model:
            raise InputError(f"is a second gate of {gate['model']}", file=gate_path)
        by_model[gate["model"]] = gate
        table = read_columns(path, bias_columns(values).names).to_pandas()
        if list(table["sentence_id"]) != list(sentences["sentence_id"]):
            problem = "its sentences are not those of the dataset, in the same order"
            raise InputError(problem, file=path, remedy=f"score {dataset.name} again")
        scores[gate["model"]] = table
    if len({gate["log_base"] for gate in by_model.values()}) > 1:
        raise InputError("the models were scored in different log bases", file=gates[0])
    return Scored(sentences, by_model, scores, settings)


def read_gate(path: Path, *keys: str) -> dict[str, Any]:
    """Return the gate of a model, which has these keys beside its name and validity.

    Raises
    ------
    InputError
        It is no gate.
    """
    return read_description(path, {"model", "trusted", "reason", *keys}, "the scoring of a model")
