"""Random-weight masked models of less usual architectures: attention in their own code, images."""

from pathlib import Path

import torch
from transformers import (
    AutoModelForMaskedLM,
    BigBirdConfig,
    ConvBertConfig,
    DebertaConfig,
    DebertaV2Config,
    EuroBertConfig,
    FNetConfig,
    LongformerConfig,
    MegatronBertConfig,
    ModernVBertConfig,
    MPNetConfig,
    RoFormerConfig,
)

from unit.scoring import tiny_models
from unit.scoring.tiny_causal import IMAGES

_SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 66,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}

#: DeBERTa knows distances between tokens, not places; v3 shares weights for them.
_RELATIVE = {"relative_attention": True, "position_biased_input": False}
_V3 = {"position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True}

CONFIGS = {
    "deberta": lambda **sizes: DebertaConfig(**sizes, **_RELATIVE, pos_att_type=["c2p", "p2c"]),
    "deberta_v3": lambda **sizes: DebertaV2Config(
        **sizes, **_RELATIVE, **_V3, pos_att_type=["p2c", "c2p"], type_vocab_size=0
    ),
    "mpnet": lambda **sizes: MPNetConfig(**sizes),
    "roformer": lambda **sizes: RoFormerConfig(**sizes, embedding_size=32),
    "megatron_bert": lambda **sizes: MegatronBertConfig(**sizes),
    "eurobert": lambda **sizes: EuroBertConfig(**sizes, num_key_value_heads=1, mask_token_id=4),
    "longformer": lambda **sizes: LongformerConfig(**sizes, attention_window=[4, 4]),
    "big_bird": lambda **sizes: BigBirdConfig(**sizes),
    "convbert": lambda **sizes: ConvBertConfig(**sizes, embedding_size=32, conv_kernel_size=3),
    "fnet": lambda **sizes: FNetConfig(**sizes, type_vocab_size=2),
    # reads images too, so that the sizes stand in the configuration of its text
    "modernvbert": lambda **sizes: ModernVBertConfig(
        text_config={**sizes, "cls_token_id": 0, "sep_token_id": 2, "local_attention": 8},
        vision_config=IMAGES,
        pixel_shuffle_factor=1,
        image_token_id=3,
    ),
}

#: Those that have no attention weight for each pair of tokens.
WITHOUT_WEIGHTS = ("longformer", "fnet")


def save(folder: Path, name: str) -> Path:
    """Save a model and a tokenizer into `folder`."""
    tokenizer = tiny_models.bytes_with_merges()
    torch.manual_seed(0)
    config = CONFIGS[name](vocab_size=len(tokenizer), **_SIZES)
    return tiny_models.write(folder, tokenizer, AutoModelForMaskedLM.from_config(config))
