"""Readable words for the codes in the tables of stereotype pairs."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from evenhand.core.rows import grouped, where
from evenhand.report.headline import plain
from evenhand.report.render import in_words
from evenhand.report.words import codes, gate_meaning
from evenhand.scoring.methods import COUNTING, METHODS
from evenhand.stereotypes.pairs import EXCLUSIONS
from evenhand.stereotypes.scores import EXCLUDED, NO_VALUE
from evenhand.text import catalogue

#: Methods that are shown and do not count in a verdict on a model, and why.
ASIDE = {
    name: "as published" if method.compat_of else "control"
    for name, method in METHODS.items()
    if name not in COUNTING
}

#: A side of a pair in words, by its meaning in the set's description.
PREFERENCES = {
    "stereotype": "the stereotype",
    "anti-stereotype": "the anti-stereotype",
    "male": "the male sentence",
    "female": "the female sentence",
}


def preference(side: str | None) -> str:
    """Return the sentence that a model prefers if it prefers this side, in words."""
    if not side:
        return "the first sentence"
    return PREFERENCES.get(side, f"the {side} sentence")


def method_title(name: str) -> str:
    """Return the title of a method; an unknown method is returned unchanged."""
    return METHODS[name].title if name in METHODS else str(in_words(name))


def in_a_list(name: str) -> str:
    """Return a method's title without commas, for use in a list."""
    return method_title(name).replace(",", "")


def method_of(name: str) -> dict[str, Any]:
    """Return a method's name, title, meaning, family, and why it does not count, if so."""
    known = {"name": name, "title": method_title(name), "aside": ASIDE.get(name)}
    method = METHODS.get(name)
    return known | {key: getattr(method, key, None) for key in ("meaning", "family")}


def in_order(names: Any) -> list[str]:
    """Return names of methods in the order of `METHODS`, unknown ones at the end."""
    order = {name: place for place, name in enumerate(METHODS)}
    return sorted(dict.fromkeys(names), key=lambda name: order.get(name, len(order)))


