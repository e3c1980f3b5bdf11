"""Section: the bias of each model per sentence and pair, and the topics of biased sentences."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from evenhand.core.tables import read_tables
from evenhand.report.cells import Axis, estimate, ruler, ticks_between
from evenhand.report.render import decimal, signed
from evenhand.report.sentences import marked
from evenhand.report.words import gate_meaning
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.scores import NO_VALUE
from evenhand.text.phrases import conclusion

Rows = list[dict[str, Any]]

#: The titles of the data sets, by the names of their folders.
TITLES = {"slguset": "This run’s data set", "slguset_published": "The published file"}

#: Most male and most female sentences shown per model.
EXTREMES = 5

#: A significant mean bias in words.
VERDICTS = {"male": "leans male", "female": "leans female"}

#: Ways to read a word of several tokens.
READINGS = {
    "whole_word": "Whole word, both orders",
    "left_to_right": "Whole word, left to right",
    "right_to_left": "Whole word, right to left",
    "one_character": "Each character by itself",
    "single_mask": "One mask, first character",
}

#: The columns of the lists of subject words: direction and method.
LISTS = [
    (direction, method) for direction in ("male", "female") for method in ("tf_idf", "textrank")
]


def describe_bias(folder: Path) -> dict[str, Any]:
    """Return the bias of the models on one data set.

    Parameters
    ----------
    folder : Path
        The tables of `evenhand.slguset.tabulate_bias`, named after the data set.
    """
    tables = defaultdict(list, read_tables(folder))
    models = tables["models"]
    trusted = [row["model"] for row in models if row["trusted"]]
    own = {
        name: [row for row in rows if row.get("model") in trusted] for name, rows in tables.items()
    }
    own = defaultdict(list, own)
    groups = own["pairs"]
    pairs = [
        row
        for row in groups
        if row["group"] == "surface_pair" and row["gender"] == row["direction"] == ALL
    ]
    whole = [row for row in groups if row["group"] == row["direction"] == ALL]
    means = [row for row in models if row["trusted"]] + pairs + whole
    ends = [row[end] for row in means for end in ENDS if row[end] is not None]
    threshold = models[0]["threshold"] if models else None
    return {
        "id": folder.name,
        "edition": TITLES.get(folder.name, folder.name),
        "threshold": threshold,
        "log_base": models[0]["log_base"] if models else None,
        "models": [_model(row, ends) for row in models],
        "trusted": trusted,
        "ruler": _ruler(ends),
        "pairs": _by_pair(pairs, ends),
        "pair_names": {row["surface_pair"] for row in pairs},
        "genders": _by_gender(whole, ends),
        "details": _details(groups),
        "compounds": _compounds(groups),
        "variants": _variants(own["variants"], trusted),
        "correlations": _correlations(tables["correlations"], trusted),
        "has_published": any(row["published_within"] is not None for row in models),
        "distribution": _distribution(own["distribution"], models, threshold),
        "extremes": _extremes(own["sentences"], trusted),
        "words": _words(own["words"], trusted),
        "methods": _methods(own["methods"]),
    }


#: The columns that a figure of means has to hold.
ENDS = ("mean_bias", "mean_bias_low", "mean_bias_high")

#: The tables' value for all genders, directions and words.
ALL = "all"


def _model(row: dict[str, Any], ends: list[float]) -> dict[str, Any]:
    return row | {
        "plot": _plot(row, ends) if row["trusted"] else None,
        "verdict": VERDICTS.get(row["verdict"])
        or conclusion(
            row["verdict"],
            difference="lean",
            delta=f"{row['threshold']:g}",
            power=row["power"],
            further=row["further_pairs"],
            clusters="pairs of words",
        ),
        "why": [gate_meaning(word) for word in (row["reason"] or "").split(", ") if word],
    }


def _by_pair(pairs: list[dict[str, Any]], ends: list[float]) -> list[dict[str, Any]]:
    """Return one entry per surface pair, in the table's order, with one row per model."""
    entries: dict[str, dict[str, Any]] = {}
    for row in pairs:
        entry = entries.setdefault(row["surface_pair"], {"pair": row["surface_pair"], "models": {}})
        entry["models"][row["model"]] = row | {"plot": _plot(row, ends)}
    return list(entries.values())


