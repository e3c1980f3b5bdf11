"""The page docs/config.md, made from the schema of the configuration."""

import sys
from collections.abc import Iterator
from typing import Any

import yaml

from evenhand.core.config import LIMITS, Schema, read_schema
from evenhand.core.places import SCHEMA

HEAD = """# Configuration

Made from `workflow/schemas/config.schema.yaml` by `make docs`; do not edit it here.

A configuration is a YAML file: `snakemake --configfile my.yaml --cores 2`. A key that is left
out takes its default. An unknown key or a value that is not allowed stops the run before any
job. `NAME` stands for a name of your choice.

| key | meaning | type | default | unit |
|---|---|---|---|---|
"""


def reference(schema: Schema) -> str:
    """Return the whole page as Markdown."""
    rows = ("| " + " | ".join(row) + " |\n" for row in _rows(schema, ""))
    return HEAD + "".join(rows)


def _rows(schema: Schema, prefix: str) -> Iterator[tuple[str, str, str, str, str]]:
    parts = dict(schema.get("properties", {}))
    if isinstance(schema.get("additionalProperties"), dict):
        parts["NAME"] = schema["additionalProperties"]
    if "properties" in schema.get("items", {}):
        parts["N"] = {"type": "object", "description": "One of them."} | schema["items"]
    for name, part in parts.items():
        key = f"{prefix}{name}"
        mapping = part.get("type") == "object" and not part.get("default")
        default = "" if name == "NAME" or mapping else _plain(part)
        yield (
            f"`{key}`",
            f"{part['description']}{_limits(part)}".replace("|", "\\|"),
            _kind(part),
            default,
            part.get("unit", ""),
        )
        if part.get("in_reference", True):
            yield from _rows(part, f"{key}.")


def _limits(part: dict[str, Any]) -> str:
    """Return the conditions under which a key has an effect."""
    if part.get("effect") == "none":
        return " Changing it reruns nothing."
    needs = part.get("only_for", [])
    ways = [
        " and ".join(_need(place, values) for place, values in need.items())
        for need in (needs if isinstance(needs, list) else [needs])
    ]
    return f" Only with {', or with '.join(ways)}." if ways else ""


def _need(place: str, values: Any) -> str:
    if values == "any":
        return f"`{place}`"
    return f"`{place}`: {' or '.join(f'`{_value(value)}`' for value in values)}"


def _value(value: Any) -> str:
    return "null" if value is None else str(value)


def _plain(part: dict[str, Any]) -> str:
    if "default" not in part:
        return "none"
    text = yaml.safe_dump(part["default"], default_flow_style=True, allow_unicode=True)
    return f"`{text.removesuffix('...' + chr(10)).strip()}`"


def _kind(part: dict[str, Any]) -> str:
    if "enum" in part:
        return " or ".join(f"`{_value(value)}`" for value in part["enum"])
    kinds = part["type"] if isinstance(part["type"], list) else [part["type"]]
    titles = {"array": "list", "object": "mapping", "string": "text"}
    text = " or ".join(titles.get(kind, kind) for kind in kinds)
    items = part.get("items", {})
    if "enum" in items:
        text += " of " + ", ".join(f"`{value}`" for value in items["enum"])
    bounds = [words.format(part[bound]) for bound, words in LIMITS.items() if bound in part]
    return ", ".join([text, *bounds])


if __name__ == "__main__":
    sys.stdout.write(reference(read_schema(SCHEMA)))
