"""Small fast tokenizers of several kinds, saved as models are."""

from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, PreTrainedTokenizerFast

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
    """A byte-level BPE, as <s> ... </s>; it knows every text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(
        ["The applicant was born in the case of the facts."],
        trainers.BpeTrainer(
            vocab_size=300,
            special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        mask_token="<mask>",
        model_max_length=512,
    )


def save(folder: Path, tokenizer: PreTrainedTokenizerFast) -> Path:
    """Save a tokenizer as a model's folder has it."""
    tokenizer.save_pretrained(folder)
    BertConfig(vocab_size=len(tokenizer)).save_pretrained(folder)
    return folder
