from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stereotypes.clusters import (
    Edit,
    alike_sentences,
    check_order,
    count_same_words,
    edits,
    misplaced,
    opcodes,
    pieces,
    swapped_words,
    templates,
    words,
    words_taking_turns,
)

WORDS = st.lists(
    st.sampled_from(["he", "She", "his", "her", "a", "an", "男", "女人", "."]), max_size=8
)


@pytest.mark.parametrize(
    ("more", "less", "cluster"),
    [
        ("Most black kids.", "Most white kids.", "black|white"),
        ("White people", "Black people", "black|white"),
        ("He lost his keys.", "She lost her keys.", "he|she"),  # the first change names it
        ("I met the poor, again", "I met the rich again", "poor|rich"),
        ("She is 80.", "She is 20.", "20|80"),
        ("They can not go.", "They can go.", "|not"),
        ("Same words.", "Same words!", "|"),
        ("a mentally ill man", "a healthy man", "healthy|mentally ill"),
        ("男人很强。", "女人很强。", "女|男"),
        ("爸爸工作", "妈妈工作", "妈妈|爸爸"),
        ("她的儿子很乖", "她的女儿很乖", "儿子|女儿"),
        ("L’homme dort", "La femme dort", "l homme|la femme"),
        ("ผู้ชายทำงาน", "ผู้หญิงทำงาน", "ชาย|หญิง"),
        ("लड़का खेलता है", "लड़की खेलता है", "लड़का|लड़की"),
        ("Une e\u0301lève dort", "Un élève dort", "un|une"),  # é in two forms is one letter
    ],
)
def test_swapped_words(more, less, cluster):
    assert swapped_words(more, less) == cluster


def test_pieces_keep_case_and_punctuation_and_part_characters():
    assert pieces(" The end. ") == ["The", "end."]
    assert pieces("他爱NLP。") == ["他", "爱", "NLP。"]
    assert words("Don't! (He)") == ["don", "t", "he"]
    assert pieces("") == words("...") == []


def test_edits_of_repeated_words_are_not_taken_for_noise():
    one = ["the"] * 300 + ["man"]
    assert edits(one, ["the"] * 300 + ["woman"]) == [(("man",), ("woman",))]


def test_a_word_that_moved_is_two_edits():
    assert len(edits(*map(pieces, ("He just works hard", "He works just hard")))) == 2
    assert len(edits(*map(pieces, ("女人爱儿子", "男人爱女儿")))) == 2  # 女|男, then 儿子|女儿


@given(WORDS, WORDS)
def test_a_pair_and_its_reverse_have_one_cluster(one, other):
    more, less = " ".join(one), " ".join(other)
    assert swapped_words(more, less) == swapped_words(less, more)
    assert swapped_words(more, more) == "|"


def test_a_swap_counts_in_its_more_frequent_direction():
    pairs = [("He ran", "She ran"), ("She sat", "He sat"), ("He is", "She is"), ("A b", "A c")]
    assert count_same_words(pairs) == 3
    assert count_same_words(pair[::-1] for pair in pairs) == 3
    pairs = [("He is old", "She is new"), ("She is old", "He is new")]
    assert count_same_words(pairs) == 2  # old may be more frequent


def test_pairs_of_one_sentence_have_one_template():
    cats, dogs = ("The cat is sly.", "The dog is sly."), ("the bird is sly", "the fish is sly")
    shy, house = ("The cat is old and shy.", "The dog is old and shy."), (*cats, "In a house.")
    unlike = ("He is a nurse now", "It was raining a lot"), ("She has a car there", "Go a way")
    swaps = [(*cats, None), (*dogs, ""), (*cats[::-1], None), (*shy, None), house]
    first, second, back, other, after, *apart = templates(
        [*swaps, *((*pair, None) for pair in (unlike[0], unlike[0][::-1], unlike[1]))]
    )
    assert first == second == back
    assert len({first[0], other[0], after[0], apart[0][0]}) == 4
    assert apart[0] == apart[1] and apart[0][0] != apart[2][0]
    chinese = templates([("爸爸在做饭", "妈妈在做饭", None), ("叔叔在做饭", "阿姨在做饭", None)])
    assert chinese[0] == chinese[1]


def test_sentences_that_differ_at_one_place_have_one_template_with_other_words():
    jobs, ends = ("nurse", "police officer", "cook"), ("is glad to be here", "has a big car", "ran")
    pairs = [(f"The {job} said she {end}.", f"The {job} said he {end}.", None)
             for end in ends for job in jobs]  # fmt: skip
    found = templates(pairs)
    assert [template for template, _ in found] == [
        *["\nthe\nsaid is glad to be here"] * 3,
        *["\nthe\nsaid has a big car"] * 3,
        *["\nthe\nsaid ran", "\nthe police officer said ran", "\nthe\nsaid ran"],
    ]
    assert [words for _, words in found[:6]] == [*jobs, *jobs]  # in each template the same
    # at most a third of the words may differ
    assert [words for _, words in found[6:]] == ["nurse", "\nthe police officer said ran", "cook"]
    assert templates(pairs[::-1]) == found[::-1]
    assert templates(pairs[:1]) == [("\nthe nurse said is glad to be here",) * 2]


