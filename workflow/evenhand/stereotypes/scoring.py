"""A table of sentence pairs, and a model: what the model says of every sentence, token by token.

Each kind of input is a *pass*, and each method is a sum over what one pass says:

- ``unmasked``: the sentence as it stands (AUL, AULA, aula_norm, and the token accuracy);
- ``cps``: each token that both sentences of the pair share, masked by itself;
- ``sss``: all tokens that differ masked at once;
- ``all_masked``: all tokens of the sentence masked;
- ``causal``: each token given all before it (both likelihoods).

A context stands before the sentence in the same input and is never asked about nor masked: as
the first of two texts where the tokenizer has a form for two, else in front of it after a blank.
Of a causal model the input begins with its start token, where it has one.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.scoring import causal, pair_masks
from evenhand.scoring.masked import Answers, Questions, answer
from evenhand.scoring.models import CausalLM, LanguageModel, MaskedLM
from evenhand.scoring.pair_masks import PairMasks
from evenhand.scoring.precision import calibrate, near_ties
from evenhand.stereotypes.methods import METHODS
from evenhand.stereotypes.pairs import PAIRS, SIDES
from evenhand.stereotypes.scores import SCORES
from evenhand.stereotypes.shuffle import shuffle_words

if TYPE_CHECKING:
    from tokenizers import Encoding

#: The passes, in the order of the token store, and the methods that stand on each.
PASSES = {
    "unmasked": ("aul", "aula", "aula_norm"),
    "cps": ("cps",),
    "sss": ("sss", "sss_compat"),
    "all_masked": ("all_masked",),
    "causal": ("log_likelihood", "log_likelihood_per_token"),
}

#: The pass that gives the token accuracy, by family.
ACCURACY_PASS = {"masked": "unmasked", "causal": "causal"}

#: What the published code rounds CPS to before it compares (evaluate.py:194-195); near ties
#: are those of the rounded scores too.
CPS_ROUNDING = 0.001

#: The passes that the shuffled variant is read in.
SHUFFLED_PASSES = ("unmasked", "causal")

#: How tokenizers write a blank inside a token.
BLANK_MARKS = "▁Ġ "

#: Pairs scored together: enough to fill batches of one length, few enough for the memory. CPS
#: makes an input for each token, so what long sentences need grows with their length squared.
PAIRS_AT_ONCE = 2048
SQUARED_CHARACTERS_AT_ONCE = 128_000_000


# ---------------------------------------------------------------- sentences as tokens


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


# ---------------------------------------------------------------- rows


@dataclass(frozen=True, eq=False)
class Reading:
    """What one pass said of one sentence.

    Parameters
    ----------
    token, place : arrays of int, shape (n,)
        The tokens asked about, and their places in the input.
    log_p : array of float64, shape (n,)
        Natural logarithms; NaN where the model gave no finite number.
    first : array of bool, shape (n,)
        Whether the token is the likeliest.
    entropy : array of float, shape (n,)
        Of the prediction there, in nats.
    alpha : array of float, shape (n,), or None
        The attention that the place receives.
    specials_correct : int, optional
        Special tokens that are the likeliest at their place (unmasked pass).
    crossed : array of float64, shape (n, n), optional
        Logarithms of every token (second axis) at every place (SSS as coded).
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
        """Whether every number is."""
        numbers = (self.log_p, self.entropy, self.alpha, self.crossed)
        return all(np.isfinite(one).all() for one in numbers if one is not None)


