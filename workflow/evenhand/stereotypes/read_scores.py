"""Read the inputs of the summaries: the pairs of a set and the scores of models."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.errors import InputError
from evenhand.io.tables import read_columns
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.scores import SCORES

#: The columns that are read of the pairs.
COLUMNS = ["pair_id", "bias_type", "direction", "cluster", "disadvantaged", "annotators",
           "agreement", "flags", "excluded"]  # fmt: skip

#: The non-numeric columns of the scores.
KEYS = ("pair_id", "side", "variant", "excluded")


class Pairs(NamedTuple):
    """A set of n pairs; all arrays have the shape (n,).

    Attributes
    ----------
    pair_id, bias_type : array of str
    direction, disadvantaged : array of str
        Empty where the table has null.
    cluster : array of int
        Numbers in the order of the sorted names.
    agreement : array of float
        Annotators who named the pair's bias type; NaN for a pair without ratings.
    clean : array of bool
        Whether the pair has no flag, and is not excluded.
    excluded : array of bool
        Whether the pair cannot be scored at all.
    """

    pair_id: np.ndarray
    bias_type: np.ndarray
    direction: np.ndarray
    disadvantaged: np.ndarray
    cluster: np.ndarray
    agreement: np.ndarray
    clean: np.ndarray
    excluded: np.ndarray


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


class Model(NamedTuple):
    """A model whose scores are summarised.

    Attributes
    ----------
    name : str
        The stem of its files.
    trusted : bool
        Whether the model passed its validity check.
    reason : str
        Why not, joined by commas; empty for a trusted model.
    family : str
        ``masked`` or ``causal``; empty for a model that is not trusted.
    methods : list of str
        In the order of `METHODS`; empty for a model that is not trusted.
    blank : dict of str
        Requested methods by which the model cannot be scored, and why.
    scores : Scores or None
        None for a model that is not trusted.
    nulls : list of Scores
        One per seed, in the order of the seeds.
    """

    name: str
    trusted: bool
    reason: str
    family: str
    methods: list[str]
    blank: dict[str, str]
    scores: Scores | None
    nulls: list[Scores]


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
    flagged = np.array(pc.fill_null(pc.list_value_length(table["flags"]), 0)) > 0
    return Pairs(
        pair_id=_strings(table, "pair_id"),
        bias_type=_strings(table, "bias_type"),
        direction=_strings(table, "direction"),
        disadvantaged=_strings(table, "disadvantaged"),
        cluster=np.unique(_strings(table, "cluster"), return_inverse=True)[1],
        agreement=agreement,
        clean=~flagged & ~excluded,
        excluded=excluded,
    )


def read_models(
    pairs: Pairs,
    scores: Sequence[Path],
    gates: Sequence[Path],
    nulls: Sequence[Path] = (),
    methods: Sequence[str] = (),
) -> list[Model]:
    """Read the scores of models, in the order of `scores`.

    Parameters
    ----------
    pairs : Pairs
        The set that the models scored.
    scores, gates, nulls : sequence of Path
        Files named after the models; the file of nulls is optional.
    methods : sequence of str
        The requested methods; by default those in the gate. Each model has those of its family.
        Without either, it has the methods with any score.

    Raises
    ------
    InputError
        There is no model, a file is missing, broken or of another set, or two models have the
        same name.
    """
    if not scores:
        raise InputError("there are no scores to summarise")
    if unknown := sorted({*methods} - {*METHODS}):
        raise InputError(
            f"there is no method {unknown[0]}", remedy=f"the methods are {', '.join(METHODS)}"
        )
    by_name = {"scores": _by_stem(scores), "gates": _by_stem(gates), "nulls": _by_stem(nulls)}
    for what in ("gates", "nulls"):
        if strange := sorted(by_name[what].keys() - by_name["scores"].keys()):
            raise InputError("belongs to no scores", file=by_name[what][strange[0]])
    models = []
    for name, path in by_name["scores"].items():
        if name not in by_name["gates"]:
            raise InputError(f"there is no gate of {name}", file=path)
        gate = _read_gate(by_name["gates"][name])
        if not gate["trusted"]:
            reason = gate["reason"] or "not_trusted"
            models.append(Model(name, False, reason, "", [], {}, None, []))
            continue
        (own,) = _read_scores(path, pairs)
        null = by_name["nulls"].get(name)
        found = _methods_of(own, gate["family"], methods or gate["methods"])
        blank = {method: gate["blank"][method] for method in found if method in gate["blank"]}
        models.append(
            Model(
                name,
                True,
                "",
                gate["family"],
                [method for method in found if method not in blank],
                blank,
                own,
                _read_scores(null, pairs, seeds=True) if null else [],
            )
        )
    return models


def summary(models: Sequence[Model], rows: int, reason: str | None = None) -> dict[str, Any]:
    """Return the counts of a summary: rows, models, untrusted, and why there are no rows."""
    counts: dict[str, Any] = {
        "rows": rows,
        "models": len(models),
        "untrusted": {model.name: model.reason for model in models if not model.trusted},
    }
    return counts | ({"reason": reason} if reason else {})


def _by_stem(paths: Sequence[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in paths:
        if path.stem in found:
            raise InputError(f"is a second file of {path.stem}", file=path)
        found[path.stem] = path
    return found


def _methods_of(scores: Scores, family: str, requested: Sequence[str]) -> list[str]:
    own = [name for name, method in METHODS.items() if method.family == family]
    if requested:
        return [name for name in own if name in requested]
    return [name for name in own if np.isfinite(scores.columns[name]).any()]


def _read_gate(path: Path) -> dict[str, Any]:
    try:
        gate = json.loads(path.read_text(encoding="utf-8"))
        found = {key: gate[key] for key in ("family", "trusted", "reason")}
        found["methods"] = gate.get("methods") or []
        found["blank"] = gate.get("blank_methods") or {}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("is not a gate that score_pairs wrote", file=path) from error
    if found["trusted"] and found["family"] not in {method.family for method in METHODS.values()}:
        raise InputError(f"names no family of models: {found['family']!r}", file=path)
    return found


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
    kind = {name: _strings(table, name) for name in ("side", "variant")}
    seed = _floats(table, "seed") if seeds else np.zeros(table.num_rows)
    found = []
    for one in np.unique(seed):
        rows: dict[tuple[str, str], np.ndarray] = {}
        chosen = np.flatnonzero(seed == one)
        for side in np.unique(kind["side"][chosen]):
            for variant in np.unique(kind["variant"][chosen]):
                own = chosen[(kind["side"][chosen] == side) & (kind["variant"][chosen] == variant)]
                if len(np.unique(pair[own])) < len(own):
                    raise InputError(f"has a pair's {variant} {side} sentence twice", file=path)
                if len(own):
                    rows[str(side), str(variant)] = np.full(len(pairs.pair_id), -1)
                    rows[str(side), str(variant)][pair[own]] = own
        for side in ("more", "less"):
            if (rows.get((side, "original"), np.full(1, -1)) < 0).any():
                raise _other_pairs(path)
        found.append(Scores(columns, rows))
    if not found and not seeds:
        raise _other_pairs(path)
    return found


def _other_pairs(path: Path) -> InputError:
    return InputError(
        "its pairs are not those of the set", file=path, remedy="score the set with it again"
    )


def _floats(table: pa.Table, name: str) -> np.ndarray:
    """Return a numeric column, with NaN for null."""
    filled = pc.fill_null(table[name].cast(pa.float64()), float("nan"))
    return np.array(filled.to_numpy())


def _strings(table: pa.Table, name: str) -> np.ndarray:
    """Return a text column, with empty strings for null."""
    return np.array(pc.fill_null(table[name], "").to_pylist(), dtype=str)
