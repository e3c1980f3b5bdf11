import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.learning.packing import BUCKET, Limits, cut, pack

PAD, END = 99, 98


def documents_of(shapes, seed=0):
    generator = np.random.default_rng(seed)
    return [[generator.integers(1, 90, size).astype(np.uint16) for size in one] for one in shapes]


shapes = st.lists(st.lists(st.integers(1, 50), max_size=7), max_size=6)


@given(
    shapes,
    *(st.integers(1, 5), st.integers(2, 40), st.integers(1, 200)),
    st.sampled_from(["cpu", "cuda"]),
)
def test_all_that_is_read_is_there_once(shapes, segments, tokens, budget, device):
    documents = documents_of(shapes)
    limits = Limits(segments, tokens)
    read = [cut(document, limits, [END]) for document in documents]
    packed = pack(read, limits, pad_id=PAD, tokens_per_batch=budget, device=device)
    found, number = {}, 0
    for one in packed.buckets:
        mask = one.mask()
        width = one.ids.shape[1]
        assert width <= tokens and (width % BUCKET == 0 or width == tokens)
        assert len(one.ids) == 1 or one.ids.numel() <= budget
        assert one.full == (mask is None)
        for row, length in zip(one.ids, one.lengths.tolist(), strict=True):
            assert mask is not None or length == width
            assert (row[length:] == PAD).all()
            place = packed.documents[number].item(), packed.slots[number].item()
            assert place not in found
            found[place] = row[:length].tolist()
            number += 1
        if mask is not None:
            assert mask.sum(dim=1).tolist() == one.lengths.tolist()
    expected = {
        (row, slot): list(p) if len(p) <= tokens else [*p[: tokens - 1], END]
        for row, document in enumerate(documents)
        for slot, p in enumerate(document[:segments])
    }
    assert found == expected
    assert packed.counts.tolist() == [min(len(one), segments) for one in documents]
    assert packed.most == max(packed.counts.tolist(), default=0)
    widths = [one.ids.shape[1] for one in packed.buckets]
    assert widths == sorted(widths, reverse=True)


def test_a_batch_moves_as_a_whole():
    packed = pack(documents_of([[3, 17], [2]]), Limits(4, 20), pad_id=PAD).to("meta")
    assert {one.ids.device.type for one in packed.buckets} == {"meta"}
    assert {one.lengths.device.type for one in packed.buckets} == {"meta"}
    assert packed.documents.device.type == packed.slots.device.type == "meta"
    assert packed.counts.device.type == "meta"
    assert (packed.most, packed.limits) == (2, Limits(4, 20))


def test_what_cannot_be_packed():
    with pytest.raises(InputError, match="a paragraph has no tokens"):
        pack([[np.array([1]), np.zeros(0, np.int64)]], Limits(4, 20), pad_id=PAD)
    with pytest.raises(ValueError, match="cannot end with"):
        cut([], Limits(4, 2), after=[1, 2])
