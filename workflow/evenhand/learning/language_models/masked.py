"""Train a small BERT by masked language modelling, on characters or on subwords.

It replaces real models where none is available: in the demo, the tests, or on a machine without a
network. It is small enough for a CPU, and on held-out sentences it must beat the most frequent
token (see `training.json`).

Tokens are single characters, as for Chinese, or lower-case subwords, for languages that separate
words by blanks.

With the usual initial values, a BERT learns little more than token frequencies from a thousand
sentences. Two changes make it use neighbouring tokens early: position embeddings start as
sinusoids, in which a shift by one position is the same rotation everywhere (Vaswani et al. 2017,
section 3.5), and the first steps use short pieces of sentences.
"""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.learning.language_modelling import Batches, mask_tokens
from evenhand.learning.vocabulary import BERT_SPECIALS, character_vocabulary, wordpiece_vocabulary
from evenhand.scoring.models import load_masked_lm
from evenhand.scoring.selection import enable_selection, logits_at
from evenhand.scoring.validity import check_fill_mask

if TYPE_CHECKING:
    import torch
    from transformers import BertForMaskedLM, BertTokenizerFast

#: The settings and their defaults; see `evenhand.learning.train_language_model`.
SETTINGS = {
    "layers": 2,
    "width": 128,
    "heads": 2,
    "max_length": 128,
    "steps": 3000,
    "batch": 8,
    "learning_rate": 0.001,
    "dropout": 0.0,
    "tokens": "characters",
    "vocabulary": 2000,
    "mask_probability": 0.35,
    "piece": 8,
    "least_count": 1,
}

#: Share of the steps that use short pieces instead of whole sentences.
SHORT_STEPS = 0.7

#: The shortest piece to learn from, in tokens.
SHORTEST_PIECE = 3


def build_tokenizer(sentences: Sequence[str], settings: SimpleNamespace) -> "BertTokenizerFast":
    """Return a tokenizer whose vocabulary is learned from sentences."""
    from transformers import BertTokenizerFast

    if not 0 < settings.mask_probability < 1:
        raise InputError("mask_probability is a share between 0 and 1")
    if settings.tokens not in ("characters", "wordpiece"):
        raise InputError(f"tokens is {settings.tokens}, not one of characters, wordpiece")
    words = settings.tokens == "wordpiece"
    if words:
        tokens = wordpiece_vocabulary(sentences, settings.vocabulary, settings.least_count)
    else:
        tokens = character_vocabulary(sentences, settings.least_count)
    return BertTokenizerFast(
        vocab={token: number for number, token in enumerate(tokens)},
        do_lower_case=words,
        strip_accents=words,
        model_max_length=settings.max_length,
    )


def build_model(tokenizer: "BertTokenizerFast", settings: SimpleNamespace) -> "BertForMaskedLM":
    """Return a new model."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    width, max_length = settings.width, settings.max_length
    scale = 0.02 * (768 / width) ** 0.5  # BERT's scale of initial weights, for its width of 768
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=width,
            num_hidden_layers=settings.layers,
            num_attention_heads=settings.heads,
            intermediate_size=4 * width,
            max_position_embeddings=max_length,
            hidden_dropout_prob=settings.dropout,
            attention_probs_dropout_prob=settings.dropout,
            pad_token_id=BERT_SPECIALS.index("[PAD]"),
            initializer_range=scale,
        )
    )
    turns = torch.outer(torch.arange(max_length), 10_000 ** -torch.linspace(0, 1, (width + 1) // 2))
    waves = torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(1)[:, :width]
    with torch.no_grad():
        model.bert.embeddings.position_embeddings.weight.copy_(waves * scale * 2**0.5)
    return model


def objective(
    model: "BertForMaskedLM",
    tokenizer: "BertTokenizerFast",
    sentences: Sequence[str],
    settings: SimpleNamespace,
    seed: int,
) -> "tuple[Callable[[int], torch.Tensor], Batches]":
    """Return the loss of each step (nats per predicted token), and the batches that it draws."""
    import torch

    coded = tokenizer(
        list(sentences), truncation=True, max_length=settings.max_length, split_special_tokens=True
    )["input_ids"]
    enable_selection(model)
    ordinary = np.arange(len(BERT_SPECIALS), len(tokenizer))
    generator = np.random.default_rng(seed)
    order = Batches(coded, settings.batch, generator)

    def loss_of(step: int) -> "torch.Tensor":
        rows = ()
        while not len(rows):  # a batch may hold nothing but unknown characters
            chosen = [coded[i] for i in next(order)]
            starts = [0] * len(chosen)
            if step < SHORT_STEPS * settings.steps:
                chosen, starts = cut(chosen, settings.piece, generator)
            ids, attention, rows, columns, targets = mask_tokens(
                chosen,
                ordinary,
                settings.mask_probability,
                generator,
                pad_id=BERT_SPECIALS.index("[PAD]"),
                mask_id=BERT_SPECIALS.index("[MASK]"),
            )
        # Tokens of a piece keep the positions that they have in the sentence; the padding
        # after it may not run beyond the last one.
        positions = np.array(starts)[:, None] + np.arange(ids.shape[1])
        logits = logits_at(
            model,
            torch.from_numpy(ids),
            torch.from_numpy(rows),
            torch.from_numpy(columns),
            attention_mask=torch.from_numpy(attention),
            position_ids=torch.from_numpy(np.minimum(positions, settings.max_length - 1)),
        )
        return torch.nn.functional.cross_entropy(logits, torch.from_numpy(targets))

    return loss_of, order


def finish(
    out: Path, tokenizer: "BertTokenizerFast", held_out: Sequence[str], seed: int
) -> dict[str, Any]:
    """Write vocab.txt, and return the saved model's fill-mask accuracy on held-out sentences."""
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    (out / "vocab.txt").write_text("".join(f"{token}\n" for token in tokens), encoding="utf-8")
    check = check_fill_mask(load_masked_lm(out), held_out, seed=seed, tokens_per_batch=4096)
    return {"fill_mask_held_out": check}


def cut(
    sentences: Sequence[Sequence[int]], piece: int, generator: np.random.Generator
) -> tuple[list[Sequence[int]], list[int]]:
    """Cut sentences at a random offset into pieces of `piece` tokens: pieces, and their starts.

    Shorter pieces at the ends are kept if they have at least `SHORTEST_PIECE` tokens; a sentence
    with fewer tokens stays whole.
    """
    pieces, starts = [], []
    for ids in sentences:
        first = int(generator.integers(piece))
        borders = [0, *range(first or piece, len(ids), piece), len(ids)]
        for start, end in itertools.pairwise(borders):
            if end - start >= min(SHORTEST_PIECE, len(ids)):
                pieces.append(ids[start:end])
                starts.append(start)
    return pieces, starts
