"""What a model says at given places, without ever holding the logits of a whole batch.

The last step of a masked-LM head multiplies a hidden state with the embedding of every token
of the vocabulary. Done at once that is a hundred megabytes per batch, which are written, and
read again several times for the softmax. Here the vocabulary is taken in pieces that stay in
the processor's cache, and what is wanted of them is kept: the maximum, the sum of exponentials,
and the logits of the tokens asked about.
"""

import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.scoring.selection import logits_at, short_inputs

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

#: Logits held at once, by kind of device (on a CPU: 2 MB in float32).
LOGITS_AT_ONCE = {"cpu": 500_000, "cuda": 100_000_000}

#: Fewer tokens of the vocabulary at once than this make matrix products slow.
LEAST_TOKENS = 256

#: For each model whether its last step is a linear layer, to be done here in pieces.
_linear: "weakref.WeakKeyDictionary[PreTrainedModel, bool]" = weakref.WeakKeyDictionary()

#: The hidden states that were kept from the last step; one per thread.
_kept = threading.local()


@dataclass(frozen=True)
class Reading:
    """What a model says.

    Parameters
    ----------
    log_p : tensor of float32, shape (questions,)
        Natural logarithm of the probability of the token asked about.
    first : tensor of bool, shape (questions,)
        Whether no other token is likelier there.
    best : tensor of int64, shape (places,)
        The likeliest token at a place; the first one, of equals.
    entropy : tensor of float32, shape (places,), or None
        Entropy of the prediction, in nats.
    """

    log_p: "torch.Tensor"
    first: "torch.Tensor"
    best: "torch.Tensor"
    entropy: "torch.Tensor | None"


def enable_reading(model: "PreTrainedModel") -> bool:
    """Prepare a model for `read_places`; say whether its last step is done in pieces.

    It is not where the head ends in something else than a linear layer: then `read_places`
    holds all logits of its places, and the caller should ask about fewer at a time. A hook
    takes what goes into the layer; that this gives the model's own logits is checked here.
    """
    if model in _linear:
        return _linear[model]
    import torch

    decoder = model.get_output_embeddings()
    _linear[model] = False
    if not isinstance(decoder, torch.nn.Linear):
        return False

    def keep_input(_module: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if not getattr(_kept, "wanted", False):
            return None
        _kept.hidden = arguments[0]
        return (arguments[0][..., :0, :],)  # the layer itself is left with nothing to do

    hook = decoder.register_forward_pre_hook(keep_input)
    ids = short_inputs(model)
    rows, columns = torch.tensor([[0, 1, 1], [2, 0, 4]], device=model.device)
    training = model.training
    model.eval()  # dropout would make two runs differ
    with torch.inference_mode():
        whole = logits_at(model, ids, rows, columns)
        hidden = _hidden_at(model, ids, rows, columns)
        if hidden is not None and hidden.shape[-1] == decoder.in_features:
            found = torch.nn.functional.linear(hidden, decoder.weight, decoder.bias).float()
            loose = 1e-4 if model.dtype == torch.float32 else 0.1
            _linear[model] = found.shape == whole.shape and torch.allclose(
                found, whole, rtol=loose, atol=loose, equal_nan=True
            )
    model.train(training)
    if not _linear[model]:
        hook.remove()
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
    """Run a batch and read the answers to questions about some of its places.

    Parameters
    ----------
    model
        A model that `enable_reading` was called on.
    ids : tensor of int, shape (batch, length)
        Token ids.
    rows, columns : tensors of int, shape (places,)
        The places.
    place, token : tensors of int, shape (questions,)
        Each question: the number of its place, and the token asked about.
    entropy : bool
        Whether to work out the entropy.
    **inputs
        What else the model takes, such as token types.
    """
    import torch

    best_logit = torch.full((len(rows),), torch.finfo(torch.float32).min, device=ids.device)
    total = torch.zeros_like(best_logit)
    weighted = torch.zeros_like(best_logit) if entropy else None
    best = torch.zeros(len(rows), dtype=torch.int64, device=ids.device)
    asked = torch.empty(len(token), device=ids.device)
    order = token.argsort()
    on_cpu = ids.device.type == "cpu"
    for start, logits in _pieces(model, ids, rows, columns, inputs):
        highest = logits.amax(dim=1).float()
        higher = torch.maximum(best_logit, highest)
        if on_cpu:  # looking for the place of a maximum is slow: only where it is a new one
            new = (highest > best_logit).nonzero()[:, 0]
            best[new] = logits[new].argmax(dim=1) + start
        else:
            best = torch.where(highest > best_logit, logits.argmax(dim=1) + start, best)
        low, high = torch.searchsorted(
            token[order], torch.tensor([start, start + logits.shape[1]], device=ids.device)
        )
        some = order[low:high]
        asked[some] = logits[place[some], token[some] - start].float()
        below = logits.float().sub_(higher[:, None])
        shrink = (best_logit - higher).exp_()
        if weighted is None:
            total = total * shrink + below.exp_().sum(dim=1)
        else:
            # the weighted sum is of differences to the maximum, which has moved
            share = below.exp()
            weighted = (weighted + (best_logit - higher) * total) * shrink + below.mul_(share).sum(
                dim=1
            )
            total = total * shrink + share.sum(dim=1)
        best_logit = higher
    log_total = total.log()
    return Reading(
        log_p=asked - (best_logit + log_total)[place],
        first=asked >= best_logit[place],
        best=best,
        entropy=log_total - weighted / total if weighted is not None else None,
    )


def _pieces(
    model: "PreTrainedModel",
    ids: "torch.Tensor",
    rows: "torch.Tensor",
    columns: "torch.Tensor",
    inputs: dict[str, "torch.Tensor"],
) -> Iterator[tuple[int, "torch.Tensor"]]:
    """Logits by stretches of the vocabulary: number of the first token, (places, tokens)."""
    from torch.nn.functional import linear

    in_pieces = _linear[model]
    if in_pieces:
        hidden = _hidden_at(model, ids, rows, columns, **inputs)
        decoder = model.get_output_embeddings()
        size = len(decoder.weight)
    else:
        whole = logits_at(model, ids, rows, columns, **inputs)
        size = whole.shape[1]
    step = max(LEAST_TOKENS, LOGITS_AT_ONCE[ids.device.type] // max(1, len(rows)))
    for start in range(0, size, step):
        part = slice(start, start + step)
        if in_pieces:
            bias = decoder.bias[part] if decoder.bias is not None else None
            yield start, linear(hidden, decoder.weight[part], bias)
        else:
            yield start, whole[:, part]


def _hidden_at(
    model: "PreTrainedModel",
    ids: "torch.Tensor",
    rows: "torch.Tensor",
    columns: "torch.Tensor",
    **inputs: "torch.Tensor",
) -> "torch.Tensor | None":
    """What goes into the last step at the places; None if it is not reached as a layer."""
    _kept.wanted, _kept.hidden = True, None
    try:
        logits_at(model, ids, rows, columns, **inputs)
        return None if _kept.hidden is None else _kept.hidden[0]
    finally:
        _kept.wanted, _kept.hidden = False, None
