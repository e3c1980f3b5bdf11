"""Sections: further measures on a set of pairs, and the models.

Each function takes the rows of one result table, without those of untrusted models.
"""

from collections import Counter
from typing import Any

from evenhand.core.rows import Row, grouped
from evenhand.predictions.words import left_out_words, templates_words
from evenhand.report.headline import plain, say
from evenhand.report.render import in_words
from evenhand.report.sections.stereotypes_words import (
    exclusion_words,
    in_a_list,
    in_order,
    method_of,
    method_title,
    preference,
    untrusted_models,
)
from evenhand.tabular.words import open_words
from evenhand.text.phrases import listed

#: Shares of longer sentences from here on are called almost always.
ALMOST_ALWAYS = 0.9

#: The variants of a sentence whose tokens a model predicts.
VARIANTS = ("original", "shuffled", "unrelated")

#: A method that is published in two forms.
COMPAT_NAMES = {"cps as coded": "CPS as coded"}


def by_model(rows: list[Row]) -> list[Row]:
    """Return, per model, its rows over all bias types, and those of each type."""
    return [
        {
            "model": model,
            "rows": by_method([row for row in model_rows if row["bias_type"] == "all"]),
            "by_type": by_method([row for row in model_rows if row["bias_type"] != "all"]),
        }
        for model, model_rows in grouped(rows, "model").items()
    ]


def describe_accuracy(rows: list[Row]) -> list[Row]:
    """Return token accuracy per model, pass and variant, with the variants on the page."""
    present = {row["variant"] for row in rows}
    variants = {name: plain("lm_variant", name=name) for name in VARIANTS if name in present}
    return [
        {
            "model": model,
            "passes": {
                name: {row["variant"]: row for row in of_pass}
                for name, of_pass in grouped(model_rows, "pass").items()
            },
            "variants": variants,
        }
        for model, model_rows in grouped(rows, "model").items()
    ]


def describe_length(rows: list[Row]) -> list[Row]:
    """Return each method's preference for more tokens, and its score on pairs of equal length.

    The words name a method that takes one side almost always, if its interval excludes a half.
    """
    models = []
    for model, model_rows in grouped(rows, "model").items():
        placed = by_method(model_rows)
        ends = ("share_longer_low", "share_longer_high")
        known = [row for row in placed if None not in map(row.get, ends)]
        longer = [row for row in known if row["share_longer"] >= ALMOST_ALWAYS]
        shorter = [row for row in known if row["share_longer"] <= 1 - ALMOST_ALWAYS]
        always = [in_a_list(row["method"]) for row in longer if row["share_longer_low"] > 0.5]
        never = [in_a_list(row["method"]) for row in shorter if row["share_longer_high"] < 0.5]
        words = say("lm_length", longer=always, shorter=never)
        models.append({"model": model, "rows": placed, "words": words})
    return models


def describe_compat(rows: list[Row]) -> Row | None:
    """Compare methods as published with their corrected forms; None without rows."""
    if not rows:
        return None
    for row in rows:
        published = row["published_method"]
        row["published"] = COMPAT_NAMES.get(published) or method_title(published)
        row["corrected"] = method_title(row["corrected_method"])
    changed = sum(bool(row["conclusion_changed"]) for row in rows)
    words = say("lm_compat", changed=changed, total=len(rows))
    errors = {row["published"]: row["known_error"] for row in rows if row["known_error"]}
    return {"rows": rows, "words": words, "errors": errors}


def describe_comparisons(rows: list[Row]) -> list[Row]:
    """Return each two models, with one row per method and the overall conclusion."""
    described = []
    for models, pair_rows in grouped(rows, "model_a", "model_b").items():
        placed = by_method(pair_rows)
        counted = [row for row in pair_rows if method_of(row["method"])["aside"] is None]
        less = {
            model: [in_a_list(row["method"]) for row in counted if row["less_biased"] == model]
            for model in models
        }
        comparison = {
            "models": models,
            "rows": placed,
            "less": [(model, listed(methods)) for model, methods in less.items() if methods],
        }
        described.append(comparison)
    return described


def describe_released(rows: list[Row] | None) -> Row | None:
    """Return our results from StereoSet's released scores, beside the published ones."""
    if rows is None:
        return None
    same = sum(row["verdict"] == "reproduced" for row in rows)
    compared = same + sum(row["verdict"] == "differs" for row in rows)
    return {"rows": rows, "words": say("lm_same", same=same, compared=compared)}


def _side(number: int) -> str:
    return plain("lm_side", number=number)


