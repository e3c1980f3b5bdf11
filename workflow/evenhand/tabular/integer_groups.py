"""The groups of a table's other encoding, of whole numbers, which EIDIG's own networks see."""

from dataclasses import replace

import numpy as np

from evenhand.errors import InputError
from evenhand.tabular.prepared import Prepared


def with_integer_groups(table: Prepared) -> tuple[Prepared, np.ndarray]:
    """The same people with the groups of their whole numbers.

    Parameters
    ----------
    table : Prepared
        People with whole numbers for their attribute.

    Returns
    -------
    (Prepared, array of int32, shape (values,))
        `a` and `attribute_values` are of these groups (a group without a name has its place), the
        rest is left as it is; and the whole number of each group.

    Raises
    ------
    InputError
        The table has no whole numbers for its attribute.
    """
    if table.integers is None or table.attribute_name not in table.integer_features:
        raise InputError(
            f"{table.name} has no whole numbers for {table.attribute_name}, as EIDIG needs them",
            remedy="use the track base",
        )
    own = table.integers[:, table.integer_features.index(table.attribute_name)]
    values, codes = np.unique(own, return_inverse=True)
    names = [str(name) for name in table.meta.get("integer_groups") or []]
    names += [str(place) for place in range(len(names), len(values))]
    a = codes.astype(np.int16)
    return replace(table, a=a, attribute_values=names[: len(values)]), values
