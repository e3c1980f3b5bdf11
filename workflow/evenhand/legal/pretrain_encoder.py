"""Stage: go on training a masked language model on the cases that a classifier will learn from.

As Chalkidis et al. (2022, section 5.1) did with MiniLM: the texts of the training split, in blocks
of 128 tokens, AdamW with a highest rate of 1e-4 that rises over the first tenth of the steps.
How well the model fills in masked tokens of cases that it was not trained on (of the dev split)
is measured before and after.

A run that was stopped goes on where it was.
"""

import hashlib
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Setting
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.learning.language_modelling import Batches, fit, loss_curve, mask_tokens
from evenhand.legal.built import read_cases_table, read_splits
from evenhand.legal.tokens import Special, TokenStore, check_tokenizer, read_meta
from evenhand.scoring.device import repeatable
from evenhand.scoring.model_files import model_source
from evenhand.scoring.models import MaskedLM, load_masked_lm
from evenhand.scoring.selection import logits_at
from evenhand.scoring.validity import check_fill_mask

if TYPE_CHECKING:
    import torch

#: The last piece of a case is left out if it has fewer tokens than this, special ones aside.
SHORTEST_BLOCK = 16

#: Tokens that go through the model at once when it is measured.
TOKENS_PER_BATCH = 4096


@dataclass
class _Blocks:
    """The blocks of a split, and the number of tokens left out."""

    blocks: list[np.ndarray]
    names: list[str]
    cases: int = 0
    tokens: int = 0
    left_out: int = 0


