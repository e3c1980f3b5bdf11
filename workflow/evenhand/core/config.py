"""The configuration: checked against its schema before any job, with actionable errors.

The schema (`workflow/schemas/config.schema.yaml`) is the one place that describes a key:
its meaning, type, unit, default and allowed values. `docs/config.md` is made from it.
"""

import functools
import json
import math
import operator
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from evenhand.core.families import member_names
from evenhand.core.limits import DEPTH, VALUES
from evenhand.core.places import located
from evenhand.core.whole import read_text
from evenhand.errors import InputError, nearest, one_line

Schema = dict[str, Any]

#: Bounds of numbers in words.
BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
}
LIMITS = BOUNDS | {"multipleOf": "a multiple of {}"}

#: How the remedy of faults in keys begins.
EXPLAINED = "every key is explained in "

#: Faults reported at a time.
MOST_FAULTS = 20

# libyaml takes a tenth of the time, and every job on a cluster reads schema and configuration
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@functools.cache
def read_schema(path: Path) -> Schema:
    """Read the schema (JSON Schema 2020-12, written as YAML).

    The schema has seven extensions. ``members`` is the package of a family of plugins, whose names
    are the allowed values: it becomes an ``enum``. ``only_for`` lists the settings without which
    a key has no effect: a mapping of keys (siblings, or from the top) to the values that give it
    one, or to ``any`` for any non-empty value; a list of such mappings if one of them is enough.
    ``effect: none`` marks a key that changes no result. ``ascending`` marks a list of numbers that
    must ascend. ``gone``, beside the properties, has the
    removed keys of earlier releases, and those of other sections, each with advice.
    ``otherwise`` is advice on a value that is not in ``enum``. ``in_reference: false``
    leaves the keys below out of docs/config.md.
    """
    return _with_members(yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER))


def _with_members(part: Any) -> Any:
    """Return a part of the schema with ``members`` as ``enum``; null too, if it is the default."""
    if isinstance(part, list):
        return [_with_members(item) for item in part]
    if not isinstance(part, dict):
        return part
    part = {key: _with_members(value) for key, value in part.items()}
    if isinstance(family := part.get("members"), str):
        del part["members"]
        part["enum"] = [name.rpartition(".")[2] for name in member_names(family)]
        part["enum"] += [None] if part.get("default", "") is None else []
    return part


def read_config(path: Path) -> dict[str, Any]:
    """Read a configuration, as the user wrote it (YAML).

    Raises
    ------
    InputError
        It is not UTF-8, not YAML, not a mapping, nested too deeply, contains itself, has aliases
        for more than `VALUES` values, or sets a key twice (YAML would keep the last).
    """
    text = read_text(path)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEPTH:
                raise InputError(f"is nested deeper than {DEPTH} levels", file=path)
        check_values(yaml.compose(text, Loader=_LOADER), path)
        config = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        lines = text.splitlines()
        if mark and re.match(r"\s*\t", "".join(lines[mark.line : mark.line + 1])):
            problem = "the line begins with a tab, and YAML takes blanks"
            remedy = "write blanks"
            raise InputError(problem, file=path, line=mark.line + 1, remedy=remedy) from None
        problem = f"is no YAML ({getattr(error, 'problem', None) or error})"
        remedy = (
            "is a colon missing there or in the line above, or the line indented too far?"
            if "mapping values" in str(error)
            else None
        )
        raise InputError(problem, file=path, line=mark and mark.line + 1, remedy=remedy) from error
    if not isinstance(config, dict):
        remedy = "write lines such as results: results/mine"
        raise InputError("is no mapping of keys to values", file=path, remedy=remedy)
    return config


def _check_keys(node: yaml.MappingNode, file: Path | str) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        name, line = (key.tag, str(key.value)), key.start_mark.line + 1
        if name in lines:
            problem = f"sets the key {key.value} a second time, after line {lines[name]}"
            raise InputError(problem, file=file, line=line, remedy="keep one of the two")
        lines[name] = line


