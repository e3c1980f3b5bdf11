"""Compare decisions and conclusions of the published and the corrected form of each method.

The rules of the published code (kanekomasahiro/evaluate_bias_in_mlm at 6b10239): every pair of
the set counts; a pair with a tie or a missing score counts as a preference for the anti-stereotype;
CPS is rounded to three decimals first (evaluate.py:194-195). Methods with a corrected formula
(AULA's weights, SSS's cross product) are compared with their published formula. Both forms get the
verdict of the table `bias_scores`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, flag, integer, percent, share, text
from evenhand.stereotypes.decisions import SCORED, decide, summarise_group
from evenhand.stereotypes.read_scores import Model, PairStudy


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
        percent(
            "score_published", "Bias score over all pairs, a tie counting as the anti-stereotype"
        ),
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
    both = [
        (model, method)
        for model in study.models
        for method in COMPARED
        if {method.column, method.corrected} <= {*model.methods}
    ]
    if not both:
        raise NotApplicable("no model has a method in both forms")
    for model, method in both:
        # pairs that no method scores (an empty sentence, identical tokens) are left out of both
        decisions = [decide(study.pairs, model.scores, name) for name in model.methods]
        everything = np.any([decision.counted() for decision in decisions], axis=0)
        if everything.any():
            yield {"model": model.name, **_compare(model, method, everything, study)}


def _compare(model: Model, method: Published, chosen: np.ndarray, study: PairStudy) -> Row:
    """Return the row of a method, without its model."""
    coded = decide(study.pairs, model.scores, method.column, error=0, decimals=method.decimals)
    # all pairs count in the published code, as losses unless won
    coded = coded._replace(status=np.full(len(coded.status), SCORED))
    right = decide(study.pairs, model.scores, method.corrected)
    published, corrected = (
        summarise_group(form, [], chosen, study.delta)[0] for form in (coded, right)
    )
    differ = ((coded.hits() != right.hits()) | ~right.counted())[chosen]
    return {
        "published_method": method.name,
        "corrected_method": method.corrected,
        "pairs": len(differ),
        "decisions_changed": int(differ.sum()),
        "share_changed": differ.mean(),
        "score_published": published["score"],
        "score_corrected": corrected["score"],
        "verdict_published": published["verdict"],
        "verdict_corrected": corrected["verdict"],
        "conclusion_changed": published["verdict"] != corrected["verdict"],
        "known_error": method.known_error,
    }
