"""The groups of a table's other encoding, of whole numbers, which EIDIG's own networks see."""

from dataclasses import replace

import numpy as np

from evenhand.errors import InputError
from evenhand.tabular.numbers import counted
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
        `a` and `attribute_values` are of these groups, in the order of their whole numbers (without
        names, each has its place), the rest is left as it is; and the whole number of each group.

    Raises
    ------
    InputError
        The table has no whole numbers for its attribute, or not as many as it names groups: a group
        without a person would pass its name on to the next.
    """
    if table.integers is None or table.attribute_name not in table.integer_features:
        raise InputError(
            f"{table.name} has no whole numbers for {table.attribute_name}, as EIDIG needs them",
            remedy="use the track base",
        )
    own = table.integers[:, table.integer_features.index(table.attribute_name)]
    values, codes = np.unique(own, return_inverse=True)
    names = [str(name) for name in table.meta.get("integer_groups") or range(len(values))]
    if len(names) != len(values):
        raise InputError(
            f"the whole numbers for {table.attribute_name} make {counted(len(values), 'group')} of "
            f"{table.name}, which names {len(names)} ({', '.join(names)})",
            remedy="use the track base, or people of each group",
        )
    return replace(table, a=codes.astype(np.int16), attribute_values=names), values