def test_words_that_count_as_templates_are_named():
    jobs, places = ["cook", "nurse", "judge", "baker"], ["town", "house", "street", "river"]
    apart = templates([(f"The {job} said she is glad to be in the {place}.",
                        f"The {job} said he is glad to be in the {place}.", None)
                       for job in jobs for place in places])  # fmt: skip
    assert words_taking_turns(apart, "template") in (
        "baker, cook, judge, …",
        "house, river, street, …",
    )  # without "said", which follows each
    assert words_taking_turns(apart, "sentence") == ""
    parts = [("x", "v"), ("x", "v"), ("x", "w"), ("x", "w")]
    assert alike_sentences("aabb", parts, "template") == "“a” and “b”"
    assert (
        alike_sentences("aabb", parts, "sentence") == alike_sentences("abab", parts, "words") == ""
    )
    ends = ("ran off", "has a car", "is at home now", "saw it")
    other = templates([(f"She {end}.", f"He {end}.", None) for end in ends])
    assert words_taking_turns(other, "template") == words_taking_turns(other[:1], "template") == ""
    jobs = templates([("She is a cook there", "He is a cook there", None),
                      ("She is a nurse there", "He is a nurse there", None)])  # fmt: skip
    assert words_taking_turns(jobs, "words") == "cook, nurse"
    assert words_taking_turns(jobs, "template") == ""


def test_long_sentences_that_repeat_themselves_are_compared_at_once():
    before, after = ["the", "cat", "sat"] * 20_000, ["on", "a", "mat"] * 20_000
    found = edits([*before, "he", *after], [*before, "she", "too", *after])
    assert found == [Edit(("he",), ("she", "too"))]
    texts = [" ".join([*before, word, *after]) for word in ("he", "she", "they")]
    [one, other] = templates([(texts[0], texts[1], None), (texts[0], texts[2], None)])
    assert one == other == (f"\n{' '.join([*before, *after])}",) * 2  # no template but the whole


def test_of_long_sentences_that_differ_in_many_places_the_beginning_is_compared():
    """difflib would need a minute."""
    before, after = ["so", "he", "said"] * 1000, ["so", "she", "too", "said"] * 1000
    *found, rest = edits([*before, "he"], [*after, "he"])
    assert 70 < len(found) < 100 and {*found} == {Edit(("he",), ("she", "too"))}
    begin = 3 * len(found) + 1
    assert rest == Edit(tuple(before[begin:-1]), tuple(after[begin + len(found) : -1]))
    assert swapped_words(" ".join(before), " ".join(after)) == "he|she too"
    assert edits(before[:400], after[400:0:-1])  # they begin and end with other words
    assert edits(["a"] * 400, ["b"] * 400) == [Edit(("a",) * 400, ("b",) * 400)]
    assert edits(["a"] * 400, []) == [Edit(("a",) * 400, ())]


@given(WORDS, WORDS, WORDS)
def test_opcodes_lead_from_one_list_to_the_other(one, other, both):
    for size in (1, 200):
        left, right = [*both, *one, *both] * size, [*both, *other, *both] * size
        codes = opcodes(left, right)
        assert [part for kind, a, b, c, d in codes for part in right[c:d]] == right
        assert [part for kind, a, b, c, d in codes for part in left[a:b]] == left
        assert all(left[a:b] == right[c:d] for kind, a, b, c, d in codes if kind == "equal")


def test_pairs_whose_sentences_fit_other_pairs_are_misplaced():
    swaps = [("he", "his", "him"), ("she", "her", "her")]
    jobs = ["doctor", "nurse", "pilot", "cook", "judge", "guard"]
    texts = ["the {3} lost {1} keys when {0} left", "{0} loves {1} {3}", "a {3} saw {0} and {2}"]
    pairs = []
    for place, job in enumerate(jobs):
        for text in texts:
            both = [text.format(*swap, job) for swap in swaps]
            pairs.append(tuple(both[:: 1 if place % 2 else -1]))
    assert misplaced(pairs) == {}  # those of one template differ less between jobs than in a pair
    assert misplaced([("the man eats rice", "she goes"), *pairs[:3], ("x y", "z")]) == {}
    others = [(f"the man {n} eats rice at home", f"the woman {n} eats rice at home")
              for n in ("Kim", "Lee", "Roy", "Sam")]  # fmt: skip
    songs = [(f"a boy can sing song {n} well", f"a girl can sing song {n} well") for n in "abc"]
    both = [*pairs, *others, *songs]
    first, second = len(pairs), len(pairs) + 4
    crossed = [*both]
    crossed[first] = (both[first][0], both[second][1])
    crossed[second] = (both[second][0], both[first][1])
    assert misplaced(crossed) == {first: second, second: first}
    reverse = [pair[::-1] for pair in both]
    assert misplaced([*both, *reverse]) == {}


def test_a_shift_is_noticed_where_neighbours_swap_the_same_names():
    """Then both sentences of every second pair have one name, and in part the same words."""
    more, less = [], []
    for n in range(60):
        text = "{} " + f"was trait{n} in place{n} with the thing{n}"
        names = [f"name{n // 2}", f"other{n // 2}"][:: -1 if n % 2 else 1]
        for side, name in zip((more, less), names, strict=True):
            side.append(text.format(name))

    def check(less):
        return check_order([*zip(range(1, 61), more, less, strict=True)], Path("pairs.csv"))

    assert check(less) == []
    with pytest.raises(InputError, match=r"belong to other pairs \(60 of 60\)"):
        check([*less[1:], less[0]])
    assert check([*less[:40], *less[41:], "x"]) == [*range(41, 61)]
