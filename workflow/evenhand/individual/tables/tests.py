"""Tests between methods, paired by seed.

Each method is tested against the MLP, each individual loss against the method without it, and
EIDIG against its control, which is retrained without new rows.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from evenhand.core.decimals import ALPHA
from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.individual.results import (
    FORM,
    IN_PERCENT,
    SETTING,
    SETTING_COLUMNS,
    Result,
    Setting,
    largest,
    setting_of,
)
from evenhand.individual.study import IndividualStudy
from evenhand.metrics.inference import (
    bounded,
    conclude,
    further,
    student_power,
    student_quantile,
)
from evenhand.metrics.paired import adjust
from evenhand.text.catalogue import reason

#: The measures that are tested.
METRICS = ("acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p", "ddp", "deo_0", "deo_1")

#: What no seed can change: without the attribute a network has an IFR of 100, and the most frequent
#: label no gap either.
BY_CONSTRUCTION = (
    *(("mlp_without_attribute", metric) for metric in ("ifr_b", "ifr_p")),
    *(("majority", metric) for metric in ("ifr_b", "ifr_p", "ddp", "deo_0", "deo_1")),
)

TABLE = Table(
    "tests",
    title="Tests between methods, paired by seed",
    key=(*SETTING, "against", "against_mu", "metric"),
    columns=(
        *SETTING_COLUMNS,
        text("choice", "Why the setting is reported, as in table_4"),
        text("against", "mlp; none: the same method and mu without the loss; control: of EIDIG"),
        number("against_mu"),
        text("metric"),
        integer("seeds", "Seeds that both have"),
        number("mean"),
        number("against_mean"),
        number("difference", "Above 0: the setting is higher", interval=True, count="seeds"),
        number("p_value", "Two-sided paired t test: would other seeds on these data differ?"),
        number("p_adjusted", "By Holm, over all tests of the data set"),
        number(
            "p_resampled",
            "With the variance of Nadeau and Bengio (Machine Learning 52, 2003), (1/k +"
            " n_test/n_train) s^2, for random splits that share rows: would other data differ?",
        ),
        number("p_resampled_adjusted", "By Holm, over all tests of the data set"),
        number("delta", "The smallest difference that matters, in this unit"),
        text(
            "unit", "Of means, difference and delta: percent, or share, of which 0.05 is 5 points"
        ),
        share(
            "power",
            "Power of the paired t test at delta, at the first level of Holm: .05 by the tests of"
            " the data set",
        ),
        integer("further_seeds", "Further seeds for a power of 80 % at that level"),
        text(
            "verdict",
            "above or below 0 (adjusted p-value), equivalent (within delta) or inconclusive",
        ),
        text("reason", "Why there is no p-value, or no equivalence"),
    ),
    form=FORM,
)


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per reported setting, reference and metric."""
    for dataset in sorted(study.datasets):
        for row in _adjusted(list(_of_dataset(study, dataset))):
            near = row.pop("equivalent", None)
            if near is not None:
                row["verdict"] = conclude(row["difference"], row["p_adjusted"], near)
            yield row


def _of_dataset(study: IndividualStudy, dataset: str) -> Iterator[dict[str, Any]]:
    results = study.results
    for setting, choice in study.reported(dataset):
        for against, other in references(setting).items():
            if setting not in results or other not in results or other == setting:
                continue
            pair = {"choice": choice, "against": against, "against_mu": other.mu}
            for metric in METRICS:
                tested = compare(results[setting], results[other], metric, study.delta)
                unit = "percent" if metric in IN_PERCENT else "share"
                yield setting.named | pair | {"metric": metric, "unit": unit} | tested


