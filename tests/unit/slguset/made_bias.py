"""A small data set with the bias of made models, and the tables of both."""

import json

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.tables import read_tables
from evenhand.slguset.bias_tables import BIAS
from evenhand.slguset.tabulate_bias import tabulate_bias
from evenhand.stereotypes.scores import SCORES

#: gender, surface, surface_opposite, bias of the models a and b
ROWS = [
    ("male", "男人", "女人", 0.5, 1.0),
    ("female", "女人", "男人", -0.1, -0.2),
    ("male", "他", "她", 0.3, 0.6),
    ("female", "她", "他", -0.7, None),
    ("female", "她", "他", 0.0, 0.1),
]


def write_dataset(path, rows=ROWS, **columns):
    """Columns are lists of a value per row that replace those made here."""
    table = [
        {
            "sentence_id": str(number),
            "sentence": f"见{surface}了。",
            "pair": "男/女" if "人" in surface else "他/她",
            "surface": surface,
            "surface_opposite": opposite,
            "opposite": opposite[0],
            "gender": gender,
            **{"start": 1, "end": 2, "surface_start": 1, "surface_end": 1 + len(surface)},
            **{"source": "corpus/day.txt", "source_position": number + 1},
            **{name: values[number] for name, values in columns.items()},
        }
        for number, (gender, surface, opposite, *_) in enumerate(rows)
    ]
    pq.write_table(pa.Table.from_pylist(table), path)
    return path


def write_model(folder, name, biases, trusted=True, log_base=10.0, ids=None, without=()):
    table = [
        {
            "sentence_id": str(number) if ids is None else ids[number],
            "log_p_male": bias,
            "log_p_female": bias if bias is None else 0.0,
            "bias": bias,
            "bias_left_to_right": bias,
            "bias_right_to_left": bias,
            "bias_one_character": bias if bias is None else 2 * bias,
            "bias_single_mask": bias if bias is None else -bias,
            "n_masks": 2 if number > 2 else 1,
            "n_masks_opposite": 1,
            "has_unk": None if bias is None else number == 0,
            "excluded": "keyword_unknown" if bias is None else None,
            **dict.fromkeys(without),
        }
        for number, bias in enumerate(biases)
    ]
    pq.write_table(pa.Table.from_pylist(table, BIAS), folder / f"{name}.parquet")
    gate = {
        "model": name,
        "family": "masked",
        "log_base": log_base,
        "trusted": trusted,
        "reason": None if trusted else "fill_mask_not_above_baseline",
        "check": {"accuracy": 0.5, "baseline": 0.04},
    }
    (folder / f"{name}.gate.json").write_text(json.dumps(gate), encoding="utf-8")


def write_scores(folder, name, differences, trusted=True, ids=None):
    """AUL of the male sentence is the difference, that of the female one 0; AULA is null."""
    rows = []
    for number, difference in enumerate(differences):
        for variant in ("original", "shuffled"):
            for side in ("more", "less"):
                row = dict.fromkeys(SCORES.names)
                aul = {"more": difference, "less": 0.0}[side]
                rows.append(
                    row
                    | {
                        "pair_id": str(number) if ids is None else ids[number],
                        "side": side,
                        "variant": variant,
                        "aul": aul if variant == "original" else 99.0,
                    }
                )
    pq.write_table(pa.Table.from_pylist(rows, SCORES), folder / f"{name}.scores.parquet")
    gate = {"model": name, "trusted": trusted, "reason": None if trusted else "few_scored"}
    gate["blank_methods"] = {"aula": "no_attention"}
    (folder / f"{name}.scores.json").write_text(json.dumps(gate), encoding="utf-8")


def tabulate(folder, *names, scored=(), **options):
    """The rows of each table, by its name, of these models; and the counts."""
    stop_words = folder / "stop.csv"
    if not stop_words.exists():
        stop_words.write_text("word,note\n没有,\n", encoding="utf-8")
    counts = tabulate_bias(
        dataset=folder / "dataset.parquet",
        bias=[folder / f"{name}.parquet" for name in names],
        gates=[folder / f"{name}.gate.json" for name in names],
        scores=[folder / f"{name}.scores.parquet" for name in scored],
        score_gates=[folder / f"{name}.scores.json" for name in scored],
        out=folder / "tables",
        **{"stop_words": stop_words} | options,
    )
    tables = read_tables(folder / "tables")
    assert counts["rows"] == {name: len(rows) for name, rows in tables.items()}
    return tables, counts
