import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from evenhand.io.markdown import plain, render, size_category


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a | b", r"a \| b"),
        ("<b>*x*</b>", r"&lt;b&gt;\*x\*&lt;/b&gt;"),
        ("p < 0.05 <", "p < 0.05 &lt;"),
        ("[x](y)", r"\[x\](y)"),
        ("a_b _c_", r"a_b \_c\_"),
        ("two\nlines\tand  blanks", "two lines and blanks"),
        ("\x07\u202eright to left", "\N{REPLACEMENT CHARACTER}" * 2 + "right to left"),
        ("三个词", "三个词"),
    ],
)
def test_text_is_shown_as_it_is(text, shown):
    assert plain(text) == shown


@given(st.text())
def test_no_text_opens_a_tag_or_a_cell_or_a_line(text):
    shown = plain(text)
    assert not set(">\n\r") & set(shown.replace("< ", ""))
    assert "<" not in shown.replace("< ", "")
    assert not re.search(r"(?<!\\)(\\\\)*[|`*\[$]", shown)


def test_templates_form_numbers_and_miss_no_name(tmp_path):
    template = tmp_path / "card.md"
    template.write_text(
        "{{ n | number }} {{ share | percent }} {{ x | decimal(2) }} {{ none | decimal(1) }}"
        " {{ (x, none) | span }} {{ (x, share) | span(2) }}"
        " {{ -1.005 | decimal(2) }} {{ 0.00125 | percent(2) }} {{ (-0.25, share) | span }}\n",
        encoding="utf-8",
    )
    facts = {"n": 12345, "share": 0.25, "x": -0.001, "none": None}
    assert render(template, facts) == (
        "12,345 25.0% 0.00 – – 0.00 to 0.25 −1.01 0.13% −0.3 to 0.3\n"
    )
    with pytest.raises(UndefinedError):
        render(template, {"n": 1})
    assert [size_category(rows) for rows in (999, 1000, 10**8)] == [
        *("n<1K", "1K<n<10K", "10M<n<100M")
    ]