@dataclass(eq=False)
class Row:
    """A sentence of a pair: one row of the scores.

    Parameters
    ----------
    pair : dict
        The row of the pairs' table.
    side, variant : str
        See `evenhand.stereotypes.scores`.
    sentence : Sentence or None
        None where there is no text.
    excluded : str or None
        Why it has no score.
    masks : PairMasks or None
        What CPS and SSS mask, where both sentences of the pair can be scored.
    readings : dict
        What was read, by pass.
    rescored : set of str
        The passes that were read again in fp32.
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
    """The rows of each pair, in the order of the scores, with what keeps one from being scored.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        Its tokenizer and the length of its input decide.
    pairs : sequence of dict
        Rows of `evenhand.stereotypes.pairs.PAIRS`.
    shuffle_seed : int, optional
        With it, `more` and `less` have a shuffled variant each.
    """
    made = [list(_sides(pair, shuffle_seed)) for pair in pairs]
    read = [(row, text) for rows in made for row, text in rows if text]
    sentences = encode(lm, [((row.pair["context"] or "").strip(), text) for row, text in read])
    for (row, _), sentence in zip(read, sentences, strict=True):
        row.sentence = sentence
        row.excluded = row.excluded or _unreadable(lm, sentence)
    found = [[row for row, _ in rows] for rows in made]
    for rows in found:
        side = {row.side: row for row in rows if row.variant == "original"}
        more, less = side["more"], side["less"]
        if not more.excluded and not less.excluded:
            if more.sentence.ids == less.sentence.ids:
                more.excluded = less.excluded = "identical_tokens"
            elif isinstance(lm, MaskedLM):
                both = more.sentence, less.sentence
                masks = pair_masks.pair_masks(*map(_own, both))
                more.masks, less.masks = map(_at, both, masks)
        for row in rows:
            row.excluded = row.excluded or side[row.side].excluded
    return found


def _sides(pair: dict[str, Any], shuffle_seed: int | None) -> Iterator[tuple[Row, str]]:
    """The rows of a pair, with the text of each."""
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


def _own(sentence: Sentence) -> list[int]:
    return [sentence.ids[place] for place in sentence.places]


def _at(sentence: Sentence, masks: PairMasks) -> PairMasks:
    """Masks by their places in the input, instead of by the number of the sentence's token."""
    return PairMasks(*([sentence.places[i] for i in part] for part in masks))


def _unreadable(lm: LanguageModel, sentence: Sentence) -> str | None:
    if not sentence.places:
        # without a start token the model says nothing of a sentence's first token
        return "one_token" if _first_is_unscored(lm) and len(sentence.ids) == 1 else "empty"
    if not sentence.known:
        return "unknown_only"
    if len(sentence.ids) > lm.max_tokens:
        return "too_long"
    return None


def _first_is_unscored(lm: LanguageModel) -> bool:
    return isinstance(lm, CausalLM) and lm.start_id is None


# ---------------------------------------------------------------- passes


@dataclass(frozen=True)
class _Asked:
    """What one pass asks about one sentence: the tokens, and the numbers of the questions."""

    token: list[int]
    place: list[int]
    numbers: list[int]
    specials: list[int]
    crossed: list[list[int]] | None


def choose_methods(methods: Sequence[str] | None, family: str) -> list[str]:
    """Those of the methods that are for a family, in the order of `METHODS`; None means all.

    Raises
    ------
    InputError
        There is no such method.
    """
    wanted = list(METHODS) if methods is None else methods
    if unknown := [name for name in wanted if name not in METHODS]:
        raise InputError(f"there is no method {unknown[0]!r}", remedy=f"use {', '.join(METHODS)}")
    return [name for name, method in METHODS.items() if name in wanted and method.family == family]


def passes_for(family: str, methods: Sequence[str], *, accuracy: bool = False) -> list[str]:
    """The passes that methods of this family need, in the order of `PASSES`.

    With `accuracy`, also the pass that gives the token accuracy.
    """
    return [
        name
        for name, stand in PASSES.items()
        if set(stand).intersection(methods) or (accuracy and name == ACCURACY_PASS[family])
    ]


