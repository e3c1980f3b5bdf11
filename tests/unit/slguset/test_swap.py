import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.slguset.dataset import mask, spans_of, swap, swapped_spans


def test_the_spans_of_a_row_are_its_own_or_the_keyword():
    row = {"start": 3, "end": 4, "opposite": "婆"}
    assert spans_of(row | {"spans": None}) == spans_of(row) == [(3, 4, "婆")]
    assert spans_of(row | {"spans": [{"start": 0, "end": 1, "text": "x"}]}) == [(0, 1, "x")]


@given(st.text(min_size=1), st.lists(st.text(min_size=1, max_size=3), min_size=1), st.data())
def test_swapping_twice_is_the_identity(sentence, texts, data):
    places = st.integers(0, len(sentence))
    borders = sorted(data.draw(st.sets(places, min_size=2, max_size=2 * len(texts))))
    spans = list(zip(borders[::2], borders[1::2], texts, strict=False))
    once = swap(sentence, spans)
    back = swapped_spans(sentence, spans)
    assert [once[start:end] for start, end, _ in back] == [text for *_, text in spans]
    assert swap(once, back) == sentence


@pytest.mark.parametrize(("start", "end"), [(-1, 1), (0, 0), (2, 1), (0, 5)])
def test_offsets_outside_the_sentence_are_a_defect(start, end):
    with pytest.raises(ValueError, match="no characters"):
        mask("她来了。", [(start, end, "他")])
    with pytest.raises(ValueError, match="no characters"):
        swap("她来了。", [(0, 1, "他"), (start, end, "他")])
