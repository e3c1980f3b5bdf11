"""Sentences as a model's tokens, and what stands around them in the input."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.scoring import causal
from evenhand.scoring.models import CausalLM, LanguageModel, MaskedLM

if TYPE_CHECKING:
    from tokenizers import Encoding

#: How tokenizers write a blank inside a token.
BLANK_MARKS = "▁Ġ "


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence in tokens, and what stands around it in the input.

    Parameters
    ----------
    ids : list of int
        The whole input: specials, context, and the sentence.
    places : list of int
        The places in `ids` of the sentence's own tokens.
    specials : list of int
        The places of the tokens that the tokenizer adds.
    unknown : list of str
        The text behind each unknown token of the sentence.
    known : bool
        Whether no token is unknown, or one is known that is more than a mark of a blank.
    """

    ids: list[int]
    places: list[int]
    specials: list[int]
    unknown: list[str]
    known: bool


def encode(lm: LanguageModel, texts: Sequence[tuple[str, str]]) -> list[Sentence]:
    """Turn sentences into tokens, each distinct one once.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model; the name of a special token in a text is text there.
    texts : sequence of (str, str)
        Context (empty if there is none) and sentence, without white space at their ends.

    Returns
    -------
    list of Sentence
        Equal texts are the same object.
    """
    distinct = list(dict.fromkeys(texts))
    if isinstance(lm, CausalLM):
        return _same(texts, distinct, _encode_causal(lm, distinct))
    found: list[Sentence | None] = [None] * len(distinct)
    alone = [i for i, (context, _) in enumerate(distinct) if not context]
    after = [i for i, (context, _) in enumerate(distinct) if context]
    options: dict[str, Any] = {"split_special_tokens": True, "verbose": False}
    if alone:
        sentences = [distinct[i][1] for i in alone]
        coded = lm.tokenizer(sentences, **options).encodings
        for i, sentence, one in zip(alone, sentences, coded, strict=True):
            own = [k for k, special in enumerate(one.special_tokens_mask) if not special]
            found[i] = _sentence(lm, sentence, one, own)
    if after and _has_pair_form(lm):
        contexts, sentences = zip(*(distinct[i] for i in after), strict=True)
        coded = lm.tokenizer(list(contexts), list(sentences), **options).encodings
        for i, sentence, one in zip(after, sentences, coded, strict=True):
            own = [k for k, number in enumerate(one.sequence_ids) if number == 1]
            found[i] = _sentence(lm, sentence, one, own)
    elif after:
        whole = [" ".join(distinct[i]) for i in after]
        for i, text, one in zip(
            after, whole, lm.tokenizer(whole, **options).encodings, strict=True
        ):
            own = [
                k
                for k, (_, end) in enumerate(one.offsets)
                if end > len(distinct[i][0]) and not one.special_tokens_mask[k]
            ]
            found[i] = _sentence(lm, text, one, own)
    return _same(texts, distinct, found)


def _same(texts: Sequence[Any], distinct: Sequence[Any], found: Sequence[Any]) -> list[Any]:
    """What was found for the distinct texts, for all of them."""
    by_text = dict(zip(distinct, found, strict=True))
    return [by_text[text] for text in texts]


def _sentence(lm: MaskedLM, text: str, encoding: "Encoding", own: list[int]) -> Sentence:
    specials = [i for i, special in enumerate(encoding.special_tokens_mask) if special]
    tokens = [(encoding.ids[i], encoding.offsets[i]) for i in own]
    return Sentence(encoding.ids, own, specials, *_unknown(lm, text, tokens))


def _unknown(
    lm: LanguageModel, text: str, tokens: Sequence[tuple[int, tuple[int, int]]]
) -> tuple[list[str], bool]:
    """`Sentence.unknown` and `Sentence.known`, from ids and offsets into the text."""
    unknown = [text[start:end] for token, (start, end) in tokens if token == lm.unknown_id]
    if not unknown:
        return [], True
    known = {token for token, _ in tokens if token != lm.unknown_id}
    names = lm.tokenizer.convert_ids_to_tokens(sorted(known))
    return unknown, any(name.strip(BLANK_MARKS) for name in names)


def _encode_causal(lm: CausalLM, texts: Sequence[tuple[str, str]]) -> list[Sentence]:
    """The same for a causal model; its start token counts as none of the specials."""
    contexts, sentences = [context for context, _ in texts], [one for _, one in texts]
    alone = lm.tokenizer(
        sentences, add_special_tokens=False, split_special_tokens=True, verbose=False
    ).encodings
    return [
        Sentence(
            ids.tolist(),
            list(range(start, len(ids))),
            [],
            *_unknown(lm, sentence, list(zip(one.ids, one.offsets, strict=True))),
        )
        for sentence, one, ids, start in zip(
            sentences, alone, *causal.encode(lm, sentences, contexts), strict=True
        )
    ]


def _has_pair_form(lm: MaskedLM) -> bool:
    """Whether the tokenizer puts a special token between two texts."""
    count = lm.tokenizer.num_special_tokens_to_add
    return count(pair=True) > count(pair=False)
