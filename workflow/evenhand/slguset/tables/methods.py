"""The agreement of AUL, AULA and the other methods with the bias of the masked keyword.

Each sentence is paired with its counterpart, in which the gender word is swapped. A method scores
both; male minus female is its bias of the sentence, which is compared with the bias of the keyword
over the sentences that both can score.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from evenhand.core.tables import NotApplicable, Row, Table, integer, number, share, text
from evenhand.errors import InputError
from evenhand.io.tables import read_columns
from evenhand.metrics.inference import bounded, interval_around
from evenhand.scoring.methods import METHODS
from evenhand.slguset.bias_tables import Scored, read_gate

TABLE = Table(
    "methods",
    title="Other methods on the same sentences, beside the bias",
    key=("model", "method"),
    columns=(
        text("model"),
        text("method", "Blank for a model that is not trusted"),
        integer("n", "Sentences that both can score"),
        number("pearson", interval=True),
        number("spearman"),
        share("sign_agreement", "Sentences with the same sign; a tie agrees with a tie only"),
        share("share_male", "Sentences whose male form the method scores higher"),
        share("share_male_bias", "Sentences whose keyword has a male bias"),
        text("reason", "Why there is no number"),
    ),
)


def rows(scored: Scored) -> Iterator[Row]:
    """Yield a row per model and method; the interval is by surface pair.

    Raises
    ------
    NotApplicable
        No pairs are made of this data set.
    InputError
        The scores are of other models or sentences, or there is not one gate for each.
    """
    scored.check_genders()
    scores, gates = scored.settings.scores, scored.settings.score_gates or []
    if not scores:
        raise NotApplicable("no pairs that are made of this data set were scored")
    by_name = {gate["model"]: gate for gate in (read_gate(g, "blank_methods") for g in gates)}
    if len(scores) != len(gates) or [*by_name] != [*scored.gates]:
        raise InputError("the scores of pairs are of other models, or in another order")
    for (name, gate), path in zip(by_name.items(), scores, strict=True):
        yield from _rows_of(scored, name, gate, path)


def _rows_of(scored: Scored, name: str, pair_gate: dict[str, Any], path: Path) -> Iterator[Row]:
    distrusted = [g["reason"] for g in (scored.gates[name], pair_gate) if not g["trusted"]]
    if distrusted:
        words = dict.fromkeys(w for reason in distrusted for w in (reason or "").split(", "))
        yield {"model": name, "n": 0, "reason": ", ".join(words)}
        return
    clusters = scored.clusters
    differences = _differences(path, scored.sentences["sentence_id"])
    values = scored.bias(name)
    for method in METHODS:
        if reason := pair_gate["blank_methods"].get(method):
            yield {"model": name, "method": method, "n": 0, "reason": reason}
            continue
        other = differences[method].to_numpy(dtype=float)
        kept = np.isfinite(values) & np.isfinite(other)
        if kept.any():
            row = compare(values[kept], other[kept], clusters[kept])
            yield {"model": name, "method": method} | row


def compare(bias: np.ndarray, other: np.ndarray, clusters: np.ndarray) -> dict[str, Any]:
    """Compare two numbers per sentence.

    Parameters
    ----------
    bias, other : array of float, shape (n,), n > 0
        Finite; above zero is male.
    clusters : array, shape (n,) or (n, 2)
        The surface pair of each sentence.

    Returns
    -------
    dict
        The columns n to share_male_bias; correlations are None where one
        of the two does not vary.
    """
    from scipy.stats import spearmanr

    count = len(bias)
    varied = all(np.ptp(scores) > 0 and scores.std() > 0 for scores in (bias, other))
    low, high = _pearson_interval(bias, other, clusters) if varied else (None, None)
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


def _pearson_interval(x: np.ndarray, y: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """Interval of Pearson's correlation, from its influence function (Devlin et al. 1975)."""
    x, y = _standard(x), _standard(y)
    pearson = float((x * y).mean())
    influence = x * y - pearson * (x**2 + y**2) / 2
    return bounded(interval_around(pearson, influence, clusters), -1.0, 1.0)


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
            problem = "its pairs are not the sentences of the dataset, one by one"
            raise InputError(problem, file=path, remedy="score the pairs of this dataset again")
    more, less = (side.loc[ids].astype(float).reset_index(drop=True) for side in sides)
    return more - less
