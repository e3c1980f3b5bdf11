"""Collect the attention that each token receives, the weight of AULA, while the model runs.

The weight of a token (alpha) is the attention that it receives, softmax(QK^T), averaged over all
layers, heads and query positions [Kaneko and Bollegala, AAAI 2022, section 3.2; in their code
evaluate.py:96-100]. With `output_attentions`, a model runs its slowest path and keeps
layers x heads x length x length numbers. Here an attention function registered with transformers
computes the usual output (scaled dot product attention, with logits identical to the bit), and
adds the column sums to one [batch, length] tensor.

Some classes have their own attention code (DeBERTa, MPNet); they are run with
`output_attentions`. Others have no weight for each pair of tokens (FNet, Longformer, SqueezeBERT):
their attention cannot be collected.
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

#: The registered name of the attention function.
NAME = "evenhand_received"

#: Attention scores in memory at once, by kind of device: on a CPU they should fit into its cache.
SCORES_AT_ONCE = {"cpu": 500_000, "cuda": 250_000_000}

#: Whether the attention of each model can be collected.
_readable: "weakref.WeakKeyDictionary[PreTrainedModel, bool]" = weakref.WeakKeyDictionary()

#: The current collection; one per thread, since several threads may run one model.
_now = threading.local()


class Received:
    """The attention received so far: one [batch, length] sum over layers."""

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
        """Return the mean attention to each token, over layers, heads and queries.

        Float32 (batch, length). A row adds up to 1, including special tokens.
        """
        return self._sum / self._terms


@contextmanager
def collecting(enabled: bool = True) -> Iterator[Received | None]:
    """Collect in this thread the attention of a model prepared by `enable_attention`.

    Unless `enabled`, yields None and collects nothing.
    """
    _now.received = Received() if enabled else None
    try:
        yield _now.received
    finally:
        _now.received = None


def enable_attention(model: "PreTrainedModel") -> bool:
    """Prepare a model for `collecting`; return whether its attention can be collected.

    On a short input, the collected attention is compared with the model's `output_attentions`. If
    it cannot be collected, the model is run with `output_attentions`. Only in the second case may
    the last bits of its logits change.
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
        expected = _own_weights(model, ids)
        if not expected or not all(_is_attention(layer, ids) for layer in expected):
            model.set_attn_implementation(before)
            return False
        if _collects(model, ids, expected):
            return True
        model.set_attn_implementation("eager")
    model.base_model.register_forward_pre_hook(_ask_for_weights, with_kwargs=True)
    model.base_model.register_forward_hook(_keep_weights)
    return True


def _own_weights(model: "PreTrainedModel", ids: "torch.Tensor") -> "tuple[torch.Tensor, ...]":
    """Return the model's `output_attentions`; empty if it does not support them."""
    try:
        model.set_attn_implementation("eager")
        output = model.base_model(input_ids=ids, output_attentions=True)
    except (ValueError, NotImplementedError, AttributeError, TypeError):
        return ()
    return getattr(output, "attentions", None) or ()


def _is_attention(weights: "torch.Tensor | None", ids: "torch.Tensor") -> bool:
    """Return whether weights of shape (rows, heads, length, length) are shares of attention."""
    import torch

    rows, length = ids.shape
    if weights is None or weights.dim() != 4:
        return False
    if weights.shape[0] != rows or weights.shape[2:] != (length, length):
        return False
    shares = weights.float().sum(dim=3)
    if not shares.isfinite().all():  # the validity check detects such a checkpoint
        return True
    whole = torch.allclose(shares, torch.ones_like(shares), atol=1e-2)
    return whole and bool((weights >= 0).all())


def _ask_for_weights(_module: Any, arguments: Any, options: dict[str, Any]) -> Any:
    active = getattr(_now, "received", None) is not None
    return (arguments, options | {"output_attentions": True}) if active else None


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
    model: "PreTrainedModel", ids: "torch.Tensor", weights: "tuple[torch.Tensor, ...]"
) -> bool:
    """Return whether the collected attention equals the model's; if so, keep collecting enabled."""
    import torch

    _register()
    try:
        model.set_attn_implementation(NAME)
        with collecting() as received:
            model.base_model(input_ids=ids)
    except (ValueError, NotImplementedError, AttributeError, TypeError):
        return False  # a class that does not support other attention functions
    if received.layers != len(weights):
        return False
    expected = torch.stack([layer.float().mean(dim=(1, 2)) for layer in weights]).mean(dim=0)
    loose = 1e-5 if model.dtype == torch.float32 else 2e-2
    return bool(
        torch.allclose(received.mean(), expected, rtol=loose, atol=loose * 1e-2, equal_nan=True)
        or not expected.isfinite().all()
    )
