"""Section: further measures on a set of pairs, one function per table.

Each function takes the rows of one result table, without those of untrusted models.
"""

from pathlib import Path
from typing import Any

from evenhand.core.tables import read_table
from evenhand.report.headline import say
from evenhand.report.render import plural, signed
from evenhand.report.sections.stereotypes_words import (
    GROUPS,
    PASSES,
    in_a_list,
    in_order,
    in_words,
    interval_words,
    method_of,
    method_title,
    p_value,
    preference,
)
from evenhand.text.phrases import VERDICTS, listed

Rows = list[dict[str, Any]]

#: Shares of longer sentences from here on are called almost always.
ALMOST_ALWAYS = 0.9


def describe_stereoset(rows: Rows) -> list[dict[str, Any]]:
    """Return LMS, SS and ICAT per model and method, for all terms and by bias type."""
    rows = [
        row
        | _spans(row, "lms", "ss", "icat")
        | {
            "p": p_value(row["p_adjusted"]),
            "words": VERDICTS.get(row["verdict"], in_words(row["verdict"])),
        }
        for row in rows
    ]
    return [
        {"model": model, "rows": _of_type(own, True), "by_type": _of_type(own, False)}
        for model, own in _by_model(rows)
        if own
    ]


def describe_accuracy(rows: Rows) -> list[dict[str, Any]]:
    """Return token accuracy per model and pass; other variants with their change in points."""
    models = []
    for model, own in _by_model(rows):
        passes = []
        for name in dict.fromkeys(row["pass"] for row in own):
            found = {row["variant"]: _accuracy(row) for row in own if row["pass"] == name}
            passes.append({"name": PASSES.get(name, str(in_words(name))), "variants": found})
        models.append({"model": model, "passes": passes})
    shown = {variant for model in models for one in model["passes"] for variant in one["variants"]}
    for model in models:
        model["variants"] = [
            (variant, name)
            for variant, name in (
                ("original", "As it stands"),
                ("shuffled", "Words in random order"),
                ("unrelated", "An unrelated word in the place"),
            )
            if variant in shown
        ]
    return models


def describe_all_masked(rows: Rows) -> list[dict[str, Any]]:
    """Return the control with every token masked, by the group that the stereotype concerns."""
    rows = [
        row | _spans(row, "score") | {"name": GROUPS.get(row["group"], str(in_words(row["group"])))}
        for row in rows
    ]
    return [
        {"model": model, "rows": _of_type(own, True), "by_type": _of_type(own, False)}
        for model, own in _by_model(rows)
    ]


def describe_length(rows: Rows) -> list[dict[str, Any]]:
    """Return each method's preference for more tokens, and its score on pairs of equal length."""
    described = []
    for row in rows:
        share = interval_words(
            *(_times(row[f"share_longer{end}"], 100) for end in ("_low", "_high"))
        )
        described.append(row | _spans(row, "score_equal_length") | {"share_span": share})
    models = []
    for model, own in _by_model(described):
        always = [
            in_a_list(row["method"])
            for row in _sorted(own)
            if row["share_longer"] is not None and row["share_longer"] >= ALMOST_ALWAYS
        ]
        never = [
            in_a_list(row["method"])
            for row in _sorted(own)
            if row["share_longer"] is not None and row["share_longer"] <= 1 - ALMOST_ALWAYS
        ]
        words = say("lm_length", longer=always, shorter=never)
        models.append({"model": model, "rows": _sorted(own), "words": words})
    return models


def describe_compat(rows: Rows) -> dict[str, Any] | None:
    """Compare methods as published with their corrected forms; None without rows."""
    rows = [
        row
        | {
            "published": COMPAT_NAMES.get(row["published_method"])
            or method_title(row["published_method"]),
            "corrected": method_title(row["corrected_method"]),
            "before": VERDICTS.get(row["verdict_published"], in_words(row["verdict_published"])),
            "after": VERDICTS.get(row["verdict_corrected"], in_words(row["verdict_corrected"])),
        }
        for row in rows
    ]
    if not rows:
        return None
    changed = sum(bool(row["conclusion_changed"]) for row in rows)
    verb = "changes" if changed == 1 else "change"
    words = (
        "No conclusion changes."
        if not changed
        else f"{plural(changed, 'conclusion')} of {len(rows)} {verb}."
    )
    errors = {row["published"]: row["known_error"] for row in rows if row["known_error"]}
    return {"rows": rows, "words": words, "errors": errors}