def describe_pairs(document: Row | None, rows: list[Row]) -> Row:
    """Return a set's sides, counts, data-quality flags, format and types.

    The arguments are those of `templates_of`.
    """
    fields = document or {}
    more, less = fields.get("more_means"), fields.get("less_means")
    sides = (preference(more), preference(less)) if more and less else map(_side, (0, 1))
    types = (fields.get("bias_types") or {}).items()
    return {
        "known": document is not None,
        "title": fields.get("title") or None,
        "format": fields.get("format"),
        "sides": tuple(sides),
        "flags": sorted((fields.get("flags") or {}).items()),
        "templates": templates_of(fields, rows),
        "open": open_words() if fields.get("is_open") else "",
        "excluded": sorted(item for item in (fields.get("excluded") or {}).items() if item[1]),
        "bias_types": sorted(types, key=lambda item: (-item[1], item[0])),
        **{name: fields.get(name) for name in ("pairs", "clusters", "same_word")},
        **{name: bool(fields.get(name)) for name in ("has_unrelated", "has_annotations")},
    }


def templates_of(document: Row, rows: list[Row]) -> str:
    """Return `templates_words` on a set, of ``pairs.json`` and ``bias_scores.csv``; or blank."""
    whole = [row for row in rows if (row["subset"], row["bias_type"]) == ("all", "all")]
    scored = sum((document.get("bias_types") or {}).values())
    return " ".join(templates_words(document, scored, whole))


def left_out_pairs(document: Row, rows: list[Row]) -> str:
    """Return how many pairs of a set have no score, by reason; blank if all have one.

    Parameters
    ----------
    document : dict
        ``pairs.json`` of the set.
    rows : list of dict
        ``bias_scores.csv`` of one model.
    """
    reasons = Counter({name: count for name, count in document["excluded"].items() if count})
    whole = [row for row in rows if (row["subset"], row["bias_type"]) == ("all", "all")]
    unscorable = max((row["unscorable"] or 0 for row in whole), default=0)
    if (others := unscorable - reasons.total()) > 0:
        lacking = [in_a_list(row["method"]) for row in whole if row["unscorable"] == unscorable]
        every = len(lacking) == len(whole)
        reasons["no_score" if every else plain("lm_no_score_by", methods=lacking)] = others
    firsts = {
        name: f"pair {position}" for name, position in document.get("first_excluded", {}).items()
    }
    return left_out_words(reasons, document["pairs"], "pair", firsts) if reasons else ""


def by_method(rows: list[Row]) -> list[Row]:
    """Return rows in the order of their methods, each with its method; others unchanged."""
    if not rows or "method" not in rows[0]:
        return rows
    order = in_order(row["method"] for row in rows)
    placed = sorted(rows, key=lambda row: order.index(row["method"]))
    return [row | {"description": method_of(row["method"])} for row in placed]


#: The fields of a validity check that describe the model.
FACTS = ("hub_name", "revision", "type", "parameters", "vocabulary", "max_tokens", "dtype",
         "weights_sha256", "tokenizer_sha256")  # fmt: skip

#: Its counts, and the numbers of its test.
COUNTED = ("pairs", "sentences", "scored", "sentences_with_unknown", "unknown_tokens",
          "unknown_most_frequent", "rescored_pairs", "excluded")  # fmt: skip
TEST = ("tokens", "accuracy", "accuracy_low", "accuracy_high", "baseline")


def describe_models(gates: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any] | None:
    """Return facts per model, and check and counts per model and set; None without a check.

    Parameters
    ----------
    gates : dict
        ``gates/{model}.json`` by set and model.
    """
    if not gates:
        return None
    facts: dict[tuple[str, Any], dict[str, Any]] = {}
    checks = []
    for (name, model), gate in gates.items():
        family = gate.get("family")
        known = {"model": model, "family": plain("lm_family", name=family) or in_words(family)}
        known |= {fact: gate.get(fact) for fact in FACTS}
        facts.setdefault((model, known["weights_sha256"]), known)
        why = untrusted_models((), {model: gate}).get(model, [])
        checks.append({"set": name, "model": model, "why": why} | describe_check(gate))
    return {"facts": list(facts.values()), "checks": checks}


def describe_check(gate: dict[str, Any]) -> dict[str, Any]:
    """Return the counts and the test of a validity check, with reasons in words as `left_out`."""
    excluded = sorted((gate.get("excluded") or {}).items())
    return {
        **{name: gate.get(name) for name in COUNTED},
        **{name: (gate.get("check") or {}).get(name) for name in TEST},
        "left_out": [f"{n:,}: {exclusion_words(reason)}" for reason, n in excluded if n],
    }
