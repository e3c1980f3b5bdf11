"""What the Snakefile asks about the models of a configuration. See `evenhand.plan`."""

from collections.abc import Iterable
from typing import Any

Config = dict[str, Any]

#: The language of SlguSet.
CHINESE = "zh"


def model_folder(config: Config, model: str) -> str | None:
    """The folder of a model that is trained here or that the user names; none on the hub."""
    settings = config["models"][model]
    made = "train" in settings or "pretrain" in settings
    return f"<results>/models/{model}" if made else settings.get("path")


def train_inputs(config: Config, model: str, shards: Iterable[str]) -> dict[str, list[str]]:
    """What a model is trained on: text files, or the sentences of the corpora."""
    if files := config["models"][model]["train"]["files"]:
        return {"files": files}
    return {"tables": [f"<results>/slguset/sentences/{shard}.parquet" for shard in shards]}


def models_trained(config: Config, kind: str) -> list[str]:
    """The models of a kind (masked, causal) that are trained here."""
    return [
        name
        for name, model in config["models"].items()
        if "train" in model and model["train"]["kind"] == kind
    ]


def models_for(config: Config, language: str | None) -> list[str]:
    """The models that are scored on a set of this language."""
    return [
        name
        for name, model in config["models"].items()
        if language is None or model["language"] in (None, language)
    ]


def pretrained(config: Config) -> list[str]:
    """The models whose training goes on here, on the texts of a data set."""
    return [name for name, model in config["models"].items() if "pretrain" in model]
