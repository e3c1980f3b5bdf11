"""Plan individual fairness: data sets, trainings, their options. See `evenhand.plan`."""

import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

from evenhand.core.config import check_names, pick
from evenhand.core.families import declared
from evenhand.core.sources import input_files
from evenhand.errors import InputError

Config = dict[str, Any]

#: Keys of a data set that are no options of `prepare_table`, or are passed on in another form.
NO_OPTIONS = ("files", "sources", "bins", "key")

#: Bytes of a table that is read before any job.
SMALL = 1 << 20

#: Keys of a method's grid, and keys of other options of `train_table`.
GRID = ["individual", "lambdas", "epsilons", "mus"]

TRAINING_OPTIONS = ["seeds", "js_base", "predicted_seeds"]

#: Options that have an effect only with the given key of the grid.
GOES_WITH = {"reduction": "lambdas", "epsilon_unit": "epsilons"}

_SECTION = "individual_fairness"


def expand(config: Config) -> Config:
    """Return the configuration with a data set for each protected attribute and each two of them.

    Raises
    ------
    InputError
        Bins are for a column that is not an attribute, or two data sets would have the same name.
    """
    datasets: dict[str, Any] = {}
    for name, data in config[_SECTION]["datasets"].items():
        listed = data["attribute"] if isinstance(data["attribute"], list) else [data["attribute"]]
        if twice := [column for column, times in Counter(listed).items() if times > 1]:
            problem = f"config: {_SECTION}.datasets.{name}.attribute names {twice[0]} twice"
            raise InputError(problem, remedy="keep one")
        key, attributes = f"{_SECTION}.datasets.{name}.bins", [*filter(None, listed)]
        hint = "; name one of these, or leave the bins out: a feature needs none"
        check_names(key, sorted(data["bins"]), attributes, "the protected attributes", hint)
        positive = data["positive"]
        values = positive if isinstance(positive, list) else [positive]
        data = data | {"positive": None if positive is None else [f"{value}" for value in values]}
        data |= {"others": isinstance(positive, list), "key": f"{_SECTION}.datasets.{name}"}
        parts = [(attribute,) for attribute in listed] + list(combinations(listed, 2))
        for part in parts:
            entry = data | {"attribute": None if part == (None,) else list(part)}
            key = name
            if len(parts) > 1:
                key = "_".join([name, *(re.sub(r"\W+", "_", column).lower() for column in part)])
                entry["title"] = f"{data['title'] or name} ({' and '.join(part)})"
            if key in datasets:
                problem = f"config: {_SECTION}.datasets.{name}: two data sets would be called {key}"
                raise InputError(problem, remedy="rename the data set, or a column")
            datasets[key] = entry
    return config | {_SECTION: config[_SECTION] | {"datasets": datasets}}


def table_options(config: Config, name: str) -> dict[str, Any]:
    """Return the options of `prepare_table`."""
    data = config[_SECTION]["datasets"][name]
    edges = {
        column: data["bins"][column] for column in data["attribute"] or () if column in data["bins"]
    }
    bins = [f"{column}={','.join(f'{edge:g}' for edge in edges[column])}" for column in edges]
    return {key: data[key] for key in data if key not in NO_OPTIONS} | {"bins": bins}


def check_tables(config: Config) -> None:
    """Check that tables name their columns, and data sets for splits and EIDIG's tracks exist.

    Raises
    ------
    InputError
        A check fails; the error names the key.
    """
    settings = config[_SECTION]
    names = settings["official_split"]
    check_names(f"{_SECTION}.official_split", names, settings["datasets"], "the data sets")
    formats = {dataset["format"] for dataset in settings["datasets"].values()}
    if formats and "integers" in settings["eidig"]["tracks"] and not formats & {*WITH_INTEGERS}:
        raise InputError(
            f"config: {_SECTION}.eidig.tracks names integers, and no data set has whole numbers",
            remedy=f"leave it out, or add a data set of the format {' or '.join(WITH_INTEGERS)}",
        )
    for data in settings["datasets"].values():
        lacking = [key for key in ("label", "attribute") if not data[key]]
        if data["format"] == "table" and lacking:
            problem = f"config: {data['key']}.{lacking[0]} is missing"
            raise InputError(problem, remedy="name a column")


def check_declared(config: Config) -> None:
    """Read the tables that are small, so that errors in them precede the first job.

    Of larger ones the columns and the positive label are checked.

    Raises
    ------
    InputError
        As in `prepare_table`, or a column is missing.
    """
    from evenhand.tabular.delimited import check_columns, check_positive, read_header
    from evenhand.tabular.prepare_table import read_people
    from evenhand.tabular.prepared import check

    for name, data in config[_SECTION]["datasets"].items():
        files = list(map(Path, data["files"]))
        if data["format"] != "table" or not files:
            continue
        options = table_options(config, name)
        if sum(path.stat().st_size for path in files) <= SMALL:
            check(read_people(files, options | {"name": name}))
            continue
        columns = {key: options[key] for key in ("label", "attribute", "features", "split")}
        for path in files:
            check_columns(read_header(path), path, **columns)
        check_positive(files, options["label"], options["positive"] or ())


