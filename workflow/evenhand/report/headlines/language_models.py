"""The headline of the language models: whether any prefers a side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from altair import LayerChart

from evenhand.core.rows import grouped
from evenhand.core.tables import read_table
from evenhand.report.cells import reach
from evenhand.report.figures import axis, estimated, forest
from evenhand.report.headline import (
    Headline,
    Verdicts,
    by_kind,
    place,
    places,
    say,
    strength,
    tally,
)
from evenhand.report.read import read_json
from evenhand.report.render import decimal
from evenhand.report.sections.stereotypes_scores import (
    CENTRE,
    ENDS,
    LEAST_REACH,
    MOST_REACH,
    describe_scores,
)
from evenhand.report.sections.stereotypes_words import ASIDE, preference, untrusted_models

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
                say("lm_released"),
                tally(row["verdict"] for row in read_table(path / "stereoset.csv")),
                say("lm_released_note"),
                [f"{place(path, FILES['released'])}/stereoset.csv"],
            )
            for path in found["released"]
        ],
        doubts=_doubts(sets, gates, results),
        unjudged=say("lm_unjudged"),
    )


def _results(
    one: str, path: Path, about: dict[str, Any], gates: dict[tuple[str, str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return each model's conclusion on a set, and its rows for the figure."""
    rows = read_table(path / "bias_scores.csv")
    untrusted = untrusted_models(
        rows, {model: gate for (of, model), gate in gates.items() if of == one}
    )
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
    text, more = _found(results, files)
    return Headline(
        sentence=text,
        more=more,
        main=more[0] if any(one["significant"] for one in results) else "",
        short=_short(results),
        next=_next(results),
        strength=max((_strength(one) for one in results if one["significant"]), default=0.0),
        figure=figure,
        caption=caption,
        figure_files=files,
    )


def _short(results: list[dict[str, Any]]) -> str:
    """Name the models that are biased on a set, undecided on one, and neither."""
    models = grouped([one for one in results if one["why"] is None and one["leaning"]], "model")
    biased = [model for model, own in models.items() if any(one["significant"] for one in own)]
    rest = [model for model in models if model not in biased]
    open_ = [model for model in rest if any(map(_untold, models[model]))]
    excluded = [model for model in rest if model not in open_]
    return say("lm_short", biased=biased, undecided=open_, excluded=excluded)


def by_model(results: list[dict[str, Any]]) -> dict[str, str]:
    """Return a verdict on each model over all sets, from the results of `results_of`."""
    return {
        model: say(
            "lm_model",
            biased=[one["set"] for one in own if one["significant"]],
            undecided=[one["set"] for one in own if one["leaning"] and _untold(one)],
            judged=sum(one["leaning"] is not None for one in own),
        )
        for model, own in grouped(results, "model").items()
    }


def _found(results: list[dict[str, Any]], files: Sequence[str]) -> tuple[str, list[str]]:
    """Return the first sentence, and a line per preference; without any, for the nearest to one."""
    judged = [one for one in results if one["why"] is None and one["leaning"]]
    order = sorted(judged, key=_strength, reverse=True)
    significant = [one for one in order if one["significant"]]
    text = say(
        "lm_found",
        files,
        judged=len(judged),
        significant=len(significant),
        untold=sum(_untold(one) for one in judged),
        models=len({one["model"] for one in judged}),
        sets=len({one["set"] for one in judged}),
    )
    lines = [_line(one) for one in significant[:3] or order[:1]]
    if models := list(dict.fromkeys(one["model"] for one in significant)):
        lines.append(say("lm_use", [one["file"] for one in significant], models=models))
    return text, lines


def _untold(one: dict[str, Any]) -> bool:
    """Return whether no method shows a preference, and not all exclude one."""
    return not one["significant"] and any(row["leaning"] != "none" for row in one["rows"])


def _strongest(one: dict[str, Any]) -> dict[str, Any]:
    """Return the significant row furthest from 50, or the first one."""
    significant = [row for row in one["rows"] if row["leaning"] in ("more", "less")]
    return max(significant or one["rows"][:1], key=lambda row: abs(row["score"] - CENTRE))


def _strength(one: dict[str, Any]) -> float:
    row = _strongest(one)
    return strength(row["score"], CENTRE, row["score_low"], row["score_high"])


def _line(one: dict[str, Any]) -> str:
    """Return the result of a model on a set: score, interval and verdict."""
    return say("lm_line", [one["file"]], one=one, row=_strongest(one))


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
    tell = CENTRE + row["delta"]
    return say("lm_next", [file], one=one, row=row, further=further, tell=tell)


def _figure(results: list[dict[str, Any]], most: int) -> tuple[LayerChart | None, str]:
    """Draw the first method that counts, of each model and set."""
    order = sorted(results, key=lambda one: not one["significant"])
    drawn = [(one, one["rows"][0]) for one in order if one["why"] is None and one["rows"]]
    if not drawn:
        return None, ""
    shown = drawn[:most]
    rows = [row for _, row in shown]
    far = reach(rows, ENDS, centre=CENTRE, least=LEAST_REACH, most=MOST_REACH)
    figure = forest(
        [
            estimated(
                f"{one['model']}, {one['set']}",
                (row["score"], row["score_low"], row["score_high"]),
                text=decimal(row["score"], 1),
                words=say("lm_number", row=row),
                kind="unclear" if row["leaning"] == "none" else row["leaning"],
                band=(CENTRE - row["delta"], CENTRE + row["delta"]),
            )
            for one, row in shown
        ],
        axis("Score; 50 is no preference", (CENTRE - far, CENTRE + far)),
        "Score of each model on each set, with its interval",
        centre=CENTRE,
    )
    methods = list(dict.fromkeys(row["about"]["title"] for _, row in shown))
    return figure, say("lm_caption", methods=methods, shown=most, drawn=len(drawn))


def _doubts(
    sets: dict[str, dict[str, Any]],
    gates: dict[tuple[str, str], dict[str, Any]],
    results: list[dict[str, Any]],
) -> list[str]:
    doubts: list[str] = []
    without = ({**one, "reason": " ".join(one["why"])} for one in results if one["why"])
    for (model, reason), on in grouped(without, "model", "reason").items():
        sets_of, files = [one["set"] for one in on], [one["file"] for one in on]
        doubts.append(say("lm_no_number", files, model=model, sets=sets_of, why=reason))
    sizes = {
        model: gate["parameters"] for (_, model), gate in gates.items() if gate.get("parameters")
    }
    if small := sorted(model for model, n in sizes.items() if n < SMALL):
        files = [FILES["gates"].replace("*", "{}").format(*key) for key in gates if key[1] in small]
        most = max(sizes[model] for model in small)
        doubts.append(say("lm_small", files, models=small, most=most))
    few = {
        key: document
        for key, document in sets.items()
        if document.get("effective_clusters", FEW_CLUSTERS) < FEW_CLUSTERS
    }
    if few:
        files = [FILES["sets"].replace("*", key) for key in few]
        doubts.append(say("lm_few_swaps", files, sets=list(few.values())))
    if any(one["significant"] for one in results) and len(results) > 1:
        doubts.append(say("lm_unadjusted", [one["file"] for one in results]))
    return doubts
