"""Per two models: the correlations of their bias over the sentences that both scored."""

from collections.abc import Iterator

import pandas as pd

from evenhand.core.tables import Row, Table, integer, number, text
from evenhand.slguset.bias_tables import Scored

TABLE = Table(
    "correlations",
    title="Correlation of bias between models",
    key=("model_a", "model_b"),
    columns=(
        text("model_a"),
        text("model_b"),
        integer("n", "Sentences that both scored"),
        number("pearson"),
        number("spearman"),
    ),
)


def rows(scored: Scored) -> Iterator[Row]:
    """Yield a row per two models; a correlation is blank where a bias does not vary."""
    names = list(scored.scores)
    together = pd.DataFrame({name: scored.bias(name) for name in names})
    for i, name in enumerate(names):
        for other in names[i + 1 :]:
            both = together[[name, other]].dropna()
            varied = len(both) > 1 and both.nunique().min() > 1
            yield {
                "model_a": name,
                "model_b": other,
                "n": len(both),
                "pearson": both.corr("pearson").iloc[0, 1] if varied else None,
                "spearman": both.corr("spearman").iloc[0, 1] if varied else None,
            }
