"""Stage: whether classifiers answer alike for a case and for its twin with swapped words.

Source: IIFR (Journal of Software 34(9), 2023, 4037-4055), section 3.2, on pairs of texts as in
counterfactual token fairness (Garg et al. 2019).
"""

from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.scored import BASE, Setting, case_counts, drawn_seed, read_scored
from evenhand.metrics.bootstrap import interval_of_mean
from evenhand.metrics.classification import counts_of, over_all, predicted_labels
from evenhand.metrics.individual import TAU, binary, js_divergence

HEADER = [
    *("dataset", "classifier", "objective", "trained_for", "split", "measure", "seeds", "cases"),
    *("twins", "value", "sd", "low", "high", "erm", "difference", "difference_low"),
    *("difference_high", "verdict"),
]

#: Same answer, similar answer (percent of the cases with a twin), how unlike answers are (nats).
MEASURES = ("ifr_b", "ifr_p", "divergence")

#: What the answers cost, in percent, of all cases.
SCORE = "macro_f1"


def measure_counterfactual(
    *,
    data: Input,
    predictions: list[Input],
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    split: str = "test",
    resamples: int = 1000,
) -> dict[str, Any]:
    """Measure individual fairness on pairs of a case and its twin.

    Only cases count whose twin differs in what the classifier reads. With several labels a case,
    two answers are the same if all labels are, and their divergence is the mean over the labels.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    predictions : list of path
        What the training stages wrote; those without twins are left out.
    out : path
        CSV, a row per classifier, objective, trained_for and measure: seeds, cases (of the
        split), twins (cases with one); value and its sd over seeds, with a 95 % interval over
        cases of its mean over seeds; erm, the value of ERM of the same classifier, the difference
        to it with its interval over the cases that have a twin in both, and a verdict (higher,
        lower, not shown). The measures: ifr_b (share of the pairs with the same answer), ifr_p
        (share whose answers lie within 0.001 nats of each other), divergence (mean
        Jensen-Shannon divergence in nats), and macro_f1 of all cases, without intervals, because
        a classifier that says the same of everybody is fair to every pair.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the table.
    split : str
        The split whose cases are used.
    resamples : int
        Bootstrap samples.

    Returns
    -------
    dict
        rows, higher, lower (verdicts).

    Raises
    ------
    InputError
        No prediction is of a twin.
    """
    cases, runs = read_scored(data, predictions, kind, [split])
    task = cases.dataset.task
    sums = case_counts(cases, runs)
    scores = 100 * over_all(counts_of(sums.sum(axis=0), cases.classes.shape[1]))
    found: dict[Setting, tuple[np.ndarray, dict[str, np.ndarray]]] = {}
    of_score: dict[Setting, np.ndarray] = {}
    for setting, places in runs.by_setting().items():
        has = np.isfinite(runs.twins[places]).all(axis=(0, 2))
        if has.any():
            logits, twins = runs.logits[places], runs.twins[places]
            found[setting] = has, compared(logits[:, has], twins[:, has], task)
            of_score[setting] = scores[places]
    if not found:
        raise InputError(
            f"no training predicts a twin of a case of the split {split}",
            remedy="ask for twins where the classifiers are configured",
        )
    rows = []
    for setting, (has, values) in found.items():
        base = setting._replace(objective=BASE, trained_for="none")
        about = {
            "dataset": dataset,
            **setting._asdict(),
            "split": split,
            "seeds": len(of_score[setting]),
            "cases": len(has),
            "twins": int(has.sum()),
        }
        against = found.get(base) if setting != base else None
        for measure in MEASURES:
            seed = drawn_seed(dataset, split, measure)
            row = about | {"measure": measure} | _summed(values[measure], seed, resamples)
            if against is not None:
                row |= _difference(
                    (has, values[measure]), (against[0], against[1][measure]), seed, resamples
                )
            rows.append(row)
        rows.append(about | {"measure": SCORE} | _scored(of_score, setting, base))
    write_rows(out, HEADER, rows)
    verdicts = [row.get("verdict") for row in rows]
    return {"rows": len(rows), **{one: verdicts.count(one) for one in ("higher", "lower")}}


def compared(logits: np.ndarray, twins: np.ndarray, task: str) -> dict[str, np.ndarray]:
    """The `MEASURES` of pairs: arrays of float64, shape (runs, n), from (runs, n, labels)."""
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


def _summed(values: np.ndarray, seed: int, resamples: int) -> dict[str, float | None]:
    """Of values (runs, n)."""
    of_runs = values.mean(axis=1)
    low, high = interval_of_mean(values.mean(axis=0), seed=seed, resamples=resamples)
    return {
        "value": float(of_runs.mean()),
        "sd": float(of_runs.std(ddof=1)) if len(of_runs) > 1 else None,
        "low": low,
        "high": high,
    }


def _difference(
    ours: tuple[np.ndarray, np.ndarray],
    base: tuple[np.ndarray, np.ndarray],
    seed: int,
    resamples: int,
) -> dict[str, Any]:
    """Against ERM, over the cases that both have a twin of; ours and base are (has, values)."""
    both = ours[0] & base[0]
    mine, theirs = (values.mean(axis=0)[both[has]] for has, values in (ours, base))
    told: dict[str, Any] = {"erm": float(base[1].mean())}
    if not both.any():
        return told
    low, high = interval_of_mean(mine - theirs, seed=seed, resamples=resamples)
    verdict = "higher" if low > 0 else "lower" if high < 0 else "not shown"
    return told | {
        "difference": float((mine - theirs).mean()),
        "difference_low": low,
        "difference_high": high,
        "verdict": verdict,
    }


def _scored(of_score: dict[Setting, np.ndarray], setting: Setting, base: Setting) -> dict[str, Any]:
    own = of_score[setting]
    row = {"value": float(own.mean()), "sd": float(own.std(ddof=1)) if len(own) > 1 else None}
    if setting != base and base in of_score:
        erm = float(of_score[base].mean())
        row |= {"erm": erm, "difference": row["value"] - erm}
    return row


if __name__ == "__main__":
    stage.run(measure_counterfactual)
