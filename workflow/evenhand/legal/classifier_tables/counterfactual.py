"""Individual fairness on pairs of a case and its counterfactual with swapped words.

Only cases count whose counterfactual differs in the classifier's input. With several labels
per case, two predictions agree if all labels do, and their divergence is the mean over the labels.

Source: IIFR (Journal of Software 34(9), 2023, 4037-4055), section 3.2, on pairs of texts as in
counterfactual token fairness (Garg et al. 2019).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, number, share, text
from evenhand.legal.classifier_study import SETTING, ClassifierStudy
from evenhand.legal.predictions import NO_ATTRIBUTE
from evenhand.legal.scored import BASE, Setting, case_counts
from evenhand.metrics.classification import counts_of, over_all, predicted_labels
from evenhand.metrics.individual import TAU, binary, js_divergence
from evenhand.metrics.inference import infer, korn_graubard, sign_flip_interval, total, verdict
from evenhand.metrics.paired import holm

TABLE = Table(
    "counterfactual",
    title="Predictions for cases and their counterfactuals",
    key=(*(one.name for one in SETTING), "split", "measure"),
    columns=(
        *SETTING,
        text("split"),
        text(
            "measure",
            "ifr_b: % of pairs with the same prediction; ifr_p: % of pairs within 0.001 nats;"
            " divergence: mean Jensen-Shannon divergence in nats; macro_f1: % of all cases,"
            " because a constant classifier is fair to every pair",
        ),
        integer("seeds"),
        integer("cases", "Of the split"),
        integer("twins", "Cases with a counterfactual"),
        number("value", "Mean over seeds; interval over cases", interval=("low", "high")),
        number("sd", "Standard deviation over seeds"),
        number("erm", "The value of ERM of the same classifier"),
        number(
            "difference",
            "To ERM; interval over the cases that have a counterfactual in both",
            interval=True,
        ),
        number("p_value", "Of a difference of 0, two-sided, by random signs of the cases"),
        number("p_adjusted", "By Holm, for all tests of the table"),
        share("power", "Power of the test at delta: in points, for divergence 0.001 nats"),
        text("verdict", "above or below 0, equivalent (within delta) or inconclusive"),
    ),
    source="IIFR (2023), section 3.2, on texts",
)

MEASURES = ("ifr_b", "ifr_p", "divergence")

#: What the predictions cost.
SCORE = "macro_f1"


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting and measure; settings without counterfactuals are left out."""
    cases, runs = study.test
    task, classes = study.dataset.task, cases.classes.shape[1]
    scores = 100 * over_all(counts_of(case_counts(cases, runs).sum(axis=0), classes))
    found: dict[Setting, tuple[np.ndarray, dict[str, np.ndarray]]] = {}
    of_score: dict[Setting, np.ndarray] = {}
    for setting, places in runs.by_setting().items():
        has = np.isfinite(runs.twins[places]).all(axis=(0, 2))
        if has.any():
            logits, twins = runs.logits[places], runs.twins[places]
            found[setting] = has, compared(logits[:, has], twins[:, has], task)
            of_score[setting] = scores[places]
    if not found:
        raise NotApplicable("no training predicts a counterfactual of a test case")
    tested: list[Row] = []
    for setting, (has, values) in found.items():
        base = Setting(setting.classifier, BASE, NO_ATTRIBUTE)
        key = {
            **setting._asdict(),
            "split": "test",
            "seeds": len(of_score[setting]),
            "cases": len(has),
            "twins": int(has.sum()),
        }
        against = found.get(base) if setting != base else None
        for measure in MEASURES:
            row = key | {"measure": measure} | _mean(values[measure])
            row["low"], row["high"] = _interval(measure, values[measure].mean(axis=0))
            if against is not None:
                delta = TAU if measure == "divergence" else study.delta
                pair = (has, values[measure]), (against[0], against[1][measure])
                row |= _difference(*pair, delta)
            tested.append(row)
        row = key | {"measure": SCORE} | _mean(of_score[setting])
        if setting != base and base in of_score:
            erm = float(of_score[base].mean())
            row |= {"erm": erm, "difference": row["value"] - erm}
        tested.append(row)
    inferences = [row.pop("inference", None) for row in tested]
    adjusted = holm(np.array([np.nan if one is None else one.p_value for one in inferences]))
    for row, one, p_adjusted in zip(tested, inferences, adjusted.tolist(), strict=True):
        if one is not None:
            row |= {"p_adjusted": p_adjusted, "verdict": verdict(one, p_value=p_adjusted)}
    yield from tested


def compared(logits: np.ndarray, twins: np.ndarray, task: str) -> dict[str, np.ndarray]:
    """Return the `MEASURES` of pairs, float64 of shape (runs, n), from (runs, n, labels)."""
    one, other = (_distributions(some, task) for some in (logits, twins))
    divergence = js_divergence(one, other)
    if task == "multi_label":
        divergence = divergence.mean(axis=-1)
    same = (predicted_labels(logits, task) == predicted_labels(twins, task)).all(axis=-1)
    return {"ifr_b": 100.0 * same, "ifr_p": 100.0 * (divergence <= TAU), "divergence": divergence}


def _distributions(logits: np.ndarray, task: str) -> np.ndarray:
    """Over the classes, or for each label of having it: (..., labels, 2)."""
    from scipy.special import expit, softmax

    logits = logits.astype(np.float64)
    return binary(expit(logits)) if task == "multi_label" else softmax(logits, axis=-1)


def _mean(values: np.ndarray) -> dict[str, float | None]:
    """Mean and sd over runs, of values (runs, ...)."""
    of_runs = values.reshape(len(values), -1).mean(axis=1)
    sd = float(of_runs.std(ddof=1)) if len(of_runs) > 1 else None
    return {"value": float(of_runs.mean()), "sd": sd}


def _interval(measure: str, values: np.ndarray) -> tuple[float, float]:
    """The interval of a mean over cases."""
    if measure == "divergence":
        return sign_flip_interval(total(values, np.arange(len(values))))
    low, high = korn_graubard(total(values / 100, np.arange(len(values))))
    return 100 * low, 100 * high


def _difference(
    ours: tuple[np.ndarray, np.ndarray], base: tuple[np.ndarray, np.ndarray], delta: float
) -> dict[str, Any]:
    """Compare with ERM over the cases that both have a counterfactual of; each (has, values)."""
    both = ours[0] & base[0]
    row: dict[str, Any] = {"erm": float(base[1].mean())}
    if not both.any():
        return row
    mine, erm = (values.mean(axis=0)[both[has]] for has, values in (ours, base))
    found = infer(total(mine - erm, np.arange(len(mine))), neutral=0, delta=delta)
    return row | {
        "difference": found.estimate,
        "difference_low": found.low,
        "difference_high": found.high,
        "p_value": found.p_value,
        "power": found.power,
        "inference": found,
    }
