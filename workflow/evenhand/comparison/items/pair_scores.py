"""The pairs behind the table of bias scores of a set, from the scores per sentence and model."""

from functools import cache
from pathlib import Path

import numpy as np

from evenhand.comparison.items.common import Items
from evenhand.comparison.results import Results
from evenhand.io.tables import read_columns
from evenhand.metrics.inference import swap_sides
from evenhand.stereotypes.clusters import templates
from evenhand.stereotypes.decisions import decide
from evenhand.stereotypes.read_scores import Model, Pairs, read_models, read_pair_set
from evenhand.stereotypes.tables.bias_scores import subsets


class Store:
    """The pairs of a set: of ``tables/pairs/{set}/bias_scores.csv`` or ``length.csv``."""

    def __init__(self, results: Results, table: str) -> None:
        self.folder = results.folder / "stereotypes" / Path(table).parent.name
        self.read = cache(self._read)

    def _read(
        self, name: str
    ) -> tuple[Pairs, np.ndarray, np.ndarray, Model, dict[str, np.ndarray]] | None:
        paths = [
            self.folder / "pairs.parquet",
            self.folder / "scores" / f"{name}.parquet",
            self.folder / "gates" / f"{name}.json",
        ]
        if not all(path.is_file() for path in paths):
            return None
        pairs = read_pair_set(paths[0])
        # ids may be numbers of rows, and the numbers of clusters in `Pairs` differ between sets
        texts = read_columns(paths[0], ["cluster", "more", "less", "context"]).to_pandas()
        texts = texts.fillna("").astype(str)
        names = (texts["more"] + "\0" + texts["less"] + "\0" + texts["context"]).to_numpy(dtype=str)
        parts = templates(map(tuple, texts[["more", "less", "context"]].to_numpy()))
        clusters = np.column_stack([swap_sides(texts["cluster"]), parts])
        (model,) = read_models(pairs, [paths[1]], [paths[2]])
        return pairs, names, clusters, model, subsets(pairs, model) if model.methods else {}

    def items(self, key: dict[str, str], column: str) -> Items | None:
        """Return the scored pairs of a row; 100 where `more` is likelier, 50 for a tie, else 0."""
        contents = self.read(key["model"])
        if contents is None:
            return None
        pairs, names, clusters, model, members = contents
        subset = key.get("subset", "equal_length")  # that of the table of lengths
        if key["method"] not in model.methods or subset not in members:
            return None
        decisions = decide(pairs, model.scores, key["method"])
        rows = members[subset] & decisions.counted() & pairs.of_type(key.get("bias_type", "all"))
        return Items(names[rows], clusters[rows], 100.0 * decisions.preferences()[rows])
