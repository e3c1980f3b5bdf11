"""A small table with whole numbers, and a network that looks at the attribute."""

from dataclasses import replace

import numpy as np

from evenhand.learning.eidig.network import Nadam, glorot, train
from evenhand.learning.eidig.space import native
from evenhand.tabular.prepared import Prepared


def people(n=400, seed=0, scale="standard"):
    """Two categories, a number with few values and one with many, and an attribute.

    The label leans on the attribute, so that many are discriminated against.
    """
    drawn = np.random.default_rng(seed)
    a = drawn.integers(0, 2, n)
    colour, size = drawn.integers(0, 3, n), drawn.integers(0, 6, n)
    money = drawn.permutation(n) / 10
    y = (size + 2.5 * a + drawn.normal(0, 0.7, n) > 3.5).astype(np.int8)
    x = np.column_stack([np.eye(3)[colour], size, money, a]).astype(np.float64)
    table = Prepared(
        name="made",
        x=x,
        y=y,
        a=a.astype(np.int16),
        features=["colour=r", "colour=g", "colour=b", "size", "money", "sex=f"],
        attribute_name="sex",
        attribute_values=["m", "f"],
        attribute_columns=[5],
        attribute_codes=np.array([[0.0], [1.0]]),
        scale=scale,
        test_share=0.3,
    )
    return replace(
        table,
        integers=np.column_stack([colour, size, a]).astype(np.int32),
        integer_features=["colour", "size", "sex"],
        integer_protected=[2],
    )


def trained(space, y, train_rows, seed=0):
    """A small network of a space."""
    start = glorot((space.inputs, 8, 1), np.random.default_rng(seed))
    x, y = space.encode(space.codes[train_rows]), y[train_rows].astype(np.float32)
    optimizer = Nadam(len(start.theta), rate=0.01)
    generator = np.random.default_rng(seed)
    return train(start, optimizer, x, y, batch=32, epochs=12, generator=generator)[0]


def example():
    """Table, training rows, space of whole numbers, network."""
    table = people()
    rows = np.arange(280)
    space = native(table, rows)
    return table, rows, space, trained(space, table.y, rows)
