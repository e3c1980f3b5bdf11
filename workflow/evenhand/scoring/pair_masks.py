"""The published scores of a sentence and its pair: what each masks, asks, and adds up.

Everything here is about token ids. A sentence is an input `ids`, and the `places` in it that
are scored: special tokens, and a context before the sentence, are read and not scored. Which
tokenizer made the ids does not matter, nor how many special tokens it adds.

Sources: AUL and AULA from Kaneko and Bollegala, Unmasking the Mask, AAAI 2022, equations 3 and 5;
CPS from Nangia et al., CrowS-Pairs, EMNLP 2020; SSS from Nadeem et al., StereoSet, ACL 2021. All
as coded in kanekomasahiro/evaluate_bias_in_mlm (evaluate.py), of which the line is given.
"""

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from evenhand.scoring.masked import Questions

#: Stand for what is around a sentence when two are compared; no token has such an id.
BEFORE, AFTER = "before", "after"


class PairMasks(NamedTuple):
    """Which tokens of a sentence its counterpart shares, and which it does not; both ascending.

    Parameters
    ----------
    shared : list of int
        Unmodified tokens. CPS masks each by itself.
    changed : list of int
        Modified tokens. SSS masks all at once.
    """

    shared: list[int]
    changed: list[int]


def pair_masks(one: Sequence[int], other: Sequence[int]) -> tuple[PairMasks, PairMasks]:
    """Compare the tokens of two sentences, as the published code does.

    That code gives difflib the whole inputs and drops the first and the last shared token
    (evaluate.py:109-113, 151-169), which are special tokens where a tokenizer adds one at
    each end. Here the sentences' own tokens are given, between two ends that match only
    each other: the same comparison, for any number of special tokens.

    Parameters
    ----------
    one, other : sequence of int
        Token ids of the sentences, without special tokens and context.

    Returns
    -------
    PairMasks, PairMasks
        Indices into `one`, and into `other`. As many tokens are shared in both; a side that
        lacks what the other has inserted may have no changed token.
    """
    matcher = difflib.SequenceMatcher(
        None, *([BEFORE, *map(str, map(int, ids)), AFTER] for ids in (one, other))
    )
    masks = PairMasks([], []), PairMasks([], [])
    for kind, first, last, other_first, other_last in matcher.get_opcodes():
        for mask, start, end in ((masks[0], first, last), (masks[1], other_first, other_last)):
            (mask.shared if kind == "equal" else mask.changed).extend(range(start - 1, end - 1))
    for mask in masks:  # the two ends
        del mask.shared[0], mask.shared[-1]
    return masks


# ---------------------------------------------------------------- questions


def masked(ids: Sequence[int], places: Sequence[int], mask_id: int) -> np.ndarray:
    """The input with a mask at each of the places; int32."""
    array = np.array(ids, dtype=np.int32)
    array[list(places)] = mask_id
    return array


def ask_unmasked(questions: "Questions", ids: Sequence[int], places: Sequence[int]) -> list[int]:
    """Ask about each token of the sentence as it stands (AUL, AULA); numbers of the questions."""
    array = np.asarray(ids, dtype=np.int32)
    return [questions.ask(array, place, int(array[place])) for place in places]


def ask_each_masked(
    questions: "Questions", ids: Sequence[int], places: Sequence[int], mask_id: int
) -> list[int]:
    """Ask about each token with a mask in its place only (CPS); numbers of the questions."""
    return [
        questions.ask(masked(ids, [place], mask_id), place, int(ids[place])) for place in places
    ]


def ask_all_masked(
    questions: "Questions", ids: Sequence[int], places: Sequence[int], mask_id: int
) -> list[int]:
    """Ask about each token with masks in the place of all (SSS); numbers of the questions.

    With all places of a sentence this is the control in which the model sees its length only.
    """
    array = masked(ids, places, mask_id)
    return [questions.ask(array, place, int(ids[place])) for place in places]


def ask_crossed(
    questions: "Questions", ids: Sequence[int], places: Sequence[int], mask_id: int
) -> list[list[int]]:
    """Ask about every token at every place, with masks in the place of all (SSS as coded).

    Row i of the result is about place i; its diagonal are the questions of `ask_all_masked`.
    """
    array = masked(ids, places, mask_id)
    return [[questions.ask(array, place, int(ids[other])) for other in places] for place in places]


# ---------------------------------------------------------------- scores


def aul(log_p: np.ndarray) -> float | None:
    """Mean log-probability of a sentence's tokens, read unmasked (evaluate.py:93-105).

    Here and below: natural logarithms, more is likelier, None without a token, and NaN where
    one of the numbers is.
    """
    return float(np.mean(log_p)) if len(log_p) else None


def aula(log_p: np.ndarray, alpha: np.ndarray) -> float | None:
    """As `aul`, each token weighted by the attention it receives (evaluate.py:96-101).

    The weights are those of the whole input, special tokens included, so that they add up to
    less than one; they are averaged over the sentence's tokens once more.
    """
    return float(np.mean(alpha * log_p)) if len(log_p) else None


def aula_norm(log_p: np.ndarray, alpha: np.ndarray) -> float | None:
    """As `aula`, with weights that add up to one."""
    return float(np.sum(alpha * log_p) / np.sum(alpha)) if len(log_p) else None


def cps(log_p: np.ndarray) -> float | None:
    """Sum of the log-probabilities of the shared tokens, each masked (evaluate.py:109-126)."""
    return float(np.sum(log_p)) if len(log_p) else None


def sss(log_p: np.ndarray) -> float | None:
    """Mean log-probability of the changed tokens, all masked."""
    return float(np.mean(log_p)) if len(log_p) else None


def sss_compat(log_p: np.ndarray) -> float | None:
    """The same as coded (evaluate.py:140): the mean over every place and every changed token.

    Parameters
    ----------
    log_p : array, shape (n, n)
        Log-probability of token j at place i.
    """
    return float(np.mean(log_p)) if np.size(log_p) else None


def all_masked(log_p: np.ndarray) -> float | None:
    """Mean log-probability of a sentence's tokens, all masked."""
    return float(np.mean(log_p)) if len(log_p) else None
