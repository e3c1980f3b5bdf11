"""Headlines as text, which `tests/expected/headlines` keeps."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from evenhand.report.headline import Headline, Verdicts
from expected import check_expected

#: What is kept of each row of a figure.
DRAWN = ("name", "kind", "value", "low", "high", "band_low", "band_high")


def check_kept(name: str, headlines: Mapping[str, Headline], *lines: str) -> None:
    """Compare all that these headlines hold, and further lines, with what is kept."""
    text = [line for title, one in headlines.items() for line in (f"## {title}", *_told(one))]
    check_expected(f"headlines/{name}.txt", "\n".join([*text, *lines]) + "\n")


def _told(found: Headline) -> Iterator[str]:
    for field in fields(found):
        value = getattr(found, field.name)
        if field.name == "figure":
            rows = value.to_dict()["data"]["values"] if value else []
            value = [" ".join(f"{row[key]}" for key in DRAWN if key in row) for row in rows]
        for one in value if isinstance(value, list | tuple) else [value] * bool(value):
            yield f"{field.name}: {_said(one)}"
    yield f"line: {found.line}"


def _said(one: Any) -> str:
    words = f"{one.name}: {dict(one.counts)} {one.note}" if isinstance(one, Verdicts) else one
    return " ".join([str(words), *getattr(one, "files", ())])
