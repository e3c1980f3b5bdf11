"""A slice of the configuration as Snakemake records it and as the shell reads it."""

import ast
import importlib
import inspect
import math
import re
import shlex
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import pytest

from evenhand.core import stage
from evenhand.core.config import BOUNDS, Options, read_schema
from evenhand.core.families import declared
from evenhand.core.places import SCHEMA
from evenhand.core.stage import Plugin, Range
from evenhand.errors import InputError

LIBRARY = Path(__file__).resolve().parents[2] / "workflow" / "evenhand"

#: Options of stages that share only their name with a key.
OTHER_MEANING = {
    "build_cases.threshold",
    "pretrain_encoder.held_out",
    "pretrain_encoder.mask_probability",
    "score_pairs.shuffle",
    "tabulate_cases.published",
    "train_language_model.held_out",
    "train_table.split",
    "write_slguset_card.title",
}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("plain", ["--key", "plain"]),
        ("two words", ["--key", "two words"]),
        ('it\'s "quoted" $HOME `x` \\', ["--key", 'it\'s "quoted" $HOME `x` \\']),
        ("男人/女人 “引”", ["--key", "男人/女人 “引”"]),
        ("", ["--key", ""]),
        ("{input} {{x}}", ["--key", "{input} {{x}}"]),
        ("-x", ["--key=-x"]),
        (0, ["--key", "0"]),
        (-0.5, ["--key=-0.5"]),
        (1e-05, ["--key", "1e-05"]),
        (True, ["--key"]),
        (False, ["--no-key"]),
        (None, []),
        ([], ["--empty-key"]),
        (["a", "b c"], ["--key", "a", "b c"]),
        ([1, -2], ["--key=1", "--key=-2"]),
    ],
)
def test_a_value_becomes_words_of_the_shell(value, words):
    assert shlex.split(str(Options("a.b", {"key": value}))) == [*words, "--from-config=a.b:key"]
    assert f"run {Options('a.b', {'key': value})}".startswith("run")


def test_an_option_may_have_another_key_or_none():
    values = {"lr": 0.1, "seeds": [0], "languages": ["en"], "pages": 2, "followers": []}
    keys = {"lr": "x.learning_rate", "languages": "legal.swap", "followers": "legal.swap"}
    options = Options("x", values, keys | {"pages": None, "absent": "x.absent"})
    assert dict(options) == {
        "x.learning_rate": 0.1,
        "x.seeds": [0],
        "legal.swap (languages)": ["en"],
        "legal.swap (followers)": [],
        "--pages": 2,
    }
    assert shlex.split(str(options)) == [
        *("--empty-followers", "--languages", "en", "--lr", "0.1", "--pages", "2"),
        *("--seeds", "0"),
        "--from-config=x:followers=legal.swap,languages=legal.swap,lr=x.learning_rate,seeds",
    ]
    assert str(Options(None, {"pages": 2})) == "--pages 2"


@pytest.mark.parametrize("value", [{"a": 1}, [{"a": 1}], [None], [["a"]], [True]])
def test_what_no_option_can_say_is_our_defect(value):
    with pytest.raises(TypeError, match="which is no value of an option"):
        str(Options("x", {"key": value}))


def test_the_repr_names_the_keys_sorts_them_and_can_be_read_back():
    values = {"b": "“男”", "a": [1, None], "c": {"d": True}}
    options = Options("slguset.filters", values)
    assert repr(options) == repr(Options("slguset.filters", dict(reversed(values.items()))))
    assert ast.literal_eval(repr(options)) == {
        "slguset.filters.a": [1, None],
        "slguset.filters.b": "“男”",
        "slguset.filters.c": {"d": True},
    }


def test_parts_of_the_configuration_join_to_one_parameter():
    parts = [Options("bias", {"top": 3}), Options("scoring", {"seed": 1}), Options(None, {"x": 2})]
    joined = Options.join(parts)
    assert ast.literal_eval(repr(joined)) == {"bias.top": 3, "scoring.seed": 1, "--x": 2}
    assert shlex.split(str(joined)) == [
        *("--top", "3", "--seed", "1", "--x", "2"),
        *("--from-config=bias:top", "--from-config=scoring:seed"),
    ]
    assert str(Options.join([])) == "" and repr(Options.join([])) == "{}"


def stages() -> dict[str, Callable]:
    """Every stage by its name."""
    found = {}
    for path in sorted(LIBRARY.rglob("*.py")):
        if re.search(
            rf"^def {path.stem}\(\n    \*,(?s:.)*?: (list\[)?Output",
            path.read_text(encoding="utf-8"),
            re.M,
        ):
            name = ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts)
            found[path.stem] = getattr(importlib.import_module(name), path.stem)
    return found


