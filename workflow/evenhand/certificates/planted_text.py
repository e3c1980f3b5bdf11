"""Synthetic text with a known association of two word lists, in a known share of its sentences.

A vocabulary (`resources/planted`) has swaps, pairs of words for two groups (man, woman), and two
lists of attributes (trades). At dose d, each combination of a swap and an attribute has the
stereotypical group in exactly (1 + d) / 2 of its sentences. So the planted log-odds are
ln((1 + d) / (1 - d)) for every swap and attribute; both groups and all attributes are equally
frequent at every dose.

Each group word also occurs with its pronoun (the uncle met his friend), equally often at every
dose. From these sentences a tiny model learns which words belong to the same group.

All sentences are distinct, since trainings remove duplicates. Evaluation pairs use contexts that do
not occur with an attribute in training: known frames with other tails, or other frames.
"""

import itertools
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.errors import InputError
from evenhand.stereotypes.pairs import pair_row


class Vocabulary(NamedTuple):
    """The words and frames of planted text.

    Attributes
    ----------
    swaps : list of (str, str)
        A word for each of the two groups.
    attributes : (list of str, list of str)
        The words that are associated with the first and with the second group.
    leads, tails : list of str
        Phrases without a planted association.
    held_out_tails : list of str
        Tails that occur in training only without an attribute.
    frames, held_out_frames : list of str
        Sentences with the fields lead, group, attribute and tail.
    pronouns : (str, str)
        The pronouns of the two groups.
    pronoun_frames : list of str
        Sentences with the fields lead, group, pronoun and tail.
    """

    swaps: list[tuple[str, str]]
    attributes: tuple[list[str], list[str]]
    leads: list[str]
    tails: list[str]
    held_out_tails: list[str]
    frames: list[str]
    held_out_frames: list[str]
    pronouns: tuple[str, str]
    pronoun_frames: list[str]


def read_vocabulary(path: Path) -> Vocabulary:
    """Read a vocabulary (JSON with the attributes of `Vocabulary`)."""
    return Vocabulary(**json.loads(path.read_text(encoding="utf-8")))


def planted_log_odds(dose: float) -> float:
    """Return the natural logarithm of the odds of the stereotypical group at a dose."""
    return math.log((1 + dose) / (1 - dose)) if dose < 1 else math.inf


def planted_sentences(
    words: Vocabulary, dose: float, *, seed: int, copies: int = 48, pronouns: int = 48
) -> list[str]:
    """Return the training sentences of a dose, all distinct.

    Two doses with the same seed differ only in the groups of some sentences.

    Parameters
    ----------
    words : Vocabulary
        See `read_vocabulary`.
    dose : float
        From -1 (all sentences have the opposite association) to 0 (no association) to 1 (all
        sentences have the association).
    seed : int
        Seed of leads, frames, tails and order.
    copies : int
        Sentences per swap and attribute.
    pronouns : int
        Sentences per group word with its pronoun.

    Raises
    ------
    InputError
        The dose is not possible with this number of copies, or the vocabulary has too few forms.
    """
    stereotypical = round(copies * (1 + dose) / 2)
    if not -1 <= dose <= 1 or abs(stereotypical - copies * (1 + dose) / 2) > 1e-9:
        raise InputError(f"{copies} sentences cannot carry the dose {dose} exactly")
    generator = np.random.default_rng(seed)
    sentences = []
    for swap in words.swaps:
        for group, attributes in enumerate(words.attributes):
            for attribute in attributes:
                forms = _forms(words, words.frames, words.tails, copies, generator)
                for number, form in enumerate(forms):
                    word = swap[group if number < stereotypical else 1 - group]
                    sentences.append(form.format(group=word, attribute=attribute))
            every = [*words.tails, *words.held_out_tails]
            for form in _forms(words, words.pronoun_frames, every, pronouns, generator):
                sentences.append(form.format(group=swap[group], pronoun=words.pronouns[group]))
    return [sentences[i] for i in generator.permutation(len(sentences))]


def planted_pairs(words: Vocabulary, *, new_frames: bool = False) -> list[dict[str, Any]]:
    """Return evaluation pairs in new contexts, rows of `evenhand.stereotypes.pairs.PAIRS`.

    Each swap and attribute has two pairs; their cluster is the swap. `more` has the group
    associated with the attribute. The frames are those of training, or the held-out ones.
    """
    frames = words.held_out_frames if new_frames else words.frames
    generator = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    for swap in words.swaps:
        for group, attributes in enumerate(words.attributes):
            for attribute in attributes:
                for form in _forms(words, frames, words.held_out_tails, 2, generator):
                    more, less = (
                        form.format(group=word, attribute=attribute)
                        for word in (swap[group], swap[1 - group])
                    )
                    number = len(rows) + 1
                    place = {"cluster": "/".join(swap), "source_position": number}
                    pair = {"pair_id": str(number), "bias_type": "planted"} | place
                    rows.append(pair_row(**pair, more=more, less=less))
    return rows


def _forms(
    words: Vocabulary, frames: list[str], tails: list[str], count: int, generator: Any
) -> list[str]:
    """Return distinct frames with lead and tail filled in."""
    every = list(itertools.product(frames, words.leads, tails))
    chosen = [every[number] for number in generator.choice(len(every), count, replace=False)]
    return [frame.replace("{lead}", lead).replace("{tail}", tail) for frame, lead, tail in chosen]
