"""Per two models: the correlations of their bias over the sentences that both scored."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from evenhand.slguset.bias_tables import Scored

HEADER = ["model_a", "model_b", "n", "pearson", "spearman"]


def rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """The rows of the table."""
    names = list(scored.scores)
    together = pd.DataFrame({name: scored.bias(name) for name in names})
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            both = together[[one, other]].dropna()
            varied = len(both) > 1 and both.nunique().min() > 1
            yield {
                "model_a": one,
                "model_b": other,
                "n": len(both),
                "pearson": both.corr("pearson").iloc[0, 1] if varied else None,
                "spearman": both.corr("spearman").iloc[0, 1] if varied else None,
            }
