"""The headline of the language models: whether any prefers a side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from altair import LayerChart

from evenhand.core.decimals import p_rank
from evenhand.core.rows import grouped
from evenhand.core.tables import read_table
from evenhand.report.figures import estimated
from evenhand.report.headline import Headline, Verdicts, plain, say, strength, tally
from evenhand.report.read import read_json
from evenhand.report.render import decimal
from evenhand.report.sections.stereotypes_scores import (
    CENTRE,
    FEW_INDEPENDENT,
    describe_scores,
    draw_scores,
    independent_pairs,
)
from evenhand.report.sections.stereotypes_words import ASIDE, preference, untrusted_models
from evenhand.report.study import Study
from evenhand.text.catalogue import borderline, is_confounded

SETS, GATES = "stereotypes/*/pairs.json", "stereotypes/*/gates/*.json"
FILES = (
    "stereotypes/*/pairs.json",
    "stereotypes/*/gates/*.json",
    "tables/released",
    "tables/pairs/*",
)

Result = dict[str, Any]

#: A model with fewer parameters is none that people use.
SMALL = 10_000_000

#: The entries of a conclusion that results have.
CONCLUDED = ("significant", "leaning", "lack", "doubt", "control", "chance")

#: Rows of the figure.
SHOWN = 12


def describe(study: Study) -> Headline:
    """Return the headline of the language models."""
    sets = {document["name"]: document for document in study.documents(SETS)}
    gates = {(path.parents[1].name, path.stem): read_json(path) for path in study.paths(GATES)}
    results = []
    for path in study.paths("tables/pairs/*"):
        rows, document = read_table(path / "bias_scores.csv"), sets.get(path.name, {})
        checks = {model: gate for (name, model), gate in gates.items() if name == path.name}
        untrusted = untrusted_models(rows, checks)
        sides = preference(document.get("more_means")), preference(document.get("less_means"))
        models = describe_scores(rows, sides, untrusted)["models"]
        file = f"tables/pairs/{path.name}/bias_scores.csv"
        title, same_word = document.get("title") or path.name, document.get("same_word")
        results += results_of(title, file, sides, models, same_word)
    verdicts = [
        Verdicts(
            say("lm_released"),
            tally(row["verdict"] for row in read_table(path / "stereoset.csv")),
            say("lm_released_note"),
            ["tables/released/stereoset.csv"],
        )
        for path in study.paths("tables/released")
    ]
    return replace(
        conclude(results, study.places("tables/pairs/*/bias_scores.csv")),
        verdicts=verdicts,
        doubts=_doubts(gates, results),
    )


def results_of(
    title: str, file: str, sides: tuple[str, str], models: list[Result], same_word: int | None
) -> list[Result]:
    """Return each model's conclusion on a set, from the models of `describe_scores`.

    `same_word` is that of ``pairs.json``, which older results lack.
    """
    return [
        {
            **{name: model["conclusion"][name] for name in CONCLUDED},
            "set": title,
            "file": file,
            "model": model["model"],
            "why": model["why"],
            "sides": sides,
            "same_word": same_word,
            "types": model["types"],
            "opposed": model["opposed"],
            "contradicted": model["contradicted"],
            "rows": [row for row in model["rows"] if row["method"] not in ASIDE and row["leaning"]],
        }
        for model in models
    ]


def conclude(results: list[Result], files: Sequence[str], most: int = SHOWN) -> Headline:
    """Return the headline of the results of `results_of`, read from these files."""
    figure, caption = _figure(results, most)
    in_order = [result for result in results if result["why"] is None and result["leaning"]]
    judged = sorted(in_order, key=_strength, reverse=True)
    significant = [result for result in judged if result["significant"]]
    split = list(filter(_is_split, judged))
    lines = [
        say("lm_line", [result["file"]], result=result, row=row, borderline=words)
        for result in significant[:3] or (judged[:1] if not split else [])
        for row in [_strongest(result)]
        for words in [borderline(row) or ("" if result["doubt"] else _uncertainty(result))]
    ]
    lines += [say("lm_types", [result["file"]], result=result) for result in split[:3]]
    certain = [result for result in significant if not _uncertainty(result)]
    further, models = _next(results), list(dict.fromkeys(result["model"] for result in certain))
    if models and further:
        lines.append(further)
    sentence = say(
        "lm_found",
        files,
        judged=len(judged),
        significant=len(significant),
        chance=sum(bool(result["chance"]) for result in significant),
        split=len(split),
        opposed=sum(bool(result["opposed"]) for result in significant),
        undecided=sum(map(_is_undecided, judged)),
        lacks={result["lack"] for result in judged if _is_undecided(result)},
        models=len({result["model"] for result in judged}),
        sets=len({result["set"] for result in judged}),
    )
    return Headline(
        sentence=sentence,
        more=lines,
        main=lines[0] if significant else "",
        short=_short(in_order),
        next=say("lm_use", [result["file"] for result in certain], models=models)
        if models
        else further,
        strength=max(map(_strength, significant), default=0.0),
        figure=figure,
        caption=caption,
        figure_files=files,
    )


def _short(results: list[Result]) -> str:
    """Name the models biased on a set (the first one), biased by type, undecided, and neither.

    A model whose significant preferences are uncertain is named apart (`_uncertainty`).
    """
    names = ("biased", "uncertain", "split", "undecided", "excluded")
    models: dict[str, list[Any]] = {name: [] for name in names}
    for model, of_model in grouped(results, "model").items():
        if biased := [result for result in of_model if result["significant"]]:
            first = min(biased, key=lambda result: bool(_uncertainty(result)))
            why = _uncertainty(first)
            first = first | {"row": _strongest(first), "uncertainty": why}
            models["uncertain" if why else "biased"].append(first)
        elif split := list(filter(_is_split, of_model)):
            models["split"].append(split[0])
        else:
            undecided = any(map(_is_undecided, of_model))
            models["undecided" if undecided else "excluded"].append(model)
    return say("lm_short", **models)


def by_model(results: list[Result]) -> dict[str, str]:
    """Return a verdict on each model over all sets, from the results of `results_of`."""
    return {
        model: say(
            "lm_model",
            biased=[
                result["set"]
                for result in of_model
                if result["significant"] and not _uncertainty(result)
            ],
            frequent=[
                result["set"]
                for result in of_model
                if result["significant"] and not _uncertainty(result) and result["control"]
            ],
            uncertain={result["set"]: why for result in of_model if (why := _uncertainty(result))},
            split=[
                result["set"]
                for result in of_model
                if _is_split(result) and not _uncertainty(result)
            ],
            opposed=[result["set"] for result in of_model if result["opposed"]],
            undecided=[
                result["set"] for result in of_model if result["leaning"] and _is_undecided(result)
            ],
            lacks={result["lack"] for result in of_model if _is_undecided(result)},
            judged=sum(result["leaning"] is not None for result in of_model),
        )
        for model, of_model in grouped(results, "model").items()
    }


def _is_undecided(result: Result) -> bool:
    """Return whether no method shows a preference, or of a bias type, and not all exclude one."""
    is_biased = result["significant"] or result["types"]
    return not is_biased and any(row["leaning"] != "none" for row in result["rows"])


def _is_split(result: Result) -> bool:
    """Return whether a bias type has a significant preference, and the whole set has none."""
    return bool(result["types"]) and not result["significant"]


def _uncertainty(result: Result) -> str:
    """Return why significant preferences may be none; blank without any, or where they are clear.

    Many pairs look misplaced, the intervals contain no preference, or no p-value is below 0.05
    after adjustment for the methods.
    """
    if result["significant"] and result["doubt"]:
        return result["doubt"]
    if _is_split(result) and all(row["doubt"] for row in result["types"]):
        return f"{result['types'][0]['bias_type']}: {result['types'][0]['doubt']}"
    if result["significant"] and result["chance"]:
        return result["chance"]
    words = [borderline(row) for row in result["rows"] if row["leaning"] in ("more", "less")]
    return words[0] if words and all(words) else ""


def _strongest(result: Result) -> dict[str, Any]:
    """Return the significant row furthest from 50, else the row with the smallest p-value."""
    significant = [row for row in result["rows"] if row["leaning"] in ("more", "less")]
    if significant:
        return max(significant, key=_distance)
    tested = [row for row in result["rows"] if row["p_value"] is not None]
    return min(
        tested or result["rows"], key=lambda row: (p_rank(row["p_value"] or 0), -_distance(row))
    )


def _distance(row: Mapping[str, Any]) -> float:
    return abs(row["score"] - CENTRE)


def _strength(result: Result) -> float:
    row = _strongest(result)
    return strength(row["score"], CENTRE, row["score_low"], row["score_high"])


def _next(results: list[Result]) -> str:
    """Advise to mend pairs, look at bias types, or add swaps to the set that needs the fewest."""
    if doubted := [result for result in results if result["doubt"]]:
        by_length = any(map(is_confounded, doubted[0]["rows"]))
        return say("lm_order", [doubted[0]["file"]], result=doubted[0], by_length=by_length)
    if split := [result for result in results if result["why"] is None and _is_split(result)]:
        return say("lm_apart", [split[0]["file"]], result=split[0])
    scored = [result for result in results if result["why"] is None and result["rows"]]
    lacking = [
        (row["further_clusters"], result["file"], {"result": result, "row": row})
        for result, row in zip(scored, map(_strongest, scored), strict=True)
        if (row["leaning"] == "unclear" or _uncertainty(result)) and row["further_clusters"] != 0
    ]
    if not lacking:
        return ""
    further, file, facts = min(lacking, key=lambda entry: (entry[0] or float("inf"), entry[1]))
    return say("lm_next", [file], **facts, further=further, tell=CENTRE + facts["row"]["delta"])


def _figure(results: list[Result], most: int) -> tuple[LayerChart | None, str]:
    """Draw the method that the headline names, of each model and set."""
    order = sorted(results, key=lambda result: not result["significant"])
    scored = [result for result in order if result["why"] is None and result["rows"]]
    if not scored:
        return None, ""
    rows = [_strongest(result) for result in scored[:most]]
    methods = list(dict.fromkeys(row["description"]["title"] for row in rows))
    estimates = [
        estimated(
            f"{result['model']}, {result['set']}"
            + (f" ({row['description']['title']})" if len(methods) > 1 else ""),
            (row["score"], row["score_low"], row["score_high"]),
            text=decimal(row["score"], 1),
            words=say("lm_number", row=row),
            kind="unclear" if row["leaning"] == "none" else row["leaning"],
            band=(CENTRE - row["delta"], CENTRE + row["delta"]),
        )
        for result, row in zip(scored, rows, strict=False)
    ]
    split = [
        result
        for result in scored[:most]
        if {"more", "less"} <= {row["leaning"] for row in result["rows"]}
    ]
    facts = {"results": scored[:most], "split": split, "methods": methods}
    caption = say("lm_caption", **facts, number=most, drawn=len(scored))
    return draw_scores(estimates, plain("figure_models"), rows[0]["delta"]), caption


def _doubts(gates: dict[tuple[str, str], dict[str, Any]], results: list[Result]) -> list[str]:
    doubts: list[str] = []
    without = [result | {"why": " ".join(result["why"])} for result in results if result["why"]]
    for (model, why), of_model in grouped(without, "model", "why").items():
        names, files = ([result[key] for result in of_model] for key in ("set", "file"))
        doubts.append(say("lm_no_number", files, model=model, sets=names, why=why))
    sizes = {
        model: gate["parameters"] for (_, model), gate in gates.items() if gate.get("parameters")
    }
    if small := sorted(model for model, n in sizes.items() if n < SMALL):
        files = [GATES.replace("*", "{}").format(*key) for key in gates if key[1] in small]
        most = max(sizes[model] for model in small)
        doubts.append(say("lm_small", files, models=small, most=most))
    few = {}
    for file, of_set in grouped(results, "file").items():
        independent = independent_pairs([row for result in of_set for row in result["rows"]])
        if independent and independent["least"] < FEW_INDEPENDENT:
            few[file] = independent | {"set": of_set[0]["set"]}
    if few:
        doubts.append(say("lm_few_swaps", list(few), sets=list(few.values())))
    if any(result["significant"] for result in results) and len(results) > 1:
        doubts.append(say("lm_unadjusted", [result["file"] for result in results]))
    return doubts
