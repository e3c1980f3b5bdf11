"""Random-weight models with English tokenizers of their own kinds, and pairs to score by them."""

import copy
import re
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from transformers import (
    BertTokenizerFast,
    NystromformerConfig,
    NystromformerForMaskedLM,
    PreTrainedTokenizerFast,
)

from evenhand.stereotypes.pairs import pair_row
from unit.scoring import tiny_causal, tiny_models

SENTENCES = [
    "The old man was late again.",
    "The young man was late again.",
    "My neighbour from the north is poor.",
    "My neighbour from the south is rich.",
    "Women are bad at driving.",
    "Men are bad at driving.",
    "He said that he could not cook, so his wife did.",
    "She said that she could not cook, so her husband did.",
    "The tall girls were good at basketball in school.",
    "A fish drove the green keyboard.",
]

MASKED = tiny_models.FAMILIES
FAMILIES = (*MASKED, "gpt2")


def save(folder: Path, family: str, *, seed: int = 0) -> Path:
    """Save a model and a tokenizer of its own kind into `folder`."""
    if family in tiny_causal.FAMILIES:
        return tiny_causal.save(folder, family, seed=seed)
    tokenizer = TOKENIZERS[family]()
    torch.manual_seed(seed)
    return tiny_models.write(folder, tokenizer, tiny_models.model(family, len(tokenizer)))


def save_broken(folder: Path) -> Path:
    """A model that can be loaded, and whose forward pass fails."""
    tokenizer = word_pieces()
    config = NystromformerConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, num_landmarks=4, segment_means_seq_len=64,
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    NystromformerForMaskedLM(config).save_pretrained(folder)
    return folder


def word_pieces() -> BertTokenizerFast:
    """A WordPiece vocabulary without capitals, as bert-base-uncased has: the frequent words, and
    letters for the others. One that is trained differs from run to run.
    """
    counts = Counter(re.findall(r"\w+|[.,]", " ".join(SENTENCES).lower()))
    letters = sorted(set("".join(counts)))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    tokens = list(dict.fromkeys([*tokens, *(f"##{letter}" for letter in letters), *words]))[:110]
    vocab = {token: number for number, token in enumerate(tokens)}
    return BertTokenizerFast(vocab=vocab, model_max_length=32)


def pieces() -> PreTrainedTokenizerFast:
    """A Unigram model with word-border marks, as ALBERT has; it knows both forms, one and two."""
    words = {f"▁{word}" for sentence in SENTENCES for word in sentence.split()}
    letters = {letter for sentence in SENTENCES for letter in sentence if letter != " "}
    scores = dict.fromkeys(sorted(words), -7.0) | dict.fromkeys(sorted(letters), -4.0)
    return tiny_models.unigram(scores, single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1")


TOKENIZERS = {
    "bert": word_pieces,
    "roberta": tiny_models.bytes_with_merges,
    "albert": pieces,
    "electra": word_pieces,
    "distilbert": word_pieces,
}


def pair(number: int, more: str | None, less: str | None, **columns) -> dict:
    """A row of the pairs' table."""
    made = {"pair_id": f"pair-{number}", "bias_type": "made", "cluster": "made"}
    return pair_row(**made, more=more, less=less, source_position=number) | columns


def ordinary_pairs() -> list[dict]:
    """Pairs that every tokenizer here can write: swaps of equal and of unequal length, several
    edits, an insertion, a context, an unrelated sentence, a sentence that occurs twice."""
    texts = [
        ("The old man was late again.", "The young man was late again."),
        ("Women are bad at driving.", "Men are bad at driving."),
        ("He could not cook, so his wife did.", "She could not cook, so her husband did."),
        ("My tall neighbour is poor.", "My neighbour is poor."),
        ("Women are bad at driving.", "The girls are bad at driving."),
    ]
    pairs = [pair(number, more, less) for number, (more, less) in enumerate(texts)]
    unrelated = {"unrelated": "A fish drove the keyboard."}
    pairs.append(pair(5, "The girls were good.", "The girls were bad.", **unrelated))
    context = {"context": "My neighbour is tall. ", "unrelated": "A fish drove."}
    pairs.append(pair(6, "He is poor.", "He is rich.", **context))
    pairs.append(pair(7, "He is poor.", "He is rich."))  # the same without the context
    return pairs


def all_pairs() -> list[dict]:
    """The ordinary ones, and one for each thing that can be wrong with a pair."""
    long = "The old man was late again. " * 12
    return [
        *ordinary_pairs(),
        pair(20, "Men are late.", "Men are late."),
        pair(21, "Men are late.", "Men are late.", excluded="identical"),
        pair(22, "", "Men are late.", excluded="empty"),
        pair(23, " \n", "Men are late."),
        pair(24, None, "Men are late."),
        pair(25, long, long.replace("old", "young")),
        pair(26, "Men are late.", "Men are so late. " * 12),
        pair(27, "北京 上海", "Men are late."),
        pair(28, "她是老师。", "他是老师。"),
        pair(29, "The MEN are late.", "The men are late."),
        pair(30, "Men are [MASK] late.", "Men are <s> late."),
        pair(31, "Men are late.", "Women are late.", unrelated=""),
    ]


def plain_unmasked(lm, ids: list[int], **inputs) -> tuple[np.ndarray, np.ndarray]:
    """One input: log p of each of its tokens, and the attention that each receives."""
    model = type(lm.model)(copy.deepcopy(lm.model.config))
    model.load_state_dict(lm.model.state_dict())
    model.eval().set_attn_implementation("eager")
    with torch.inference_mode():
        output = model(input_ids=torch.tensor([ids]), output_attentions=True, **inputs)
    log_p = output.logits[0].double().log_softmax(dim=-1)
    attention = torch.cat(output.attentions).double().mean(dim=(0, 1, 2))
    return log_p[range(len(ids)), ids].numpy(), attention.numpy()
