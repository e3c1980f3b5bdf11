"""Language-model scores on pairs, by the dose of the association in the training text."""

from collections.abc import Iterator

import numpy as np

from evenhand.certificates.dose_response import dose_rows, dose_table, summarise
from evenhand.certificates.study import TRAINED, Finding, Study
from evenhand.core.tables import Row
from evenhand.scoring.methods import METHODS
from evenhand.scoring.models import LanguageModel
from evenhand.stereotypes.rows import choose_methods, passes_for, value
from evenhand.stereotypes.scoring import score_pairs_of

TABLE = dose_table("language_models", "Scores of pairs by planted dose")


def rows(study: Study) -> Iterator[Row]:
    """Yield a row per trained model, method and kind of frames."""
    return dose_rows(study, TRAINED, _differences)


def findings(measured: list[Row]) -> Iterator[Finding]:
    """Yield the findings on each method, some of whose differences are log-odds."""
    return summarise(measured, [name for name, method in METHODS.items() if method.log_odds])


def _differences(model: LanguageModel, pairs: list[Row], family: str) -> dict[str, list[float]]:
    """Return the score of `more` minus that of `less` of each pair, by method."""
    methods = choose_methods(None, family)
    chunks = score_pairs_of(
        model, pairs, methods=methods, passes=passes_for(family, methods), tokens_per_batch=4096
    )
    scored = {(row.pair["pair_id"], row.side): row for chunk in chunks for row in chunk}
    differences: dict[str, list[float]] = {}
    for method in methods:
        sides = (
            [value(scored[pair["pair_id"], side], method) for pair in pairs]
            for side in ("more", "less")
        )
        more, less = (np.array(numbers, dtype=float) for numbers in sides)
        differences[method] = (more - less).tolist()
    return differences