def read(
    lm: LanguageModel,
    rows: Sequence[Row],
    passes: Sequence[str],
    *,
    methods: Sequence[str],
    tokens_per_batch: int,
    threads: int = 1,
    progress: Callable[[float], object] | None = None,
    scratch: Path | None = None,
) -> None:
    """Let a model read rows, and put what it says into their `readings`.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model.
    rows : sequence of Row
        Those that are excluded are not read; nor are shuffled ones but in `SHUFFLED_PASSES`.
    passes : sequence of str
        Of `PASSES`.
    methods : sequence of str
        What is read beside log-probabilities, only some need: attention, and `Reading.crossed`.
    tokens_per_batch, threads : int
        See `evenhand.scoring.masked.answer`.
    progress : callable, optional
        Called with the share of the work (0 to 1) that was done since the last call.
    scratch : Path, optional
        Where an interrupted attempt leaves what it has done.
    """
    to_read = [row for row in rows if not row.excluded]
    by_pass = {
        name: [row for row in to_read if row.variant == "original" or name in SHUFFLED_PASSES]
        for name in passes
    }
    options = {"tokens_per_batch": tokens_per_batch, "threads": threads}
    if isinstance(lm, CausalLM):
        for name, chosen in by_pass.items():
            _read_causal(lm, chosen, name, scratch=scratch, progress=progress, **options)
        return
    crossed = "sss_compat" in methods
    asked = {name: _ask_all(lm, chosen, name, crossed) for name, chosen in by_pass.items()}
    total = sum(len(ids) for questions, _ in asked.values() for ids in questions.inputs)
    for name, (questions, about) in asked.items():
        if not about:
            continue
        answers = answer(
            lm,
            questions,
            attention=name == "unmasked" and needs_attention(methods),
            progress=(lambda tokens: progress(tokens / total)) if progress else None,
            scratch=scratch,
            **options,
        )
        for row, one in about:
            row.readings[name] = _reading(answers, one)


def _ask_all(
    lm: MaskedLM, rows: Sequence[Row], name: str, cross: bool
) -> tuple[Questions, list[tuple[Row, _Asked]]]:
    questions = Questions()
    asked: list[tuple[Row, _Asked]] = []
    known: dict[int, _Asked] = {}  # an equal sentence of another pair is asked about once
    for row in rows:
        if name in ("cps", "sss"):
            if row.masks is not None:
                asked.append((row, _ask(lm, questions, row, name, cross)))
            continue
        key = id(row.sentence)
        if key not in known:
            known[key] = _ask(lm, questions, row, name, cross)
        asked.append((row, known[key]))
    return questions, asked


def _ask(lm: MaskedLM, questions: Questions, row: Row, name: str, cross: bool) -> _Asked:
    ids, specials, crossed = row.sentence.ids, [], None
    if name == "cps":
        places = row.masks.shared
        numbers = pair_masks.ask_each_masked(questions, ids, places, lm.mask_id)
    elif name == "sss":
        places = row.masks.changed
        numbers = pair_masks.ask_all_masked(questions, ids, places, lm.mask_id)
        if cross:
            crossed = pair_masks.ask_crossed(questions, ids, places, lm.mask_id)
    elif name == "all_masked":
        places = row.sentence.places
        numbers = pair_masks.ask_all_masked(questions, ids, places, lm.mask_id)
    else:
        places = row.sentence.places
        numbers = pair_masks.ask_unmasked(questions, ids, places)
        specials = pair_masks.ask_unmasked(questions, ids, row.sentence.specials)
    return _Asked([ids[place] for place in places], list(places), numbers, specials, crossed)


def _reading(answers: Answers, asked: _Asked) -> Reading:
    specials = answers.first[asked.specials] & np.isfinite(answers.log_p[asked.specials])
    return Reading(
        token=np.array(asked.token, dtype=np.int32),
        place=np.array(asked.place, dtype=np.int32),
        log_p=answers.log_p[asked.numbers],
        first=answers.first[asked.numbers],
        entropy=answers.entropy[asked.numbers],
        alpha=None if answers.alpha is None else answers.alpha[asked.numbers],
        specials_correct=int(specials.sum()),
        crossed=None
        if asked.crossed is None
        else answers.log_p[np.array(asked.crossed, dtype=int)],
    )


def _read_causal(
    lm: CausalLM,
    rows: Sequence[Row],
    name: str,
    *,
    scratch: Path | None,
    progress: Callable[[float], object] | None,
    **options: Any,
) -> None:
    distinct = list({id(row.sentence): row.sentence for row in rows}.values())
    total = sum(len(sentence.ids) for sentence in distinct)
    starts = [sentence.places[0] for sentence in distinct]
    found = causal.read_sequences(
        lm,
        [np.array(sentence.ids, dtype=np.int32) for sentence in distinct],
        starts,
        scratch=scratch,
        progress=(lambda tokens: progress(tokens / total)) if progress else None,
        **options,
    )
    readings = {}
    for sentence, start, one in zip(distinct, starts, found, strict=True):
        readings[id(sentence)] = Reading(
            token=np.array(sentence.ids[start:], dtype=np.int32),
            place=np.arange(start, len(sentence.ids), dtype=np.int32),
            log_p=one.log_p,
            first=one.first,
            entropy=one.entropy,
        )
    for row in rows:
        row.readings[name] = readings[id(row.sentence)]


