"""The configuration: defaults, and a sentence that helps for every mistake."""

import copy
import re
from pathlib import Path

import pytest
import yaml

import config_reference
from evenhand import plan, plan_legal
from evenhand.core.config import Options, complete, read_config, read_schema
from evenhand.errors import InputError
from evenhand.plan_individual import expand, table_options
from unit.cases import load_cases

CASES = load_cases(__file__)

SCHEMA = yaml.safe_load("""
type: object
additionalProperties: false
required: [name]
properties:
  name: {type: string, description: A name.}
  results: {type: string, default: results}
  share: {type: number, exclusiveMinimum: 0, maximum: 1, unit: share, default: 0.5}
  folder: {type: [string, "null"], default: null}
  seed: {type: integer, minimum: 0, unit: none, default: 1}
  field: {anyOf: [{type: integer, minimum: 1}, {enum: [text, null]}], default: null}
  shares: {type: array, minItems: 3, maxItems: 3, default: []}
  filter:
    type: object
    additionalProperties: false
    default: {}
    properties:
      min_length: {type: integer, minimum: 1, unit: characters, default: 9}
      language: {enum: [chinese, english, null], default: chinese}
      names:
        type: array
        uniqueItems: true
        maxItems: 3
        items: {enum: [names_jieba, pair_fit, biology]}
        default: [pair_fit]
      enabled: {type: boolean, default: true}
  models:
    type: object
    default: {}
    propertyNames: {pattern: "^[a-z]+$"}
    minProperties: 1
    additionalProperties:
      type: object
      additionalProperties: false
      minProperties: 1
      maxProperties: 1
      properties:
        path: {type: string}
        train:
          type: object
          default: {}
          additionalProperties: false
          properties:
            layers: {type: integer, minimum: 1, unit: layers, default: 2}
  base: {enum: ["e", "2"], default: "e"}
  kind: {enum: [small, large], default: small}
  depth: {type: integer, unit: layers, only_for: {kind: [large]}, default: 2}
  width:
    {type: [integer, "null"], unit: columns, default: null,
     only_for: [{kind: [large], filter.names: [biology]}, {models: any}]}
  rounds:
    type: array
    default: []
    items:
      type: object
      additionalProperties: false
      properties:
        size: {type: integer, default: 10}
        shape: {type: string, default: "", only_for: {size: [3]}}
""")

DEFAULTS = {
    "name": "x",
    "results": "results",
    "share": 0.5,
    "folder": None,
    "seed": 1,
    "field": None,
    "shares": [],
    "filter": {"min_length": 9, "language": "chinese", "names": ["pair_fit"], "enabled": True},
    "models": {},
    "base": "e",
    "kind": "small",
    "depth": 2,
    "width": None,
    "rounds": [],
}


def faults(text: str) -> str:
    with pytest.raises(InputError) as caught:
        complete(yaml.safe_load(text), SCHEMA)
    return str(caught.value)


def test_defaults_are_filled_in_the_order_of_the_schema():
    filled = complete({"name": "x"}, SCHEMA)
    assert filled == DEFAULTS
    assert list(filled) == list(DEFAULTS)
    assert list(filled["filter"]) == list(DEFAULTS["filter"])


def test_what_the_user_wrote_wins_and_is_not_changed():
    written = yaml.safe_load("""
name: x
filter: {enabled: false, names: []}
models: {b: {train: {layers: 4}}, a: {train: {}}}
rounds: [{}, {size: 3}]
""")
    before = copy.deepcopy(written)
    filled = complete(written, SCHEMA)
    assert written == before
    assert filled["filter"] == {**DEFAULTS["filter"], "enabled": False, "names": []}
    assert list(filled["models"].items()) == [
        ("a", {"train": {"layers": 2}}),
        ("b", {"train": {"layers": 4}}),
    ]
    assert filled["rounds"] == [{"size": 10, "shape": ""}, {"size": 3, "shape": ""}]
    filled["filter"]["names"].append("changed")
    assert complete({"name": "x"}, SCHEMA) == DEFAULTS


def test_a_whole_number_written_with_a_point_is_whole():
    filled = complete({"name": "x", "seed": 3.0, "share": 1.0}, SCHEMA)
    assert repr((filled["seed"], filled["share"])) == "(3, 1.0)"


@pytest.mark.parametrize(("text", "sentence"), CASES["each_mistake_is_named_with_what_is_allowed"])
def test_each_mistake_is_named_with_what_is_allowed(text, sentence):
    said = faults(text)
    assert said.startswith("config: ")
    assert sentence in said
    assert said.endswith("; every key is explained in docs/config.md.")