def with_control(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of methods that count, with ``control``: whether the control prefers alike.

    It is in words, or blank; of a bias type, only the control's score if the words are those of the
    whole set too. Rows of ``bias_scores``, of a model and subset.
    """
    rows = list(rows)
    counted = [row for row in rows if row["method"] not in ASIDE]
    controls = {
        (row["bias_type"], row["verdict"]): row["score"]
        for row in rows
        if row["method"] == "all_masked" and row["verdict"] in ("above", "below")
    }
    known = {row["verdict"] for row in counted if row["bias_type"] == "all"}
    known = {verdict for verdict in known if ("all", verdict) in controls}

    def words(bias_type: str, verdict: str) -> str:
        score, is_known = controls.get((bias_type, verdict)), verdict in known
        return "" if score is None else catalogue.control(score, bias_type != "all" and is_known)

    return [{**row, "control": words(row["bias_type"], row["verdict"])} for row in counted]


def significant_types(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of bias types with a significant preference, the clearest first.

    Of both directions the clearest come first. Of several methods that agree on a type, the
    clearest row is returned, of equal ones that of the method whose score of all pairs is clearest;
    no rows if there is one bias type. Rows have keys besides:
    ``title`` of the method, blank if all rows have one method, ``doubt`` (`doubt_of`, or that the
    interval contains 50), ``control`` (`with_control`), ``is_opposite``: whether the direction is
    not that of the whole set (if the whole has none, above 50 where there are such types), and
    ``undecided``: the ``name`` and ``score`` of methods without a significant preference. Types on
    which methods contradict each other (`contradicted_types`) are not among them.

    Parameters
    ----------
    rows : iterable of dict
        Rows of ``bias_scores`` of all pairs and of bias types, of a model and subset.
    """
    rows = with_control(rows)
    if len({row["bias_type"] for row in rows} - {"all"}) < 2:
        return []
    contradicted = {row["bias_type"] for row in contradicted_types(rows)}
    significant = [
        row
        for row in rows
        if row["verdict"] in ("above", "below") and row["bias_type"] not in contradicted
    ]
    whole = {row["verdict"] for row in significant if row["bias_type"] == "all"}
    by_type: dict[tuple[str, str], Mapping[str, Any]] = {}
    clear = {row["method"]: abs(row["score"] - 50) for row in where(significant, bias_type="all")}

    def place(row: Mapping[str, Any]) -> tuple[float, float]:
        """Order the rows: the clearest first, of equal scores the clearest method's."""
        return -abs(row["score"] - 50), -clear.get(row["method"], 0.0)

    for row in sorted(significant, key=place):
        if row["bias_type"] != "all":
            by_type.setdefault((row["bias_type"], row["verdict"]), row)
    several = len({row["method"] for row in rows}) > 1
    sides = whole if len(whole) == 1 else {verdict for _, verdict in by_type}
    side = "below" if sides == {"below"} else "above"
    order = sorted(by_type.values(), key=lambda row: (-abs(row["score"] - 50), row["bias_type"]))
    undecided = [row for row in rows if row["verdict"] in ("equivalent", "inconclusive")]
    types = [
        {
            **row,
            "title": in_a_list(row["method"]) if several else "",
            "doubt": catalogue.doubt_of(row) or catalogue.borderline(row),
            "is_opposite": row["verdict"] != side,
            "undecided": list(map(_of_method, where(undecided, bias_type=row["bias_type"]))),
        }
        for row in order
    ]
    ranks = {True: count(), False: count()}
    ranked = [(next(ranks[row["is_opposite"]]), row["is_opposite"], row) for row in types]
    return [row for *_, row in sorted(ranked, key=lambda entry: entry[:2])]


def contradicted_types(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the bias types on which methods have significant preferences for both sides.

    Of each, ``above`` and ``below`` have the title and the score of the methods (``name``,
    ``score``). Rows as in `significant_types`.
    """
    types: dict[str, dict[str, Any]] = {}
    for row in with_control(rows):
        if row["verdict"] in ("above", "below") and row["bias_type"] != "all":
            known = types.setdefault(
                row["bias_type"], {"bias_type": row["bias_type"], "above": [], "below": []}
            )
            known[row["verdict"]].append(_of_method(row))
    return [known for known in types.values() if known["above"] and known["below"]]


def _of_method(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": in_a_list(row["method"]), "score": row["score"]}


def opposed_types(types: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Return all rows of `significant_types` if some are opposite, else none."""
    return types if any(row["is_opposite"] for row in types) else []


def lacking(rows: Iterable[dict[str, Any]], column: str, number: str) -> dict[str, list[str]]:
    """Return the parts of a set, such as bias types, with scores that all lack a number, by reason.

    Parameters
    ----------
    rows : iterable of dict
        Rows of ``bias_scores`` of a model.
    column : str
        The column that names the part; "all" is none.
    number : str
        The column of the number, such as ``p_adjusted``.
    """
    parts: dict[str, list[str]] = {}
    scored = (row for row in rows if row["method"] in COUNTING and row["score"] is not None)
    for name, of_part in grouped(scored, column).items():
        if name != "all" and all(row[number] is None for row in of_part):
            parts.setdefault(", ".join(reason_words(of_part[0]["reason"])), []).append(name)
    return parts


def gate_words(reason: str | None) -> list[str]:
    """Return the reasons why a model is not trusted, one sentence each."""
    return [gate_meaning(word, "token") for word in codes(reason)]


def untrusted_models(
    rows: Iterable[Mapping[str, Any]], gates: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Return the models without a number, and why: by a table's rows, and by their checks."""
    failed = [(row["model"], row["reason"]) for row in rows if not row["trusted"]]
    failed += [
        (model, gate.get("reason")) for model, gate in gates.items() if not gate.get("trusted")
    ]
    return {model: gate_words(reason) or [plain("gate_unknown")] for model, reason in failed}


def reason_words(reason: str | None) -> list[str]:
    """Return why there is no verdict, or no stronger one, in words."""
    return [
        (catalogue.reason(word) if word == "one_word" else plain("lm_reason", name=word))
        or NO_VALUE.get(word, str(in_words(word)))
        for word in codes(reason)
    ]


def exclusion_words(reason: str) -> str:
    """Return why a pair or a sentence is not scored; an unknown reason only in words."""
    return EXCLUSIONS.get(reason) or EXCLUDED.get(reason) or str(in_words(reason))
