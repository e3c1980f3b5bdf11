import base64
import hashlib
import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import escape
from selectolax.lexbor import LexborHTMLParser

from evenhand.core.decimals import fixed
from evenhand.errors import InputError
from evenhand.report import render
from evenhand.report.figures import bars
from evenhand.report.page_list import BESIDE, DRAWING, links_to_pages
from unit.report.checks import TEMPLATES


def page(tmp_path, source: str, **values) -> str:
    template = tmp_path / "t.html"
    template.write_text(source, encoding="utf-8")
    return render.environment([template]).get_template("t.html").render(values)


def test_values_are_escaped_and_controls_made_visible(tmp_path):
    assert page(tmp_path, "<p>{{ x }}</p>", x="<b>\x00'\"") == "<p>&lt;b&gt;␀&#39;&#34;</p>"
    assert page(tmp_path, "{{ x }}", x="<=35 x >=3 a<=b") == "≤35 x ≥3 a&lt;=b"


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
    assert render.plural(1, "case") == "1 case"
    assert render.plural(0, "case") == "0 cases" and render.plural(None, "case") == "– cases"
    assert render.plural(1234, "person", "people") == "1,234 people"
    assert render.percent(0.1234) == "12.3\xa0%"
    assert render.percent(0.0000001) == "< 0.1\xa0%"
    assert render.percent(0) == "0.0\xa0%"
    assert render.decimal(-0.12345) == "−0.123"
    assert render.decimal(-0.0001) == "0.000"
    assert render.decimal(float("nan")) == "–"
    # of a share and of points alike, and in every text: half away from 0
    assert render.decimal(100 * 0.4765, 1) == fixed(47.650045, 1) == "47.7"
    assert (render.percent(0.4765), render.interval(-0.25, 0.25)) == ("47.7\xa0%", "−0.3 to 0.3")
    assert fixed(-57.8, 1) == "−57.8" and fixed(float("inf"), 1) == "inf"
    assert render.signed(0.5, 1) == "+0.5"
    assert render.signed(-0.5, 1) == "−0.5"
    assert render.signed(0.0, 1) == "0.0"
    assert [render.size(n) for n in (0, 999, 1000, 1500, 2_000_000)] == [
        "0\xa0B", "999\xa0B", "1.0\xa0kB", "1.5\xa0kB", "2.0\xa0MB",
    ]  # fmt: skip


def test_slug():
    assert render.slug("evenhand.slguset.find_keywords") == "evenhand-slguset-find_keywords"
    assert render.slug("<>") == "x"


def test_a_path_breaks_after_slashes_and_stays_text():
    assert render.breakable("a/<b>\x00/c") == "a/<wbr>&lt;b&gt;␀/<wbr>c"


def base_page(tmp_path, content: str, scripts: str = "", pages: Sequence[dict] = ()) -> str:
    """A page of the real base template."""
    child = tmp_path / "child.html"
    child.write_text(
        '{% extends "base.html" %}{% import "macros.html" as m with context %}'
        f"{scripts}{{% block content %}}{content}{{% endblock %}}",
        encoding="utf-8",
    )
    engine = render.environment([*sorted(TEMPLATES.iterdir()), child])
    return engine.get_template("child.html").render(pages=pages, sections=[])


def scripts_in(html: str) -> list[str]:
    return re.findall(r"<script>(.*?)</script>", html, re.DOTALL)


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("<table></table>", ["page.js"]),
        ("<p>a table of class sortable</p>", ["page.js"]),
        ('<table class="sortable"></table>', ["datatables.min.js", "page.js"]),
        ('<table id="x" class="wide sortable"></table>', ["datatables.min.js", "page.js"]),
        ("<p>a figure of class chart</p>", ["page.js"]),
        ('<div class="chart"></div>', ["page.js", *DRAWING, "figures.js"]),
    ],
)
def test_a_page_holds_the_scripts_that_it_needs_and_its_policy_no_other(tmp_path, content, names):
    html = base_page(tmp_path, content)
    texts = [(TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    assert scripts_in(html) == texts
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts]
    policy = "script-src" + "".join(f" 'sha256-{digest.decode()}'" for digest in digests)
    assert f"style-src 'unsafe-inline'; {policy}\">" in html
    assert ("Permission is hereby granted" in html) == ("datatables.min.js" in names)
    assert html.count("Interactive Data Lab") == (3 if "vega.min.js" in names else 0)
    assert content in html


def test_a_page_adds_its_own_script_behind_the_others(tmp_path):
    own = '{% set scripts = ["own.js", "datatables.min.js"] %}'
    (tmp_path / "own.js").write_text("own()", encoding="utf-8")
    texts = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.iterdir()}
    found = render.scripts_of(texts | {"own.js": "own()"}, "", ["own.js", "datatables.min.js"])
    assert [one["text"] for one in found][2] == "own()"
    assert found[0]["text"] == texts["datatables.min.js"] and found[1]["text"] == texts["page.js"]
    with pytest.raises(KeyError, match=r"own\.js"):
        base_page(tmp_path, "", own)


