"""The quarantine: rows of the predictions that cannot be used, with the reason."""

from collections.abc import Iterable

from evenhand.core.tables import Row, Table, integer, text
from evenhand.predictions.words import REASONS

TABLE = Table(
    "left_out",
    title="Rows that were left out",
    key=(),
    columns=(
        integer("row", "Of the file, from 1 below its header"),
        text("id"),
        text("reason", "; ".join(f"{name}: {words}" for name, words in REASONS.items())),
        text("detail"),
    ),
)


def rows(study) -> Iterable[Row]:
    """Return a row for each row of the file that was left out."""
    return study.left_out
