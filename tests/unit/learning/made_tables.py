"""Small tables of people, made from a seed, and trainings on them."""

import numpy as np
import pyarrow.parquet as pq

from evenhand.learning.train_table import train_table
from evenhand.tabular.prepared import Prepared, write_prepared


def table(n=240, values=2, seed=0, name="made", scale="standard", official=False):
    """Three numbers and the one-hot attribute; the label leans on the first number and on it."""
    generator = np.random.default_rng(seed)
    a = generator.integers(values, size=n).astype(np.int16)
    numbers = generator.normal(size=(n, 3))
    y = (numbers[:, 0] + 0.7 * (a == 0) + generator.normal(0, 0.5, n) > 0.3).astype(np.int8)
    return Prepared(
        name=name,
        x=np.column_stack([numbers, np.eye(values)[a]]),
        y=y,
        a=a,
        features=["one", "two", "three", *(f"group={i}" for i in range(values))],
        attribute_name="group",
        attribute_values=[f"g{i}" for i in range(values)],
        attribute_columns=list(range(3, 3 + values)),
        attribute_codes=np.eye(values),
        scale=scale,
        test_share=0.3,
        official=np.where(np.arange(n) % 3 == 0, "test", "train") if official else None,
    )


def write(folder, made):
    """The two files of a table: their paths."""
    data, meta = folder / "data.parquet", folder / "data.json"
    write_prepared(made, data, meta)
    return data, meta


def arguments(folder, made, epochs=2):
    """The inputs and outputs of a training, by the names of the stages' arguments."""
    data, meta = write(folder, made)
    training = folder / "training.csv"
    training.write_text(
        f"dataset,hidden,adversary,learning_rate,batch,epochs\ndefault,8;6,4,1,32,{epochs}\n",
        encoding="utf-8",
    )
    outputs = {name: folder / f"{name}.parquet" for name in ("out", "groups", "predictions")}
    return {"data": data, "meta": meta, "training": training, **outputs}


def train(folder, made, method="mlp", *, epochs=2, **options):
    """Train; the counts, and the rows of the three tables."""
    files = arguments(folder, made, epochs)
    counts = train_table(**files, method=method, **{"seeds": 2} | options)
    tables = (files[name] for name in ("out", "groups", "predictions"))
    return counts, *(pq.read_table(path).to_pylist() for path in tables)
