"""The cases behind the tests of each objective against plain training."""

from functools import cached_property

from evenhand.comparison.items import classifier_cases
from evenhand.comparison.items.common import Items, difference
from evenhand.legal.classifier_study import MEAN, SETTING_KEY, Setting
from evenhand.legal.classifier_tables.tests import TABLE


class Store(classifier_cases.Store):
    """The cases of a data set: of ``tables/classifiers/{dataset}/tests.csv``."""

    @cached_property
    def by_key(self) -> dict[tuple[str, ...], dict[str, str]]:
        """The rows of the table by key."""
        return {tuple(row[name] for name in TABLE.key): row for row in self.rows()}

    def items(self, key: dict[str, str], column: str) -> Items | None:
        """Return the cases of a difference from plain training, less its noise."""
        row = self.by_key[tuple(key[name] for name in TABLE.key)]
        setting = Setting(*(key[name] for name in SETTING_KEY[1:]))
        of_mean = key | {"seed": MEAN, "convention": "all", "label": row["label"]}
        sides = [
            super(Store, self).items(of_mean | each._asdict(), key["measure"])
            for each in (setting, setting.plain)
        ]
        return difference(*sides, float(row["noise"] or 0))
