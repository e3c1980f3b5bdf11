import torch
from torch.func import grad, vmap

from evenhand.learning.gradient_reversal import reverse_gradient


def both(w, x):
    """Something learned forwards, and the same backwards."""
    features = x @ w
    return features.sin().sum() + (3 * reverse_gradient(features)).sin().sum()


def test_the_value_stays_and_the_gradient_turns():
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    assert torch.equal(reverse_gradient(x), x)
    (reverse_gradient(x) * torch.tensor([2.0, 5.0])).sum().backward()
    assert x.grad.tolist() == [-2, -5]


def test_under_vmap_it_is_what_it_is_alone():
    generator = torch.Generator().manual_seed(0)
    w = torch.randn(5, 4, 3, generator=generator, dtype=torch.float64)
    x = torch.randn(7, 4, generator=generator, dtype=torch.float64)
    stacked = vmap(grad(both), in_dims=(0, None))(w, x)
    for one, found in zip(w, stacked, strict=True):
        leaf = one.clone().requires_grad_()
        both(leaf, x).backward()
        torch.testing.assert_close(found, leaf.grad)
        forwards = torch.cos(x @ one) - 3 * torch.cos(3 * x @ one)
        torch.testing.assert_close(found, x.T @ forwards)
