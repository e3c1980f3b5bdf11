"""Random-weight masked models of the real architectures, made on the spot."""

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoConfig,
    AutoModelForMaskedLM,
    BertTokenizerFast,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

SENTENCES = [
    "他是一个好老师。",
    "她走进了教室。",
    "爸爸在厨房里做饭。",
    "妈妈在厨房里做饭！",
    "这个男人很高。",
    "那个女人很高？",
    "儿子和朋友去了北京。",
    "女儿在2024年毕业。",
    "叔叔阿姨都来了。",
    "小男孩丢了钱包。",
]

FAMILIES = ("bert", "roberta", "albert", "electra", "distilbert")


def save(folder: Path, family: str = "bert", *, seed: int = 0, width: int = 32) -> Path:
    """Save a model and a tokenizer of its own kind into `folder`."""
    tokenizer = TOKENIZERS[family]()
    torch.manual_seed(seed)
    return write(folder, tokenizer, model(family, len(tokenizer), width))


def write(folder: Path, tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> Path:
    """Save a random model whose words differ in probability, and its tokenizer."""
    with torch.no_grad():  # weights of the usual size give every word the same probability
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(8)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def characters() -> BertTokenizerFast:
    """A character vocabulary, as Chinese BERT models have."""
    found = sorted({character for sentence in SENTENCES for character in sentence})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *found, "##0", "##2", "##4"]
    return BertTokenizerFast(
        vocab={token: number for number, token in enumerate(vocabulary)},
        do_lower_case=False,
        strip_accents=False,
        model_max_length=32,
    )


def bytes_with_merges(
    texts: Sequence[str] = ("他她男女人",) * 5 + ("爸妈",), size: int = 270, longest: int = 64
) -> PreTrainedTokenizerFast:
    """A byte-level BPE, as RoBERTa has: several tokens per character, some across characters."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size,
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
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=longest,
    )


def pieces() -> PreTrainedTokenizerFast:
    """A unigram model with word-border marks, as SentencePiece models have."""
    found = sorted({character for sentence in SENTENCES for character in sentence})
    scores = dict.fromkeys(found, -5.0) | {"爸爸": -6.0, "▁他": -5.5, "男孩": -6.0}
    return unigram(scores, single="[CLS] $A [SEP]")


def unigram(scores: dict[str, float], **form: str) -> PreTrainedTokenizerFast:
    """A unigram model of pieces with their scores, with a form for one text or for two."""
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "[CLS]"}
    names |= {"sep_token": "[SEP]", "mask_token": "[MASK]"}
    scored = [(piece, 0.0) for piece in (*names.values(), "▁")] + [*scores.items()]
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=1))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        **form, special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, **names)


TOKENIZERS = {
    "bert": characters,
    "roberta": bytes_with_merges,
    "albert": pieces,
    "electra": characters,
    "distilbert": characters,
}


def _ids(pad: int, start: int, end: int) -> dict[str, int]:
    return {"pad_token_id": pad, "bos_token_id": start, "eos_token_id": end}


#: The sizes of each family beside those of all.
SIZES = {
    "bert": {},
    "roberta": {"max_position_embeddings": 66} | _ids(1, 0, 2),
    "albert": {"embedding_size": 16} | _ids(0, 2, 3),
    "electra": {"embedding_size": 16},
    "distilbert": {"n_layers": 2, "n_heads": 2},
}


def model(family: str, size: int, width: int = 32) -> PreTrainedModel:
    """A model of two layers with random weights, for a vocabulary of this size."""
    sizes = {"vocab_size": size, "num_attention_heads": 2, "max_position_embeddings": 32}
    if family == "distilbert":
        sizes |= {"dim": width, "hidden_dim": 2 * width}
    else:
        sizes |= {"hidden_size": width, "num_hidden_layers": 2, "intermediate_size": 2 * width}
    config = AutoConfig.for_model(family, **sizes | SIZES[family])
    return AutoModelForMaskedLM.from_config(config)


def plain_log_p(lm, masked: list[int], place: int, token: int) -> float:
    """log p(token at place): one input, all logits, no selection, no batch."""
    with torch.inference_mode():
        logits = lm.model(input_ids=torch.tensor([masked])).logits[0, place].double()
    return torch.log_softmax(logits, dim=-1)[token].item()


def plain_word(lm, ids: list[int], start: int, end: int) -> tuple[float, float]:
    """The word ids[start:end] by the chain rule, mean of both orders; and by masks apart."""
    places = list(range(start, end))

    def run(order: list[int], reveal: bool) -> float:
        now = list(ids)
        for place in places:
            now[place] = lm.mask_id
        total = 0.0
        for place in order:
            total += plain_log_p(lm, now, place, ids[place])
            if reveal:
                now[place] = ids[place]
        return total

    return (run(places, True) + run(places[::-1], True)) / 2, run(places, False)
