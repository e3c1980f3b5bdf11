"""Train a small GPT-2, which predicts each token from the tokens before it.

It replaces real causal models where none is available, as `masked` does for masked ones. Its
tokens are byte-level subwords, so that it reads any text; each sentence is a separate training
example between two end-of-text tokens. On held-out sentences it must beat the most frequent token
(see `training.json`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.learning.language_modelling import Batches, pad
from evenhand.learning.vocabulary import byte_level_bpe
from evenhand.scoring.models import load_causal_lm
from evenhand.scoring.selection import enable_selection, logits_at
from evenhand.scoring.validity import check_next_token

if TYPE_CHECKING:
    import torch
    from transformers import GPT2LMHeadModel, GPT2TokenizerFast

#: The settings and their defaults; see `evenhand.learning.train_language_model`. Without dropout
#: a model soon memorises a small corpus.
SETTINGS = {
    "layers": 2,
    "width": 128,
    "heads": 2,
    "max_length": 128,
    "steps": 1500,
    "batch": 8,
    "learning_rate": 0.001,
    "dropout": 0.1,
    "vocabulary": 2000,
}


def build_tokenizer(sentences: Sequence[str], settings: SimpleNamespace) -> "GPT2TokenizerFast":
    """Return a tokenizer whose subwords are learned from sentences."""
    from transformers import GPT2TokenizerFast

    vocabulary, merges = byte_level_bpe(sentences, settings.vocabulary)
    return GPT2TokenizerFast(vocab=vocabulary, merges=merges, model_max_length=settings.max_length)


def build_model(tokenizer: "GPT2TokenizerFast", settings: SimpleNamespace) -> "GPT2LMHeadModel":
    """Return a new model."""
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=settings.width,
            n_layer=settings.layers,
            n_head=settings.heads,
            n_positions=settings.max_length,
            resid_pdrop=settings.dropout,
            embd_pdrop=settings.dropout,
            attn_pdrop=settings.dropout,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            # GPT-2's scale of initial weights, for its width of 768
            initializer_range=0.02 * (768 / settings.width) ** 0.5,
            use_cache=False,
        )
    )


def objective(
    model: "GPT2LMHeadModel",
    tokenizer: "GPT2TokenizerFast",
    sentences: Sequence[str],
    settings: SimpleNamespace,
    seed: int,
) -> "tuple[Callable[[int], torch.Tensor], Batches]":
    """Return the loss of each step (nats per token), and the batches that it draws."""
    import torch

    end = tokenizer.eos_token_id
    coded = [
        [end, *ids[: settings.max_length - 2], end]
        for ids in tokenizer(list(sentences), split_special_tokens=True, verbose=False)["input_ids"]
    ]
    enable_selection(model, before_output=True)
    order = Batches(coded, settings.batch, np.random.default_rng(seed))

    def loss_of(_step: int) -> "torch.Tensor":
        ids, rows, columns, targets = next_tokens([coded[i] for i in next(order)], end)
        logits = logits_at(
            model, torch.from_numpy(ids), torch.from_numpy(rows), torch.from_numpy(columns)
        )
        return torch.nn.functional.cross_entropy(logits, torch.from_numpy(targets))

    return loss_of, order


def finish(
    out: Path, _tokenizer: "GPT2TokenizerFast", held_out: Sequence[str], _seed: int
) -> dict[str, Any]:
    """Return the saved model's next-token accuracy on held-out sentences."""
    check = check_next_token(load_causal_lm(out), held_out, tokens_per_batch=4096)
    return {"next_token_held_out": check}


def next_tokens(
    sentences: Sequence[Sequence[int]], filler: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pad a batch, and return the positions to predict from and the tokens that follow them.

    Returns
    -------
    ids : array of int64, shape (batch, longest)
        The padded sentences. Padding does not change predictions for earlier tokens.
    rows, columns, targets : arrays of int64, shape (k,)
        All positions of sentences except the last, and the next token of each.
    """
    ids = pad(sentences, filler)
    lengths = np.array([len(sentence) for sentence in sentences])
    rows, columns = np.nonzero(np.arange(ids.shape[1]) < lengths[:, None] - 1)
    return ids, rows, columns, ids[rows, columns + 1]
