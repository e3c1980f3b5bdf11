"""Individual fairness on pairs of a case and its counterfactual with swapped words.

Only cases count whose counterfactual differs in the classifier's input. With several labels
per case, two predictions agree if all labels do, and their divergence is the mean over the labels.

Source: IIFR (Journal of Software 34(9), 2023, 4037-4055), section 3.2, on pairs of texts as in
counterfactual token fairness (Garg et al. 2019).
"""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, number, share, text
from evenhand.legal.classifier_study import (
    SETTING,
    SETTING_KEY,
    ClassifierStudy,
    Setting,
    case_counts,
)
from evenhand.metrics.classification import counts_of, over_all, predicted_labels
from evenhand.metrics.individual import TAU, binary, js_divergence
from evenhand.metrics.inference import (
    Inference,
    infer,
    korn_graubard,
    sign_flip_interval,
    total,
    verdict,
)
from evenhand.metrics.paired import adjust

TABLE = Table(
    "counterfactual",
    title="Predictions for cases and their counterfactuals",
    key=(*SETTING_KEY, "split", "measure"),
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
    # whether a case has a counterfactual, and the measures of each run and case
    has: dict[Setting, np.ndarray] = {}
    values: dict[Setting, dict[str, np.ndarray]] = {}
    for setting, places in runs.by_setting().items():
        logits, counterfactual_logits = runs.logits[places], runs.counterfactual_logits[places]
        there = np.isfinite(counterfactual_logits).all(axis=(0, 2))
        if there.any():
            has[setting] = there
            values[setting] = compared(logits[:, there], counterfactual_logits[:, there], task)
            values[setting][SCORE] = scores[places][:, None]
    if not has:
        raise NotApplicable("no training predicts a counterfactual of a test case")
    rows: list[Row] = []
    inferences: dict[int, Inference] = {}
    for setting, there in has.items():
        plain = setting.plain if setting.plain in has and setting != setting.plain else None
        for measure, by_run in values[setting].items():
            means = by_run.mean(axis=1)
            row = {
                **setting._asdict(),
                "split": "test",
                "measure": measure,
                "seeds": len(by_run),
                "cases": len(there),
                "twins": int(there.sum()),
                "value": float(means.mean()),
                "sd": float(means.std(ddof=1)) if len(means) > 1 else None,
            }
            rows.append(row)
            if plain:
                row["erm"] = float(values[plain][measure].mean())
            if measure == SCORE:
                row["difference"] = row["value"] - row["erm"] if plain else None
                continue
            row["low"], row["high"] = _interval(measure, by_run.mean(axis=0))
            if plain and (both := there & has[plain]).any():
                by_case, of_plain = (
                    values[name][measure].mean(axis=0)[both[has[name]]] for name in (setting, plain)
                )
                inferences[len(rows) - 1] = inference = infer(
                    total(by_case - of_plain, np.arange(both.sum())),
                    neutral=0,
                    delta=TAU if measure == "divergence" else study.delta,
                )
                row |= inference.with_interval("difference")
                row |= inference.cells("p_value", "power")
    adjust([rows[place] for place in inferences], "p_value", "p_adjusted")
    for place, inference in inferences.items():
        rows[place]["verdict"] = verdict(inference, p_value=rows[place]["p_adjusted"])
    yield from rows


def compared(
    logits: np.ndarray, counterfactual_logits: np.ndarray, task: str
) -> dict[str, np.ndarray]:
    """Return the `MEASURES` of pairs, float64 of shape (runs, n), from (runs, n, labels)."""
    pair = logits, counterfactual_logits
    divergence = js_divergence(*(_distributions(some, task) for some in pair))
    if task == "multi_label":
        divergence = divergence.mean(axis=-1)
    predicted, of_counterfactuals = (predicted_labels(some, task) for some in pair)
    same = (predicted == of_counterfactuals).all(axis=-1)
    return {"ifr_b": 100.0 * same, "ifr_p": 100.0 * (divergence <= TAU), "divergence": divergence}


def _distributions(logits: np.ndarray, task: str) -> np.ndarray:
    """Return probabilities of the classes, or for each label of having it: (..., labels, 2)."""
    from scipy.special import expit, softmax

    logits = logits.astype(np.float64)
    return binary(expit(logits)) if task == "multi_label" else softmax(logits, axis=-1)


def _interval(measure: str, values: np.ndarray) -> tuple[float, float]:
    """Return the interval of a mean over cases."""
    if measure == "divergence":
        return sign_flip_interval(total(values, np.arange(len(values))))
    low, high = korn_graubard(total(values / 100, np.arange(len(values))))
    return 100 * low, 100 * high
