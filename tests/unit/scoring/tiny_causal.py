"""Random-weight causal models of the real architectures, made on the spot."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from unit.scoring import tiny_models

SENTENCES = [
    "The doctor said that she was late.",
    "The doctor said that he was late.",
    "My neighbour is poor.",
    "My neighbour is rich!",
    "He can't cook, can he?",
    "Women drive well.",
    "Men drive well.",
    "A café in 北京 — “old”.",
    "Why",
]

FAMILIES = ("gpt2", "llama", "qwen2", "opt", "gpt_neox", "gemma3")


def save(folder: Path, family: str = "gpt2", *, tokenizer=None, seed: int = 0) -> Path:
    """Save a model and a tokenizer of its own kind (or the one given) into `folder`."""
    tokenizer = tokenizer or TOKENIZERS[family]()
    torch.manual_seed(seed)
    return tiny_models.write(folder, tokenizer, model(family, len(tokenizer)))


def byte_level(
    *, end: str = "</s>", own_start: bool = False, **specials: str
) -> PreTrainedTokenizerFast:
    """A byte-level BPE, as GPT-2 has; `own_start`: it puts `end` before a text by itself."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=300,
            special_tokens=["<pad>", end],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.post_processor = processors.ByteLevel()
    if own_start:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{end} $A", special_tokens=[(end, 1)]
        )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **specials)


def pieces() -> PreTrainedTokenizerFast:
    """A BPE with word-border marks that puts a start before each text, as Llama has."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=120, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        model_max_length=64,
    )


TOKENIZERS = {
    "gpt2": lambda: byte_level(bos_token="</s>", eos_token="</s>", unk_token="</s>"),
    "llama": pieces,
    "qwen2": lambda: byte_level(end="<|endoftext|>", eos_token="<|endoftext|>"),
    "opt": lambda: byte_level(own_start=True, bos_token="</s>", eos_token="</s>"),
    "gpt_neox": byte_level,  # no start and no end
    "gemma3": pieces,
    "rwkv": pieces,  # a state instead of attention, and no padding in its configuration
}

#: The sizes of text models, and those of each family beside them.
_SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": None,
}
_ONE_HEAD = {"intermediate_size": 64, "num_key_value_heads": 1}
SIZES = {
    "gpt2": {"bos_token_id": 1, "eos_token_id": 1},
    "llama": _ONE_HEAD,
    "qwen2": _ONE_HEAD | {"tie_word_embeddings": True},
    "opt": {"ffn_dim": 64, "word_embed_proj_dim": 16, "pad_token_id": 0},
    "gpt_neox": {"intermediate_size": 64},
    "rwkv": {"attention_hidden_size": 32, "context_length": 64},
    "gemma3": _ONE_HEAD
    | {
        "head_dim": 16,
        "sliding_window": 16,
        "layer_types": ["sliding_attention", "full_attention"],
    },
}

#: The part of a model for images.
IMAGES = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "image_size": 8,
    "patch_size": 4,
}


def model(family: str, size: int) -> PreTrainedModel:
    """A model of two layers with random weights, for a vocabulary of this size."""
    sizes = {"vocab_size": size} | _SIZES | SIZES[family]
    if family == "gemma3":  # reads images too, so that the sizes are those of its text
        sizes = {"text_config": sizes, "vision_config": IMAGES, "mm_tokens_per_image": 4}
        sizes |= {"image_token_index": size - 1}
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **sizes))


def plain_scores(lm, ids: list[int], start: int) -> tuple[list[float], list[bool], list[float]]:
    """Log p, whether likeliest, and entropy of ids[start:]: one prefix at a time, all logits."""
    log_p, first, entropy = [], [], []
    for place in range(start, len(ids)):
        with torch.inference_mode():
            logits = lm.model(input_ids=torch.tensor([ids[:place]])).logits[0, -1].double()
        whole = torch.log_softmax(logits, dim=-1)
        log_p.append(whole[ids[place]].item())
        first.append(bool(whole.argmax() == ids[place]))
        entropy.append(-(whole.exp() * whole).sum().item())
    return log_p, first, entropy
