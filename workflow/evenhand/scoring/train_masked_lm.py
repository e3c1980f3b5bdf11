"""Train a small BERT by masked language modelling, on characters or on pieces of words.

The model is the stand-in for real ones where none can be had: the demo, the tests, a machine
without a network. It is small enough for a CPU and good enough to be asked: it has to beat
the most frequent token on sentences that it was not trained on (see `training.json`).

For Chinese each character is a token (of other scripts, each letter or digit is one); for
languages that part their words by blanks, tokens are pieces of words, in lower case.

From a thousand sentences a BERT that starts as usual learns little more than how frequent
each token is. Two things make it look at neighbours early: positions start as sinusoids,
in which "the one before" is the same turn everywhere (Vaswani et al. 2017, section 3.5), and
the first steps see short pieces of sentences, in which whatever is near matters.
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.scoring.device import repeatable
from evenhand.scoring.fill_mask import check_fill_mask
from evenhand.scoring.models import load_masked_lm
from evenhand.scoring.selection import enable_selection, logits_at
from evenhand.scoring.training import (
    Batches,
    check_width,
    count,
    fit,
    mask_tokens,
    read_corpus,
    write_record,
)
from evenhand.scoring.vocabulary import BERT_SPECIALS, character_vocabulary, wordpiece_vocabulary

if TYPE_CHECKING:
    import torch
    from transformers import BertForMaskedLM, BertTokenizerFast

Tokens = Literal["characters", "wordpiece"]

#: Share of the steps that see short pieces instead of whole sentences.
SHORT_STEPS = 0.7

#: The shortest piece to learn from, in tokens.
SHORTEST_PIECE = 3


def train_masked_lm(
    *,
    out: Output,
    tables: list[Input] | None = None,
    files: list[Input] | None = None,
    tokens: Tokens = "characters",
    vocabulary: int = 2000,
    layers: int = 2,
    width: int = 128,
    heads: int = 2,
    max_length: int = 128,
    steps: int = 3000,
    batch: int = 8,
    learning_rate: float = 0.001,
    mask_probability: float = 0.35,
    piece: int = 8,
    dropout: float = 0.0,
    held_out: float = 0.1,
    max_sentences: int = 20_000,
    least_count: int = 1,
    seed: int = 0,
) -> dict[str, Any]:
    """Train a small BERT on sentences.

    Parameters
    ----------
    out : path
        Folder in the Hugging Face layout: config.json, model.safetensors, tokenizer.json,
        tokenizer_config.json, vocab.txt, and training.json (data, loss curve, accuracy on
        the held-out sentences).
    tables : list of path, optional
        Parquet tables with a column sentence.
    files : list of path, optional
        UTF-8 text files, a sentence per line.
    tokens : str
        ``characters`` (case counts) or ``wordpiece`` (lower case, no accents).
    vocabulary : int
        The most tokens of a vocabulary of pieces of words; characters are all taken.
    layers : int
        Number of layers.
    width : int
        Width of the hidden states, a multiple of `heads`; the inner layers are 4 times wider.
    heads : int
        Attention heads per layer.
    max_length : int
        Longest sentence in tokens, specials included; what is longer is cut for training.
    steps : int
        Training steps.
    batch : int
        Sentences per step.
    learning_rate : float
        Highest learning rate of AdamW; it rises over the first tenth of the steps and falls
        linearly to zero after that.
    mask_probability : float
        Share of the tokens that are to be predicted. BERT's 0.15 wastes most of a small
        corpus.
    piece : int
        Tokens of the short pieces that the first 70 % of the steps see.
    dropout : float
        Dropout probability.
    held_out : float
        Share of the sentences kept for the measurement of accuracy (at least one).
    max_sentences : int
        The most sentences used; of more, a sample by digest.
    least_count : int
        A character that occurs less often in the training sentences is unknown to the model.
        Two pieces of words that meet less often are not made one; no letter is unknown then.
    seed : int
        Seed of initial weights, order, masks and dropout.
    """
    check_width(width, heads)
    if not 0 < mask_probability < 1:
        raise InputError("mask_probability is a share between 0 and 1")
    corpus = read_corpus(tables, files, held_out=held_out, max_sentences=max_sentences)
    if tokens == "characters":
        chosen = character_vocabulary(corpus.trained, least_count)
    else:
        chosen = wordpiece_vocabulary(corpus.trained, vocabulary, least_count)
    tokenizer = _build_tokenizer(chosen, max_length, lowercase=tokens == "wordpiece")
    out.mkdir(parents=True)
    with repeatable(seed):
        model = _build_model(len(chosen), layers, width, heads, max_length, dropout)
        losses = _train(
            model,
            tokenizer,
            corpus.trained,
            steps=steps,
            batch=batch,
            learning_rate=learning_rate,
            mask_probability=mask_probability,
            max_length=max_length,
            piece=piece,
            seed=seed,
        )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "vocab.txt").write_text("".join(f"{token}\n" for token in chosen), encoding="utf-8")
    # Measured on the model as it was saved, the way others will load it.
    record = write_record(
        out,
        corpus,
        vocabulary=len(chosen),
        parameters=model.num_parameters(),
        losses=losses,
        fill_mask_held_out=check_fill_mask(
            load_masked_lm(out), corpus.held_out, seed=seed, tokens_per_batch=4096
        ),
    )
    return count(record, "fill_mask_held_out")


def _build_tokenizer(
    vocabulary: Sequence[str], max_length: int, *, lowercase: bool
) -> "BertTokenizerFast":
    from transformers import BertTokenizerFast

    return BertTokenizerFast(
        vocab={token: number for number, token in enumerate(vocabulary)},
        do_lower_case=lowercase,
        strip_accents=lowercase,
        model_max_length=max_length,
    )


def _build_model(
    vocabulary: int, layers: int, width: int, heads: int, max_length: int, dropout: float
) -> "BertForMaskedLM":
    import torch
    from transformers import BertConfig, BertForMaskedLM

    scale = 0.02 * (768 / width) ** 0.5  # BERT's scale of initial weights, for its width of 768
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=vocabulary,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
            max_position_embeddings=max_length,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            pad_token_id=BERT_SPECIALS.index("[PAD]"),
            initializer_range=scale,
        )
    )
    turns = torch.outer(torch.arange(max_length), 10_000 ** -torch.linspace(0, 1, (width + 1) // 2))
    waves = torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(1)[:, :width]
    with torch.no_grad():
        model.bert.embeddings.position_embeddings.weight.copy_(waves * scale * 2**0.5)
    return model


def _train(
    model: "BertForMaskedLM",
    tokenizer: "BertTokenizerFast",
    sentences: Sequence[str],
    *,
    steps: int,
    batch: int,
    learning_rate: float,
    mask_probability: float,
    max_length: int,
    piece: int,
    seed: int,
) -> list[float]:
    """Train in place; return the loss (nats per predicted token) of each step."""
    import torch

    coded = tokenizer(
        list(sentences), truncation=True, max_length=max_length, split_special_tokens=True
    )["input_ids"]
    enable_selection(model)
    ordinary = np.arange(len(BERT_SPECIALS), len(tokenizer))
    generator = np.random.default_rng(seed)
    order = Batches(coded, batch, generator)

    def loss_of(step: int) -> "torch.Tensor":
        rows = ()
        while not len(rows):  # a batch may hold nothing but unknown characters
            chosen = [coded[i] for i in next(order)]
            starts = [0] * len(chosen)
            if step < SHORT_STEPS * steps:
                chosen, starts = _cut(chosen, piece, generator)
            ids, attention, rows, columns, wanted = mask_tokens(
                chosen,
                ordinary,
                mask_probability,
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
            position_ids=torch.from_numpy(np.minimum(positions, max_length - 1)),
        )
        return torch.nn.functional.cross_entropy(logits, torch.from_numpy(wanted))

    return fit(model, loss_of, steps=steps, learning_rate=learning_rate, batches=order)


def _cut(
    sentences: Sequence[Sequence[int]], piece: int, generator: np.random.Generator
) -> tuple[list[Sequence[int]], list[int]]:
    """Cut sentences into pieces of `piece` tokens, from a random place on: pieces, and starts.

    What is left at the ends stays as a shorter piece, unless it is too short to learn from;
    a sentence that is as short itself stays whole.
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


if __name__ == "__main__":
    stage.run(train_masked_lm)
