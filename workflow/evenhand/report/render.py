"""From templates and values to a page: everything that is a value is escaped, whatever it holds."""

import math
import re
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from evenhand.errors import InputError

#: Control characters have no glyph and end up invisible or break the markup: pictures stand for
#: them. Tab and line feed are white space and stay.
_CONTROLS = {c: 0x2400 + c for c in range(0x20) if c not in (0x09, 0x0A)} | {0x7F: 0x2421}
_CONTROLS |= dict.fromkeys(range(128, 160), 65533)

#: Stands where there is no value.
NOTHING = "–"


def environment(templates: list[Path]) -> Environment:
    """The template engine over these files, which know each other by their names.

    Values are escaped (also inside attributes), control characters are made visible, a
    missing value shows as a dash, and a name that no one has set is an error.

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
    engine = Environment(
        loader=DictLoader(texts),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    engine.filters |= {
        "count": count,
        "percent": percent,
        "decimal": decimal,
        "signed": signed,
        "size": size,
        "breakable": breakable,
        "short": short,
        "slug": slug,
    }
    return engine


def visible(text: str) -> str:
    """The text with a visible sign for each control character."""
    return text.translate(_CONTROLS)


def count(value: int | None) -> str:
    """A number of things: ``12,345``."""
    return NOTHING if value is None else f"{value:,}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share (0 to 1) in percent: ``12.3 %``; a share too small to show is not shown as none."""
    if _missing(value):
        return NOTHING
    least = 10**-digits
    if 0 < value * 100 < least / 2:
        return f"< {least:.{digits}f}\u00a0%"
    return f"{value * 100:.{digits}f}\u00a0%"


def decimal(value: float | None, digits: int = 3) -> str:
    """A decimal with a true minus sign: ``−0.123``."""
    if _missing(value):
        return NOTHING
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", "−")


def signed(value: float | None, digits: int = 3) -> str:
    """A decimal that always shows its sign: ``+0.123``."""
    text = decimal(value, digits)
    return text if text == NOTHING or text.startswith("−") or not float(text) else f"+{text}"


def size(value: int | None) -> str:
    """Bytes in decimal units: ``1.2 MB``."""
    if value is None:
        return NOTHING
    amount = float(value)
    for unit in ("B", "kB", "MB"):
        if amount < 999.5:
            return f"{amount:.0f}\u00a0{unit}" if unit == "B" else f"{amount:.1f}\u00a0{unit}"
        amount /= 1000
    return f"{amount:.1f}\u00a0GB"


def short(digest: str | None) -> str:
    """The head of a checksum: enough to tell two apart by eye."""
    return NOTHING if digest is None else digest[:12]


def breakable(text: str) -> Markup:
    """A path, escaped, that may break into lines after its slashes."""
    return Markup("/<wbr>").join(visible(text).split("/"))


def slug(text: str) -> str:
    """A text as the id of an element: other characters than letters and digits become hyphens."""
    return re.sub(r"\W+", "-", text).strip("-").lower() or "x"


def _missing(value: float | None) -> bool:
    return value is None or not math.isfinite(value)


def _finalize(value: Any) -> Any:
    if value is None:
        return NOTHING
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value
