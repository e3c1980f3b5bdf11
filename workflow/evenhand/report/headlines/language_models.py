"""The headline of the language models: whether any prefers a side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from altair import LayerChart
from markupsafe import Markup

from evenhand.core.tables import read_table
from evenhand.report.figures import axis, forest
from evenhand.report.headline import (
    Headline,
    Verdicts,
    by_kind,
    listed,
    name,
    place,
    places,
    sentence,
    strength,
    tally,
    with_sources,
)
from evenhand.report.read import read_json
from evenhand.report.render import count, decimal, plural
from evenhand.report.sections.stereotypes_scores import CENTRE, describe_scores
from evenhand.report.sections.stereotypes_words import (
    ASIDE,
    gate_words,
    interval_words,
    preference,
)

FILES = {
    "sets": "stereotypes/*/pairs.json",
    "gates": "stereotypes/*/gates/*.json",
    "released": "tables/released",
    "scores": "tables/pairs/*",
}

#: A model with fewer parameters is none that people use.
SMALL = 10_000_000

#: A set with a smaller effective number of swaps has little power.
FEW_CLUSTERS = 20

#: Rows of the figure.
SHOWN = 6


def describe(files: list[Path], titles: Mapping[str, str]) -> Headline:
    """Return the headline of the language models.

    Parameters
    ----------
    files : list of Path
        Any of `FILES`, by their places below the results.
    titles : mapping
        Not used: a set's title is in its ``pairs.json``.

    Raises
    ------
    InputError
        A file is none of these, or not well formed.
    """
    found = by_kind(files, FILES)
    sets = {document["name"]: document for document in map(read_json, found["sets"])}
    gates = {(path.parents[1].name, path.stem): read_json(path) for path in found["gates"]}
    results = []
    for path in found["scores"]:
        one = path.name
        results += _results(one, path, sets.get(one, {}), gates)
    scores = [f"{folder}/bias_scores.csv" for folder in places(found, FILES, "scores")]
    return replace(
        conclude(results, scores),
        verdicts=[
            Verdicts(
                "StereoSet’s LMS, SS and ICAT of released systems, a row per system and part",
                tally(row["verdict"] for row in read_table(path / "stereoset.csv")),
                "Computed from the authors’ own sentence scores: a check of our arithmetic.",
                [f"{place(path, FILES['released'])}/stereoset.csv"],
            )
            for path in found["released"]
        ],
        doubts=_doubts(sets, gates, results),
        unjudged="The numbers in the tables of AUL’s paper were not at hand, so none of them is"
        " judged.",
    )


def _results(
    one: str, path: Path, about: dict[str, Any], gates: dict[tuple[str, str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return each model's conclusion on a set, and its rows for the figure."""
    rows = read_table(path / "bias_scores.csv")
    untrusted = {
        row["model"]: gate_words(row["reason"]) or ["It did not pass its check."]
        for row in rows
        if not row["trusted"]
    }
    for (of, model), gate in gates.items():
        if of == one and not gate.get("trusted"):
            untrusted[model] = gate_words(gate.get("reason")) or ["It did not pass its check."]
    sides = preference(about.get("more_means")), preference(about.get("less_means"))
    file = f"{place(path, FILES['scores'])}/bias_scores.csv"
    models = describe_scores(rows, sides, untrusted)["models"]
    return results_of(about.get("title") or one, file, sides, models)


