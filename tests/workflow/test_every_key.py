"""Every key of the configuration: another value changes a job, or is refused, or the schema says
that it changes nothing.

Four configurations hold every key of the schema between them. Each value of each is changed in
turn, and the plan is made anew: some job must have other parameters, inputs or outputs, or there
must be another job. A key that has no effect where it stands (``dropout`` of a linear classifier)
must be refused with a sentence that says so.
"""

import ast
import copy
import functools
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from evenhand.core.config import Schema, complete, pick, read_schema
from evenhand.core.places import SCHEMA
from evenhand.errors import InputError
from harness import Planner

WHOLE = read_schema(SCHEMA)

#: The configurations and their sections, values to try, and names.
CASES = yaml.safe_load(Path(__file__).with_name("every_key.yaml").read_text(encoding="utf-8"))
CONFIGS, OTHERS = CASES["configs"], CASES["others"]

#: Of data sets that are all read by one rule, the same value of a key is changed in one only.
ALIKE = ("text.datasets", "slguset.corpora")


@pytest.fixture(scope="module")
def planner(tmp_path_factory) -> Iterator[Planner]:
    """What the configurations and `OTHERS` name, and no more."""
    folder = tmp_path_factory.mktemp("every_key")
    demo = "resources/demo"
    planner = Planner(folder)
    for name in ("models/one", "models/two"):
        (folder / name).mkdir(parents=True)
        for file in ("config.json", "tokenizer.json", "vocab.txt", "model.safetensors"):
            (folder / name / file).write_text("{}")
    for part in ("packs/zh_gender", "legal"):
        shutil.copytree(folder / "resources" / part, folder / "tables", dirs_exist_ok=True)
    shutil.copy(folder / "tables/swap_gender_zh.csv", folder / "tables/swap_names_zh.csv")
    for name, like in (
        ("mirror/wire/stories.jsonl", f"{demo}/newspapers/wire/stories.jsonl"),
        ("published.csv", f"{demo}/slguset_published.csv"),
        ("pairs.csv", f"{demo}/stereotypes/pairs.csv"),
        ("people.csv", f"{demo}/tabular/loans.csv"),
        ("settings.csv", "resources/iifr/settings.csv"),
        ("training.csv", "resources/iifr/training.csv"),
        ("labels.csv", "resources/packs/zh_gender/keywords.csv"),
        ("quotas.csv", "resources/packs/zh_gender/keywords.csv"),
        ("audited/ecthr/applicant_gender/handed_out.csv", "resources/sources.csv"),
        ("audited/ecthr/applicant_gender/a.csv", "resources/sources.csv"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / like, folder / name)
    sources = (folder / "resources/sources.csv").read_text(encoding="utf-8")
    digests = re.sub(r",([0-9a-f])([0-9a-f]{63}),", r",\2\1,", sources)
    (folder / "sources.csv").write_text(digests, encoding="utf-8")
    yield planner
    planner.close()


def walk(value: Any, part: Schema, path: tuple = (), place: str = "") -> Iterator[tuple]:
    """Each key with a value: its path in the configuration, its place in the schema, its schema."""
    if isinstance(value, dict):
        known = part.get("properties", {})
        for key, inner in value.items():
            name = key if key in known else "NAME"
            yield from walk(
                inner,
                known.get(key) or part["additionalProperties"],
                (*path, key),
                f"{place}.{name}".lstrip("."),
            )
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for number, one in enumerate(value):
            yield from walk(one, part["items"], (*path, number), f"{place}.N")
    else:
        yield path, place, part


def others(value: Any, place: str, part: Schema) -> Iterator[Any]:
    """Values that are allowed, and not this one."""
    kinds, items = part.get("type", []), part.get("items", {})
    kinds = {kinds} if isinstance(kinds, str) else {*kinds}
    if place in OTHERS:
        found = OTHERS[place]
    elif "enum" in part:
        found = part["enum"]
    elif "enum" in items:
        found = [value[:-1], value[1:], *([*value, one] for one in items["enum"])]
    elif "boolean" in kinds:
        found = [True, False]
    elif {"number", "integer"} & kinds:
        found = [0.3, 0.6, 7, (value or 0) + 1]
    elif items:
        found = [[0.3], value[1:]]
    else:
        raise AssertionError(f"OTHERS has no value for {place}, which is {value!r}")
    for one in found:
        if one != value and not list(jsonschema.Draft202012Validator(part).iter_errors(one)):
            yield one


def values() -> Iterator[Any]:
    """A test for each value that a configuration has in its sections, by default or not."""
    for name, case in CONFIGS.items():
        config, seen = complete(case["config"], WHOLE), set()
        for path, place, part in walk(config, WHOLE):
            key = ".".join(map(str, path))
            again = place.startswith(ALIKE) and (place, repr(pick(config, *path))) in seen
            if not again and any(
                f"{key}.".startswith(f"{section}.") for section in case["sections"]
            ):
                yield pytest.param(name, path, place, part, id=f"{name}: {key}")
            seen.add((place, repr(pick(config, *path))))


def put(config: dict, path: tuple, value: Any) -> dict:
    """The configuration with another value at a path."""
    changed = inner = copy.deepcopy(config)
    for key in path[:-1]:
        inner = inner.setdefault(key, {}) if isinstance(inner, dict) else inner[key]
    inner[path[-1]] = value
    return changed


PLANS: dict[str, Any] = {}


@pytest.mark.parametrize(("name", "path", "place", "part"), list(values()))
def test_another_value_is_seen(planner, name, path, place, part):
    config = CONFIGS[name]["config"]
    if name not in PLANS:
        PLANS[name] = planner.plan(config)
    assert isinstance(PLANS[name], dict), PLANS[name]
    value = pick(complete(config, WHOLE), *path)
    tried = {}
    for other in others(value, place, part):
        plan = planner.plan(put(config, path, other))
        if part.get("effect") == "none":
            assert plan == PLANS[name], "the schema says that it has no effect"
            return
        if isinstance(plan, dict) and plan != PLANS[name]:
            return
        tried[repr(other)] = plan if isinstance(plan, str) else "ignored"
    said = [plan for plan in tried.values() if plan.startswith("error: config: ")]
    assert said == list(tried.values()), tried
    assert path[-1] in DECIDES or any("has no effect" in plan for plan in said), tried


#: Keys that decide which others there must be, so that their other values may need more changes.
DECIDES = ("format", "kind", "header")


@pytest.mark.parametrize("name", CONFIGS)
def test_jobs_name_keys_that_there_are(planner, name):
    """`make why` and provenance call a parameter by its key."""
    plan = planner.plan(CONFIGS[name]["config"])
    values = {param for params, *_ in plan.values() for param in params if param.startswith("{")}
    keys = {key for value in values for key in ast.literal_eval(value)} - {"inputs"}
    assert len(keys) > 20
    for key in keys:
        part = WHOLE
        for step in [] if key.startswith("--") else key.split(" ")[0].split("."):
            part = part.get("properties", {}).get(step) or part.get("additionalProperties")
            assert part, key


def test_a_key_that_is_set_twice_is_refused_with_its_line(planner):
    assert "walked.yaml:2: sets the key individual_fairness a second time, after line 1" in (
        planner.plan("individual_fairness: {methods: [mlp]}\nindividual_fairness: {}\n")
    )


@pytest.mark.parametrize("kind", CASES["named"])
def test_a_name_works_or_is_refused_in_one_line(planner, kind):
    accepted = []
    for name in CASES["names"]:
        config = yaml.safe_load(CASES["named"][kind].replace("X", json.dumps(name)))
        try:
            complete(config, WHOLE)
        except InputError as error:
            assert re.fullmatch(r"config: .*; it must be .*", str(error)), name
        else:
            accepted.append(config)
    assert 4 < len(accepted) < len(CASES["names"])
    one_at_a_time = kind in ("round", "annotator")  # all others stand side by side
    for config in accepted if one_at_a_time else [functools.reduce(merge, accepted)]:
        plan = planner.plan(config)
        assert isinstance(plan, dict), plan


def merge(one: Any, two: Any) -> Any:
    if not isinstance(one, dict):
        return two
    return one | {key: merge(one.get(key), value) for key, value in two.items()}