COMPAT_NAMES = {"cps as coded": "CPS as coded"}


def describe_comparisons(rows: Rows) -> list[dict[str, Any]]:
    """Return each two models, with one row per method and the overall conclusion."""
    rows = [
        row
        | _spans(row, "difference", signs=True)
        | {"about": method_of(row["method"]), "p": p_value(row["p_adjusted"])}
        for row in rows
    ]
    couples: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        couples.setdefault((row["model_a"], row["model_b"]), []).append(row)
    described = []
    for (a, b), own in couples.items():
        counted = [row for row in own if row["about"]["aside"] is None]
        less = {
            model: [in_a_list(row["method"]) for row in counted if row["less_biased"] == model]
            for model in (a, b)
        }
        described.append(
            {
                "models": (a, b),
                "rows": _sorted(own),
                "less": [(model, listed(methods)) for model, methods in less.items() if methods],
                "counted": len(counted),
            }
        )
    return described


def describe_released(path: Path | None) -> dict[str, Any] | None:
    """Return our results from StereoSet's released scores, beside the published ones."""
    if path is None:
        return None
    rows = read_table(path / "stereoset.csv")
    for row in rows:
        row["says"] = REPRODUCTION.get(row["verdict"], in_words(row["verdict"]))
    same = sum(row["verdict"] == "reproduced" for row in rows)
    compared = same + sum(row["verdict"] == "differs" for row in rows)
    return {"rows": rows, "words": say("lm_same", same=same, compared=compared)}


#: The results of a comparison with published numbers.
REPRODUCTION = {
    "reproduced": "the same",
    "differs": "differs",
    "not_published": "nothing published to compare with",
    "not_scored": "not computed",
    "not_given": "scores not given",
}


def describe_pairs(document: dict[str, Any] | None) -> dict[str, Any]:
    """Return a set's sides, counts, data-quality flags and types, from ``pairs.json``."""
    found = document or {}
    more, less = found.get("more_means"), found.get("less_means")
    return {
        "known": document is not None,
        "title": found.get("title") or None,
        "format": found.get("format"),
        "sides": (preference(more), preference(less)) if more and less else UNKNOWN_SIDES,
        "gendered": {more, less} == {"male", "female"},
        "pairs": found.get("pairs"),
        "clusters": found.get("clusters"),
        "effective_clusters": found.get("effective_clusters"),
        "flags": sorted((found.get("flags") or {}).items()),
        "excluded": sorted(one for one in (found.get("excluded") or {}).items() if one[1]),
        "bias_types": sorted(
            (found.get("bias_types") or {}).items(), key=lambda item: (-item[1], item[0])
        ),
        "has_unrelated": bool(found.get("has_unrelated")),
        "has_annotations": bool(found.get("has_annotations")),
        "has_directions": bool(found.get("has_directions")),
    }


#: The names of the sides where the set's description is missing.
UNKNOWN_SIDES = ("the first sentence of the pair", "the second sentence of the pair")


def _by_model(rows: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    models: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        models.setdefault(row["model"], []).append(row)
    return list(models.items())


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows in the order of the methods, each with its method's title."""
    order = in_order(row["method"] for row in rows)
    placed = sorted(rows, key=lambda row: order.index(row["method"]))
    return [row | {"about": method_of(row["method"])} for row in placed]


def _of_type(rows: list[dict[str, Any]], whole: bool) -> list[dict[str, Any]]:
    """Return the rows over all bias types, or those of each."""
    chosen = [row for row in rows if (row["bias_type"] == "all") == whole]
    return _sorted(chosen) if chosen and "method" in chosen[0] else chosen


def _spans(row: dict[str, Any], *names: str, signs: bool = False) -> dict[str, str | None]:
    """Return the interval of each number in words."""
    spans = {}
    for name in names:
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        if signs and low is not None and high is not None:
            spans[f"{name}_span"] = f"{signed(low, 1)} to {signed(high, 1)}"
        else:
            spans[f"{name}_span"] = interval_words(low, high)
    return spans


def _accuracy(row: dict[str, Any]) -> dict[str, Any]:
    """Return the accuracy of one variant, its interval, tokens, and the change in points."""
    span = interval_words(_times(row["accuracy_low"], 100), _times(row["accuracy_high"], 100))
    change = _times(row["change"], 100)
    return row | {"span": span, "points": None if change is None else signed(change, 1)}


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
