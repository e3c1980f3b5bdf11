"""Small sets of pairs, and the files that score_pairs leaves, made up."""

import csv
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.tables import tabulate
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.pairs import PAIRS
from evenhand.stereotypes.read_scores import PairStudy, read_models, read_pair_set
from evenhand.stereotypes.scores import NULL_SCORES, SCORES


def write_pairs(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write pairs; what a row does not say is filled in."""
    full = [
        dict.fromkeys(PAIRS.names)
        | {
            "pair_id": str(number),
            "bias_type": "gender",
            "cluster": f"c{number}",
            "more": f"a {number}",
            "less": f"b {number}",
            "flags": [],
            "source_position": number + 1,
        }
        | row
        for number, row in enumerate(rows)
    ]
    pq.write_table(pa.Table.from_pylist(full, PAIRS), path)
    return path


def score_rows(
    values: dict[str, list[tuple[float | None, ...]]],
    n_tokens: list[tuple[int, ...]] | None = None,
    more: dict[tuple[int, str, str], dict[str, Any]] | None = None,
    ids: list[str] | None = None,
) -> list[dict[str, Any]]:
    """Rows of the scores.

    Parameters
    ----------
    values : dict
        By method, per pair the score of `more`, `less` and (if given) `unrelated`.
    n_tokens : list of tuple, optional
        Per pair the tokens of its sides; by default 5 each.
    more : dict, optional
        By number of the pair, side and variant, what else its row says; a row of another variant
        than original is there if it is named here.
    ids : list of str, optional
        The pairs; by default their numbers.
    """
    count = len(next(iter(values.values())))
    ids = ids or [str(number) for number in range(count)]
    rows = []
    for number in range(count):
        scores = {method: of[number] for method, of in values.items()}
        for place, side in enumerate(("more", "less", "unrelated")):
            if not all(len(one) > place for one in scores.values()):
                continue
            tokens = n_tokens[number] if n_tokens else (5, 5, 5)
            row = dict.fromkeys(SCORES.names) | {
                "pair_id": ids[number],
                "side": side,
                "n_tokens": tokens[place] if place < len(tokens) else 5,
                "n_unknown": 0,
                "n_specials": 2,
                **{method: one[place] for method, one in scores.items()},
            }
            for variant in ("original", "shuffled"):
                said = (more or {}).get((number, side, variant))
                if variant == "original" or said is not None:
                    rows.append(row | {"variant": variant} | (said or {}))
    return rows


def write_model(
    folder: Path,
    name: str,
    rows: list[dict[str, Any]],
    *,
    family: str = "masked",
    trusted: bool = True,
    methods: list[str] | None = None,
    blank: dict[str, str] | None = None,
    nulls: list[list[dict[str, Any]]] | None = None,
) -> dict[str, list[Path]]:
    """Write a model's files and say where they are, as the options of a stage."""
    paths = {what: folder / what for what in ("scores", "gates", "nulls")}
    for path in paths.values():
        path.mkdir(exist_ok=True)
    scores, gate = paths["scores"] / f"{name}.parquet", paths["gates"] / f"{name}.json"
    pq.write_table(pa.Table.from_pylist(rows, SCORES), scores)
    gate.write_text(
        json.dumps(
            {
                "model": name,
                "family": family,
                "methods": [name for name in METHODS if any(row[name] is not None for row in rows)]
                if methods is None
                else methods,
                "blank_methods": blank or {},
                "trusted": trusted,
                "reason": None if trusted else "missing_weights, few_scored",
            }
        ),
        encoding="utf-8",
    )
    if nulls is None:
        return {"scores": [scores], "gates": [gate]}
    null = paths["nulls"] / f"{name}.parquet"
    seeded = [row | {"seed": seed} for seed, block in enumerate(nulls) for row in block]
    pq.write_table(pa.Table.from_pylist(seeded, NULL_SCORES), null)
    return {"scores": [scores], "gates": [gate], "nulls": [null]}


def tabulate_one(
    folder: Path,
    name: str,
    pairs: list[dict[str, Any]],
    *models: dict[str, list[Path]],
    agreeing: tuple[int, ...] = (3, 4, 5),
    delta: float = 5.0,
) -> tuple[list[dict[str, str]], str | None]:
    """Write one table of `evenhand.stereotypes.tables`; return its rows, or why there are none."""
    member = importlib.import_module(f"evenhand.stereotypes.tables.{name}")
    pair_set = read_pair_set(write_pairs(folder / "pairs.parquet", pairs))
    study = PairStudy(pair_set, read_models(pair_set, **together(*models)), delta, tuple(agreeing))
    counts = tabulate(folder / "tables", [member], study)
    if not counts["rows"].get(name):
        return [], counts.get("left_out", {}).get(name)
    with (folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream)), None


def together(*models: dict[str, list[Path]]) -> dict[str, list[Path]]:
    """The options of several models."""
    keys = {key: None for model in models for key in model}
    return {key: [path for model in models for path in model.get(key, [])] for key in keys}


def decided(hits: list[int | None]) -> list[tuple[float | None, float]]:
    """Scores of `more` and `less` from 1 (more is likelier), 0 (less), None (no score)."""
    return [(hit if hit is None else -1.0 + hit, -0.5) for hit in hits]


def made_set(
    folder: Path,
    models: int = 1,
    *,
    pairs: int = 200,
    seeds: int = 4,
    rng_seed: int = 0,
    sides: int = 3,
) -> dict[str, Any]:
    """Random scores of every masked method for a set with directions, types and annotations."""
    generator = np.random.default_rng(rng_seed)
    types, swaps = ["race", "gender", "age"], generator.integers(pairs // 4, size=pairs)
    path = write_pairs(
        folder / "pairs.parquet",
        [
            {
                "bias_type": types[int(swap) % 3],
                "cluster": f"swap {swap}",
                "direction": "stereo" if generator.random() < 0.8 else "antistereo",
                "disadvantaged": "more" if generator.random() < 0.8 else "less",
                "annotators": 5,
                "agreement": int(generator.integers(6)),
                "flags": ["several_edits"] if generator.random() < 0.2 else [],
            }
            for swap in swaps
        ],
    )
    masked = [name for name, method in METHODS.items() if method.family == "masked"]

    def block() -> list[dict[str, Any]]:
        lengths = [tuple(map(int, generator.integers(4, 7, size=sides))) for _ in range(pairs)]
        values = {
            name: [tuple(map(float, one)) for one in generator.normal(-5, 1, size=(pairs, sides))]
            for name in masked
        }
        counts = {
            (number, side, variant): {
                "n_correct": int(generator.integers(4)),
                "n_specials_correct": 1,
                "cps_tokens": 3,
                "cps_correct": 1,
                "sss_tokens": 1,
                "sss_correct": 0,
                "all_masked_correct": 0,
            }
            for number in range(pairs)
            for side in ("more", "less", "unrelated")[:sides]
            for variant in ("original", "shuffled")
        }
        return score_rows(values, lengths, counts)

    options = [
        write_model(folder, f"model-{number}", block(), nulls=[block() for _ in range(seeds)])
        for number in range(models)
    ]
    return {"pairs": path} | together(*options)
