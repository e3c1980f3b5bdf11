"""Readable words for the codes in the tables of individual fairness."""

from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.individual.names import who
from evenhand.report.headline import plain
from evenhand.report.render import decimal

#: Title and digits of a metric.
METRICS = {
    "acc": ("Accuracy, %", 1),
    "balanced_acc": ("Balanced accuracy, %", 1),
    "positive_rate": ("Predicted positive", 3),
    "ifr_b": ("IFR_b, %", 1),
    "ifr_p": ("IFR_p, %", 1),
    "ifr_p_all": ("IFR_p, all values, %", 1),
    "ddp": ("dDP", 3),
    "deo_0": ("dEO, y=0", 3),
    "deo_1": ("dEO, y=1", 3),
}

#: The label of a row on the split supplied with the data.
OFFICIAL = "official split"

#: Why a table contains a setting that was not specified.
CHOICES = {"first": "first setting that was run", "most": "setting with most thresholds"}

#: A verdict in words, and the class of its colour.
VERDICTS = {
    "reproduced": ("reproduced", "good"),
    "not_reproduced": ("not reproduced", "bad"),
    "inconsistent_in_paper": ("inconsistent in the paper", "odd"),
    "undecided": ("one run only", "quiet"),
    "not_run": ("not run", "quiet"),
    "no_published_value": ("", ""),
}


def metric_title(name: str) -> str:
    """Return the heading of a metric's column; an unknown metric is returned unchanged."""
    return METRICS[name][0] if name in METRICS else name.replace("_", " ")


def number(value: float | None, metric: str) -> str:
    """Return a value with the number of digits of its metric."""
    return decimal(value, METRICS.get(metric, ("", 3))[1])


def verdict(name: str | None) -> tuple[str, str]:
    """Return a verdict's words and CSS class."""
    return VERDICTS.get(name or "", ((name or "").replace("_", " "), "quiet"))


def method(row: Mapping[str, Any]) -> str:
    """Return a row's method and loss, as the heading of the row."""
    words = who(row).removeprefix("the ")
    return words[:1].upper() + words[1:]


def setting(row: Mapping[str, Any]) -> str:
    """Return the hyperparameters of a setting: ``λ 0.5, ε 0.8, μ 2``."""
    parts = []
    if row["individual"] != "none" and row["lambda"] is not None:
        parts.append(f"λ {row['lambda']:g}")
    if row["epsilon"] is not None:
        parts.append(f"ε {row['epsilon']:g}")
    if row["mu"] is not None:
        parts.append(f"μ {row['mu']:g}")
    if row.get("reduction") == "mean":
        parts.append("mean over pairs")
    if row.get("epsilon_unit") == "quantile":
        parts.append("ε as a quantile")
    if row.get("js_base") == "2":
        parts.append("base 2")
    if row["split"] == "official":
        parts.append(OFFICIAL)
    return ", ".join(parts)


def likeness(bases: Iterable[str | None], tau: float) -> str:
    """Return the threshold below which outputs count as alike: ``0.001 nats``.

    Parameters
    ----------
    bases : iterable of str
        The bases of the runs' logarithms: ``e`` or ``2``.
    tau : float
        The threshold of IFR_p.
    """
    known = set(bases) - {None}
    return plain("if_likeness", tau=tau, nats=known != {"2"}, bits="2" in known)
