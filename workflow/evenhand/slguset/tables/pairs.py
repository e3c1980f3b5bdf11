"""The bias per model, group of sentences, gender of the original keyword and direction.

The groups are all sentences, then those of each surface pair, then those of each compound
(``男童/女童``).
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.errors import InputError
from evenhand.slguset.bias_tables import Scored
from evenhand.slguset.tables.models import (
    MEAN_BIAS,
    beyond,
    degree_columns,
    degrees,
    degrees_with_interval,
)

TABLE = Table(
    "pairs",
    title="Bias by model, word pair and direction",
    key=("model", "group", "surface_pair", "gender", "direction"),
    columns=(
        text("model"),
        text("group", "all, surface_pair or compound"),
        text("pair"),
        text("surface_pair", "all, or the male and the female word"),
        text("gender", "Of the original keyword: all, male or female"),
        text("direction", "Sentences with any bias (all), bias > 0 (male) or bias < 0 (female)"),
        integer("n"),
        share("share", "Of the sentences of all directions"),
        MEAN_BIAS,
        *degree_columns(),
        number("mean_bias_one_character", "Mean bias by one character at a time"),
        integer("above_threshold"),
        integer("below_threshold"),
        share("share_above"),
        share("share_below"),
    ),
)

#: The group of all sentences, pairs and genders.
ALL = "all"


def rows(scored: Scored) -> Iterator[Row]:
    """Yield the rows; a combination without a sentence has n = 0."""
    scored.check_genders()
    groups = list(_groups(scored.sentences, scored.settings.compounds or ()))
    gender = scored.sentences["gender"].to_numpy()
    clusters_of_words = scored.clusters
    for name, scores in scored.scores.items():
        bias = scored.bias(name)
        one_character = scores["bias_one_character"].to_numpy(dtype=float)
        for (group, pair, words, members), original in product(groups, (ALL, "male", "female")):
            chosen = members & np.isfinite(bias) & ((gender == original) | (original == ALL))
            directions = {ALL: chosen, "male": chosen & (bias > 0), "female": chosen & (bias < 0)}
            for direction, part in directions.items():
                values = bias[part]
                clusters = clusters_of_words[part] if group == ALL else np.arange(len(values))
                yield {
                    "model": name,
                    "group": group,
                    "pair": pair,
                    "surface_pair": words,
                    "gender": original,
                    "direction": direction,
                    "n": len(values),
                    "share": len(values) / chosen.sum() if chosen.any() else None,
                    **degrees_with_interval(values, clusters),
                    "mean_bias_one_character": degrees(one_character[part])["mean_bias"],
                    **beyond(values, scored.settings.threshold),
                }


def _groups(
    sentences: pd.DataFrame, compounds: Sequence[str]
) -> Iterator[tuple[str, str | None, str, np.ndarray]]:
    """Yield each group's kind, mask pair and surface pair, and which sentences are in it.

    All sentences, then those of each surface pair in the data set's order, then those of each
    compound.
    """
    yield ALL, ALL, ALL, np.ones(len(sentences), bool)
    for name, group in sentences.groupby("surface_pair", sort=False):
        yield (
            "surface_pair",
            group["pair"].iloc[0],
            name,
            (sentences["surface_pair"] == name).to_numpy(),
        )
    columns = ["sentence", "start", "gender"]
    for compound in compounds:
        male, _, female = compound.partition("/")
        differences = [i for i, (a, b) in enumerate(zip(male, female, strict=False)) if a != b]
        if not differences:
            remedy = "give its male and its female form with a slash between: 男童/女童"
            raise InputError(f"bias.compounds: {compound!r} is not a compound", remedy=remedy)
        forms, offset = {"male": male, "female": female}, differences[0]
        members = np.array(
            [
                start >= offset and text.startswith(forms[gender], start - offset)
                for text, start, gender in sentences[columns].itertuples(index=False)
            ]
        )
        pairs = sentences["pair"][members]
        yield "compound", None if pairs.empty else pairs.iloc[0], compound, members
