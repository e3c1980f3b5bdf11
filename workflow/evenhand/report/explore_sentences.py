"""Stage: the explorer of sentences and pairs, with the number of every trusted model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_table
from evenhand.io.tables import read_columns
from evenhand.report.explorer import Document, coded, column, form, rounded, write_explorer
from evenhand.report.read import read_json
from evenhand.report.render import visible
from evenhand.report.sections.bias import TITLES
from evenhand.report.sections.stereotypes_examples import pair_differences
from evenhand.report.sections.stereotypes_words import (
    exclusion_words,
    gate_words,
    method_title,
    preference,
)
from evenhand.report.sentences import aligned
from evenhand.stereotypes.pairs import FLAGS

#: Decimals of a number: of SlguSet's bias, and of a difference between two sentences.
BIAS_DIGITS, DIFFERENCE_DIGITS = 3, 4

#: A bar ends where this share of the numbers of a method lies; beyond it, it is full.
REACH = 0.99

#: The bias beyond which a sentence is obviously biased, where no table has it.
THRESHOLD = 0.3

DATASET = "sentence_id sentence pair surface surface_opposite keyword opposite gender start end"
DATASET += " surface_start surface_end source source_position"

#: Why a sentence of SlguSet has no number, beside the reasons of other scores.
EXCLUDED = {
    "keyword_vanishes": "the tokenizer leaves nothing of the word",
    "context_differs": "the two words make the tokenizer cut the rest differently",
    "keyword_unknown": "the tokenizer does not know one of the two words",
    "keyword_first": "the word is first, where the model gives no probability",
}

#: Why a row has no number where the scores do not have the row, or the number.
NOT_SCORED, NO_NUMBER = "it was not scored", "the method has no number for it"


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

    def of(paths: list[Path] | None, name: str) -> dict[str, Path]:
        return {path.stem: path for path in paths or () if path.parents[1].name == name}

    described, notes, files = [], {}, {}
    of_source = {path.name: path for path in summaries or ()}
    for data in datasets or ():
        key = data.parent.name
        one, notes[key] = describe_sentences(
            key, TITLES[key], data, of_source.get(key), of(bias_scores, key)
        )
        described.append((one, f"{key}/slguset.parquet", f"{key}/bias"))
    tables = {path.parent.name: path for path in pairs or ()}
    for document in sets or ():
        if (name := document.parent.name) in tables:
            one, words = describe_pairs(document, tables[name], of(scores, name), of(gates, name))
            key, notes[one["key"]] = one["key"], words
            described.append((one, f"{key}/pairs.parquet", f"{key}/scores"))
    for one, data, folder in described:
        models = dict.fromkeys(model["asks"]["model"] for model in one["models"])
        files[one["title"]] = [data, *(f"{folder}/{model}.parquet" for model in models)]
    return write_explorer(
        "sentences", [one for one, *_ in described], files, notes,
        out=out, tables_out=tables_out, templates=templates, pages=pages,
    )  # fmt: skip


def describe_sentences(
    key: str, title: str, dataset: Path, summary: Path | None, scores: dict[str, Path]
) -> tuple[Document, list[str]]:
    """Return the sentences of a source of SlguSet as a set, and notes on untrusted models."""
    rows = read_columns(dataset, DATASET.split()).to_pylist()
    known = read_table(summary / "models.csv") if summary else []
    threshold = next((row["threshold"] for row in known if row["threshold"]), THRESHOLD)
    base = next((f", base {row['log_base']:g}" for row in known if row["log_base"]), "")
    sides = ("expects the male word", "expects the female word")
    models = []
    for model in (row["model"] for row in known if row["trusted"] and row["model"] in scores):
        found = _bias_rows(scores[model], [row["sentence_id"] for row in rows])
        reasons = [one.get("excluded") for one in found]
        models.append(_model(
            model, {"model": model}, np.array([one.get("bias") for one in found], dtype=float),
            [EXCLUDED.get(r) or exclusion_words(r) if r else NOT_SCORED for r in reasons],
            [bool(one.get("has_unk")) for one in found], BIAS_DIGITS, threshold, sides,
        ))  # fmt: skip
    other = {"male": "keyword female", "female": "keyword male"}
    line: dict[str, Any] = {"place": "line"}
    language = "zh-Hans" if any(_is_chinese(row["sentence"]) for row in rows[:100]) else ""
    document = form("sentences") | {
        "key": key,
        "title": title,
        "meaning": f"Bias: log p(male word) − log p(female word){base}; above zero the model"
        " expects the male word.",
        "id": [row["sentence_id"] for row in rows],
        "language": language,
        "text": [_text(row) for row in rows],
        "mark": coded([f"keyword {r['gender']}", other.get(r["gender"], "keyword")] for r in rows),
        "columns": [
            column("Pair", "Pair", map(_surface_pair, rows), filter=True, lang=language, **line),
            column("Masked pair", "Masked pair", map(_masked_pair, rows), lang=language, **line),
            column("Keyword", "Keyword", (row["gender"] for row in rows), filter=True, **line),
            column("Source", "Source", (row["source"] for row in rows), **line),
            column("line", "Line", (row["source_position"] for row in rows), **line),
        ],
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
    about = read_json(document)
    rows = read_columns(pairs).to_pylist()
    checked = {model: read_json(gates[model]) if model in gates else {} for model in sorted(scores)}
    trusted = [model for model, gate in checked.items() if gate.get("trusted")]
    names = [about.get(f"{side}_means") for side in ("more", "less")]
    more, less = map(preference, names)
    sides = (f"prefers {more}", f"prefers {less}")
    models = []
    for model in trusted:
        numbers, excluded, unknown = pair_differences(scores[model], rows)
        why = [exclusion_words(reason) if reason else NO_NUMBER for reason in excluded]
        models += [
            _model(f"{model}, {method_title(method)}", {"model": model, "method": method},
                   values, why, unknown, DIFFERENCE_DIGITS, 0.0, sides)
            for method, values in numbers.items()
        ]  # fmt: skip
    facts = {
        "Kind": [row["bias_type"] for row in rows],
        "Direction": [row["direction"] for row in rows],
        "Context": [row["context"] for row in rows],
        "Words": [row["cluster"] for row in rows],
        "Unrelated": [row["unrelated"] for row in rows],
        "Not scored": [row["excluded"] and exclusion_words(row["excluded"]) for row in rows],
        "Doubts": [[FLAGS.get(one, one) for one in row["flags"] or ()] for row in rows],
        "record": [row["source_position"] for row in rows],
    }
    titles = {"Doubts": "Data-quality flags", "record": "Record"}
    filters = ("Kind", "Direction", "Not scored", "Doubts")
    columns = [
        column(name, titles.get(name, name), values, filter=name in filters, place="line")
        for name, values in facts.items()
    ]
    first, second = names[0] or "first sentence", names[1] or "second sentence"
    made = form("pairs") | {
        "key": f"stereotypes/{about['name']}",
        "title": visible(about.get("title") or about["name"]),
        "heading": visible(first[:1].upper() + first[1:]),
        "other": visible(second[:1].upper() + second[1:]),
        "meaning": visible(
            f"Difference: score of {more} − score of {less}; above zero the model prefers the"
            " former. Numbers of different methods do not compare."
        ),
        "id": [visible(row["pair_id"]) for row in rows],
        "language": "zh-Hans" if any(_is_chinese(row["more"]) for row in rows[:100]) else "",
        "text": [
            [list(map(visible, pair)) if i % 2 else visible(pair[0]) for i, pair in enumerate(cut)]
            for cut in (aligned(row["more"] or "", row["less"] or "") for row in rows)
        ],
        "mark": coded([["more", "less"]] * len(rows)),
        "columns": [one for one in columns if any(one["values"])],
        "measures": [_measure("Difference", DIFFERENCE_DIGITS, "more", "less")],
        "models": models,
    }
    untrusted = {name: one.get("reason") for name, one in checked.items() if name not in trusted}
    return _with_numbers(made, sides), _untrusted(untrusted)


def _measure(title: str, digits: int, *bar: str) -> dict[str, Any]:
    return {"name": "value", "title": title, "digits": digits, "sign": True, "bar": bar}


def _untrusted(reasons: dict[str, str | None]) -> list[str]:
    why = {model: " ".join(gate_words(reason)) for model, reason in reasons.items()}
    return [f"The model {one} has no number: {why[one] or 'it was not checked.'}" for one in why]


def _with_numbers(document: Document, sides: tuple[str, str]) -> Document:
    """Return a set whose models have one signed number, with their orders and scales of bars."""
    sizes: dict[str | None, list[float]] = {}
    for one in document["models"]:
        found = sizes.setdefault(one["group"], [])
        found += [abs(value) for value in one["measures"][0] if value is not None]
    for one in document["models"]:
        found = sorted(sizes[one["group"]])
        one["reach"] = found[min(int(len(found) * REACH), len(found) - 1)] or 1 if found else 1
    orders = [
        ("size-desc", "Furthest from zero first"),
        ("value-desc", visible(f"Most strongly {sides[0]} first")),
        ("value-asc", visible(f"Most strongly {sides[1]} first")),
        ("text-asc", "As in the data set"),
    ]
    return document | {"orders": orders}


def _model(
    name: str, asks: dict[str, str], values: np.ndarray, why: list[str],
    unknown: Sequence[bool], digits: int, threshold: float, sides: tuple[str, str],
) -> dict[str, Any]:  # fmt: skip
    """Return a model with a number for each item; models of one method compare.

    Its filter selects numbers by sign, and by whether they exceed the threshold.
    """
    known = np.isfinite(values)
    beyond = f" (exceeds {threshold:g})" if threshold else ""
    directions = {
        "plus": (sides[0] + beyond, values > threshold),
        "minus": (sides[1] + beyond, values < -threshold),
        "between": ("between" if threshold else "no difference", np.abs(values) <= threshold),
        "above": (f"{sides[0]} at all", values > 0),
        "below": (f"{sides[1]} at all", values < 0),
        "scored": ("has a number", known),
        "none": ("no number", ~known),
        "unknown": ("contains unknown tokens", np.array(unknown, dtype=bool)),
    }
    options = [(one, words) for one, (words, _) in directions.items()
               if threshold or one not in ("above", "below")]  # fmt: skip
    masks = np.stack([mask for _, mask in directions.values()], axis=1).tolist()
    tags = ([one for one, on in zip(directions, row, strict=True) if on] for row in masks)
    reasons = (None if on else reason for on, reason in zip(known, why, strict=True))
    return {
        "name": visible(name),
        "asks": {key: visible(value) for key, value in asks.items()},
        "group": asks.get("method"),
        "row": None,
        "measures": [rounded(values, digits, (-threshold, 0.0, threshold))],
        "columns": [
            column("lean", "Bias direction", tags, filter=True, options=options,
                   badges={"unknown": "warning"}),
            column("why", "No number", reasons, badges=True),
        ],
    }  # fmt: skip


def _bias_rows(path: Path, ids: list[str]) -> list[dict[str, Any]]:
    """Return a model's scores of the sentences with these ids; nothing for one without a score."""
    names = {"sentence_id", "bias", "has_unk", "excluded"} & set(pq.read_schema(path).names)
    scored = {one["sentence_id"]: one for one in read_columns(path, sorted(names)).to_pylist()}
    return [scored.get(one, {}) for one in ids]


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


def _surface_pair(row: dict[str, Any]) -> str:
    words = [row["surface"], row["surface_opposite"]]
    return "/".join(words if row["gender"] == "male" else words[::-1])


def _masked_pair(row: dict[str, Any]) -> str | None:
    """Return the masked words of a pair where they are parts of the words (男/女 of 男人/女人)."""
    return row["pair"] if row["pair"] != _surface_pair(row) else None


def _is_chinese(text: str | None) -> bool:
    return any("\u3400" <= character <= "\u9fff" for character in text or "")


if __name__ == "__main__":
    stage.run(explore_sentences)
