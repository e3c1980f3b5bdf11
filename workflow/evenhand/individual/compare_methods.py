"""Stage: tests between methods, paired by seed."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Source
from evenhand.individual.lines import lines_of
from evenhand.individual.published import read_settings
from evenhand.individual.results import (
    FORM,
    SETTING,
    Result,
    Setting,
    by_setting,
    read_runs,
)
from evenhand.individual.summary import t_quantile
from evenhand.metrics.paired import holm

#: What is tested.
TESTED = ("acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p", "ddp", "deo_0", "deo_1")

HEADER = [
    *SETTING,
    "choice",
    "against",
    "against_mu",
    "metric",
    "seeds",
    "mean",
    "against_mean",
    "difference",
    "difference_low",
    "difference_high",
    "p_value",
    "p_adjusted",
    "p_resampled",
    "p_resampled_adjusted",
    "reason",
]


def compare_methods(*, runs: list[Source], settings: Input, out: Output) -> dict[str, Any]:
    """Test each method against the MLP, and each individual loss against the method without it.

    Parameters
    ----------
    runs : list of Path
        What `train_table` wrote.
    settings : Path
        Which setting stands for a method (``resources/iifr/settings.csv``), where
        `evenhand.individual.lines` says what stands for one whose setting was not run.
    out : Path
        CSV, per setting, metric and what it is tested against (``mlp``; ``none``: the same method
        and mu without the individual loss; ``control``: the method ``{method}_control``, as
        that of EIDIG, which is retrained without new rows):

        - choice: ``named`` in the settings, ``alike`` or ``first`` of its kind that was run, or
          one of ``every`` setting of a method that is not named (`evenhand.individual.lines`);
        - seeds that both have; difference of the means, above 0 where the setting is higher,
          with the 95 % interval of the paired t test;
        - p_value of the paired t test over seeds: would other seeds, on these data, show a
          difference; p_resampled of the same test with the variance of Nadeau and Bengio
          (Machine Learning 52, 2003), ``(1/k + n_test/n_train) s^2``, which allows for training
          rows that random splits share: would other data of the kind. Each two-sided, and
          adjusted by Holm for all tests of a data set;
        - reason: why there is no p-value.
    """
    results = by_setting(read_runs(runs))
    chosen = read_settings(settings)
    rows: list[dict[str, Any]] = []
    for dataset in sorted({key[0] for key in results}):
        own = _of_dataset(dataset, results, chosen)
        rows += _adjusted(own)
    written = write_rows(out, HEADER, rows, FORM)
    return {"tests": written, "without_p": sum(row["p_value"] is None for row in rows)}


def _of_dataset(
    dataset: str, results: Mapping[Setting, Result], chosen: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    rows = []
    for key, choice in lines_of(dataset, chosen, results):
        if key not in results:
            continue
        for against, other in references(key).items():
            if other in results and other != key:
                rows += [
                    dict(zip(SETTING, key, strict=True))
                    | {
                        "choice": choice,
                        "against": against,
                        "against_mu": other[SETTING.index("mu")],
                    }
                    | compare(results[key], results[other], metric)
                    for metric in TESTED
                ]
    return rows


def references(key: Setting) -> dict[str, Setting]:
    """What a setting may be tested against, by the words of the column ``against``."""
    named = dict(zip(SETTING, key, strict=True))
    plain = named | {
        "individual": "none",
        "reduction": None,
        "lambda": 0.0,
        "epsilon": None,
        "epsilon_unit": None,
    }
    found = {"mlp": tuple((plain | {"method": "mlp", "mu": None}).values())}
    if named["individual"] != "none" and named["method"] != "mlp":
        found["none"] = tuple(plain.values())
    found["control"] = tuple((named | {"method": f"{named['method']}_control"}).values())
    return found


def compare(one: Result, other: Result, metric: str) -> dict[str, Any]:
    """The paired tests of a metric, without what depends on other tests."""
    theirs = {run["seed"]: run[metric] for run in other.runs if run[metric] is not None}
    runs = [run for run in one.runs if run[metric] is not None and run["seed"] in theirs]
    ours = np.array([run[metric] for run in runs], dtype=np.float64)
    differences = ours - np.array([theirs[run["seed"]] for run in runs], dtype=np.float64)
    row: dict[str, Any] = dict.fromkeys(HEADER[HEADER.index("metric") :])
    row |= {"metric": metric, "seeds": len(runs)}
    if not runs:
        return row | {"reason": "they have no seed in common"}
    row |= {
        "mean": float(ours.mean()),
        "against_mean": float(np.mean([theirs[run["seed"]] for run in runs])),
        "difference": float(differences.mean()),
    }
    if len(runs) < 2:
        return row | {"reason": "one seed does not say how differences vary"}
    if one.named["split"] == "random":
        shares = [run["n_test"] / run["n_train"] for run in runs]
        extra = float(np.mean(shares))
    else:
        extra = None
    low, high, p_value = paired_t(differences)
    row |= {"difference_low": low, "difference_high": high, "p_value": p_value}
    if p_value is None:
        row["reason"] = "the differences do not vary"
    elif extra is not None:
        row["p_resampled"] = paired_t(differences, extra)[2]
    return row


def paired_t(
    differences: Sequence[float] | np.ndarray, extra: float = 0.0
) -> tuple[float, float, float | None]:
    """95 % interval of the mean difference, and the two-sided p-value of the paired t test.

    Parameters
    ----------
    differences : sequence of float
        At least two.
    extra : float
        Added to ``1 / k`` in the variance of the mean: n_test / n_train for random splits of
        the same data (Nadeau and Bengio 2003).

    Returns
    -------
    (float, float, float or None)
        The p-value is None where the differences are all the same and not zero, and 1 where
        they are all zero.
    """
    from scipy.special import stdtr

    values = np.asarray(differences, dtype=np.float64)
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    if sd <= 1e-12 * max(1.0, abs(mean)):
        return mean, mean, 1.0 if abs(mean) <= 1e-12 else None
    error = math.sqrt(1 / len(values) + extra) * sd
    reach = t_quantile(len(values) - 1) * error
    p_value = 2 * float(stdtr(len(values) - 1, -abs(mean) / error))
    return mean - reach, mean + reach, p_value


def _adjusted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for name, adjusted in (
        ("p_value", "p_adjusted"),
        ("p_resampled", "p_resampled_adjusted"),
    ):
        found = np.array([np.nan if row[name] is None else row[name] for row in rows])
        for row, value in zip(rows, holm(found).tolist(), strict=True):
            row[adjusted] = None if math.isnan(value) else value
    return rows


if __name__ == "__main__":
    stage.run(compare_methods)
