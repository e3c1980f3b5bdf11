"""The rows of the scores: the sentences of each pair, their predictions, and their scores.

Each kind of input is a *pass*, and each method is a sum over the predictions of one pass:

- ``unmasked``: the unchanged sentence (AUL, AULA, aula_norm, and the token accuracy);
- ``cps``: each token that both sentences of the pair share, masked one at a time;
- ``sss``: all tokens that differ masked at once;
- ``all_masked``: all tokens of the sentence masked;
- ``causal``: each token given all tokens before it (both likelihoods).

A context precedes the sentence in the same input, and is never scored or masked: as the first of
two texts if the tokenizer has a format for two, else before the sentence, separated by a blank. The
input of a causal model begins with its start token, if it has one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.scoring import pair_masks
from evenhand.scoring.methods import METHODS
from evenhand.scoring.models import CausalLM, LanguageModel, MaskedLM
from evenhand.scoring.pair_masks import PairMasks
from evenhand.scoring.questions import encode_sequences
from evenhand.stereotypes.clusters import shuffle_words
from evenhand.stereotypes.pairs import SIDES
from evenhand.stereotypes.scores import SCORES
from evenhand.text.phrases import choice

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
    inputs = encode_sequences(lm, sentences, contexts)
    encoded = []
    for sentence, encoding, ids, start in zip(sentences, alone, *inputs, strict=True):
        unknown = _unknown(lm, sentence, list(zip(encoding.ids, encoding.offsets, strict=True)))
        encoded.append(Sentence(ids.tolist(), list(range(start, len(ids))), [], *unknown))
    return encoded


def _has_pair_form(lm: MaskedLM) -> bool:
    """Return whether the tokenizer puts a special token between two texts."""
    count = lm.tokenizer.num_special_tokens_to_add
    return count(pair=True) > count(pair=False)


#: The passes, in the order of the token store, and the methods that use each.
PASSES = {
    "unmasked": ("aul", "aula", "aula_norm"),
    "cps": ("cps",),
    "sss": ("sss", "sss_compat"),
    "all_masked": ("all_masked",),
    "causal": ("log_likelihood", "log_likelihood_per_token"),
}

#: The pass of the token accuracy, by family.
ACCURACY_PASS = {"masked": "unmasked", "causal": "causal"}

#: The passes of the shuffled variant.
SHUFFLED_PASSES = ("unmasked", "causal")


def choose_methods(methods: Sequence[str] | None, family: str) -> list[str]:
    """Return the methods for a family, in the order of `METHODS`; None means all.

    Raises
    ------
    InputError
        A method is unknown.
    """
    requested = list(METHODS) if methods is None else methods
    if unknown := [name for name in requested if name not in METHODS]:
        remedy = choice(unknown[0], METHODS, most=None)
        raise InputError(f"there is no method {unknown[0]!r}", remedy=remedy)
    return [
        name for name, method in METHODS.items() if name in requested and method.family == family
    ]


def passes_for(family: str, methods: Sequence[str], *, accuracy: bool = False) -> list[str]:
    """Return the passes that methods of this family need, in the order of `PASSES`.

    With `accuracy`, also the pass of the token accuracy.
    """
    return [
        name
        for name, stand in PASSES.items()
        if set(stand).intersection(methods) or (accuracy and name == ACCURACY_PASS[family])
    ]


def needs_attention(methods: Sequence[str]) -> bool:
    """Return whether a method weights tokens by attention."""
    return not {"aula", "aula_norm"}.isdisjoint(methods)


@dataclass(frozen=True, eq=False)
class Reading:
    """The predictions of one pass for one sentence.

    Parameters
    ----------
    token, place : arrays of int, shape (n,)
        The scored tokens, and their positions in the input.
    log_p : array of float64, shape (n,)
        Natural logarithms; NaN where the model's number is not finite.
    first : array of bool, shape (n,)
        Whether the token is the likeliest.
    entropy : array of float, shape (n,)
        Entropy of the prediction, in nats.
    alpha : array of float, shape (n,), or None
        The attention that the position receives.
    specials_correct : int, optional
        Number of special tokens ranked first at their positions (unmasked pass).
    crossed : array of float64, shape (n, n), optional
        Log-probabilities of every token (second axis) at every position (SSS as coded).
    """

    token: np.ndarray
    place: np.ndarray
    log_p: np.ndarray
    first: np.ndarray
    entropy: np.ndarray
    alpha: np.ndarray | None = None
    specials_correct: int | None = None
    crossed: np.ndarray | None = None

    def finite(self) -> bool:
        """Return whether all numbers are finite."""
        numbers = (self.log_p, self.entropy, self.alpha, self.crossed)
        return all(np.isfinite(array).all() for array in numbers if array is not None)


@dataclass(eq=False)
class Row:
    """A sentence of a pair: one row of the scores.

    Parameters
    ----------
    pair : dict
        The row of the pairs' table.
    side, variant : str
        See `evenhand.stereotypes.scores.SCORES`.
    sentence : Sentence or None
        None for an empty text.
    excluded : str or None
        Why it has no score.
    masks : PairMasks or None
        The masks of CPS and SSS, if both sentences of the pair can be scored.
    readings : dict
        The predictions by pass.
    rescored : set of str
        The passes that were repeated in fp32.
    """

    pair: dict[str, Any]
    side: str
    variant: str
    sentence: Sentence | None = None
    excluded: str | None = None
    masks: PairMasks | None = None
    readings: dict[str, Reading] = field(default_factory=dict)
    rescored: set[str] = field(default_factory=set)


def rows_of(
    lm: LanguageModel, pairs: Sequence[dict[str, Any]], *, shuffle_seed: int | None = None
) -> list[list[Row]]:
    """Return the rows of each pair, in the order of the scores, with reasons for exclusion.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model, whose tokenizer and maximum input length are used.
    pairs : sequence of dict
        Rows of `evenhand.stereotypes.pairs.PAIRS`.
    shuffle_seed : int, optional
        Seed of the shuffled variants of `more` and `less`; None for no shuffled variants.
    """
    made = [list(_sides(pair, shuffle_seed)) for pair in pairs]
    read = [(row, text) for rows in made for row, text in rows if text]
    sentences = encode(lm, [((row.pair["context"] or "").strip(), text) for row, text in read])
    for (row, _), sentence in zip(read, sentences, strict=True):
        row.sentence = sentence
        row.excluded = row.excluded or _unreadable(lm, sentence)
    by_pair = [[row for row, _ in rows] for rows in made]
    for rows in by_pair:
        side = {row.side: row for row in rows if row.variant == "original"}
        more, less = side["more"], side["less"]
        if not more.excluded and not less.excluded:
            if more.sentence.ids == less.sentence.ids:
                more.excluded = less.excluded = "identical_tokens"
            elif isinstance(lm, MaskedLM):
                both = more.sentence, less.sentence
                masks = pair_masks.pair_masks(*([s.ids[i] for i in s.places] for s in both))
                more.masks, less.masks = map(_at, both, masks)
        for row in rows:
            row.excluded = row.excluded or side[row.side].excluded
    return by_pair


def unread_rows(
    pairs: Iterable[dict[str, Any]], *, shuffle_seed: int | None = None
) -> Iterator[Row]:
    """Yield the rows of pairs for a broken model, all excluded; see `rows_of`."""
    for pair in pairs:
        for row, _ in _sides(pair, shuffle_seed):
            row.excluded = row.excluded or "broken_model"
            yield row


def _sides(pair: dict[str, Any], shuffle_seed: int | None) -> Iterator[tuple[Row, str]]:
    """Yield the rows of a pair, with the text of each."""
    texts = {side: (pair[side] or "").strip() for side in SIDES}
    for side, text in texts.items():
        if side == "unrelated" and pair["unrelated"] is None:
            continue
        excluded = pair["excluded"] or (None if text else "empty")
        if not excluded and side != "unrelated" and texts["more"] == texts["less"]:
            excluded = "identical"
        yield Row(pair, side, "original", excluded=excluded), text
        if shuffle_seed is not None and side != "unrelated":
            shuffled = shuffle_words(text, seed=shuffle_seed)
            yield Row(pair, side, "shuffled", excluded=excluded), shuffled


def _at(sentence: Sentence, masks: PairMasks) -> PairMasks:
    """Return masks as positions in the input, instead of token numbers in the sentence."""
    return PairMasks(*([sentence.places[i] for i in part] for part in masks))


def _unreadable(lm: LanguageModel, sentence: Sentence) -> str | None:
    if not sentence.places:
        # without a start token the model does not predict a sentence's first token
        unscored = isinstance(lm, CausalLM) and lm.start_id is None and len(sentence.ids) == 1
        return "one_token" if unscored else "empty"
    if not sentence.known:
        return "unknown_only"
    if len(sentence.ids) > lm.max_tokens:
        return "too_long"
    return None


def value(row: Row, method: str) -> float | None:
    """Return a method's score of a row; None if the row has no predictions for it.

    For the definitions see `evenhand.scoring.pair_masks.FORMULAS`.
    """
    name = next(name for name, methods in PASSES.items() if method in methods)
    reading = row.readings.get(name)
    if row.excluded or reading is None or not len(reading.log_p):
        return None
    numbers = [reading.crossed if method == "sss_compat" else reading.log_p]
    if needs_attention([method]):
        numbers.append(reading.alpha)
    return float(pair_masks.FORMULAS[method](*numbers))


def score_row(row: Row, methods: Sequence[str], accuracy_pass: str) -> dict[str, Any]:
    """Return a row of `evenhand.stereotypes.scores.SCORES`."""
    score: dict[str, Any] = dict.fromkeys(SCORES.names)
    score |= {"pair_id": row.pair["pair_id"], "side": row.side, "variant": row.variant}
    score["excluded"] = row.excluded
    if row.sentence is not None:
        score["n_tokens"] = len(row.sentence.places)
        score["n_unknown"] = len(row.sentence.unknown)
        score["n_specials"] = len(row.sentence.specials)
    if row.excluded:
        return score
    score |= {method: value(row, method) for method in methods}
    for name, reading in row.readings.items():
        tokens, correct = len(reading.token), int(reading.first.sum())
        if name == accuracy_pass:
            score["n_tokens"], score["n_correct"] = tokens, correct
            score["n_specials_correct"] = reading.specials_correct
        elif name == "all_masked":
            score["all_masked_correct"] = correct
        else:
            score[f"{name}_tokens"], score[f"{name}_correct"] = tokens, correct
    return score


def token_rows(row: Row) -> Iterator[dict[str, Any]]:
    """Yield rows of `evenhand.stereotypes.scores.TOKENS`; none for a sentence without a score."""
    if row.excluded:
        return
    for name in PASSES:
        reading = row.readings.get(name)
        if reading is not None:
            yield {
                "pair_id": row.pair["pair_id"],
                "side": row.side,
                "variant": row.variant,
                "pass": name,
                "token": reading.token,
                "place": reading.place,
                "log_p": reading.log_p.astype(np.float32),
                "first": reading.first,
                "entropy": reading.entropy.astype(np.float32),
                "alpha": None if reading.alpha is None else reading.alpha.astype(np.float32),
            }