# ---------------------------------------------------------------- scores


def value(row: Row, method: str) -> float | None:
    """What a method gives a row; None where the row was not read for it, or holds nothing of it.

    For the definitions see `evenhand.scoring.pair_masks`.
    """
    name = next(name for name, methods in PASSES.items() if method in methods)
    reading = row.readings.get(name)
    if row.excluded or reading is None or not len(reading.log_p):
        return None
    if method == "log_likelihood":
        return float(reading.log_p.sum())
    if method == "log_likelihood_per_token":
        return float(reading.log_p.mean())
    if method == "sss_compat":
        return None if reading.crossed is None else pair_masks.sss_compat(reading.crossed)
    if method in ("aula", "aula_norm"):
        if reading.alpha is None:
            return None
        return getattr(pair_masks, method)(reading.log_p, reading.alpha)
    return getattr(pair_masks, method)(reading.log_p)


def score_row(row: Row, methods: Sequence[str], accuracy_pass: str) -> dict[str, Any]:
    """A row of `evenhand.stereotypes.scores.SCORES`."""
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
    """Rows of `evenhand.stereotypes.scores.TOKENS`; none of a sentence without a score."""
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


# ---------------------------------------------------------------- exact decisions


@dataclass(frozen=True)
class Exact:
    """A copy of the model in fp32, and how near a tie the other one cannot be believed.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The copy.
    margins : dict of float
        By method: two sentences of a pair whose scores differ by no more are read again.
        Infinity where the sample was too small to tell.
    pairs : int
        The pairs that the margins were calibrated on.
    """

    lm: LanguageModel
    margins: dict[str, float]
    pairs: int


def differences(rows: Sequence[Row], method: str) -> list[float]:
    """Differences of a method's scores between any two sentences of a pair; NaN for no score."""
    values = [value(row, method) for row in rows if row.variant == "original"]
    numbers = [math.nan if one is None else one for one in values]
    return [a - b for a, b in combinations(numbers, 2)]


def calibrated(
    lm: LanguageModel,
    full: LanguageModel,
    pairs: Sequence[dict[str, Any]],
    *,
    methods: Sequence[str],
    **options: Any,
) -> Exact:
    """Measure on a sample of pairs how far the scores of `lm` are from those of `full`.

    Parameters
    ----------
    lm, full : MaskedLM or CausalLM
        The model in bf16, and in fp32.
    pairs : sequence of dict
        The sample.
    methods : sequence of str
        Methods for this kind of model.
    **options
        tokens_per_batch, threads, scratch: see `read`.
    """
    found: list[dict[str, np.ndarray]] = []
    for one in (lm, full):
        rows = rows_of(one, pairs)
        _read_finite(
            one,
            rows,
            passes_for(_family(one), methods),
            methods=methods,
            **options,
        )
        found.append(
            {
                method: np.array([d for pair in rows for d in differences(pair, method)])
                for method in methods
            }
        )
    low, high = found
    margins = {method: calibrate(low[method], high[method]) for method in methods}
    if "cps" in margins:
        margins["cps"] += CPS_ROUNDING
    return Exact(full, margins, len(pairs))


def _family(lm: LanguageModel) -> str:
    return "causal" if isinstance(lm, CausalLM) else "masked"


def needs_attention(methods: Sequence[str]) -> bool:
    """Whether a method weighs tokens by attention."""
    return not {"aula", "aula_norm"}.isdisjoint(methods)


def _read_finite(
    lm: LanguageModel, pairs: Sequence[Sequence[Row]], passes: Sequence[str], **options: Any
) -> None:
    """`read`, and exclude what the model gives no finite number for."""
    rows = [row for pair in pairs for row in pair]
    read(lm, rows, passes, **options)
    for row in rows:
        if not all(reading.finite() for reading in row.readings.values()):
            row.excluded = "not_finite"


