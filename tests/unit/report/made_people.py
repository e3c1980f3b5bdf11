"""Small tables of people with answers: what the explorer of test individuals is tested on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.tables import read_table, write_tables
from evenhand.individual.results import SETTING, setting_of
from evenhand.individual.tables import table_4, table_8
from evenhand.learning.train_table import PREDICTIONS, RUNS
from evenhand.tabular.prepared import Prepared, write_prepared

#: What the job of one person is.
PLANTED = "lighthouse keeper"

#: People held out by seed, of six.
HELD = {0: [1, 2, 3, 5], 1: [0, 2, 3]}


def table(name: str = "mine", text: str = "", values: int = 2, many: int = 0) -> Prepared:
    """Six people with an income and a job, and `many` more; the group is their number's rest."""
    count = 6 + many
    a = (np.arange(count) % values).astype(np.int16)
    jobs = ["nurse", f"{PLANTED} {text}".strip()]
    job = np.arange(count) == 2
    names = ["man", f"woman {text}".strip(), "other"][:values]
    income = 1000.0 * np.arange(count) + 0.5 * (np.arange(count) == 3)
    if values == 2:
        carriers, codes = [f"gender={names[1]}"], np.array([[0.0], [1.0]])
    else:
        carriers, codes = [f"gender={one}" for one in names], np.eye(values)
    return Prepared(
        name=name,
        x=np.column_stack([codes[a], ~job, job, income]),
        y=(np.arange(count) % 3 == 0).astype(np.int8),
        a=a,
        features=[*carriers, *(f"job={one}" for one in jobs), "monthly_income"],
        attribute_name="gender",
        attribute_values=names,
        attribute_columns=list(range(len(carriers))),
        attribute_codes=codes,
        scale="none",
        test_share=0.5,
        meta={"title": f"{name.capitalize()} {text}".strip(), "label": f"has it {text}".strip()},
    )


def run(number: int, seed: int, **said: Any) -> dict[str, Any]:
    """A run of the MLP without measures, but for what is said."""
    row = dict.fromkeys(RUNS.names) | {"run": number, "seed": seed, "method": "mlp", "lambda": 0.0}
    row |= {"individual": "none", "split": "random", "js_base": "e", "diverged": False}
    return row | said


def answers(
    made: Prepared, number: int, rows: list[int], p: list[float], flipped: list[Any]
) -> list[dict[str, Any]]:
    """Predictions of a run: `flipped` by person, a number for all other values or one for each."""
    found = []
    for row, own, others in zip(rows, p, flipped, strict=True):
        alike = not isinstance(others, list)
        told = [others] * len(made.attribute_values) if alike else list(others)
        told[made.a[row]] = None
        found.append({"run": number, "row": row, "p": own, "p_flipped": told})
    return found


def write(
    folder: Path,
    made: Prepared,
    runs: list[dict[str, Any]],
    predictions: list[dict[str, Any]],
    method: str = "mlp",
    tables: str = "tables",
) -> dict[str, Any]:
    """The files of a training and of the tables with its settings, as arguments of a page."""
    data, meta, tables_out = folder / "data.parquet", folder / "data.json", folder / tables
    files = {kind: folder / kind / f"random/{method}.parquet" for kind in ("runs", "predictions")}
    for path in files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    write_prepared(made, data, meta)
    runs = [{**row, "dataset": made.name} for row in runs]
    pq.write_table(pa.Table.from_pylist(runs, RUNS), files["runs"])
    pq.write_table(pa.Table.from_pylist(predictions, PREDICTIONS), files["predictions"])
    settings = {setting_of(row): {name: row[name] for name in SETTING} for row in runs}
    write_tables(tables_out, [(table_4.TABLE, settings.values()), (table_8.TABLE, [])])
    trained = {kind: [path] for kind, path in files.items()}
    return {"people": [data], "meta": [meta], "formats": ["table"], **trained, "tables": tables_out}


