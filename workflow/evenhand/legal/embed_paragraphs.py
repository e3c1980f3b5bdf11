"""Stage: the paragraphs of a legal data set as vectors of an encoder that is not trained."""

import itertools
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Count, Input, Output, Setting, checked
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.legal.built import check_ids
from evenhand.legal.stores import (
    ENCODER,
    TokenStore,
    VectorStore,
    check_tokenizer,
    read_tokens_meta,
    vectors_schema,
)
from evenhand.scoring.model_files import model_source

#: Cases that go through the encoder together, and per batch of the file.
CASES = 64


@checked
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
    threads: Count = 1,
    device: Annotated[str, Setting] = "cpu",
) -> dict[str, Any]:
    """Run a frozen encoder once over all paragraphs, for frozen classifiers.

    Parameters
    ----------
    tokens, tokens_meta : path
        Of `tokenise_cases`, with this model's tokenizer.
    out : path
        Arrow IPC file, a row per case in the order of the data set: see `evenhand.legal.stores`.
    meta : path
        JSON: encoder (the settings that the layers above share), segments and tokens (the
        limits), stored, padding (the vector of a place without a paragraph, for compat mode),
        tokenizer, counts.
    same_tokens, same : path, optional
        Tokens and vectors of the factual cases, if these are counterfactuals. A paragraph with
        the same tokens gets the same vector, to the last bit, and is not encoded again.
    model, hub_name, revision
        The encoder: see `train_classifier`.
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
    from evenhand.learning.packing import Limits, pack
    from evenhand.scoring.device import repeatable, settle
    from evenhand.scoring.execution import run_batches
    from evenhand.scoring.selection import text_config

    source = model_source(model, hub_name)
    described = read_tokens_meta(tokens_meta)
    limits = Limits(described["segments"], described["tokens"])
    check_tokenizer(described, source, revision)
    encoder = load_encoder(source, revision=revision, device=device).eval()
    settle(encoder)
    check_input(encoder, vocabulary=described["vocabulary"], limits=limits)
    sizes, special = text_config(encoder), described["special"]
    store = TokenStore(tokens)
    factual = None if same is None else (TokenStore(same_tokens), VectorStore(same))
    for opened in factual or ():
        check_ids(opened.case_ids, store.case_ids, same)

    def paragraphs_of(tokens: TokenStore, row: int) -> list[np.ndarray]:
        return tokens.paragraphs(row, limits, special["after"])

    @torch.inference_mode()
    def embed(rows: np.ndarray) -> dict[str, np.ndarray]:
        documents = [paragraphs_of(store, row) for row in rows]
        counts = np.array([len(paragraphs) for paragraphs in documents])
        is_new = np.ones(counts.sum(), dtype=bool)
        if factual is not None:
            others = [paragraphs_of(factual[0], row) for row in rows]
            known = [factual[1].case(row) for row in rows]
            pairs = zip(itertools.chain(*documents), itertools.chain(*others), strict=True)
            is_new = np.array([not np.array_equal(*pair) for pair in pairs], bool)
        parts = np.split(is_new, np.cumsum(counts)[:-1])
        packed = pack(
            [list(itertools.compress(*pair)) for pair in zip(documents, parts, strict=True)],
            limits,
            pad_id=special["pad"] or 0,
            device=device,
        )
        vectors = encode_paragraphs(encoder, packed.to(device)).float().cpu().numpy()
        order = np.lexsort((packed.slots.numpy(), packed.documents.numpy()))
        with np.errstate(over="ignore"):
            vectors = vectors[order].astype(np.float16)
        if not np.isfinite(vectors).all():
            document = int(packed.documents.numpy()[order][~np.isfinite(vectors).all(axis=1)][0])
            raise InputError(
                f"the case {store.case_ids[rows[document]]} has a vector that is no finite"
                " number in fp16",
                remedy="use another encoder",
            )
        if factual is not None:
            encoded, vectors = vectors, np.concatenate(known)
            vectors[is_new] = encoded
        return {"vectors": vectors, "counts": counts}

    counts = {"cases": len(store.case_ids), "paragraphs": 0, "empty": 0}
    form = vectors_schema(int(sizes.hidden_size))
    batches = np.split(np.arange(len(store.case_ids)), range(CASES, len(store.case_ids), CASES))
    bar = tqdm(total=len(store.case_ids), desc="embed", unit=" cases", mininterval=5, ascii=True)
    with (
        bar,
        repeatable(0, threads=threads),
        torch.inference_mode(),
        pa.OSFile(str(out), "wb") as stream,
        pa.ipc.new_file(stream, form) as writer,
    ):
        with first_tokens_only(encoder):
            for rows, batch in run_batches(
                batches,
                embed,
                scratch=scratch_folder(),
                device=device,
                threads=threads,
                progress=lambda rows: bar.update(len(rows)),
            ):
                vectors, sizes_of = batch["vectors"], batch["counts"]
                ends = np.concatenate([[0], np.cumsum(sizes_of)]).astype(np.int32)
                case_ids = pa.array([store.case_ids[row] for row in rows], pa.string())
                flat, width = pa.array(vectors.ravel()), vectors.shape[1]
                each = pa.FixedSizeListArray.from_arrays(flat, width)
                columns = [case_ids, pa.ListArray.from_arrays(pa.array(ends), each)]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=form))
                counts["paragraphs"] += len(vectors)
                counts["empty"] += int((sizes_of == 0).sum())
        padding = encode_padding(encoder, limits.tokens).float().cpu().tolist()
    document = {
        "encoder": {name: getattr(sizes, name) for name in ENCODER if hasattr(sizes, name)},
        "segments": limits.segments,
        "tokens": limits.tokens,
        "stored": "fp16",
        "padding": padding,
        "tokenizer": described["tokenizer"],
        "counts": counts,
    }
    write_json(meta, document)
    return counts
