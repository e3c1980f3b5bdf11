"""Section: the pairs on which a model leans most to either side, with what differs marked."""

import difflib
import re
from collections.abc import Container
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from evenhand.io.tables import read_columns
from evenhand.report.sections.stereotypes_words import method_of
from evenhand.report.sentences import Piece

#: The method whose difference orders the pairs: the first of these that the model has.
ORDER = ("aul", "log_likelihood_per_token", "log_likelihood", "cps", "sss")

#: Characters that stand for a word each (CJK), a run of other letters, or a single sign.
_WORDS = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+|\s+|.", re.S)
_CJK = re.compile(r"[\u3400-\u9fff]")


def describe_examples(
    pairs: Path | None, scores: dict[str, Path], without: Container[str], most: int
) -> list[dict[str, Any]]:
    """Per model, the pairs with the largest difference between their sides, both ways.

    Parameters
    ----------
    pairs : Path, optional
        ``pairs.parquet``.
    scores : dict
        ``scores/{model}.parquet`` by the model's name.
    without : container of str
        The models that get no number.
    most : int
        Pairs shown per model and side.
    """
    if pairs is None or not most:
        return []
    columns = ["pair_id", "bias_type", "context", "more", "less", "source_position"]
    texts = {row["pair_id"]: row for row in read_columns(pairs, columns).to_pylist()}
    described = []
    for model in sorted(name for name in scores if name not in without):
        method, differences = _differences(scores[model])
        known = [(d, pair) for pair, d in differences.items() if pair in texts]
        sides = {
            "more": sorted((-d, pair) for d, pair in known if d > 0)[:most],
            "less": sorted((d, pair) for d, pair in known if d < 0)[:most],
        }
        if not any(sides.values()):
            continue
        described.append(
            {
                "model": model,
                "about": method_of(method),
                "sides": {
                    side: [_example(texts[pair], abs(d)) for d, pair in rows]
                    for side, rows in sides.items()
                },
            }
        )
    return described


def difference_pieces(more: str, less: str) -> tuple[list[Piece], list[Piece]]:
    """Both sentences cut where they differ; kinds are ``more``, ``less`` or None.

    Words are compared, in scripts without spaces characters. White space between two changed
    words is marked with them.
    """
    words = [_WORDS.findall(text) for text in (more, less)]
    matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    blocks = matcher.get_opcodes()
    for number, (kind, a, b, c, d) in enumerate(blocks):
        between = 0 < number < len(blocks) - 1 and all(
            not word.strip() for word in [*words[0][a:b], *words[1][c:d]]
        )
        for side, name, (low, high) in zip(sides, ("more", "less"), ((a, b), (c, d)), strict=True):
            text = "".join(words[0 if name == "more" else 1][low:high])
            if not text:
                continue
            mark = None if kind == "equal" and not between else name
            if side and side[-1].kind == mark:
                side[-1] = Piece(side[-1].text + text, mark)
            else:
                side.append(Piece(text, mark))
    return sides


def _differences(path: Path) -> tuple[str, dict[str, float]]:
    """A model's f(more) - f(less) by pair, and the method f."""
    available = set(pq.read_schema(path).names)
    wanted = [name for name in ORDER if name in available]
    columns = ["pair_id", "side", "variant", "excluded", *wanted]
    table = read_columns(path, columns)
    method = next((name for name in wanted if table[name].null_count < len(table)), ORDER[0])
    if method not in wanted:
        return method, {}
    values: dict[tuple[str, str], float] = {}
    for row in table.select(["pair_id", "side", "variant", "excluded", method]).to_pylist():
        if row["variant"] == "original" and row["excluded"] is None and row[method] is not None:
            values[row["pair_id"], row["side"]] = row[method]
    return method, {
        pair: value - values[pair, "less"]
        for (pair, side), value in values.items()
        if side == "more" and (pair, "less") in values
    }


def _example(row: dict[str, Any], difference: float) -> dict[str, Any]:
    more, less = difference_pieces(row["more"], row["less"])
    # Page and sentences may differ in language: only the script is known for certain.
    lang = "zh-Hans" if _CJK.search(row["more"]) else ""
    return row | {"pieces": {"more": more, "less": less}, "by": difference, "lang": lang}
