"""Methods on tables with a planted effect; see `evenhand.individual.certificate`."""

from collections.abc import Iterator

from evenhand.certificates.study import Finding, Study
from evenhand.core.tables import Row
from evenhand.individual import certificate

TABLE = certificate.TABLE


def rows(study: Study) -> Iterator[Row]:
    """Yield a row per planted effect, method and weight."""
    return certificate.rows([seed + 1 for seed in study.seeds])


def findings(measured: list[Row]) -> Iterator[Finding]:
    """Yield whether each method improves its aim for some weight of its grid."""
    promises = {
        (row["effect"], row["method"], row["individual"]): row
        for row in measured
        if row["met"] is not None
    }
    for (effect, method, individual), row in promises.items():
        name = method if individual == "none" else individual
        measure = f"keeps its promise ({row['aim']})"
        yield Finding(f"{name}, {effect} effect", measure, float(row["met"]), least=1)
