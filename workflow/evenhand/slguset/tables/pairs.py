"""Per model, group of sentences, gender of the original keyword and direction of the bias.

The groups are all sentences, then those of each surface pair, then those of each compound
(``男童/女童``); genders and directions (male: bias > 0, female: < 0) have rows for ``all``. With
n, its share of the sentences of all directions, mean bias with a 95 % interval, degrees, the mean
bias by one character at a time, sentences above and below the threshold and their share of n.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from evenhand.errors import InputError
from evenhand.metrics.bootstrap import interval_of_mean
from evenhand.slguset.bias_tables import Scored
from evenhand.slguset.tables.models import beyond, degrees

HEADER = [
    "model",
    "group",
    "pair",
    "surface_pair",
    "gender",
    "direction",
    "n",
    "share",
    "mean_bias",
    "mean_bias_low",
    "mean_bias_high",
    "male_degree",
    "female_degree",
    "mean_degree",
    "mean_bias_one_character",
    "above_threshold",
    "below_threshold",
    "share_above",
    "share_below",
]

#: The words that the authors look at by themselves.
COMPOUNDS = ("男童/女童",)

#: The group of all sentences, pairs and genders.
ALL = "all"


def rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """The rows of the table; a combination without a sentence has n = 0."""
    compounds = scored.settings.compounds
    words = [_compound(one) for one in (COMPOUNDS if compounds is None else compounds)]
    groups = _groups(scored.sentences, words)
    for name in scored.gates:
        yield from _rows_of(scored, name, groups)


def _groups(sentences: pd.DataFrame, compounds: list[dict[str, str]]) -> list[dict[str, Any]]:
    """All sentences, those of each surface pair in the dataset's order, those of each compound."""
    surface_pair = sentences["surface_pair"].to_numpy()
    firsts = sentences.drop_duplicates("surface_pair")
    groups = [
        {"group": ALL, "pair": ALL, "surface_pair": ALL, "rows": np.ones(len(sentences), bool)}
    ]
    groups += [
        {"group": "surface_pair", "pair": pair, "surface_pair": name, "rows": surface_pair == name}
        for pair, name in zip(firsts["pair"], firsts["surface_pair"], strict=True)
    ]
    for one in compounds:
        offset = next(i for i, (a, b) in enumerate(zip(*one.values(), strict=False)) if a != b)
        rows = np.array(
            [
                start >= offset and text.startswith(one[gender], start - offset)
                for text, start, gender in zip(
                    sentences["sentence"], sentences["start"], sentences["gender"], strict=True
                )
            ]
        )
        found = sentences["pair"].to_numpy()[rows]
        groups.append(
            {
                "group": "compound",
                "pair": found[0] if len(found) else None,
                "surface_pair": "/".join(one.values()),
                "rows": rows,
            }
        )
    return groups


def _compound(text: str) -> dict[str, str]:
    male, _, female = text.partition("/")
    if not male or not female or all(a == b for a, b in zip(male, female, strict=False)):
        raise InputError(
            f"{text!r} is not a compound",
            remedy="give its male and its female form with a slash between: 男童/女童",
        )
    return {"male": male, "female": female}


def _rows_of(scored: Scored, name: str, groups: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    bias = scored.bias(name)
    apart = scored.scores[name]["bias_one_character"].to_numpy(dtype=float)
    gender = scored.sentences["gender"].to_numpy()
    surface_pair = scored.sentences["surface_pair"].to_numpy()
    for group in groups:
        for original in (ALL, "male", "female"):
            rows = group["rows"] & np.isfinite(bias)
            if original != ALL:
                rows &= gender == original
            whole = int(rows.sum())
            for direction, chosen in (
                (ALL, rows),
                ("male", rows & (bias > 0)),
                ("female", rows & (bias < 0)),
            ):
                values = bias[chosen]
                clusters = surface_pair[chosen] if group["group"] == ALL else None
                low, high = interval_of_mean(values, clusters, **scored.settings.draw)
                yield {
                    "model": name,
                    "group": group["group"],
                    "pair": group["pair"],
                    "surface_pair": group["surface_pair"],
                    "gender": original,
                    "direction": direction,
                    "n": len(values),
                    "share": len(values) / whole if whole else None,
                    **degrees(values),
                    "mean_bias_low": low,
                    "mean_bias_high": high,
                    "mean_bias_one_character": degrees(apart[chosen])["mean_bias"],
                    **beyond(values, scored.settings.threshold),
                }
