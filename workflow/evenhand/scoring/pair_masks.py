"""The published scores of sentence pairs: their masks, questions and formulas.

All functions use token ids. A sentence is an input `ids` and the positions `places` to score:
special tokens and a context before the sentence are inputs only. The functions work for any
tokenizer and number of special tokens.

Sources: AUL and AULA from Kaneko and Bollegala, Unmasking the Mask, AAAI 2022, equations 3 and 5;
CPS from Nangia et al., CrowS-Pairs, EMNLP 2020; SSS from Nadeem et al., StereoSet, ACL 2021. Line
numbers refer to evaluate.py in kanekomasahiro/evaluate_bias_in_mlm.
"""

import difflib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from evenhand.scoring.questions import Questions

#: Placeholders for the ends of sentences in a comparison; no token has such an id.
BEFORE, AFTER = "before", "after"


class PairMasks(NamedTuple):
    """The tokens that a sentence shares with its counterpart, and the others; both ascending.

    Parameters
    ----------
    shared : list of int
        Unmodified tokens. CPS masks each by itself.
    changed : list of int
        Modified tokens. SSS masks all at once.
    """

    shared: list[int]
    changed: list[int]


def pair_masks(tokens: Sequence[int], other: Sequence[int]) -> tuple[PairMasks, PairMasks]:
    """Compare the tokens of two sentences as in the published code.

    That code compares the whole inputs with difflib and drops the first and the last shared token
    (evaluate.py:109-113, 151-169), which are special tokens if a tokenizer adds one at each end.
    Here the sentences' tokens are compared between two placeholders that match only each other,
    which is equivalent, and works for any number of special tokens.

    Parameters
    ----------
    tokens, other : sequence of int
        Token ids of the sentences, without special tokens and context.

    Returns
    -------
    PairMasks, PairMasks
        Indices into `tokens`, and into `other`. Both have the same number of shared tokens; with an
        insertion only, one side has no changed token.
    """
    matcher = difflib.SequenceMatcher(
        None, *([BEFORE, *map(str, map(int, ids)), AFTER] for ids in (tokens, other))
    )
    masks = PairMasks([], []), PairMasks([], [])
    for kind, first, last, other_first, other_last in matcher.get_opcodes():
        for mask, start, end in ((masks[0], first, last), (masks[1], other_first, other_last)):
            (mask.shared if kind == "equal" else mask.changed).extend(range(start - 1, end - 1))
    for mask in masks:  # the two ends
        del mask.shared[0], mask.shared[-1]
    return masks


# ---------------------------------------------------------------- questions


def ask(
    questions: "Questions", ids: Sequence[int], places: Sequence[int], mask_id: int | None = None
) -> list[int]:
    """Ask about the token at each position; return the question numbers.

    Without `mask_id` the sentence is unmasked (AUL, AULA). With it all positions are masked (SSS);
    if these are all of a sentence, the input has its length only, which is a control.
    """
    array = masked(ids, places, mask_id)
    return [questions.ask(array, place, int(ids[place])) for place in places]


def ask_each_masked(
    questions: "Questions", ids: Sequence[int], places: Sequence[int], mask_id: int
) -> list[int]:
    """Ask about each token with only this token masked (CPS); return the question numbers."""
    return [number for place in places for number in ask(questions, ids, [place], mask_id)]


def ask_crossed(
    questions: "Questions", ids: Sequence[int], places: Sequence[int], mask_id: int
) -> list[list[int]]:
    """Ask about every token at every position, with all masked (SSS as coded).

    Row i of the result is for position i; the diagonal has the questions of `ask`.
    """
    array = masked(ids, places, mask_id)
    return [[questions.ask(array, place, int(ids[other])) for other in places] for place in places]


def masked(ids: Sequence[int], places: Sequence[int], mask_id: int | None) -> np.ndarray:
    """Return the input with a mask, if there is one, at each of the positions; int32."""
    array = np.array(ids, dtype=np.int32)
    if mask_id is not None:
        array[list(places)] = mask_id
    return array


# ---------------------------------------------------------------- scores


def aula(log_p: np.ndarray, alpha: np.ndarray) -> float:
    """Return the mean log-probability weighted by the received attention (evaluate.py:96-101).

    The weights are those of the whole input, including special tokens, so that they add up to less
    than one; the weighted values are then averaged over the sentence's tokens.
    """
    return np.mean(alpha * log_p)


def aula_norm(log_p: np.ndarray, alpha: np.ndarray) -> float:
    """Return `aula` with weights that add up to one."""
    return np.sum(alpha * log_p) / np.sum(alpha)


#: The score of a sentence by each method, of the natural log-probabilities of the tokens that its
#: questions are about, at least one; higher for likelier sentences, NaN if one of them is NaN.
FORMULAS: dict[str, Callable[..., float]] = {
    "aul": np.mean,  # evaluate.py:93-105
    "aula": aula,  # of the attention to the tokens too
    "aula_norm": aula_norm,
    "cps": np.sum,  # of the shared tokens (evaluate.py:109-126)
    "sss": np.mean,  # of the changed tokens
    "sss_compat": np.mean,  # of `ask_crossed`: token j at position i (evaluate.py:140)
    "all_masked": np.mean,
    "log_likelihood": np.sum,
    "log_likelihood_per_token": np.mean,
}
