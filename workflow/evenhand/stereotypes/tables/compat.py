"""Compare decisions and conclusions of the published and the corrected form of each method.

The rules of the published code (kanekomasahiro/evaluate_bias_in_mlm at 6b10239): every pair of
the set counts; a pair with a tie or a missing score counts as a preference for the anti-stereotype;
CPS is rounded to three decimals first (evaluate.py:194-195). Methods with a corrected formula
(AULA's weights, SSS's cross product) are compared with their published formula. Both forms get the
verdict of the table `bias_scores`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.tables import (
    NotApplicable,
    Row,
    Table,
    flag,
    integer,
    percent,
    share,
    text,
)
from evenhand.stereotypes.decisions import (
    SCORED,
    UNSCORABLE,
    Decisions,
    decide,
    summarise_group,
)
from evenhand.stereotypes.read_scores import Model, Pairs, PairStudy, Scores


class Published(NamedTuple):
    """A published method: its column, the corrected one, and its rounding.

    `known_error` lists the differences: ids of ``known_errors.csv``, separated by spaces.
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


TABLE = Table(
    "compat",
    title="Published and corrected methods: decisions and conclusions",
    key=("model", "published_method", "corrected_method"),
    columns=(
        text("model"),
        text("published_method"),
        text("corrected_method"),
        integer("pairs", "Pairs that at least one method scores"),
        integer("decisions_changed", "Pairs decided differently; an unscorable pair differs too"),
        share("share_changed", "decisions_changed / pairs"),
        percent("score_published", "Bias score over all pairs, a tie counting as no preference"),
        percent("score_corrected", "Bias score over the scored pairs"),
        text("verdict_published", "As in bias_scores"),
        text("verdict_corrected", "As in bias_scores"),
        flag("conclusion_changed", "Whether the two verdicts differ"),
        text("known_error", "Ids of known_errors.csv, with spaces between them"),
    ),
    source="kanekomasahiro/evaluate_bias_in_mlm at 6b10239",
)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted masked model and published method that it has in both forms."""
    models = [model for model in study.models if _both_forms(model)]
    if not models:
        raise NotApplicable("no model has a method in both forms")
    for model in models:
        yield from _compare(model, study.pairs, study.delta, study.level)


def _both_forms(model: Model) -> list[Published]:
    return [method for method in COMPARED if {method.column, method.corrected} <= {*model.methods}]


def _compare(model: Model, pairs: Pairs, delta: float, level: float) -> Iterator[dict[str, Any]]:
    # pairs that no method scores (an empty sentence, identical tokens) are left out of both forms
    everything = np.zeros(len(pairs.pair_id), dtype=bool)
    for name in model.methods:
        everything |= decide(pairs, model.scores, name).status != UNSCORABLE
    if not everything.any():
        return
    for method in _both_forms(model):
        forms = [
            _as_published(pairs, model.scores, method),
            decide(pairs, model.scores, method.corrected),
        ]
        published, corrected = (
            summarise_group(form, [], everything, pairs, delta, level)[0] for form in forms
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
            "conclusion_changed": published["verdict"] != corrected["verdict"],
            "known_error": method.known_error,
        }


def _as_published(pairs: Pairs, scores: Scores, method: Published) -> Decisions:
    """Return the decisions of the published code: all pairs count, as losses unless won."""
    decisions = decide(pairs, scores, method.column, decimals=method.decimals)
    return decisions._replace(status=np.full(len(decisions.status), SCORED))
