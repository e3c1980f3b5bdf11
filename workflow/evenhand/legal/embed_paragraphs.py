"""Stage: the paragraphs of a legal data set as vectors of an encoder that is not trained."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa

from evenhand.core import stage
from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Input, Output, Setting
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.legal.tokens import (
    TokenStore,
    check_tokenizer,
    paragraphs_as_read,
    read_limits,
    read_meta,
)
from evenhand.legal.vectors import ENCODER, STORED, VectorStore, schema
from evenhand.scoring.model_files import model_source

if TYPE_CHECKING:
    from evenhand.learning.packing import Limits

#: Cases that go through the encoder together, and per batch of the file.
CASES = 64


def embed_paragraphs(
    *,
    tokens: Input,
    tokens_meta: Input,
    out: Output,
    meta: Output,
    same_tokens: Input | None = None,
    same: Input | None = None,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    segments: int | None = None,
    paragraph_tokens: int | None = None,
    stored: str = "fp16",
    dtype: str = "fp32",
    tokens_per_batch: int = 4096,
    threads: int = 1,
    device: Annotated[str, Setting] = "cpu",
) -> dict[str, Any]:
    """Run a frozen encoder once over all paragraphs, for frozen classifiers.

    Parameters
    ----------
    tokens, tokens_meta : path
        Of `tokenise_cases`, with this model's tokenizer.
    out : path
        Arrow IPC file, a row per case in the order of the data set: see `evenhand.legal.vectors`.
    meta : path
        JSON: encoder (the settings that the layers above share), segments and tokens (the
        limits), stored, padding (the vector of a place without a paragraph, for compat mode),
        tokenizer, counts.
    same_tokens, same : path, optional
        Tokens and vectors of the factual cases, if these are counterfactuals. A paragraph with
        the same tokens gets the same vector, to the last bit, and is not encoded again.
    model, hub_name, revision
        The encoder: see `train_classifier`.
    segments, paragraph_tokens : int, optional
        Paragraphs of a case, and tokens of each, that are read; by default as published.
    stored : str
        fp16 (two bytes a number) or fp32.
    dtype : str
        Precision of the encoder: fp32 or bf16.
    tokens_per_batch : int
        Tokens that go through the encoder at once.
    threads : int
        CPU threads; another number may change the last bits of the padding.
    device : str
        cpu, cuda or cuda:N.

    Returns
    -------
    dict
        cases, paragraphs, empty (cases without a paragraph).

    Raises
    ------
    InputError
        The encoder cannot be used, or not with these tokens; a vector does not fit into fp16; the
        cases of `same` are others.
    """
    import torch
    from tqdm import tqdm

    from evenhand.learning.hierarchical import (
        check_input,
        encode_padding,
        encode_paragraphs,
        first_tokens_only,
        load_encoder,
    )
    from evenhand.learning.packing import Limits, pack_flat
    from evenhand.learning.settings import Settings
    from evenhand.scoring.device import repeatable, settle
    from evenhand.scoring.execution import run_batches
    from evenhand.scoring.selection import text_config

    if stored not in STORED:
        raise InputError(f"stored is {stored!r}, not one of {', '.join(STORED)}")
    Settings(dtype=dtype, threads=threads)  # checks them
    source = model_source(model, hub_name)
    described = read_meta(tokens_meta)
    limits = Limits(*read_limits(described, segments, paragraph_tokens, tokens_meta))
    check_tokenizer(described, source, revision)
    encoder = load_encoder(source, revision=revision, device=device).eval()
    settle(encoder)
    check_input(encoder, vocabulary=described["vocabulary"], limits=limits)
    sizes, special = text_config(encoder), described["special"]
    width = int(sizes.hidden_size)
    store = TokenStore(tokens)
    form = schema(width, stored)
    kind = torch.device(device).type
    known = _Known(same_tokens, same, store, limits, special["after"], (width, stored))

    @torch.inference_mode()
    def embedded(rows: np.ndarray) -> dict[str, np.ndarray]:
        cases = [store.case(row, limits.segments) for row in rows]
        masks = [known.to_encode(row, *one) for row, one in zip(rows, cases, strict=True)]
        ids, lengths = zip(*map(_only, cases, masks), strict=True)
        packed = pack_flat(
            ids,
            lengths,
            limits,
            pad_id=special["pad"] or 0,
            after=special["after"],
            tokens_per_batch=tokens_per_batch,
        )
        with torch.autocast(kind, torch.bfloat16, enabled=dtype == "bf16"):
            found = encode_paragraphs(encoder, packed.to(device)).float().cpu().numpy()
        order = np.lexsort((packed.slots.numpy(), packed.documents.numpy()))
        with np.errstate(over="ignore"):
            vectors = found[order].astype(STORED[stored].to_pandas_dtype())
        if not np.isfinite(vectors).all():
            document = int(packed.documents.numpy()[order][~np.isfinite(vectors).all(axis=1)][0])
            raise InputError(
                f"the case {store.case_ids[rows[document]]} has a vector that is no finite"
                f" number in {stored}",
                remedy="store fp32" if stored == "fp16" else "use another encoder",
            )
        vectors = known.filled(rows, masks, vectors)
        return {"vectors": vectors, "counts": np.array([len(one) for one in masks])}

    counts = {"cases": len(store), "paragraphs": 0, "empty": 0}
    batches = np.split(np.arange(len(store)), range(CASES, len(store), CASES))
    bar = tqdm(total=len(store), desc="embed", unit=" cases", mininterval=5, ascii=True)
    with (
        bar,
        repeatable(0, threads=threads, device=device),
        torch.inference_mode(),
        pa.OSFile(str(out), "wb") as stream,
        pa.ipc.new_file(stream, form) as writer,
    ):
        with first_tokens_only(encoder):
            for rows, found in run_batches(
                batches,
                embedded,
                scratch=scratch_folder(),
                device=device,
                threads=threads,
                progress=lambda rows: bar.update(len(rows)),
            ):
                writer.write_batch(_batch(store, rows, found, form))
                counts["paragraphs"] += len(found["vectors"])
                counts["empty"] += int((found["counts"] == 0).sum())
        padding = encode_padding(encoder, limits.tokens).float().cpu().tolist()
    document = {
        "encoder": {name: getattr(sizes, name) for name in ENCODER if hasattr(sizes, name)},
        "segments": limits.segments,
        "tokens": limits.tokens,
        "stored": stored,
        "padding": padding,
        "tokenizer": described["tokenizer"],
        "counts": counts,
    }
    write_json(meta, document)
    return counts


class _Known:
    """The vectors of the cases whose swapped are embedded; without them, nothing is known."""

    def __init__(
        self,
        tokens: Path | None,
        vectors: Path | None,
        store: TokenStore,
        limits: "Limits",
        after: list[int],
        form: tuple[int, str],
    ) -> None:
        if (tokens is None) != (vectors is None):
            raise InputError(
                "of the cases that these are swapped of, tokens or vectors are missing",
                remedy="give both, or neither",
            )
        self.limits, self.after = limits, after
        self.tokens = TokenStore(tokens) if tokens else None
        self.vectors = VectorStore(vectors) if vectors else None
        if self.vectors is None:
            return
        width, stored = form
        if [self.tokens.case_ids, self.vectors.case_ids] != [store.case_ids] * 2:
            raise InputError(
                "is about other cases than the tokens",
                file=vectors,
                remedy="give the vectors of the cases whose swapped these are",
            )
        one = self.vectors.case(0)
        if (one.shape[1], one.dtype) != (width, np.dtype(STORED[stored].to_pandas_dtype())):
            raise InputError(
                "has vectors of another width or number format",
                file=vectors,
                remedy="embed both with the same encoder, in the same format",
            )

    def to_encode(self, row: int, ids: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Which paragraphs of a case are to be encoded: array of bool, shape (paragraphs,)."""
        if self.tokens is None:
            return np.ones(len(lengths), dtype=bool)
        there = self.tokens.case(row, self.limits.segments)
        one, other = (
            paragraphs_as_read(*each, self.limits.tokens, self.after)
            for each in ((ids, lengths), there)
        )
        if len(one) != len(other) or len(other) != len(self.vectors.case(row)):
            raise InputError(
                f"the case {self.tokens.case_ids[row]} and its counterfactual differ in paragraphs",
                remedy="embed both with the same limits",
            )
        return np.array([not np.array_equal(*two) for two in zip(one, other, strict=True)], bool)

    def filled(self, rows: np.ndarray, masks: list[np.ndarray], encoded: np.ndarray) -> np.ndarray:
        """The vectors of all paragraphs, from those that were encoded and those known."""
        if self.vectors is None:
            return encoded
        vectors = np.concatenate([self.vectors.case(row) for row in rows])
        vectors[np.concatenate(masks)] = encoded
        return vectors


def _only(case: tuple[np.ndarray, np.ndarray], mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ids and lengths of some paragraphs of a case."""
    ids, lengths = case
    return ids[np.repeat(mask, lengths)], lengths[mask]


def _batch(
    store: TokenStore, rows: np.ndarray, found: dict[str, np.ndarray], form: pa.Schema
) -> pa.RecordBatch:
    """Return the cases of a batch with their vectors."""
    vectors = found["vectors"]
    ends = np.concatenate([[0], np.cumsum(found["counts"])]).astype(np.int32)
    paragraphs = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    case_ids = pa.array([store.case_ids[row] for row in rows], pa.string())
    lists = pa.ListArray.from_arrays(pa.array(ends), paragraphs)
    return pa.RecordBatch.from_arrays([case_ids, lists], schema=form)


if __name__ == "__main__":
    stage.run(embed_paragraphs)
