import pytest
from jinja2 import UndefinedError

from evenhand.errors import InputError
from evenhand.report import render


def page(tmp_path, source: str, **values) -> str:
    template = tmp_path / "t.html"
    template.write_text(source, encoding="utf-8")
    return render.environment([template]).get_template("t.html").render(values)


def test_values_are_escaped_and_controls_made_visible(tmp_path):
    assert page(tmp_path, "<p>{{ x }}</p>", x="<b>\x00'\"") == "<p>&lt;b&gt;␀&#39;&#34;</p>"


def test_a_missing_value_is_a_dash_and_a_missing_name_an_error(tmp_path):
    assert page(tmp_path, "{{ x }}", x=None) == "–"
    with pytest.raises(UndefinedError):
        page(tmp_path, "{{ y }}")


def test_two_templates_of_one_name(tmp_path):
    (tmp_path / "a").mkdir()
    paths = [tmp_path / "t.html", tmp_path / "a/t.html"]
    for path in paths:
        path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="two templates"):
        render.environment(paths)


def test_numbers():
    assert render.count(1234567) == "1,234,567"
    assert render.count(None) == "–"
    assert render.percent(0.1234) == "12.3\xa0%"
    assert render.percent(0.0000001) == "< 0.1\xa0%"
    assert render.percent(0) == "0.0\xa0%"
    assert render.decimal(-0.12345) == "−0.123"
    assert render.decimal(-0.0001) == "0.000"
    assert render.decimal(float("nan")) == "–"
    assert render.signed(0.5, 1) == "+0.5"
    assert render.signed(-0.5, 1) == "−0.5"
    assert render.signed(0.0, 1) == "0.0"
    assert [render.size(n) for n in (0, 999, 1500, 2_000_000)] == [
        "0\xa0B", "999\xa0B", "1.5\xa0kB", "2.0\xa0MB",
    ]  # fmt: skip


def test_slug():
    assert render.slug("evenhand.slguset.find_keywords") == "evenhand-slguset-find_keywords"
    assert render.slug("<>") == "x"


def test_a_path_breaks_after_slashes_and_stays_text():
    assert render.breakable("a/<b>\x00/c") == "a/<wbr>&lt;b&gt;␀/<wbr>c"
