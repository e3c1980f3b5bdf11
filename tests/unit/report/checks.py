"""What must hold of every page, whatever it shows."""

import base64
import gzip
import hashlib
import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from evenhand.core import stage
from evenhand.report.page_list import DRAWING, PAGES
from evenhand.report.render import stem
from evenhand.report.study import Study
from evenhand.report.write_page import write_page

TEMPLATES = Path(__file__).parents[3] / "workflow/evenhand/report/templates"


def unpacked(text: str) -> dict[str, Any]:
    """The document of `evenhand.report.explorer.packed`."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


#: Elements of data for scripts: they are never run.
DATA = "script[type='application/json'], script[type='application/gzip']"

#: What a title or a label may hold: markup, quotes, a mark of writing direction, and what a
#: template might take for its own.
HOSTILE = (
    "<script>alert(1)</script>'\"><img src=x onerror=alert(2)>\u202e&amp;{{ 7*7 }}</title></svg>"
)

#: Parts of a page that a reader can go to by kind and name.
LANDMARKS = ("[role=region], section[aria-label], section[aria-labelledby]", "[role=search]", "nav")

#: Tags that end no line, and the attributes that a reader or a script sees.
INLINE = {
    *("a", "abbr", "b", "bdi", "code", "em", "i", "kbd", "label", "mark", "small", "span"),
    *("strong", "sub", "sup", "td", "text", "th", "time", "tspan", "title", "var"),
}
#: Of the rows of a figure about so many are told.
SHOWN = 12
TOLD = ("href", "title", "data-items", "data-link", "data-files", "data-sort", "x", "x1", "width")

#: What only markup that was injected could be.
INJECTED = (
    "script:not([type='application/json'], [type='application/gzip']),"
    " img, iframe, object, embed, link, base"
)

#: Where a link may lead: into the page, to another one, to results and their copies.
LINK = re.compile(
    r"#[^#]*|(\.\./|tables/[^/]+\.(csv|tex|md)$|(sentences/|cases/|people/|run)[^/]*\.csv$|provenance\.html(#|$)).*|"
    + "|".join(rf"{re.escape(file)}(#[^#]+)?" for file, _ in PAGES.values())
)


def write(page: str, out: Path, files: Iterable[Path] = (), **options: Any) -> LexborHTMLParser:
    """Write a page, and parse it."""
    templates = options.pop("templates", sorted(TEMPLATES.iterdir()))
    write_page(page=page, templates=templates, out=out, files=list(files), **options)
    return parse(out)


def text(tree: Any, selector: str) -> str:
    """Return the text of all elements, with single blanks."""
    return " ".join(" ".join(node.text() for node in tree.css(selector)).split())


def titles(**names: str) -> dict[str, list[str]]:
    """Return titles by name as options of a page; ``__`` in a name is a slash."""
    return {"names": [name.replace("__", "/") for name in names], "titles": [*names.values()]}


def parse(page: Path) -> LexborHTMLParser:
    """A page without its scripts, which are our files and the only ones that its policy allows.

    Scripts of another type than JavaScript hold data; they stay, as does what a value injected.
    """
    html = page.read_text(encoding="utf-8")
    known = {path.read_text(encoding="utf-8"): path for path in TEMPLATES.glob("*.js")}
    found, digests = [], []
    for text in re.findall(r"<script>(.*?)</script>", html, re.DOTALL):
        if text in known:
            found.append(known[text].name)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            digests.append(f" 'sha256-{digest}'")
            html = html.replace(f"<script>{text}</script>", "")
    assert "page.js" in found
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src{''.join(digests)}"
    for licence in TEMPLATES.glob("*.license.txt"):
        html = html.replace(f"<!--\n{licence.read_text(encoding='utf-8')}-->", "")
    tree = LexborHTMLParser(html)
    meta = tree.css_first("head meta[http-equiv=Content-Security-Policy]")
    assert meta.attributes["content"] == policy
    tables = tree.css("table.sortable")
    data = [one for one in tree.css(DATA) if "chart" not in one.parent.attributes.get("class", "")]
    assert [name for name in found if name in DRAWING] == (list(DRAWING) if charts(tree) else [])
    assert "datatables.min.js" in found or not tables
    assert tables or data or "datatables.min.js" not in found
    return tree


def sets_of(tree: Any) -> dict[str, dict[str, Any]]:
    """The data of the sets of an explorer page, by their keys."""
    return {
        one.attributes["data-key"]: unpacked(one.text()) for one in tree.css("script[data-key]")
    }


def charts(tree: Any, within: str = "body") -> list[dict[str, Any]]:
    """The specifications of the figures of a page, or of a part of it."""
    return [json.loads(one.text()) for one in tree.css(f"{within} .chart script")]


def rows(figure: Any, field: str) -> list[Any]:
    """Return a column of the rows of a chart or specification, with the layers' own data last."""
    spec = figure if isinstance(figure, dict) else figure.to_dict()
    data = [one["data"]["values"] for one in (spec, *spec["layer"]) if "data" in one]
    return [row[field] for values in data for row in values if field in row]


def check_nothing_injected(tree: LexborHTMLParser) -> None:
    """What data hold is text: no element and no event of the page (of `parse`) comes from them."""
    assert not tree.css(INJECTED)
    for node in tree.css("*"):
        assert not [name for name in node.attributes if name.startswith("on")], node.html


def name_of(node: Any) -> str:
    """What a part of the page is called to who does not see it."""
    given = node.attributes
    if "aria-label" in given:
        return given["aria-label"]
    root = node.parser.root
    told = [root.css_first(f"[id='{one}']").text() for one in given["aria-labelledby"].split()]
    return " ".join(" ".join(told).split())


