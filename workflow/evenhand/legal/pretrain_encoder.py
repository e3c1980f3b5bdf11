"""Stage: go on training a masked language model on the cases that a classifier will learn from.

As Chalkidis et al. (2022, section 5.1) did with MiniLM: the texts of the training split, in blocks
of 128 tokens, AdamW with a highest rate of 1e-4 that rises over the first tenth of the steps.
How well the model fills in masked tokens of cases that it was not trained on (of the dev split)
is measured before and after.

A run that was stopped goes on where it was.
"""

import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from evenhand.core.stage import Count, Input, Natural, Output, Range, Setting, checked
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.learning.language_modelling import Batches, fit, loss_curve, mask_tokens
from evenhand.legal.built import BuiltCases, check_ids
from evenhand.legal.stores import TokenStore, check_tokenizer, read_tokens_meta
from evenhand.scoring.device import repeatable
from evenhand.scoring.model_files import model_source
from evenhand.scoring.models import MaskedLM, load_masked_lm
from evenhand.scoring.selection import logits_at
from evenhand.scoring.validity import check_fill_mask

if TYPE_CHECKING:
    import torch

#: The last piece of a case is left out if it has fewer tokens than this, special ones aside.
SHORTEST_BLOCK = 16

#: Share of the tokens that are to be predicted.
MASK_PROBABILITY = 0.15

#: Blocks of the dev split that are measured on, at most: a sample by digest.
HELD_OUT = 200

#: Tokens that go through the model at once when it is measured.
TOKENS_PER_BATCH = 4096