def keys_by_name() -> dict[str, list[dict]]:
    """The schemas of the keys of each name; those of the entries of a list count as its own."""
    known = defaultdict(list)

    def collect(part, name):
        known[name].append(part)
        for key, inner in part.get("properties", {}).items():
            collect(inner, key)
        for inner in ("additionalProperties", "items"):
            if isinstance(part.get(inner), dict):
                collect(part[inner], name)

    for file in (SCHEMA, SCHEMA.with_name("pack.schema.yaml")):
        collect(read_schema(file), None)
    return known


def plain_types(hint) -> set[type]:
    """The types in an annotation."""
    here = {each for each in (hint, get_origin(hint)) if isinstance(each, type)}
    return here.union(*map(plain_types, get_args(hint)))


STAGES, KEYS = stages(), keys_by_name()
HINTS = {name: get_type_hints(each, include_extras=True) for name, each in STAGES.items()}
OPTIONS = [
    (name, option) for name, hints in HINTS.items() for option in hints if option != "return"
]
NUMBERS = [each for each in OPTIONS if plain_types(HINTS[each[0]][each[1]]) & {int, float}]


def test_a_stage_has_the_default_of_the_key_of_its_option():
    """So a call from a notebook does what a configuration without the key does."""
    matched, others = 0, set()
    for name, option in OPTIONS:
        value = inspect.signature(STAGES[name]).parameters[option].default
        defaults = [part["default"] for part in KEYS[option] if part.get("default") is not None]
        if isinstance(value, str | int | float) and defaults:
            matched += value in defaults
            others |= set() if value in defaults else {f"{name}.{option}"}
    assert not others - OTHER_MEANING
    assert matched > 80


def called_with(name: str, option: str, value):
    """Call a stage with no more than one option that means something."""
    STAGES[name](**dict.fromkeys(HINTS[name].keys() - {"return"}) | {option: value})


@pytest.mark.parametrize(("name", "option"), NUMBERS, ids=".".join)
def test_a_number_of_a_stage_is_checked_and_bounded_as_its_key(name, option):
    hint = HINTS[name][option]
    (bounds,) = [asdict(mark) for mark in stage._metadata(hint) if isinstance(mark, Range)]
    beyond = {"least": -1, "above": 0, "most": 1, "below": 0}
    wrong = [bounds[each] + step for each, step in beyond.items() if bounds[each] is not None]
    for value in [*wrong, math.nan, math.inf]:
        with pytest.raises(InputError, match=f"^`{option}` is .*; it must be a finite number"):
            called_with(name, option, [value])
    of_keys = [
        dict(zip(bounds, map(part.get, BOUNDS), strict=True))
        for part in KEYS[option]
        if re.search("integer|number", str(part.get("type")))
    ]
    assert not of_keys or bounds in of_keys or f"{name}.{option}" in OTHER_MEANING


@pytest.mark.parametrize(
    ("name", "option"),
    [
        (name, option)
        for name, option in OPTIONS
        if list in plain_types(HINTS[name][option])
        and Plugin in {type(mark) for mark in stage._metadata(HINTS[name][option])}
        and (name, option) != ("find_attributes", "modules")  # one for each attribute
    ],
    ids=".".join,
)
def test_no_plugin_is_named_twice(name, option):
    with pytest.raises(InputError, match=f"^`{option}` names a twice; remove one of them"):
        called_with(name, option, ["a", "b", "a"])


@pytest.mark.parametrize("kind", ["linear", "frozen", "hierarchical"])
def test_a_classifier_has_the_defaults_that_its_keys_document(kind):
    """``by default 0.1 for linear, else 0``: what stands before the kind, else the last value."""
    schema = read_schema(SCHEMA)["properties"]["legal"]["properties"]["classifiers"]
    keys = schema["additionalProperties"]["properties"]
    settings = declared(f"evenhand.legal.classifiers.{kind}", "SETTINGS")
    compared = 0
    for name, value in settings.items():
        part = keys[name]
        default = part.get("default")
        if "by default" in part["description"]:
            words = part["description"].partition("by default ")[2]
            forms = (rf"([\d.]+) for {kind}\b", r"else ([\d.]*\d)", r"^([\d.]*\d|\w+)")
            default = next(found[1] for form in forms if (found := re.search(form, words)))
        if default not in (None, "as", "they"):  # as published; they are kept
            compared += 1
            assert str(value) == str(default) or value == float(default), name
    assert compared >= 8