def check_values(value: Any, file: Path | str = "config") -> None:
    """Refuse values that are infinite or huge once aliases are expanded.

    Parameters
    ----------
    value : object
        Mappings and lists, or nodes of YAML. A value in two places counts twice.
    file : Path or str
        Its origin, for the error.

    Raises
    ------
    InputError
        It contains itself, is nested deeper than `DEPTH`, has more than `VALUES` values, or (of
        nodes) sets a key twice.
    """
    sizes: dict[int, int] = {}

    def size(part: Any, depth: int) -> int:
        if isinstance(part, yaml.MappingNode):
            values = [node for pair in part.value for node in pair]
        elif isinstance(part, yaml.SequenceNode):
            values = part.value
        elif isinstance(part, dict | list):
            values = part.values() if isinstance(part, dict) else part
        else:
            return 1
        if depth > DEPTH:
            raise InputError(f"is nested deeper than {DEPTH} levels, or holds itself", file=file)
        if id(part) not in sizes:
            if isinstance(part, yaml.MappingNode):
                _check_keys(part, file)
            sizes[id(part)] = 1 + sum(size(value, depth + 1) for value in values)
        if sizes[id(part)] > VALUES:
            raise InputError(f"its aliases stand for more than {VALUES} values", file=file)
        return sizes[id(part)]

    size(value, 0)


