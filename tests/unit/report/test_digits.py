import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.digits import DIGITS, from_digits, to_digits, width_of


@given(st.lists(st.integers(0, 88**3 - 1)), st.integers(3, 5))
def test_numbers_come_back(numbers, width):
    text = to_digits(np.array(numbers, dtype=np.int64), width)
    assert len(text) == width * len(numbers)
    assert from_digits(text, width).tolist() == numbers


@pytest.mark.parametrize(("most", "width"), [(0, 1), (87, 1), (88, 2), (88**2 - 1, 2), (88**2, 3)])
def test_a_number_takes_as_many_characters_as_it_needs(most, width):
    assert width_of(most) == width
    assert from_digits(to_digits(np.array([most]), width), width).tolist() == [most]


def test_the_digits_stand_in_a_script_as_they_are():
    assert len(set(DIGITS)) == 88
    assert json.dumps(DIGITS) == f'"{DIGITS}"'
