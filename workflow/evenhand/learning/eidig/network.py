"""Small networks trained step by step in numpy.

EIDIG trains with batches of 32 rows: some 30,000 steps for the first network of Adult. Each step
takes a few microseconds of arithmetic, so that the overhead of automatic differentiation would
dominate. The tests compare gradients and optimisers with torch's.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Rows predicted at once.
ROWS = 65_536


@dataclass(frozen=True)
class Network:
    """A multi-layer perceptron with ReLU between its layers.

    Attributes
    ----------
    sizes : tuple of int
        Inputs, hidden layers, outputs: 1 (a sigmoid) or 2 (a softmax).
    theta : array of float32, shape (parameters,)
        All weights (inputs, outputs) and biases, layer by layer.
    """

    sizes: tuple[int, ...]
    theta: np.ndarray

    def layers(self, of: np.ndarray | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weights and biases as views of `theta`, or of another array of its shape."""
        vector, start, layers = self.theta if of is None else of, 0, []
        for n, m in itertools.pairwise(self.sizes):
            weights = vector[start : start + n * m].reshape(n, m)
            layers.append((weights, vector[start + n * m : start + n * m + m]))
            start += n * m + m
        return layers


def glorot(sizes: Sequence[int], generator: np.random.Generator) -> Network:
    """Return a network with Keras's initial values: Glorot uniform weights, biases 0."""
    parts = []
    for n, m in itertools.pairwise(sizes):
        limit = np.sqrt(6 / (n + m))
        parts += [generator.uniform(-limit, limit, n * m), np.zeros(m)]
    return Network(tuple(sizes), np.concatenate(parts).astype(np.float32))


def probability(network: Network, x: np.ndarray) -> np.ndarray:
    """P(Y=1) of rows (n, inputs): float32 (n,)."""
    (weights, bias), *_ = network.layers()
    parts = (x[start : start + ROWS] for start in range(0, max(len(x), 1), ROWS))
    return np.concatenate([probability_after_first(network, x @ weights + bias) for x in parts])


def probability_after_first(network: Network, sums: np.ndarray) -> np.ndarray:
    """P(Y=1), from the first layer's sums before its ReLU, (n, first hidden layer)."""
    parts = []
    for start in range(0, max(len(sums), 1), ROWS):
        h = sums[start : start + ROWS]
        for w, b in network.layers()[1:]:
            h = np.maximum(h, 0) @ w + b
        parts.append(_probability(h))
    return np.concatenate(parts)


def _probability(outputs: np.ndarray) -> np.ndarray:
    logit = outputs[:, 0] if outputs.shape[1] == 1 else outputs[:, 1] - outputs[:, 0]
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-logit))


def input_gradient(network: Network, x: np.ndarray) -> np.ndarray:
    """The derivative of P(Y=1) by the inputs: (n, inputs)."""
    h, masks = x, []
    *hidden, (weights, bias) = network.layers()
    for w, b in hidden:
        h = h @ w + b
        masks.append(h > 0)
        h = np.maximum(h, 0)
    p = _probability(h @ weights + bias)
    direction = weights[:, 0] if weights.shape[1] == 1 else weights[:, 1] - weights[:, 0]
    delta = (p * (1 - p))[:, None] * direction
    for (w, _), mask in zip(reversed(hidden), reversed(masks), strict=True):
        delta = (delta * mask) @ w.T
    return delta


def loss(network: Network, x: np.ndarray, y: np.ndarray) -> float:
    """Mean cross-entropy of labels 0 and 1."""
    p = probability(network, x).astype(np.float64)
    likely = np.where(y == 1, p, 1 - p)
    return float(-np.log(np.maximum(likely, 1e-7)).mean())


