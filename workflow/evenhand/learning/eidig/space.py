"""Encodings of people as integers, the space that EIDIG searches, and as network inputs.

There are two spaces. `native` is EIDIG's own: the network's inputs are the integers. `one_hot` is
for the features of the other methods: the columns ``name=value`` that share a name form one
attribute with a code per column, if each row has exactly one of them; any other column is an
attribute with a code per distinct value. A step in a column with more than `FINE` values covers a
twentieth of them. If dummy columns are not named like this (COMPAS), each is an attribute of its
own, and the search may combine values that exclude each other.
"""

from dataclasses import dataclass

import numpy as np

from evenhand.learning.eidig.network import (
    Network,
    input_gradient,
    probability,
    probability_after_first,
)
from evenhand.tabular.prepared import Prepared, scaled

#: A column with more values is searched in steps of 1 / FINE of them.
FINE = 20


@dataclass(frozen=True)
class Space:
    """Attributes as integer codes, and the network inputs of each code.

    Attributes
    ----------
    codes : array of int32, shape (n, attributes)
        All rows of the table.
    lowest, highest : array of int32, shape (attributes,)
        The range of each attribute in the training rows; searches stay within it.
    steps : array of int32, shape (attributes,)
        The step width of each attribute, in codes.
    protected : int
        The protected attribute; it is never moved, only flipped.
    hidden : list of int
        Attributes hidden from the relabelling classifiers, including `protected`.
    inputs : int
        Number of network inputs.
    tables : list of (list of int, array of float32) or None
        The input columns of each attribute, and their values for each code (codes, columns).
        None: the inputs are the codes, and so have the same derivatives.
    """

    codes: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    steps: np.ndarray
    protected: int
    hidden: list[int]
    inputs: int
    tables: list[tuple[list[int], np.ndarray]] | None

    def encode(self, codes: np.ndarray) -> np.ndarray:
        """The inputs, float32 (n, inputs), of rows of codes."""
        if self.tables is None:
            return codes.astype(np.float32)
        x = np.empty((len(codes), self.inputs), dtype=np.float32)
        for j, (places, values) in enumerate(self.tables):
            x[:, places] = values[codes[:, j]]
        return x

    def predict(self, network: Network, codes: np.ndarray) -> np.ndarray:
        """P(Y=1) of rows of codes: float32 (n,)."""
        if self.tables is None:
            return probability(network, self.encode(codes))
        return probability_after_first(network, self._first(network, codes)[0])

    def gradient(self, network: Network, codes: np.ndarray) -> np.ndarray:
        """The derivative of P(Y=1) by each code: (n, attributes), 0 for the protected one.

        Exact where the inputs are the codes. Otherwise half the difference between a step up
        and a step down, both kept in range, since a derivative by a column of 0 and 1 does not
        describe a step from one value to another.
        """
        if self.tables is None:
            slopes = input_gradient(network, self.encode(codes))
            slopes[:, self.protected] = 0
            return slopes
        sums, shares = self._first(network, codes)
        moved = [j for j in range(codes.shape[1]) if j != self.protected]
        both = np.empty((2, len(moved), *sums.shape), dtype=np.float32)
        for place, j in enumerate(moved):
            rest = sums - shares[j][codes[:, j]]
            for side, step in enumerate((self.steps[j], -self.steps[j])):
                to = np.clip(codes[:, j] + step, self.lowest[j], self.highest[j])
                both[side, place] = rest + shares[j][to]
        p = probability_after_first(network, both.reshape(-1, sums.shape[1]))
        up, down = p.reshape(2, len(moved), len(codes))
        slopes = np.zeros(codes.shape, dtype=np.float32)
        slopes[:, moved] = (up - down).T / 2
        return slopes

    def _first(self, network: Network, codes: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """The first layer's sums (n, width), and the contributions of each attribute's codes.

        Adding up looked-up rows avoids the encoding and the largest matrix product.
        """
        (weights, bias), *_ = network.layers()
        shares = [values @ weights[places] for places, values in self.tables or []]
        sums = np.tile(bias, (len(codes), 1))
        for j, share in enumerate(shares):
            sums += share[codes[:, j]]
        return sums, shares


def native(table: Prepared, train: np.ndarray) -> Space:
    """EIDIG's own integer space, of a table with integers for its attribute."""
    names = table.integer_features
    codes = table.integers.astype(np.int32)
    protected = names.index(table.attribute_name)
    return Space(
        codes=codes,
        lowest=codes[train].min(axis=0),
        highest=codes[train].max(axis=0),
        steps=np.ones(len(names), dtype=np.int32),
        protected=protected,
        hidden=sorted({*table.integer_protected, protected}),
        inputs=len(names),
        tables=None,
    )


def one_hot(table: Prepared, train: np.ndarray) -> Space:
    """The space of the features that the other methods use."""
    groups: dict[str, list[int]] = {}
    for i, feature in enumerate(table.features):
        if i not in table.attribute_columns:
            groups.setdefault(feature.split("=", 1)[0] if "=" in feature else feature, []).append(i)
    # of each attribute its columns, their values for each code, and the codes of all rows
    parts: list[tuple[list[int], np.ndarray, np.ndarray]] = []
    for places in groups.values():
        part = table.x[:, places]
        if len(places) > 1 and ((part == 0) | (part == 1)).all() and (part.sum(axis=1) == 1).all():
            parts.append((places, np.eye(len(places)), part.argmax(axis=1)))
            continue
        for place in places:
            values, code = np.unique(table.x[:, place], return_inverse=True)
            parts.append(([place], values[:, None], code))
    parts.append((table.attribute_columns, table.attribute_codes, table.a))
    tables, steps = [], []
    for places, values, _ in parts:
        spread = np.zeros((len(values), table.x.shape[1]))  # scaling works column by column
        spread[:, places] = values
        inputs = scaled(table, table.x[train], spread)[1][:, places].astype(np.float32)
        tables.append((places, inputs))
        steps.append(max(1, len(values) // FINE) if len(places) == 1 else 1)
    codes = np.column_stack([code for *_, code in parts]).astype(np.int32)
    return Space(
        codes=codes,
        lowest=codes[train].min(axis=0),
        highest=codes[train].max(axis=0),
        steps=np.array(steps, dtype=np.int32),
        protected=len(parts) - 1,
        hidden=[len(parts) - 1],
        inputs=table.x.shape[1],
        tables=tables,
    )
