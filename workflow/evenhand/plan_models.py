"""Plan the language models: their folders and trainings. See `evenhand.plan`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evenhand.core.families import declared
from evenhand.errors import InputError
from evenhand.scoring.model_files import check_folder, is_pickled

Config = dict[str, Any]


def check_models(config: Config) -> None:
    """Check that every model has exactly one source, and that its folder is complete.

    Raises
    ------
    InputError
        A check fails; the error names the key, the folder and the missing file.
    """
    for name, model in config["models"].items():
        key = f"models.{name}"
        kinds = [kind for kind in ("path", "hub", "train", "pretrain") if kind in model]
        if len(kinds) != 1:
            raise InputError(
                f"config: {key} has {' and '.join(kinds) or 'none'} of path, hub, train and"
                " pretrain",
                remedy="give exactly one of them",
            )
        if "path" in model:
            try:
                check_folder(Path(model["path"]), pickled=True)
            except InputError as error:
                problem = f"config: {key}.path is {model['path']}: {error.problem}"
                raise InputError(problem, remedy=error.remedy) from error


def model_folder(config: Config, model: str) -> str | None:
    """Return the folder of a model, made by the workflow or given; None for a hub model."""
    settings = config["models"][model]
    made = "train" in settings or "pretrain" in settings or is_converted(config, model)
    return f"<results>/models/{model}" if made else settings.get("path")


def hub_place(config: Config, model: str) -> dict[str, str | None]:
    """Return hub_name and revision of a model; None if it has a folder."""
    settings = config["models"][model]
    if is_converted(config, model):
        return {"hub_name": None, "revision": None}
    return {"hub_name": settings.get("hub"), "revision": settings["revision"]}


def is_converted(config: Config, model: str) -> bool:
    """Return whether a model's weights are converted to safetensors first, as they are pickled."""
    settings = config["models"][model]
    return settings["convert"] or ("path" in settings and is_pickled(Path(settings["path"])))


def converted(config: Config) -> list[str]:
    """Return the models whose weights are converted to safetensors first."""
    return [name for name in config["models"] if is_converted(config, name)]


def train_inputs(config: Config, model: str, shards: Iterable[str]) -> dict[str, list[str]]:
    """Return the training inputs of a model: text files, or the sentences of the corpora."""
    if files := config["models"][model]["train"]["files"]:
        return {"files": files}
    return {"tables": [f"<results>/slguset/sentences/{shard}.parquet" for shard in shards]}


def trained(config: Config) -> list[str]:
    """Return the models that the workflow trains."""
    return [name for name, model in config["models"].items() if "train" in model]


def train_module(config: Config, model: str) -> str:
    """Return the module of a trained model's kind."""
    return f"evenhand.learning.language_models.{config['models'][model]['train']['kind']}"


def train_options(config: Config, model: str) -> dict[str, Any]:
    """Return the options of a training, with the settings of its kind of model."""
    training = config["models"][model]["train"]
    known = declared(train_module(config, model), "SETTINGS")
    settings = [f"{key}={training[key]}" for key in known if key in training]
    return {"kind": training["kind"], "settings": settings, "seed": training["seed"]}


def models_for(config: Config, language: str | None) -> list[str]:
    """Return the models that are scored on a set of this language."""
    return [
        name
        for name, model in config["models"].items()
        if language is None or model["language"] in (None, language)
    ]


def pretrained(config: Config) -> list[str]:
    """Return the models whose pretraining the workflow continues on the texts of a data set."""
    return [name for name, model in config["models"].items() if "pretrain" in model]
