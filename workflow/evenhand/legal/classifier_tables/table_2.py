"""Possible explanations of a group's lower score: few cases, shifted labels, hard labels.

FairLex describes its worst-class influence in words: the share of a group's test cases that have
the class on which the classifier scores lowest.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.core.tables import Row, Table, flag, integer, number, percent, read_table, share, text
from evenhand.legal.built import label_names, read_groups, read_labels, read_splits
from evenhand.legal.classifier_study import ClassifierStudy
from evenhand.legal.predictions import NO_ATTRIBUTE
from evenhand.legal.scored import BASE, case_counts, scores_of_groups
from evenhand.metrics.classification import counts_of, f1_by_class, over_all
from evenhand.metrics.disparity import group_sums

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
    runs = runs.of(lambda one: (one.objective, one.trained_for) == (BASE, NO_ATTRIBUTE))
    if not runs.settings:
        return
    train = read_labels(study.data, study.dataset)[0] & (read_splits(study.data) == "train")
    in_train = {
        one.attribute.name: np.bincount(one.codes[train], minlength=len(one.names))
        for one in read_groups(study.data, study.dataset)
    }
    drifts = {
        (row["attribute"], row["group"]): (row["distance"], row["above_noise"])
        for row in read_table(study.case_tables / "shift.csv")
        if row["splits"] == "train-test"
    }
    values, truth = case_counts(cases, runs), cases.classes
    classes = truth.shape[1]
    by_class = 100 * f1_by_class(counts_of(values.sum(axis=0), classes))
    for setting, places in runs.by_setting().items():
        f1 = np.where(truth.any(axis=0), by_class[places].mean(axis=0), np.inf)
        worst = int(f1.argmin())
        of_class = {
            "worst_class": label_names(study.dataset)[worst],
            "worst_class_f1": float(f1[worst]),
            "worst_class_cases": int(truth[:, worst].sum()),
            "as_bad": int((f1 <= f1[worst] + 1e-9).sum()) - 1,
        }
        for one in cases.groups:
            sizes = np.bincount(one.codes, minlength=one.unknown + 1)[: one.unknown]
            sums = group_sums(values, one.codes, one.unknown)
            scores = scores_of_groups(sums, sizes, classes, over_all)[places].mean(axis=0)
            has = group_sums(truth.astype(np.float64), one.codes, one.unknown)[:, worst]
            own = []
            for group, name in enumerate(one.names[:-1]):
                drift, above = drifts.get((one.attribute.name, name), (None, None))
                size = int(sizes[group])
                own.append(
                    {
                        "classifier": setting.classifier,
                        "attribute": one.attribute.name,
                        "group": name,
                        "train_cases": int(in_train[one.attribute.name][group]),
                        "test_cases": size,
                        "seeds": len(places),
                        "score": scores[group] if size else None,
                        "drift": drift,
                        "drift_above_noise": above,
                        **of_class,
                        "wci": has[group] / size if size else None,
                        "few": size < study.few,
                    }
                )
            _mark(own)
            yield from own


def _mark(rows: list[dict[str, Any]]) -> None:
    """Mark the extreme groups of an attribute, of those with test cases."""
    there = [row for row in rows if row["test_cases"]]
    if len(there) < 2:
        return
    for mark, name, sign in MARKS:
        numbers = [row[name] for row in there]
        if None in numbers or (mark == "most_wci" and there[0]["as_bad"]):
            continue
        least = min(sign * value for value in numbers)
        alone = [sign * value for value in numbers].count(least) == 1
        for row in there:
            row[mark] = alone and bool(sign * row[name] == least)