@pytest.mark.parametrize(
    "text",
    [
        "{name: x, depth: 2}",  # which is the default
        "{name: x, kind: large, depth: 3}",
        "{name: x, kind: large, width: 3, filter: {names: [pair_fit, biology]}}",
        "{name: x, width: 3, models: {a: {path: p}}}",
    ],
)
def test_a_key_that_needs_other_settings_is_taken_with_them(text):
    complete(yaml.safe_load(text), SCHEMA)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\nb: 2\na: 3\n", ":3: sets the key a a second time, after line 1; keep one"),
        ("m:\n  - x: {y: 1,\n        y: 1}\n", ":3: sets the key y a second time, after line 2"),
        ('{"a": 1, "a": 2}', ":1: sets the key a a second time, after line 1"),
        ("b: &b {c: 1}\nd: *b\ne: {<<: *b, c: 2}\nf: {c: 1}\n", None),
    ],
)
def test_a_key_that_is_set_twice_is_named_with_its_lines(tmp_path, text, place):
    file = tmp_path / "my.yaml"
    file.write_text(text, encoding="utf-8")
    if place is None:
        read_config(file)
        return
    with pytest.raises(InputError) as caught:
        read_config(file)
    assert f"my.yaml{place}" in str(caught.value)


def test_all_mistakes_are_told_at_once():
    said = faults("{seed: -1, filtre: {}, filter: {min_length: x, names: [a, b]}}")
    assert said.count("config: ") == 6
    for part in ("seed", "filtre", "min_length", "names.0", "names.1", "lacks the key name"):
        assert part in said


def test_many_mistakes_are_counted():
    with pytest.raises(InputError) as caught:
        complete({"name": "a"} | {f"no_key_{i}": 1 for i in range(50)}, SCHEMA)
    assert len(str(caught.value).split("\n")) == 21 and "config: and 30 more" in str(caught.value)


BOMB = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a: 1\nb: \xff\n", r"c\.yaml:2: is not UTF-8 but may be .* has 'ÿ'; .* by `mkdir "),
        ("a: \0\n", r"c\.yaml: is no YAML \(.*#x0000.*\)\."),
        ("a: &a\n  b: *a\n", r"c\.yaml: is nested deeper than 100 levels, or holds itself\."),
        ("a: &a [*a]\n", r"c\.yaml: is nested deeper than 100 levels, or holds itself\."),
        ("a0: &a0 [x]\n" + BOMB, r"c\.yaml: its aliases stand for more than 100000 values\."),
        ("a0: &a0 {x: 1}\n" + BOMB.replace("[", "{<<: [").replace("]", "]}"), r"its aliases stand"),
        (
            "a: " + "[" * 50_000,
            r"c\.yaml: is nested deeper than 100 levels\.|maximum nesting depth",
        ),
        ("a: [b\nc: d\n", r"c\.yaml:2: is no YAML \(did not find expected ',' or '\]'\)\."),
        ("a:\n  b: {c: 1\n", r"c\.yaml:3: is no YAML \(did not find expected ',' or '}'\)\."),
        ("a: 2001-13-45\n", r"c\.yaml: is no YAML \(month must be in 1\.\.12"),
        (
            "a:\n  b [x]\n  c: 1\n",
            r"c\.yaml:3: is no YAML \(.*\); is a colon missing there or in .*",
        ),
        ("? {a: b}\n: c\n", r"c\.yaml:1: is no YAML \(found unhashable key\)\."),
        ("- a\n", r"c\.yaml: is no mapping of keys to values; write lines such as re"),
        ("", r"c\.yaml: is no mapping of keys to values; write lines such as results: re"),
        (
            "a:\n  b: 1\n  \tc: 1\n",
            r"c\.yaml:3: the line begins with a tab, and YAML takes blanks; write blanks\.",
        ),
    ],
)
def test_a_file_that_is_no_configuration_is_refused_in_a_line(tmp_path, content, problem):
    (tmp_path / "c.yaml").write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=problem) as caught:
        read_config(tmp_path / "c.yaml")
    assert "\n" not in str(caught.value)


def test_what_snakemake_read_is_refused_too():
    endless: dict = {}
    endless["name"] = [endless]
    with pytest.raises(InputError, match="config: is nested deeper than 100 levels, or holds"):
        complete(endless, SCHEMA)


# the schema of the workflow


@pytest.fixture(scope="module")
def schema(repository: Path) -> dict:
    return read_schema(repository / "workflow" / "schemas" / "config.schema.yaml")


def keys(part: dict, where: str = ""):
    """Each key with its schema and the schema of the mapping that holds it."""
    for name, inner in part.get("properties", {}).items():
        yield f"{where}{name}", inner, part
        yield from keys(inner, f"{where}{name}.")
    if isinstance(part.get("additionalProperties"), dict):
        yield from keys(part["additionalProperties"], f"{where}<name>.")
    if isinstance(part.get("items"), dict):
        yield from keys(part["items"], f"{where}<n>.")


def test_every_key_is_described(schema):
    assert schema["additionalProperties"] is False
    for where, part, parent in keys(schema):
        assert re.fullmatch(r"[A-Z`].*[.]", part.get("description", ""), re.S), where
        assert {"type", "enum"} & part.keys(), where
        choice = part.get("choice") or parent.get("maxProperties", 1000) < len(parent["properties"])
        is_required = where.split(".")[-1] in parent.get("required", [])
        assert "default" in part or choice or is_required, where
        kinds = part.get("type", [])
        kinds = {kinds} if isinstance(kinds, str) else set(kinds)
        if kinds & {"integer", "number"} and "string" not in kinds:  # else it may be a name
            assert part.get("unit"), where
        if part.get("type") == "object":
            free = part.get("additionalProperties")
            assert free is False or (isinstance(free, dict) and "propertyNames" in part), where


