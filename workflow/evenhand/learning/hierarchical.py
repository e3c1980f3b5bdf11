"""The hierarchical classifier of FairLex (Chalkidis et al. 2022, section 5.1), without its padding.

An encoder turns each paragraph of a document into the vector of its first token; to it comes the
place of the paragraph; two Transformer layers look over the document's paragraphs; the largest
value of each coordinate is what the document's features are, and a linear layer gives the logits.

The published code runs the encoder over all 32 x 128 places of each document. Here only real
paragraphs are run, in buckets of like length (`evenhand.learning.packing`). Two modes:

- ``fixed``: places without a paragraph are masked, in the attention and in the maximum. How long
  a document is does not reach its logits by way of padding.
- ``compat``: the published forward pass. Places without a paragraph hold the vector that the
  encoder gives to a paragraph of tokens 0, all masked, and take part in attention and maximum.
  That vector is the same at all of them, so it is computed once. (With dropout it is dropped
  out once, too; the published code draws for each place.)
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
from evenhand.learning.packing import Limits, Packed
from evenhand.scoring.device import DTYPES, check_device
from evenhand.scoring.model_files import check_folder, readable_errors
from evenhand.scoring.models import family_of, positions_of
from evenhand.scoring.selection import text_config

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

Mode = Literal["fixed", "compat"]

#: Transformer layers over the paragraphs.
LAYERS = 2

#: Encoders whose layers are built as BERT's (see `_first_tokens_only`).
LIKE_BERT = frozenset({"bert", "camembert", "electra", "roberta", "xlm-roberta"})


# ---------------------------------------------------------------- the encoder


def load_encoder(
    source: Path | str,
    *,
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "fp32",
) -> "PreTrainedModel":
    """Load an encoder of paragraphs, ready to be trained further.

    Parameters
    ----------
    source : Path or str
        A folder (Path) in the Hugging Face layout, or a name on the hub (str). A masked language
        model will do: its head is left out. So is a pooling layer, which nothing here uses.
    revision : str, optional
        Branch, tag or commit on the hub.
    device : str
        ``cpu``, ``cuda`` or ``cuda:N``.
    dtype : str
        ``fp32`` or ``bf16``: the number format of the weights. To train in bf16, load fp32 and
        run under `torch.autocast`.

    Returns
    -------
    PreTrainedModel
        In training mode.

    Raises
    ------
    InputError
        The folder lacks a part or holds pickled weights only, the hub has no such model, the
        checkpoint is broken, lacks weights, or is no encoder (its first token does not see the
        others), or the device is not there.
    """
    from transformers import AutoModel

    check_device(device, dtype)
    if isinstance(source, Path):
        check_folder(source, vocabulary=False)
    if family_of(source, revision=revision) != "masked":
        raise InputError(
            "is a causal language model: its first token does not see the others",
            file=source,
            remedy="use an encoder, such as BERT or RoBERTa",
        )
    options = {} if revision is None else {"revision": revision}
    # A pooling layer that the checkpoint lacks is drawn, before it is dropped.
    with readable_errors(source, "encoder"), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        encoder, info = AutoModel.from_pretrained(
            str(source),
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
            dtype=getattr(torch, DTYPES[dtype]),
            **options,
        )
    lost = {*info["missing_keys"], *(str(key[0]) for key in info["mismatched_keys"])}
    if missing := sorted(name for name in lost if not name.startswith("pooler.")):
        raise InputError(
            f"the checkpoint lacks {len(missing)} weights of an encoder ({', '.join(missing[:3])}"
            f"{', …' if len(missing) > 3 else ''}); they would be random",
            file=source,
            remedy="use a whole checkpoint",
        )
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    return encoder.to(device).train()


def check_input(encoder: "PreTrainedModel", *, vocabulary: int, limits: Limits) -> None:
    """Refuse token ids that the encoder does not know, and paragraphs that it cannot read.

    Parameters
    ----------
    encoder
        What `load_encoder` gave.
    vocabulary : int
        Tokens of the tokenizer that made the ids.
    limits : Limits
        How much of a document is read.

    Raises
    ------
    InputError
    """
    known = int(text_config(encoder).vocab_size)
    if vocabulary > known:
        raise InputError(
            f"the tokens are of a vocabulary of {vocabulary}, and the encoder knows {known}",
            remedy="tokenise the cases with the encoder's own tokenizer",
        )
    longest = positions_of(encoder)
    if longest is not None and limits.tokens > longest:
        raise InputError(
            f"the encoder reads {longest} tokens, and paragraphs may have {limits.tokens}",
            remedy="set a lower limit of tokens, or use another encoder",
        )


def encode_paragraphs(encoder: "PreTrainedModel", batch: Packed) -> torch.Tensor:
    """The vector of each paragraph's first token: tensor, shape (p, d), in the batch's order.

    The tokens of all buckets are looked up at once, because the gradient of a lookup is as large
    as the whole vocabulary, however few tokens there are. Where the encoder's layers are known,
    the last one works out the first tokens only.
    """
    lookup = encoder.get_input_embeddings()
    if not batch.buckets:
        return lookup.weight.new_zeros((0, text_config(encoder).hidden_size))
    embedded = lookup(torch.cat([one.ids.flatten() for one in batch.buckets]))
    parts = embedded.split([one.ids.numel() for one in batch.buckets])
    with _first_tokens_only(encoder):
        return torch.cat(
            [
                encoder(
                    inputs_embeds=part.view(*one.ids.shape, -1), attention_mask=one.mask()
                ).last_hidden_state[:, 0]
                for one, part in zip(batch.buckets, parts, strict=True)
            ]
        )


@contextmanager
def _first_tokens_only(encoder: "PreTrainedModel") -> Iterator[None]:
    """While it lasts, the last layer gives the vectors of first tokens alone: shape (m, 1, d).

    Nobody reads the others, and they are a seventh of the work of six layers. Of another kind of
    layer, or of one that is to be run again for its gradient, all vectors are made.
    """
    config = encoder.config
    layers = getattr(getattr(encoder, "encoder", None), "layer", None)
    known = config.model_type in LIKE_BERT and config._attn_implementation == "sdpa" and layers
    if not known or getattr(layers[-1], "gradient_checkpointing", False):
        yield
        return
    last = layers[-1]
    last.forward = partial(_first_token, last)
    try:
        yield
    finally:
        del last.forward


def _first_token(
    layer: nn.Module, hidden: torch.Tensor, mask: torch.Tensor | None = None, *_: Any, **__: Any
) -> torch.Tensor:
    """A layer like BERT's for the first token of each input: tensor, shape (m, 1, d).

    `mask` is what the library makes for its attention: true where a token may be seen.
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
    """What the published code puts at places without a paragraph: tensor, shape (d,).

    The vector of a paragraph of `tokens` tokens 0 that are all masked. What attention makes of a
    row in which nothing can be seen depends on its implementation; here it is the plain one
    (eager), as when the code was published: it looks at all tokens evenly.
    """
    first = next(encoder.parameters())
    ids = torch.zeros((1, tokens), dtype=torch.long, device=first.device)
    before = encoder.config._attn_implementation
    encoder.set_attn_implementation("eager")
    try:
        return encoder(input_ids=ids, attention_mask=ids).last_hidden_state[0, 0]
    finally:
        encoder.set_attn_implementation(before)


