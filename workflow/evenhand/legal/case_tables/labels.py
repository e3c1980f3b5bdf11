"""Cases by label and split."""

from collections.abc import Iterator

from evenhand.core.tables import Row, Table, integer, share, text
from evenhand.legal.built import CaseStudy, label_names, with_none

#: The label of cases whose labels the source does not state.
UNKNOWN = "unknown"

TABLE = Table(
    "labels",
    title="Labels by split",
    key=("dataset", "split", "label"),
    columns=(
        text("dataset"),
        text("split", "train, dev, test or all"),
        text("label", "none: no label applies; unknown: the source does not state it"),
        integer("cases"),
        integer("of", "Cases with known labels; of unknown: all"),
        share("share", "With several labels per case, these add up to more than 1"),
    ),
)


def rows(study: CaseStudy) -> Iterator[Row]:
    """Yield a row per split and label."""
    known, hot = study.labels
    names, counted = label_names(study.dataset), with_none(hot, study.dataset)
    for split, members in study.parts.items():
        cases, of = int(members.sum()), int((known & members).sum())
        for name, count in zip(names, counted[known & members].sum(axis=0), strict=True):
            yield _row(split, name, int(count), of)
        yield _row(split, UNKNOWN, cases - of, cases)


def _row(split: str, label: str, cases: int, of: int) -> Row:
    share = cases / of if of else None
    return {"split": split, "label": label, "cases": cases, "of": of, "share": share}
