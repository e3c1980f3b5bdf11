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
    in_pairs = _has_pair_form(lm)
    contexts = [context for context, _ in distinct]
    whole = [f"{c} {text}" if c and not in_pairs else text for c, text in distinct]
    encoded: dict[int, Sentence] = {}
    for has_context in (False, True):
        numbers = [i for i, context in enumerate(contexts) if bool(context) == has_context]
        inputs = [[text[i] for i in numbers] for text in (contexts, whole)]
        inputs = inputs if has_context and in_pairs else inputs[1:]
        options = {"split_special_tokens": True, "verbose": False}
        coded = lm.tokenizer(*inputs, **options).encodings if numbers else []
        for i, encoding in zip(numbers, coded, strict=True):
            places = _places(encoding, contexts[i], in_pairs)
            encoded[i] = _sentence(lm, whole[i], encoding, places)
    return _same(texts, distinct, [encoded[i] for i in range(len(distinct))])


def _places(encoding: "Encoding", context: str, in_pairs: bool) -> list[int]:
    """Return the positions of the sentence: a second text, or the part behind its context."""
    if in_pairs or not context:
        return [i for i, number in enumerate(encoding.sequence_ids) if number == bool(context)]
    return [
        i
        for i, (_, end) in enumerate(encoding.offsets)
        if end > len(context) and not encoding.special_tokens_mask[i]
    ]


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
