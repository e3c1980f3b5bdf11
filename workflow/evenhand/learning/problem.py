"""A training problem: cases, objective, options, settings and pairs, checked and as tensors.

`evenhand.learning.trainer` trains one model on it, `evenhand.learning.linear` a stack of models.
"""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.files import atomic
from evenhand.errors import InputError
from evenhand.learning import loop
from evenhand.learning.examples import Examples, check
from evenhand.learning.history import Epochs
from evenhand.learning.objective import (
    Objective,
    Options,
    State,
    load_objective,
    per_example_loss,
    sampler_of,
    whole,
)
from evenhand.learning.pairs import GRAPH, Pairs, among, check_pairs, kind_of_pairs, partners
from evenhand.learning.sampling import Batches, make_sampler
from evenhand.learning.settings import Settings
from evenhand.metrics.classification import (
    counts_of,
    over_all,
    predicted_labels,
    stacked,
    with_none_class,
)
from evenhand.metrics.group import group_sums

if TYPE_CHECKING:
    import torch
    from torch import Tensor

#: File with the cases of a batch whose loss or gradient is not finite.
BROKEN_BATCH = "broken_batch.json"


@dataclass(frozen=True)
class Problem:
    """What a classifier is trained on, and how.

    Parameters
    ----------
    examples : Examples
        The cases.
    objective, options
        See `evenhand.learning.objective`.
    settings : Settings
        Rates, batches, epochs.
    pairs : Pairs
        The pairs of an objective that compares pairs.
    """

    examples: Examples
    objective: Objective
    options: Options
    settings: Settings
    pairs: Pairs = field(default_factory=Pairs)

    @property
    def keeps_labels(self) -> bool:
        """Whether a last layer after erasure keeps the shares of labels, else balances cells."""
        return self.settings.select != "worst_group_f1"

    def check(self) -> list[str]:
        """Return warnings about cases and pairs; raise InputError if they cannot be trained on."""
        remarks = check(self.examples, self.objective, self.options, self.settings)
        return remarks + check_pairs(self.options, self.pairs, self.examples.train)

    def first(self) -> "Problem":
        """Return the first training of an objective with `again`: ERM, chosen by macro-F1."""
        epochs = whole(self.options, "first_epochs")
        settings = replace(self.settings, epochs=epochs, select="macro_f1")
        return Problem(self.examples, load_objective("erm"), {}, settings, self.pairs)

    def second(self, logits: np.ndarray) -> "Problem":
        """Return the second training, from the logits of the first."""
        return replace(self, examples=self.objective.again(self.examples, logits, self.options))

    @property
    def groups(self) -> int:
        """The number of groups, at least 1."""
        return max(1, len(self.examples.group_names))

    @property
    def pair_kind(self) -> str | None:
        """The pairs that the training has to provide."""
        return kind_of_pairs(self.options)

    @property
    def steps(self) -> int:
        """The maximum number of optimiser steps."""
        return -(-len(self.examples.train) // self.settings.batch) * self.settings.epochs

    @property
    def warmup(self) -> int:
        """The number of steps in which the learning rate rises."""
        return int(self.settings.warmup * self.steps)

    def learning_rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        return self.settings.learning_rate * loop.schedule_factor(
            step, steps=self.steps, warmup=self.warmup
        )

    def sampler(self, seed: int) -> Batches:
        """Return a new sampler of positions in `examples.train`."""
        name, train = sampler_of(self.objective, self.options), self.examples.train
        near = among(train, self.pairs.neighbours) if self.pair_kind == GRAPH else None
        generator = np.random.default_rng(seed)
        return make_sampler(name, self.examples.sampled(name), self.settings.batch, generator, near)

    def initial_state(self) -> State:
        """Return the objective's state before the first step."""
        import torch

        train = torch.as_tensor(self.examples.codes[self.examples.train])
        present = torch.bincount(train, minlength=self.groups) > 0
        return self.objective.initial_state(present, self.options)

    def epochs(self) -> Epochs:
        """Return a new record of epochs."""
        return Epochs(self.settings.epochs, self.settings.patience, self.settings.select)

    def epoch_row(
        self, steps: int, losses: list[float], norm: float, logits: np.ndarray
    ) -> dict[str, Any]:
        """Return the columns of an epoch in `evenhand.learning.history.HISTORY`.

        Parameters
        ----------
        steps : int
            Number of steps so far.
        losses : list of float
            The loss of each step of the epoch.
        norm : float
            Their mean gradient norm.
        logits : array, shape (d, classes)
            The logits of the development cases.
        """
        return {
            "steps": steps,
            "learning_rate": self.learning_rate(steps - 1),
            "losses": losses,
            "gradient_norm": norm,
            **dev_scores(logits, self.examples, sampler_of(self.objective, self.options)),
        }

    @cached_property
    def _tensors(self) -> "dict[str, Tensor]":
        import torch

        parts = {"labels": self.examples.labels, "groups": self.examples.codes}
        if self.pairs.swapped is not None:
            parts["has_partner"] = self.pairs.swapped
        return {name: torch.as_tensor(values) for name, values in parts.items()}

    def fields(
        self, rows: np.ndarray, dtype: "torch.dtype", *, counterfactuals: bool
    ) -> "dict[str, Tensor]":
        """Return the fields of `evenhand.learning.objective.Batch` that no model computes.

        Parameters
        ----------
        rows : array of int64, shape (..., n)
            The cases of batches.
        dtype : torch.dtype
            The number format of the labels of a multi-label task.
        counterfactuals : bool
            Whether the batch has `partner_logits`.
        """
        import torch

        index = torch.from_numpy(rows)
        names = ("labels", "groups", *(("has_partner",) if counterfactuals else ()))
        fields = {name: self._tensors[name][index] for name in names}
        if self.examples.task == "multi_label":
            fields["labels"] = fields["labels"].to(dtype)
        if self.pair_kind == GRAPH:
            fields["partner"] = torch.from_numpy(partners(rows, self.pairs.neighbours))
        return fields

    def broken_batch(
        self,
        folder: Path | None,
        rows: np.ndarray,
        logits: "Tensor",
        *,
        step: int,
        loss: float,
        norm: float,
        **where: int,
    ) -> InputError:
        """Record a batch whose loss or gradient is not finite, and return the error to raise.

        Parameters
        ----------
        folder : path, optional
            Folder for `BROKEN_BATCH`; its content is printed in any case.
        rows, logits
            The cases of the batch, and their logits.
        step : int
            Number of steps before the batch.
        loss, norm : float
            The loss of the batch, and the norm of its gradient.
        where : int
            Seed or epoch.
        """
        import torch

        labels = self._tensors["labels"][torch.from_numpy(rows)]
        losses = per_example_loss(logits.detach().cpu(), labels, self.examples.task).tolist()
        ids = [self.examples.ids[row] for row in rows]
        cases = [{"case_id": ids[i], "loss": repr(value)} for i, value in enumerate(losses)]
        note = {"step": step, **where, "loss": repr(loss), "gradient_norm": repr(norm)}
        note["cases"] = cases
        print(f"broken batch: {json.dumps(note)}", file=sys.stderr)
        file = "the log"
        if folder is not None:
            with atomic(folder / BROKEN_BATCH) as path:
                path.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
            file = str(folder / BROKEN_BATCH)
        part = "gradient" if math.isfinite(loss) else "loss"
        named = ", ".join(f"{name} {value}" for name, value in where.items())
        return InputError(
            f"the {part} of step {step + 1} is not finite ({named}, cases {', '.join(ids[:3])}"
            f"{', …' if len(ids) > 3 else ''})",
            remedy=f"look at these cases ({file} has all), or lower the learning rate",
        )

    def identity(self, other: Mapping[str, Any]) -> dict[str, Any]:
        """Return the determinants of the training for its checkpoint: these and `other` ones."""
        return {
            **other,
            "settings": asdict(self.settings),
            "objective": [self.objective.NAME, dict(self.options)],
            "cases": self.examples.digest(),
            "pairs": self.pairs.digest(self.options),
        }


def dev_scores(logits: np.ndarray, examples: Examples, sampler: str = "") -> dict[str, Any]:
    """Return the development scores for the training history.

    Parameters
    ----------
    logits : array, shape (d, classes)
        The predictions for the d rows of `examples.dev`.
    examples : Examples
        Their labels and groups.
    sampler : str
        With ``cell_uniform``, the worst group is the worst cell of label x group, which the batches
        balance. Under a spurious correlation, the worst group hides the cells that contradict it.

    Returns
    -------
    dict
        dev_loss, dev_macro_f1 (in a multi-label task, having no label is an additional class),
        dev_mean_group_f1, dev_worst_group_f1, dev_group_f1.
    """
    import torch

    truth, predicted = examples.hot[examples.dev], predicted_labels(logits, examples.task)
    if examples.task == "multi_label":
        truth, predicted = with_none_class(truth), with_none_class(predicted)
    values, classes = stacked(truth, predicted[None]), truth.shape[1]
    labels = torch.as_tensor(examples.labels[examples.dev])
    loss = per_example_loss(torch.as_tensor(logits), labels, examples.task).double().mean()
    scores: dict[str, Any] = {
        "dev_loss": loss.item(),
        "dev_macro_f1": float(over_all(counts_of(values.sum(axis=0), classes))[0]),
        "dev_mean_group_f1": None,
        "dev_worst_group_f1": None,
        "dev_group_f1": None,
    }
    if examples.groups is None:
        return scores
    codes = examples.groups[examples.dev]

    def by(codes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the macro-F1 of each group, and whether it has a case."""
        sums = group_sums(values, codes, count)
        return over_all(counts_of(sums, classes))[:, 0], np.isin(np.arange(count), codes)

    by_group, there = by(codes, examples.known_groups)
    worst = by_group[there]
    if sampler == "cell_uniform":
        cells = np.where(codes < examples.known_groups, examples.cells[examples.dev], -1)
        by_cell, has = by(cells, cells.max() + 1)
        worst = by_cell[has]
    return scores | {
        "dev_mean_group_f1": float(by_group[there].mean()) if there.any() else None,
        "dev_worst_group_f1": float(worst.min()) if there.any() else None,
        "dev_group_f1": [
            float(score) if is_there else None
            for score, is_there in zip(by_group, there, strict=True)
        ],
    }
