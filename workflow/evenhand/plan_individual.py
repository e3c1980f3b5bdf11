"""What the Snakefile asks about the tables of people. See `evenhand.plan`."""

from typing import Any

from evenhand.errors import InputError
from evenhand.sources import source_path

Config = dict[str, Any]

#: What `prepare_table` is told of a data set.
TABLE_OPTIONS = ["format", "label", "positive", "attribute", "features", "categories", "scale"]

TABLE_OPTIONS += ["test_share", "title"]

#: What makes a method's grid, and what else `train_table` is told.
GRID = ["individual", "lambdas", "epsilons", "mus"]

TRAINING_OPTIONS = ["seeds", "reduction", "js_base", "epsilon_unit", "predicted_seeds"]


def training_options(config: Config, method: str, split: str = "random") -> dict[str, Any]:
    """What `train_table` is told of a method: its own grid, where it has one, and the common.

    On the official split, which only shows whether the split matters, the paper's weight 1 and
    the first threshold stand for the grid.
    """
    settings = config["individual_fairness"]
    own = settings["grids"].get(method, {})
    grid = {key: own.get(key, settings[key]) for key in GRID}
    if split == "official":
        grid |= {"lambdas": [1], "epsilons": grid["epsilons"][:1]}
    return grid | {key: settings[key] for key in TRAINING_OPTIONS}


def training_modules(config: Config, method: str, split: str = "random") -> list[str]:
    """The plugins that `train_table` runs for a method: its own module, and its losses'."""
    losses = training_options(config, method, split)["individual"]
    return [
        f"evenhand.learning.methods.{method}",
        *(f"evenhand.learning.individual_losses.{name}" for name in sorted(losses)),
    ]


def table_files(config: Config, sources: dict[str, dict[str, str]], name: str) -> list[str]:
    """The files of a data set of people.

    Raises
    ------
    InputError
        It has none.
    """
    one = config["individual_fairness"]["datasets"][name]
    if not one["files"] and not one["sources"]:
        raise InputError(
            f"config: individual_fairness.datasets.{name} names neither files nor sources"
        )
    return one["files"] + [source_path(config, sources, source) for source in one["sources"]]


def table_runs(config: Config, kind: str = "runs") -> list[str]:
    """The runs of all data sets and methods; `kind` may be groups or predictions."""
    settings = config["individual_fairness"]
    files = []
    for name, one in settings["datasets"].items():
        folder = f"<results>/tabular/{name}/{kind}"
        files += [f"{folder}/random/{method}.parquet" for method in settings["methods"]]
        if name in settings["official_split"] and "mlp" in settings["methods"]:
            files.append(f"{folder}/official/mlp.parquet")
        if settings["eidig"]["seeds"]:
            tracks = settings["eidig"]["tracks"]
            files += [
                f"{folder}/eidig/{track}.parquet"
                for track in tracks
                if track == "base" or one["format"] in WITH_INTEGERS
            ]
    return files


def people_files(config: Config) -> dict[str, list[str]]:
    """What the page of the people shows, and what is counted of them, by the names of arguments."""
    datasets = config["individual_fairness"]["datasets"]
    if not datasets:
        return {}
    predictions = table_runs(config, "predictions")
    return {
        "people": [f"<results>/tabular/{name}/data.parquet" for name in datasets],
        "meta": [f"<results>/tabular/{name}/data.json" for name in datasets],
        "runs": [file.replace("/predictions/", "/runs/", 1) for file in predictions],
        "predictions": predictions,
        "tables": [f"<results>/tables/iifr_table_{number}.csv" for number in (4, 8)],
    }


def people_options(config: Config) -> dict[str, list[str]]:
    """What that page is told of these files, in their order."""
    places = [
        file.removeprefix("<results>/tabular/").removesuffix(".parquet")
        for file in table_runs(config, "predictions")
    ]
    datasets = config["individual_fairness"]["datasets"].values()
    return {
        "formats": [one["format"] for one in datasets],
        "trained_on": [place.replace("/predictions/", "/", 1) for place in places],
    }


#: The formats that have whole numbers for EIDIG's own track.
WITH_INTEGERS = ("adult", "german")