def _by_gender(rows: list[dict[str, Any]], ends: list[float]) -> list[dict[str, Any]]:
    """Return one entry per model, with its row for each gender of the sentences' word."""
    entries: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["gender"] != ALL:
            entry = entries.setdefault(row["model"], {"model": row["model"]})
            entry[row["gender"]] = row | {"plot": _plot(row, ends)}
    return list(entries.values())


def _details(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, per model, one entry per group of sentences, with all genders and directions."""
    models: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        groups = models.setdefault(row["model"], {})
        entry = groups.setdefault(row["surface_pair"], {"pair": row["surface_pair"]})
        entry[row["gender"], row["direction"]] = row
    return [{"model": model, "groups": list(groups.values())} for model, groups in models.items()]


def _compounds(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, per compound, one entry per model."""
    compounds: dict[str, dict[str, dict[Any, Any]]] = {}
    for row in rows:
        if row["group"] == "compound":
            models = compounds.setdefault(row["surface_pair"], {})
            entry = models.setdefault(row["model"], {"model": row["model"]})
            entry[row["gender"], row["direction"]] = row
    return [
        {
            "words": words,
            "sentences": max(entry[ALL, ALL]["n"] for entry in models.values()),
            "models": list(models.values()),
        }
        for words, models in compounds.items()
    ]


def _variants(rows: Rows, models: list[str]) -> list[dict[str, Any]]:
    """Return the rows of models with several ways to score words of several tokens."""
    entries: list[dict[str, Any]] = []
    for model in models:
        of_words = {
            words: {r["variant"]: r for r in rows if (r["model"], r["words"]) == (model, words)}
            for words in (ALL, "several_tokens")
        }
        several = of_words["several_tokens"]
        if len(several) < 2 or not any(row["n"] for row in several.values()):
            continue
        entries += [
            {
                "model": model,
                "name": READINGS.get(variant, variant),
                "all": of_words[ALL][variant],
                "several": row,
            }
            for variant, row in several.items()
        ]
    return entries


def _axis(ends: list[float]) -> Axis:
    """Return an axis that is symmetric about zero, so that neither direction looks larger."""
    reach = max((abs(end) for end in ends), default=0) * 1.05 or 1
    return Axis(-reach, reach)


def _ruler(ends: list[float]) -> Any:
    if not ends:
        return ""
    axis = _axis(ends)
    ticks = ticks_between(axis.low, axis.high, 5)
    return ruler(axis, ticks, "Scale of mean bias", signs=True)


def _plot(row: dict[str, Any], ends: list[float]) -> Any:
    if row["mean_bias"] is None:
        return None
    label = f"mean {signed(row['mean_bias'])}"
    if row["mean_bias_low"] is not None:
        label += f", interval {signed(row['mean_bias_low'])} to {signed(row['mean_bias_high'])}"
    return estimate(
        _axis(ends),
        row["mean_bias"],
        (row["mean_bias_low"], row["mean_bias_high"]),
        label,
        kind="female" if row["mean_bias"] < 0 else "male",
        centre=0,
    )


def _correlations(rows: Rows, models: list[str]) -> dict[str, Any] | None:
    """Return the rows and a heat map of each coefficient; None if there is nothing to compare."""
    from evenhand.report.figures import heat_map  # cards of models, which import this, draw nothing

    rows = [row for row in rows if {row["model_a"], row["model_b"]} <= {*models}]
    if not rows:
        return None
    maps = []
    for kind, name in (("pearson", "Pearson’s r"), ("spearman", "Spearman’s ρ")):
        found = {(row["model_a"], row["model_b"]): row[kind] for row in rows}
        cells = [
            {
                "row": i,
                "column": j + 1,
                "value": (value := found.get((a, b), found.get((b, a)))),
                "text": decimal(value, 2),
                "words": f"{a} and {b}: {signed(value, 3)}",
            }
            for i, a in enumerate(models)
            for j, b in enumerate(models)
            if i != j
        ]
        names = [f"{i} {model}" for i, model in enumerate(models, 1)]
        label = f"{name} between the biases of {len(models)} models"
        maps.append({"name": name, "figure": heat_map(names, cells, label)})
    return {"rows": rows, "maps": maps}


def _distribution(rows: Rows, models: Rows, threshold: float | None) -> dict[str, Any] | None:
    """Return the histograms of all trusted models in one figure, on one scale; None without any."""
    from evenhand.report.figures import histograms

    trusted = [row for row in models if row["trusted"]]
    bins: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        bins.setdefault(row["model"], []).append(row)
    if not bins:
        return None
    edges = _closed([row["high"] for row in next(iter(bins.values()))[:-1]])
    return {
        "without": {
            row["model"]: row["sentences"] - row["scored"]
            for row in trusted
            if row["model"] in bins and row["sentences"] > row["scored"]
        },
        "figure": histograms(
            [(model, [row["sentences"] for row in rows]) for model, rows in bins.items()],
            edges,
            "Bias of each sentence: " + ", ".join(bins),
            title="← female likelier · Bias · male likelier →",
            thing="sentence",
            marks=(-threshold, threshold) if threshold and threshold < edges[-1] else (),
        ),
    }


def _closed(inner: list[float]) -> list[float]:
    """Return the edges with an end for the open bins, drawn as wide as their neighbours."""
    return [2 * inner[0] - inner[1], *inner, 2 * inner[-1] - inner[-2]]


def _extremes(rows: Rows, models: list[str]) -> list[dict[str, Any]]:
    """Return the first sentences of each direction, with their marks."""
    entries: dict[str, dict[str, Any]] = {
        model: {"model": model, "sides": {"male": [], "female": []}}
        for model in models
        if any(row["model"] == model for row in rows)
    }
    for row in rows:
        if row["rank"] <= EXTREMES:
            side = entries[row["model"]]["sides"][row["direction"]]
            side.append(row | {"pieces": marked(row)})
    return list(entries.values())


def _words(rows: Rows, models: list[str]) -> list[dict[str, Any]]:
    """Return, per model, the lists side by side; `own`: only this direction's list has the word."""
    entries = []
    for model in models:
        lists: dict[tuple[str, str], list[dict[str, Any]]] = {key: [] for key in LISTS}
        sentences = dict.fromkeys(("male", "female"), 0)
        for row in rows:
            if row["model"] == model:
                lists[row["direction"], row["method"]].append(row)
                sentences[row["direction"]] = row["sentences"]
        for direction, method in LISTS:
            opposite = lists["female" if direction == "male" else "male", method]
            shared = {row["word"] for row in opposite}
            for row in lists[direction, method]:
                row["own"] = row["word"] not in shared
        longest = max(map(len, lists.values()))
        if longest:
            entries.append(
                {
                    "model": model,
                    "sentences": sentences,
                    "rows": [
                        [lists[key][i] if i < len(lists[key]) else None for key in LISTS]
                        for i in range(longest)
                    ],
                }
            )
    return entries


def _methods(rows: Rows) -> list[dict[str, Any]]:
    """Return the rows with each method's title, or with the reason why the model has none."""
    return [
        row
        | {
            "title": METHODS[row["method"]].title if row["method"] in METHODS else row["method"],
            "why": [
                NO_VALUE.get(word) or gate_meaning(word)
                for word in (row["reason"] or "").split(", ")
                if word
            ],
        }
        for row in rows
    ]
