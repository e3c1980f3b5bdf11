import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.learning.loop import schedule_factor
from evenhand.learning.settings import Settings


@given(st.integers(1, 500), st.floats(0, 0.99))
def test_the_rate_rises_and_falls(steps, share):
    warmup = int(share * steps)
    factors = [schedule_factor(step, steps=steps, warmup=warmup) for step in range(steps)]
    assert all(0 < one <= 1 for one in factors)
    assert factors[:warmup] == sorted(factors[:warmup])
    assert factors[warmup:] == sorted(factors[warmup:], reverse=True)
    assert max(factors) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        *({"batch": 0}, {"epochs": 0}, {"patience": 0}, {"accumulate": 0}, {"lr": 0.0}),
        *({"lr": float("nan")}, {"clip": -1.0}, {"warmup": 1.0}, {"select": "accuracy"}),
        *({"dtype": "fp16"}, {"threads": 0}, {"weight_decay": float("inf")}),
    ],
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Settings(**wrong)