def pretrain_encoder(
    *,
    data: Input,
    tokens: Input,
    tokens_meta: Input,
    out: Output,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    block: int = 128,
    epochs: float = 10.0,
    steps: int | None = None,
    batch: int = 32,
    learning_rate: float = 1e-4,
    mask_probability: float = 0.15,
    held_out: int = 200,
    new_head: bool = False,
    seed: int = 0,
    dtype: Literal["fp32", "bf16"] = "fp32",
    threads: int = 1,
    device: Annotated[str, Setting] = "cpu",
) -> dict[str, Any]:
    """Go on training a masked language model on a data set's training split.

    The paragraphs of a case in the token store are joined by the tokenizer's end-of-text tokens
    and cut into blocks; no block contains two cases. Tokens that are not in the store (the ends
    of long paragraphs, paragraphs beyond the stored ones) are not used.

    Parameters
    ----------
    data : path
        {dataset}.parquet, for the splits.
    tokens, tokens_meta : path
        The output of `tokenise_cases` with the model's own tokenizer.
    out : path
        Folder in the Hugging Face layout with the masked language model and its tokenizer, to
        be loaded as an encoder (`evenhand.learning.hierarchical.load_encoder`) or scored as a
        language model; and training.json: sizes, options, loss curve, the checks before and
        after on dev cases (see `evenhand.scoring.validity.check_fill_mask`).
    model : path, optional
        Folder with a masked language model. Either this or `hub_name`.
    hub_name, revision : str, optional
        Name on the hub; branch, tag or commit.
    block : int
        The most tokens in a block, special ones included.
    epochs : float
        How often each block is seen.
    steps : int, optional
        Training steps, in place of `epochs`.
    batch : int
        Blocks a step.
    learning_rate : float
        The highest one; it rises over the first tenth of the steps and falls linearly to zero.
    mask_probability : float
        Share of the tokens that are to be predicted.
    held_out : int
        Blocks of the dev split that are measured on, at most: a sample by digest.
    new_head : bool
        Take a checkpoint without a head of a language model, and begin with a random one.
    seed : int
        Seed of order, masks and dropout.
    dtype : str
        ``fp32``, or ``bf16`` for steps in bfloat16 (weights stay in fp32).
    threads : int
        CPU threads: another number may change the last bits.
    device : str
        ``cpu``, ``cuda`` or ``cuda:N``.

    Returns
    -------
    dict
        cases, blocks, tokens (in blocks, special ones included), tokens_left_out, steps,
        final_loss, accuracy_before, accuracy_after, baseline.

    Raises
    ------
    InputError
        The model or the tokens cannot be used or do not belong together, a split has nothing
        to learn from or to measure on, or a loss is no number.
    """
    _check(block, epochs, steps, batch, mask_probability, held_out, dtype, threads)
    if device.startswith("cuda"):  # what deterministic products need
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    meta = read_meta(tokens_meta)
    source = model_source(model, hub_name)
    lm = load_masked_lm(source, revision=revision, device=device, allow_missing=new_head)
    _check_model(lm, block, source)
    check_tokenizer(meta, source, revision)
    special = Special(**meta["special"])
    trained, measured = _read_blocks(data, tokens, special, block)
    ordinary = _ordinary(lm)
    for name, part in (("train", trained), ("dev", measured)):
        if not any(np.isin(one, ordinary).any() for one in part.blocks):
            raise InputError(f"no case of the split {name} has a known token", file=data)
    sample = _sample(measured, held_out)
    total_steps = steps if steps is not None else math.ceil(epochs * len(trained.blocks) / batch)
    before = check_fill_mask(lm, sample, seed=seed, tokens_per_batch=TOKENS_PER_BATCH)
    with repeatable(seed, threads=threads, device=device, deterministic=True):
        losses = _train(
            lm,
            trained.blocks,
            ordinary,
            steps=total_steps,
            batch=batch,
            learning_rate=learning_rate,
            mask_probability=mask_probability,
            bf16=dtype == "bf16",
            seed=seed,
        )
    out.mkdir(parents=True)
    lm.model.save_pretrained(out)
    lm.tokenizer.save_pretrained(out)
    after = check_fill_mask(
        load_masked_lm(out, device=device), sample, seed=seed, tokens_per_batch=TOKENS_PER_BATCH
    )
    counts = {
        "cases": trained.cases,
        "blocks": len(trained.blocks),
        "tokens": trained.tokens,
        "tokens_left_out": trained.left_out,
        "steps": total_steps,
    }
    record = {
        **counts,
        "block": block,
        "batch": batch,
        "learning_rate": learning_rate,
        "mask_probability": mask_probability,
        "seed": seed,
        "dtype": dtype,
        "parameters": lm.model.num_parameters(),
        "vocabulary": lm.vocabulary,
        "new_weights": lm.missing,
        "revision": lm.revision,
        "fill_mask_before": before,
        "fill_mask_after": after,
        "loss": loss_curve(losses),
    }
    write_json(out / "training.json", record)
    return counts | {
        "final_loss": record["loss"][-1]["loss"],
        "accuracy_before": before["accuracy"],
        "accuracy_after": after["accuracy"],
        "baseline": after["baseline"],
    }


def _check(
    block: int,
    epochs: float,
    steps: int | None,
    batch: int,
    mask_probability: float,
    held_out: int,
    dtype: str,
    threads: int,
) -> None:
    if not 0 < mask_probability < 1:
        raise InputError("mask_probability is a share between 0 and 1")
    if block < SHORTEST_BLOCK:
        raise InputError(f"blocks of {block} tokens are too short to learn from")
    if not (epochs if steps is None else steps) > 0 or min(batch, held_out, threads) < 1:
        raise InputError("steps or epochs, batch, held_out and threads are above 0")
    if dtype not in ("fp32", "bf16"):
        raise InputError(f"dtype {dtype!r} is unknown", remedy="use fp32 or bf16")


def _check_model(lm: MaskedLM, block: int, source: Path | str) -> None:
    """Refuse a model that lacks more than its head, and blocks that it cannot read."""
    body = f"{lm.model.base_model_prefix}."
    if missing := [name for name in lm.missing if name.startswith(body)]:
        raise InputError(
            f"the checkpoint lacks {len(missing)} weights beneath its head ({missing[0]})",
            file=source,
            remedy="use a whole checkpoint",
        )
    if block > lm.max_tokens:
        raise InputError(
            f"the model reads {lm.max_tokens} tokens, and blocks have {block}",
            file=source,
            remedy=f"set block to {lm.max_tokens} at most",
        )


