import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.limits import LimitError
from evenhand.io.markup import BORDER, strip_html, strip_markdown


def paragraphs(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>甲<b>乙</b>丙</p><p>丁</p>", ["甲乙丙", "丁"]),
        ("甲<br>乙<br/>丙", ["甲", "乙", "丙"]),
        ("<p>甲&nbsp;&lt;乙&gt;&amp;&#x4E2D;</p>", ["甲\xa0<乙>&中"]),
        ("<p>一行\n两行</p>", ["一行 两行"]),
        (
            "<head><title>题</title><style>p{}</style></head><body>文<script>她()</script></body>",
            ["文"],
        ),
        ("<div>甲<!-- 注 -->乙<noscript>无</noscript></div>", ["甲乙"]),
        ("<ul><li>甲<li>乙</ul><table><tr><td>丙<td>丁</table>", ["甲", "乙", "丙", "丁"]),
        ("<p>没有关闭 <b>的标签", ["没有关闭 的标签"]),
        ("<p 坏<p>文", ["文"]),
        ("没有标签", ["没有标签"]),
        ("", []),
    ],
)
def test_html(html: str, expected: list[str]) -> None:
    assert paragraphs(strip_html(html)) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# 标题", "标题"),
        ("### 标题 ###", "标题"),
        ("#话题", "#话题"),
        ("> 引文", "引文"),
        ("- 甲", "甲"),
        ("* 甲", "甲"),
        ("12. 甲", "甲"),
        ("1.【领航】", "1.【领航】"),
        ("- > ## 甲", "甲"),
        ("**粗**和*斜*与***两***", "粗和斜与两"),
        ("7*24小时", "7*24小时"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("__粗__ _斜_ a_b_c", "粗 斜 a_b_c"),
        ("~~删~~ 6~8℃", "删 6~8℃"),
        ("`码` 与 ``a`b``", "码 与 a`b"),
        ("[查看](https://a.b/c_(d)) 后", "查看 后"),
        ("[文][1]", "文"),
        ("[1]: https://a.b", ""),
        ("前![图](a.png)后", "前后"),
        ("---", ""),
        ("* * *", ""),
        ("===", ""),
        ("```python", ""),
        ("| a | b |", f"{BORDER} a {BORDER} b {BORDER}"),
        ("|---|:-:|", ""),
        ("\\*甲\\*", "*甲*"),
        ("Ct值<35，&lt;章程&gt;", "Ct值<35，<章程>"),
        ("1+1>2", "1+1>2"),
        ("<p>甲</p><p style='x'>乙<br/>丙", f"{BORDER}甲{BORDER}{BORDER}乙{BORDER}丙"),
        ("甲<strong>乙</strong><span class=a>丙</span>", "甲乙丙"),
        ("甲<!-- 注 -->乙<script>她</script>丙", "甲乙丙"),
        ("<https://a.b/c>甲", "甲"),
        ("纯文本，没有记号。", "纯文本，没有记号。"),
    ],
)
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
