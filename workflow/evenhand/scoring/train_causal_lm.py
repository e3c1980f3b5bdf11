"""Train a small GPT-2, which says of each token what may come next.

The stand-in for real causal models where none can be had, as `train_masked_lm` is for masked
ones. Its tokens are pieces of words over bytes, so it reads any text; each sentence is learned
by itself, between two ends of text. It has to beat the most frequent token on sentences that it
was not trained on (see `training.json`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.scoring.device import repeatable
from evenhand.scoring.models import load_causal_lm
from evenhand.scoring.next_token import check_next_token
from evenhand.scoring.selection import enable_selection, logits_at
from evenhand.scoring.training import (
    Batches,
    check_width,
    count,
    fit,
    pad,
    read_corpus,
    write_record,
)
from evenhand.scoring.vocabulary import byte_level_bpe

if TYPE_CHECKING:
    import torch
    from transformers import GPT2LMHeadModel, GPT2TokenizerFast


def train_causal_lm(
    *,
    out: Output,
    tables: list[Input] | None = None,
    files: list[Input] | None = None,
    vocabulary: int = 2000,
    layers: int = 2,
    width: int = 128,
    heads: int = 2,
    max_length: int = 128,
    steps: int = 1500,
    batch: int = 8,
    learning_rate: float = 0.001,
    dropout: float = 0.1,
    held_out: float = 0.1,
    max_sentences: int = 20_000,
    seed: int = 0,
) -> dict[str, Any]:
    """Train a small GPT-2 on sentences.

    Parameters
    ----------
    out : path
        Folder in the Hugging Face layout: config.json, generation_config.json,
        model.safetensors, tokenizer.json, tokenizer_config.json, and training.json (data,
        loss curve, accuracy on the held-out sentences).
    tables : list of path, optional
        Parquet tables with a column sentence.
    files : list of path, optional
        UTF-8 text files, a sentence per line.
    vocabulary : int
        The most tokens of the vocabulary; 257 of them are the bytes and the end of text.
    layers : int
        Number of layers.
    width : int
        Width of the hidden states, a multiple of `heads`; the inner layers are 4 times wider.
    heads : int
        Attention heads per layer.
    max_length : int
        Longest input in tokens; a sentence that does not fit between its ends of text is cut
        for training.
    steps : int
        Training steps.
    batch : int
        Sentences per step.
    learning_rate : float
        Highest learning rate of AdamW; it rises over the first tenth of the steps and falls
        linearly to zero after that.
    dropout : float
        Dropout probability. Without any, a model soon knows a small corpus by heart.
    held_out : float
        Share of the sentences kept for the measurement of accuracy (at least one).
    max_sentences : int
        The most sentences used; of more, a sample by digest.
    seed : int
        Seed of initial weights, order and dropout.
    """
    check_width(width, heads)
    corpus = read_corpus(tables, files, held_out=held_out, max_sentences=max_sentences)
    tokenizer = _build_tokenizer(corpus.trained, vocabulary, max_length)
    out.mkdir(parents=True)
    with repeatable(seed):
        model = _build_model(tokenizer, layers, width, heads, max_length, dropout)
        losses = _train(
            model,
            tokenizer,
            corpus.trained,
            steps=steps,
            batch=batch,
            learning_rate=learning_rate,
            max_length=max_length,
            seed=seed,
        )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    # Measured on the model as it was saved, the way others will load it.
    record = write_record(
        out,
        corpus,
        vocabulary=len(tokenizer),
        parameters=model.num_parameters(),
        losses=losses,
        next_token_held_out=check_next_token(
            load_causal_lm(out), corpus.held_out, tokens_per_batch=4096
        ),
    )
    return count(record, "next_token_held_out")


def _build_tokenizer(sentences: Sequence[str], size: int, max_length: int) -> "GPT2TokenizerFast":
    from transformers import GPT2TokenizerFast

    vocabulary, merges = byte_level_bpe(sentences, size)
    return GPT2TokenizerFast(vocab=vocabulary, merges=merges, model_max_length=max_length)


def _build_model(
    tokenizer: "GPT2TokenizerFast",
    layers: int,
    width: int,
    heads: int,
    max_length: int,
    dropout: float,
) -> "GPT2LMHeadModel":
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=width,
            n_layer=layers,
            n_head=heads,
            n_positions=max_length,
            resid_pdrop=dropout,
            embd_pdrop=dropout,
            attn_pdrop=dropout,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            # GPT-2's scale of initial weights, for its width of 768
            initializer_range=0.02 * (768 / width) ** 0.5,
            use_cache=False,
        )
    )


def _train(
    model: "GPT2LMHeadModel",
    tokenizer: "GPT2TokenizerFast",
    sentences: Sequence[str],
    *,
    steps: int,
    batch: int,
    learning_rate: float,
    max_length: int,
    seed: int,
) -> list[float]:
    """Train in place; return the loss (nats per token) of each step."""
    import torch

    end = tokenizer.eos_token_id
    coded = [
        [end, *ids[: max_length - 2], end]
        for ids in tokenizer(list(sentences), split_special_tokens=True, verbose=False)["input_ids"]
    ]
    enable_selection(model, before_output=True)
    order = Batches(coded, batch, np.random.default_rng(seed))

    def loss_of(_step: int) -> "torch.Tensor":
        ids, rows, columns, wanted = _next_tokens([coded[i] for i in next(order)], end)
        logits = logits_at(
            model, torch.from_numpy(ids), torch.from_numpy(rows), torch.from_numpy(columns)
        )
        return torch.nn.functional.cross_entropy(logits, torch.from_numpy(wanted))

    return fit(model, loss_of, steps=steps, learning_rate=learning_rate, batches=order)


def _next_tokens(
    sentences: Sequence[Sequence[int]], filler: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pad a batch, and say where the model is asked and what it should answer.

    Returns
    -------
    ids : array of int64, shape (batch, longest)
        Each sentence, then fillers. What follows a token does not change the answer at it.
    rows, columns, wanted : arrays of int64, shape (k,)
        All places of sentences but the last of each, and the token that stands behind.
    """
    ids = pad(sentences, filler)
    lengths = np.array([len(sentence) for sentence in sentences])
    rows, columns = np.nonzero(np.arange(ids.shape[1]) < lengths[:, None] - 1)
    return ids, rows, columns, ids[rows, columns + 1]


if __name__ == "__main__":
    stage.run(train_causal_lm)
