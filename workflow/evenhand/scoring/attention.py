"""How much attention each token receives: AULA's weight, read while the model runs.

The weight of a token (alpha) is the attention that is paid to it, softmax(QK^T), averaged over
all layers, heads and query positions [Kaneko and Bollegala, AAAI 2022, section 3.2; in their
code evaluate.py:96-100]. Asking a model for all its attentions makes it run its slowest path
and keep layers x heads x length x length numbers. Here a function registered with transformers
takes its place: it computes the output as the ordinary one does (scaled dot product attention,
so that the logits are the same bits), and adds the column sums to one [batch, length] tensor.

Some classes compute their attention in their own code (DeBERTa, MPNet). They are asked for all
their attentions. Others have no weight for each pair of tokens (FNet, Longformer): their
attention cannot be read.
"""

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evenhand.scoring.selection import short_inputs

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

#: The name that the function is registered under.
NAME = "evenhand_received"

#: Attention scores held at once, by kind of device: on a CPU they should stay in its cache.
SCORES_AT_ONCE = {"cpu": 500_000, "cuda": 250_000_000}

#: For each model whether its attention can be read.
_readable: "weakref.WeakKeyDictionary[PreTrainedModel, bool]" = weakref.WeakKeyDictionary()

#: What is being collected; one per thread, since several threads may run one model.
_now = threading.local()


class Received:
    """Attention received so far: one [batch, length] sum, over what was added to it."""

    def __init__(self) -> None:
        self._sum: Any = None
        self._terms = 0
        self.layers = 0

    def add(
        self,
        query: "torch.Tensor",
        key: "torch.Tensor",
        mask: "torch.Tensor | None",
        scaling: float | None,
    ) -> None:
        """Add one layer: query and key have shape (batch, heads, length, size)."""
        import torch

        batch, heads, length, size = query.shape
        if len(key[0]) < heads:  # several heads share the keys of one
            key = key.repeat_interleave(heads // len(key[0]), dim=1)
        received = query.new_zeros((batch, length), dtype=torch.float32)
        scaling = size**-0.5 if scaling is None else scaling
        step = max(1, SCORES_AT_ONCE[query.device.type] // (heads * length * length))
        for first in range(0, batch, step):
            rows = slice(first, first + step)
            scores = torch.matmul(query[rows] * scaling, key[rows].transpose(2, 3))
            if mask is not None:
                part = mask[rows] if len(mask) == batch else mask
                if part.dtype == torch.bool:
                    scores = scores.masked_fill(~part, torch.finfo(scores.dtype).min)
                else:
                    scores = scores + part
            received[rows] = scores.softmax(dim=-1, dtype=torch.float32).sum(dim=(1, 2))
        self._keep(received, heads * length)

    def add_weights(self, weights: "torch.Tensor") -> None:
        """Add one layer by its attention weights, shape (batch, heads, length, length)."""
        self._keep(weights.float().sum(dim=(1, 2)), weights.shape[1] * weights.shape[2])

    def _keep(self, received: "torch.Tensor", terms: int) -> None:
        self._sum = received if self._sum is None else self._sum + received
        self._terms += terms
        self.layers += 1

    def mean(self) -> "torch.Tensor":
        """Attention to each token, over layers, heads and queries; float32 (batch, length).

        A row adds up to 1, special tokens included.
        """
        return self._sum / self._terms


@contextmanager
def collecting(wanted: bool = True) -> Iterator[Received | None]:
    """Collect, in this thread, the attention of a model that `enable_attention` was called on.

    Yields None, and collects nothing, where it is not `wanted`.
    """
    _now.received = Received() if wanted else None
    try:
        yield _now.received
    finally:
        _now.received = None


def enable_attention(model: "PreTrainedModel") -> bool:
    """Make a model's attention readable by `collecting`; return whether that is possible.

    On a short input the attention collected is compared with the one that the model itself
    returns when asked for all its attentions. Where it cannot be collected, the model is asked
    for all of them while it runs. Only in the second case may the last bits of its logits change.
    """
    if model not in _readable:
        training = model.training
        model.eval()  # dropout would make two runs differ
        _readable[model] = _enable(model)
        model.train(training)
    return _readable[model]


def _enable(model: "PreTrainedModel") -> bool:
    import torch

    before = model.config._attn_implementation
    ids = short_inputs(model, 7)
    with torch.no_grad():
        own = _own_weights(model, ids)
        if not own or not all(_is_attention(layer, ids) for layer in own):
            model.set_attn_implementation(before)
            return False
        if _collects(model, ids, own):
            return True
        model.set_attn_implementation("eager")
    model.base_model.register_forward_pre_hook(_ask_for_weights, with_kwargs=True)
    model.base_model.register_forward_hook(_keep_weights)
    return True


def _own_weights(model: "PreTrainedModel", ids: "torch.Tensor") -> "tuple[torch.Tensor, ...]":
    """What the model returns when asked for all its attentions; nothing if it cannot be asked."""
    try:
        model.set_attn_implementation("eager")
        output = model.base_model(input_ids=ids, output_attentions=True)
    except (ValueError, NotImplementedError, AttributeError, TypeError):
        return ()
    return getattr(output, "attentions", None) or ()


def _is_attention(weights: "torch.Tensor | None", ids: "torch.Tensor") -> bool:
    """Whether a layer's weights are shares of each token's attention, one for each other token."""
    import torch

    rows, length = ids.shape
    if weights is None or weights.dim() != 4:
        return False
    if weights.shape[0] != rows or weights.shape[2:] != (length, length):
        return False
    shares = weights.float().sum(dim=3)
    if not shares.isfinite().all():  # such a checkpoint is found out by its answers
        return True
    whole = torch.allclose(shares, torch.ones_like(shares), atol=1e-2)
    return whole and bool((weights >= 0).all())


def _ask_for_weights(_module: Any, arguments: Any, options: dict[str, Any]) -> Any:
    asked = getattr(_now, "received", None) is not None
    return (arguments, options | {"output_attentions": True}) if asked else None


def _keep_weights(_module: Any, _arguments: Any, output: Any) -> None:
    received = getattr(_now, "received", None)
    if received is not None:
        for weights in output.attentions:
            received.add_weights(weights)


def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    def attend(
        module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any
    ) -> Any:
        received = getattr(_now, "received", None)
        if received is not None:
            if options.get("position_bias") is not None:
                raise NotImplementedError("attention with a position bias")
            received.add(query, key, attention_mask, options.get("scaling"))
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)


def _collects(
    model: "PreTrainedModel", ids: "torch.Tensor", own: "tuple[torch.Tensor, ...]"
) -> bool:
    """Whether the collected attention is the model's own; leaves the model collectable if so."""
    import torch

    _register()
    try:
        model.set_attn_implementation(NAME)
        with collecting() as received:
            model.base_model(input_ids=ids)
    except (ValueError, NotImplementedError, AttributeError, TypeError):
        return False  # a class that refuses another attention
    if received.layers != len(own):
        return False
    expected = torch.stack([layer.float().mean(dim=(1, 2)) for layer in own]).mean(dim=0)
    loose = 1e-5 if model.dtype == torch.float32 else 2e-2
    return bool(
        torch.allclose(received.mean(), expected, rtol=loose, atol=loose * 1e-2, equal_nan=True)
        or not expected.isfinite().all()
    )
