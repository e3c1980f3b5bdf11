"""The measures of every setting, by the weight of the individual loss.

The paper's Figures 4 to 6 show such numbers, which are not among our facts of the paper.
"""

from collections.abc import Iterator

from evenhand.core.tables import Row, Table, integer, text
from evenhand.individual.results import (
    FORM,
    METRICS,
    SETTING,
    SETTING_COLUMNS,
    SUMMARY_COLUMNS,
    largest,
    summarise,
)
from evenhand.individual.study import IndividualStudy

TABLE = Table(
    "grid",
    title="Accuracy and fairness of every setting",
    key=(*SETTING, "metric"),
    columns=(
        *SETTING_COLUMNS,
        text("metric"),
        *SUMMARY_COLUMNS,
        integer("diverged", "Runs that diverged; they are in no mean"),
        integer("empty", "Runs whose split leaves a group or a label empty"),
        text("reasons", "Why these could not be made"),
    ),
    source="as in Figures 4 to 6 of IIFR",
    form=FORM,
)


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per setting and metric. Without an individual loss lambda is 0."""
    for result in study.results.values():
        for metric in METRICS:
            yield (
                result.setting.named
                | {"metric": metric, "diverged": result.diverged, "empty": result.empty}
                | {"reasons": "; ".join(result.reasons)}
                | summarise(result.values(metric), largest(metric))
            )
