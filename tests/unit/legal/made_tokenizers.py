"""Small fast tokenizers of several kinds, saved as models are."""

from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, PreTrainedTokenizerFast

from unit.scoring import tiny_models

WORDS = ["facts", "of", "the", "case", "applicant", "was", "born", ".", "1", "2", "</s>"]


def words(*, longest: int = 512, extra: int = 0) -> PreTrainedTokenizerFast:
    """Whole words, as [CLS] ... [SEP]; others are unknown; `extra` words more."""
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    known += [f"word{number}" for number in range(extra)]
    tokenizer = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(known)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        mask_token="[MASK]",
        model_max_length=longest,
    )


def bytes_with_merges() -> PreTrainedTokenizerFast:
    """A byte-level BPE, as <s> ... </s>; it knows every text, and needs no unknown token."""
    text = "The applicant was born in the case of the facts."
    tokenizer = tiny_models.bytes_with_merges([text], size=300, longest=512)
    tokenizer.unk_token = None
    return tokenizer


def save(folder: Path, tokenizer: PreTrainedTokenizerFast) -> Path:
    """Save a tokenizer as a model's folder has it."""
    tokenizer.save_pretrained(folder)
    BertConfig(vocab_size=len(tokenizer)).save_pretrained(folder)
    return folder
