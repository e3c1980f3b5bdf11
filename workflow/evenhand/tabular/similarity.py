"""The similarity of two people: the cosine of their features, as used by IIFR."""

import numpy as np

from evenhand.tabular.prepared import Prepared, scaled


def cosine(table: Prepared, first: int, second: int) -> float | None:
    """Return the cosine of two rows, scaled by the table's `scale` with statistics of all rows.

    The paper's Table 5 prints the cosine of a pair from Adult, 0.808. It is not checked, since the
    rows of this pair are unknown to us.

    Parameters
    ----------
    table : Prepared
        The data set.
    first, second : int
        Row numbers, from 0.

    Returns
    -------
    float or None
        From -1 to 1; None if a row is all zero.
    """
    (x,) = scaled(table, table.x)
    row, other = x[first], x[second]
    lengths = np.linalg.norm(row) * np.linalg.norm(other)
    return None if lengths == 0 else float(row @ other / lengths)
