import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.slguset.swap import mask, swap


def test_each_character_is_masked():
    assert mask("我的妈妈来了。", 2, 4) == "我的[MASK][MASK]来了。"
    assert mask("她来了。", 0, 1, "_") == "_来了。"


def test_the_keyword_is_exchanged():
    assert swap("我的老公来了。", 3, 4, "婆") == "我的老婆来了。"


@given(st.text(min_size=1), st.text(min_size=1, max_size=3), st.data())
def test_swapping_twice_is_the_identity(sentence, opposite, data):
    start = data.draw(st.integers(0, len(sentence) - 1))
    end = data.draw(st.integers(start + 1, len(sentence)))
    once = swap(sentence, start, end, opposite)
    assert once[start : start + len(opposite)] == opposite
    assert swap(once, start, start + len(opposite), sentence[start:end]) == sentence


@pytest.mark.parametrize(("start", "end"), [(-1, 1), (0, 0), (2, 1), (0, 5)])
def test_offsets_outside_the_sentence_are_a_defect(start, end):
    with pytest.raises(ValueError, match="no characters"):
        mask("她来了。", start, end)
    with pytest.raises(ValueError, match="no characters"):
        swap("她来了。", start, end, "他")
