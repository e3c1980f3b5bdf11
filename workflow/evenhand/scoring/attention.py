"""How much attention each token receives: AULA's weight, read while the model runs.

The weight of a token (alpha) is the attention that is paid to it, softmax(QK^T), averaged over
all layers, heads and query positions [Kaneko and Bollegala, AAAI 2022, section 3.2; in their
code evaluate.py:96-100]. Asking a model for all its attentions makes it run its slowest path
and keep layers x heads x length x length numbers. Here a function registered with transformers
takes its place: it computes the output as the ordinary one does (scaled dot product attention,
so that the logits are the same bits), and adds the column sums to one [batch, length] tensor.
"""

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evenhand.scoring.model_files import BrokenModelError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

#: The name that the function is registered under.
NAME = "evenhand_received"

#: Attention scores held at once, by kind of device: on a CPU they should stay in its cache.
SCORES_AT_ONCE = {"cpu": 500_000, "cuda": 250_000_000}

#: Models whose attention was found to be readable.
_checked: "weakref.WeakSet[PreTrainedModel]" = weakref.WeakSet()

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
        if self._sum is None:
            self._sum = query.new_zeros((batch, length), dtype=torch.float32)
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
            self._sum[rows] += scores.softmax(dim=-1, dtype=torch.float32).sum(dim=(1, 2))
        self._terms += heads * length
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


def enable_attention(model: "PreTrainedModel") -> None:
    """Make a model's attention readable by `collecting`; its logits stay the same.

    On a short input the attention collected is compared with the one that the model itself
    returns when asked for all its attentions.

    Raises
    ------
    BrokenModelError
        The class computes its attention in a way of its own, which cannot be read.
    """
    if model in _checked:
        return
    _register()
    before = model.config._attn_implementation
    training = model.training
    model.eval()  # dropout would make two runs differ
    try:
        agrees = _agrees(model)
    except (ValueError, NotImplementedError, AttributeError, TypeError):
        agrees = False  # a class that refuses another attention, or one that knows none
    finally:
        model.train(training)
    if not agrees:
        if model.config._attn_implementation != before:
            model.set_attn_implementation(before)
        raise BrokenModelError(
            f"the attention of {type(model).__name__} cannot be read",
            remedy="leave out the methods that weigh tokens by attention (aula, aula_norm)",
        )
    _checked.add(model)


def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    def attend(
        module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any
    ) -> Any:
        received = getattr(_now, "received", None)
        if received is not None:
            if options.get("position_bias") is not None or query.shape[1] != key.shape[1]:
                raise NotImplementedError("attention with a position bias or shared heads")
            received.add(query, key, attention_mask, options.get("scaling"))
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)


def _agrees(model: "PreTrainedModel") -> bool:
    """Whether the collected attention is the model's own; leaves the model collectable."""
    import torch

    first = (model.config.pad_token_id or 0) + 1
    ids = (first + torch.arange(14, device=model.device)).reshape(2, 7) % model.config.vocab_size
    with torch.no_grad():
        model.set_attn_implementation("eager")
        own = model.base_model(input_ids=ids, output_attentions=True).attentions
        model.set_attn_implementation(NAME)
        with collecting() as received:
            model.base_model(input_ids=ids)
    if not own or any(one is None for one in own) or received.layers != len(own):
        return False
    expected = torch.stack([layer.float().mean(dim=(1, 2)) for layer in own]).mean(dim=0)
    loose = 1e-5 if model.dtype == torch.float32 else 2e-2
    found = received.mean()
    # A checkpoint that gives NaN is found out by its answers.
    return bool(
        torch.allclose(found, expected, rtol=loose, atol=loose * 1e-2, equal_nan=True)
        or not expected.isfinite().all()
    )