def repeated(names: Iterable[str]) -> list[str]:
    """Those that stand more than once."""
    return [name for name, times in Counter(names).items() if times > 1]


def check_usable(tree: LexborHTMLParser) -> None:
    """The page can be used without eyes or mouse, as far as its markup tells."""
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert repeated(ids) == []
    for link in tree.css("a"):
        href = link.attributes["href"]
        assert not href.startswith("#") or href[1:] in ids
    assert tree.css_first("body a").attributes["href"] == "#content"
    assert tree.css_first("html").attributes["lang"] == "en"
    levels = [int(node.tag[1]) for node in tree.css("h1, h2, h3, h4, h5, h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    for table in tree.css("table"):
        assert table.css_first("caption").text()
        box = table.parent.attributes
        assert box.get("tabindex") == "0" or "explorer" in box["class"]
    for parts in LANDMARKS:
        assert repeated(map(name_of, tree.css(parts))) == []
    for head in tree.css("th"):
        assert head.attributes["scope"] in ("col", "row", "colgroup", "rowgroup")
    for field in tree.css("input, select"):
        assert field.parent.tag == "label" and field.parent.text().strip()
    for drawing in tree.css("svg, .chart"):
        assert drawing.attributes["role"] == "img"
        assert drawing.attributes["aria-label"]
    for spec in charts(tree, "body"):  # each says what its bands and intervals are
        drawn = [row for row in spec["data"]["values"] if row.keys() & {"value", "y"}]
        for end, words in (("band_low", "Grey band: "), ("low", "Line: ")):
            assert words in spec["description"] or not any(end in row for row in drawn)
    assert repeated(one.attributes["aria-label"] for one in tree.css(".chart")) == []


def check_no_request(tree: LexborHTMLParser) -> None:
    """Nothing of the page (of `parse`) is fetched, and its links stay in the results."""
    for node in tree.css("*"):
        for name, value in node.attributes.items():
            assert name not in ("src", "srcset", "action", "data", "poster", "background")
            assert name != "xlink:href"
            if name == "href":
                assert node.tag == "a"
                assert LINK.fullmatch(value), value
    for word in ("url(", "@import", "http://", "https://"):
        assert word not in tree.html


def check_columns(tree: LexborHTMLParser) -> None:
    """All rows of a table have the same width."""
    for table in tree.css("table"):
        cells = [row.css("th, td") for row in table.css("tbody tr")]
        widths = {sum(int(c.attributes.get("colspan", 1)) for c in row) for row in cells}
        assert len(widths) < 2, table.css_first("caption").text()


def as_text(tree: LexborHTMLParser) -> str:
    """What a page shows, a line for each part: words, tooltips, links, the data of figures."""
    lines, words = [], []

    def end() -> None:
        line = " ".join(" ".join(words).split())
        if line:
            lines.append(line)
        words.clear()

    def read(node: Any) -> None:
        if node.tag == "-text":
            words.append(node.text_content)
        elif node.tag == "script":
            if "chart" in node.parent.attributes.get("class", ""):
                lines.extend(_figure(json.loads(node.text())))
        elif not node.tag.startswith(("-", "_")) and node.tag != "style":
            block = node.tag not in INLINE
            if block:
                end()
            if node.tag in ("td", "th"):
                words.append("|")
            told = {key: node.attributes.get(key) for key in TOLD}
            words.extend(f"{{{key} {value}}}" for key, value in told.items() if value)
            for child in node.iter(include_text=True):
                read(child)
            if block:
                end()

    read(tree.css_first("title"))
    read(tree.css_first("main"))
    return "\n".join(lines) + "\n"


def _figure(spec: dict[str, Any]) -> Iterable[str]:
    """The form of a figure, and a line for each row of its data."""
    rows = []

    def taken(layer: Any) -> Any:
        if isinstance(layer, list):
            return [taken(one) for one in layer]
        if not isinstance(layer, dict):
            return layer
        if "values" in layer.get("data", {}):
            rows.extend(layer["data"]["values"])
        return {key: taken(one) for key, one in layer.items() if key not in ("data", "config")}

    yield "figure " + json.dumps(taken(spec), ensure_ascii=False, sort_keys=True)
    yield f"{len(rows)} rows"
    for row in rows[:: len(rows) // SHOWN + 1]:
        yield "  " + json.dumps(row, ensure_ascii=False)


def check_same_twice(write: Callable, given: dict[str, Any], folder: Path) -> None:
    """A page and the tables beside it are the same twice, and the stage tells the page's size."""
    made = []
    for name in ("first", "second"):
        outputs = {"out": folder / name / "page.html", "tables_out": folder / name / "tables"}
        record = stage.execute(write, given | outputs)
        assert record["counts"]["bytes"] == outputs["out"].stat().st_size
        made.append([output["sha256"] for output in record["outputs"].values()])
    assert made[0] == made[1]


def check_downloads(tree: LexborHTMLParser, results: Path, folders: set[str]) -> None:
    """Each table that the page (of `parse`) offers is among the results, in all three forms."""
    files = [
        path
        for name in ("tables", *folders)
        for path in (results / name).rglob("*")
        if path.suffix in (".csv", ".json")
    ]
    known = {stem(file.relative_to(results).as_posix()) for file in files}
    links = [link.attributes["href"] for link in tree.css(".downloads a[download]")]
    assert links
    offered = {link.removeprefix("tables/").rsplit(".", 1)[0] for link in links}
    assert offered <= known, offered - known
    assert set(links) == {
        f"tables/{one}.{form}" for one in offered for form in ("csv", "tex", "md")
    }


def headline_of(system):
    """The function that gives the headline of a system, for files and titles."""
    module = importlib.import_module(f"evenhand.report.headlines.{system}")
    return lambda files, titles: module.describe(Study(files, titles))