def complete(config: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Validate a configuration against the schema, and fill in all defaults.

    Parameters
    ----------
    config : dict
        The user's configuration. It is not modified.
    schema : dict
        See `read_schema`.

    Returns
    -------
    dict
        A new dict; each mapping has its keys in the schema's order, free names sorted. The
        folder of results is normalised: ``./x/`` is ``x``.

    Raises
    ------
    InputError
        A key is unknown (the nearest known one is suggested) or missing, a value is not
        allowed (the allowed ones are listed), or a key has no effect. All faults are reported, one
        per line.
    """
    check_values(config)
    validator = _Validator(schema)
    faults = sorted(_unreadable(config)) or sorted(
        {fault for error in validator.iter_errors(config) for fault in _explain(error)}
    )
    if (more := len(faults) - MOST_FAULTS) > 0:
        faults[MOST_FAULTS:] = [f"config: and {more} more"]
    filled = {} if faults else _fill(config, schema)
    if faults := faults or sorted(_without_effect(filled, schema, filled)):
        raise InputError(faults, remedy=explained())
    if "results" in filled:  # Snakemake compares paths as text
        filled["results"] = str(Path(filled["results"]))
    return filled


def explained() -> str:
    """Return where every key is explained, also in an installation from a wheel."""
    return EXPLAINED + located("docs/config.md")


def _check_ascending(_: Any, ascending: bool, value: Any, __: Schema) -> Iterator[Any]:
    """Yield an error if the numbers of a list do not ascend (``ascending`` in the schema)."""
    numbers = isinstance(value, list) and all(isinstance(each, int | float) for each in value)
    if ascending and numbers and value != sorted(value):
        yield jsonschema.ValidationError("do not ascend")


_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator, {"ascending": _check_ascending}
)


def _unreadable(value: Any, where: str = "") -> Iterator[str]:
    """Yield faults of keys that YAML does not read as text (1998, no), and of infinite numbers."""
    if isinstance(value, dict):
        for key, part in value.items():
            place = f"{where}.{key}".lstrip(".")
            if not isinstance(key, str):
                yield f"config: the key {place} is read as {key!r}; put its name into quotes"
            yield from _unreadable(part, place)
    elif isinstance(value, list):
        for position, part in enumerate(value):
            yield from _unreadable(part, f"{where}.{position}")
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"config: {where} is {value}; it must be a finite number"


def _without_effect(value: Any, schema: Schema, whole: Any, where: str = "") -> Iterator[str]:
    """Yield faults of keys with non-default values that need other settings (``only_for``)."""
    if isinstance(value, list):
        for position, part in enumerate(value):
            yield from _without_effect(part, schema.get("items", {}), whole, f"{where}{position}.")
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    for key, part in value.items():
        key_schema = known.get(key, schema.get("additionalProperties", {}))
        needs = key_schema.get("only_for", [])
        needs = needs if isinstance(needs, list) else [needs]
        unmet = [list(_unmet(need, value, whole, where)) for need in needs]
        if unmet and all(unmet) and part != _fill(key_schema.get("default"), key_schema):
            whys = dict(conditions[0] for conditions in unmet)
            remedy = "name that, too, or remove it" if all(whys.values()) else "remove it"
            yield f"config: {where}{key} has no effect {' or '.join(whys)}; {remedy}"
        elif isinstance(key_schema, dict):
            yield from _without_effect(part, key_schema, whole, f"{where}{key}.")


def _unmet(need: dict[str, Any], beside: Any, whole: Any, where: str) -> Iterator[tuple[str, bool]]:
    """Yield unmet conditions of a key, as in "for kind: linear", and if it lacks another one."""
    for place, values in need.items():
        value = pick(whole, *place.split(".")) if "." in place else beside.get(place)
        full = place if "." in place else f"{where}{place}"
        if values == "any":
            if not value:
                yield f"without {full}", True
        elif isinstance(value, list):
            if not {*value} & {*values}:
                yield f"without {' or '.join(map(str, values))} in {full}", False
        elif value not in values:
            plain = _as_yaml(value).strip('"')
            yield f"for {place}: {plain}", False


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
        return [_fill(item, schema.get("items", {})) for item in value]
    if isinstance(value, float) and schema.get("type") == "integer":
        return int(value)  # 3.0 is a whole number
    return value


def _explain(error: jsonschema.ValidationError) -> Iterator[str]:
    """Yield short sentences that explain the fault of a key."""
    where = ".".join(str(step) for step in error.absolute_path)
    is_what = f"config: {where or 'the configuration'} is {one_line(_as_yaml(error.instance), 200)}"
    if "propertyNames" in error.absolute_schema_path:
        form = _expectation(error.schema)
        yield f"config: {where}.{error.instance} is no name; it must be {form}"
    elif error.validator == "additionalProperties" and not error.validator_value:
        known = sorted(error.schema.get("properties", {}))
        for key in sorted(set(error.instance) - set(known)):
            if key in (gone := error.schema.get("gone", {})):
                yield f"config: {where}.{key} {gone[key]}"
                continue
            near = nearest(key, known)
            hint = f", did you mean {near}?" if near else f" (the keys are {', '.join(known)})"
            yield f"config: there is no key {f'{where}.{key}'.lstrip('.')}{hint}"
    elif error.validator == "enum":
        allowed = [_as_yaml(value).strip('"') for value in error.validator_value]
        near = nearest(error.instance, allowed)
        hint = f", did you mean {near}?" if near else ""
        hint = "; put it into quotes" if str(error.instance) in allowed else hint
        hint = f"; {error.schema['otherwise']}" if "otherwise" in error.schema else hint
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
    elif error.validator == "ascending":
        yield f"{is_what}, which does not ascend; write {_as_yaml(sorted(error.instance))}"
    elif error.validator == "uniqueItems":
        repeated = next(item for item in error.instance if error.instance.count(item) > 1)
        yield f"config: {where} names {_as_yaml(repeated)} twice; keep one of the two"
    elif error.validator in ("anyOf", "oneOf"):
        parts = error.validator_value
        yield f"{is_what}; it must be {', or '.join(_expectation(part) for part in parts)}"
    else:
        is_text = error.validator == "type" and "string" in error.schema["type"]
        bare = is_text and not isinstance(error.instance, dict | list | None)
        quotes = "; put it into quotes" if bare else ""
        yield f"{is_what}; it must be {_expectation(error.schema)}{quotes}"


def _expectation(schema: Schema) -> str:
    """Describe the allowed values, from the schema."""
    words = {"integer": "a whole number", "number": "a number", "string": "a text"}
    words |= {"boolean": "true or false", "array": "a list", "object": "a mapping"}
    kinds = schema.get("type", "a text" if "pattern" in schema else "a value")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    text = " or ".join(words.get(kind, kind) for kind in kinds)
    if "enum" in schema:
        text = f"one of {', '.join(_as_yaml(value) for value in schema['enum'])}"
    is_exact = schema.get("minItems") == schema.get("maxItems")
    for bound, phrase in (
        *LIMITS.items(),
        ("form", "{}") if "form" in schema else ("pattern", "of the form {}"),
        ("minLength", "of {} or more characters"),
        ("minProperties", "with {} or more keys"),
        ("minItems", "with exactly {} entries" if is_exact else "with {} or more entries"),
        ("maxItems", "" if is_exact else "with at most {} entries"),
    ):
        if bound in schema and phrase:
            text += f", {phrase.format(schema[bound])}"
    unit = schema.get("unit", "none")
    return text if unit in ("none", "0 to 1") else f"{text} ({unit})"


def _as_yaml(value: Any) -> str:
    """Format a value as YAML."""
    return json.dumps(value, ensure_ascii=False, default=str)


class Options(dict):
    """Options of a stage, most of them from the configuration: recorded, and printed as words.

    Snakemake records ``repr`` of a parameter, which here names the configuration's keys and
    sorts, so that a changed value is noticed and can be explained; ``{params.options}`` in a
    shell command becomes ``--threshold 0.1 --no-swap``, and a word with their keys in the
    configuration for the stage's record (`evenhand.core.stage.FROM_CONFIG`). A null value is left
    out, since every stage's own default for such an option is None; an empty list becomes
    ``--empty-words``.

    Parameters
    ----------
    section : str, optional
        The part of the configuration in which the options have keys of the same names.
    values : dict
        The value of each option.
    keys : dict, optional
        The keys of options with other names there; None for options without a key.
    """

    def __init__(
        self, section: str | None, values: dict[str, Any], keys: dict[str, str | None] | None = None
    ) -> None:
        places = dict.fromkeys(values) if section is None else {n: f"{section}.{n}" for n in values}
        places |= {name: key for name, key in (keys or {}).items() if name in values}
        often = Counter(places.values())
        self.values_by_name = {name: values[name] for name in sorted(values)}
        super().__init__()
        origins = []
        for name, value in self.values_by_name.items():
            place = places[name]
            if place is None:
                self[f"--{name}"] = value
                continue
            self[place if often[place] == 1 else f"{place} ({name})"] = value
            origins.append(name if place == f"{section}.{name}" else f"{name}={place}")
        self.origin = [f"--from-config={section or ''}:{','.join(origins)}"] if origins else []

    @classmethod
    def join(cls, parts: Iterable["Options"]) -> "Options":
        """Return the options of several parts of the configuration as one."""
        joined = cls(None, {})
        for part in parts:
            joined.update(part)
            joined.values_by_name |= part.values_by_name
            joined.origin += part.origin
        return joined

    def __str__(self) -> str:
        words = [word for option in self.values_by_name.items() for word in _words(*option)]
        return shlex.join([*words, *self.origin])

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def _words(name: str, value: Any) -> list[str]:
    option = "--" + name.replace("_", "-")
    if value is None:
        return []
    if isinstance(value, bool):
        return [option if value else "--no-" + option[2:]]
    values = value if isinstance(value, list) else [value]
    if any(isinstance(item, bool) or not isinstance(item, str | int | float) for item in values):
        raise TypeError(f"{name} is {value!r}, which is no value of an option")
    if value == []:
        return ["--empty-" + option[2:]]
    words = list(map(str, values))
    if any(word.startswith("-") for word in words):  # which reads like an option by itself
        return [f"{option}={word}" for word in words]
    return [option, *words]


def file_options(files: dict[str, Any]) -> str:
    """Return files (one path or several, by argument name), or other words, as options."""
    words = []
    for name, paths in files.items():
        paths = [paths] if isinstance(paths, str) else list(map(str, paths))
        words += ["--" + name.replace("_", "-"), *paths] if paths else []
    return shlex.join(words)


def check_names(
    key: str, names: Iterable[str], known: Collection[str], group: str, hint: str = ""
) -> None:
    """Raise InputError if the configuration has an unknown name.

    `group` describes the known ones; a `hint` ends the remedy.
    """
    if unknown := [name for name in names if name not in known]:
        problem = f"config: {key} names {unknown[0]}, which is none of {group}"
        raise InputError(problem, remedy=f"they are {', '.join(sorted(known)) or 'none'}{hint}")


def has(config: Any, *steps: str) -> bool:
    """Return whether there is a value at a nested key, given step by step."""
    for step in steps:
        if not isinstance(config, dict) or step not in config:
            return False
        config = config[step]
    return True


def pick(config: dict[str, Any], *steps: str) -> Any:
    """Return the value at a nested key, given step by step: a name may contain dots."""
    return functools.reduce(operator.getitem, steps, config)


def changed_keys(key: str, before: Any, after: Any) -> dict[str, tuple[Any, Any]]:
    """Return the keys, at or below a key, whose values differ, with both; None for no value.

    A mapping may be given as JSON.
    """
    parts = [_mapping(value) for value in (before, after)]
    if None in parts:
        return {key: (before, after)}
    names = dict.fromkeys([*parts[0], *parts[1]])
    pairs = {name: [part.get(name) for part in parts] for name in names}
    changed = {
        part: ends
        for name, pair in pairs.items()
        if pair[0] != pair[1]
        for part, ends in changed_keys(f"{key}.{name}", *pair).items()
    }
    return changed or {key: (before, after)}


def _mapping(value: Any) -> dict[str, Any] | None:
    """Return a mapping, also from JSON, or of a list of these by place; None for other values."""
    while isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if isinstance(value, list) and value and all(map(_mapping, value)):
        return {str(place): part for place, part in enumerate(value)}
    return value if isinstance(value, dict) else None