def test_the_names_of_plugins_are_those_of_their_modules(schema, repository):
    library = repository / "workflow"
    text = config_reference.SCHEMA.read_text(encoding="utf-8")
    families = re.findall(r"members: (evenhand[.\w]+)$", text, re.M)
    enums = re.findall(r"'enum': \[([^\]]*?)(?:, None)?\]", str(schema))
    for family in families:
        stems = {path.stem for path in library.joinpath(*family.split(".")).glob("*.py")}
        assert ", ".join(map(repr, sorted(stems - {"__init__"}))) in enums
    assert len(families) > 10 and "members" not in str(schema)
    assert any("'erm'" in one for one in enums)


def test_only_for_names_keys_and_values_that_there_are(schema):
    known = {where: part for where, part, _ in keys(schema)}
    for where, part, parent in keys(schema):
        needs = part.get("only_for", [])
        for need in needs if isinstance(needs, list) else [needs]:
            for place, values in need.items():
                other = known[place] if "." in place else parent["properties"][place]
                allowed = other.get("enum") or other.get("items", {}).get("enum")
                assert values == "any" or values == [None] or set(values) <= set(allowed), where


def test_the_page_shows_every_default(schema):
    """Also those of mappings, and of the keys of lists."""
    page = config_reference.reference(
        {"properties": {
            "m": {"type": "object", "description": "A.", "default": {"a": 1}},
            "l": {"type": "array", "description": "B.", "default": [],
                  "items": {"properties": {"k": {"type": "integer", "description": "C.",
                                                 "default": 7, "only_for": {"j": ["x", None]}}}}},
        }}
    )  # fmt: skip
    assert "| `m` | A. | mapping | `{a: 1}` |" in page
    assert "| `l.N.k` | C. Only with `j`: `x` or `null`. | integer | `7` |" in page


def test_a_positive_label_may_be_a_number(schema):
    table = {"format": "table", "positive": 1}
    filled = complete({"individual_fairness": {"datasets": {"t": table}}}, schema)
    own = table_options(expand(filled), "t")
    assert str(Options("t", own)).count("--positive 1")
    table["positive"] = True
    with pytest.raises(InputError, match=r"positive is true; it must be .*; put it into quotes"):
        complete({"individual_fairness": {"datasets": {"t": table}}}, schema)


#: Lists in which an order, a weight or a mapping may repeat an entry.
NO_SETS = {
    "models.NAME.train.files",
    "slguset.corpora.NAME.files",
    "legal.datasets.NAME.shares",
    "text.datasets.NAME.split.shares",
    "legal.objectives.NAME",
}


def test_a_list_that_is_a_set_or_a_grid_names_nothing_twice(schema):
    def lists(part, place):
        if part.get("type") == "array":
            yield place, part.get("uniqueItems", False)
        for key, inner in part.get("properties", {}).items():
            yield from lists(inner, f"{place}.{key}".lstrip("."))
        if isinstance(inner := part.get("additionalProperties"), dict):
            yield from lists(inner, f"{place}.NAME")

    assert {place for place, unique in lists(schema, "") if not unique} == NO_SETS
    with pytest.raises(InputError, match=r"individual_fairness\.lambdas names 1 twice"):
        complete({"individual_fairness": {"lambdas": [1, 1.0]}}, schema)


def test_the_defaults_are_valid(schema):
    assert complete(complete({}, schema), schema) == complete({}, schema)


CONFIGURATIONS = sorted((Path(__file__).parents[3] / "config").glob("*.yaml"))


@pytest.mark.parametrize("file", CONFIGURATIONS, ids=lambda file: file.stem)
def test_the_configurations_that_come_with_it_are_valid(schema, file):
    written = read_config(file)
    plan.check_effects(plan_legal.expand(complete(written, schema)), written)


def test_the_page_of_the_configuration_is_in_step_with_the_schema(repository):
    schema = read_schema(config_reference.SCHEMA)
    page = (repository / "docs" / "config.md").read_text(encoding="utf-8")
    assert page == config_reference.reference(schema), "run `make docs`"
