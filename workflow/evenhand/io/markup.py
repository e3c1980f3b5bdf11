"""Extract text from HTML and Markdown.

HTML documents go through a browser's parser. Markdown is not parsed but cleaned by patterns,
line by line: its marks are regular, so are the HTML tags that CommonMark allows inside it, and
every line keeps its number.
"""

import re
from collections import Counter
from html import unescape

from evenhand.core.limits import HTML_ATTRIBUTES, HTML_DEPTH, LimitError

#: A paragraph border inside a line (`str.splitlines` splits there).
BORDER = "\u2029"

#: Characters up to which HTML is parsed unseen: no nesting of so few takes long.
_SMALL = 20_000

#: Elements whose content is no text of the page.
NO_TEXT = ("script", "style", "template", "noscript", "head", "svg", "math", "iframe", "object")

#: Block elements: separate paragraphs.
BLOCKS = frozenset(
    re.findall(
        "[a-z0-9]+",
        """address article aside blockquote body br caption center dd details dialog div dl dt
        fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li
        main nav ol option p pre section select summary table tbody td textarea tfoot th thead
        tr ul""",
    )
)


#: Elements that end without an end tag, or have none.
_OPEN_ENDED = frozenset(
    re.findall(
        "[a-z]+",
        """area base body br caption col colgroup dd dt embed head hr html img input li link meta
        option optgroup p param rp rt source tbody td tfoot th thead tr track wbr""",
    )
)
_ATTRIBUTE = re.compile(r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*"|'[^']*'|[^\s>]*))?""")
_START_OR_END = re.compile(rf"<(/?)([A-Za-z][^\s/>]*+)((?:{_ATTRIBUTE.pattern})*+)")


def strip_html(document: str) -> str:
    """Return the text of an HTML document or fragment, one paragraph per line.

    Tags, comments and the elements of `NO_TEXT` are removed, and entities decoded; the tags of
    `BLOCKS` are paragraph borders, line ends of the source are blanks.

    Raises
    ------
    LimitError
        It is nested deeper than `HTML_DEPTH`, or an element has more than `HTML_ATTRIBUTES`.
    """
    if len(document) > _SMALL:
        _check_html(document)
    from selectolax.lexbor import LexborHTMLParser

    parser = LexborHTMLParser(re.sub(r"[\r\n]+", " ", document))
    parser.strip_tags(list(NO_TEXT), recursive=True)
    body = parser.body
    if body is None:
        return ""
    for node in body.css(",".join(sorted(BLOCKS))):
        node.insert_before("\n")
        node.insert_after("\n")
    return body.text(deep=True, separator="")


def _check_html(document: str) -> None:
    """Refuse documents that a browser's parser takes more than linear time for."""
    depth = 0
    opened: Counter[str] = Counter()
    for tag in _START_OR_END.finditer(document):
        name = tag[2].lower()
        if len(tag[3]) > HTML_ATTRIBUTES and len(_ATTRIBUTE.findall(tag[3])) > HTML_ATTRIBUTES:
            raise LimitError("too_deep", f"an element with more than {HTML_ATTRIBUTES} attributes")
        if name in _OPEN_ENDED or (tag[1] and not opened[name]):
            continue
        step = -1 if tag[1] else 1
        opened[name] += step
        depth += step
        if depth > HTML_DEPTH:
            raise LimitError("too_deep", f"elements nested deeper than {HTML_DEPTH} levels")


# --- Markdown ------------------------------------------------------------------------------

# HTML as CommonMark has it (section 6.6).
_DROPPED = re.compile(rf"<!--|<({'|'.join(NO_TEXT)})\b[^<>]*>", re.IGNORECASE)
_END_OF_DROPPED = {"": re.compile("-->")} | {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in NO_TEXT
}
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)(?:[\s/][^<>]*)?>|<[a-z+.-]{2,30}:[^\s<>]*>")
_ENTITY = re.compile(r"&#?[0-9A-Za-z]{1,40};")

# Marks at the beginning of a line (CommonMark sections 4 and 5, tables of GFM 4.10). Each
# pattern begins with the line feed before it: `re` finds a literal much faster than a ^. No
# pattern may scan the same long run of blanks or marks repeatedly.
_WHOLE_LINES = re.compile(
    r"\n[ \t]*+(?:"
    r"(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*"  # rules and underlines
    r"|(?:```|~~~).*"  # fences
    r"|\[[^\]\n]+\]:[ \t]*\S+.*"  # where a link's reference leads
    r"|\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*"  # below a table's head
    r")(?=\n|\Z)"
)
_TABLE_ROW = re.compile(r"\n[ \t]*\|.*")
_LINE_MARKS = re.compile(
    r"\n[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]*)*(?:#{1,6}(?=[ \t\n])[ \t]*)?"
)
_CLOSING_HASHES = re.compile(r"[ \t]#+[ \t]*(?=\n|\Z)")

