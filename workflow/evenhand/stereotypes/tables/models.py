"""The scored models: identity, validity check, and exclusions."""

from collections.abc import Iterator
from typing import Any

from evenhand.core.tables import Row, Table, flag, integer, share, text
from evenhand.stereotypes.read_scores import PairStudy
from evenhand.stereotypes.scores import EXCLUDED
from evenhand.text.catalogue import read_catalogue

_say = read_catalogue(__file__)

TABLE = Table(
    "models",
    title="Models and their validity checks",
    key=("model",),
    columns=(
        text("model"),
        text("family", "masked or causal"),
        text("type", "Architecture"),
        text("hub_name"),
        text("revision"),
        integer("parameters"),
        integer("vocabulary", "Tokens of the vocabulary"),
        integer("max_tokens", "Longest input"),
        text("dtype"),
        text("weights_sha256"),
        text("tokenizer_sha256"),
        text("missing", "Weights that the checkpoint lacks"),
        flag("trusted", "Whether the model passed its validity check"),
        text("reason", "Why it did not"),
        flag("check_passed", "Whether its token accuracy exceeds the baseline"),
        integer("check_tokens", "Tokens of the check"),
        share("check_accuracy", "Token accuracy in the check", interval=True),
        share("check_baseline", "Token accuracy of the majority-class baseline"),
        integer("pairs"),
        integer("sentences"),
        integer("scored", "Scored sentences"),
        text("excluded", "Sentences without a score, by reason"),
        text("unscored", "Pairs without a score for a reason of the model"),
        integer("sentences_with_unknown", "Sentences with unknown tokens"),
        integer("unknown_tokens"),
        text("unknown_most_frequent", "The most frequent unknown words"),
        text("blank_methods", "Methods without scores, and why"),
        integer("rescored_pairs", "Pairs scored again in full precision"),
    ),
)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per model."""
    for model in study.models:
        most = model.gate.get("max_tokens")
        words = [
            _say("unscored", EXCLUDED[why], pairs, why == "too_long" and most)
            for why, pairs in model.unscored.items()
        ]
        yield _row(model.name, model.gate) | {"unscored": " ".join(words) or None}


def _row(name: str, gate: dict[str, Any]) -> Row:
    check = {f"check_{key}": value for key, value in (gate.get("check") or {}).items()}
    row = {column: (gate | check).get(column) for column in TABLE.header} | {"model": name}
    for column in ("excluded", "unknown_most_frequent"):
        counts = gate.get(column) or {}
        row[column] = "; ".join(f"{word}: {n}" for word, n in counts.items() if n) or None
    blank = [f"{method}: {why}" for method, why in (gate.get("blank_methods") or {}).items()]
    lists = {"missing": gate.get("missing") or [], "blank_methods": blank}
    return row | {column: "; ".join(words) or None for column, words in lists.items()}
