"""Deterministic vocabularies of small language models: characters, and subwords.

The WordPiece trainer of the library tokenizers makes another vocabulary in each process: it numbers
the letters inside words in the order of a hash map, and merges equally frequent pairs in the order
of these numbers. Here these letters are numbered before it starts. The trainer of byte-level BPE
numbers its letters in sorted order.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from evenhand.errors import InputError

if TYPE_CHECKING:
    from tokenizers import normalizers

#: BERT's special tokens, in the order of their ids here.
BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

#: The token before and after a text in GPT-2.
END_OF_TEXT = "<|endoftext|>"


def bert_normalizer(*, lowercase: bool) -> "normalizers.BertNormalizer":
    """Return the text normaliser of BERT; with `lowercase` it also removes accents."""
    from tokenizers import normalizers

    return normalizers.BertNormalizer(lowercase=lowercase, strip_accents=lowercase)


def character_vocabulary(sentences: Iterable[str], least_count: int) -> list[str]:
    """Return BERT's special tokens, then characters, most frequent first.

    BERT keeps runs of letters and digits together as words; characters after the first of a word
    have separate tokens with the prefix ``##``. Case is kept.
    """
    from tokenizers import pre_tokenizers

    normalizer = bert_normalizer(lowercase=False)
    splitter = pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for sentence in sentences:
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(sentence)):
            counts.update([word[0], *("##" + character for character in word[1:])])
    kept = sorted((-count, token) for token, count in counts.items() if count >= least_count)
    if not kept:
        raise InputError(f"no character occurs least_count = {least_count} times")
    return [*BERT_SPECIALS, *(token for _, token in kept)]


def wordpiece_vocabulary(sentences: Sequence[str], size: int, least_count: int) -> list[str]:
    """Return BERT's special tokens, then letters, then the most frequent subwords.

    Any word of these letters can be encoded.

    Parameters
    ----------
    sentences : sequence of str
        The text; it is read in lower case and without accents.
    size : int
        Maximum number of tokens.
    least_count : int
        How often two adjacent subwords must occur to be merged.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = bert_normalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    text = (tokenizer.normalizer.normalize_str(sentence) for sentence in sentences)
    letters = {
        letter
        for sentence in text
        for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(sentence)
        for letter in word
    }
    inside = sorted("##" + letter for letter in letters if letter.isalnum())
    _check_size(size, len(BERT_SPECIALS) + len(inside) + len(letters))
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=least_count,
        special_tokens=[*BERT_SPECIALS, *inside],
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences, trainer)
    return sorted(tokenizer.get_vocab(), key=tokenizer.token_to_id)


def byte_level_bpe(
    sentences: Iterable[str], size: int
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return a vocabulary like GPT-2's: the end of text, the 256 bytes, and merged subwords.

    Any text can be encoded with it.

    Returns
    -------
    vocabulary : dict
        Token to id; at most `size`.
    merges : list of (str, str)
        The merges in order.
    """
    import json

    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    alphabet = pre_tokenizers.ByteLevel.alphabet()
    _check_size(size, 1 + len(alphabet))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences, trainer)
    trained = json.loads(tokenizer.to_str())["model"]
    return trained["vocab"], [(left, right) for left, right in trained["merges"]]


def _check_size(size: int, least: int) -> None:
    if size < least:
        problem = f"a vocabulary of {size} tokens is too small for the letters alone"
        raise InputError(problem, remedy=f"give at least {least}")