def results_of(
    title: str, file: str, sides: tuple[str, str], models: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return each model's conclusion on a set, from the models of `describe_scores`."""
    return [
        {
            "set": title,
            "file": file,
            "model": model["model"],
            "why": model["why"],
            "significant": model["conclusion"]["significant"],
            "leaning": model["conclusion"]["leaning"],
            "sides": sides,
            "rows": [row for row in model["rows"] if row["method"] not in ASIDE and row["leaning"]],
        }
        for model in models
    ]


def conclude(results: list[dict[str, Any]], files: Sequence[str], shown: int = SHOWN) -> Headline:
    """Return the headline of the results of `results_of`, read from these files."""
    figure, caption = _figure(results, shown)
    text, more = _found(results)
    return Headline(
        sentence=with_sources(text, files),
        more=more,
        main=more[0] if any(one["significant"] for one in results) else "",
        next=_next(results),
        strength=max((_strength(one) for one in results if one["significant"]), default=0.0),
        figure=figure,
        caption=caption,
        figure_files=files,
    )


def _found(results: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """Return the first sentence, and a line per preference; without any, for the nearest to one."""
    judged = [one for one in results if one["why"] is None and one["leaning"]]
    if not judged:
        return "No model has a score, so nothing is known of bias.", []
    significant = sorted(
        (one for one in judged if one["significant"]), key=lambda one: -_strength(one)
    )
    compared = (
        f"{plural(len({one['model'] for one in judged}), 'model')} and"
        f" {plural(len({one['set'] for one in judged}), 'set')} of pairs"
    )
    if not significant:
        nearest = max(judged, key=_strength)
        text = sentence("No significant preference: {} were compared.", compared)
        return text, [_line(nearest)]
    text = sentence(
        "{} of {} of a model and a set {} a significant preference ({}).",
        len(significant),
        plural(len(judged), "combination"),
        "has" if len(significant) == 1 else "have",
        compared,
    )
    return text, [_line(one) for one in significant[:3]]


def _strongest(one: dict[str, Any]) -> dict[str, Any]:
    """Return the significant row furthest from 50, or the first one."""
    significant = [row for row in one["rows"] if row["leaning"] in ("more", "less")]
    return (
        max(significant, key=lambda row: abs(row["score"] - CENTRE))
        if significant
        else one["rows"][0]
    )


def _strength(one: dict[str, Any]) -> float:
    row = _strongest(one)
    return strength(row["score"], CENTRE, row["score_low"], row["score_high"])


def _line(one: dict[str, Any]) -> Markup:
    """Return the result of a model on a set: score, interval and verdict."""
    row = _strongest(one)
    verdict = {
        "more": f"prefers {one['sides'][0]}",
        "less": f"prefers {one['sides'][1]}",
        "none": f"has no preference beyond ±{row['delta']:g} points",
    }.get(row["leaning"], "comes nearest to a preference, which may be chance")
    text = sentence(
        "On {}, {} {}: {}.", name(one["set"]), name(one["model"]), verdict, _number(row)
    )
    return with_sources(text, [one["file"]])


def _next(results: list[dict[str, Any]]) -> str:
    """State how many further swaps the set that needs the fewest of them lacks."""
    lacking = [
        (row["further_clusters"], one["file"], one, row)
        for one in results
        if one["why"] is None
        for row in one["rows"][:1]
        if row["leaning"] == "unclear" and row["further_clusters"]
    ]
    if not lacking:
        return ""
    further, file, one, row = min(lacking, key=lambda some: some[:2])
    text = sentence(
        "{} more swaps in {} would tell {:g} from 50 for {}, with a power of 80 % ({}).",
        count(further),
        name(one["set"]),
        CENTRE + row["delta"],
        name(one["model"]),
        row["about"]["title"],
    )
    return with_sources(text, [file])


def _number(row: dict[str, Any]) -> str:
    text = f"{row['about']['title']} {decimal(row['score'], 1)}"
    if words := interval_words(row["score_low"], row["score_high"]):
        text += f" (95 % interval {words})"
    return text


def _figure(results: list[dict[str, Any]], most: int) -> tuple[LayerChart | None, str]:
    """Draw the first method that counts, of each model and set."""
    order = sorted(results, key=lambda one: not one["significant"])
    drawn = [(one, one["rows"][0]) for one in order if one["why"] is None and one["rows"]]
    if not drawn:
        return None, ""
    shown = drawn[:most]
    ends = [
        abs(row[end] - CENTRE)
        for _, row in shown
        for end in ("score", "score_low", "score_high")
        if row[end] is not None
    ]
    reach = min(max([10.0, *(end * 1.05 for end in ends)]), 50.0)
    figure = forest(
        [
            {
                "name": f"{one['model']}, {one['set']}",
                "value": row["score"],
                "low": row["score_low"],
                "high": row["score_high"],
                "band_low": CENTRE - row["delta"],
                "band_high": CENTRE + row["delta"],
                "text": decimal(row["score"], 1),
                "words": _number(row),
                "kind": "unclear" if row["leaning"] == "none" else row["leaning"],
            }
            for one, row in shown
        ],
        axis("Score; 50 is no preference", (CENTRE - reach, CENTRE + reach)),
        "Score of each model on each set, with its interval",
        centre=CENTRE,
    )
    methods = listed(list(dict.fromkeys(row["about"]["title"] for _, row in shown)))
    rest = f" The first {most} of {len(drawn)}." if len(drawn) > most else ""
    return figure, sentence(
        "{}: lines are 95 % intervals over swapped words, bands preferences that do not matter; a"
        " hollow dot is not significant.{}",
        methods,
        rest,
    )


def _doubts(
    sets: dict[str, dict[str, Any]],
    gates: dict[tuple[str, str], dict[str, Any]],
    results: list[dict[str, Any]],
) -> list[str]:
    doubts: list[str] = []
    why: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in results:
        if one["why"]:
            why.setdefault((one["model"], " ".join(one["why"])), []).append(one)
    for (model, reason), on in why.items():
        names = listed([name(one["set"]) for one in on])
        text = sentence("{} gets no number on {}. {}", name(model), names, reason)
        doubts.append(with_sources(text, [one["file"] for one in on]))
    sizes = {
        model: gate["parameters"] for (_, model), gate in gates.items() if gate.get("parameters")
    }
    if small := sorted(model for model, n in sizes.items() if n < SMALL):
        most = max(sizes[model] for model in small)
        text = sentence(
            "{} {} at most {} million parameters: nothing follows for models that people use.",
            listed([name(model) for model in small]),
            "has" if len(small) == 1 else "have",
            decimal(most / 1e6, 1),
        )
        files = [FILES["gates"].replace("*", "{}").format(*key) for key in gates if key[1] in small]
        doubts.append(with_sources(text, files))
    few = {
        key: document
        for key, document in sets.items()
        if document.get("effective_clusters", FEW_CLUSTERS) < FEW_CLUSTERS
    }
    if few:
        sizes_of = [
            sentence(
                "{} {}",
                name(one.get("title") or one["name"]),
                decimal(one["effective_clusters"], 1),
            )
            for one in few.values()
        ]
        text = sentence(
            "Few different words are swapped, and the intervals allow for it; effective numbers of"
            " swaps: {}.",
            listed(sizes_of),
        )
        doubts.append(with_sources(text, [FILES["sets"].replace("*", key) for key in few]))
    if any(one["significant"] for one in results) and len(results) > 1:
        text = "The verdicts are not adjusted for the number of models, sets and methods."
        doubts.append(with_sources(text, [one["file"] for one in results]))
    return doubts
