import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evenhand.learning.divergences import js_divergence
from evenhand.metrics import individual

logits = st.lists(st.floats(-20, 20), min_size=2, max_size=2)


def log_softmax(values):
    return torch.tensor(values, dtype=torch.float64).log_softmax(dim=-1)


@given(logits, logits, st.sampled_from([math.e, 2.0]))
def test_it_is_the_metrics_divergence(a, b, base):
    p, q = log_softmax(a), log_softmax(b)
    expected = individual.js_divergence(p.exp().numpy(), q.exp().numpy(), base=base)
    assert js_divergence(p, q, base=base).item() == pytest.approx(expected, abs=1e-12)
