"""Section: the bias of each model per sentence and pair, and the topics of biased sentences."""

from collections import defaultdict
from itertools import zip_longest
from pathlib import Path
from typing import Any

from evenhand.core.rows import grouped, where
from evenhand.core.tables import read_tables
from evenhand.report.headline import plain
from evenhand.report.render import decimal, signed
from evenhand.report.sentences import marked
from evenhand.report.words import codes, gate_meaning
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.scores import NO_VALUE
from evenhand.text.catalogue import conclusion

Rows = list[dict[str, Any]]

#: The titles of the data sets, by the names of their folders.
TITLES = {"slguset": "This run’s data set", "slguset_published": "The published file"}

#: Most male and most female sentences shown per model.
EXTREMES = 5

#: A significant mean bias in words.
VERDICTS = {"male": "leans male", "female": "leans female"}

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
    trusted_rows = defaultdict(list)
    for name, rows in tables.items():
        trusted_rows[name] = [row for row in rows if row.get("model") in trusted]
    pairs = where(trusted_rows["pairs"], group="surface_pair", gender=ALL, direction=ALL)
    whole = where(trusted_rows["pairs"], group=ALL, direction=ALL)
    threshold = models[0]["threshold"] if models else None
    genders = grouped((row for row in whole if row["gender"] != ALL), "model")
    compounds = where(trusted_rows["pairs"], group="compound")
    return {
        "id": folder.name,
        "edition": TITLES.get(folder.name, folder.name),
        "threshold": threshold,
        "log_base": models[0]["log_base"] if models else None,
        "models": [_model(row) for row in models],
        "trusted": trusted,
        "pairs": {
            pair: {row["model"]: row for row in rows}
            for pair, rows in grouped(pairs, "surface_pair").items()
        },
        "genders": {model: {row["gender"]: row for row in rows} for model, rows in genders.items()},
        "details": {
            model: {pair: _directions(of) for pair, of in grouped(rows, "surface_pair").items()}
            for model, rows in grouped(trusted_rows["pairs"], "model").items()
        },
        "compounds": [
            {
                "words": words,
                "sentences": max(row["n"] for row in rows),
                "models": {name: _directions(of) for name, of in grouped(rows, "model").items()},
            }
            for words, rows in grouped(compounds, "surface_pair").items()
        ],
        "variants": _variants(trusted_rows["variants"], trusted),
        "correlations": _correlations(tables["correlations"], trusted),
        "has_published": any(row["published_within"] is not None for row in models),
        "distribution": _distribution(trusted_rows["distribution"], models, threshold),
        "extremes": _extremes(trusted_rows["sentences"], trusted),
        "words": _words(trusted_rows["words"], trusted),
        "methods": _methods(trusted_rows["methods"]),
    }


#: The columns that a figure of means has to hold.
ENDS = ("mean_bias", "mean_bias_low", "mean_bias_high")

#: The tables' value for all genders, directions and words.
ALL = "all"


def _model(row: dict[str, Any]) -> dict[str, Any]:
    words = VERDICTS.get(row["verdict"]) or conclusion(
        row["verdict"],
        difference="lean",
        delta=f"{row['threshold']:g}",
        power=row["power"],
        further=row["further_pairs"],
        clusters="pairs of words",
    )
    why = [gate_meaning(word) for word in codes(row["reason"])]
    return row | {"verdict": words, "why": why}


def _directions(rows: Rows) -> dict[tuple[str, str], dict[str, Any]]:
    """Return rows by the gender of the sentences' word and by the direction of the bias."""
    return {(row["gender"], row["direction"]): row for row in rows}


def _variants(rows: Rows, models: list[str]) -> list[dict[str, Any]]:
    """Return the rows of models with several ways to score words of several tokens."""
    entries = []
    for model in models:
        of_all, several = (
            {row["variant"]: row for row in where(rows, model=model, words=words)}
            for words in (ALL, "several_tokens")
        )
        if len(several) > 1 and any(row["n"] for row in several.values()):
            entries += [
                {"model": model, "name": name, "all": of_all[name], "several": row}
                for name, row in several.items()
            ]
    return entries


def _correlations(rows: Rows, models: list[str]) -> dict[str, Any] | None:
    """Return the rows and a heat map of each coefficient; None if there is nothing to compare."""
    from evenhand.report.figures import heat_map  # cards of models, which import this, draw nothing

    rows = [row for row in rows if {row["model_a"], row["model_b"]} <= {*models}]
    if not rows:
        return None
    maps = []
    for kind, name in (("pearson", "Pearson’s r"), ("spearman", "Spearman’s ρ")):
        by_models = {(row["model_a"], row["model_b"]): row[kind] for row in rows}
        cells = [
            {
                "row": i,
                "column": j + 1,
                "value": (value := by_models.get((a, b), by_models.get((b, a)))),
                "text": decimal(value, 2),
                "words": f"{a} and {b}: {signed(value, 3)}",
            }
            for i, a in enumerate(models)
            for j, b in enumerate(models)
            if i != j
        ]
        names = [f"{i} {model}" for i, model in enumerate(models, 1)]
        label = plain("figure_correlation", name=name, models=len(models))
        maps.append({"name": name, "figure": heat_map(names, cells, label)})
    return {"rows": rows, "maps": maps}


def _distribution(rows: Rows, models: Rows, threshold: float | None) -> dict[str, Any] | None:
    """Return the histograms of all trusted models in one figure, on one scale; None without any."""
    from evenhand.report.figures import histograms

    bins = grouped(rows, "model")
    if not bins:
        return None
    edges = _closed([row["high"] for row in next(iter(bins.values()))[:-1]])
    return {
        "without": {
            row["model"]: row["sentences"] - row["scored"]
            for row in where(models, trusted=True)
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


def _extremes(rows: Rows, models: list[str]) -> dict[str, dict[str, Rows]]:
    """Return, per model, the first sentences of each direction, with their marks."""
    extremes = [row | {"pieces": marked(row)} for row in rows if row["rank"] <= EXTREMES]
    by_model = grouped(extremes, "model")
    return {
        model: {side: where(by_model[model], direction=side) for side in ("male", "female")}
        for model in models
        if model in by_model
    }


def _words(rows: Rows, models: list[str]) -> list[dict[str, Any]]:
    """Return, per model, the lists side by side; `unique`: the other direction lacks the word."""
    entries = []
    for model, model_rows in grouped(rows, "model").items():
        lists = {key: where(model_rows, direction=key[0], method=key[1]) for key in LISTS}
        for direction, method in LISTS:
            opposite = lists["female" if direction == "male" else "male", method]
            shared = {row["word"] for row in opposite}
            for row in lists[direction, method]:
                row["unique"] = row["word"] not in shared
        sentences = dict.fromkeys(("male", "female"), 0)
        sentences |= {row["direction"]: row["sentences"] for row in model_rows}
        lines = list(zip_longest(*lists.values()))
        entries.append({"model": model, "sentences": sentences, "rows": lines})
    return sorted(entries, key=lambda entry: models.index(entry["model"]))


def _methods(rows: Rows) -> list[dict[str, Any]]:
    """Return the rows with each method's title, or with the reason why the model has none."""
    for row in rows:
        row["title"] = METHODS[row["method"]].title if row["method"] in METHODS else row["method"]
        row["why"] = [NO_VALUE.get(word) or gate_meaning(word) for word in codes(row["reason"])]
    return rows
