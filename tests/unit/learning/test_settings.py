import pytest

from evenhand.errors import InputError
from evenhand.learning.settings import Settings


@pytest.mark.parametrize(
    "wrong",
    [
        *({"batch": 0}, {"epochs": 0}, {"patience": 0}, {"accumulate": 0}, {"learning_rate": 0.0}),
        *({"learning_rate": float("nan")}, {"clip": -1.0}, {"warmup": 1.0}, {"select": "accuracy"}),
        *({"dtype": "fp16"}, {"threads": 0}, {"weight_decay": float("inf")}),
    ],
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Settings(**wrong)
