"""How much means over seeds vary between tables of people that are drawn from one truth.

Prints, by size and metric, the variance of the mean of five seeds between tables over the mean
variance of single seeds in a table: 0.2 if training on other people added nothing.

Usage: python benchmarks/redrawn_people.py [TABLES] [SEED]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

import evenhand as eh  # noqa: E402

SIZES, SEEDS = (400, 1500), 5
METRICS = ("balanced_acc", "positive_rate", "ifr_b", "ifr_p")


def draw(people: int, seed: int) -> pd.DataFrame:
    """Return a table in which sex moves the log-odds of the label by one, and a feature by 0.8."""
    generator = np.random.default_rng(seed)
    is_f = generator.random(people) < 0.4
    x = generator.normal(size=(people, 4))
    x[:, 0] += 0.8 * is_f
    odds = x @ [1, 0.7, -0.5, 0.3] - is_f
    table = pd.DataFrame(x.round(3), columns=[*"uvwx"]).assign(sex=np.where(is_f, "f", "m"))
    return table.assign(y=(generator.random(people) < 1 / (1 + np.exp(-odds))).astype(int))


def main(tables: int = 40, seed: int = 5000) -> None:
    """Print the ratios."""
    for people in SIZES:
        rows = []
        for number in range(tables):
            options = {"label": "y", "attribute": "sex", "methods": ["mlp"], "seeds": SEEDS}
            rows.append(eh.audit_table(draw(people, seed + number), **options).tables["table_4"])
        cells = pd.concat(rows)
        for metric, some in cells[cells["individual"] == "none"].groupby("metric"):
            if metric in METRICS:
                ratio = some["mean"].var() / (some["sd"] ** 2).mean()
                print(f"{people:5} people, {metric:13} {ratio:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
