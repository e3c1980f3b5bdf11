"""Language-model scores on pairs, by the dose of the association in the training text."""

from collections.abc import Iterator

import numpy as np

from evenhand.certificates.dose_response import dose_row, dose_table, summarise
from evenhand.certificates.planted_text import planted_pairs
from evenhand.certificates.study import TRAINED, Finding, Study
from evenhand.core.tables import Row
from evenhand.scoring.models import LanguageModel
from evenhand.stereotypes.passes import choose_methods, passes_for
from evenhand.stereotypes.rows import value
from evenhand.stereotypes.scoring import score_pairs_of

TABLE = dose_table("language_models", "Scores of pairs by planted dose")


def rows(study: Study) -> Iterator[Row]:
    """Yield a row per trained model, method and kind of frames."""
    for language, family in TRAINED:
        words, methods = study.vocabulary(language), choose_methods(None, family)
        sets = {new: planted_pairs(words, seed=0, new_frames=new) for new in (False, True)}
        for dose, seed in study.trainings():
            model = study.model(language, family, dose, seed)
            for new_frames, pairs in sets.items():
                differences = _differences(model, pairs, methods, family)
                clusters = [pair["cluster"] for pair in pairs]
                for method in methods:
                    yield {
                        **{"language": language, "family": family, "method": method},
                        **{"seed": seed, "new_frames": new_frames},
                        **dose_row(differences[method], clusters, dose),
                    }


def findings(measured: list[Row]) -> Iterator[Finding]:
    """Yield the findings on each method."""
    return summarise(measured)


def _differences(
    model: LanguageModel, pairs: list[Row], methods: list[str], family: str
) -> dict[str, list[float]]:
    """Return the score of `more` minus that of `less` of each pair, by method."""
    chunks = score_pairs_of(
        model,
        pairs,
        methods=methods,
        passes=passes_for(family, methods),
        tokens_per_batch=4096,
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