def gradient(network: Network, x: np.ndarray, y: np.ndarray, into: np.ndarray) -> None:
    """Write the gradient of the mean cross-entropy by `theta` into an array of its shape."""
    layers, slots = network.layers(), network.layers(into)
    activations = [x]
    for w, b in layers[:-1]:
        activations.append(np.maximum(activations[-1] @ w + b, 0))
    weights, bias = layers[-1]
    error = (_probability(activations[-1] @ weights + bias) - y) / len(x)
    delta = error[:, None] if weights.shape[1] == 1 else np.stack([-error, error], axis=1)
    for i in range(len(layers) - 1, -1, -1):
        np.matmul(activations[i].T, delta, out=slots[i][0])
        np.sum(delta, axis=0, out=slots[i][1])
        if i:
            delta = (delta @ layers[i][0].T) * (activations[i] > 0)


class Nadam:
    """Adam with Nesterov momentum (Dozat 2016), with the settings of Keras."""

    def __init__(self, parameters: int, rate: float = 1e-3) -> None:
        self.rate, self.step, self.product = rate, 0, 1.0
        self.first = np.zeros(parameters, dtype=np.float32)
        self.second = np.zeros(parameters, dtype=np.float32)

    def change(self, gradient: np.ndarray) -> np.ndarray:
        """Return the step to subtract from the parameters."""
        self.step += 1
        now, after = (0.9 * (1 - 0.5 * 0.96 ** (0.004 * t)) for t in (self.step, self.step + 1))
        self.product *= now
        self.first += np.float32(0.1) * (gradient - self.first)
        self.second += np.float32(0.001) * (gradient * gradient - self.second)
        ahead = np.float32(after / (1 - self.product * after)) * self.first
        ahead += np.float32((1 - now) / (1 - self.product)) * gradient
        root = np.sqrt(self.second / np.float32(1 - 0.999**self.step))
        return np.float32(self.rate) * ahead / (root + np.float32(1e-7))


class Adadelta:
    """Adadelta (Zeiler 2012), with the settings of torch."""

    def __init__(self, parameters: int, rate: float) -> None:
        self.rate = np.float32(rate)
        self.square = np.zeros(parameters, dtype=np.float32)
        self.moved = np.zeros(parameters, dtype=np.float32)

    def change(self, gradient: np.ndarray) -> np.ndarray:
        """Return the step to subtract from the parameters."""
        rho, eps = np.float32(0.9), np.float32(1e-6)
        self.square = rho * self.square + (1 - rho) * gradient * gradient
        delta = np.sqrt(self.moved + eps) / np.sqrt(self.square + eps) * gradient
        self.moved = rho * self.moved + (1 - rho) * delta * delta
        return self.rate * delta


def train(
    start: Network,
    optimizer: Nadam | Adadelta,
    x: np.ndarray,
    y: np.ndarray,
    *,
    batch: int,
    epochs: int,
    generator: np.random.Generator,
    validation: tuple[np.ndarray, np.ndarray] | None = None,
    patience: int | None = None,
) -> tuple[Network, int]:
    """Train a copy of a network.

    Parameters
    ----------
    start : Network
        The first parameters.
    optimizer : Nadam or Adadelta
        An unused optimiser.
    x, y : array of float32, shapes (n, inputs) and (n,)
        Rows and their labels.
    batch, epochs : int
        Rows a step (the last of an epoch may have fewer) and rounds over all rows.
    generator : numpy Generator
        Shuffles the rows anew for each epoch.
    validation : (x, y), optional
        Rows for early stopping.
    patience : int, optional
        Stop after this many epochs without a smaller validation loss; the parameters are those
        of the last epoch, as in Keras.

    Returns
    -------
    (Network, int)
        The trained network, and the number of epochs.
    """
    network = Network(start.sizes, start.theta.copy())
    into = np.empty_like(network.theta)
    best, waited = np.inf, 0
    for epoch in range(1, epochs + 1):
        order = generator.permutation(len(x))
        shuffled, labels = x[order], y[order]
        for begin in range(0, len(x), batch):
            end = begin + batch
            gradient(network, shuffled[begin:end], labels[begin:end], into)
            np.subtract(network.theta, optimizer.change(into), out=network.theta)
        if validation is None or patience is None:
            continue
        now = loss(network, *validation)
        best, waited = (now, 0) if now < best else (best, waited + 1)
        if waited >= patience:
            return network, epoch
    return network, epochs
