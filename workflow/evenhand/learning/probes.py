"""Probes: the accuracy of a new classifier that predicts an attribute from a representation.

A probe is fitted on the training rows, and its step is chosen on development rows (on training
rows, if those lack a group). Its balanced accuracy is measured on test rows; chance is one over the
number of groups. All runs of a kind are fitted at once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.scoring.device import one_thread

#: The probes, and the width of their hidden layer (0: none).
PROBES = {"linear": 0, "MLP": 64}

#: Steps of Adam, steps between evaluations on development rows, evaluations without a better score
#: before stopping, rows per step, learning rate, and L2 penalty. With a smaller penalty the hidden
#: layer memorises the rows before it learns the attribute.
STEPS, EVERY, PATIENCE, BATCH, RATE, DECAY = 480, 12, 10, 256, 2e-3, 5e-3


#: Maximum number of cases of a split, and of features of a case, that are kept for probes.
PROBED_CASES, PROBED_WIDTH = 2000, 256


@dataclass(frozen=True)
class Probed:
    """The accuracy of the probes of some runs.

    Attributes
    ----------
    score : array, shape (runs,)
        Balanced accuracy on the test rows.
    mean, low, high : float
        Mean over the runs, with its 95 % interval over test rows.
    chance : float
        Balanced accuracy of guessing.
    groups, cases : int
        Number of groups with training and test rows, and of their test rows.
    """

    score: np.ndarray
    mean: float
    low: float
    high: float
    chance: float
    groups: int
    cases: int


def probe(
    features: np.ndarray,
    codes: np.ndarray,
    splits: tuple[np.ndarray, np.ndarray, np.ndarray],
    *,
    hidden: int,
) -> Probed | None:
    """Fit a probe per run, and return the scores; None with fewer than two groups.

    Parameters
    ----------
    features : array, shape (runs, n, d)
        The representations.
    codes : array of int, shape (n,)
        The group of each row; unknown if below 0.
    splits : tuple of arrays of int
        Rows of training, development and test.
    hidden : int
        Width of the hidden layer; 0 makes the probe linear.
    """
    known = [rows[codes[rows] >= 0] for rows in splits]
    there = np.intersect1d(codes[known[0]], codes[known[2]])
    if len(there) < 2:
        return None
    train, dev, test = (rows[np.isin(codes[rows], there)] for rows in known)
    place = np.searchsorted(there, codes)
    predicted = _predict(features, place, len(there), (train, dev, test), hidden)
    right = (predicted == place[test]).astype(np.float64)
    sizes = np.bincount(place[test], minlength=len(there))
    by_group = np.stack([right[:, place[test] == g].mean(axis=1) for g in range(len(there))])
    score = by_group.mean(axis=0)
    # the variance of a mean of group means; one success and one failure more keep it above 0
    hits = by_group.mean(axis=1) * sizes
    shares = (hits + 1) / (sizes + 2)
    error = np.sqrt((shares * (1 - shares) / (sizes + 2)).sum()) / len(there)
    mean = float(score.mean())
    low, high = np.clip([mean - 1.96 * error, mean + 1.96 * error], 0, 1)
    return Probed(
        score, mean, float(low), float(high), 1 / len(there), len(there), int(sizes.sum())
    )


def _predict(
    features: np.ndarray,
    codes: np.ndarray,
    groups: int,
    splits: tuple[np.ndarray, np.ndarray, np.ndarray],
    hidden: int,
) -> np.ndarray:
    """Return the predicted groups of the test rows, (runs, rows)."""
    import torch
    from torch.nn.functional import cross_entropy

    train, dev, test = splits
    dev = dev if len(np.unique(codes[dev])) == groups else train
    values = torch.as_tensor(np.asarray(features, dtype=np.float32))
    mean = values[:, train].mean(dim=1, keepdim=True)
    scale = values[:, train].std(dim=1, keepdim=True)
    values = (values - mean) / torch.where(scale > 1e-6, scale, torch.inf)
    targets, (runs, _, width) = torch.as_tensor(codes), values.shape
    weights = len(train) / groups / torch.bincount(targets[train], minlength=groups)
    generator = torch.Generator().manual_seed(1)

    def layer(inputs: int, outputs: int) -> list[torch.Tensor]:
        weight = torch.randn(inputs, outputs, generator=generator) / inputs**0.5
        return [
            weight.expand(runs, -1, -1).clone().requires_grad_(),
            torch.zeros(runs, 1, outputs, requires_grad=True),
        ]

    layers = [layer(width, hidden), layer(hidden, groups)] if hidden else [layer(width, groups)]

    def logits(rows: torch.Tensor) -> torch.Tensor:
        seen = values[:, rows]
        for weight, bias in layers[:-1]:
            seen = torch.relu(torch.baddbmm(bias, seen, weight))
        return torch.baddbmm(layers[-1][1], seen, layers[-1][0])

    optimizer = torch.optim.Adam(
        [parameter for pair in layers for parameter in pair], lr=RATE, fused=True
    )
    best = torch.full((runs,), -1.0)
    best_predicted = torch.zeros(runs, len(test), dtype=torch.int64)
    of_dev = torch.stack([targets[dev] == group for group in range(groups)], dim=1).float()
    order = torch.as_tensor(train)
    batches: list[torch.Tensor] = []
    looks = 0
    for step in range(1, STEPS + 1):
        if not batches:
            batches += order[torch.randperm(len(train), generator=generator)].split(BATCH)
        rows = batches.pop()
        of = targets[rows]
        each = cross_entropy(
            logits(rows).flatten(0, 1), of.repeat(runs), weight=weights, reduction="sum"
        )
        norms = sum(weight.square().sum() for weight, _ in layers)
        optimizer.zero_grad()
        (each / len(rows) + DECAY / 2 * norms).backward()
        optimizer.step()
        if step % EVERY:
            continue
        with torch.no_grad():
            right = (logits(torch.as_tensor(dev)).argmax(dim=-1) == targets[dev]).float()
            now = (right @ of_dev / of_dev.sum(dim=0)).mean(dim=-1)
            predicted = logits(torch.as_tensor(test)).argmax(dim=-1)
        better = now > best
        best = torch.where(better, now, best)
        best_predicted = torch.where(better[:, None], predicted, best_predicted)
        looks = 0 if better.any() else looks + 1
        if looks == PATIENCE:
            break
    return best_predicted.numpy()


@one_thread()
def probed_features(features: Any, splits: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return the features that are kept for probes: float16, (n, d), NaN for other cases.

    Up to `PROBED_CASES` evenly spaced cases of each split are kept; wider features are reduced to
    the `PROBED_WIDTH` leading components of the training cases.

    Parameters
    ----------
    features : array or csr_matrix, shape (n, features)
        The input of the last layer.
    splits : array of str, shape (n,)
        The split of each case.
    train : array of int
        The training cases.
    """
    if min(features.shape[1], len(train)) > PROBED_WIDTH:
        from sklearn.decomposition import TruncatedSVD

        components = TruncatedSVD(PROBED_WIDTH, random_state=0).fit(features[train])
        features = components.transform(features)
    dense = features.toarray() if hasattr(features, "toarray") else features
    kept = np.full(dense.shape, np.nan, dtype=np.float16)
    for split in np.unique(splits):
        rows = np.flatnonzero(splits == split)
        some = rows[np.linspace(0, len(rows) - 1, min(len(rows), PROBED_CASES)).astype(np.int64)]
        kept[some] = np.clip(dense[some], -6e4, 6e4)
    return kept
