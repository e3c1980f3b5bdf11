"""Cases as token ids, in a file that training maps into memory: see `tokenise_cases`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenhand.errors import InputError

#: Cases per batch of the file.
BATCH_ROWS = 4096

#: What the description has.
META = {
    *("tokenizer", "tokenizer_sha256", "vocabulary", "dtype", "special", "segments", "tokens"),
    *("stored_paragraphs", "counts"),
}


@dataclass(frozen=True)
class Special:
    """The token ids that a tokenizer puts around a text, and those with a meaning of their own."""

    before: list[int]
    after: list[int]
    pad: int | None
    unknown: int | None
    mask: int | None

    @property
    def count(self) -> int:
        """How many are put around each paragraph."""
        return len(self.before) + len(self.after)


def schema(dtype: str) -> pa.Schema:
    """The file's columns.

    - case_id: as in the data set, whose order the rows have;
    - tokens: for each paragraph its ids, special ones included, cut at the limit;
    - lengths: for every paragraph, those beyond the stored ones too, how many ids it has before
      it is cut, without the special ones.
    """
    ids = {"uint16": pa.uint16(), "uint32": pa.uint32()}[dtype]
    return pa.schema(
        [
            ("case_id", pa.string()),
            ("tokens", pa.list_(pa.list_(ids))),
            ("lengths", pa.list_(pa.int32())),
        ]
    )


def read_meta(path: Path) -> dict[str, Any]:
    """The description that stands beside the file.

    Raises
    ------
    InputError
        It is not what `tokenise_cases` writes.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        lacks = META - document.keys()
    except (ValueError, AttributeError) as error:
        raise InputError("is not a description that tokenise_cases wrote", file=path) from error
    if lacks:
        raise InputError(f"lacks {min(lacks)}, which tokenise_cases writes", file=path)
    return document


def token_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The batches of the file, mapped into memory: nothing is copied.

    Raises
    ------
    InputError
        It is not what `tokenise_cases` writes.
    """
    try:
        with pa.memory_map(str(path)) as stream, pa.ipc.open_file(stream) as file:
            if file.schema.names != ["case_id", "tokens", "lengths"]:
                raise InputError("has other columns than tokenise_cases writes", file=path)
            for number in range(file.num_record_batches):
                yield file.get_batch(number)
    except pa.ArrowInvalid as error:
        raise InputError("is no Arrow file", file=path) from error


def ragged(batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A batch's token ids as flat arrays that look into the mapped file.

    Returns
    -------
    ids : array of uint16 or uint32, shape (t,)
        All ids, one paragraph after another.
    paragraphs : array of int32, shape (p + 1,)
        Where each paragraph begins in `ids`, and the end of the last.
    cases : array of int32, shape (n + 1,)
        Where each case begins in `paragraphs`, and the end of the last.
    """
    of_cases = batch["tokens"]
    of_paragraphs = of_cases.values
    ids = of_paragraphs.values.to_numpy(zero_copy_only=True)
    return ids, of_paragraphs.offsets.to_numpy(), of_cases.offsets.to_numpy()
