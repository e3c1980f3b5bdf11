"""Possible explanations of a group's lower score: few cases, shifted labels, hard labels.

FairLex describes its worst-class influence in words: the share of a group's test cases that have
the class on which the classifier scores lowest.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.core.rows import where
from evenhand.core.tables import Row, Table, flag, integer, number, percent, read_table, share, text
from evenhand.legal.built import label_names
from evenhand.legal.classifier_study import FEW, ClassifierStudy, case_counts, scores_of_groups
from evenhand.metrics.classification import counts_of, f1_by_class, over_all

TABLE = Table(
    "table_2",
    title="Possible causes of a low score, by group",
    key=("dataset", "classifier", "attribute", "group"),
    columns=(
        text("dataset"),
        text("classifier", "Trained with ERM"),
        text("attribute"),
        text("group", "Without the unknown group"),
        integer("train_cases", "With known labels"),
        integer("test_cases", "With known labels"),
        integer("seeds"),
        percent("score", "Macro-F1 over all classes, mean over seeds"),
        number("drift", "Jensen-Shannon distance of the labels of train and test"),
        flag("drift_above_noise"),
        text("worst_class", "The class of test with the least F1 over all test cases"),
        percent("worst_class_f1", "Mean over seeds"),
        integer("worst_class_cases", "Its test cases"),
        integer("as_bad", "Other classes with the same F1"),
        share("wci", "Worst-class influence: share of the group's test cases with this class"),
        flag("worst", "Whether it alone has the least score; blank with fewer than two groups"),
        flag("fewest_train_cases", "Whether it alone has the fewest training cases"),
        flag("most_drift", "Whether it alone has the largest drift"),
        flag("most_wci", "Whether it alone has the largest influence; blank if as_bad is not 0"),
        flag("few", "Whether it has few test cases"),
    ),
    source="FairLex (Chalkidis et al. 2022), table 2",
)

#: The marks of a group that is alone the extreme one, by column and side.
MARKS = (
    ("worst", "score", 1),
    ("fewest_train_cases", "train_cases", 1),
    ("most_drift", "drift", -1),
    ("most_wci", "wci", -1),
)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per classifier with ERM, attribute and known group."""
    cases, runs = study.test
    train_cases = {
        groups.attribute.name: groups.take(study.data.trained).sizes for groups in study.data.groups
    }
    drifts = {}
    for row in where(read_table(study.case_tables / "shift.csv"), splits="train-test"):
        drift = {"drift": row["distance"], "drift_above_noise": row["above_noise"]}
        drifts[row["attribute"], row["group"]] = drift
    values, truth = case_counts(cases, runs), cases.classes
    classes = truth.shape[1]
    by_class = 100 * f1_by_class(counts_of(values.sum(axis=0), classes))
    for setting, places in runs.by_setting().items():
        if setting != setting.plain:
            continue
        f1 = np.where(truth.any(axis=0), by_class[places].mean(axis=0), np.inf)
        worst = int(f1.argmin())
        shared = {
            "classifier": setting.classifier,
            "seeds": len(places),
            "worst_class": label_names(study.dataset)[worst],
            "worst_class_f1": float(f1[worst]),
            "worst_class_cases": int(truth[:, worst].sum()),
            "as_bad": int((f1 <= f1[worst] + 1e-9).sum()) - 1,
        }
        for groups in cases.groups:
            attribute, sizes = groups.attribute.name, groups.sizes.tolist()
            scores = scores_of_groups(groups.sums(values), groups.sizes, classes, over_all)
            scores = scores[places].mean(axis=0)
            with_worst = groups.sums(truth.astype(np.float64))[:, worst]
            rows = [
                shared
                | {
                    "attribute": attribute,
                    "group": name,
                    "train_cases": int(train_cases[attribute][group]),
                    "test_cases": sizes[group],
                    "score": scores[group] if sizes[group] else None,
                    "wci": with_worst[group] / sizes[group] if sizes[group] else None,
                    "few": sizes[group] < FEW,
                    **drifts.get((attribute, name), {}),
                }
                for group, name in enumerate(groups.names[:-1])
            ]
            _mark([row for row in rows if row["test_cases"]])
            yield from rows


def _mark(rows: list[dict[str, Any]]) -> None:
    """Mark the extreme groups of an attribute, of those with test cases."""
    if len(rows) < 2:
        return
    for mark, name, sign in MARKS:
        numbers = [row.get(name) for row in rows]
        if None in numbers or (mark == "most_wci" and rows[0]["as_bad"]):
            continue
        least = min(sign * value for value in numbers)
        alone = [sign * value for value in numbers].count(least) == 1
        for row in rows:
            row[mark] = alone and bool(sign * row[name] == least)
