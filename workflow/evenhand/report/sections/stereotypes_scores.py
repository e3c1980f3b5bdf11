"""Section: the bias scores of a set of pairs, their verdicts, and conclusions in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from markupsafe import Markup

from evenhand.core.decimals import ALPHA
from evenhand.core.rows import grouped
from evenhand.report.headline import plain, say
from evenhand.report.render import decimal, in_words
from evenhand.report.sections.stereotypes_words import (
    ASIDE,
    contradicted_types,
    in_a_list,
    in_order,
    lacking,
    method_of,
    opposed_types,
    reason_words,
    significant_types,
    with_control,
)
from evenhand.text.catalogue import borderline, conclusion, doubt_of, reason

if TYPE_CHECKING:
    from altair import LayerChart

#: The explorer's query for the pairs of a part of a set; other parts have none.
ITEMS = {
    "all": "",
    "clean": "doubts=&not+scored=",
    "stereo": "direction=stereo",
    "antistereo": "direction=antistereo",
}

#: The score of no preference.
CENTRE = 50.0

#: The conclusion of a method on a model; UNCLEAR and NONE are drawn as hollow dots.
PREFERS_MORE, PREFERS_LESS, NONE, UNCLEAR = "more", "less", "none", "unclear"

#: A set whose pairs count like fewer independent ones has little power.
FEW_INDEPENDENT = 20

#: By verdict of the table.
LEANINGS = {
    "above": PREFERS_MORE,
    "below": PREFERS_LESS,
    "equivalent": NONE,
    "inconclusive": UNCLEAR,
}


def describe_scores(
    rows: list[dict[str, Any]], sides: tuple[str, str], untrusted: dict[str, list[str]]
) -> dict[str, Any]:
    """Return each model's scores by method, type and part of the set, and its conclusion.

    Parameters
    ----------
    rows : list of dict
        The rows of the table ``bias_scores``.
    sides : pair of str
        The preferred sentence above 50 and below, in words.
    untrusted : dict
        The models without a number, and why.
    """
    # A model that could score nothing has a row without a method.
    judged = [
        row | judge(row, sides)
        for row in rows
        if row["model"] not in untrusted and row["method"] is not None
    ]
    whole = [row for row in judged if row["subset"] == "all" and row["bias_type"] == "all"]
    models = []
    for model in dict.fromkeys(row["model"] for row in rows):
        model_rows = [row for row in judged if row["model"] == model]
        of_all = [row for row in model_rows if row["subset"] == "all"]
        of_any = [row for row in model_rows if row["bias_type"] == "all"]
        main = _by_method([row for row in of_all if row["bias_type"] == "all"])
        of_types = [row for row in of_all if row["bias_type"] != "all"]
        types = significant_types(of_all)
        types = [row | {"description": method_of(row["method"])} for row in types]
        why, alike = untrusted.get(model), are_alike(model_rows)
        entry = {
            "model": model,
            "why": why,
            "alike": alike,
            "conclusion": conclude([*main, *of_types], sides, alike=alike)
            if why is None
            else no_number(why),
            "rows": main,
            "types": types,
            "opposed": opposed_types(types),
            "contradicted": contradicted_types(of_all),
            "figure": _figure(model, main),
            "by_type": cells_by("bias_type", of_all),
            "by_subset": cells_by("subset", of_any),
        }
        models.append(entry)
    return {
        "models": models,
        "sentence": headline(models),
        "independent": independent_pairs(whole),
        "null_seeds": any(row["null_seeds"] for row in whole),
    }


def judge(row: dict[str, Any], sides: tuple[str, str]) -> dict[str, Any]:
    """Return a row's verdict: ``leaning`` (of `LEANINGS`, or None), ``words``, and two more.

    ``independent`` is the number of independent pairs that the pairs count like: 1 where a word or
    a template is in each pair. ``doubt`` is that of `doubt_of`.
    """
    if row["score"] is None or row["verdict"] == "not_scored":
        words = plain("lm_not_scored", why=reason_words(row["reason"]))
        return {"leaning": None, "words": words, "independent": None, "doubt": ""}
    shared = row["inflation"] or row["effective_clusters"]
    independent = max(1.0, row["effective_clusters"] / shared)
    ends = [row["score_low"], row["score_high"]]
    words = conclusion(
        row["verdict"],
        difference="preference",
        delta=f"{row['delta']:g} points",
        above=sides[0],
        below=sides[1],
        power=row["power"],
        further=row["further_clusters"],
        clusters="swaps",
        why=reason("one_word") if row["reason"] == "one_word" else "",
    )
    leaning = LEANINGS[row["verdict"]]
    if leaning in (PREFERS_MORE, PREFERS_LESS):
        small = None not in ends and all(abs(end - CENTRE) < row["delta"] for end in ends)
        below = row["delta"] if small else None
        words = plain("lm_prefers", side=words, below=below, borderline=borderline(row))
    doubt = doubt_of(row)
    words = f"{words}. {doubt}." if doubt else f"{words}."
    return {"leaning": leaning, "words": words, "independent": independent, "doubt": doubt}


def independent_pairs(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the least and most independent pairs that a set's pairs count like; None if unknown.

    Parameters
    ----------
    rows : list of dict
        Rows of `judge`, of the models and methods of one set.

    Returns
    -------
    dict or None
        least, most (`judge`), and models, whether the rows are of several.
    """
    counted = [
        row
        for row in rows
        if row["leaning"]
        and row["method"] not in ASIDE
        and (row["subset"], row["bias_type"]) == ("all", "all")
    ]
    numbers = [row["independent"] for row in counted]
    if not numbers:
        return None
    models = len({row["model"] for row in counted}) > 1
    return {"least": min(numbers), "most": max(numbers), "models": models}