# ---------------------------------------------------------------- what stands above it


def sinusoids(count: int, width: int) -> torch.Tensor:
    """Where positions start: float32 tensor, shape (count + 1, width), with zeros at 0.

    As published: the frequency of coordinate i is 10000^(-2i / width), so that it falls twice
    as fast as in Vaswani et al. (2017), where 2i is the coordinate.
    """
    frequencies = 10_000.0 ** (-2 * torch.arange(width, dtype=torch.float64) / width)
    turns = torch.outer(torch.arange(count + 1, dtype=torch.float64), frequencies)
    waves = turns.clone()
    waves[:, 0::2], waves[:, 1::2] = turns[:, 0::2].sin(), turns[:, 1::2].cos()
    waves[0] = 0
    return waves.float()


class DocumentTop(nn.Module):
    """From the vectors of paragraphs to logits: what is trained above a frozen encoder.

    Parameters
    ----------
    config
        The encoder's: width, heads, inner width, activation and epsilon are its.
    classes : int
        Logits per document.
    segments : int
        Places of a document.
    mode : str
        ``fixed`` or ``compat``.
    dropout : float
        In the layers and before the classifier.
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
        for parameter in self.layers.parameters():  # as torch.nn.Transformer starts
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
        """Logits and features of documents.

        Parameters
        ----------
        vectors : tensor, shape (p, d)
            What the encoder gave for each paragraph, in any order.
        documents, slots : int64 tensors, shape (p,)
            The document of each, and its place in it, from 0.
        counts : int64 tensor, shape (n,)
            Paragraphs of each document. One without any is a document of one empty place.
        most : int, optional
            The largest of them, if it is known.
        padding : tensor, shape (d,), optional
            What `encode_padding` gave, in compat mode.

        Returns
        -------
        logits : tensor, shape (n, classes)
            In fp32 at least.
        features : tensor, shape (n, d)
            What the classifier sees, before dropout.
        """
        most = int(counts.max()) if most is None else most
        if most > self.segments:
            raise InputError(
                f"a document has {most} paragraphs, and the model reads {self.segments}",
                remedy="pack with the model's limits",
            )
        if (padding is None) == (self.mode == "compat"):
            raise ValueError(f"padding is for compat mode, and this is {self.mode}")
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
        return _at_least_fp32(logits), _at_least_fp32(features)


class HierarchicalClassifier(nn.Module):
    """An encoder of paragraphs, and `DocumentTop` above it.

    Parameters
    ----------
    encoder
        What `load_encoder` gave.
    classes, segments, mode, dropout
        See `DocumentTop`. Dropout inside the encoder is what its configuration says.
    """

    def __init__(
        self,
        encoder: "PreTrainedModel",
        classes: int,
        segments: int,
        *,
        mode: Mode = "fixed",
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        sizes = text_config(encoder)
        self.top = DocumentTop(sizes, classes, segments, mode=mode, dropout=dropout)

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
    """The encoder's activation; torch has fast kernels for those that it knows by name."""
    from transformers.activations import ACT2FN

    name = getattr(config, "hidden_act", None) or getattr(config, "activation", "gelu")
    return name if name in ("relu", "gelu") else ACT2FN[name]


def _at_least_fp32(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor
