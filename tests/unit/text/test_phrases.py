from evenhand.text.phrases import listed


def test_names_are_listed_and_the_rest_is_counted():
    assert [listed(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert listed(list("abcde"), 5) == "a, b, c, d and e"
    assert listed(list("abcdef"), 5) == "a, b, c, d, e and 1 other"
    assert listed(list("abcdefghijklm"), 5) == "a, b, c, d, e and 8 others"
