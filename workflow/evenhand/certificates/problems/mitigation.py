"""Objectives on texts with a planted attribute; see `evenhand.legal.certificate`."""

from collections.abc import Iterator
from typing import Any

from evenhand.certificates.study import Finding, Study
from evenhand.core.tables import Row
from evenhand.legal import certificate
from evenhand.legal.planted_training import measure

TABLE = certificate.TABLE


def rows(study: Study) -> Iterator[Row]:
    """Yield a row per kind of classifier, problem and objective."""

    def kept(kind: str, problem: str, name: str, *others: Any) -> dict[str, float]:
        code = (measure.__module__, f"evenhand.learning.objectives.{name}")
        inputs = kind, problem, name, *others
        return study.kept("mitigation", inputs, code, lambda: measure(*inputs))

    return certificate.rows([seed + 1 for seed in study.seeds], measure=kept)


def findings(measured: list[Row]) -> Iterator[Finding]:
    """Yield whether each objective improves its aim, and the accuracy in its worst cell."""
    for row in measured:
        method = f"{row['objective']}, {row['classifier']}, {row['problem']}"
        yield Finding(method, "accuracy in the worst cell, in per cent", 100 * row["worst"])
        if row.get("met") is not None:
            promise = row["aim"].replace("_", " ")
            yield Finding(method, f"keeps its promise ({promise})", float(row["met"]), least=1)
