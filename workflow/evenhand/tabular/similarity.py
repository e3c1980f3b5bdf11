"""How alike two people are: the cosine of their features, as the neighbours of IIFR have it."""

import numpy as np

from evenhand.tabular.prepared import Prepared, scaled


def cosine(table: Prepared, first: int, second: int) -> float | None:
    """Cosine of two rows, scaled as the table's `scale` says by the statistics of all rows.

    The paper's Table 5 prints one of a pair from Adult, 0.808. Which rows these are is not known
    to us, so that number is not checked.

    Parameters
    ----------
    table : Prepared
        The people.
    first, second : int
        Row numbers, from 0.

    Returns
    -------
    float or None
        From -1 to 1; None where a row is all zero, which has no direction.
    """
    (x,) = scaled(table, table.x)
    one, other = x[first], x[second]
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return None if lengths == 0 else float(one @ other / lengths)