@pytest.mark.parametrize("notice", ["<b>Demo.</b>", ""])
def test_a_notice_is_above_the_content(tmp_path, notice):
    (tmp_path / "notice.txt").write_text(notice, encoding="utf-8")
    (tmp_path / "page.html").write_text('{% extends "base.html" %}', encoding="utf-8")
    files = [*sorted(TEMPLATES.iterdir()), tmp_path / "notice.txt", tmp_path / "page.html"]
    html = render.environment(files).get_template("page.html").render(pages=[], sections=[])
    found = re.findall(r'<p class="banner" role="note">(.*?)</p>\s*<main', html)
    assert found == (["&lt;b&gt;Demo.&lt;/b&gt;"] if notice else [])


def test_without_the_templates_that_draw_a_page_loads_them_from_beside_it():
    texts = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.iterdir()}
    for name in DRAWING:
        del texts[name]
    found = render.scripts_of(texts, '<div class="chart"></div>', [])
    assert [one.get("src") for one in found] == [None, BESIDE, None]


@pytest.mark.parametrize("text", ["'</SCRIPT>'", "'<!--'", "a\rb", "a\0b"])
def test_a_script_that_would_leave_its_element_is_refused(text):
    with pytest.raises(ValueError, match=r"page\.js cannot stand inside a page"):
        render.scripts_of({"page.js": text}, "", [])
    with pytest.raises(ValueError, match=r"the licence of page\.js cannot stand in a comment"):
        render.scripts_of({"page.js": "", "page.license.txt": "MIT -->"}, "", [])


def test_vendored_scripts_of_figures_are_those_that_their_description_names():
    described = (TEMPLATES / "vega.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| `(\S+)` \| (\S+) \| .* \| (\w{64}) \|\n", described)
    assert [name for name, _, _ in rows] == [*DRAWING]
    for name, version, digest in rows:
        script = (TEMPLATES / name).read_bytes()
        assert hashlib.sha256(script).hexdigest() == digest
        # the interpreter does not say its version
        assert version.encode() in script or name == "vega-interpreter.min.js"
        licence = (TEMPLATES / f"{name.partition('.')[0]}.license.txt").read_text("utf-8")
        assert "Interactive Data Lab" in licence and "Redistribution and use" in licence


def test_the_vendored_script_is_the_one_that_its_description_names():
    described = (TEMPLATES / "datatables.md").read_text(encoding="utf-8")
    version = re.search(r"version: (\S+)", described)[1]
    script = (TEMPLATES / "datatables.min.js").read_bytes()
    assert f"sha256: {hashlib.sha256(script).hexdigest()}\n" in described
    assert script.startswith(f"/*! DataTables {version}\n".encode())
    assert "MIT" in (TEMPLATES / "datatables.license.txt").read_text(encoding="utf-8")


@given(st.text())
def test_data_never_leaves_its_element(text):
    made = str(render.as_json({"text": text}))
    assert json.loads(made) == {"text": text}
    assert not set("<>&\u2028\u2029") & set(made)


def rows_of(n: int, text: str = "x") -> str:
    return "\n".join(f'<tr id="r-{i}">\n<td>{text}</td></tr>' for i in range(n))


@pytest.mark.parametrize("n", [0, 1, render.MANY_ROWS])
def test_a_table_without_many_rows_stays_whole(n):
    content = f"<thead></thead>\n<tbody>\n{rows_of(n)}\n</tbody>"
    assert render.part_rows(content) == (content, "", 0, 0)


