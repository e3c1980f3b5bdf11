"""Cases as vectors of their paragraphs, mapped into memory: see `embed_paragraphs`."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenhand.io.documents import read_description
from evenhand.io.tables import read_arrow

#: What the description has.
META = {"encoder", "segments", "tokens", "stored", "padding", "tokenizer", "counts"}

#: What a description says of the encoder: what the layers above take over from it.
ENCODER = (
    *("model_type", "hidden_size", "num_attention_heads", "intermediate_size", "hidden_act"),
    *("activation", "layer_norm_eps"),
)


def schema(width: int) -> pa.Schema:
    """The file's columns: case_id, and for each paragraph that is read its vector."""
    vector = pa.list_(pa.float16(), width)
    return pa.schema([("case_id", pa.string()), ("vectors", pa.list_(vector))])


def read_vectors_meta(path: Path) -> dict[str, Any]:
    """Read the description of the file.

    Raises
    ------
    InputError
        The file was not written by `embed_paragraphs`.
    """
    return read_description(path, META, "embed_paragraphs")


class VectorStore:
    """The vectors of cases, mapped into memory.

    Parameters
    ----------
    path : path
        The output of `embed_paragraphs`.

    Attributes
    ----------
    case_ids : list of str
        In the order of the data set.

    Raises
    ------
    InputError
        It is something else.
    """

    def __init__(self, path: Path) -> None:
        table = read_arrow(path, ["case_id", "vectors"], "embed_paragraphs")
        self.case_ids: list[str] = table["case_id"].to_pylist()
        self._vectors = table["vectors"]
        self._width = self._vectors.type.value_type.list_size

    def case(self, row: int) -> np.ndarray:
        """The vectors of the case at this place in the data set: (paragraphs, d), a view."""
        numbers = self._vectors[row].values.flatten().to_numpy(zero_copy_only=True)
        return numbers.reshape(-1, self._width)
