"""Render pages from templates and values; every value is escaped."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from evenhand.core import decimals
from evenhand.core.decimals import fixed, missing
from evenhand.core.rows import grouped, where
from evenhand.errors import InputError
from evenhand.report.page_list import BESIDE, DRAWING, NOTICE, links_to_pages
from evenhand.text.catalogue import verdict_words

if TYPE_CHECKING:
    from altair import LayerChart

#: Control characters have no glyph: they are invisible or break the markup, so symbols replace
#: them. Tab and line feed are white space and stay.
_CONTROLS = {c: 0x2400 + c for c in range(0x20) if c not in (0x09, 0x0A)} | {0x7F: 0x2421}
_CONTROLS |= dict.fromkeys(range(128, 160), 65533)

#: In a name of a group or a label, as FairLex has it.
_AT_BORDER = re.compile(r"(?<!\S)[<>]=(?=\d)")

#: Marks that turn the writing direction of all that follows them, beyond a value's own end.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")

#: A table that sorts: it needs DataTables.
SORTABLE = re.compile(r"""<table\b[^>]*\bclass=["'][^"']*\bsortable\b""")

#: A sortable table of more rows gives them to `page.js` as text, and shows the first ones of them
#: without a script.
MANY_ROWS = 500
FIRST_ROWS = 100

#: The body of a table: its rows, each with its end.
_BODY = re.compile(r"<tbody>\s*(<tr\b.*</tr>)\s*</tbody>", re.DOTALL)

#: A heading with its content, by level.
_HEADINGS = {n: re.compile(rf"(<h{n}\b.*?</h{n}>)", re.DOTALL) for n in (2, 3, 4)}

#: A figure: it needs Vega.
CHART = re.compile(r"""<div\b[^>]*\bclass=["']chart["']""")

#: The text for a missing value.
NOTHING = "–"


class Parted(NamedTuple):
    """The content of a table; all its rows, if it has only the first ones; and their numbers."""

    content: Markup
    kept: Markup = Markup("")
    rows: int = 0
    first: int = 0


def environment(templates: list[Path]) -> Environment:
    """Return the template engine for these files, which include each other by name.

    Values are escaped (also inside attributes), control characters are made visible, a
    missing value shows as a dash, and an undefined name is an error.

    Raises
    ------
    InputError
        Two templates have the same name.
    """
    texts: dict[str, str] = {}
    for path in templates:
        if path.name in texts:
            raise InputError("two templates have this name", file=path)
        texts[path.name] = path.read_text(encoding="utf-8")
    return _engine(tuple(texts.items()))


@cache  # many pages may be written by one process
def _engine(named: tuple[tuple[str, str], ...]) -> Environment:
    texts = dict(named)
    engine = Environment(
        loader=DictLoader(texts),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    formats = (count, plural, percent, decimal, signed, size, span, p_value, in_words)
    texts_of = (breakable, fold, short, slug, stem, where)
    engine.filters |= {function.__name__: function for function in (*formats, *texts_of)} | {
        "json": as_json,
        "chart": as_chart,
        "by": grouped,
        "verdict": lambda name: verdict_words(name) or in_words(name),
    }
    engine.globals |= {
        "scripts_of": partial(scripts_of, texts),
        "part_rows": part_rows,
        "notice": texts.get(NOTICE, ""),
    }
    return engine


def render_page(
    page: str,
    values: Mapping[str, Any],
    out: Path,
    templates: list[Path],
    pages: list[str] | None = None,
) -> int:
    """Fill the template of a page with values, write it, and return its number of bytes.

    Marks that turn the writing direction are replaced by ``�``.

    Parameters
    ----------
    page : str
        Its key in `evenhand.report.page_list.PAGES`, which is also the name of its template.
    values : mapping
        The values of the template.
    out : path
        The page, HTML.
    templates : list of path
        The files of ``evenhand/report/templates``.
    pages : list of str or None
        The pages that the masthead links to; see `links_to_pages`.
    """
    template = environment(templates).get_template(f"{page}.html")
    html = template.render(values, pages=links_to_pages(page, pages))
    written = _TURNING.sub("\ufffd", html).encode()
    Path(out).write_bytes(written)
    return len(written)


def scripts_of(texts: dict[str, str], body: str, page_scripts: list[str]) -> list[dict[str, Any]]:
    """Return the scripts of a page, in the order in which they run.

    Parameters
    ----------
    texts : dict of str
        All templates by name; the scripts are among them.
    body : str
        The page's content. A table of class ``sortable`` adds DataTables; a figure adds Vega, from
        the file beside the pages unless the templates contain it.
    page_scripts : list of str
        The page's scripts besides ``page.js``.

    Returns
    -------
    list of dict
        text, digest (as the Content-Security-Policy has it) and licence (or nothing) of each;
        ``src`` alone for a file beside the page.

    Raises
    ------
    ValueError
        A script would end its element, or a parser would change it.
    """
    tables = "datatables.min.js"
    names = [tables] if tables in page_scripts or SORTABLE.search(body) else []
    names += ["page.js", *(name for name in page_scripts if name != tables)]
    if CHART.search(body):
        names += [*(DRAWING if texts.keys() >= DRAWING.keys() else [BESIDE]), "figures.js"]
    scripts = []
    for name in names:
        if name == BESIDE:
            scripts.append({"src": BESIDE})
            continue
        text = texts[name]
        if re.search(r"</script|<!--|\r|\0", text, re.IGNORECASE):
            raise ValueError(f"{name} cannot stand inside a page")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        licence = texts.get(f"{name.partition('.')[0]}.license.txt", "")
        if "--" in licence:
            raise ValueError(f"the licence of {name} cannot stand in a comment")
        script = {"text": Markup(text), "digest": f"sha256-{digest}", "licence": Markup(licence)}
        scripts.append(script)
    return scripts


def part_rows(content: str, sortable: bool = True) -> Parted:
    """Return the content of a table, without most of its rows if there are many.

    A browser needs a second to lay out 20,000 rows, and next to nothing for the same rows as text
    in an element that it does not parse.

    Parameters
    ----------
    content : str
        Head, body and foot.
    sortable : bool
        Whether `page.js` makes the table sortable; other tables stay whole.

    Returns
    -------
    Parted
        With more than `MANY_ROWS` rows, ``content`` has the first `FIRST_ROWS` of them and
        ``kept`` has all. A table stays whole if it has several bodies, or cells that span rows or
        contain tables or scripts.
    """
    content = str(content)  # Markup would escape text joined to it
    whole = Parted(Markup(content))
    match = _BODY.search(content) if sortable else None
    if not match:
        return whole
    body = match[1]
    rows = body.count("</tr>")
    apart = re.search(r"<(table|tbody|script)\b|<!--|\srowspan=", body, re.IGNORECASE)
    if rows <= MANY_ROWS or apart or len(re.findall(r"<tr\b", body)) != rows:
        return whole
    first = "".join(f"{row}</tr>" for row in body.split("</tr>", FIRST_ROWS)[:FIRST_ROWS])
    start, end = match.span(1)
    return Parted(Markup(content[:start] + first + content[end:]), Markup(body), rows, FIRST_ROWS)


def fold(content: str, level: int) -> Markup:
    """Fold the content after each heading of a level: it is hidden until a click.

    Content before the first of them stays visible. All headings of the level must have the same
    parent element.
    """
    before, *parts = _HEADINGS[level].split(str(content))
    folded = (
        f'<details class="printed fold"><summary>{heading}</summary>\n{below}</details>\n'
        for heading, below in zip(parts[::2], parts[1::2], strict=True)
    )
    return Markup(before + "".join(folded))


def visible(text: str) -> str:
    """Return the text with a visible sign for each control character."""
    return text.translate(_CONTROLS)


def readable(text: str) -> str:
    """Return the visible text with ``≤35`` for ``<=35``; explorers keep such names, as links do."""
    return visible(_AT_BORDER.sub(lambda sign: "≤" if sign[0] == "<=" else "≥", text))


def count(value: int | None) -> str:
    """Return a count with thousands separators: ``12,345``."""
    return NOTHING if value is None else f"{value:,}"


def plural(n: int | None, noun: str, nouns: str | None = None) -> str:
    """Return a count with its noun: ``1 model``, ``2 models``."""
    return f"{count(n)} {noun if n == 1 else nouns or noun + 's'}"


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share (0 to 1) in percent: ``12.3 %``; a tiny share does not become zero."""
    if missing(value):
        return NOTHING
    least = 10**-digits
    if 0 < value * 100 < least / 2:
        return f"< {least:.{digits}f}\u00a0%"
    return f"{fixed(value * 100, digits)}\u00a0%"


def decimal(value: float | None, digits: int = 3) -> str:
    """Return a decimal with a true minus sign: ``−0.123``."""
    return NOTHING if missing(value) else fixed(value, digits)


def signed(value: float | None, digits: int = 3) -> str:
    """Return a decimal that always has a sign: ``+0.123``."""
    return NOTHING if missing(value) else fixed(value, digits, signs=True)


def number(value: float, *, signs: bool = False) -> str:
    """Return a round number, such as a tick of an axis, with at most two decimals."""
    digits = 0 if value == round(value) else 1 if value * 10 == round(value * 10) else 2
    return signed(value, digits) if signs else f"{value:,.{digits}f}".replace("-", "−")


def interval(low: float | None, high: float | None, digits: int = 1) -> str | None:
    """``53.2 to 66.0``; None without both ends."""
    if low is None or high is None:
        return None
    return f"{fixed(low, digits)} to {fixed(high, digits)}"


def span(
    row: Mapping[str, Any], name: str, digits: int = 1, *, scale: float = 1, signs: bool = False
) -> str | None:
    """Return the `interval` of a number of a row, times `scale`; None without both ends."""
    ends = [row[f"{name}_{end}"] for end in ("low", "high")]
    if None in ends:
        return None
    if signs:
        return " to ".join(signed(end, digits) for end in ends)
    return interval(*(end * scale for end in ends), digits)


def p_value(value: float | None) -> str | None:
    """Return a p-value as text: ``0.034``, ``0.0504``, ``< 0.001``; None without one."""
    if missing(value):
        return None
    return "< 0.001" if value < 0.0005 else decimals.p_value(value, 3, "f")


def in_words(word: str | None) -> str | None:
    """Return a code of a table without its underscores."""
    return word and word.replace("_", " ")


def size(value: int | None) -> str:
    """Return a number of bytes in decimal units: ``1.2 MB``."""
    if value is None:
        return NOTHING
    amount = float(value)
    for unit in ("B", "kB", "MB"):
        if amount < 999.5:
            return f"{amount:.0f}\u00a0{unit}" if unit == "B" else f"{amount:.1f}\u00a0{unit}"
        amount /= 1000
    return f"{amount:.1f}\u00a0GB"


def short(digest: str | None) -> str:
    """Return the first characters of a checksum, enough to distinguish two by eye."""
    return NOTHING if digest is None else digest[:12]


def breakable(text: str) -> Markup:
    """Return a path, escaped, that may break into lines after its slashes."""
    return Markup("/<wbr>").join(visible(text).split("/"))


class UniqueIds:
    """Unique element ids: the second of a name gets a number."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def give(self, name: str) -> str:
        """Return the name, or with a number if it was given before."""
        self.counts[name] += 1
        return name if self.counts[name] == 1 else self.give(f"{name}-{self.counts[name]}")


def slug(text: str) -> str:
    """Return a text as an element id: characters other than letters and digits become hyphens."""
    return re.sub(r"\W+", "-", text).strip("-").lower() or "x"


def stem(file: str) -> str:
    """Return the file name, without suffix, of the copies of a result table.

    ``slguset_published/problems.csv`` is slguset_published_problems; tables of ``tables/`` keep
    their names, and a folder of a folder of the same name is named once.
    """
    parts = file.removeprefix("tables/").rsplit(".", 1)[0].split("/")
    return "_".join(part for part, _ in groupby(parts))


def as_json(value: Any) -> Markup:
    """Return a value as JSON that is safe in a script element: it cannot end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


#: The alternative text of a figure names its values up to this number.
MOST_WORDS = 24


def as_chart(chart: "LayerChart", of: Iterable[str] = ()) -> Markup:
    """Return a chart of `evenhand.report.figures` as the element that ``figures.js`` draws.

    The element reserves the height of the plot area and of an axis. The title begins with the
    names in `of`, where the page has several such figures. The alternative text has the values of
    a figure with few of them. The key of its lines and bands is below it.
    """
    spec = chart.to_dict(validate=False)  # which the tests do
    del spec["$schema"], spec["config"]  # an address, and sizes
    if of := ", ".join(of):
        spec["description"] = f"{visible(of)}: {spec['description']}"
    words = [row["words"] for row in spec["data"]["values"] if "words" in row]
    label = "; ".join([spec["description"], *(words if len(words) <= MOST_WORDS else [])])
    style = f"min-height: {spec['height'] + 45}px"
    if widest := spec["usermeta"]["widest"]:
        style += f"; max-width: {widest}px"
    key = spec["usermeta"].get("key")
    drawn = Markup(
        '<div class="chart" role="img" aria-label="{}" style="{}"><script type="application/json">'
        "{}</script></div>"
    ).format(label, style, as_json(spec))
    return drawn + Markup('<p class="small">{}</p>').format(key) if key else drawn


def _finalize(value: Any) -> Any:
    if value is None:
        return NOTHING
    if isinstance(value, str) and not isinstance(value, Markup):
        return readable(value)
    return value
