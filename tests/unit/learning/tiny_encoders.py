"""Small random encoders of several architectures, in fp64 and without dropout."""

import torch
from transformers import (
    AlbertConfig,
    AutoModel,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    PretrainedConfig,
    PreTrainedModel,
    RobertaConfig,
    XLMRobertaConfig,
)

VOCABULARY, WIDTH = 120, 32

#: Tokens that each can read.
LONGEST = 40

_SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 2 * WIDTH,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}

CONFIGS = {
    "bert": lambda: BertConfig(**_SIZES, max_position_embeddings=LONGEST),
    "roberta": lambda: RobertaConfig(**_SIZES, max_position_embeddings=LONGEST + 2, pad_token_id=1),
    "xlm-roberta": lambda: XLMRobertaConfig(
        **_SIZES, max_position_embeddings=LONGEST + 2, pad_token_id=1
    ),
    "albert": lambda: AlbertConfig(**_SIZES, max_position_embeddings=LONGEST, embedding_size=16),
    "electra": lambda: ElectraConfig(**_SIZES, max_position_embeddings=LONGEST, embedding_size=16),
    "distilbert": lambda: DistilBertConfig(
        vocab_size=VOCABULARY,
        dim=WIDTH,
        n_layers=2,
        n_heads=4,
        hidden_dim=2 * WIDTH,
        dropout=0.0,
        attention_dropout=0.0,
        max_position_embeddings=LONGEST,
    ),
}


def make(family: str = "bert", *, seed: int = 0, dropout: float = 0.0) -> PreTrainedModel:
    """An encoder whose tokens look at each other: weights are larger than usual."""
    config: PretrainedConfig = CONFIGS[family]()
    if dropout:
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    torch.manual_seed(seed)
    encoder = AutoModel.from_config(config, dtype=torch.float64)
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    with torch.no_grad():
        for parameter in encoder.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4)
    return encoder.train()


def pad_id(encoder: PreTrainedModel) -> int:
    return int(encoder.config.pad_token_id or 0)
