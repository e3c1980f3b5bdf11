"""Stage: the explorer of sentences and pairs, with the number of every trusted model."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenhand.core.rows import grouped
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_table
from evenhand.io.tables import read_columns
from evenhand.report.explorer import Document, coded, columns, form, rounded, write_explorer
from evenhand.report.headline import plain
from evenhand.report.read import read_json
from evenhand.report.render import visible
from evenhand.report.sections.bias import TITLES
from evenhand.report.sections.stereotypes_words import (
    exclusion_words,
    gate_words,
    method_title,
    preference,
)
from evenhand.report.sentences import aligned
from evenhand.scoring.methods import METHODS
from evenhand.scoring.precision import difference
from evenhand.slguset.surface_pairs import surface_pair
from evenhand.stereotypes.pairs import FLAGS

#: Decimals of a number: of SlguSet's bias, and of a difference between two sentences.
BIAS_DIGITS, DIFFERENCE_DIGITS = 3, 4

#: A bar ends where this share of the numbers of a method lies; beyond it, it is full.
REACH = 0.99

#: The bias beyond which a sentence is obviously biased, where no table has it.
THRESHOLD = 0.3

DATASET = [
    *("sentence_id", "sentence", "pair", "surface", "surface_opposite", "opposite", "gender"),
    *("start", "end", "surface_start", "surface_end", "source", "source_position"),
]


def explore_sentences(
    *,
    templates: list[Input],
    out: Output,
    tables_out: Output,
    datasets: list[Source] | None = None,
    summaries: list[Source] | None = None,
    bias_scores: list[Source] | None = None,
    sets: list[Source] | None = None,
    pairs: list[Source] | None = None,
    scores: list[Source] | None = None,
    gates: list[Source] | None = None,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the explorer of the sentences of SlguSet and of the pairs of stereotype sets.

    Parameters
    ----------
    templates, out, tables_out, pages
        Of `evenhand.report.explorer.write_explorer`.
    datasets
        ``{source}/slguset.parquet``: sources are slguset and slguset_published.
    summaries
        ``tables/bias/{source}``: which models are trusted. Other models are not shown.
    bias_scores
        ``{source}/bias/{model}.parquet``.
    sets, pairs
        ``stereotypes/{set}/pairs.json`` and ``pairs.parquet`` of each set.
    scores, gates
        ``stereotypes/{set}/scores/{model}.parquet`` and ``gates/{model}.json``. A model without a
        gate is not trusted.

    Returns
    -------
    dict
        Of `write_explorer`.
    """

    def by_model(paths: list[Path] | None, name: str) -> dict[str, Path]:
        return {path.stem: path for path in paths or () if path.parents[1].name == name}

    described = []
    summary_of = {path.name: path for path in summaries or ()}
    for data in datasets or ():
        key = data.parent.name
        summary, bias = summary_of.get(key), by_model(bias_scores, key)
        document, notes = describe_sentences(key, TITLES[key], data, summary, bias)
        described.append((document, notes, f"{key}/slguset.parquet", f"{key}/bias"))
    table_of = {path.parent.name: path for path in pairs or ()}
    for path in sets or ():
        if (name := path.parent.name) in table_of:
            files = table_of[name], by_model(scores, name), by_model(gates, name)
            document, notes = describe_pairs(path, *files)
            key = document["key"]
            described.append((document, notes, f"{key}/pairs.parquet", f"{key}/scores"))
    files = {}
    for document, _, data, folder in described:
        models = dict.fromkeys(model["asks"]["model"] for model in document["models"])
        files[document["title"]] = [data, *(f"{folder}/{model}.parquet" for model in models)]
    return write_explorer(
        "sentences",
        [document for document, *_ in described],
        files,
        {document["key"]: notes for document, notes, *_ in described},
        out=out, tables_out=tables_out, templates=templates, pages=pages,
    )  # fmt: skip


