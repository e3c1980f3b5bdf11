"""Section: each model's description, validity check, and coverage of each set."""

from typing import Any

from evenhand.report.render import plural
from evenhand.report.sections.stereotypes_words import (
    FAMILIES,
    exclusion_words,
    gate_words,
    in_words,
    interval_words,
)

#: The fields of a validity check that describe the model.
FACTS = (
    "family",
    "hub_name",
    "type",
    "parameters",
    "vocabulary",
    "max_tokens",
    "dtype",
    "revision",
    "weights_sha256",
    "tokenizer_sha256",
)


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
        fact = {key: gate.get(key) for key in FACTS}
        known = facts.setdefault(
            (model, gate.get("weights_sha256")),
            fact
            | {
                "model": model,
                "family": FAMILIES.get(str(gate.get("family")), in_words(gate.get("family"))),
                "missing": gate.get("missing") or [],
                "why": [],
            },
        )
        why = [] if gate.get("trusted") else gate_words(gate.get("reason")) or [NO_REASON]
        known["why"] += [words for words in why if words not in known["why"]]
        checks.append(_check(name, model, gate, why))
    return {"facts": list(facts.values()), "checks": checks}


#: Unknown tokens that are shown per model and set.
MOST_UNKNOWN = 5

NO_REASON = "The record of its check does not say why."


def _check(name: str, model: str, gate: dict[str, Any], why: list[str]) -> dict[str, Any]:
    check = gate.get("check") or {}
    ends = [check.get(end) for end in ("accuracy_low", "accuracy_high")]
    span = interval_words(*(None if end is None else 100 * end for end in ends))
    excluded = gate.get("excluded") or {}
    return {
        "set": name,
        "model": model,
        "why": why,
        "passed": check.get("passed"),
        "tokens": check.get("tokens"),
        "accuracy": check.get("accuracy"),
        "span": span,
        "baseline": check.get("baseline"),
        "pairs": gate.get("pairs"),
        "sentences": gate.get("sentences"),
        "scored": gate.get("scored"),
        "excluded": [
            f"{n:,}: {exclusion_words(reason)}" for reason, n in sorted(excluded.items()) if n
        ],
        "sentences_with_unknown": gate.get("sentences_with_unknown"),
        "unknown_tokens": gate.get("unknown_tokens"),
        "unknown_most_frequent": list(gate.get("unknown_most_frequent") or {})[:MOST_UNKNOWN],
        "dtype": gate.get("dtype"),
        "rescored": _rescored(gate),
    }


def _rescored(gate: dict[str, Any]) -> str | None:
    """State how many pairs of a half-precision model were rescored in full precision."""
    n = gate.get("rescored_pairs")
    if n is None:
        return None
    return plural(n, "pair") if n else "none"
