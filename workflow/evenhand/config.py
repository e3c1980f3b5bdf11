"""The configuration: checked against its schema before any job, with errors that help.

The schema (`workflow/schemas/config.schema.yaml`) is the one place that describes a key:
its meaning, type, unit, default and allowed values. `docs/config.md` is made from it.
"""

import difflib
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from evenhand.errors import InputError

Schema = dict[str, Any]


def read_schema(path: Path) -> Schema:
    """Read the schema (JSON Schema 2020-12, written as YAML)."""
    # every job on a cluster reads it twice, and libyaml takes a tenth of the time
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)


def complete(config: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """The configuration with every default filled in, valid against the schema.

    Parameters
    ----------
    config : dict
        What the user wrote. It is not changed.
    schema : dict
        See `read_schema`.

    Returns
    -------
    dict
        A new dict; each mapping has its keys in the schema's order, free names sorted.

    Raises
    ------
    InputError
        A key is unknown (the nearest known one is suggested) or missing, or a value is not
        allowed (the allowed ones are named). All faults are told, one a line.
    """
    validator = jsonschema.Draft202012Validator(schema)
    faults = sorted(_nameless(config)) or sorted(
        {fault for error in validator.iter_errors(config) for fault in _explain(error)}
    )
    if faults:
        raise InputError("\n".join(faults), remedy="every key is explained in docs/config.md")
    return _fill(config, schema)


def _nameless(value: Any, where: str = "") -> Iterator[str]:
    """Faults of keys that YAML does not read as text, such as 1998 and no."""
    if isinstance(value, dict):
        for key, part in value.items():
            place = f"{where}.{key}".lstrip(".")
            if not isinstance(key, str):
                yield f"config: the key {place} is read as {key!r}; put its name into quotes"
            yield from _nameless(part, place)
    elif isinstance(value, list):
        for position, part in enumerate(value):
            yield from _nameless(part, f"{where}.{position}")


def _fill(value: Any, schema: Schema) -> Any:
    if isinstance(value, dict) and schema.get("type") in ("object", ["object", "null"]):
        known = schema.get("properties", {})
        filled = {}
        for key, part in known.items():
            if key in value:
                filled[key] = _fill(value[key], part)
            elif "default" in part:
                filled[key] = _fill(part["default"], part)
        free = schema.get("additionalProperties")
        for key in sorted(set(value) - set(known)):
            filled[key] = _fill(value[key], free) if isinstance(free, dict) else value[key]
        return filled
    if isinstance(value, list):
        return [_fill(one, schema.get("items", {})) for one in value]
    if isinstance(value, float) and schema.get("type") == "integer":
        return int(value)  # 3.0 is a whole number
    return value


def _explain(error: jsonschema.ValidationError) -> Iterator[str]:
    """One short sentence (or several) on what is wrong with a key."""
    where = ".".join(str(step) for step in error.absolute_path)
    is_what = f"config: {where or 'the configuration'} is {_shown(error.instance)}"
    if "propertyNames" in error.absolute_schema_path:
        form = _expectation(error.schema)
        yield f"config: {where}.{error.instance} is no name; it must be {form}"
    elif error.validator == "additionalProperties" and not error.validator_value:
        known = sorted(error.schema.get("properties", {}))
        for key in sorted(set(error.instance) - set(known)):
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
            hint = f", did you mean {near[0]}?" if near else f" (the keys are {', '.join(known)})"
            yield f"config: there is no key {f'{where}.{key}'.lstrip('.')}{hint}"
    elif error.validator == "enum":
        allowed = [_shown(value).strip('"') for value in error.validator_value]
        near = difflib.get_close_matches(str(error.instance), allowed, n=1)
        hint = f", did you mean {near[0]}?" if near else ""
        yield f"{is_what}; allowed are {', '.join(allowed)}{hint}"
    elif error.validator in ("minProperties", "maxProperties") and "properties" in error.schema:
        least, most = error.schema.get("minProperties"), error.schema.get("maxProperties")
        words = {"minProperties": f"at least {least}", "maxProperties": f"at most {most}"}
        count = f"exactly {least}" if least == most else words[error.validator]
        keys = ", ".join(error.schema["properties"])
        yield f"config: {where} must have {count} of the keys {keys}"
    elif error.validator == "required":
        for key in sorted(set(error.validator_value) - set(error.instance)):
            yield f"config: {where or 'the configuration'} lacks the key {key}"
    elif error.validator == "uniqueItems":
        twice = next(one for one in error.instance if error.instance.count(one) > 1)
        yield f"config: {where} names {_shown(twice)} twice"
    elif error.validator in ("anyOf", "oneOf"):
        parts = error.validator_value
        yield f"{is_what}; it must be {', or '.join(_expectation(part) for part in parts)}"
    else:
        yield f"{is_what}; it must be {_expectation(error.schema)}"


def _expectation(schema: Schema) -> str:
    """What a value should be, in words made from the schema."""
    words = {"integer": "a whole number", "number": "a number", "string": "a text"}
    words |= {"boolean": "true or false", "array": "a list", "object": "a mapping"}
    kinds = schema.get("type", "a text" if "pattern" in schema else "a value")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    text = " or ".join(words.get(kind, kind) for kind in kinds)
    if "enum" in schema:
        text = f"one of {', '.join(_shown(value) for value in schema['enum'])}"
    for bound, phrase in (
        ("minimum", "at least {}"),
        ("exclusiveMinimum", "above {}"),
        ("maximum", "at most {}"),
        ("exclusiveMaximum", "below {}"),
        ("form", "{}") if "form" in schema else ("pattern", "of the form {}"),
        ("minLength", "of at least {} characters"),
        ("minItems", "with at least {} entries"),
        ("maxItems", "with at most {} entries"),
        ("unit", "in the unit: {}"),
    ):
        if bound in schema and schema[bound] != "none":
            text += f", {phrase.format(schema[bound])}"
    return text


def _shown(value: Any) -> str:
    """A value as YAML would have it."""
    return json.dumps(value, ensure_ascii=False, default=str)


class Options(dict):
    """A rule's slice of the configuration: recorded as data, printed as command-line options.

    Snakemake records ``repr`` of a parameter, which here names the configuration key and
    sorts, so that a changed value is noticed and can be explained; ``{params.options}`` in a
    shell command becomes ``--threshold 0.1 --no-swap``, and a word for the stage's record on
    where they stand in the configuration (`evenhand.stage.FROM_CONFIG`). A null value is left
    out, since every stage's own default for such an option is None; an empty list becomes
    ``--empty-words``.
    """

    def __init__(self, key: str, values: dict[str, Any]) -> None:
        super().__init__({f"{key}.{name}": values[name] for name in sorted(values)})
        self.origin = f"--from-config={key}:{','.join(sorted(values))}"

    def __str__(self) -> str:
        words = [word for key, value in self.items() for word in _words(key.split(".")[-1], value)]
        return shlex.join([*words, self.origin] if self else [])

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def _words(name: str, value: Any) -> list[str]:
    option = "--" + name.replace("_", "-")
    if value is None:
        return []
    if isinstance(value, bool):
        return [option if value else "--no-" + option[2:]]
    if isinstance(value, dict) or (isinstance(value, list) and not _plain(value)):
        raise TypeError(f"{name} is {value!r}, which is no value of an option")
    if value == []:
        return ["--empty-" + option[2:]]
    words = [str(one) for one in value] if isinstance(value, list) else [str(value)]
    if any(word.startswith("-") for word in words):  # which reads like an option by itself
        return [f"{option}={word}" for word in words]
    return [option, *words]


def _plain(values: list[Any]) -> bool:
    return all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in values)


def file_options(files: dict[str, Any]) -> str:
    """Files (a path or several, by the name of the argument), or other words, as options."""
    words = []
    for name, paths in files.items():
        chosen = [paths] if isinstance(paths, str) else [str(path) for path in paths]
        words += ["--" + name.replace("_", "-"), *chosen] if chosen else []
    return shlex.join(words)


def pick(config: dict[str, Any], key: str) -> Any:
    """The value at a dotted key."""
    value: Any = config
    for step in key.split("."):
        value = value[step]
    return value
