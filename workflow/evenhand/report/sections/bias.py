"""Section: how far each model leans, per sentence, pair and model, and what about."""

from pathlib import Path
from typing import Any

from evenhand.report.cells import Axis, estimate, ruler, ticks_between
from evenhand.report.read import boolean, read_csv
from evenhand.report.render import decimal, signed
from evenhand.report.sentences import marked
from evenhand.report.words import gate_meaning
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.scores import NO_VALUE

SUMMARY = {
    "model": str,
    "family": str,
    "sentences": int,
    "scored": int,
    "with_unknown_tokens": int,
    "mean_bias": float,
    "mean_bias_low": float,
    "mean_bias_high": float,
    "verdict": str,
    "male_degree": float,
    "female_degree": float,
    "mean_degree": float,
    "within_threshold": int,
    "above_threshold": int,
    "below_threshold": int,
    "published_within": int,
    "published_above": int,
    "published_below": int,
    "log_base": float,
    "threshold": float,
    "check_accuracy": float,
    "check_baseline": float,
    "trusted": boolean,
    "reason": str,
}
BY_PAIR = {
    "model": str,
    "group": str,
    "surface_pair": str,
    "gender": str,
    "direction": str,
    "n": int,
    "share": float,
    "mean_bias": float,
    "mean_bias_low": float,
    "mean_bias_high": float,
    "share_above": float,
    "share_below": float,
}
VARIANTS = {
    "model": str,
    "variant": str,
    "words": str,
    "n": int,
    "mean_bias": float,
    "mean_bias_low": float,
    "mean_bias_high": float,
    "male_degree": float,
    "female_degree": float,
    "mean_degree": float,
    "sign_changed": int,
}
CORRELATIONS = {
    "model_a": str,
    "model_b": str,
    "n": int,
    "pearson": float,
    "spearman": float,
}
SENTENCES = {
    "model": str,
    "direction": str,
    "rank": int,
    "sentence_id": str,
    "bias": float,
    "sentence": str,
    "surface": str,
    "surface_opposite": str,
    "gender": str,
    "start": int,
    "end": int,
    "surface_start": int,
    "surface_end": int,
    "source": str,
    "source_position": int,
}
WORDS = {
    "model": str,
    "direction": str,
    "sentences": int,
    "method": str,
    "rank": int,
    "word": str,
    "count": int,
    "count_opposite": int,
}
METHOD_CORRELATIONS = {
    "model": str,
    "method": str,
    "n": int,
    "pearson": float,
    "pearson_low": float,
    "pearson_high": float,
    "spearman": float,
    "sign_agreement": float,
    "share_male": float,
    "share_male_bias": float,
    "reason": str,
}
DISTRIBUTION = {"model": str, "low": float, "high": float, "sentences": int}

#: Most male and most female sentences shown per model.
EXTREMES = 5

#: What the mean of a model's bias says.
VERDICTS = {
    "male": "leans male",
    "female": "leans female",
    "not_distinguishable": "no clear lean",
}

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


def describe_bias(
    identity: str,
    edition: str,
    summary: Path | None,
    by_pair: Path | None = None,
    correlations: Path | None = None,
    *,
    variants: Path | None = None,
    sentences: Path | None = None,
    words: Path | None = None,
    methods: Path | None = None,
    distribution: Path | None = None,
) -> dict[str, Any] | None:
    """One edition's bias; None without a summary.

    Parameters
    ----------
    identity : str
        ``slguset`` or ``slguset_published``: how its result tables begin.
    edition : str
        What the data set is called on the page.
    summary, by_pair, correlations, variants : Path, optional
        The tables of `evenhand.slguset.tabulate_bias`.
    sentences : Path, optional
        The table of `evenhand.slguset.tables.sentences`.
    words : Path, optional
        The table of `evenhand.slguset.tables.words`.
    methods : Path, optional
        The table of `evenhand.slguset.correlate_methods`.
    distribution : Path, optional
        The table of `evenhand.slguset.tables.distribution`.
    """
    if summary is None:
        return None
    models = read_csv(summary, SUMMARY)
    trusted = [row["model"] for row in models if row["trusted"]]
    groups = [
        row for row in (read_csv(by_pair, BY_PAIR) if by_pair else []) if row["model"] in trusted
    ]
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
        "id": identity,
        "edition": edition,
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
        "variants": _variants(variants, trusted),
        "correlations": _correlations(correlations, trusted),
        "has_published": any(row["published_within"] is not None for row in models),
        "distribution": _distribution(distribution, models, threshold),
        "extremes": _extremes(sentences, trusted),
        "words": _words(words, trusted),
        "methods": _methods(methods, trusted),
    }


