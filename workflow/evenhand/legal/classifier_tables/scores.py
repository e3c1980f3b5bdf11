"""Scores of each training over groups, and how far groups lie apart by chance."""

from collections.abc import Iterator

from evenhand.core.tables import Row, Table, integer, number, percent, share, text
from evenhand.legal.classifier_study import (
    NOISE_VERDICT,
    SELECT,
    SETTING,
    SETTING_KEY,
    ClassifierStudy,
)
from evenhand.legal.evaluate import evaluate
from evenhand.legal.published import MEASURES

#: The columns after `SETTING` that name a row of scores.
SCORED = (
    text("attribute"),
    text("split"),
    text(
        "convention",
        "Macro-F1 over: all (all classes, absent ones count 0; none is a class where there may be"
        " several labels), present (classes of the group), labels_only (all without none),"
        " double_none (none counted twice). FairLex's code: double_none for ECtHR, else present",
    ),
)

TITLES = {
    "overall": "Macro-F1 of all cases",
    "mean": "Mean over groups",
    "gd": "Standard deviation of the groups",
    "worst": "Least score of a group",
}


def _noise(name: str, percentile: int) -> tuple:
    return (
        percent(f"{name}_noise_mean", "Mean if groups are shuffled among cases with known ones"),
        percent(f"{name}_noise_{percentile}", f"Percentile {percentile} of these"),
        number(f"{name}_p", "Share of shuffles that are as far"),
        number(f"{name}_p_labels", "The same if cases swap groups only among equal labels"),
        share(f"{name}_power", "Share of random groups above noise if delta is added"),
        text(f"{name}_verdict", NOISE_VERDICT),
    )


TABLE = Table(
    "scores",
    title="Scores, disparity, and that of random groups",
    key=(*SETTING_KEY, "attribute", "split", "convention", "seed"),
    columns=(
        *SETTING,
        *SCORED,
        SELECT,
        text("seed", "A seed, or mean: the mean over seeds of each number"),
        integer("seeds"),
        integer("cases"),
        integer("known_cases", "Cases with a known group"),
        integer("groups", "Groups with a case"),
        integer("smallest_group", "Its cases"),
        integer("constant_seeds", "Seeds that predict the same labels for every case"),
        text("always", "These labels, or none"),
        *(
            column
            for name in MEASURES
            for column in (
                percent(name, TITLES[name], interval=True, neutral=0 if name == "gd" else None),
                percent(f"{name}_sd", "Standard deviation over seeds"),
            )
        ),
        text("worst_group"),
        percent("gd_perfect", "Disparity of a perfect classifier, because groups lack classes"),
        *_noise("gd", 95),
        *_noise("worst", 5),
    ),
    source="FairLex (Chalkidis et al. 2022), section 4",
)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting, attribute, split, convention, and seed or their mean."""
    return (study.selected(row) for row, _ in evaluate(study))
