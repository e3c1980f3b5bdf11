"""Cases as token ids and as vectors of their paragraphs, in files that trainings map into memory.

`tokenise_cases` and `embed_paragraphs` write them, each with a description beside it.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand.errors import InputError
from evenhand.io.documents import read_description
from evenhand.io.tables import read_arrow, schema_of
from evenhand.scoring.models import load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from evenhand.learning.packing import Limits

#: What the description of vectors says of the encoder: what the layers above take over from it.
ENCODER = (
    *("model_type", "hidden_size", "num_attention_heads", "intermediate_size", "hidden_act"),
    *("activation", "layer_norm_eps"),
)


def tokens_schema(dtype: str) -> pa.Schema:
    """The columns of token ids.

    - case_id: as in the data set, whose order the rows have;
    - tokens: for each paragraph its ids, special ones included, cut at the limit;
    - lengths: for every paragraph, those beyond the stored ones too, how many ids it has before
      it is cut, without the special ones.
    """
    ids = pa.list_(pa.list_({"uint16": pa.uint16(), "uint32": pa.uint32()}[dtype]))
    return schema_of(case_id="string", tokens=ids, lengths=pa.list_(pa.int32()))


def vectors_schema(width: int) -> pa.Schema:
    """The columns of vectors: case_id, and for each paragraph that is read its vector."""
    return schema_of(case_id="string", vectors=pa.list_(pa.list_(pa.float16(), width)))


def read_tokens_meta(path: Path) -> dict[str, Any]:
    """Read the description of token ids; InputError if `tokenise_cases` did not write it."""
    return read_description(path, {"special", "vocabulary"}, "tokenise_cases")


def read_vectors_meta(path: Path) -> dict[str, Any]:
    """Read the description of vectors; InputError if `embed_paragraphs` did not write it."""
    return read_description(path, {"encoder", "padding"}, "embed_paragraphs")


def tokenizer_digest(tokenizer: "PreTrainedTokenizerBase") -> str:
    """Return the SHA-256 of the serialised tokenizer; turns off padding and truncation."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return hashlib.sha256(backend.to_str().encode()).hexdigest()


def check_tokenizer(meta: dict[str, Any], source: Path | str, revision: str | None = None) -> None:
    """Refuse a model whose tokenizer is not the one that the cases were tokenised with.

    Parameters
    ----------
    meta : dict
        Of `read_tokens_meta`.
    source, revision
        The model's folder or name on the hub.

    Raises
    ------
    InputError
        It is another, or the model has none.
    """
    if tokenizer_digest(load_tokenizer(source, revision)) != meta["tokenizer_sha256"]:
        problem = (
            f"the model has another tokenizer than {meta['tokenizer']}, with which the cases were"
            " tokenised"
        )
        raise InputError(problem, file=source, remedy="tokenise the cases with this model")


def read_limits(
    meta: dict[str, Any], segments: int | None, tokens: int | None, file: Path
) -> tuple[int, int]:
    """Return the paragraphs of a case, and tokens of each, to read; by default as published.

    Parameters
    ----------
    meta : dict
        Of `read_tokens_meta`.
    segments, tokens : int, optional
        Other numbers.
    file : path
        Where `meta` was read from.

    Raises
    ------
    InputError
        They are more than the cases' tokens hold.
    """
    limits = segments or meta["segments"], tokens or meta["tokens"]
    names = "paragraphs of a case", "tokens of a paragraph"
    stored = meta["stored_paragraphs"], meta["tokens"]
    for limit, name, there in zip(limits, names, stored, strict=True):
        if not 1 <= limit <= there:
            problem = f"{limit} {name} are to be read, and {there} are stored"
            remedy = f"read from 1 to {there}, or tokenise the cases otherwise"
            raise InputError(problem, file=file, remedy=remedy)
    return limits


def read_tokens(path: Path) -> pa.Table:
    """Return the file of `tokenise_cases`, mapped into memory."""
    return read_arrow(path, ["case_id", "tokens", "lengths"], "tokenise_cases")


class TokenStore:
    """The token ids of cases, mapped into memory.

    Attributes
    ----------
    case_ids : list of str
        In the order of the data set.
    """

    def __init__(self, path: Path) -> None:
        table = read_tokens(path)
        self.case_ids: list[str] = table["case_id"].to_pylist()
        self._tokens = table["tokens"]

    def case(self, row: int, most: int | None = None) -> list[np.ndarray]:
        """Return the ids of each paragraph of a case: views into the file.

        Parameters
        ----------
        row : int
            Its place in the data set.
        most : int, optional
            Paragraphs at most; by default all that are stored.
        """
        paragraphs = self._tokens[row].values[:most]
        ids, ends = paragraphs.flatten().to_numpy(), np.cumsum(paragraphs.value_lengths())
        return np.split(ids, ends[:-1])[: len(ends)]

    def paragraphs(self, row: int, limits: "Limits", after: Sequence[int]) -> list[np.ndarray]:
        """Return the ids of each paragraph of a case as an encoder reads them.

        Parameters
        ----------
        row : int
            Its place in the data set.
        limits : Limits
            Paragraphs at most, and where each is cut.
        after : sequence of int
            The special ids at the end of a paragraph, which a cut one has too.
        """
        from evenhand.learning.packing import cut  # imports torch

        return cut(self.case(row, limits.segments), limits, after)


class VectorStore:
    """The vectors of cases, mapped into memory.

    Attributes
    ----------
    case_ids : list of str
        In the order of the data set.
    """

    def __init__(self, path: Path) -> None:
        table = read_arrow(path, ["case_id", "vectors"], "embed_paragraphs")
        self.case_ids: list[str] = table["case_id"].to_pylist()
        self._vectors = table["vectors"]

    def case(self, row: int) -> np.ndarray:
        """The vectors of the case at this place in the data set: (paragraphs, d), a view."""
        vectors = self._vectors[row].values
        return vectors.flatten().to_numpy().reshape(-1, vectors.type.list_size)