#: The columns that a figure of means has to hold.
ENDS = ("mean_bias", "mean_bias_low", "mean_bias_high")

#: What the tables call all genders, directions, and words.
ALL = "all"


def _of_models(
    path: Path | None, columns: dict[str, Any], models: list[str]
) -> list[dict[str, Any]]:
    """The table's rows of these models."""
    return [row for row in (read_csv(path, columns) if path else []) if row["model"] in models]


def _model(row: dict[str, Any], ends: list[float]) -> dict[str, Any]:
    return row | {
        "plot": _plot(row, ends) if row["trusted"] else None,
        "verdict": VERDICTS.get(row["verdict"]),
        "why": [gate_meaning(word) for word in (row["reason"] or "").split(", ") if word],
    }


def _by_pair(pairs: list[dict[str, Any]], ends: list[float]) -> list[dict[str, Any]]:
    """One entry per surface pair, in the table's order, with one row per model."""
    entries: dict[str, dict[str, Any]] = {}
    for row in pairs:
        entry = entries.setdefault(row["surface_pair"], {"pair": row["surface_pair"], "models": {}})
        entry["models"][row["model"]] = row | {"plot": _plot(row, ends)}
    return list(entries.values())


def _by_gender(rows: list[dict[str, Any]], ends: list[float]) -> list[dict[str, Any]]:
    """One entry per model, with the sentences that had a male and a female word."""
    entries: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["gender"] != ALL:
            entry = entries.setdefault(row["model"], {"model": row["model"]})
            entry[row["gender"]] = row | {"plot": _plot(row, ends)}
    return list(entries.values())


def _details(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per model one entry per group of sentences, with all genders and directions."""
    models: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        groups = models.setdefault(row["model"], {})
        entry = groups.setdefault(row["surface_pair"], {"pair": row["surface_pair"]})
        entry[row["gender"], row["direction"]] = row
    return [{"model": model, "groups": list(groups.values())} for model, groups in models.items()]


def _compounds(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per compound one entry per model."""
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


def _variants(path: Path | None, models: list[str]) -> list[dict[str, Any]]:
    """Rows of the models that read a word in several ways, and have words of several tokens."""
    rows = _of_models(path, VARIANTS, models)
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
    """From as far below zero as above it, so that neither direction looks larger."""
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


def _correlations(path: Path | None, models: list[str]) -> dict[str, Any] | None:
    """The rows, and a heat map of each kind; None if there is nothing to compare."""
    from evenhand.report.figures import heat_map  # cards of models, which import this, draw nothing

    rows = [
        row
        for row in (read_csv(path, CORRELATIONS) if path else [])
        if row["model_a"] in models and row["model_b"] in models
    ]
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


def _distribution(
    path: Path | None, models: list[dict[str, Any]], threshold: float | None
) -> dict[str, Any] | None:
    """All trusted models' histograms in one figure, on one scale; None if there is none."""
    from evenhand.report.figures import histograms

    trusted = [row for row in models if row["trusted"]]
    bins: dict[str, list[dict[str, Any]]] = {}
    for row in _of_models(path, DISTRIBUTION, [row["model"] for row in trusted]):
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
    """Edges with an end for the open bins, which are drawn as wide as those beside them."""
    return [2 * inner[0] - inner[1], *inner, 2 * inner[-1] - inner[-2]]


def _extremes(path: Path | None, models: list[str]) -> list[dict[str, Any]]:
    """The first sentences of each direction, with their marks."""
    rows = _of_models(path, SENTENCES, models)
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


def _words(path: Path | None, models: list[str]) -> list[dict[str, Any]]:
    """Per model the lists side by side; a word is `own` if the other direction's lacks it."""
    rows = _of_models(path, WORDS, models)
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


def _methods(path: Path | None, models: list[str]) -> list[dict[str, Any]]:
    """The rows with each method's title, or with why the model has none."""
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
        for row in _of_models(path, METHOD_CORRELATIONS, models)
    ]
