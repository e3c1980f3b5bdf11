"""Whether AUL, AULA and the other methods see in SlguSet what the masked keyword's bias sees.

Each sentence stands beside itself with the gender word swapped. A method gives both a number;
male minus female is its own bias of the sentence, and that is compared with the bias of the
keyword over the sentences that both can score.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from evenhand import stage
from evenhand.errors import InputError
from evenhand.io.csv_tables import write_rows
from evenhand.io.tables import read_columns
from evenhand.metrics.bootstrap import drawn_weights, sums_by_group
from evenhand.slguset.bias_tables import read_gate, read_models
from evenhand.stage import Input, Output
from evenhand.stereotypes.methods import METHODS

#: What is read of a dataset beside sentence_id.
DATASET = ["surface", "surface_opposite", "gender"]

HEADER = [
    "model",
    "method",
    "n",
    "pearson",
    "pearson_low",
    "pearson_high",
    "spearman",
    "sign_agreement",
    "share_male",
    "share_male_bias",
    "reason",
]


def correlate_methods(
    *,
    dataset: Input,
    bias: list[Input],
    gates: list[Input],
    scores: list[Input],
    score_gates: list[Input],
    out: Output,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Any]:
    """Correlate each method's preference for the male sentence with the bias of the keyword.

    Parameters
    ----------
    dataset : path
        SlguSet (Parquet).
    bias, gates : list of path
        A bias table per model, as `evenhand.slguset.score_bias` writes it, and its gate, in the
        same order.
    scores, score_gates : list of path
        The scores of the pairs made from this dataset (`evenhand.stereotypes.scores`), one file
        per model, and its gate, in the same order. A model that has only one of both is left
        out.
    out : path
        CSV, per model and method: n (sentences that both scored), Pearson's correlation with a
        95 % interval that draws whole surface pairs, Spearman's correlation, sign_agreement
        (share of n on which both lean the same way; a tie agrees with a tie only), share_male
        (share of n on which the method finds the male sentence likelier), share_male_bias (the
        same by the bias of the keyword). A model that is not trusted is one row with the reason;
        a method that a model cannot be scored by (`score_gates`) has its reason.
    resamples : int
        Bootstrap samples per interval.
    seed : int
        Seed of the bootstrap.

    Raises
    ------
    InputError
        The scores are of other sentences, or there is not one gate for each.
    """
    if len(scores) != len(score_gates):
        raise InputError(f"there are {len(scores)} tables of scores and {len(score_gates)} gates")
    sentences, read, tables = read_models(dataset, DATASET, bias, gates)
    keys = ("model", "trusted", "reason", "blank_methods")
    pair_gates = [read_gate(path, keys) for path in score_gates]
    names = [gate["model"] for gate in pair_gates]
    if len(set(names)) < len(names):
        raise InputError(f"two tables of scores have one model: {', '.join(sorted(names))}")
    both = [name for name in read if name in names]
    clusters = sentences["surface_pair"].to_numpy()

    def rows() -> Iterator[dict[str, Any]]:
        for name in both:
            at = names.index(name)
            distrusted = [g["reason"] for g in (read[name], pair_gates[at]) if not g["trusted"]]
            if distrusted:
                words = dict.fromkeys(w for one in distrusted for w in (one or "").split(", "))
                yield {"model": name, "n": 0, "reason": ", ".join(words)}
                continue
            differences = _differences(scores[at], sentences["sentence_id"])
            values = tables[name]["bias"].to_numpy(dtype=float)
            for method in METHODS:
                if reason := pair_gates[at]["blank_methods"].get(method):
                    yield {"model": name, "method": method, "n": 0, "reason": reason}
                    continue
                found = differences[method].to_numpy(dtype=float)
                kept = np.isfinite(values) & np.isfinite(found)
                if kept.any():
                    yield {
                        "model": name,
                        "method": method,
                        **compare(
                            values[kept], found[kept], clusters[kept], seed=seed,
                            resamples=resamples,
                        ),
                    }  # fmt: skip

    written = write_rows(out, HEADER, rows())
    return {"models": len(both), "left_out": sorted({*read} ^ {*names}), "rows": written}


def compare(
    bias: np.ndarray, other: np.ndarray, clusters: np.ndarray, *, seed: int, resamples: int
) -> dict[str, Any]:
    """How two numbers per sentence agree.

    Parameters
    ----------
    bias, other : array of float, shape (n,), n > 0
        Finite; above zero is male.
    clusters : array, shape (n,)
        What the bootstrap draws.
    seed, resamples : int
        See `evenhand.metrics.bootstrap.drawn_weights`.

    Returns
    -------
    dict
        The columns n to share_male_bias of `correlate_methods`; correlations are None where one
        of the two does not vary.
    """
    from scipy.stats import spearmanr

    count = len(bias)
    varied = all(np.ptp(one) > 0 and one.std() > 0 for one in (bias, other))
    low, high = (
        _pearson_interval(bias, other, clusters, seed, resamples) if varied else (None, None)
    )
    return {
        "n": count,
        "pearson": float((_standard(bias) * _standard(other)).mean()) if varied else None,
        "pearson_low": low,
        "pearson_high": high,
        "spearman": float(spearmanr(bias, other).statistic) if varied else None,
        "sign_agreement": float((np.sign(bias) == np.sign(other)).mean()),
        "share_male": float((other > 0).mean()),
        "share_male_bias": float((bias > 0).mean()),
    }


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def _pearson_interval(
    x: np.ndarray, y: np.ndarray, clusters: np.ndarray, seed: int, resamples: int
) -> tuple[float | None, float | None]:
    """Percentile interval of Pearson's correlation, drawing whole clusters."""
    labels, member_of = np.unique(clusters, return_inverse=True)
    if len(labels) < 2:
        return None, None
    x, y = _standard(x), _standard(y)  # the correlation stays, and sums of squares are exact
    moments = sums_by_group(np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], 1), member_of)
    found = []
    for weights in drawn_weights(len(labels), seed=seed, resamples=resamples):
        n, sx, sy, sxx, syy, sxy = (weights @ moments).T
        spread = (n * sxx - sx**2) * (n * syy - sy**2)
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append(np.where(spread > 0, (n * sxy - sx * sy) / np.sqrt(spread), np.nan))
    values = np.concatenate(found)
    values = values[np.isfinite(values)]
    if not len(values):
        return None, None
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _differences(path: Path, ids: pd.Series) -> pd.DataFrame:
    """Per sentence and method the male side's score minus the female side's, by the dataset."""
    columns = ["pair_id", "side", "variant", *METHODS]
    table = read_columns(path, columns)
    table = table.filter(pc.equal(table["variant"], "original"))
    sides = [
        table.filter(pc.equal(table["side"], side)).to_pandas().set_index("pair_id")[list(METHODS)]
        for side in ("more", "less")
    ]
    for side in sides:
        if not side.index.is_unique or set(side.index) != set(ids):
            raise InputError(
                "its pairs are not the sentences of the dataset, one by one",
                file=path,
                remedy="score the pairs of this dataset again",
            )
    more, less = (side.loc[ids].astype(float).reset_index(drop=True) for side in sides)
    return more - less


if __name__ == "__main__":
    stage.run(correlate_methods)
