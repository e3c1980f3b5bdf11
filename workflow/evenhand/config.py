"""The configuration: checked against its schema before any job, with errors that help.

The schema (`workflow/schemas/config.schema.yaml`) is the one place that describes a key:
its meaning, type, unit, default and allowed values. `docs/config.md` is made from it.
"""

import difflib
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
    return yaml.safe_load(path.read_text(encoding="utf-8"))


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
        raise InputError("; ".join(faults), remedy="every key is explained in docs/config.md")
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
    return value


def _explain(error: jsonschema.ValidationError) -> Iterator[str]:
    """One short sentence (or several) on what is wrong with a key."""
    where = ".".join(str(step) for step in error.absolute_path)
    if error.validator == "additionalProperties" and not error.validator_value:
        known = sorted(error.schema.get("properties", {}))
        for key in sorted(set(error.instance) - set(known)):
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
            hint = f", did you mean {near[0]}?" if near else f" (the keys are {', '.join(known)})"
            yield f"config: there is no key {f'{where}.{key}'.lstrip('.')}{hint}"
    elif error.validator == "enum":
        allowed = [str(value) for value in error.validator_value]
        near = difflib.get_close_matches(str(error.instance), allowed, n=1)
        hint = f", did you mean {near[0]}?" if near else ""
        yield f"config: {where} is {error.instance!r}; allowed are {', '.join(allowed)}{hint}"
    elif error.validator == "propertyNames":
        yield f"config: {where} has a name that is not allowed: {error.message}"
    elif error.validator in ("anyOf", "oneOf") and error.context:
        yield f"config: {where} is {error.instance!r}; {_expectation(error.schema)}"
    elif error.validator == "required":
        yield f"config: {where or 'the configuration'} lacks a key: {error.message}"
    else:
        yield f"config: {where} is {error.instance!r}; {_expectation(error.schema)}"


def _expectation(schema: Schema) -> str:
    """What a value should be, in words made from the schema."""
    words = {"integer": "a whole number", "number": "a number", "string": "a text"}
    words |= {"boolean": "true or false", "array": "a list", "object": "a mapping"}
    kinds = schema.get("type", "value")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    text = "it must be " + " or ".join(words.get(kind, kind) for kind in kinds)
    if "minimum" in schema:
        text += f", at least {schema['minimum']}"
    if "exclusiveMinimum" in schema:
        text += f", above {schema['exclusiveMinimum']}"
    if "maximum" in schema:
        text += f", at most {schema['maximum']}"
    if "pattern" in schema:
        text += f", of the form {schema['pattern']}"
    if "minItems" in schema:
        text += f", of at least {schema['minItems']}"
    if schema.get("unit"):
        text += f" ({schema['unit']})"
    return text


class Options(dict):
    """A rule's slice of the configuration: recorded as data, printed as command-line options.

    Snakemake records ``repr`` of a parameter, which here names the configuration key and
    sorts, so that a changed value is noticed and can be explained; ``{params.options}`` in a
    shell command becomes ``--threshold 0.1 --no-swap``. A null value is left out, since
    every stage's own default for such an option is None; an empty list becomes
    ``--empty-words``.
    """

    def __init__(self, key: str, values: dict[str, Any]) -> None:
        super().__init__({f"{key}.{name}": values[name] for name in sorted(values)})

    def __str__(self) -> str:
        return shlex.join(
            word for key, value in self.items() for word in _words(key.split(".")[-1], value)
        )

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


def pick(config: dict[str, Any], key: str) -> Any:
    """The value at a dotted key."""
    value: Any = config
    for step in key.split("."):
        value = value[step]
    return value
