"""Scores of each group, and the scores of random groups of its size."""

from collections.abc import Iterator

from evenhand.core.tables import Row, Table, integer, number, percent, text
from evenhand.legal.classifier_study import SETTING, SETTING_KEY, ClassifierStudy
from evenhand.legal.classifier_tables.scores import SCORED, evaluate

TABLE = Table(
    "group_scores",
    title="Scores by group",
    key=(*SETTING_KEY, "attribute", "split", "convention", "group", "seed"),
    columns=(
        *SETTING,
        *SCORED,
        text("group", "Without the unknown group"),
        text("seed", "A seed, or mean: the mean over seeds of each number"),
        integer("seeds"),
        integer("cases"),
        integer("classes_present", "Of the scored classes"),
        percent("score", "Macro-F1", interval=("low", "high")),
        percent("sd", "Standard deviation over seeds"),
        percent("perfect", "Score of a perfect classifier"),
        percent("noise_low", "Lower end of 95 % of random groups of this size"),
        percent("noise_high", "Upper end"),
        number("p", "Share of random groups that are as far, two-sided"),
        number(
            "difference",
            "Score minus the mean of the other groups that can be tested, weighted by their cases;"
            " of means over seeds, by the convention all; its interval is over cases and seeds",
            "points",
            interval=("difference_low", "difference_high"),
        ),
        number(
            "p_cases",
            "Of no difference: one minus the level of the smallest interval over cases that has 0;"
            " blank with few cases of a class, or few errors, in the group or the others",
        ),
        number("p_others", "The same, or the p-value over cases and seeds where that is above .05"),
        text(
            "verdict",
            "On the difference, by p_others alone: above, below, equivalent (the 90 % interval lies"
            " within delta) or inconclusive",
        ),
        text("note", "no cases, one case or few cases"),
    ),
    source="FairLex (Chalkidis et al. 2022), figure 1",
)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per group of each row of `scores`."""
    return (row for _, of_groups in evaluate(study) for row in of_groups)
