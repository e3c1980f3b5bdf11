"""Section: each model's description, validity check, and coverage of each set."""

from typing import Any

from evenhand.report.render import in_words
from evenhand.report.sections.stereotypes_words import FAMILIES, exclusion_words, untrusted_models

#: The fields of a validity check that describe the model.
FACTS = ("hub_name", "revision", "type", "parameters", "vocabulary", "max_tokens", "dtype",
         "weights_sha256", "tokenizer_sha256")  # fmt: skip

#: Its counts, and the numbers of its test.
COUNTS = ("pairs", "sentences", "scored", "sentences_with_unknown", "unknown_tokens",
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
        known = {"model": model, "family": FAMILIES.get(family, in_words(family))}
        known |= {fact: gate.get(fact) for fact in FACTS}
        facts.setdefault((model, known["weights_sha256"]), known)
        why = untrusted_models((), {model: gate}).get(model, [])
        checks.append({"set": name, "model": model, "why": why} | describe_check(gate))
    return {"facts": list(facts.values()), "checks": checks}


def describe_check(gate: dict[str, Any]) -> dict[str, Any]:
    """Return the counts and the test of a validity check, with reasons in words as `left_out`."""
    excluded = sorted((gate.get("excluded") or {}).items())
    return {
        **{name: gate.get(name) for name in COUNTS},
        **{name: (gate.get("check") or {}).get(name) for name in TEST},
        "left_out": [f"{n:,}: {exclusion_words(reason)}" for reason, n in excluded if n],
    }
