"""Section: how the networks were trained, as the paper's Table 3 tells it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.learning.hyperparameters import read_hyperparameters


def describe_training(path: Path | None, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Per data set the layers of the network and of an adversary, the rate, batch and epochs.

    Parameters
    ----------
    path : path or None
        ``resources/iifr/training.csv``.
    titles : mapping
        What each data set of the page is called, by its name.
    """
    made = []
    for name, title in titles.items() if path else ():
        row = read_hyperparameters(path, name)
        made.append(
            {
                "title": title,
                "hidden": ", ".join(map(str, row.hidden)),
                "adversary": ", ".join(map(str, row.adversary)),
                "rate": f"{row.learning_rate:g}",
                "batch": row.batch,
                "epochs": row.epochs,
            }
        )
    return made