def describe_sentences(
    key: str, title: str, dataset: Path, summary: Path | None, scores: dict[str, Path]
) -> tuple[Document, list[str]]:
    """Return the sentences of a source of SlguSet as a set, and notes on untrusted models."""
    rows = read_columns(dataset, DATASET).to_pylist()
    known = read_table(summary / "models.csv") if summary else []
    threshold = next((row["threshold"] for row in known if row["threshold"]), THRESHOLD)
    base = next((f", base {row['log_base']:g}" for row in known if row["log_base"]), "")
    sides, excluded = form("sides")["sentences"], form("excluded")
    models = []
    for model in (row["model"] for row in known if row["trusted"] and row["model"] in scores):
        bias_rows = _bias_rows(scores[model], [row["sentence_id"] for row in rows])
        values = np.array([row.get("bias") for row in bias_rows], dtype=float)
        reasons = [row.get("excluded") for row in bias_rows]
        models.append(_model(
            "sentences", model, {"model": model}, values,
            [excluded.get(r or "not_scored") or exclusion_words(r) for r in reasons],
            [bool(row.get("has_unk")) for row in bias_rows], BIAS_DIGITS, threshold, sides,
        ))  # fmt: skip
    other = {"male": "keyword female", "female": "keyword male"}
    language = _language(row["sentence"] for row in rows)
    surface_pairs = list(map(surface_pair, rows))
    # the masked words of a pair where they are parts of the words (男/女 of 男人/女人)
    masked_pairs = [
        row["pair"] if row["pair"] != pair else None
        for row, pair in zip(rows, surface_pairs, strict=True)
    ]
    cells = {
        "Pair": surface_pairs,
        "Masked pair": masked_pairs,
        "Keyword": (row["gender"] for row in rows),
        "Source": (row["source"] for row in rows),
        "line": (row["source_position"] for row in rows),
    }
    in_language = {name: {"lang": language} for name in ("Pair", "Masked pair")}
    shared = form("sentences")
    document = shared | {
        "key": key,
        "title": title,
        "meaning": shared["meaning"].format(base=base),
        "id": [row["sentence_id"] for row in rows],
        "language": language,
        "text": [_text(row) for row in rows],
        "mark": coded([f"keyword {r['gender']}", other.get(r["gender"], "keyword")] for r in rows),
        "columns": columns("sentences", cells, in_language),
        "measures": [_measure("Bias", BIAS_DIGITS, "male", "female")],
        "models": models,
    }
    untrusted = {row["model"]: row["reason"] for row in known if not row["trusted"]}
    return _with_numbers(document, sides), _untrusted(untrusted)


def describe_pairs(
    document: Path, pairs: Path, scores: dict[str, Path], gates: dict[str, Path]
) -> tuple[Document, list[str]]:
    """Return a set of pairs as a set, and notes on untrusted models.

    The number of a model and method is f(more) − f(less).
    """
    described = read_json(document)
    rows = read_columns(pairs).to_pylist()
    checked = {model: read_json(gates[model]) if model in gates else {} for model in sorted(scores)}
    trusted = [model for model, gate in checked.items() if gate.get("trusted")]
    names = [described.get(f"{side}_means") for side in ("more", "less")]
    more, less = map(preference, names)
    sides = [words.format(more=more, less=less) for words in form("sides")["pairs"]]
    no_number = form("excluded")["no_number"]
    models = []
    for model in trusted:
        numbers, excluded, unknown = pair_differences(scores[model], rows)
        why = [exclusion_words(reason) if reason else no_number for reason in excluded]
        models += [
            _model("pairs", f"{model}, {method_title(method)}", {"model": model, "method": method},
                   values, why, unknown, DIFFERENCE_DIGITS, 0.0, sides)
            for method, values in numbers.items()
        ]  # fmt: skip
    exclusions = [row["excluded"] and exclusion_words(row["excluded"]) for row in rows]
    flags = [[FLAGS.get(flag, flag) for flag in row["flags"] or ()] for row in rows]
    cells = {
        "Kind": (row["bias_type"] for row in rows),
        "Direction": (row["direction"] for row in rows),
        "Context": (row["context"] for row in rows),
        "Words": (row["cluster"] for row in rows),
        "Unrelated": (row["unrelated"] for row in rows),
        "Not scored": exclusions,
        "Doubts": flags,
        "record": (row["source_position"] for row in rows),
    }
    headings = [
        name[:1].upper() + name[1:]
        for name in (names[0] or "first sentence", names[1] or "second sentence")
    ]
    cuts = (aligned(row["more"] or "", row["less"] or "") for row in rows)
    shared = form("pairs")
    described = shared | {
        "key": f"stereotypes/{described['name']}",
        "title": visible(described.get("title") or described["name"]),
        "heading": visible(headings[0]),
        "other": visible(headings[1]),
        "meaning": visible(shared["meaning"].format(more=more, less=less)),
        "id": [visible(row["pair_id"]) for row in rows],
        "language": _language(row["more"] for row in rows),
        "text": [
            [list(map(visible, pair)) if i % 2 else visible(pair[0]) for i, pair in enumerate(cut)]
            for cut in cuts
        ],
        "mark": coded([["more", "less"]] * len(rows)),
        "columns": [fact for fact in columns("pairs", cells) if any(fact["values"])],
        "measures": [_measure("Difference", DIFFERENCE_DIGITS, "more", "less")],
        "models": models,
    }
    untrusted = {
        model: gate.get("reason") for model, gate in checked.items() if model not in trusted
    }
    return _with_numbers(described, sides), _untrusted(untrusted)


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
    gaps = dict(zip(methods, difference(*numbers), strict=True))
    return {name: gap for name, gap in gaps.items() if not np.isnan(gap).all()}, excluded, unknown


