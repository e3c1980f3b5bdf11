"""The sentences behind the tables of SlguSet's bias, from the bias per sentence and model."""

from functools import cache
from pathlib import Path

import numpy as np

from evenhand.comparison.items.common import Items
from evenhand.comparison.results import Results
from evenhand.io.tables import read_columns
from evenhand.metrics.inference import swap_sides
from evenhand.slguset.bias_tables import BIAS, VARIANTS

#: The name of the group of all sentences, pairs, genders and directions in the tables.
ALL = "all"


class Store:
    """The sentences of a source of SlguSet: of ``tables/bias/{source}/….csv``."""

    def __init__(self, results: Results, table: str) -> None:
        folder = results.folder / Path(table).parent.name
        self.dataset = folder / "slguset.parquet"
        self.bias = folder / "bias"
        self.scores = cache(self._read)

    def _read(self, model: str) -> dict[str, np.ndarray] | None:
        path = self.bias / f"{model}.parquet"
        if not (path.is_file() and self.dataset.is_file()):
            return None
        columns = ["sentence_id", "surface", "surface_opposite", "gender"]
        sentences = read_columns(self.dataset, columns).to_pandas()
        scores = read_columns(path, BIAS.names).to_pandas()
        if list(sentences["sentence_id"]) != list(scores["sentence_id"]):
            return None
        male = sentences["gender"] == "male"
        word, opposite = sentences["surface"], sentences["surface_opposite"]
        pair = word.where(male, opposite) + "/" + opposite.where(male, word)
        return {name: scores[name].to_numpy(dtype=float) for name in VARIANTS} | {
            "sentence_id": sentences["sentence_id"].to_numpy(dtype=str),
            "gender": sentences["gender"].to_numpy(dtype=str),
            "pair": pair.to_numpy(dtype=str),
            "several": (scores[["n_masks", "n_masks_opposite"]] > 1).any(axis=1).to_numpy(),
        }

    def items(self, key: dict[str, str], column: str) -> Items | None:
        """Return the sentences of a row, clustered by word pair, or each by itself within one."""
        scores = self.scores(key["model"])
        columns = {variant: column for column, variant in VARIANTS.items()}
        variant = key.get("variant", VARIANTS["bias"])
        group = key.get("group", ALL)
        if scores is None or variant not in columns or group not in (ALL, "surface_pair"):
            return None
        value = scores[columns[variant]]
        rows = np.isfinite(value)
        if group != ALL:
            rows &= scores["pair"] == key["surface_pair"]
        if key.get("gender", ALL) != ALL:
            rows &= scores["gender"] == key["gender"]
        if key.get("words", ALL) != ALL:
            rows &= scores["several"]
        if (direction := key.get("direction", ALL)) != ALL:
            with np.errstate(invalid="ignore"):
                rows &= value > 0 if direction == "male" else value < 0
        names = scores["sentence_id"][rows]
        clusters = swap_sides(scores["pair"][rows], "/") if group == ALL else names
        return Items(names, clusters, value[rows])
