"""The hierarchical classifier of FairLex (Chalkidis et al. 2022, section 5.1), without its padding.

An encoder turns each paragraph of a document into the vector of its first token, to which the
paragraph's position embedding is added. Two Transformer layers attend over the paragraphs, max
pooling over the paragraphs gives the features, and a linear layer the logits.

The published code runs the encoder over all 32 x 128 positions of each document. Here only real
paragraphs are run, in buckets of similar length (`evenhand.learning.packing`). Two modes:

- ``fixed``: empty positions are masked, in the attention and in the pooling, so that padding does
  not affect the logits.
- ``compat``: the published forward pass. Empty positions hold the encoder's vector for a paragraph
  of tokens 0, all masked, and take part in attention and pooling. This vector is the same for all
  of them, so it is computed once. (Dropout is therefore also drawn once; the published code draws
  it for each position.)
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import torch
from torch import nn

from evenhand.errors import InputError
from evenhand.learning.objective import full_precision
from evenhand.learning.packing import Limits, Packed
from evenhand.scoring.device import prepare_device
from evenhand.scoring.model_files import check_folder
from evenhand.scoring.models import family_of, positions_of, read_weights
from evenhand.scoring.selection import text_config

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

Mode = Literal["fixed", "compat"]

#: Transformer layers over the paragraphs.
LAYERS = 2

#: Encoders with the layers of BERT (see `first_tokens_only`).
LIKE_BERT = frozenset({"bert", "camembert", "electra", "roberta", "xlm-roberta"})


# ---------------------------------------------------------------- the encoder


def load_encoder(
    source: Path | str, *, revision: str | None = None, device: str = "cpu"
) -> "PreTrainedModel":
    """Load an encoder of paragraphs for further training, in fp32.

    Parameters
    ----------
    source : Path or str
        A folder (Path) in the Hugging Face layout, or a name on the hub (str). The head of a
        masked language model and a pooling layer are dropped, since they are not used.
    revision : str, optional
        Branch, tag or commit on the hub.
    device : str
        ``cpu``, ``cuda`` or ``cuda:N``.

    Returns
    -------
    PreTrainedModel
        The encoder in training mode.

    Raises
    ------
    InputError
        The folder lacks a part or holds pickled weights only, the hub has no such model, the
        checkpoint is broken, lacks weights, or is not an encoder (its first token does not attend
        to the others), or the device is not available.
    """
    from transformers import AutoModel

    prepare_device(device, "fp32")
    if isinstance(source, Path):
        check_folder(source, vocabulary=False)
    if family_of(source, revision=revision) != "masked":
        problem = "is a causal language model: its first token does not see the others"
        raise InputError(problem, file=source, remedy="use an encoder, such as BERT or RoBERTa")
    encoder, lost = read_weights(AutoModel, source, "encoder", revision=revision, dtype="fp32")
    # A pooling layer that the checkpoint lacks is random, and is dropped.
    if missing := [name for name in lost if not name.startswith("pooler.")]:
        problem = (
            f"the checkpoint lacks {len(missing)} weights of an encoder ({', '.join(missing[:3])}"
            f"{', …' if len(missing) > 3 else ''}); they would be random"
        )
        raise InputError(problem, file=source, remedy="use a whole checkpoint")
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    return encoder.to(device).train()


def check_input(encoder: "PreTrainedModel", *, vocabulary: int, limits: Limits) -> None:
    """Reject token ids outside the encoder's vocabulary, and paragraphs longer than its input.

    Parameters
    ----------
    encoder
        The result of `load_encoder`.
    vocabulary : int
        Vocabulary size of the tokenizer that made the ids.
    limits : Limits
        The maximum lengths that are read of a document.

    Raises
    ------
    InputError
    """
    known = int(text_config(encoder).vocab_size)
    if vocabulary > known:
        problem = f"the tokens are of a vocabulary of {vocabulary}, and the encoder knows {known}"
        raise InputError(problem, remedy="tokenise the cases with the encoder's own tokenizer")
    longest = positions_of(encoder)
    if longest is not None and limits.tokens > longest:
        problem = f"the encoder reads {longest} tokens, and paragraphs may have {limits.tokens}"
        raise InputError(problem, remedy="set a lower limit of tokens, or use another encoder")


def encode_paragraphs(encoder: "PreTrainedModel", batch: Packed) -> torch.Tensor:
    """Return the vector of each paragraph's first token: tensor, shape (p, d), in batch order.

    The tokens of all buckets are looked up at once, because the gradient of each lookup is as
    large as the whole vocabulary. If the encoder has BERT's layers, the last layer computes the
    first tokens only.
    """
    lookup = encoder.get_input_embeddings()
    if not batch.buckets:
        return lookup.weight.new_zeros((0, text_config(encoder).hidden_size))
    embedded = lookup(torch.cat([bucket.ids.flatten() for bucket in batch.buckets]))
    parts = embedded.split([bucket.ids.numel() for bucket in batch.buckets])
    with first_tokens_only(encoder):
        return torch.cat(
            [
                encoder(
                    inputs_embeds=part.view(*bucket.ids.shape, -1), attention_mask=bucket.mask()
                ).last_hidden_state[:, 0]
                for bucket, part in zip(batch.buckets, parts, strict=True)
            ]
        )


@contextmanager
def first_tokens_only(encoder: "PreTrainedModel") -> Iterator[None]:
    """Make the last layer compute the vectors of first tokens only: shape (m, 1, d).

    The others are not used, and take a seventh of the time of six layers. With other kinds of
    layers, or with gradient checkpointing, all vectors are computed.
    """
    config = encoder.config
    layers = getattr(getattr(encoder, "encoder", None), "layer", None)
    known = config.model_type in LIKE_BERT and config._attn_implementation == "sdpa" and layers
    if not known or getattr(layers[-1], "gradient_checkpointing", False):
        yield
        return
    last = layers[-1]
    if "forward" in vars(last):  # within such a block already, perhaps of another thread
        yield
        return
    last.forward = partial(_first_token, last)
    try:
        yield
    finally:
        del last.forward


def _first_token(
    layer: nn.Module, hidden: torch.Tensor, mask: torch.Tensor | None = None, *_: Any, **__: Any
) -> torch.Tensor:
    """Return a BERT layer's output for the first token of each input: tensor, shape (m, 1, d).

    `mask` is the library's attention mask: true for tokens that can be attended to.
    """
    attention, first = layer.attention.self, hidden[:, :1]

    def by_head(vectors: torch.Tensor) -> torch.Tensor:
        return vectors.unflatten(-1, (-1, attention.attention_head_size)).transpose(1, 2)

    seen = nn.functional.scaled_dot_product_attention(
        by_head(attention.query(first)),
        by_head(attention.key(hidden)),
        by_head(attention.value(hidden)),
        attn_mask=None if mask is None else mask[:, :, :1],
        dropout_p=attention.dropout.p if layer.training else 0.0,
    )
    joined = seen.transpose(1, 2).flatten(2)
    return layer.feed_forward_chunk(layer.attention.output(joined, first))


def encode_padding(encoder: "PreTrainedModel", tokens: int) -> torch.Tensor:
    """Return the vector of the published code for empty positions: tensor, shape (d,).

    The vector of a paragraph of `tokens` tokens 0 that are all masked. The result of attention
    over fully masked tokens depends on the implementation. The eager one, as in the published
    code, attends to all tokens equally.
    """
    first = next(encoder.parameters())
    ids = torch.zeros((1, tokens), dtype=torch.long, device=first.device)
    before = encoder.config._attn_implementation
    encoder.set_attn_implementation("eager")
    try:
        return encoder(input_ids=ids, attention_mask=ids).last_hidden_state[0, 0]
    finally:
        encoder.set_attn_implementation(before)


# ---------------------------------------------------------------- the layers above it


def sinusoids(count: int, width: int) -> torch.Tensor:
    """Return the initial position embeddings: float32 tensor, shape (count + 1, width), 0 at 0.

    As published: the frequency of coordinate i is 10000^(-2i / width). In Vaswani et al. (2017),
    2i is the coordinate, so that frequencies fall half as fast.
    """
    frequencies = 10_000.0 ** (-2 * torch.arange(width, dtype=torch.float64) / width)
    turns = torch.outer(torch.arange(count + 1, dtype=torch.float64), frequencies)
    waves = turns.clone()
    waves[:, 0::2], waves[:, 1::2] = turns[:, 0::2].sin(), turns[:, 1::2].cos()
    waves[0] = 0
    return waves.float()


class DocumentTop(nn.Module):
    """The layers from paragraph vectors to logits; above a frozen encoder, only they are trained.

    Parameters
    ----------
    config
        The encoder's configuration: width, heads, inner width, activation and epsilon.
    classes : int
        Logits per document.
    segments : int
        Maximum number of paragraphs of a document.
    mode : str
        ``fixed`` or ``compat``.
    dropout : float
        Dropout in the layers and before the classifier.
    """

    def __init__(
        self,
        config: "PretrainedConfig",
        classes: int,
        segments: int,
        *,
        mode: Mode = "fixed",
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        if mode not in get_args(Mode):
            raise InputError(f"the mode {mode!r} is unknown", remedy="use fixed or compat")
        width = int(config.hidden_size)
        self.mode, self.segments, self.width = mode, segments, width
        self.positions = nn.Embedding.from_pretrained(
            sinusoids(segments, width), freeze=False, padding_idx=0
        )
        epsilon = getattr(config, "layer_norm_eps", 1e-12)
        layer = nn.TransformerEncoderLayer(
            width,
            int(config.num_attention_heads),
            getattr(config, "intermediate_size", None) or 4 * width,
            dropout,
            _activation(config),
            layer_norm_eps=epsilon,
            batch_first=True,
        )
        norm = nn.LayerNorm(width, eps=epsilon)
        self.layers = nn.TransformerEncoder(layer, LAYERS, norm, enable_nested_tensor=False)
        for parameter in self.layers.parameters():  # as torch.nn.Transformer initialises them
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, classes)

    @property
    def last_layer(self) -> nn.Linear:
        """The layer that gives the logits."""
        return self.classifier

    def forward(
        self,
        vectors: torch.Tensor,
        documents: torch.Tensor,
        slots: torch.Tensor,
        counts: torch.Tensor,
        *,
        most: int | None = None,
        padding: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and features of documents.

        Parameters
        ----------
        vectors : tensor, shape (p, d)
            The encoder's output for each paragraph, in any order.
        documents, slots : int64 tensors, shape (p,)
            The document of each paragraph, and its position there, from 0.
        counts : int64 tensor, shape (n,)
            Number of paragraphs of each document. With 0, the document has one empty position.
        most : int, optional
            The largest count, if it is known.
        padding : tensor, shape (d,), optional
            The result of `encode_padding`, in compat mode.

        Returns
        -------
        logits : tensor, shape (n, classes)
            In fp32 or a wider format.
        features : tensor, shape (n, d)
            The classifier's input before dropout.
        """
        most = int(counts.max()) if most is None else most
        number, places = len(counts), self.segments if self.mode == "compat" else max(most, 1)
        empty = vectors.new_zeros(self.width) if padding is None else padding.to(vectors.dtype)
        grid = empty.expand(number, places, self.width)
        grid = grid.index_put((documents, slots), vectors)
        order = torch.arange(places, device=counts.device)
        real = order < counts[:, None]
        grid = grid + self.positions((order + 1) * real)
        if self.mode == "compat":
            features = self.layers(grid).max(dim=1).values
        else:
            seen = order < counts[:, None].clamp(min=1)
            out = self.layers(grid, src_key_padding_mask=~seen)
            features = out.masked_fill(~seen[..., None], -math.inf).max(dim=1).values
        logits = self.classifier(self.dropout(features))
        return full_precision(logits), full_precision(features)