def _ordinary(lm: MaskedLM) -> np.ndarray:
    """The token ids that can be predicted: neither special nor unknown."""
    special = {*lm.tokenizer.all_special_ids, lm.unknown_id}
    return np.array([token for token in range(len(lm.tokenizer)) if token not in special])


def _read_blocks(data: Path, tokens: Path, special: Special, block: int) -> tuple[_Blocks, _Blocks]:
    """The blocks of the training split, and of the dev split, case by case."""
    store = TokenStore(tokens)
    if store.case_ids != read_cases_table(data, ["case_id"])["case_id"].to_pylist():
        raise InputError(
            "has other cases than the data set", file=tokens, remedy="tokenise them again"
        )
    parts = {"train": _Blocks([], []), "dev": _Blocks([], [])}
    for row, split in enumerate(read_splits(data).tolist()):
        if split in parts:
            part = parts[split]
            cut, left_out = _cut(*store.case(row), special, block)
            part.blocks += cut
            part.names += [f"{store.case_ids[row]}\0{number}" for number in range(len(cut))]
            part.cases += 1
            part.tokens += sum(map(len, cut))
            part.left_out += left_out
    for name, part in parts.items():
        if not part.blocks:
            raise InputError(f"has no case in the split {name}", file=data)
    return parts["train"], parts["dev"]


def _cut(
    ids: np.ndarray, lengths: np.ndarray, special: Special, block: int
) -> tuple[list[np.ndarray], int]:
    """The blocks of one case, and how many tokens of its end are in none."""
    before, after = len(special.before), len(special.after)
    pieces: list[np.ndarray] = []
    for paragraph in np.split(ids, np.cumsum(lengths)[:-1]) if len(lengths) else []:
        if pieces:
            pieces.append(np.array(special.after, dtype=ids.dtype))
        pieces.append(paragraph[before : len(paragraph) - after])
    if not pieces:
        return [], 0
    text = np.concatenate(pieces)
    room = block - special.count
    cut, left_out = [], 0
    for start in range(0, len(text), room):
        piece = text[start : start + room]
        if start and len(piece) < min(SHORTEST_BLOCK, room):
            left_out = len(piece)
            break
        cut.append(
            np.concatenate([special.before, piece, special.after]).astype(ids.dtype, copy=False)
        )
    return cut, left_out


def _sample(part: _Blocks, most: int) -> list[list[int]]:
    """Blocks of a split as lists, by a digest of case and number."""
    order = sorted(
        range(len(part.blocks)),
        key=lambda i: hashlib.blake2b(part.names[i].encode(), digest_size=16).digest(),
    )
    return [part.blocks[i].tolist() for i in order[:most]]


def _train(
    lm: MaskedLM,
    blocks: list[np.ndarray],
    ordinary: np.ndarray,
    *,
    steps: int,
    batch: int,
    learning_rate: float,
    mask_probability: float,
    bf16: bool,
    seed: int,
) -> list[float]:
    """Train in place; return the loss (nats per predicted token) of each step."""
    import torch

    generator = np.random.default_rng(seed)
    order = Batches(blocks, batch, generator)
    device = lm.model.device
    lm.model.requires_grad_(True)

    def masked() -> Iterator["torch.Tensor"]:
        rows = ()
        while not len(rows):  # a batch may hold nothing but unknown tokens
            arrays = mask_tokens(
                [blocks[i] for i in next(order)],
                ordinary,
                mask_probability,
                generator,
                pad_id=lm.tokenizer.pad_token_id or 0,
                mask_id=lm.mask_id,
            )
            rows = arrays[2]
        return (torch.from_numpy(array).to(device) for array in arrays)

    def loss_of(_step: int) -> "torch.Tensor":
        ids, attention, rows, columns, targets = masked()
        with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
            logits = logits_at(lm.model, ids, rows, columns, attention_mask=attention)
        return torch.nn.functional.cross_entropy(logits, targets)

    return fit(lm.model, loss_of, steps=steps, learning_rate=learning_rate, batches=order)


if __name__ == "__main__":
    stage.run(pretrain_encoder)