@given(st.text())
def test_of_many_rows_the_first_are_shown_and_all_are_kept(text):
    n = render.MANY_ROWS + 1
    rows = str(escape(text))
    head, foot = "<thead><tr><th>a</th></tr></thead>\n", "<tfoot><tr><td>all</td></tr></tfoot>"
    made = render.part_rows(f"{head}<tbody>\n{rows_of(n, rows)}\n</tbody>\n{foot}")
    assert (made.kept, made.rows) == (rows_of(n, rows), n)
    shown = rows_of(render.FIRST_ROWS, rows)
    assert made.content == f"{head}<tbody>\n{shown}\n</tbody>\n{foot}"


@pytest.mark.parametrize(
    "inside",
    ["<table></table>", "<SCRIPT></SCRIPT>", "<!-- a -->", "</tr><tr><td rowspan=2>", "<tr>"],
)
def test_a_table_whose_rows_cannot_be_told_apart_stays_whole(inside):
    content = f"<tbody>{rows_of(render.MANY_ROWS + 1, inside)}</tbody>"
    assert render.part_rows(content) == (content, "", 0, 0)


def test_a_table_of_several_bodies_or_that_does_not_sort_stays_whole():
    rows = rows_of(render.MANY_ROWS + 1)
    several = f"<tbody>{rows}</tbody><tbody>{rows}</tbody>"
    assert render.part_rows(several).rows == 0
    assert render.part_rows(f"<tbody>{rows}</tbody>", sortable=False).rows == 0


@pytest.mark.parametrize("macro", ['m.table("Many"', 's.table("Many", ["x"]'])
def test_many_rows_stand_behind_their_table_and_without_scripts_that_is_said(tmp_path, macro):
    rows = rows_of(render.MANY_ROWS + 1)
    html = base_page(
        tmp_path,
        f'{{% call {macro}, sortable=true, file="a/b.csv") %}}<thead></thead>'
        f"<tbody>{rows}</tbody>{{% endcall %}}",
        '{% import "stereotypes_macros.html" as s with context %}',
    )
    tree = LexborHTMLParser(html)
    assert len(tree.css("main tr")) == render.FIRST_ROWS
    assert tree.css_first("table + noscript + script.rows[type='text/html']").text() == rows
    told = tree.css_first(".scroll > noscript").text()
    assert f"the first {render.FIRST_ROWS} of its 501 rows; the CSV has all of them" in told
    assert tree.css_first(".scroll + ul.downloads a[href='tables/a_b.csv']")


def test_data_that_is_no_json():
    with pytest.raises(ValueError, match="not JSON compliant"):
        render.as_json(float("nan"))


def test_stems():
    assert render.stem("tables/bias/slguset/models.csv") == "bias_slguset_models"
    assert render.stem("slguset/table_1.csv") == "slguset_table_1"
    assert render.stem("tables/a.b.csv") == "a.b"
    assert render.stem("tables/pairs/pairs/models.csv") == "pairs_models"


def test_downloads_name_the_copies_and_the_origin(tmp_path):
    html = base_page(tmp_path, '{{ m.downloads(["a b", "x/y.csv", "x/z.json"]) }}')
    links = re.findall(r"<li>.*?</li>", html[html.index('class="downloads"') :], re.DOTALL)
    hrefs = [re.findall(r'href="([^"]*)"', link) for link in links]
    assert hrefs == [
        ["tables/a%20b.csv", "tables/a%20b.tex", "tables/a%20b.md",
         "provenance.html#file-tables-a-b-csv"],
        ["tables/x_y.csv", "tables/x_y.tex", "tables/x_y.md", "provenance.html#file-x-y-csv"],
        ["tables/x_z.csv", "tables/x_z.tex", "tables/x_z.md", "provenance.html#file-x-z-json"],
    ]  # fmt: skip
    untraced = base_page(
        tmp_path, '{{ m.downloads("a", traced=false) }}{{ m.beside(["x/b c.csv"]) }}'
    )
    assert re.findall(r'href="([^"#]+)" ', untraced) == [
        *("tables/a.csv", "tables/a.tex", "tables/a.md"),
        "x/b%20c.csv",
    ]
    assert "<bdi>x_b c</bdi>" in untraced


def test_a_page_that_stands_alone_has_no_links_to_files(tmp_path):
    alone = links_to_pages("predictions", ["predictions"])
    html = base_page(tmp_path, '{{ m.downloads(["a b", "x/y.csv"]) }}', pages=alone)
    assert 'class="downloads"' not in html


