"""The groups of a table's integer encoding, the input of EIDIG's own networks."""

from dataclasses import replace

import numpy as np

from evenhand.errors import InputError
from evenhand.tabular.numbers import counted
from evenhand.tabular.prepared import Prepared


def with_integer_groups(table: Prepared) -> tuple[Prepared, np.ndarray]:
    """Return a table with the groups of its integer encoding.

    Parameters
    ----------
    table : Prepared
        A table with an integer encoding of its attribute.

    Returns
    -------
    (Prepared, array of int32, shape (values,))
        The table with `a` and `attribute_values` of these groups, in the order of their integers
        (unnamed groups are numbered), and otherwise unchanged; and the integer of each group.

    Raises
    ------
    InputError
        The table has no integers for its attribute, or their number differs from that of the group
        names: an empty group would shift the names of the following ones.
    """
    if table.integers is None or table.attribute_name not in table.integer_features:
        raise InputError(
            f"{table.name} has no whole numbers for {table.attribute_name}, as EIDIG needs them",
            remedy="use the track base",
        )
    integers = table.integers[:, table.integer_features.index(table.attribute_name)]
    values, codes = np.unique(integers, return_inverse=True)
    names = [str(name) for name in table.meta.get("integer_groups") or range(len(values))]
    if len(names) != len(values):
        raise InputError(
            f"the whole numbers for {table.attribute_name} make {counted(len(values), 'group')} of "
            f"{table.name}, which names {len(names)} ({', '.join(names)})",
            remedy="use the track base, or people of each group",
        )
    return replace(table, a=codes.astype(np.int16), attribute_values=names), values
