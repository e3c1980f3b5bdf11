"""Compute predictions at given positions without storing the logits of a whole batch.

The last step of a masked-LM head multiplies a hidden state with the embedding of every token of the
vocabulary. At once, this is a hundred megabytes per batch, which are written, and read several
times for the softmax. Here the vocabulary is processed in pieces that fit into the processor's
cache, and only the maximum, the sum of exponentials, and the logits of the requested tokens are
kept.
"""

import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.scoring.selection import logits_at, short_inputs

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

#: Logits in memory at once, by kind of device (on a CPU: 2 MB in float32).
LOGITS_AT_ONCE = {"cpu": 500_000, "cuda": 100_000_000}

#: Minimum number of tokens of a piece of the vocabulary; fewer make matrix products slow.
LEAST_TOKENS = 256

#: Whether the last step of each model is a linear layer, which is computed here in pieces.
_linear: "weakref.WeakKeyDictionary[PreTrainedModel, bool]" = weakref.WeakKeyDictionary()

#: The inputs of the last step; one per thread.
_kept = threading.local()


@dataclass(frozen=True)
class Reading:
    """The predictions of a model.

    Parameters
    ----------
    log_p : tensor of float32, shape (questions,)
        Natural logarithm of the probability of the requested token.
    first : tensor of bool, shape (questions,)
        Whether no other token is likelier at this position.
    best : tensor of int64, shape (places,)
        The likeliest token at a position; the first in case of ties.
    entropy : tensor of float32, shape (places,), or None
        Entropy of the prediction, in nats.
    """

    log_p: "torch.Tensor"
    first: "torch.Tensor"
    best: "torch.Tensor"
    entropy: "torch.Tensor | None"


def enable_reading(model: "PreTrainedModel") -> bool:
    """Prepare a model for `read_places`; return whether its last step can be done in pieces.

    It cannot if the logits are not exactly the output of a linear layer, as where a head scales or
    caps them (Gemma 2): then `read_places` stores all logits of its positions, and should be
    called with fewer at a time. A hook keeps the input of the layer.
    """
    if model in _linear:
        return _linear[model]
    import torch

    decoder = model.get_output_embeddings()
    _linear[model] = False
    if type(decoder) is not torch.nn.Linear:
        return False
    outputs: list[torch.Tensor] = []
    watch = decoder.register_forward_hook(lambda _m, _a, output: outputs.append(output.clone()))
    rows, columns = torch.tensor([[0, 1, 1], [2, 0, 4]], device=model.device)
    with torch.inference_mode():
        whole = logits_at(model, short_inputs(model), rows, columns)
    watch.remove()
    _linear[model] = len(outputs) == 1 and torch.equal(outputs[0][0].float(), whole)

    def keep_input(_module: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if not getattr(_kept, "active", False):
            return None
        _kept.hidden = arguments[0]
        return (arguments[0][..., :0, :],)  # an empty input, so that the layer takes no time

    if _linear[model]:
        decoder.register_forward_pre_hook(keep_input)
    return _linear[model]


def read_places(
    model: "PreTrainedModel",
    ids: "torch.Tensor",
    rows: "torch.Tensor",
    columns: "torch.Tensor",
    place: "torch.Tensor",
    token: "torch.Tensor",
    *,
    entropy: bool = True,
    **inputs: "torch.Tensor",
) -> Reading:
    """Run a batch, and return the predictions for tokens at some of its positions.

    Parameters
    ----------
    model
        A model prepared by `enable_reading`.
    ids : tensor of int, shape (batch, length)
        Token ids.
    rows, columns : tensors of int, shape (places,)
        The positions.
    place, token : tensors of int, shape (questions,)
        The questions: the number of the position, and the requested token.
    entropy : bool
        Whether to compute the entropy.
    **inputs
        Further inputs of the model, such as token types.
    """
    import torch

    best_logit = torch.full((len(rows),), torch.finfo(torch.float32).min, device=ids.device)
    total = torch.zeros_like(best_logit)
    weighted = torch.zeros_like(best_logit) if entropy else None
    best = torch.zeros(len(rows), dtype=torch.int64, device=ids.device)
    token_logit = torch.empty(len(token), device=ids.device)
    order = token.argsort()
    on_cpu = ids.device.type == "cpu"
    run = partial(logits_at, model, ids, rows, columns, **inputs)
    for start, logits in _pieces(model, run, len(rows)):
        highest = logits.amax(dim=1).float()
        higher = torch.maximum(best_logit, highest)
        if on_cpu:  # argmax is slow: only for rows with a new maximum
            new = (highest > best_logit).nonzero()[:, 0]
            best[new] = logits[new].argmax(dim=1) + start
        else:
            best = torch.where(highest > best_logit, logits.argmax(dim=1) + start, best)
        low, high = torch.searchsorted(
            token[order], torch.tensor([start, start + logits.shape[1]], device=ids.device)
        )
        some = order[low:high]
        token_logit[some] = logits[place[some], token[some] - start].float()
        below = logits.float().sub_(higher[:, None])
        shrink = (best_logit - higher).exp_()
        if weighted is None:
            total = total * shrink + below.exp_().sum(dim=1)
        else:
            # the weighted sum is of differences to the maximum, which has changed
            share = below.exp()
            weighted = (weighted + (best_logit - higher) * total) * shrink + below.mul_(share).sum(
                dim=1
            )
            total = total * shrink + share.sum(dim=1)
        best_logit = higher
    log_total = total.log()
    return Reading(
        log_p=token_logit - (best_logit + log_total)[place],
        first=token_logit >= best_logit[place],
        best=best,
        entropy=log_total - weighted / total if weighted is not None else None,
    )


def _pieces(
    model: "PreTrainedModel", run: "Callable[[], torch.Tensor]", places: int
) -> Iterator[tuple[int, "torch.Tensor"]]:
    """Yield logits by pieces of the vocabulary: number of the first token, (places, tokens)."""
    from torch.nn.functional import linear

    in_pieces = _linear[model]
    if in_pieces:
        hidden = _hidden(run)
        decoder = model.get_output_embeddings()
        size = len(decoder.weight)
    else:
        whole = run()
        size = whole.shape[1]
    step = max(LEAST_TOKENS, LOGITS_AT_ONCE[model.device.type] // max(1, places))
    for start in range(0, size, step):
        part = slice(start, start + step)
        if in_pieces:
            bias = decoder.bias[part] if decoder.bias is not None else None
            yield start, linear(hidden, decoder.weight[part], bias)
        else:
            yield start, whole[:, part]


def _hidden(run: "Callable[[], torch.Tensor]") -> "torch.Tensor":
    """Return the input of the last step at the positions."""
    _kept.active = True
    try:
        run()
        return _kept.hidden[0]
    finally:
        _kept.active, _kept.hidden = False, None