def training_keys(config: Config, method: str) -> dict[str, str]:
    """Return the options of `train_table` for a method, with their keys in the configuration.

    A method's own grid has precedence; keys that the method does not use are left out.
    """
    settings = config[_SECTION]
    grid = settings["grids"].get(method, {})
    places = {key: f"{_SECTION}.grids.{method}.{key}" if key in grid else f"{_SECTION}.{key}"
              for key in GRID}  # fmt: skip
    uses, losses = declared(f"evenhand.learning.methods.{method}", "METHOD"), []
    if uses.get("takes_individual", True):
        losses = [name for name in pick(config, *places["individual"].split(".")) if name != "none"]
    else:
        del places["individual"]
    if not losses:
        del places["lambdas"]
    modules = [f"evenhand.learning.individual_losses.{name}" for name in losses]
    if not any(declared(module, "LOSS").get("takes_epsilon") for module in modules):
        del places["epsilons"]
    if "adversary_loss" not in uses:
        del places["mus"]
    places |= {key: f"{_SECTION}.{key}" for key in TRAINING_OPTIONS}
    return places | {key: f"{_SECTION}.{key}" for key, of in GOES_WITH.items() if of in places}


def training_options(config: Config, method: str, split: str = "random") -> dict[str, Any]:
    """Return the values of `training_keys`.

    On the official split, which only shows whether the split matters, the grid is replaced by the
    paper's weight 1 and the first threshold.
    """
    values = {
        key: pick(config, *place.split(".")) for key, place in training_keys(config, method).items()
    }
    if split == "official":
        fixed = {"lambdas": [1], "epsilons": values.get("epsilons", [])[:1]}
        values |= {key: value for key, value in fixed.items() if key in values}
    return {"individual": ["none"]} | values


def unused(config: Config) -> dict[str, str]:
    """Return the keys without an effect in this configuration, and why."""
    settings = config[_SECTION]
    if not settings["datasets"]:
        return {}
    used = {key for name in settings["methods"] for key in training_keys(config, name).values()}
    common = f"no method of {_SECTION}.methods uses it"
    notes = {f"{_SECTION}.{key}": common for key in (*GRID, *GOES_WITH)}
    for name, grid in settings["grids"].items():
        why = "the method does not use it"
        if name not in settings["methods"]:
            why = f"{name} is none of {_SECTION}.methods"
        notes |= {f"{_SECTION}.grids.{name}.{key}": why for key in grid}
    if "mlp" not in settings["methods"]:
        notes[f"{_SECTION}.official_split"] = f"mlp, which it is for, is none of {_SECTION}.methods"
    return {key: why for key, why in notes.items() if key not in used}


def training_modules(config: Config, method: str, split: str = "random") -> list[str]:
    """Return the plugins that `train_table` runs: the modules of the method and of its losses."""
    losses = training_options(config, method, split)["individual"]
    return [
        f"evenhand.learning.methods.{method}",
        *(f"evenhand.learning.individual_losses.{name}" for name in sorted(losses)),
    ]


def table_files(config: Config, sources: dict[str, dict[str, str]], name: str) -> list[str]:
    """Return the files of a data set of people.

    Raises
    ------
    InputError
        It has no files.
    """
    data = config[_SECTION]["datasets"][name]
    return input_files(config, sources, data["key"], data)


def table_runs(config: Config, kind: str = "runs") -> list[str]:
    """Return the runs of all data sets and methods; `kind` may be groups or predictions."""
    settings = config["individual_fairness"]
    files = []
    for name, data in settings["datasets"].items():
        folder = f"<results>/tabular/{name}/{kind}"
        files += [f"{folder}/random/{method}.parquet" for method in settings["methods"]]
        if name in settings["official_split"] and "mlp" in settings["methods"]:
            files.append(f"{folder}/official/mlp.parquet")
        if settings["eidig"]["seeds"]:
            tracks = settings["eidig"]["tracks"]
            files += [
                f"{folder}/eidig/{track}.parquet"
                for track in tracks
                if track == "base" or data["format"] in WITH_INTEGERS
            ]
    return files


def people_files(config: Config) -> dict[str, str | list[str]]:
    """Return the inputs of the people page, by argument name."""
    datasets = config["individual_fairness"]["datasets"]
    if not datasets:
        return {}
    predictions = table_runs(config, "predictions")
    return {
        "people": [f"<results>/tabular/{name}/data.parquet" for name in datasets],
        "meta": [f"<results>/tabular/{name}/data.json" for name in datasets],
        "runs": [file.replace("/predictions/", "/runs/", 1) for file in predictions],
        "predictions": predictions,
        "tables": "<results>/tables/individual",
    }


def people_options(config: Config) -> dict[str, list[str]]:
    """Return the other arguments of that page, in the order of its files."""
    datasets = config["individual_fairness"]["datasets"].values()
    return {"formats": [dataset["format"] for dataset in datasets]}


#: The formats with an integer encoding for EIDIG's own track.
WITH_INTEGERS = ("adult", "german")
