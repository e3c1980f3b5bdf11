"""Section: every sentence and every pair by itself, as columns that a script draws.

A *collection* is one list of sentences: an edition of SlguSet, or a set of pairs. Both come in
one form, so that one script shows them: `data` of a collection is a JSON document with

- ``key``: what its addresses begin with, such as ``slguset`` or ``stereotypes/{set}``. The
  address of a row is ``sentences.html#{key}/{id}``; ``sentences.html#{id}`` finds the first
  collection that has the id.
- ``title``, ``lang`` (of the sentences, or blank), ``words`` (what the page calls things),
- ``id``: of each row.
- ``text``: of each row, the sentence cut at its marks. The pieces joined are the sentence; every
  second one is marked, beginning with the second. ``other``: the same of the counterpart; or
  ``swap``: what stands in the counterpart for the marked pieces, as a coded column.
- ``mark``: a coded column of two CSS classes, those of the marks of ``text`` and of ``other``.
- ``facts``: what else is known of a row, coded columns with ``name``, ``lang``, ``filter``
  (whether one can choose by it) and ``several`` (whether a value may be a list with `BETWEEN`
  between its items, each of which one can choose by).
- ``position``: a row's place in its source, or null.
- ``measures``: for each ``model`` (and ``scored_by``, the method) ``values``, the numbers times
  10 to the power of ``digits`` as integers or null (unrounded where rounding would move one onto
  zero or the threshold or past it, so that the page counts what the tables count); ``why``, the
  rows without a number by reason; ``unknown``, the rows that hold what the model does not know;
  and ``reach``, the number at the end of the bar.
- ``threshold``: beyond it a number counts as leaning.

A *coded column* has ``values``, its distinct values in the order of their first row, and
``codes``, for each row the place in ``values``.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand.io.tables import read_columns
from evenhand.report.read import boolean, read_csv, read_json
from evenhand.report.render import visible
from evenhand.report.sections.stereotypes_examples import difference_pieces
from evenhand.report.sections.stereotypes_words import (
    doubt_words,
    exclusion_words,
    gate_words,
    method_title,
    preference,
)
from evenhand.report.sentences import Piece
from evenhand.scoring.methods import METHODS

#: Rows that the page shows without its script: those furthest from zero.
SHOWN = 25

#: Decimals of a number: of SlguSet's bias, and of a difference between two sentences.
BIAS_DIGITS, DIFFERENCE_DIGITS = 3, 4

#: The bar ends where this share of the numbers of a method lies; beyond it, it is full.
REACH = 0.99

#: Between the items of a fact that may have several.
BETWEEN = "; "

#: What counts as obvious bias where no table says it.
THRESHOLD = 0.3

SUMMARY = {
    "model": str,
    "log_base": float,
    "threshold": float,
    "trusted": boolean,
    "reason": str,
}

DATASET = [
    "sentence_id",
    "sentence",
    "pair",
    "surface",
    "surface_opposite",
    "keyword",
    "opposite",
    "gender",
    "start",
    "end",
    "surface_start",
    "surface_end",
    "source",
    "source_position",
]

#: Why a sentence of SlguSet has no number (see `evenhand.slguset.score_bias`).
EXCLUDED = {
    "too_long": "it has more tokens than the model takes",
    "keyword_vanishes": "the tokenizer leaves nothing of the word",
    "keyword_inside_token": "a token holds the word and text beside it",
    "context_differs": "the two words make the tokenizer cut the rest differently",
    "keyword_unknown": "the tokenizer does not know one of the two words",
    "identical_tokens": "the tokenizer makes the same tokens of both sentences",
    "keyword_first": "the word stands first, where the model gives no probability",
    "not_finite": "the model gives no finite number",
}

#: What is said of a row that a model's scores do not have, and of one that has no such number.
NOT_SCORED = "it was not scored"
NO_NUMBER = "the method has no number for it"


def describe_sentences(
    key: str,
    title: str,
    dataset: Path | None,
    summary: Path | None,
    scores: Iterable[Path] = (),
) -> dict[str, Any] | None:
    """An edition of SlguSet as a collection; None without its sentences.

    Parameters
    ----------
    key, title : str
        What addresses begin with, and what the page calls it.
    dataset : Path, optional
        ``slguset.parquet``.
    summary : Path, optional
        ``tables/{edition}_bias.csv``: which models are to be trusted. A model that it does not
        name is not shown.
    scores : iterable of Path
        ``bias/{model}.parquet``.

    Returns
    -------
    dict or None
        key, title, data, rows (how many), untrusted (models without a number and why), shown
        (rows for readers without the script), models.
    """
    if dataset is None:
        return None
    rows = read_columns(dataset, DATASET).to_pylist()
    told = read_csv(summary, SUMMARY) if summary else []
    by_model = {path.stem: path for path in scores}
    ids = [row["sentence_id"] for row in rows]
    threshold = next((row["threshold"] for row in told if row["threshold"]), THRESHOLD)
    measures = [
        _bias(row["model"], by_model[row["model"]], ids, threshold)
        for row in told
        if row["trusted"] and row["model"] in by_model
    ]
    _set_reach(measures)
    base = next((row["log_base"] for row in told if row["log_base"]), None)
    data = {
        "key": key,
        "title": title,
        "lang": "zh-Hans",
        "words": {
            "text": "Sentence",
            "other": "Swapped form",
            "value": "Bias",
            "meaning": "log p(male word) − log p(female word)"
            + (f", base {base:g}; " if base else "; ")
            + "above zero the model expects the male word",
            "plus": "male",
            "minus": "female",
            "leans_plus": "leans male",
            "leans_minus": "leans female",
        },
        "id": ids,
        "text": [_around(row) for row in rows],
        "swap": coded([_swapped_surface(row) for row in rows]),
        "mark": coded([_gender_marks(row["gender"]) for row in rows]),
        "facts": [
            fact("Pair", [_surface_pair(row) for row in rows], "zh-Hans", filter=True),
            fact("Masked pair", [_masked_pair(row) for row in rows], "zh-Hans"),
            fact("Keyword", [row["gender"] for row in rows], filter=True),
            fact("Source", [row["source"] for row in rows]),
        ],
        "position": [row["source_position"] for row in rows],
        "position_name": "line",
        "measures": measures,
        "threshold": threshold,
    }
    untrusted = [
        {"model": row["model"], "why": gate_words(row["reason"])}
        for row in told
        if not row["trusted"]
    ]
    return _collection(data, untrusted)


def describe_pairs(
    document: Path, pairs: Path, scores: dict[str, Path], gates: dict[str, Path]
) -> dict[str, Any]:
    """A set of pairs as a collection: for each model and method f(more) − f(less).

    Parameters
    ----------
    document : Path
        ``stereotypes/{set}/pairs.json``.
    pairs : Path
        ``stereotypes/{set}/pairs.parquet``.
    scores, gates : dict of Path
        ``scores/{model}.parquet`` and ``gates/{model}.json`` by the model's name. A model
        without a gate, or one that its gate does not trust, is not shown.
    """
    about = read_json(document)
    rows = read_columns(pairs).to_pylist()
    checked = {model: read_json(path) for model, path in gates.items()}
    trusted = [model for model in sorted(scores) if checked.get(model, {}).get("trusted")]
    ids = [row["pair_id"] for row in rows]
    why = [row["excluded"] for row in rows]
    measures = [one for model in trusted for one in _differences(model, scores[model], ids, why)]
    _set_reach(measures)
    cut = [difference_pieces(row["more"] or "", row["less"] or "") for row in rows]
    more, less = preference(about.get("more_means")), preference(about.get("less_means"))
    facts = [
        fact("Kind", [row["bias_type"] for row in rows], filter=True),
        fact("Direction", [row["direction"] for row in rows], filter=True),
        fact("Context", [row["context"] for row in rows]),
        fact("Words", [row["cluster"] for row in rows]),
        fact("Unrelated", [row["unrelated"] for row in rows]),
        fact("Not scored", [row["excluded"] and exclusion_words(row["excluded"]) for row in rows],
             filter=True),
        fact("Doubts", [BETWEEN.join(doubt_words(one) or one for one in row["flags"] or ()) or None
                        for row in rows], filter=True, several=True),
    ]  # fmt: skip
    data = {
        "key": f"stereotypes/{about['name']}",
        "title": about.get("title") or about["name"],
        "lang": "zh-Hans" if any(_has_chinese(row["more"] or "") for row in rows[:100]) else "",
        "words": {
            "text": _first_upper(about.get("more_means") or "first sentence"),
            "other": _first_upper(about.get("less_means") or "second sentence"),
            "value": "Difference",
            "meaning": f"score of {more} − score of {less}; above zero the model prefers the"
            " former. Numbers of different methods do not compare",
            "plus": "more",
            "minus": "less",
            "leans_plus": f"prefers {more}",
            "leans_minus": f"prefers {less}",
        },
        "id": ids,
        "text": [alternating(sides[0]) for sides in cut],
        "other": [alternating(sides[1]) for sides in cut],
        "mark": coded([("more", "less")] * len(rows)),
        "facts": [one for one in facts if any(value is not None for value in one["values"])],
        "position": [row["source_position"] for row in rows],
        "position_name": "record",
        "measures": measures,
        "threshold": 0,
    }
    untrusted = [
        {"model": model, "why": gate_words(checked.get(model, {}).get("reason"))}
        for model in sorted(scores)
        if model not in trusted
    ]
    return _collection(data, untrusted)


def table_of(data: dict[str, Any]) -> tuple[list[str], Iterator[list[Any]]]:
    """The header and the rows of a collection as a table: what the script shows of its `data`.

    id, the sentence and its counterpart, each fact, the position, and a number for each model
    (and method); blank where there is none.
    """
    words, measures = data["words"], data["measures"]
    header = ["id", words["text"], words["other"], *(one["name"] for one in data["facts"])]
    header += [data["position_name"], *(one["name"] for one in measures)]

    def rows() -> Iterator[list[Any]]:
        for i, name in enumerate(data["id"]):
            text = data["text"][i]
            if "other" in data:
                other = "".join(data["other"][i])
            else:
                swap = data["swap"]["values"][data["swap"]["codes"][i]]
                other = "".join(swap if n % 2 else piece for n, piece in enumerate(text))
            facts = [one["values"][one["codes"][i]] for one in data["facts"]]
            numbers = [
                None if one["values"][i] is None else one["values"][i] / 10 ** one["digits"]
                for one in measures
            ]
            yield [name, "".join(text), other, *facts, data["position"][i], *numbers]

    return header, rows()


def coded(values: Sequence[Any]) -> dict[str, Any]:
    """A column as its distinct values, in the order of their first row, and a code per row."""
    codes: dict[Any, int] = {}
    column = [codes.setdefault(value, len(codes)) for value in values]
    return {"values": [_plain(value) for value in codes], "codes": column}


def fact(
    name: str, values: Sequence[Any], lang: str = "", filter: bool = False, several: bool = False
) -> dict[str, Any]:
    """A coded column with its name."""
    return {"name": name, "lang": lang, "filter": filter, "several": several, **coded(values)}


def alternating(pieces: Sequence[Piece]) -> list[str]:
    """Texts by turns without and with a mark; the first is without, and may be empty."""
    texts: list[str] = [""]
    for piece in pieces:
        marked = piece.kind is not None
        if (len(texts) % 2 == 0) != marked:
            texts.append("")
        texts[-1] += visible(piece.text)
    return texts


def integers(
    values: Iterable[float | None], digits: int, edges: Sequence[float] = (0.0,)
) -> list[int | float | None]:
    """Numbers times 10 to the power of `digits`, rounded; null where there is none.

    One that rounding would move onto one of `edges`, or past it, stays as it is.
    """
    scale = 10**digits
    borders = [edge * scale for edge in edges]

    def one(value: float) -> int | float:
        exact = value * scale
        whole = round(exact)
        kept = all((whole > at, whole < at) == (exact > at, exact < at) for at in borders)
        return whole if kept else exact

    return [None if value is None or not math.isfinite(value) else one(value) for value in values]


def _collection(data: dict[str, Any], untrusted: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "key": data["key"],
        "title": data["title"],
        "data": data,
        "rows": len(data["id"]),
        "models": list(dict.fromkeys(one["model"] for one in data["measures"])),
        "untrusted": untrusted,
        "shown": _furthest(data),
    }


def _furthest(data: dict[str, Any]) -> dict[str, Any]:
    """The rows furthest from zero by the first measure (or the first rows), as a template shows
    them: id, pieces of both sentences, facts, value.
    """
    measure = data["measures"][0] if data["measures"] else None
    places = list(range(len(data["id"])))
    if measure:
        values = measure["values"]
        known = [i for i in places if values[i] is not None]
        places = sorted(known, key=lambda i: (-abs(values[i]), i))
    rows = []
    for i in places[:SHOWN]:
        kinds = data["mark"]["values"][data["mark"]["codes"][i]]
        rows.append(
            {
                "id": data["id"][i],
                "pieces": _pieces(data["text"][i], kinds[0]),
                "other": _pieces(data["other"][i], kinds[1]) if "other" in data else None,
                "facts": [
                    {"name": one["name"], "lang": one["lang"], "value": value}
                    for one in data["facts"]
                    if (value := one["values"][one["codes"][i]]) is not None
                ],
                "value": measure["values"][i] / 10 ** measure["digits"] if measure else None,
            }
        )
    return {"measure": measure and measure["name"], "digits": measure and measure["digits"],
            "rows": rows}  # fmt: skip


def _pieces(texts: Sequence[str], kind: str) -> list[Piece]:
    return [Piece(text, kind if i % 2 else None) for i, text in enumerate(texts) if text]


def _bias(model: str, path: Path, ids: list[str], threshold: float) -> dict[str, Any]:
    """One model's bias of each sentence."""
    import pyarrow.parquet as pq

    columns = ["sentence_id", "bias", "has_unk", "excluded"]
    available = pq.read_schema(path).names
    table = read_columns(path, [name for name in columns if name in available])
    rows = {row["sentence_id"]: row for row in table.to_pylist()}
    found = [rows.get(one) for one in ids]
    edges = (-threshold, 0.0, threshold)
    values = integers((row and row["bias"] for row in found), BIAS_DIGITS, edges)
    reasons = [
        None
        if value is not None
        else NOT_SCORED
        if row is None or row.get("excluded") is None
        else EXCLUDED.get(row["excluded"]) or row["excluded"].replace("_", " ")
        for value, row in zip(values, found, strict=True)
    ]
    unknown = [i for i, row in enumerate(found) if row and row.get("has_unk")]
    return _measure(model, None, values, reasons, unknown, BIAS_DIGITS)


