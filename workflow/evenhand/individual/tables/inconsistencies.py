"""The checks of the paper's tables against each other, with their arithmetic.

No runs are needed: ``benchmarks/iifr_checks.py`` computed them from the published numbers.
"""

from collections.abc import Iterable

from evenhand.core.resources import read_resource
from evenhand.core.tables import Row, Table, flag, number, text
from evenhand.individual.results import FORM
from evenhand.individual.study import IndividualStudy

TABLE = Table(
    "inconsistencies",
    title="Checks of the paper's tables against each other",
    key=("kind", "table", "dataset", "method", "individual", "metric"),
    columns=(
        text("kind", "mix, swapped, copy, infeasible or misprint"),
        text("table", "Number of the table in the paper"),
        text("dataset"),
        text("method"),
        text("individual"),
        text("metric", "One or several"),
        number("published"),
        number("computed"),
        number("difference"),
        number("tolerance", "What rounding allows"),
        text("result", "contradiction, agrees or cannot_be_checked"),
        flag("listed", "Whether inconsistencies.csv contains it"),
        text("known_error", "Entries of known_errors.csv"),
        text("words", "The arithmetic"),
    ),
    source="IIFR, Tables 4, 6, 7 and 8",
    form=FORM,
)


def rows(study: IndividualStudy) -> Iterable[Row]:
    """Return a row per check, and one per listed cell that cannot be checked."""
    return read_resource(study.published.checks, TABLE.header, optional=tuple(TABLE.header))
