"""The logits of a classifier, and its scores on the development split."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.learning.examples import Examples
from evenhand.learning.objective import (
    full_precision,
    per_example_loss,
)
from evenhand.learning.settings import Settings
from evenhand.metrics.classification import (
    counts_of,
    over_all,
    predicted_labels,
    stacked,
    with_none_class,
)

if TYPE_CHECKING:
    from torch import Tensor, nn

#: Makes the model's input, on its device, from row numbers.
Batcher = Callable[[np.ndarray], Any]


def predict(
    model: "nn.Module",
    batcher: Batcher,
    rows: np.ndarray,
    settings: Settings,
    *,
    device: str = "cpu",
    title: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the logits of rows and the inputs of the last layer, without dropout.

    Both are float32 (float64 if the model's), of the shapes (n, classes) and (n, d). Rows are
    predicted in order, `Settings.evaluation_batch` at a time. A `title` adds a progress bar.
    """
    import torch
    from tqdm import tqdm

    was_training = model.training
    model.eval()
    batches = []
    starts = range(0, len(rows), settings.evaluation_batch)
    bar = tqdm(
        starts, desc=title, unit=" batches", mininterval=5, ascii=True, disable=title is None
    )
    with torch.inference_mode():
        for start in bar:
            some = rows[start : start + settings.evaluation_batch]
            outputs = forward(model, batcher(some), settings, device)
            batches.append([output.cpu().numpy() for output in outputs])
    model.train(was_training)
    logits, features = (np.concatenate(some) for some in zip(*batches, strict=True))
    return logits, features


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
        members = codes == np.arange(count)[:, None]
        sums = members.astype(values.dtype) @ values
        return over_all(counts_of(sums, classes))[:, 0], members.any(axis=1)

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


def forward(
    model: "nn.Module", packed: Any, settings: Settings, device: str
) -> tuple["Tensor", "Tensor"]:
    """Return logits and features, in single precision (double if the model's are)."""
    import torch

    with torch.autocast(device, torch.bfloat16, enabled=settings.dtype == "bf16"):
        logits, features = model(packed)
    return full_precision(logits), full_precision(features)