def independent_words(independent: dict[str, Any] | None, clusters: int | None) -> str:
    """Return how many independent pairs pairs count like; blank if no fewer than swaps."""
    if not independent or clusters is None or round(independent["least"]) >= clusters:
        return ""
    return plain("lm_independent", independent=independent)


def are_alike(rows: list[dict[str, Any]]) -> bool:
    """Return whether a causal model's two methods must decide alike, from its ``bias_scores``.

    Sum and mean have the same order where the sentences of each scored pair have equally many
    tokens.
    """
    methods = {row["method"] for row in rows} & {"log_likelihood", "log_likelihood_per_token"}
    scored = {row["subset"]: row["scored"] for row in rows if row["bias_type"] == "all"}
    return len(methods) == 2 and 0 < scored["all"] == scored.get("equal_length")


def conclude(
    rows: list[dict[str, Any]], sides: tuple[str, str], *, alike: bool = False
) -> dict[str, Any]:
    """Return the conclusion over a model's methods, on all pairs and on those of each bias type.

    The keys are ``leaning``, ``words``, ``significant``, the methods with a preference, ``doubt``
    (`doubt_of`), ``control`` (`with_control`), ``chance``, that no p-value is below 0.05 after
    adjustment for the methods, and ``lack``, the reason where there is no verdict:
    ``some`` (some methods exclude a preference, others do not), ``one_word`` (all pairs have a word
    or the template in common), ``shared`` (words and templates that some share at least double the
    variance, or templates are at most half as many as swaps), ``templates`` (fewer than swaps) or
    ``few`` (swaps), so that the power is below 80 %, or ``wide`` (intervals, though the power is
    enough). Methods in `stereotypes_words.ASIDE` do not count; `alike` is that of `are_alike`.
    """
    counted = [row for row in with_control(rows) if row["bias_type"] == "all" and row["leaning"]]
    by = {
        leaning: [in_a_list(row["method"]) for row in counted if row["leaning"] == leaning]
        for leaning in LEANINGS.values()
    }
    held = [leaning for leaning in (PREFERS_MORE, PREFERS_LESS) if by[leaning]]
    if len(held) == 1:
        [leaning] = held
    elif held or by[UNCLEAR]:
        leaning = UNCLEAR
    else:
        leaning = NONE if counted else None
    delta, types = counted[0]["delta"] if counted else None, significant_types(rows)
    facts = {"total": len(counted), "delta": delta, "types": types}
    undecided = [row for row in counted if row["leaning"] == UNCLEAR]
    lack = "few"
    if any(_templates(row) < row["effective_clusters"] for row in undecided):
        lack = "templates"
    if any(map(_share_much, counted)):
        lack = "shared"
    if {row["further_clusters"] for row in undecided} == {0}:
        lack = "wide"
    if any(row["reason"] == "one_word" for row in counted):
        lack = "one_word"
    if by[NONE] and by[UNCLEAR]:
        lack = "some"
    facts |= {"alike": alike, "opposed": opposed_types(types)}
    facts["contradicted"] = contradicted_types(rows)
    facts["doubt"] = next((row["doubt"] for row in counted if row["doubt"]), "")
    facts["control"] = next((row["control"] for row in counted if row["control"]), "")
    least = min((row["p_adjusted"] or 0 for row in counted if row["leaning"] in held), default=0)
    facts["chance"] = plain("lm_methods", p=float(least)) if least >= ALPHA else ""
    words = plain("lm_conclusion", by=by, sides=sides, lacks={lack}, **facts)
    significant = [*by[PREFERS_MORE], *by[PREFERS_LESS]]
    entries = {"leaning": leaning, "significant": significant, "lack": lack, "words": words}
    return entries | {name: facts[name] for name in ("doubt", "control", "chance")}


