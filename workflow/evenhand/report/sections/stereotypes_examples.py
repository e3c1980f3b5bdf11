"""Section: the pairs on which a model differs most to either side, with the differences marked."""

import re
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenhand.io.tables import read_columns
from evenhand.report.sections.stereotypes_words import method_of
from evenhand.report.sentences import difference_pieces
from evenhand.scoring.methods import METHODS

#: The method whose difference orders the pairs: the first of these that the model has.
ORDER = ("aul", "log_likelihood_per_token", "log_likelihood", "cps", "sss")

#: Pairs shown per model and side.
EXAMPLES = 5

_CJK = re.compile(r"[\u3400-\u9fff]")


def describe_examples(
    pairs: Path | None, scores: Sequence[Path], untrusted: Container[str]
) -> list[dict[str, Any]]:
    """Return, per model, the pairs with the largest difference between their sides, both ways.

    Parameters
    ----------
    pairs : Path, optional
        ``pairs.parquet``.
    scores : sequence of Path
        ``scores/{model}.parquet``.
    untrusted : container of str
        The models that get no number.
    """
    if pairs is None:
        return []
    rows = read_columns(pairs).to_pylist()
    models = []
    for path in sorted(scores, key=lambda path: path.stem):
        if path.stem in untrusted:
            continue
        numbers, _, _ = pair_differences(path, rows)
        method = next((name for name in ORDER if name in numbers), None)
        if method is None:
            continue
        differences = numbers[method].tolist()
        sides = {}
        for side, sign in (("more", 1), ("less", -1)):
            ranked = sorted(
                (-sign * difference, row["pair_id"], row)
                for difference, row in zip(differences, rows, strict=True)
                if sign * difference > 0
            )
            sides[side] = [_example(row, -by) for by, _, row in ranked[:EXAMPLES]]
        if any(sides.values()):
            models.append({"model": path.stem, "description": method_of(method), "sides": sides})
    return models


def pair_differences(
    path: Path, rows: Sequence[dict[str, Any]]
) -> tuple[dict[str, np.ndarray], list[str | None], np.ndarray]:
    """Return a model's f(more) − f(less) of each pair by method, exclusions and unknown tokens.

    Parameters
    ----------
    path : Path
        ``scores/{model}.parquet``.
    rows : sequence of dict
        Of ``pairs.parquet``.

    Returns
    -------
    differences : dict of array
        For each method that has one; NaN where there is none.
    excluded : list of str or None
        Why a pair has no scores.
    unknown : array of bool
        Whether a sentence of the pair contains unknown tokens.
    """
    available = pq.read_schema(path).names
    methods = [name for name in METHODS if name in available]
    names = ["pair_id", "side", "variant", "n_unknown", "excluded", *methods]
    table = read_columns(path, [name for name in names if name in available])
    excluded = [row["excluded"] for row in rows]
    unknown = np.zeros(len(rows), dtype=bool)
    numbers = np.full((2, len(methods), len(rows)), np.nan)
    place = {row["pair_id"]: at for at, row in enumerate(rows)}
    sides = {"more": 0, "less": 1}
    for sentence in table.filter(pc.field("variant") == "original").to_pylist():
        at, side = place.get(sentence["pair_id"]), sides.get(sentence["side"])
        if at is None or side is None:
            continue
        excluded[at] = excluded[at] or sentence["excluded"]
        unknown[at] |= bool(sentence.get("n_unknown"))
        if sentence["excluded"] is None:
            known = [np.nan if sentence[name] is None else sentence[name] for name in methods]
            numbers[side, :, at] = known
    gaps = dict(zip(methods, numbers[0] - numbers[1], strict=True))
    return {name: gap for name, gap in gaps.items() if not np.isnan(gap).all()}, excluded, unknown


def _example(row: dict[str, Any], difference: float) -> dict[str, Any]:
    more, less = difference_pieces(row["more"], row["less"])
    # Page and sentences may differ in language: only the script is known for certain.
    lang = "zh-Hans" if _CJK.search(row["more"]) else ""
    return row | {"pieces": {"more": more, "less": less}, "by": difference, "lang": lang}