class HierarchicalClassifier(nn.Module):
    """An encoder of paragraphs with a `DocumentTop`.

    Parameters
    ----------
    encoder
        The result of `load_encoder`.
    classes, segments, **how
        See `DocumentTop`. The encoder's configuration sets the dropout inside the encoder.
    """

    def __init__(self, encoder: "PreTrainedModel", classes: int, segments: int, **how: Any) -> None:
        super().__init__()
        self.encoder = encoder
        self.top = DocumentTop(text_config(encoder), classes, segments, **how)

    @property
    def last_layer(self) -> nn.Linear:
        """The layer that gives the logits."""
        return self.top.classifier

    def forward(self, batch: Packed) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (n, classes) and features (n, d) of a batch: see `DocumentTop.forward`."""
        padding = None
        if self.top.mode == "compat":
            padding = encode_padding(self.encoder, batch.limits.tokens)
        return self.top(
            encode_paragraphs(self.encoder, batch),
            batch.documents,
            batch.slots,
            batch.counts,
            most=batch.most,
            padding=padding,
        )


def _activation(config: "PretrainedConfig"):
    """Return the encoder's activation; by name if torch has fast kernels for it."""
    from transformers.activations import ACT2FN

    name = getattr(config, "hidden_act", None) or getattr(config, "activation", "gelu")
    return name if name in ("relu", "gelu") else ACT2FN[name]