def score_pairs_of(
    lm: LanguageModel,
    pairs: Iterable[dict[str, Any]],
    *,
    methods: Sequence[str],
    passes: Sequence[str],
    shuffle_seed: int | None = None,
    exact: Exact | None = None,
    progress: Callable[[int], object] | None = None,
    scratch: Path | None = None,
    **options: Any,
) -> Iterator[list[Row]]:
    """Score pairs, a bounded number in memory at a time.

    Parameters
    ----------
    lm : MaskedLM or CausalLM
        The model.
    pairs : iterable of dict
        Rows of `evenhand.stereotypes.pairs.PAIRS`.
    methods, passes : sequence of str
        The methods for this kind of model, and the passes to run (at least theirs).
    shuffle_seed : int, optional
        See `rows_of`.
    exact : Exact, optional
        With it, pairs that are nearly tied under a method are read again in fp32, all their
        sentences, in that method's pass.
    progress : callable, optional
        Called with numbers of pairs done.
    scratch : Path, optional
        Where an interrupted attempt leaves what it has done.
    **options
        tokens_per_batch, threads: see `read`.

    Yields
    ------
    list of Row
        The rows of some pairs, in order; see `score_row` and `token_rows`.
    """
    for chunk in chunks(pairs):
        rows = rows_of(lm, chunk, shuffle_seed=shuffle_seed)
        done = _Share(len(chunk), progress)
        _read_finite(
            lm,
            rows,
            passes,
            methods=methods,
            progress=done.add,
            scratch=scratch,
            **options,
        )
        for name in passes if exact else []:
            near = [pair for pair in rows if _is_near_tie(pair, name, methods, exact.margins)]
            again = [row for pair in near for row in pair if row.variant == "original"]
            for row in again:
                row.rescored.add(name)
            _read_finite(
                exact.lm,
                [again],
                [name],
                methods=methods,
                scratch=scratch,
                **options,
            )
        done.finish()
        yield [row for pair in rows for row in pair]


def _is_near_tie(
    rows: Sequence[Row], name: str, methods: Sequence[str], margins: dict[str, float]
) -> bool:
    return any(
        near_ties(np.array(differences(rows, method)), margins[method]).any()
        for method in PASSES[name]
        if method in methods
    )


# ---------------------------------------------------------------- the table of pairs


def check_pairs(path: Path) -> int:
    """The number of pairs in a table that has the columns of `PAIRS`.

    Raises
    ------
    InputError
        It is no such table, or is empty.
    """
    try:
        metadata = pq.read_metadata(path)
    except pa.ArrowInvalid as error:
        raise InputError("is not a Parquet file", file=path) from error
    names = metadata.schema.to_arrow_schema().names
    if missing := [column for column in PAIRS.names if column not in names]:
        raise InputError(f"lacks the column {missing[0]}", file=path, remedy="use read_pairs")
    if metadata.num_rows == 0:
        raise InputError("holds no pair, so there is nothing to score", file=path)
    return metadata.num_rows


def spread(path: Path, total: int, wanted: int) -> list[dict[str, Any]]:
    """`wanted` pairs of a table of `total`, evenly spread over it; or all if there are fewer."""
    chosen = {i * total // wanted for i in range(wanted)} if wanted < total else range(total)
    return [pair for number, pair in enumerate(read_rows(path)) if number in chosen]


def chunks(pairs: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Cut pairs into stretches that fit into memory together."""
    chunk: list[dict[str, Any]] = []
    squared = 0
    for pair in pairs:
        lengths = [len(pair[side] or "") + len(pair["context"] or "") for side in SIDES]
        size = sum(length**2 for length in lengths)
        full = len(chunk) == PAIRS_AT_ONCE or squared + size > SQUARED_CHARACTERS_AT_ONCE
        if chunk and full:
            yield chunk
            chunk, squared = [], 0
        chunk.append(pair)
        squared += size
    if chunk:
        yield chunk


class _Share:
    """Turns shares of a chunk's work into pairs done, for a progress bar of pairs."""

    def __init__(self, pairs: int, progress: Callable[[int], object] | None) -> None:
        self.pairs, self.progress = pairs, progress
        self.share, self.told = 0.0, 0

    def add(self, share: float) -> None:
        self.share += share
        self._tell(min(self.pairs, int(self.pairs * self.share)))

    def finish(self) -> None:
        self._tell(self.pairs)

    def _tell(self, done: int) -> None:
        if self.progress:
            self.progress(done - self.told)
        self.told = done
