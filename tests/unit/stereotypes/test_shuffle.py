from hypothesis import given
from hypothesis import strategies as st

from evenhand.stereotypes.clusters import join_words, shuffle_words, words_of

TEXTS = st.text(alphabet=st.sampled_from("ab 1.,'\u0301他她。กำ\u3000カ\t"), max_size=30)


def test_words_of_a_script_with_blanks():
    assert words_of(" He can't,  stop.\n") == ["He", "can't,", "stop."]


def test_characters_where_there_are_no_blanks():
    assert words_of("他在2024年。 好") == ["他", "在", "2024", "年", "。", "好"]
    assert words_of("กำ") == ["ก", "ำ"]
    assert words_of("ก\u0e34ข") == ["ก\u0e34", "ข"]  # a mark stays with its letter


def test_words_are_joined_as_their_script_wants_it():
    assert join_words(["He", "ran"]) == "He ran"
    assert join_words(["他", "GDP", "2024", "年", "好"]) == "他GDP 2024年好"


def test_an_order_that_is_known():
    sentence = "one two three four five six seven"
    assert shuffle_words(sentence, seed=0) != sentence
    assert shuffle_words(sentence, seed=0) != shuffle_words(sentence, seed=1)
    assert shuffle_words(sentence, seed=0) == "three four one five two six seven"


@given(TEXTS, st.integers(0, 5))
def test_shuffling_keeps_every_character_and_repeats_itself(text, seed):
    shuffled = shuffle_words(text, seed=seed)
    assert shuffled == shuffle_words(text, seed=seed)

    def letters(one):
        return sorted(c for c in one if not c.isspace())

    assert letters(shuffled) == letters(text)


def test_every_order_is_as_likely_as_any_other():
    orders = [shuffle_words("a b c", seed=seed) for seed in range(600)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert 60 < min(counts) <= max(counts) < 145


def test_nothing_to_shuffle():
    assert shuffle_words("", seed=0) == shuffle_words(" \n", seed=0) == ""
    assert shuffle_words("alone", seed=0) == "alone"
