"""The hierarchical classifier as it was published: every document a square of tokens.

Written from the formulas, to be compared with: all places of all documents go through the
encoder, with the plain ("eager") attention of the library.
"""

import copy
import warnings
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from transformers import AutoModel
from transformers.activations import ACT2FN

from evenhand.learning.hierarchical import HierarchicalClassifier
from evenhand.learning.packing import Limits


def published_positions(count: int, width: int) -> np.ndarray:
    """Positions 0 (none) to `count`, number by number."""
    table = np.zeros((count + 1, width))
    for position in range(1, count + 1):
        for i in range(width):
            turn = position / 10_000 ** (2 * i / width)
            table[position, i] = np.sin(turn) if i % 2 == 0 else np.cos(turn)
    return table


def square(
    documents: Sequence[Sequence[np.ndarray]], limits: Limits, pad_id: int, after: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and mask, int64 tensors (n, segments, tokens).

    A short paragraph is filled up with `pad_id`; a missing one is all 0, whatever the padding.
    """
    ids = np.zeros((len(documents), limits.segments, limits.tokens), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, document in enumerate(documents):
        for slot, paragraph in enumerate(document[: limits.segments]):
            kept = list(paragraph)
            if len(kept) > limits.tokens:
                kept = kept[: limits.tokens - len(after)] + list(after)
            ids[row, slot] = pad_id
            ids[row, slot, : len(kept)] = kept
            mask[row, slot, : len(kept)] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


class PaddedClassifier(nn.Module):
    """The same parameters as a `HierarchicalClassifier`, the forward pass on squares."""

    def __init__(self, ours: HierarchicalClassifier, *, attention: str = "eager") -> None:
        super().__init__()
        config = copy.deepcopy(ours.encoder.config)
        self.mode = ours.top.mode
        self.encoder = AutoModel.from_config(
            config, attn_implementation=attention, dtype=ours.encoder.dtype
        )
        if getattr(self.encoder, "pooler", None) is not None:
            self.encoder.pooler = None
        self.encoder.load_state_dict(ours.encoder.state_dict())
        self.positions = nn.Embedding(ours.top.segments + 1, config.hidden_size, padding_idx=0)
        with warnings.catch_warnings():  # torch would rather have another shape
            warnings.simplefilter("ignore")
            self.layers = nn.Transformer(
                d_model=config.hidden_size,
                nhead=config.num_attention_heads,
                batch_first=True,
                dim_feedforward=ours.top.layers.layers[0].linear1.out_features,
                activation=ACT2FN[getattr(config, "hidden_act", None) or config.activation],
                dropout=ours.top.dropout.p,
                layer_norm_eps=getattr(config, "layer_norm_eps", 1e-12),
                num_encoder_layers=2,
                num_decoder_layers=0,
            ).encoder
        self.dropout = nn.Dropout(ours.top.dropout.p)
        self.classifier = nn.Linear(config.hidden_size, ours.top.classifier.out_features)
        self.to(ours.top.classifier.weight.dtype)
        for part in ("positions", "layers", "classifier"):
            getattr(self, part).load_state_dict(getattr(ours.top, part).state_dict())
        self.train(ours.training)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and features of squares (see `square`)."""
        number, segments, tokens = ids.shape
        out = self.encoder(
            input_ids=ids.view(-1, tokens), attention_mask=mask.view(-1, tokens)
        ).last_hidden_state
        first = out.view(number, segments, tokens, -1)[:, :, 0]
        real = ids.sum(dim=2) != 0
        first = first + self.positions(torch.arange(1, segments + 1, device=ids.device) * real)
        if self.mode == "compat":
            features = self.layers(first).max(dim=1).values
        else:
            above = self.layers(first, src_key_padding_mask=~real)
            features = torch.stack(
                [rows[here].max(dim=0).values for rows, here in zip(above, real, strict=True)]
            )
        return self.classifier(self.dropout(features)), features
