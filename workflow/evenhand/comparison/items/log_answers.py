"""The samples behind the preferences in logs of lm-evaluation-harness."""

from functools import cached_property

import numpy as np
import pandas as pd

from evenhand.comparison.items.common import Items, audit_folder, cases_of_audit
from evenhand.comparison.results import Results
from evenhand.metrics.inference import swap_sides
from evenhand.stereotypes.clusters import templates

COLUMNS = ["task", "id", "category", "condition", "cluster", "sentences", "preference"]


class Store:
    """The samples of an audit of logs: of ``tables/predictions/{name}/preferences.csv``."""

    def __init__(self, results: Results, table: str) -> None:
        self.folder = audit_folder(results, table)

    @cached_property
    def answers(self) -> pd.DataFrame | None:
        """The samples that name a group, with their cluster; None for a file without them."""
        if (cases := cases_of_audit(self.folder, COLUMNS)) is None:
            return None
        answers = cases.to_pandas()
        return answers[answers["preference"].notna()]

    def items(self, key: dict[str, str], column: str) -> Items | None:
        """Return the samples of a row; 100 for the stereotype, 50 for a tie, else 0."""
        if (answers := self.answers) is None:
            return None
        is_part = (answers["task"] == key["task"]) & (answers["condition"] == key["condition"])
        some = answers[is_part]
        clusters, names = swap_sides(some["cluster"]), some["sentences"].map("\0".join)
        if key["condition"]:  # of BBQ several questions may have the same text
            names = some["id"] + "\0" + names
        else:
            parts = templates((*pair, None) for pair in some["sentences"])
            clusters = np.column_stack([clusters, np.array(parts, dtype=str).reshape(-1, 2)])
        rows = (some["category"] == key["bias_type"]).to_numpy() | (key["bias_type"] == "all")
        values = 50.0 * (np.sign(some["preference"].to_numpy()) + 1)
        return Items(names.to_numpy(dtype=str)[rows], clusters[rows], values[rows])
