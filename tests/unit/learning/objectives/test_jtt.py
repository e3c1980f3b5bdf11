import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.learning.objectives import jtt
from evenhand.learning.planted import plant_cases

CASES = plant_cases(0, 0.5, sizes=(20, 5, 5)).examples


def test_each_error_of_the_first_training_takes_part_several_times():
    logits = np.eye(2)[CASES.labels]
    wrong = CASES.train[[3, 7]]
    logits[wrong] = logits[wrong, ::-1]
    seen = jtt.again(CASES, logits, {"first_epochs": 1.0, "upweight": 5.0}).train
    times = np.bincount(seen, minlength=len(CASES.ids))
    expected = np.where(np.isin(CASES.train, wrong), 5, 1)
    assert times[CASES.train].tolist() == expected.tolist()
    assert times[CASES.dev].sum() == 0


@pytest.mark.parametrize("upweight", [0.5, 0, -3, 2.5])
def test_a_weight_that_counts_nothing_is_refused(upweight):
    with pytest.raises(InputError, match="give a whole number of at least 1"):
        jtt.again(CASES, np.eye(2)[CASES.labels], {"upweight": upweight})
