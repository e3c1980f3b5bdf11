"""Read the inputs of the summaries: the pairs of a set and the scores of models."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.errors import InputError
from evenhand.io.documents import read_description
from evenhand.io.tables import read_columns, read_rows
from evenhand.metrics.inference import swap_codes
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.clusters import templates
from evenhand.stereotypes.pairs import EXCLUSIONS, sentences_of
from evenhand.stereotypes.scores import EXCLUDED, SCORES

#: The columns that are read of the pairs.
TEXTS = ["context", "more", "less"]
COLUMNS = ["pair_id", "bias_type", "direction", "cluster", "disadvantaged", "annotators",
           "agreement", "flags", "excluded", *TEXTS]  # fmt: skip

#: The non-numeric columns of the scores.
KEYS = ("pair_id", "side", "variant", "excluded")


class Pairs(NamedTuple):
    """A set of n pairs; all arrays have the shape (n,).

    Attributes
    ----------
    pair_id, bias_type : array of str
    direction, disadvantaged : array of str
        Empty where the table has null.
    cluster : array of int, shape (n, 4)
        The words of the swap: numbers in the order of the sorted words. A target term is the first.
        Then the numbers of the template and of the words in it.
    agreement : array of float
        Annotators who named the pair's bias type; NaN for a pair without ratings.
    clean : array of bool
        Whether the pair has no flag, and is not excluded.
    excluded : array of bool
        Whether the pair cannot be scored at all.
    sentences : array of int
        Equal numbers for pairs of the same two sentences.
    misplaced : array of bool
        Whether the pair has this flag.
    """

    pair_id: np.ndarray
    bias_type: np.ndarray
    direction: np.ndarray
    disadvantaged: np.ndarray
    cluster: np.ndarray
    agreement: np.ndarray
    clean: np.ndarray
    excluded: np.ndarray
    sentences: np.ndarray
    misplaced: np.ndarray

    @property
    def bias_types(self) -> list[str]:
        """``all``, and the bias types of the set, sorted."""
        return ["all", *map(str, np.unique(self.bias_type))]

    def of_type(self, bias_type: str) -> np.ndarray:
        """Return whether each pair is of a bias type of `bias_types`."""
        return (self.bias_type == bias_type) | (bias_type == "all")


class Scores(NamedTuple):
    """The scores of one model, trained or with random weights.

    Attributes
    ----------
    columns : dict
        The numeric columns of the table; float, NaN for null and for excluded sentences.
    rows : dict
        The row of each pair by side and variant: shape (n,), -1 for a missing sentence.
    """

    columns: dict[str, np.ndarray]
    rows: dict[tuple[str, str], np.ndarray]

    def column(self, name: str, side: str, variant: str = "original") -> np.ndarray:
        """Return a column for the sentences of a side, in pair order; NaN if missing."""
        rows = self.rows.get((side, variant))
        if rows is None:
            return np.full(len(self.rows["more", "original"]), np.nan)
        return np.where(rows >= 0, self.columns[name][rows], np.nan)


@dataclass(frozen=True, eq=False)
class Model:
    """A model whose scores are summarised.

    Attributes
    ----------
    name : str
        The stem of its files.
    gate : dict
        The record of its validity check, as `score_pairs` wrote it.
    scores : Scores or None
        None for a model that is not trusted.
    nulls : list of Scores
        One per seed, in the order of the seeds.
    unscored : dict of list of str
        By reason, the pairs with a sentence that the model cannot score.
    """

    name: str
    gate: dict[str, Any]
    scores: Scores | None = None
    nulls: list[Scores] = field(default_factory=list)
    unscored: dict[str, list[str]] = field(default_factory=dict)

    @property
    def trusted(self) -> bool:
        """Whether the model passed its validity check."""
        return self.gate["trusted"]

    @property
    def blank(self) -> dict[str, str]:
        """The requested methods by which the model cannot be scored, and why."""
        return self.gate["blank_methods"] if self.trusted else {}

    @property
    def methods(self) -> list[str]:
        """The other methods, in the order of `METHODS`; empty for a model that is not trusted."""
        requested = {*self.gate["methods"]} - {*self.blank} if self.trusted else ()
        return [name for name in METHODS if name in requested]


@dataclass(frozen=True, eq=False)
class PairStudy:
    """A set of pairs, its models, and the settings of tests and intervals.

    Attributes
    ----------
    pairs : Pairs
    models : list of Model
        In the order of the configuration, including untrusted ones.
    delta : float
        The smallest preference that matters, in percentage points.
    agreeing : tuple of int
        Numbers of annotators who must name the bias type of a pair for it to count as biased.
    """

    pairs: Pairs
    models: list[Model]
    delta: float = 5.0
    agreeing: tuple[int, ...] = (3, 4, 5)

    @property
    def trusted(self) -> list[Model]:
        """The models that passed their validity checks."""
        return [model for model in self.models if model.trusted]


def read_pair_set(path: Path) -> Pairs:
    """Read the pairs of a set.

    Raises
    ------
    InputError
        The file is not a table of pairs, or is empty.
    """
    table = read_columns(path, COLUMNS)
    if not table.num_rows:
        raise InputError("holds no pair, so there is nothing to summarise", file=path)
    agreement = _floats(table, "agreement")
    agreement[np.isnan(_floats(table, "annotators"))] = np.nan
    excluded = np.array(table["excluded"].is_valid())
    texts = table.select(TEXTS).to_pylist()
    parts = templates((row["more"] or "", row["less"] or "", row["context"]) for row in texts)
    flagged = np.array(pc.fill_null(pc.list_value_length(table["flags"]), 0)) > 0
    return Pairs(
        pair_id=_strings(table, "pair_id"),
        bias_type=_strings(table, "bias_type"),
        direction=_strings(table, "direction"),
        disadvantaged=_strings(table, "disadvantaged"),
        cluster=swap_codes(_strings(table, "cluster"), templates=parts),
        agreement=agreement,
        clean=~flagged & ~excluded,
        excluded=excluded,
        sentences=_numbered(map(sentences_of, texts)),
        misplaced=np.array(["misplaced" in (flags or ()) for flags in table["flags"].to_pylist()]),
    )


def read_models(
    pairs: Pairs, scores: Sequence[Path], gates: Sequence[Path], nulls: Sequence[Path] = ()
) -> list[Model]:
    """Read the scores of models, in the order of `scores`.

    Parameters
    ----------
    pairs : Pairs
        The set that the models scored.
    scores, gates, nulls : sequence of Path
        Files named after the models; the file of nulls is optional.

    Raises
    ------
    InputError
        A file is missing, broken or of another set, or two models have the same name.
    """
    score_paths, gate_paths, null_paths = map(_by_stem, (scores, gates, nulls))
    if others := sorted({*gate_paths, *null_paths} - {*score_paths}):
        raise InputError(f"there are no scores of {others[0]}")
    models = []
    for path in scores:
        if path.stem not in gate_paths:
            raise InputError(f"there is no gate of {path.stem}", file=path)
        gate = read_description(gate_paths[path.stem], {"trusted"}, "score_pairs")
        model = Model(path.stem, gate, unscored=_unscored(path))
        null = null_paths.get(path.stem)
        if model.trusted:
            [scores] = _read_scores(path, pairs)
            nulls_by_seed = _read_scores(null, pairs, seeds=True) if null else []
            model = replace(model, scores=scores, nulls=nulls_by_seed)
        models.append(model)
    return models


def _unscored(path: Path) -> dict[str, list[str]]:
    """Return the pairs with a sentence that the model cannot score, by reason."""
    pairs = defaultdict(dict)
    for row in read_rows(path, ["pair_id", "variant", "excluded"]):
        if row["variant"] == "original" and row["excluded"] in {*EXCLUDED} - {*EXCLUSIONS}:
            pairs[row["excluded"]][row["pair_id"]] = True
    return {reason: [*ids] for reason, ids in sorted(pairs.items())}


def _by_stem(paths: Sequence[Path]) -> dict[str, Path]:
    by_stem: dict[str, Path] = {}
    for path in paths:
        if by_stem.setdefault(path.stem, path) is not path:
            raise InputError(f"is a second file of {path.stem}", file=path)
    return by_stem


def _read_scores(path: Path, pairs: Pairs, *, seeds: bool = False) -> list[Scores]:
    """Return the scores in a file: of the model, or of each seed (possibly none)."""
    names = [*(["seed"] if seeds else []), *SCORES.names]
    table = read_columns(path, names)
    numbers = [name for name in SCORES.names if name not in KEYS]
    columns = {name: _floats(table, name) for name in numbers}
    excluded = np.array(table["excluded"].is_valid())
    for name in METHODS:
        columns[name][excluded] = np.nan
    place = pc.index_in(table["pair_id"], pa.array(pairs.pair_id))
    if place.null_count:
        raise _other_pairs(path)
    pair = place.to_numpy(zero_copy_only=False).astype(np.int64)
    groups = pd.DataFrame({name: _strings(table, name) for name in ("side", "variant")})
    groups["seed"] = _floats(table, "seed") if seeds else 0.0
    rows: dict[float, dict[tuple[str, str], np.ndarray]] = {}
    by_group = groups.groupby(["seed", "side", "variant"]).indices
    for (seed, side, variant), members in by_group.items():
        if len(np.unique(pair[members])) < len(members):
            raise InputError(f"has a pair's {variant} {side} sentence twice", file=path)
        places = rows.setdefault(seed, {})[side, variant] = np.full(len(pairs.pair_id), -1)
        places[pair[members]] = members
    missing = np.full(1, -1)
    for by_side in rows.values() if seeds or rows else [{}]:
        if any((by_side.get((side, "original"), missing) < 0).any() for side in ("more", "less")):
            raise _other_pairs(path)
    return [Scores(columns, by_side) for _, by_side in sorted(rows.items())]


def _other_pairs(path: Path) -> InputError:
    problem = "its pairs are not those of the set"
    return InputError(problem, file=path, remedy="score the set with it again")


def _floats(table: pa.Table, name: str) -> np.ndarray:
    """Return a numeric column, with NaN for null."""
    filled = pc.fill_null(table[name].cast(pa.float64()), float("nan"))
    return np.array(filled.to_numpy())


def _numbered(items: Iterable[Hashable]) -> np.ndarray:
    """Return equal numbers for equal items, in the order of their first occurrence."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(item, len(numbers)) for item in items])


def _strings(table: pa.Table, name: str) -> np.ndarray:
    """Return a text column, with empty strings for null."""
    return np.array(pc.fill_null(table[name], "").to_pylist(), dtype=str)
