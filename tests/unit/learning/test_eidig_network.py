"""The networks written by hand against torch's gradients and optimisers."""

import itertools

import numpy as np
import pytest
import torch

from evenhand.learning.eidig import network as networks
from evenhand.learning.eidig.network import Adadelta, Nadam, Network, glorot, probability, train

SIZES = (5, 7, 4)


def made(outputs, seed=0, dtype=np.float64):
    drawn = np.random.default_rng(seed)
    start = glorot((*SIZES, outputs), drawn)
    start = Network(start.sizes, start.theta.astype(dtype))
    start.theta[:] += drawn.normal(0, 0.1, len(start.theta))
    x = drawn.normal(size=(33, SIZES[0])).astype(dtype)
    return start, x, drawn.integers(0, 2, 33).astype(dtype)


def in_torch(network):
    """The same network, and its parameters in the order of theta."""
    layers = []
    for (n, m), (w, b) in zip(itertools.pairwise(network.sizes), network.layers(), strict=True):
        layer = torch.nn.Linear(n, m, dtype=torch.from_numpy(w).dtype)
        layer.weight.data = torch.from_numpy(w.T.copy())
        layer.bias.data = torch.from_numpy(b.copy())
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def flat(module, attribute=lambda p: p.data):
    parts = [attribute(p) for p in module.parameters()]
    return np.concatenate([(p.T if p.ndim == 2 else p).numpy().ravel() for p in parts])


def torch_loss(module, x, y):
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    logits = module(x)
    if logits.shape[1] == 1:
        return torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], y)
    return torch.nn.functional.cross_entropy(logits, y.long())


@pytest.mark.parametrize("outputs", [1, 2])
def test_probability_loss_and_gradients(outputs):
    network, x, y = made(outputs)
    module = in_torch(network)
    inputs = torch.from_numpy(x).requires_grad_()
    logits = module(inputs)
    p = logits[:, 0].sigmoid() if outputs == 1 else logits.softmax(dim=1)[:, 1]
    np.testing.assert_allclose(probability(network, x), p.detach().numpy(), rtol=1e-12)
    p.sum().backward()
    slopes = networks.input_gradient(network, x)
    np.testing.assert_allclose(slopes, inputs.grad.numpy(), rtol=1e-9, atol=1e-12)

    module.zero_grad()
    error = torch_loss(module, x, y)
    error.backward()
    into = np.empty_like(network.theta)
    networks.gradient(network, x, y, into)
    np.testing.assert_allclose(into, flat(module, lambda p: p.grad), rtol=1e-9, atol=1e-12)
    assert networks.loss(network, x, y) == pytest.approx(error.item())


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (Nadam, lambda p: torch.optim.NAdam(p, lr=1e-3, eps=1e-7)),
        (lambda n: Adadelta(n, 0.5), lambda p: torch.optim.Adadelta(p, lr=0.5)),
    ],
)
def test_optimisers_as_torch_has_them(mine, theirs):
    network, x, y = made(1, dtype=np.float32)
    module = in_torch(network)
    optimizer, other = mine(len(network.theta)), theirs(module.parameters())
    into = np.empty_like(network.theta)
    for _ in range(50):
        networks.gradient(network, x, y, into)
        network.theta[:] -= optimizer.change(into)
        other.zero_grad()
        torch_loss(module, x, y).backward()
        other.step()
    np.testing.assert_allclose(network.theta, flat(module), atol=2e-5)


def test_patience():
    start, x, y = made(1, dtype=np.float32)

    def once(patience, labels):
        return train(
            start,
            Nadam(len(start.theta), rate=0.05),
            x,
            y,
            batch=8,
            epochs=40,
            generator=np.random.default_rng(1),
            validation=(x, labels),
            patience=patience,
        )

    # labels turned round get worse from the first epoch on
    _, epochs = once(3, 1 - y)
    assert 3 < epochs < 10
    assert once(3, y)[1] > 10


def test_nobody_and_many():
    network, x, _ = made(1, dtype=np.float32)
    assert probability(network, x[:0]).shape == (0,)
    many = np.tile(x, (networks.ROWS // 33 + 2, 1))
    np.testing.assert_allclose(probability(network, many)[-33:], probability(network, x), 1e-5)
