"""Stage: a legal data set as token ids, once for all trainings with the same tokenizer."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand.core.stage import Input, Output, checked
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.legal.built import BuiltCases
from evenhand.legal.stores import tokenizer_digest, tokens_schema
from evenhand.scoring.model_files import model_source
from evenhand.scoring.models import load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

#: Paragraphs of a case that are stored at most, if the published encoder reads no more.
STORED = 64

#: Vocabularies up to this size fit into two bytes a token.
UINT16 = 2**16

#: A text whose tokens are looked for between the special ones.
PROBE = "1"


@checked
def tokenise_cases(
    *,
    data: Input,
    out: Output,
    meta: Output,
    name: str,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    published_blanks: bool = False,
) -> dict[str, Any]:
    """Convert a data set into token ids, paragraph by paragraph.

    Each paragraph gets the tokenizer's special tokens and is cut at the data set's limit of
    tokens, special ones included, as the published encoder reads it; markers in the text that
    look like special tokens are taken as text. Of a case up to `STORED` paragraphs are kept,
    more than the published encoder reads (the limit of segments is in `meta`), so that other
    limits can be tried without tokenising again. Nothing is padded.

    The tokenizer uses all cores unless the environment variable RAYON_NUM_THREADS limits them;
    the result does not depend on it.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    out : path
        Arrow IPC file, a row per case in the order of the data set: see `evenhand.legal.stores`.
    meta : path
        JSON: tokenizer (its name), tokenizer_sha256, revision, vocabulary, dtype (uint16 or
        uint32), special (before, after, pad, unknown, mask), segments and tokens (the limits),
        stored_paragraphs, counts, unknown_share (unknown tokens among the stored ones that are
        not special; null where the tokenizer knows every text).
    name : str
        Name of the tokenizer.
    model : path, optional
        Folder with a fast tokenizer in the Hugging Face layout; no code and no pickle of it
        is run. Either this or `hub_name`.
    hub_name, revision : str, optional
        Name on the hub; branch, tag or commit.
    published_blanks : bool
        Whether a paragraph keeps the blank before and after it, except at the ends of the case.
        FairLex's code cuts ``a </s> b`` at ``</s>`` (its transforms.py), and a byte-level
        tokenizer makes other tokens of ``" b"`` than of ``"b"``.

    Returns
    -------
    dict
        cases, paragraphs, paragraphs_stored, tokens (without special ones, of all paragraphs),
        tokens_stored (likewise), unknown.

    Raises
    ------
    InputError
        There is no tokenizer, it is no fast one, or it takes fewer tokens than the limit.
    """
    cases = BuiltCases(data)
    fixed = cases.dataset
    stored = max(STORED, fixed.segments)
    source = model_source(model, hub_name)
    tokenizer = load_tokenizer(source, revision)
    if tokenizer.model_max_length < fixed.tokens:
        problem = (
            f"the tokenizer takes {tokenizer.model_max_length} tokens, and paragraphs of"
            f" {fixed.title} have up to {fixed.tokens}"
        )
        raise InputError(problem, file=source, remedy="take a model that reads as many")
    digest = tokenizer_digest(tokenizer)  # turns off padding and truncation
    special = _special(source, tokenizer)
    backend = tokenizer.backend_tokenizer
    backend.encode_special_tokens = True
    dtype = "uint16" if len(tokenizer) <= UINT16 else "uint32"
    counts = dict.fromkeys(
        ("cases", "paragraphs", "paragraphs_stored", "tokens", "tokens_stored", "unknown"), 0
    )
    form = tokens_schema(dtype)
    with pa.OSFile(str(out), "wb") as stream, pa.ipc.new_file(stream, form) as writer:
        for batch in cases.batches("case_id", "text"):
            batch = _with_blanks(batch) if published_blanks else batch
            encoded = _encoded(batch, backend, special, fixed.tokens, stored, form, counts)
            writer.write_batch(encoded)
    unknown_share = None
    if special["unknown"] is not None and counts["tokens_stored"]:
        unknown_share = round(counts["unknown"] / counts["tokens_stored"], 6)
    document = {
        "tokenizer": name,
        "tokenizer_sha256": digest,
        "revision": revision,
        "vocabulary": len(tokenizer),
        "dtype": dtype,
        "special": special,
        "segments": fixed.segments,
        "tokens": fixed.tokens,
        "stored_paragraphs": stored,
        "counts": counts,
        "unknown_share": unknown_share,
    }
    write_json(meta, document)
    return counts


def _encoded(
    batch: pa.RecordBatch,
    backend: Any,
    special: dict[str, Any],
    limit: int,
    stored: int,
    form: pa.Schema,
    counts: dict[str, int],
) -> pa.RecordBatch:
    """The rows of a batch of cases; adds to the counts."""
    before, after = special["before"], special["after"]
    longest = limit - len(before) - len(after)
    encodings = backend.encode_batch_fast(
        batch["text"].flatten().to_pylist(), add_special_tokens=False
    )
    per_case = [0, *np.cumsum(batch["text"].value_lengths().to_numpy()).tolist()]
    tokens, lengths = [], []
    for first, end in itertools.pairwise(per_case):
        kept = [encoding.ids[:longest] for encoding in encodings[first : min(end, first + stored)]]
        tokens.append([before + ids + after for ids in kept])
        lengths.append(list(map(len, encodings[first:end])))
        counts["paragraphs_stored"] += len(kept)
        counts["tokens_stored"] += sum(map(len, kept))
        if special["unknown"] is not None:
            counts["unknown"] += sum(ids.count(special["unknown"]) for ids in kept)
    counts["cases"] += batch.num_rows
    counts["paragraphs"] += len(encodings)
    counts["tokens"] += sum(map(len, encodings))
    columns = zip((tokens, lengths), form.types[1:], strict=True)
    return pa.RecordBatch.from_arrays(
        [batch["case_id"], *(pa.array(rows, type) for rows, type in columns)], schema=form
    )


def _with_blanks(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the cases with a blank on both sides of each border between paragraphs."""
    texts = [
        [f"{' ' * (i > 0)}{part}{' ' * (i < len(text) - 1)}" for i, part in enumerate(text)]
        for text in batch["text"].to_pylist()
    ]
    columns = [batch["case_id"], pa.array(texts, batch.schema.field("text").type)]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _special(source: Path | str, tokenizer: "PreTrainedTokenizerBase") -> dict[str, Any]:
    """Return the tokenizer's special tokens, with those it adds before and after a text."""
    backend = tokenizer.backend_tokenizer
    plain, whole = (
        backend.encode(PROBE, add_special_tokens=special).ids for special in (False, True)
    )
    places = [
        first
        for first in range(len(whole) - len(plain) + 1)
        if whole[first : first + len(plain)] == plain
    ]
    if len(places) != 1 or not plain:
        problem = "the tokenizer changes a text when it adds its special tokens"
        raise InputError(problem, file=source)
    return {
        "before": whole[: places[0]],
        "after": whole[places[0] + len(plain) :],
        "pad": tokenizer.pad_token_id,
        "unknown": tokenizer.unk_token_id,
        "mask": tokenizer.mask_token_id,
    }