@checked
def pretrain_encoder(
    *,
    data: Input,
    tokens: Input,
    tokens_meta: Input,
    out: Output,
    model: Input | None = None,
    hub_name: str | None = None,
    revision: str | None = None,
    block: Annotated[int, Range(least=16)] = 128,
    epochs: Annotated[float, Range(above=0)] = 10.0,
    batch: Count = 32,
    learning_rate: Annotated[float, Range(above=0)] = 1e-4,
    new_head: bool = False,
    seed: Natural = 0,
    dtype: Literal["fp32", "bf16"] = "fp32",
    threads: Count = 1,
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
    batch : int
        Blocks a step.
    learning_rate : float
        The highest one; it rises over the first tenth of the steps and falls linearly to zero.
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
    meta = read_tokens_meta(tokens_meta)
    source = model_source(model, hub_name)
    lm = load_masked_lm(source, revision=revision, device=device, allow_missing=new_head)
    _check_model(lm, block, source)
    check_tokenizer(meta, source, revision)
    blocks, cases, left_out = _read_blocks(data, tokens, meta["special"], block)
    special = {*lm.tokenizer.all_special_ids, lm.unknown_id}
    ordinary = np.array([token for token in range(len(lm.tokenizer)) if token not in special])
    for split, by_name in blocks.items():
        if not any(np.isin(ids, ordinary).any() for ids in by_name.values()):
            raise InputError(f"no case of the split {split} has a known token", file=data)
    trained = list(blocks["train"].values())
    steps = math.ceil(epochs * len(trained) / batch)
    counts = {
        "cases": cases,
        "blocks": len(trained),
        "tokens": sum(map(len, trained)),
        "tokens_left_out": left_out,
        "steps": steps,
    }
    order = sorted(blocks["dev"], key=lambda name: hashlib.blake2b(name, digest_size=16).digest())
    sample = [blocks["dev"][name].tolist() for name in order[:HELD_OUT]]
    before = check_fill_mask(lm, sample, seed=seed, tokens_per_batch=TOKENS_PER_BATCH)
    with repeatable(seed, threads=threads):
        losses = _train(lm, trained, ordinary, steps, batch, learning_rate, dtype == "bf16", seed)
    out.mkdir(parents=True)
    lm.model.save_pretrained(out)
    lm.tokenizer.save_pretrained(out)
    after = check_fill_mask(
        load_masked_lm(out, device=device), sample, seed=seed, tokens_per_batch=TOKENS_PER_BATCH
    )
    record = {
        **counts,
        "block": block,
        "batch": batch,
        "learning_rate": learning_rate,
        "mask_probability": MASK_PROBABILITY,
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


def _check_model(lm: MaskedLM, block: int, source: Path | str) -> None:
    """Reject a model that lacks more than its head, and blocks that it cannot read."""
    body = f"{lm.model.base_model_prefix}."
    if missing := [name for name in lm.missing if name.startswith(body)]:
        problem = f"the checkpoint lacks {len(missing)} weights beneath its head ({missing[0]})"
        raise InputError(problem, file=source, remedy="use a whole checkpoint")
    if block > lm.max_tokens:
        problem = f"the model reads {lm.max_tokens} tokens, and blocks have {block}"
        raise InputError(problem, file=source, remedy=f"set block to {lm.max_tokens} at most")


def _read_blocks(
    data: Path, tokens: Path, special: dict[str, Any], block: int
) -> tuple[dict[str, dict[bytes, np.ndarray]], int, int]:
    """Return the blocks of the training and the dev split by case and number.

    Also the number of training cases, and of their tokens that are in no block.
    """
    store = TokenStore(tokens)
    built = BuiltCases(data)
    check_ids(store.case_ids, built.case_ids, tokens)
    blocks: dict[str, dict[bytes, np.ndarray]] = {"train": {}, "dev": {}}
    cases = tokens_left_out = 0
    splits = built.splits.tolist()
    for row, (case_id, split) in enumerate(zip(store.case_ids, splits, strict=True)):
        if split in blocks:
            pieces, left_out = _cut(store.case(row), special, block)
            named = enumerate(pieces)
            blocks[split] |= {f"{case_id}\0{number}".encode(): piece for number, piece in named}
            if split == "train":
                cases += 1
                tokens_left_out += left_out
    return blocks, cases, tokens_left_out


def _cut(
    paragraphs: list[np.ndarray], special: dict[str, Any], block: int
) -> tuple[list[np.ndarray], int]:
    """Return the blocks of one case, and how many tokens of its end are in none."""
    if not paragraphs:
        return [], 0
    before, after = (np.array(special[n], dtype=paragraphs[0].dtype) for n in ("before", "after"))
    words = (paragraph[len(before) : len(paragraph) - len(after)] for paragraph in paragraphs)
    # the end-of-text tokens stand between paragraphs
    text = np.concatenate([part for pair in ((after, some) for some in words) for part in pair][1:])
    room = block - len(before) - len(after)
    pieces = np.split(text, range(room, len(text), room)) if len(text) else []
    left_out = 0
    if len(pieces) > 1 and len(pieces[-1]) < min(SHORTEST_BLOCK, room):
        left_out = len(pieces.pop())
    return [np.concatenate([before, piece, after]) for piece in pieces], left_out


def _train(
    lm: MaskedLM,
    blocks: list[np.ndarray],
    ordinary: np.ndarray,
    steps: int,
    batch: int,
    learning_rate: float,
    bf16: bool,
    seed: int,
) -> list[float]:
    """Train in place; return the loss (nats per predicted token) of each step."""
    import torch

    generator = np.random.default_rng(seed)
    order = Batches(blocks, batch, generator)
    device = lm.model.device
    lm.model.requires_grad_(True)

    def loss_of(_step: int) -> "torch.Tensor":
        rows = ()
        while not len(rows):  # a batch may hold nothing but unknown tokens
            arrays = mask_tokens(
                [blocks[place] for place in next(order)],
                ordinary,
                MASK_PROBABILITY,
                generator,
                pad_id=lm.tokenizer.pad_token_id or 0,
                mask_id=lm.mask_id,
            )
            rows = arrays[2]
        tensors = (torch.from_numpy(array).to(device) for array in arrays)
        ids, attention, rows, columns, targets = tensors
        with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
            logits = logits_at(lm.model, ids, rows, columns, attention_mask=attention)
        return torch.nn.functional.cross_entropy(logits, targets)

    return fit(lm.model, loss_of, steps=steps, learning_rate=learning_rate, batches=order)