def _share_much(row: Mapping[str, Any]) -> bool:
    """Whether words or templates, and not the number of swaps, leave a method undecided."""
    are_few = 2 * _templates(row) <= row["effective_clusters"]
    return (row["inflation"] or 1) >= 2 or (row["leaning"] == UNCLEAR and are_few)


def _templates(row: Mapping[str, Any]) -> float:
    """Return the number of templates; that of effective clusters if these share none."""
    return float(row.get("templates") or row["effective_clusters"])


def no_number(why: list[str]) -> dict[str, Any]:
    """Return the conclusion on a model that is not trusted."""
    words = plain("lm_untrusted", why=why)
    blank = {
        "leaning": None,
        "significant": [],
        "lack": None,
        "doubt": "",
        "control": "",
        "chance": "",
    }
    return blank | {"words": words}


def headline(models: list[dict[str, Any]]) -> Markup:
    """Return how many models have a preference, and which; names are markup."""
    trusted = [model for model in models if model["why"] is None]
    judged = [model for model in trusted if model["conclusion"]["leaning"]]
    significant = [model for model in judged if model["conclusion"]["significant"]]
    conclusions = [model["conclusion"] for model in judged]
    unclear = [conclusion for conclusion in conclusions if conclusion["leaning"] == UNCLEAR]
    return say(
        "lm_set",
        models=len(models),
        judged=[model["model"] for model in judged],
        significant=[model["model"] for model in significant],
        chance=sum(bool(model["conclusion"]["chance"]) for model in significant),
        undecided=bool(unclear) and not significant,
        split=any(model["types"] for model in judged) and not significant,
        opposed=[model["model"] for model in judged if model["opposed"]],
        lacks={conclusion["lack"] for conclusion in unclear},
        without=[model["model"] for model in models if model not in trusted],
        empty=[model["model"] for model in trusted if model not in judged],
    )


def _by_method(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    by_method = {row["method"]: row for row in rows}
    order = sorted(in_order(by_method), key=lambda name: name in ASIDE)  # those that count first
    return [by_method[name] | {"description": method_of(name)} for name in order]


def cells_by(column: str, rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return a table with a row per value of a column and a cell per method; None for one row.

    Parts of a set that are the whole set have no row; ``same`` names them.
    """
    values = grouped(rows, column)
    if len(values) < 2:
        return None
    sizes = {name: max(row["pairs"] or 0 for row in of_part) for name, of_part in values.items()}
    same = [name for name in values if column == "subset" and sizes[name] == sizes["all"]][1:]
    rows = [row for row in rows if row[column] not in same]
    values = grouped(rows, column)
    methods = in_order(row["method"] for row in rows)
    lines = []
    for value, value_rows in values.items():
        cells = {row["method"]: row for row in value_rows}
        if column == "subset":
            name = plain("lm_subset", name=value) or str(in_words(value))
            items = ITEMS.get(value, "-")
        else:
            name, items = (
                ("All types", "") if value == "all" else (value, urlencode({"kind": value}))
            )
        line = {"name": name, "total": value == "all", "items": items, "pairs": sizes[value]}
        lines.append(line | {"cells": [cells.get(method) for method in methods]})
    without = {
        why: [plain("lm_subset", name=part) or part for part in parts]
        for why, parts in lacking(rows, column, "score_low").items()
    }
    return {
        "methods": [method_of(name) for name in methods],
        "rows": lines,
        "without": plain("lm_without", without=without) if without else "",
        "same": plain("lm_same_parts", parts=[plain("lm_subset", name=name) for name in same]),
    }


def _figure(model: str, rows: list[dict[str, Any]]) -> "LayerChart | None":
    """Draw the scores of a model's methods."""
    from evenhand.report.figures import estimated

    estimates = [
        estimated(
            row["description"]["title"],
            (row["score"], row["score_low"], row["score_high"]),
            text=decimal(row["score"], 1),
            words=row["words"],
            kind=row["leaning"] if row["leaning"] in (PREFERS_MORE, PREFERS_LESS) else UNCLEAR,
            band=(CENTRE - row["delta"], CENTRE + row["delta"]),
        )
        for row in rows
        if row["score"] is not None
    ]
    label = plain("figure_methods_of", model=model)
    return draw_scores(estimates, label, rows[0]["delta"]) if estimates else None


def draw_scores(estimates: list[Any], label: str, delta: float) -> "LayerChart":
    """Draw scores of models or methods, of which 50 is no preference, all on the same scale."""
    from evenhand.report.figures import axis, forest  # cards, which import this, draw nothing

    words = {"line": plain("lm_interval"), "hollow": plain("not_significant", adjusted=False)}
    key = plain("figure_key", band="delta", delta=delta, **words)
    x = axis("Score; 50 is no preference", (0, 100))
    return forest(estimates, x, label, key=key, centre=CENTRE)
