"""The published form of each method beside its corrected one: what changes in the conclusions.

The rules of the published code (kanekomasahiro/evaluate_bias_in_mlm at 6b10239): every pair of
the set counts; a pair with a tie or without a number counts as if the model preferred the
anti-stereotype; CPS is rounded to three decimals first (evaluate.py:194-195). The methods whose
formula was corrected too (AULA's weights, SSS's cross product) are compared in their published
formula. Both sides get the verdict of `summarise_scores`, each against its own null models.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.io.csv_tables import write_rows
from evenhand.stereotypes.decisions import (
    DISTINGUISHABLE,
    NO_BIAS,
    SCORED,
    UNSCORABLE,
    Decisions,
    decide,
    score_intervals,
    summarise_group,
)
from evenhand.stereotypes.read_scores import (
    Model,
    Pairs,
    Scores,
    read_models,
    read_pair_set,
    summary,
)

HEADER = [
    "model",
    "published_method",
    "corrected_method",
    "pairs",
    "decisions_changed",
    "share_changed",
    "score_published",
    "score_corrected",
    "verdict_published",
    "verdict_corrected",
    "conclusion_changed",
    "known_error",
]


class Published(NamedTuple):
    """A method as it was published: its column, the corrected one, and how it is rounded.

    `known_error` names what differs: ids of ``known_errors.csv`` with spaces between them.
    """

    name: str
    column: str
    corrected: str
    known_error: str
    decimals: int | None = None


COMPARED = (
    Published("aula", "aula", "aula_norm", "aul-aula-length"),
    Published("cps as coded", "cps", "cps", "aul-rounding", decimals=3),
    Published("sss_compat", "sss_compat", "sss", "aul-sss-cross-product aul-sss-nothing-masked"),
)


def compare_compat(
    *,
    pairs: Input,
    scores: list[Source],
    gates: list[Source],
    out: Output,
    nulls: list[Source] | None = None,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Count the decisions and conclusions that differ between published and corrected methods.

    Parameters
    ----------
    pairs : Path
        The set.
    scores, gates : list of Path
        What `score_pairs` wrote of each model; the files' names are the models'.
    out : Path
        CSV, per trusted masked model and published method of which it has both forms:

        - pairs; decisions_changed: pairs that the two forms answer differently, where a tie
          means the anti-stereotype for both, and a pair that the corrected form cannot score is
          an answer of its own; share_changed (0 to 1);
        - score_published over all pairs, score_corrected over the scored ones, in per cent;
        - the verdicts, as in `summarise_scores`;
        - conclusion_changed (true, false): whether one can be told from no bias and the other
          not, or both can, in opposite directions;
        - known_error: what differs, as ids of ``known_errors.csv``.
    nulls : list of Path, optional
        What `score_null` wrote of each model.
    resamples, level, seed
        The bootstrap.
    """
    pair_set = read_pair_set(pairs)
    models = read_models(pair_set, scores, gates, nulls or ())
    draw = {"seed": seed, "resamples": resamples}
    rows = [row for model in models for row in _compare(model, pair_set, draw, level)]
    write_rows(out, HEADER, rows)
    reason = None if rows else "no model has a method in both forms"
    return summary(models, len(rows), reason)


def _compare(
    model: Model, pairs: Pairs, draw: dict[str, int], level: float
) -> Iterator[dict[str, Any]]:
    # what no method scored (an empty sentence, twice the same tokens) is no decision of any code
    everything = np.zeros(len(pairs.pair_id), dtype=bool)
    for name in model.methods:
        everything |= decide(pairs, model.scores, name).status != UNSCORABLE
    if not everything.any():
        return
    for method in COMPARED:
        if method.column not in model.methods or method.corrected not in model.methods:
            continue
        forms = [
            _as_published(pairs, model.scores, method),
            decide(pairs, model.scores, method.corrected),
        ]
        nulls = [
            [_as_published(pairs, null, method) for null in model.nulls],
            [decide(pairs, null, method.corrected) for null in model.nulls],
        ]
        intervals = score_intervals(forms, everything, pairs, draw, level)
        published, corrected = (
            summarise_group(form, null, everything, pairs, interval, level)
            for form, null, interval in zip(forms, nulls, intervals, strict=True)
        )
        differ = (forms[0].hits() != forms[1].hits()) | (forms[1].status == UNSCORABLE)
        differ = differ[everything]
        yield {
            "model": model.name,
            "published_method": method.name,
            "corrected_method": method.corrected,
            "pairs": int(everything.sum()),
            "decisions_changed": int(differ.sum()),
            "share_changed": differ.mean(),
            "score_published": published["score"],
            "score_corrected": corrected["score"],
            "verdict_published": published["verdict"],
            "verdict_corrected": corrected["verdict"],
            "conclusion_changed": _conclusion(published) != _conclusion(corrected),
            "known_error": method.known_error,
        }


def _as_published(pairs: Pairs, scores: Scores, method: Published) -> Decisions:
    """The decisions of published code: all pairs are decided, and what is no win is a loss.

    Where a model of random weights was not asked for the method, nothing is decided.
    """
    found = decide(pairs, scores, method.column, decimals=method.decimals)
    if (found.status == UNSCORABLE).all():
        return found
    return found._replace(status=np.full(len(found.status), SCORED))


def _conclusion(result: dict[str, Any]) -> str:
    if result["verdict"] != DISTINGUISHABLE:
        return result["verdict"]
    return "above" if result["score"] > NO_BIAS else "below"


if __name__ == "__main__":
    stage.run(compare_compat)
