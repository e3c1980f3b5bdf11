"""The cases behind the accuracy in the worst cell of label and attribute."""

from functools import cached_property

import numpy as np

from evenhand.comparison.items import classifier_cases
from evenhand.comparison.items.common import Items, difference
from evenhand.legal.classifier_study import SETTING_KEY, Setting
from evenhand.legal.classifier_tables.mitigation import cells_of, compared, worst_cell
from evenhand.metrics.classification import counts_of


class Store(classifier_cases.Store):
    """The cases of a data set: of ``tables/classifiers/{dataset}/mitigation.csv``."""

    @cached_property
    def settings(self) -> dict[str, set[Setting]]:
        """The settings of the table, by attribute."""
        settings: dict[str, set[Setting]] = {}
        for row in self.rows():
            setting = Setting(*(row[name] for name in SETTING_KEY[1:]))
            settings.setdefault(row["attribute"], set()).add(setting)
        return settings

    def items(self, key: dict[str, str], column: str) -> Items | None:
        """Return the cases of the worst accuracy, or of its difference from another objective's."""
        setting, attribute = Setting(*(key[name] for name in SETTING_KEY[1:])), key["attribute"]
        worst = self._worst(setting, attribute)
        if column == "worst":
            return worst
        other = compared(setting, self.settings[attribute]).get(column.removeprefix("over_"))
        return difference(worst, other and self._worst(other, attribute))

    def _worst(self, setting: Setting, attribute: str) -> Items | None:
        """Return the cases with a known group; those of other cells do not move the number."""
        trained = self.read("test", *setting)
        groups = [] if trained is None else trained.cases.groups
        groups = [each for each in groups if each.attribute.name == attribute]
        if not groups:
            return None
        _, codes, _ = cells_of(trained.cases, groups[0])
        counts = counts_of(trained.counts[groups[0].known], trained.cases.classes.shape[1])
        right = (counts.true == counts.predicted).all(axis=-1).astype(float)
        worst = worst_cell(right, codes)
        names = trained.ids[groups[0].known]
        runs = worst.runs if len(worst.runs) > 1 else np.empty(0)
        return Items(names, names, worst.values, runs, codes.astype(str), worst.is_in.astype(float))
