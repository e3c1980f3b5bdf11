"""Encode sentences as tokens, with context and special tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.scoring import causal
from evenhand.scoring.models import CausalLM, LanguageModel, MaskedLM

if TYPE_CHECKING:
    from tokenizers import Encoding

#: The characters that tokenizers use for a blank inside a token.
BLANK_MARKS = "▁Ġ "


@dataclass(frozen=True, eq=False)
class Sentence:
    """The tokens of a sentence, within a model input.

    Parameters
    ----------
    ids : list of int
        The whole input: specials, context, and the sentence.
    places : list of int
        The positions in `ids` of the sentence's tokens.
    specials : list of int
        The positions of the tokens that the tokenizer adds.
    unknown : list of str
        The text of each unknown token of the sentence.
    known : bool
        Whether no token is unknown, or a known token is more than a blank mark.
    """

    ids: list[int]
    places: list[int]
    specials: list[int]
    unknown: list[str]
    known: bool


def encode(lm: LanguageModel, texts: Sequence[tuple[str, str]]) -> list[Sentence]:
    """Tokenize sentences, each distinct one once.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model. Names of special tokens in a text are treated as text.
    texts : sequence of (str, str)
        Context (empty for none) and sentence, without leading or trailing white space.

    Returns
    -------
    list of Sentence
        Equal texts are the same object.
    """
    distinct = list(dict.fromkeys(texts))
    if isinstance(lm, CausalLM):
        return _same(texts, distinct, _encode_causal(lm, distinct))
    encoded: list[Sentence | None] = [None] * len(distinct)
    alone = [i for i, (context, _) in enumerate(distinct) if not context]
    after = [i for i, (context, _) in enumerate(distinct) if context]
    options: dict[str, Any] = {"split_special_tokens": True, "verbose": False}
    if alone:
        sentences = [distinct[i][1] for i in alone]
        coded = lm.tokenizer(sentences, **options).encodings
        for i, sentence, encoding in zip(alone, sentences, coded, strict=True):
            positions = [k for k, special in enumerate(encoding.special_tokens_mask) if not special]
            encoded[i] = _sentence(lm, sentence, encoding, positions)
    if after and _has_pair_form(lm):
        contexts, sentences = zip(*(distinct[i] for i in after), strict=True)
        coded = lm.tokenizer(list(contexts), list(sentences), **options).encodings
        for i, sentence, encoding in zip(after, sentences, coded, strict=True):
            positions = [k for k, number in enumerate(encoding.sequence_ids) if number == 1]
            encoded[i] = _sentence(lm, sentence, encoding, positions)
    elif after:
        whole = [" ".join(distinct[i]) for i in after]
        for i, text, encoding in zip(
            after, whole, lm.tokenizer(whole, **options).encodings, strict=True
        ):
            positions = [
                k
                for k, (_, end) in enumerate(encoding.offsets)
                if end > len(distinct[i][0]) and not encoding.special_tokens_mask[k]
            ]
            encoded[i] = _sentence(lm, text, encoding, positions)
    return _same(texts, distinct, encoded)


def _same(texts: Sequence[Any], distinct: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """Return the results of the distinct texts for all texts."""
    by_text = dict(zip(distinct, results, strict=True))
    return [by_text[text] for text in texts]


def _sentence(lm: MaskedLM, text: str, encoding: "Encoding", positions: list[int]) -> Sentence:
    specials = [i for i, special in enumerate(encoding.special_tokens_mask) if special]
    tokens = [(encoding.ids[i], encoding.offsets[i]) for i in positions]
    return Sentence(encoding.ids, positions, specials, *_unknown(lm, text, tokens))


def _unknown(
    lm: LanguageModel, text: str, tokens: Sequence[tuple[int, tuple[int, int]]]
) -> tuple[list[str], bool]:
    """Return `Sentence.unknown` and `Sentence.known`, from ids and offsets into the text."""
    unknown = [text[start:end] for token, (start, end) in tokens if token == lm.unknown_id]
    if not unknown:
        return [], True
    known = {token for token, _ in tokens if token != lm.unknown_id}
    names = lm.tokenizer.convert_ids_to_tokens(sorted(known))
    return unknown, any(name.strip(BLANK_MARKS) for name in names)


def _encode_causal(lm: CausalLM, texts: Sequence[tuple[str, str]]) -> list[Sentence]:
    """Encode sentences for a causal model; its start token is not in `Sentence.specials`."""
    contexts, sentences = [context for context, _ in texts], [encoding for _, encoding in texts]
    alone = lm.tokenizer(
        sentences, add_special_tokens=False, split_special_tokens=True, verbose=False
    ).encodings
    return [
        Sentence(
            ids.tolist(),
            list(range(start, len(ids))),
            [],
            *_unknown(lm, sentence, list(zip(encoding.ids, encoding.offsets, strict=True))),
        )
        for sentence, encoding, ids, start in zip(
            sentences, alone, *causal.encode(lm, sentences, contexts), strict=True
        )
    ]


def _has_pair_form(lm: MaskedLM) -> bool:
    """Return whether the tokenizer puts a special token between two texts."""
    count = lm.tokenizer.num_special_tokens_to_add
    return count(pair=True) > count(pair=False)