# Marks inside a line (CommonMark section 6).
_END_OF_IMAGE = re.compile(r"\](?:\([^()\n]*\)|\[[^\]\n]*\])")
_LINK = re.compile(
    r"(?<!\\)\[([^\[\]\n]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\[\]\n]*\])"
)
_TICKS = re.compile(r"`+")
_STARS = re.compile(r"(?<!\\)(\*{1,3})(?![\s*])([^*\n]*[^\s*\\])\1")
_UNDERSCORES = re.compile(r"(?<![\w\\])(_{1,3})(?![\s_])([^_\n]*[^\s_\\])\1(?!\w)")
_STRIKE = re.compile(r"~~(?=\S)([^~\n]*\S)~~")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def strip_markdown(text: str) -> str:
    """Markdown, also with HTML inside, as plain text with the same number of lines.

    Marks of headings, lists, quotes, tables, emphasis and code are removed; of a link its text
    stays, of an image nothing. `BORDER` marks the paragraph borders that HTML tags and
    table cells set inside a line.
    """
    if "<" in text:
        text = _TAG.sub(_replace_tag, _drop(text))
    text = _WHOLE_LINES.sub("\n", "\n" + text)
    text = _LINE_MARKS.sub("\n", text)
    if "#" in text:
        text = _CLOSING_HASHES.sub("", text)
    if "|" in text:
        text = _TABLE_ROW.sub(_split_cells, text)
    if "]" in text:
        text = _LINK.sub(r"\1", _drop_images(text))
    if "`" in text:
        text = "\n".join(_strip_code(line) if "`" in line else line for line in text.split("\n"))
    if "*" in text:
        text = _STARS.sub(r"\2", _STARS.sub(r"\2", text))
    if "_" in text:
        text = _UNDERSCORES.sub(r"\2", text)
    if "~~" in text:
        text = _STRIKE.sub(r"\1", text)
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    if "&" in text:
        text = _ENTITY.sub(_decode_entity, text)
    return text[1:]


def _drop(text: str) -> str:
    """Remove comments and the elements of `NO_TEXT`, but not their line ends.

    Each end is searched once for all beginnings before it, so that many beginnings
    without an end take no more time than one.
    """
    pieces = []
    at = 0
    endless = set()
    for beginning in _DROPPED.finditer(text):
        name = (beginning[1] or "").lower()
        if beginning.start() < at or name in endless:
            continue
        end = _END_OF_DROPPED[name].search(text, beginning.end())
        if end is None:
            endless.add(name)
            continue
        pieces.append(text[at : beginning.start()])
        pieces.append("\n" * text.count("\n", beginning.start(), end.end()))
        at = end.end()
    return "".join(pieces) + text[at:]


def _drop_images(text: str) -> str:
    """Remove ``![alt](address)`` and ``![alt][reference]``.

    Their ends are looked for, and the first beginning since the bracket before: many beginnings
    of one end take no more time than one.
    """
    pieces = []
    at = search = 0
    while end := _END_OF_IMAGE.search(text, search):
        since = max(at, *(text.rfind(mark, at, end.start()) + 1 for mark in "]\n"))
        begin = text.find("![", since, end.start())
        if begin < 0:
            search = end.start() + 1
            continue
        pieces.append(text[at:begin])
        at = search = end.end()
    return "".join(pieces) + text[at:]


def _strip_code(line: str) -> str:
    """Remove the backticks around code: runs of one length, or the end of a longer first run."""
    runs = [match.span() for match in _TICKS.finditer(line)]
    by_length: dict[int, list[int]] = {}
    for place in range(len(runs) - 1, -1, -1):  # the next one of a length comes last
        by_length.setdefault(runs[place][1] - runs[place][0], []).append(place)
    pieces = []
    at = place = 0
    while place < len(runs):
        begin, end = runs[place]
        for length in range(end - begin, 0, -1):
            later = by_length.get(length, [])
            while later and later[-1] <= place:
                later.pop()
            if later:
                place = later[-1]
                pieces += [line[at : end - length], line[end : runs[place][0]]]
                at = runs[place][1]
                break
        place += 1
    return "".join(pieces) + line[at:]


def _replace_tag(match: re.Match[str]) -> str:
    name = match[1]
    tag = match.group()
    ends = "\n" * tag.count("\n") if "\n" in tag else ""
    return ends or (BORDER if name and name.lower() in BLOCKS else "")


def _split_cells(match: re.Match[str]) -> str:
    return match.group().replace("|", BORDER)


def _decode_entity(match: re.Match[str]) -> str:
    return unescape(match.group()).replace("\n", " ")