def _measure(title: str, digits: int, *bar: str) -> dict[str, Any]:
    return {"name": "value", "title": title, "digits": digits, "sign": True, "bar": bar}


def _untrusted(reasons: dict[str, str | None]) -> list[str]:
    return [
        plain("explorer_untrusted", model=model, why=gate_words(reason))
        for model, reason in reasons.items()
    ]


def _with_numbers(document: Document, sides: Sequence[str]) -> Document:
    """Return a set whose models have one signed number, with their orders and scales of bars."""
    for models in grouped(document["models"], "group").values():
        values = [value for model in models for value in model["measures"][0]]
        sizes = sorted(abs(value) for value in values if value is not None) or [1]
        for model in models:
            model["reach"] = sizes[int(len(sizes) * REACH)] or 1
    more, less = map(visible, sides)
    orders = [(key, words.format(more=more, less=less)) for key, words in form("orders")]
    return document | {"orders": orders}


def _model(
    kind: str, name: str, asks: dict[str, str], values: np.ndarray, why: list[str],
    unknown: Sequence[bool], digits: int, threshold: float, sides: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """Return a model with a number for each item; models of one method compare.

    Its filter selects numbers by sign, and by whether they exceed the threshold.
    """
    known = np.isfinite(values)
    masks = {
        "plus": values > threshold,
        "minus": values < -threshold,
        "between": np.abs(values) <= threshold,
        "above": values > 0,
        "below": values < 0,
        "scored": known,
        "none": ~known,
        "unknown": np.array(unknown, dtype=bool),
    }
    facts = {"more": sides[0], "less": sides[1], "threshold": threshold}
    tags = ([key for key, on in zip(masks, row, strict=True) if on]
            for row in np.stack(list(masks.values()), axis=1).tolist())  # fmt: skip
    reasons = (None if on else reason for on, reason in zip(known, why, strict=True))
    lean, no_number = columns(kind, {"lean": tags, "why": reasons})
    lean["options"] = [[key, visible(words.format(**facts))] for key, words in lean["options"]]
    return {
        "name": visible(name),
        "asks": {key: visible(value) for key, value in asks.items()},
        "group": asks.get("method"),
        "row": None,
        "measures": [rounded(values, digits, (-threshold, 0.0, threshold))],
        "columns": [lean, no_number],
    }


def _bias_rows(path: Path, ids: list[str]) -> list[dict[str, Any]]:
    """Return a model's scores of the sentences with these ids; nothing for one without a score."""
    names = {"sentence_id", "bias", "has_unk", "excluded"} & set(pq.read_schema(path).names)
    scored = {row["sentence_id"]: row for row in read_columns(path, sorted(names)).to_pylist()}
    return [scored.get(name, {}) for name in ids]


def _text(row: dict[str, Any]) -> list[Any]:
    """Return a sentence as pieces, with the word and its opposite in the middle."""
    sentence, start, end = row["sentence"], row["surface_start"], row["surface_end"]
    if start is None:
        start, end = row["start"], row["end"]
    opposite = sentence[start : row["start"]] + row["opposite"] + sentence[row["end"] : end]
    before, word, other, after = map(
        visible, (sentence[:start], sentence[start:end], opposite, sentence[end:])
    )
    return [before, [word, other], after]


def _language(texts: Iterable[str | None]) -> str:
    """Return the code for Chinese if one of the first texts has a Chinese character, else none."""
    first = "".join(text or "" for text in islice(texts, 100))
    return "zh-Hans" if any("\u3400" <= character <= "\u9fff" for character in first) else ""