def references(setting: Setting) -> dict[str, Setting]:
    """Return the candidate references of a setting, by the column ``against``."""
    named = setting.named
    plain = named | dict.fromkeys(("reduction", "epsilon", "epsilon_unit"))
    plain |= {"individual": "none", "lambda": 0.0}
    candidates = {"mlp": plain | {"method": "mlp", "mu": None}}
    if setting.individual != "none" and setting.method != "mlp":
        candidates["none"] = plain
    candidates["control"] = named | {"method": f"{setting.method}_control"}
    return {against: setting_of(values) for against, values in candidates.items()}


def compare(result: Result, other: Result, metric: str, delta: float = 5.0) -> dict[str, Any]:
    """Return the unadjusted paired tests of a metric, and whether it is equivalent."""
    reference = {run["seed"]: run[metric] for run in other.runs if run[metric] is not None}
    runs = [run for run in result.runs if run[metric] is not None and run["seed"] in reference]
    if not runs:
        return {"seeds": 0, "reason": reason("no_seed")}
    values = np.array([run[metric] for run in runs], dtype=np.float64)
    against = np.array([reference[run["seed"]] for run in runs], dtype=np.float64)
    differences = values - against
    row: dict[str, Any] = {"seeds": len(runs), "mean": float(values.mean())}
    row |= {"against_mean": float(against.mean()), "difference": float(differences.mean())}
    if (result.setting.method, metric) in BY_CONSTRUCTION:
        return row | {"reason": reason("by_construction")}
    if len(runs) < 2:
        return row | {"reason": reason("one_seed")}
    low, high, p_value = paired_t(differences)
    row |= {"p_value": p_value}
    row["difference_low"], row["difference_high"] = bounded(
        (low, high), -largest(metric), largest(metric)
    )
    delta *= largest(metric) / 100
    error = float(differences.std(ddof=1)) / math.sqrt(len(runs))
    row |= {"delta": delta, "error": error, "equivalent": -delta < low and high < delta}
    constant = [
        all(run["positive_rate"] in (None, 0, 1) for run in some.runs) for some in (result, other)
    ]
    if any(constant) and metric != "ifr_p":
        why = reason("constant" if all(constant) else "one_constant")
        row |= {"equivalent": False, "reason": why}
    elif p_value is None:
        row["reason"] = "the differences do not vary"
    if p_value is not None and result.setting.split == "random":
        extra = float(np.mean([run["n_test"] / run["n_train"] for run in runs]))
        row["p_resampled"] = paired_t(differences, extra)[2]
    return row


def paired_t(
    differences: Sequence[float] | np.ndarray, extra: float = 0.0
) -> tuple[float, float, float | None]:
    """Return the 95 % interval of the mean difference, and the p-value of the paired t test.

    Parameters
    ----------
    differences : sequence of float
        At least two differences.
    extra : float
        Added to ``1 / k`` in the variance of the mean: n_test / n_train for random splits of
        the same data (Nadeau and Bengio 2003).

    Returns
    -------
    (float, float, float or None)
        The two-sided p-value is None if all differences are equal and not zero, and 1 if all are
        zero.
    """
    from scipy.special import stdtr

    values = np.asarray(differences, dtype=np.float64)
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    if sd <= 1e-12 * max(1.0, abs(mean)):
        return mean, mean, 1.0 if abs(mean) <= 1e-12 else None
    error = math.sqrt(1 / len(values) + extra) * sd
    reach = student_quantile(len(values) - 1) * error
    p_value = 2 * float(stdtr(len(values) - 1, -abs(mean) / error))
    return mean - reach, mean + reach, p_value


def _adjusted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    adjust(rows, "p_value", "p_adjusted")
    adjust(rows, "p_resampled", "p_resampled_adjusted")
    level = 1 - ALPHA / max(sum(row.get("p_value") is not None for row in rows), 1)
    for row in rows:
        error = row.pop("error", None)
        if error is not None:
            power = partial(student_power, error, row["seeds"], delta=row["delta"], level=level)
            row["power"] = power()
            row["further_seeds"] = further(lambda times, at=power: at(times=times), row["seeds"])
    return rows
