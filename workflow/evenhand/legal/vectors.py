"""Cases as vectors of their paragraphs, mapped into memory: see `embed_paragraphs`."""

import bisect
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenhand.errors import InputError
from evenhand.io.documents import read_description

#: Number formats that vectors are stored in.
STORED = {"fp16": pa.float16(), "fp32": pa.float32()}

#: What the description has.
META = {"encoder", "segments", "tokens", "stored", "padding", "tokenizer", "counts"}

#: What a description says of the encoder: what the layers above take over from it.
ENCODER = (
    *("model_type", "hidden_size", "num_attention_heads", "intermediate_size", "hidden_act"),
    *("activation", "layer_norm_eps"),
)


def schema(width: int, stored: str) -> pa.Schema:
    """The file's columns: case_id, and for each paragraph that is read its vector."""
    vector = pa.list_(STORED[stored], width)
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
        self.case_ids: list[str] = []
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        self._starts = [0]
        try:
            with pa.memory_map(str(path)) as stream, pa.ipc.open_file(stream) as file:
                if file.schema.names != ["case_id", "vectors"]:
                    raise InputError("has other columns than embed_paragraphs writes", file=path)
                for number in range(file.num_record_batches):
                    self._add(file.get_batch(number))
        except pa.ArrowInvalid as error:
            raise InputError("is no Arrow file", file=path) from error

    def _add(self, batch: pa.RecordBatch) -> None:
        of_cases = batch["vectors"]
        width = of_cases.type.value_type.list_size
        numbers = of_cases.values.values.to_numpy(zero_copy_only=True)
        self.case_ids += batch["case_id"].to_pylist()
        self._parts.append((numbers.reshape(-1, width), of_cases.offsets.to_numpy()))
        self._starts.append(len(self.case_ids))

    def case(self, row: int) -> np.ndarray:
        """The vectors of the case at this place in the data set: (paragraphs, d), a view."""
        part = bisect.bisect_right(self._starts, row) - 1
        vectors, cases = self._parts[part]
        place = row - self._starts[part]
        return vectors[cases[place] : cases[place + 1]]