def test_macros_escape_what_they_show(tmp_path):
    hostile = "<b>'"
    html = base_page(
        tmp_path,
        f'{{% set x = "{hostile}" %}}'
        '{{ m.sentence([{"text": x, "kind": x}], "de") }}'
        '{{ m.data("d", {"x": x}) }}{{ m.downloads(x) }}'
        "{% call m.table(x, sortable=true) %}<tr></tr>{% endcall %}",
    )
    assert "<b>" not in html
    assert '<bdi class="sentence" lang="de"><mark class="&lt;b&gt;&#39;">&lt;b&gt;' in html
    assert """<script type="application/json" id="d">{"x":"\\u003cb\\u003e'"}</script>""" in html


HOSTILE = "</script><!--'\"&\x00\u202e"


def figure(label):
    return bars([{"name": HOSTILE, "amount": 1, "kind": "kept"}], label, unit=HOSTILE)


def test_a_figure_is_data_in_an_element_with_a_label(tmp_path):
    tree = LexborHTMLParser(page(tmp_path, "{{ one|chart }}", one=figure(HOSTILE)))
    chart = tree.css_first("body > div.chart")
    name = render.visible(HOSTILE)
    assert chart.attributes["aria-label"].replace("\xa0", " ") == f"{name}; {name}: 1 (100.0 %)"
    assert chart.attributes["style"] == "min-height: 85px; max-width: 720px"
    [script] = tree.css("script")
    assert script.attributes == {"type": "application/json"}
    without = ("$schema", "config")  # an address, and sizes that the page decides
    spec = figure(HOSTILE).to_dict()
    assert json.loads(script.text()) == {k: v for k, v in spec.items() if k not in without}


def test_the_alternative_text_has_the_values_of_a_small_figure(tmp_path):
    rows = [{"name": f"n{i}", "amount": i, "kind": "kept"} for i in range(render.MOST_WORDS + 1)]

    def label(number):
        one = bars(rows[:number], "Steps", unit="unit")
        tree = LexborHTMLParser(page(tmp_path, "{{ one|chart }}", one=one))
        return tree.css_first(".chart").attributes["aria-label"]

    assert label(render.MOST_WORDS).count("; ") == render.MOST_WORDS
    assert label(render.MOST_WORDS + 1) == "Steps"


def test_the_title_of_a_figure_begins_with_the_names_of_its_subject(tmp_path):
    one, of = figure("Steps"), ["one", HOSTILE]
    tree = LexborHTMLParser(page(tmp_path, "{{ one|chart(of) }}", one=one, of=of))
    title = f"one, {render.visible(HOSTILE)}: Steps"
    assert tree.css_first(".chart").attributes["aria-label"].startswith(f"{title}; ")
    assert json.loads(tree.css_first("script").text())["description"] == title
    assert one.description == "Steps"


def test_only_headings_of_one_level_fold():
    content = "<p>a</p><h3 id=b>b</h3><p>c</p><h4>d</h4><h3>e</h3><p>f</p>"
    body = LexborHTMLParser(render.fold(content, 3)).body
    assert [node.tag for node in body.iter()] == ["p", "details", "details"]
    assert [node.text() for node in body.css("summary")] == ["b", "e"]
    assert [node.text().replace("\n", "") for node in body.css("details")] == ["bcd", "ef"]
    assert render.fold("<p>a</p>", 2) == "<p>a</p>"


def test_a_section_that_folds_is_a_line_with_its_title(tmp_path):
    macros = (TEMPLATES / "macros.html").read_text(encoding="utf-8")
    source = "{% call section('x', title, fold=2) %}<p>inside</p>{% endcall %}"
    tree = LexborHTMLParser(page(tmp_path, macros + source, title="<i>", pages=[]))
    section = tree.css_first("section#x.folded[aria-labelledby=x-title] > details.fold")
    assert section.css_first("summary h2#x-title").text() == "<i>"
    assert section.css_first("details > p").text() == "inside"


def test_the_ends_of_a_number_are_given_together_or_not_at_all():
    row = {"x_low": -0.25, "x_high": 0.5, "y_low": None, "y_high": 1.0}
    assert render.span(row, "x", 2) == "−0.25 to 0.50"
    assert render.span(row, "x", scale=100) == "−25.0 to 50.0"
    assert render.span(row, "x", 2, signs=True) == "−0.25 to +0.50"
    assert render.span(row, "y") is None