def two_groups(folder: Path, text: str = "", many: int = 0) -> dict[str, Any]:
    """Two settings of the MLP with two seeds, and a third setting of which every run diverged.

    Of the MLP, seed 0 says 1 of person 3 (a woman) and 0 of her as a man; her probability and
    that of person 1 go beyond tau. Seed 1 says 1 of nobody, and the same of all as of the other
    gender. With the loss all are 0.3 with either gender. All others are like person 5.
    """
    made = table(text=text, many=many)
    more = list(range(6, 6 + many))
    loss = {"individual": "iifr_cosine", "reduction": "sum", "lambda": 1.0, "epsilon": 0.8}
    loss |= {"epsilon_unit": "cosine"}
    runs = [run(0, 0), run(1, 1), run(2, 0, **loss), run(3, 1, **loss)]
    runs += [run(4, 0, **loss | {"lambda": 9.0}, diverged=True)]
    held = {seed: rows + more for seed, rows in HELD.items()}
    said = [
        *answers(
            made, 0, held[0], [0.2, 0.1, 0.9, 0.6, *[0.6] * many],
            [0.3, 0.1, 0.4, 0.6004, *[0.6004] * many],
        ),
        *answers(made, 1, held[1], [0.2] * (3 + many), [0.2] * (3 + many)),
        *(
            one
            for number, seed in ((2, 0), (3, 1))
            for one in answers(
                made, number, held[seed], [0.3] * len(held[seed]), [0.3] * len(held[seed])
            )
        ),
        *answers(made, 4, held[0], [None] * len(held[0]), [None] * len(held[0])),
    ]  # fmt: skip
    return write(folder, made, runs, said)


def three_groups(folder: Path) -> dict[str, Any]:
    """One seed of a classifier on people of three groups, all held out.

    Of person 0 one of the two flips changes the decision, of person 1 both do.
    """
    made = table("other", values=3)
    flipped = [[None, 0.6, 0.45], [0.9, None, 0.9], 0.4, 0.4, 0.4, 0.4]
    said = answers(made, 0, list(range(6)), [0.4] * 6, flipped)
    one = run(0, 0, method="logistic_regression")
    return write(folder, made, [one], said, "logistic_regression")


def whole_numbers(folder: Path) -> dict[str, Any]:
    """The MLP, and EIDIG on whole numbers, which has three groups of the same people; one seed.

    Of the MLP all are 0.4 with either gender. With EIDIG person 3, who is young, is 0.9, and
    0.8 and 0.1 as another; person 2, who is old, is 0.2, and 0.3 as another.
    """
    made = table("ages")
    codes = np.array([[7], [5], [9], [5], [7], [9]], dtype=np.int32)
    made = replace(
        made,
        attribute_values=["young", "not young"],
        a=(codes[:, 0] > 5).astype(np.int16),
        integers=codes,
        integer_features=[made.attribute_name],
        integer_protected=[0],
        meta=made.meta | {"integer_groups": ["young", "middle", "old"]},
    )
    people = replace(
        made,
        a=np.array([1, 0, 2, 0, 1, 2], dtype=np.int16),
        attribute_values=made.meta["integer_groups"],
    )
    mlp = write(folder, made, [run(0, 0)], answers(made, 0, HELD[0], [0.4] * 4, [0.4] * 4))
    said = answers(people, 0, HELD[0], [0.2, 0.2, 0.9, 0.2], [0.2, 0.3, [None, 0.8, 0.1], 0.2])
    eidig = write(
        folder, made, [run(0, 0, method="eidig_integers")], said, "eidig_integers", "more"
    )
    return joined(mlp, eidig) | {name: mlp[name] for name in ("people", "meta", "formats")}


def joined(*sets: dict[str, Any]) -> dict[str, Any]:
    """The arguments of several data sets as those of one page, with their tables in one folder."""
    rows = [row for one in sets for row in read_table(one["tables"] / "table_4.csv")]
    tables = sets[0]["tables"].with_name("joined")
    write_tables(tables, [(table_4.TABLE, rows), (table_8.TABLE, [])])
    lists = {name for name, value in sets[0].items() if isinstance(value, list)}
    return {name: [value for one in sets for value in one[name]] for name in lists} | {
        "tables": tables
    }
