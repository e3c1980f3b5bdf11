from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.character_pairs import CharacterPairs

characters = st.text(alphabet="王老师某", max_size=3)
pairs = st.tuples(characters, characters).filter(lambda pair: pair[0] or not pair[1])


def contains(text: str, pair: tuple[str, str]) -> bool:
    first, second = pair
    beside = zip(text, text[1:] + " ", strict=False)
    if not first:
        return any(a == b != "，" for a, b in beside)
    return any(a in first and (not second or b in second) for a, b in beside)


@given(
    st.lists(st.lists(pairs, max_size=3), min_size=1, max_size=4),
    st.lists(st.text(alphabet="王老师某好，", max_size=8)),
)
def test_a_bit_is_set_where_a_pair_of_its_set_occurs(sets, texts):
    expected = [
        sum(any(contains(text, pair) for pair in some) << n for n, some in enumerate(sets))
        for text in texts
    ]
    assert CharacterPairs(sets).search(texts) == expected


@given(st.lists(pairs.filter(lambda pair: pair[0])), st.text(alphabet="王老师某好𠮷", max_size=8))
def test_pairs_begin_at_their_places(some, text):
    places = [
        n
        for n, (a, b) in enumerate(zip(text, text[1:] + " ", strict=False))
        if any(a in first and (not second or b in second) for first, second in some)
    ]
    assert CharacterPairs([some]).places(text).tolist() == places


def test_characters_beyond_the_basic_plane_are_in_no_pair():
    assert CharacterPairs([[("王", "")]]).search(["𠮷𠮷", "𠮷王"]) == [0, 1]


def test_a_set_has_characters_beyond_the_basic_plane():
    texts = ["老𠮷", "老𠮸", "𠮷老", "👩老"]
    assert CharacterPairs([[("老", "王𠮷")], [("𠮷", "")]]).search(texts) == [3, 0, 2, 0]
