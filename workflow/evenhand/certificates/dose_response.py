"""The dependence of a method's score on the dose of a planted association."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import groupby, product

import numpy as np

from evenhand.certificates.planted_text import planted_log_odds, planted_pairs
from evenhand.certificates.study import Finding, Study
from evenhand.core.decimals import ALPHA
from evenhand.core.tables import Row, Table, flag, integer, number, percent, text
from evenhand.metrics.inference import mean_p_value, swap_codes, total
from evenhand.metrics.roc import auc
from evenhand.scoring.models import LanguageModel

#: Requirements for a certified method: the rank correlation of doses and scores, and the AUC of
#: dose 1 against dose 0.
LEAST_CORRELATION, LEAST_AUC = 0.7, 0.9

#: The share of the planted log-odds that a method is to find whose differences are log-odds, by
#: vocabulary. They are low, as the models have not learned all, and Chinese words have two tokens,
#: whose mean is half of it.
LEAST_LOG_ODDS = {"english": 0.5, "chinese": 0.4}

#: The probability that a correct test has at most the allowed number of false alarms.
ALLOWED = 0.99


def dose_table(name: str, title: str) -> Table:
    """Return the declaration of a table of scores by dose."""
    return Table(
        name,
        title=title,
        key=("language", "family", "method", "new_frames", "dose", "seed"),
        columns=(
            text("language", "The planted vocabulary"),
            text("family", "masked or causal: the kind of model"),
            text("method"),
            flag("new_frames", "Whether the frames of the sentences do not occur in training"),
            number("dose", "Share of the sentences beyond one half that carry the association"),
            integer("seed", "Seed of text and training"),
            integer("items", "Pairs or sentences that were scored"),
            percent("score", "Items scored in the planted direction; 50: no preference"),
            number("p_value", "Of the sign-flip test over swapped words"),
            number("difference", "Mean difference of the scores in the planted direction"),
            number("planted", "Planted log-odds, in the unit of difference; blank: infinite"),
        ),
    )


def dose_rows(
    study: Study,
    trained: Iterable[tuple[str, str]],
    differences: Callable[[LanguageModel, list[Row], str], dict[str, list[float]]],
) -> Iterator[Row]:
    """Yield a row of a `dose_table` per trained model, method and kind of frames.

    Parameters
    ----------
    study : Study
        The planted models.
    trained : iterable of (str, str)
        Vocabularies and kinds of models, of `evenhand.certificates.study.TRAINED`.
    differences : callable
        Returns the score of each pair in the planted direction minus the other, by method,
        from a model, pairs and the kind of the model.
    """
    for language, family in trained:
        words = study.vocabulary(language)
        sets = {new: planted_pairs(words, new_frames=new) for new in (False, True)}
        for dose, seed in product(study.doses, study.seeds):
            model = study.model(language, family, dose, seed)
            for new_frames, pairs in sets.items():
                clusters = [pair["cluster"] for pair in pairs]
                for method, values in differences(model, pairs, family).items():
                    yield {
                        **{"language": language, "family": family, "method": method},
                        **{"seed": seed, "new_frames": new_frames},
                        **dose_row(values, clusters, dose),
                    }


def dose_row(differences: Sequence[float], clusters: Sequence[str], dose: float) -> Row:
    """Return the cells of a `dose_table` that are computed from the items of one model.

    Parameters
    ----------
    differences : sequence of float
        Score in the planted direction minus the other, per item; NaN: not scored.
    clusters : sequence of str
        The swapped words of each item.
    dose : float
        The dose of the model's training text.
    """
    values = np.asarray(differences, dtype=float)
    scored = np.isfinite(values)
    values, names = values[scored], np.asarray(clusters)[scored]
    planted = planted_log_odds(dose)
    row: dict[str, float | int | None] = {"dose": dose, "items": len(values)}
    row["planted"] = planted if np.isfinite(planted) else None
    if not len(values):
        return row | dict.fromkeys(("score", "p_value", "difference"))
    p_value = mean_p_value(total(np.sign(values), swap_codes(names)))
    return row | {
        "score": 100 * float((values > 0).mean()),
        "p_value": p_value if np.isfinite(p_value) else None,
        "difference": float(values.mean()),
    }


def summarise(rows: Iterable[Row], log_odds: Container[str]) -> Iterator[Finding]:
    """Yield the findings of each language, family and method, on known frames.

    The differences of the methods `log_odds` are log-odds.

    A tiny model may have learned the association in the frames of its training only; other frames
    would test the model rather than the method.
    """
    ordered = sorted((row for row in rows if not row["new_frames"]), key=_of)
    for (language, family, method), group in groupby(ordered, key=_of):
        name = f"{method}, {family}, {language}"
        least_odds = LEAST_LOG_ODDS.get(language) if method in log_odds else None
        yield from _summarise(name, list(group), least_odds)


def _of(row: Row) -> tuple[str, str, str]:
    return row["language"], row["family"], row["method"]


def _summarise(method: str, rows: Sequence[Row], least_odds: float | None) -> Iterator[Finding]:
    rows = [row for row in rows if row["score"] is not None]
    if not rows:
        yield Finding(method, "rank correlation with the dose", None, least=LEAST_CORRELATION)
        return
    doses, scores = (np.array([row[name] for row in rows], float) for name in ("dose", "score"))
    alarms = [
        row["p_value"] < ALPHA for row in rows if row["dose"] == 0 and row["p_value"] is not None
    ]
    slope = float(np.polyfit(doses, scores, 1)[0]) if len({*doses.tolist()}) > 1 else None
    yield Finding(method, "slope (points per unit of dose)", slope)
    correlation = _rank_correlation(doses, scores)
    yield Finding(method, "rank correlation with the dose", correlation, least=LEAST_CORRELATION)
    areas = {dose: _auc(doses, scores, dose) for dose in sorted({*doses.tolist()} - {0.0})}
    for dose, area in areas.items():
        least = LEAST_AUC if dose == 1 else None
        yield Finding(method, f"AUC of dose {dose:g} against dose 0", area, least=least)
    seen = [
        dose
        for dose in areas
        if all(area >= LEAST_AUC for other, area in areas.items() if other >= dose)
    ]
    yield Finding(method, "smallest dose seen", min(seen, default=None))
    if alarms:
        from scipy.stats import binom

        share = float(np.mean(alarms))
        most = float(binom.ppf(ALLOWED, len(alarms), ALPHA)) / len(alarms)
        yield Finding(method, "false alarms at dose 0", share, most=most)
    known = [row for row in rows if row["planted"]]
    if known:
        ratio = np.mean([row["difference"] / row["planted"] for row in known])
        yield Finding(method, "difference, in planted log-odds", float(ratio), least=least_odds)


def _rank_correlation(doses: np.ndarray, scores: np.ndarray) -> float:
    from scipy.stats import spearmanr

    if len({*scores.tolist()}) == 1:
        return 0.0
    return float(spearmanr(doses, scores).statistic)


def _auc(doses: np.ndarray, scores: np.ndarray, dose: float) -> float:
    chosen = (doses == 0) | (doses == dose)
    return auc(scores[chosen], doses[chosen] == dose)
