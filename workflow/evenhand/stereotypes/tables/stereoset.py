"""StereoSet's LMS, SS and ICAT, for sets with unrelated sentences."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, percent, text
from evenhand.metrics.bootstrap import percentile_interval
from evenhand.metrics.stereoset import TermScores, macro_scores, score_terms
from evenhand.stereotypes.decisions import bias_types
from evenhand.stereotypes.read_scores import Model, Pairs
from evenhand.stereotypes.study import PairStudy

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
    ),
    source="Nadeem et al. 2021",
)

METRICS = ("lms", "ss", "icat")

#: Methods that compare the two sentences of a pair, so that a third sentence has no score.
BETWEEN_TWO = ("cps", "sss", "sss_compat")


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted model, method and bias type, macro-averaged over target terms."""
    models = [one for one in study.models if one.trusted]
    scored = [one for one in models if ("unrelated", "original") in one.scores.rows]
    if models and not scored:
        raise NotApplicable("the set has no unrelated sentences")
    for model in scored:
        yield from _rows(model, study.pairs, study.draw, study.level)


def _rows(model: Model, pairs: Pairs, draw: dict[str, int], level: float) -> Iterator[Row]:
    there = model.scores.rows["unrelated", "original"] >= 0
    for method in model.methods:
        if method in BETWEEN_TWO:
            continue
        sides = np.stack(
            [model.scores.column(method, side) for side in ("more", "less", "unrelated")]
        )
        sides[:, pairs.excluded] = np.nan
        for bias_type in ("all", *bias_types(pairs)):
            chosen = there & ((pairs.bias_type == bias_type) | (bias_type == "all"))
            found = score_terms(*sides[:, chosen], pairs.cluster[chosen])
            yield {
                "model": model.name,
                "method": method,
                "bias_type": bias_type,
                "terms": len(found.term),
                "triples": int(chosen.sum()),
                "scored": int(found.scored.sum()),
                **_scores(found, draw, level),
            }


def _scores(found: TermScores, draw: dict[str, int], level: float) -> dict[str, float | None]:
    """LMS, SS and ICAT with their intervals; None where there is none."""
    terms = len(found.term)
    values = macro_scores(found.lms, found.ss)
    low = high = np.full(len(METRICS), np.nan)
    if terms >= 2:
        generator = np.random.default_rng(draw["seed"])
        drawn = generator.integers(terms, size=(draw["resamples"], terms))
        replicates = macro_scores(found.lms[drawn], found.ss[drawn])
        low, high = percentile_interval(np.stack(replicates, axis=1), level)
    return {
        f"{metric}{end}": float(numbers[place])
        for place, metric in enumerate(METRICS)
        for end, numbers in (("", values), ("_low", low), ("_high", high))
    }
