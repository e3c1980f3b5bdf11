"""A small training: cases of two groups whose label can be read from their features."""

from typing import Any

import numpy as np
import torch
from torch import nn

from evenhand.core.families import member_names
from evenhand.learning.examples import Examples
from evenhand.learning.objective import PACKAGE, load_objective
from evenhand.learning.pairs import Pairs
from evenhand.learning.problem import Problem
from evenhand.learning.settings import Settings
from evenhand.learning.trainer import Trained, fit
from evenhand.scoring.device import repeatable

WIDTH, CLASSES = 6, 3

OBJECTIVES = [name.rpartition(".")[2] for name in member_names(PACKAGE)]


def examples(task: str = "multi_class", cases: int = 60, **given: Any) -> Examples:
    """Three classes, two known groups (and the unknown one), a third of the cases for dev."""
    generator = np.random.default_rng(7)
    numbers = generator.integers(0, CLASSES, cases)
    hot = np.eye(CLASSES, dtype=np.int64)[numbers]
    hot[::5] = 0  # with several labels, some cases have none
    rows = np.arange(cases)
    usual = {
        "ids": [f"case-{row}" for row in rows],
        "labels": numbers if task == "multi_class" else hot,
        "classes": CLASSES,
        "task": task,
        "train": rows[rows % 3 > 0],
        "dev": rows[rows % 3 == 0],
        "groups": generator.integers(0, 3, cases),
        "group_names": ("one", "two", "unknown"),
        "known_groups": 2,
    }
    return Examples(**usual | given)


def inputs(some: Examples) -> torch.Tensor:
    """Noise with the label in it."""
    generator = np.random.default_rng(8)
    noise = generator.normal(size=(len(some.ids), WIDTH))
    noise[:, :CLASSES] += 1.5 * some.hot
    return torch.tensor(noise, dtype=torch.float32)


class Network(nn.Module):
    """A layer, dropout and a layer."""

    def __init__(self, dropout: float = 0.3, classes: int = CLASSES) -> None:
        super().__init__()
        self.first = nn.Linear(WIDTH, 5)
        self.dropout = nn.Dropout(dropout)
        self.last_layer = nn.Linear(5, classes)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and features."""
        features = self.first(x).tanh()
        return self.last_layer(self.dropout(features)), features


def run(
    some: Examples,
    objective: str = "erm",
    *,
    options: dict[str, Any] | None = None,
    settings: Settings | None = None,
    seed: int = 1,
    dropout: float = 0.3,
    dtype: torch.dtype = torch.float32,
    x: torch.Tensor | None = None,
    pairs: Pairs | None = None,
    **given: Any,
) -> tuple[Trained, np.ndarray, nn.Module]:
    """What a training came to, the logits of all cases, and the model."""
    settings = settings or Settings(learning_rate=0.02, batch=8, epochs=4, patience=9)
    module = load_objective(objective)
    problem = Problem(some, module, module.OPTIONS | (options or {}), settings, pairs or Pairs())
    x = (inputs(some) if x is None else x).to(dtype)
    with repeatable(seed, threads=settings.threads):
        found = fit(
            lambda: Network(dropout).to(dtype).eval(),  # as pretrained networks come
            lambda rows: x[rows],
            problem,
            seed=seed,
            features=5,
            **given,
        )
    return found.trained, found.logits, found.model
