"""The bias score of each model and method on a set, and whether it can be told from no bias.

The interval draws whole clusters, because pairs that swap the same words go together: on
CrowS-Pairs 1,508 pairs are worth about 51 independent ones. It says what other swaps would have
given. It does not say what an untrained network scores, so the score is held against models of
the same architecture with random weights too.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.io.csv_tables import write_rows
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.decisions import (
    NOT_SCORED,
    bias_types,
    decide,
    score_intervals,
    summarise_group,
)
from evenhand.stereotypes.read_scores import Model, Pairs, read_models, read_pair_set, summary

HEADER = [
    "model",
    "method",
    "subset",
    "bias_type",
    "pairs",
    "scored",
    "ties",
    "unscorable",
    "score",
    "score_low",
    "score_high",
    "clusters",
    "effective_clusters",
    "null_seeds",
    "null_mean",
    "null_sd",
    "null_low",
    "null_high",
    "trusted",
    "verdict",
    "reason",
]

#: What is told of a model's check.
CHECK = ("passed", "tokens", "accuracy", "accuracy_low", "accuracy_high", "baseline")

MODELS_HEADER = [
    *("model", "family", "type", "hub_name", "revision", "parameters", "vocabulary", "max_tokens"),
    *("dtype", "weights_sha256", "tokenizer_sha256", "missing", "trusted", "reason"),
    *(f"check_{name}" for name in CHECK),
    *("pairs", "sentences", "scored", "excluded", "sentences_with_unknown", "unknown_tokens"),
    *("unknown_most_frequent", "blank_methods", "rescored_pairs"),
]


def summarise_scores(
    *,
    pairs: Input,
    scores: list[Source],
    gates: list[Source],
    out: Output,
    models_out: Output,
    nulls: list[Source] | None = None,
    methods: list[str] | None = None,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Compute the bias scores of several models on one set, with intervals and verdicts.

    Parameters
    ----------
    pairs : Path
        The set (Parquet, as `read_pairs` writes it).
    scores, gates : list of Path
        What `score_pairs` wrote of each model; the files' names are the models'.
    out : Path
        CSV: per model and method, for each subset and, in it, each bias type (first ``all``):

        - pairs; scored; ties; unscorable pairs, which do not count in the score;
        - score: per cent of the scored pairs whose `more` is likelier; a tie is not likelier.
          50 is no preference;
        - score_low, score_high: interval by bootstrap over clusters; clusters and
          effective_clusters (n^2 / sum of squared sizes) of the scored pairs;
        - null_seeds, null_mean, null_sd and null_low, null_high: the score of models of random
          weights, and where one more of them is to be expected (within 0 to 100);
        - verdict: distinguishable (from no bias), not_distinguishable, not_scored; see
          `evenhand.stereotypes.decisions.judge`. Verdicts are not adjusted for their number.
          A method that the model cannot be scored by has the reason of its gate.

        Subsets: ``all``; ``clean``, pairs without a flag; ``equal_length``, as many tokens on
        both sides; ``stereo`` and ``antistereo``, by direction, where the set has directions.
        A model that is not trusted has one row, with its gate's reason and no number.
    models_out : Path
        CSV: per model what its gate says: what the model is (up to tokenizer_sha256, missing
        weights), whether it is trusted and if not the reason; of its check tokens, accuracy with
        an interval, and the baseline (0 to 1); pairs and sentences, those scored, those not by
        reason; sentences with unknown tokens, how many, and which are the most frequent; the
        methods that it cannot be scored by; and the pairs that were scored again in full
        precision.
    nulls : list of Path, optional
        What `score_null` wrote of each model. With fewer than 3 seeds nothing is called
        distinguishable.
    methods : list of str, optional
        The methods that were asked for, by default those that the gates name: those of them
        that a model could give no number of are rows without one.
    resamples : int
        Bootstrap samples.
    level : float
        Coverage of all intervals.
    seed : int
        Seed of the bootstrap.
    """
    pair_set = read_pair_set(pairs)
    models = read_models(pair_set, scores, gates, nulls or (), methods or ())
    draw = {"seed": seed, "resamples": resamples}
    rows = [row for model in models for row in _summarise(model, pair_set, draw, level)]
    write_rows(out, HEADER, rows)
    write_rows(models_out, MODELS_HEADER, map(_described, gates))
    whole = [row for row in rows if (row["subset"], row["bias_type"]) == ("all", "all")]
    scored = {f"{row['model']} {row['method']}": row["scored"] for row in whole if row["trusted"]}
    return summary(models, len(rows)) | {"scored": scored}


def _described(gate: Path) -> dict[str, Any]:
    """A row of the models: what a gate (as `read_models` has read it) says."""
    told = json.loads(gate.read_text(encoding="utf-8"))
    check = told.get("check") or {}
    row = {name: told.get(name) for name in MODELS_HEADER} | {"model": gate.stem}
    row |= {f"check_{name}": check.get(name) for name in CHECK}
    for name in ("excluded", "unknown_most_frequent"):
        counts = told.get(name) or {}
        row[name] = "; ".join(f"{word}: {n}" for word, n in counts.items() if n) or None
    blank = [f"{method}: {why}" for method, why in (told.get("blank_methods") or {}).items()]
    lists = {"missing": told.get("missing") or [], "blank_methods": blank}
    return row | {name: "; ".join(words) or None for name, words in lists.items()}


def subsets(pairs: Pairs, model: Model) -> dict[str, np.ndarray]:
    """The parts of a set that are scored apart: name and, per pair, whether it belongs to it."""
    lengths = [model.scores.column("n_tokens", side) for side in ("more", "less")]
    found = {
        "all": np.ones(len(pairs.pair_id), dtype=bool),
        "clean": pairs.clean,
        "equal_length": lengths[0] == lengths[1],
    }
    directions = {name: pairs.direction == name for name in ("stereo", "antistereo")}
    if any(chosen.any() for chosen in directions.values()):
        found |= directions
    return found


def _summarise(
    model: Model, pairs: Pairs, draw: dict[str, int], level: float
) -> Iterator[dict[str, Any]]:
    """A model's rows, by method, subset and bias type."""
    blank = dict.fromkeys(HEADER) | {"model": model.name, "subset": "all", "bias_type": "all"}
    methods = [name for name in METHODS if name in model.methods or name in model.blank]
    if not methods:
        reason = model.reason or "nothing_scored"
        verdict = {"verdict": NOT_SCORED, "reason": reason}
        yield blank | {"pairs": len(pairs.pair_id), "trusted": model.trusted} | verdict
        return
    decisions = [decide(pairs, model.scores, method) for method in methods]
    nulls = [[decide(pairs, null, method) for null in model.nulls] for method in methods]
    rows: dict[str, list[dict[str, Any]]] = {method: [] for method in methods}
    for subset, members in subsets(pairs, model).items():
        for bias_type in ("all", *bias_types(pairs)):
            chosen = members & ((pairs.bias_type == bias_type) | (bias_type == "all"))
            if bias_type != "all" and not chosen.any():
                continue
            intervals = score_intervals(decisions, chosen, pairs, draw, level)
            for place, method in enumerate(methods):
                rows[method].append(
                    blank
                    | {"method": method, "subset": subset, "bias_type": bias_type}
                    | summarise_group(
                        decisions[place], nulls[place], chosen, pairs, intervals[place], level
                    )
                    | ({"reason": model.blank[method]} if method in model.blank else {})
                    | {"trusted": True}
                )
    for method in methods:
        yield from rows[method]


if __name__ == "__main__":
    stage.run(summarise_scores)
