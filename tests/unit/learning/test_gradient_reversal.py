import torch

from evenhand.learning.gradient_reversal import reverse_gradient


def test_the_value_stays_and_the_gradient_turns():
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    assert torch.equal(reverse_gradient(x), x)
    (reverse_gradient(x) * torch.tensor([2.0, 5.0])).sum().backward()
    assert x.grad.tolist() == [-2, -5]
