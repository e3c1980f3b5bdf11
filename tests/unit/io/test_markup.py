import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.limits import LimitError
from evenhand.io.markup import strip_html, strip_markdown
from unit.cases import read_cases


@pytest.mark.parametrize(("html", "expected"), read_cases(__file__, "html"))
def test_html(html: str, expected: str) -> None:
    lines = map(str.strip, strip_html(html).splitlines())
    assert "\n".join(filter(None, lines)) == expected


@pytest.mark.parametrize(("markdown", "expected"), read_cases(__file__, "markdown"))
def test_markdown(markdown: str, expected: str) -> None:
    assert strip_markdown(markdown) == expected
    assert strip_markdown(f"甲\n{markdown}\n乙") == f"甲\n{expected}\n乙"


def test_tags_over_several_lines_keep_the_count_of_lines() -> None:
    text = "甲\n<!-- 一\n二 -->乙<p\nclass=x>丙<style>\np {}\n</style>丁\n"
    assert strip_markdown(text) == "甲\n\n乙\n丙\n\n丁\n"


@settings(deadline=None)
@given(st.text("甲乙 \n\t#*_`~[]()<>/!|\\-=+.1p&;:\u3000", max_size=80))
def test_markdown_keeps_every_line_in_its_place(text: str) -> None:
    assert strip_markdown(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "mark",
    [
        *("<", "[", "*", "`", "_", "~~", "|", "\\", "&", "![", "<p ", "<!--", "- ", "<script>"),
        *("[^", " ", "\t", "``", "` ", "](", "\n ", " #", "---|", "[a](", "*a ", "</p", "&a"),
    ],
)
def test_endless_marks_take_no_endless_time(mark: str) -> None:
    begin = time.process_time()
    for text in (mark * 40_000, f"{mark}甲" * 20_000, "\n" + mark * 40_000 + "x"):
        strip_markdown("]`*_~~#|<&\\>\n" + text)
    assert time.process_time() - begin < 3


def test_code_ends_at_the_next_run_of_as_many_backticks() -> None:
    assert strip_markdown("``a ` b`` `c` ```d `e```") == "a ` b c d `e"
    assert strip_markdown("x ```a `b` ``c``") == "x `a `b` c``"
    assert strip_markdown("`` `a``") == " `a"


def test_html_that_would_take_long_is_refused() -> None:
    words = "甲" * 20_000
    for tags in ("<div>", "<ul><li>", "<b></p>", "<div></b>", "<p><i>"):
        assert words in strip_html(words + tags * 900)
        with pytest.raises(LimitError, match="nested deeper than 1000 levels"):
            strip_html(words + tags * 1100)
    assert words in strip_html(words + "<p>" * 5000 + "<div></div>" * 5000 + "<br><li>" * 5000)
    attributes = [f"a{i}='>' b{i}" for i in range(1000)]
    assert words in strip_html(f"{words}<p {' '.join(attributes[:499])}>")
    with pytest.raises(LimitError, match="more than 1000 attributes"):
        strip_html(f"{words}<p {' '.join(attributes)}>")
