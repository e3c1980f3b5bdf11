"""The bias per model, group of sentences, gender of the original keyword and direction.

The groups are all sentences, then those of each surface pair, then those of each compound
(``男童/女童``).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.errors import InputError
from evenhand.metrics.inference import sign_flip_interval, total
from evenhand.slguset.bias_tables import Scored
from evenhand.slguset.tables.models import MEAN_BIAS, beyond, degree_columns, degrees

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

#: The words that the authors look at by themselves.
COMPOUNDS = ("男童/女童",)

#: The group of all sentences, pairs and genders.
ALL = "all"


def rows(scored: Scored) -> Iterator[Row]:
    """Yield the rows; a combination without a sentence has n = 0."""
    scored.check_genders()
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


def _rows_of(scored: Scored, name: str, groups: list[dict[str, Any]]) -> Iterator[Row]:
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
                clusters = surface_pair[chosen]
                if group["group"] != ALL:
                    clusters = np.arange(len(values))
                low, high = sign_flip_interval(total(values, clusters))
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
