"""The rows behind the numbers on counterfactual rows of predictions made elsewhere."""

from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.comparison.items.common import Items, audit_folder, cases_of_audit
from evenhand.comparison.results import Results
from evenhand.predictions.read import COUNTERFACTUALS


class Store:
    """The counterfactual rows of an audit: of ``tables/predictions/{name}/counterfactual….csv``."""

    def __init__(self, results: Results, table: str) -> None:
        self.folder = audit_folder(results, table)

    @cached_property
    def rows(self) -> pd.DataFrame | None:
        """The rows, with the id and the cluster of their factual case; None where unknown."""
        columns = ["id", "cluster", COUNTERFACTUALS]
        if (cases := cases_of_audit(self.folder, columns)) is None:
            return None
        cases = cases.combine_chunks()
        nested = cases[COUNTERFACTUALS].combine_chunks()
        rows = pa.Table.from_struct_array(pc.list_flatten(nested)).to_pandas()
        factual = cases.select(columns[:2]).take(pc.list_parent_indices(nested))
        return rows.join(factual.to_pandas())

    def items(self, key: dict[str, str], column: str) -> Items | None:
        """Return the rows that change an attribute (to its value), named by case and value."""
        if self.rows is None or column not in self.rows:
            return None
        parts = {name: key[name] for name in ("attribute", "value") if name in key}
        rows = self.rows[(self.rows[[*parts]] == parts).all(axis=1)]
        names = (rows["id"] + "\0" + rows["value"]).to_numpy(dtype=str)
        clusters = np.char.replace(rows["cluster"].to_numpy(dtype=str), "\0", "\1")
        return Items(names, clusters, rows[column].to_numpy(dtype=float))