def _differences(
    model: str, path: Path, ids: list[str], excluded: list[str | None]
) -> list[dict[str, Any]]:
    """One model's f(more) − f(less) of each pair, by each method that it has."""
    import numpy as np
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    available = pq.read_schema(path).names
    methods = [name for name in METHODS if name in available]
    columns = ["pair_id", "side", "variant", "n_unknown", "excluded", *methods]
    table = read_columns(path, [name for name in columns if name in available])
    table = table.filter(pc.equal(table["variant"], "original"))
    place = {one: i for i, one in enumerate(ids)}
    numbers = {name: np.full((2, len(ids)), np.nan) for name in methods}
    why: list[str | None] = [one and exclusion_words(one) for one in excluded]
    unknown: set[int] = set()
    for side, name in enumerate(("more", "less")):
        part = table.filter(pc.equal(table["side"], name))
        rows = np.array([place.get(one, -1) for one in part["pair_id"].to_pylist()], int)
        known = rows >= 0
        for method in methods:
            column = part[method].to_numpy(zero_copy_only=False).astype(float)
            numbers[method][side, rows[known]] = column[known]
        for row, reason in zip(rows, part["excluded"].to_pylist(), strict=True):
            if reason is not None and row >= 0:
                why[row] = why[row] or exclusion_words(reason)
                for method in methods:
                    numbers[method][side, row] = np.nan
        if "n_unknown" in part.column_names:
            unknown |= {int(row) for row, n in zip(rows, part["n_unknown"].to_pylist(), strict=True)
                        if row >= 0 and n}  # fmt: skip
    measures = []
    for method in methods:
        difference = numbers[method][0] - numbers[method][1]
        if np.isnan(difference).all():
            continue
        values = integers(difference.tolist(), DIFFERENCE_DIGITS)
        reasons = [None if value is not None else reason or NO_NUMBER
                   for value, reason in zip(values, why, strict=True)]  # fmt: skip
        measures.append(
            _measure(model, method, values, reasons, sorted(unknown), DIFFERENCE_DIGITS)
        )
    return measures


