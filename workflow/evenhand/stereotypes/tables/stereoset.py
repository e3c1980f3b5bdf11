"""StereoSet's LMS, SS and ICAT, for sets with unrelated sentences."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, number, percent, share, text
from evenhand.metrics.inference import (
    Inference,
    Totals,
    bounded,
    infer,
    sign_flip_interval,
    total,
    verdict,
)
from evenhand.metrics.stereoset import TermScores, macro_scores, score_terms
from evenhand.stereotypes.decisions import NOT_SCORED, adjust_verdicts
from evenhand.stereotypes.read_scores import Model, PairStudy

TABLE = Table(
    "stereoset",
    title="LMS, SS and ICAT",
    key=("model", "method", "bias_type"),
    columns=(
        text("model"),
        text("method"),
        text("bias_type", "all, or a bias type"),
        integer("terms", "Target terms with a scored triple"),
        integer("triples", "Triples of sentences"),
        integer("scored", "Triples with three finite scores"),
        percent("lms", "Language modelling score", interval=True, clusters="terms"),
        percent("ss", "Stereotype score", interval=True, clusters="terms", neutral=50),
        percent("icat", "Idealised CAT score", interval=True, clusters="terms"),
        number("p_value", "Of an SS of 50, two-sided, by random signs of the terms"),
        number("p_adjusted", "Adjusted by Holm for methods, and for bias types beside `all`"),
        number("delta", "The smallest difference of SS from 50 that matters", "points"),
        share("power", "Power of the test at delta"),
        integer("further_clusters", "Further terms that would give a power of 80 %"),
        text("verdict", "On SS, as in bias_scores"),
    ),
    source="Nadeem et al. 2021",
)

#: Methods that compare the two sentences of a pair, so that a third sentence has no score.
BETWEEN_TWO = ("cps", "sss", "sss_compat")


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted model, method and bias type, macro-averaged over target terms."""
    scored = [model for model in study.trusted if ("unrelated", "original") in model.scores.rows]
    if study.trusted and not scored:
        raise NotApplicable("the set has no unrelated sentences")
    for model in scored:
        yield from adjust_verdicts(list(_rows(model, study)))


def _rows(model: Model, study: PairStudy) -> Iterator[tuple[Row, Inference]]:
    """Yield a row per method and bias type, and the inference on its SS."""
    pairs = study.pairs
    there = model.scores.rows["unrelated", "original"] >= 0
    for method in model.methods:
        if method in BETWEEN_TWO:
            continue
        sides = np.stack(
            [model.scores.column(method, side) for side in ("more", "less", "unrelated")]
        )
        sides[:, pairs.excluded] = np.nan
        for bias_type in pairs.bias_types:
            chosen = there & pairs.of_type(bias_type)
            terms = score_terms(*sides[:, chosen], pairs.cluster[chosen, 0])
            parts = pairs.cluster[chosen, 2:][terms.triple]
            preference = infer(_total(terms, terms.triple_ss, parts), neutral=50, delta=study.delta)
            row = {
                "model": model.name,
                "method": method,
                "bias_type": bias_type,
                "terms": len(terms.term),
                "triples": int(chosen.sum()),
                "scored": int(terms.scored.sum()),
                **_scores(terms, parts),
                **preference.cells("p_value", "power", "further_clusters"),
                "delta": study.delta,
                "verdict": verdict(preference) if len(terms.term) else NOT_SCORED,
            }
            yield row, preference


def _total(terms: TermScores, values: np.ndarray, parts: np.ndarray) -> Totals:
    """Return the means of triples by term, and the templates that terms share."""
    term, weights = terms.term_of, 1 / terms.scored[terms.term_of]
    labels = np.column_stack([term, term + len(values), parts])
    shared = total(values * weights, labels, weights).templates
    means = np.bincount(term, values * weights, minlength=len(terms.term))
    return total(means, np.arange(len(means)))._replace(templates=shared)


def _scores(terms: TermScores, parts: np.ndarray) -> dict[str, float | None]:
    """Return LMS, SS and ICAT with their intervals."""
    values = macro_scores(terms.lms, terms.ss)
    lms, ss = terms.triple_lms - values.lms, terms.triple_ss - values.ss
    side = 1 if values.ss < 50 else -1
    # ICAT is a product of means: a term influences it through both factors
    icat = (lms * min(values.ss, 100 - values.ss) + side * ss * values.lms) / 50
    row = {}
    for name, influence in (("lms", lms), ("ss", ss), ("icat", icat)):
        value = float(getattr(values, name))
        low, high = sign_flip_interval(_total(terms, influence, parts))
        row[name] = value
        row[f"{name}_low"], row[f"{name}_high"] = bounded((value + low, value + high), 0.0, 100.0)
    return row