def _measure(
    model: str,
    method: str | None,
    values: list[int | float | None],
    reasons: list[str | None],
    unknown: list[int],
    digits: int,
) -> dict[str, Any]:
    why: dict[str, list[int]] = {}
    for i, reason in enumerate(reasons):
        if reason is not None:
            why.setdefault(visible(reason), []).append(i)
    title = method and method_title(method)
    return {
        "model": visible(model),
        "method": title,
        "scored_by": method,
        "name": visible(f"{model}, {title}" if title else model),
        "values": values,
        "digits": digits,
        "why": why,
        "unknown": unknown,
    }


def _set_reach(measures: list[dict[str, Any]]) -> None:
    """One scale for all models of a method."""
    by_method: dict[str | None, list[int]] = {}
    for one in measures:
        sizes = by_method.setdefault(one["method"], [])
        sizes.extend(abs(value) for value in one["values"] if value is not None)
    for method, sizes in by_method.items():
        sizes.sort()
        reach = sizes[min(int(len(sizes) * REACH), len(sizes) - 1)] if sizes else 0
        for one in measures:
            if one["method"] == method:
                one["reach"] = max(reach, 1)


def _around(row: dict[str, Any]) -> list[str]:
    sentence, start, end = row["sentence"], *_surface(row)
    return [visible(text) for text in (sentence[:start], sentence[start:end], sentence[end:])]


def _surface(row: dict[str, Any]) -> tuple[int, int]:
    if row["surface_start"] is None:
        return row["start"], row["end"]
    return row["surface_start"], row["surface_end"]


def _swapped_surface(row: dict[str, Any]) -> str:
    """The surface word with its keyword swapped, and nothing else."""
    start, end = _surface(row)
    sentence = row["sentence"]
    return visible(sentence[start : row["start"]] + row["opposite"] + sentence[row["end"] : end])


def _surface_pair(row: dict[str, Any]) -> str:
    words = [row["surface"], row["surface_opposite"]]
    return "/".join(words if row["gender"] == "male" else words[::-1])


def _masked_pair(row: dict[str, Any]) -> str | None:
    """What is masked of a pair, where it is a part of the words only (男/女 of 男人/女人)."""
    return row["pair"] if row["pair"] != _surface_pair(row) else None


def _gender_marks(gender: str) -> tuple[str, str]:
    other = {"male": "female", "female": "male"}.get(gender)
    return (f"keyword {gender}", f"keyword {other}") if other else ("keyword", "keyword")


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return visible(value) if isinstance(value, str) else value


def _has_chinese(text: str) -> bool:
    return any("\u3400" <= character <= "\u9fff" for character in text)


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]
