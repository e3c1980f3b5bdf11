"""Plan the sets of pairs. See `evenhand.plan`."""

from typing import Any

from evenhand import plan_models, plan_slguset
from evenhand.core.sources import source_path
from evenhand.errors import InputError

Config = dict[str, Any]


def check_sets(config: Config) -> None:
    """Check that every set of pairs can be made and is scored by a model.

    Raises
    ------
    InputError
        No model is for the set's language, its edition of SlguSet is not made, or only one of the
        released scores and gold labels is given.
    """
    slguset, released = config["slguset"], config["stereotypes"]["released"]
    if bool(released["scores"]) != bool(released["gold"]):
        lacks = "gold" if released["scores"] else "scores"
        problem = f"config: stereotypes.released has no {lacks}"
        raise InputError(problem, remedy="name both gold and scores")
    made = {"slguset": slguset["corpora"], "slguset_published": slguset["published"]}
    keys = {"slguset": "corpora", "slguset_published": "published"}
    for name, pair_set in _sets(config).items():
        edition = pair_set.get("edition")
        if edition and not made[edition]:
            problem = f"config: stereotypes.sets.{name} stands on {edition}, and nothing makes it"
            remedy = f"fill in slguset.{keys[edition]}, or leave the set out"
            raise InputError(problem, remedy=remedy)
        language = _language(config, pair_set)
        if not plan_models.models_for(config, language):
            raise InputError(
                f"config: no model scores stereotypes.sets.{name}"
                + (f", whose language is {language}" if language else ""),
                remedy="name a model of its language under models, or leave the set out",
            )


def unused(config: Config) -> dict[str, str]:
    """Return the keys without an effect in this configuration, and why."""
    settings = config["stereotypes"]
    alone = [name for name in settings["null_methods"] if name not in settings["methods"]]
    why = f"{', '.join(alone)} is none of stereotypes.methods"
    return {"stereotypes.null_methods": why} if alone else {}


def pair_sets(config: Config) -> dict[str, list[str]]:
    """Return the sets of pairs that can be made now, and the models that are scored on each.

    A set from SlguSet waits for the annotators, like SlguSet.
    """
    ready = plan_slguset.editions(config).values()
    return {
        name: plan_models.models_for(config, _language(config, pair_set))
        for name, pair_set in _sets(config).items()
        if "edition" not in pair_set or pair_set["edition"] in ready
    }


def _language(config: Config, pair_set: Config) -> str | None:
    """Return the language of a set of `_sets`; SlguSet has that of the pack."""
    default = plan_slguset.pack_of(config)["language"] if "edition" in pair_set else None
    return pair_set["language"] or default


def _sets(config: Config) -> dict[str, Config]:
    """Return the sets, with an edition only for those of the format slguset."""
    return {
        name: {
            key: value
            for key, value in pair_set.items()
            if key != "edition" or pair_set["format"] == "slguset"
        }
        for name, pair_set in config["stereotypes"]["sets"].items()
    }


def set_of_edition(config: Config, edition: str) -> str | None:
    """Return the first set of pairs from an edition of SlguSet that all of its models score."""
    models = plan_slguset.scored_models(config)
    for name, scored in pair_sets(config).items():
        if _sets(config)[name].get("edition") == edition and set(models) <= set(scored):
            return name
    return None


def pair_set_options(config: Config, name: str) -> dict[str, Any]:
    """Return the options of `read_pairs`. The default title of a file is the name of the set."""
    pair_set = config["stereotypes"]["sets"][name]
    title = pair_set["title"] or (name if "file" in pair_set else None)
    parts = {"part": pair_set["part"]} if pair_set["format"] == "stereoset" else {}
    return {"format": pair_set["format"], "title": title, **parts}


def pair_set_file(config: Config, sources: dict[str, dict[str, str]], name: str) -> str:
    """Return the file from which a set of pairs is read.

    Raises
    ------
    InputError
        The set has neither a file nor a source, or both.
    """
    pair_set = config["stereotypes"]["sets"][name]
    if pair_set["format"] == "slguset":
        return f"<results>/{pair_set['edition']}/slguset.parquet"
    if ("file" in pair_set) == ("source" in pair_set):
        problem = f"config: stereotypes.sets.{name} has " + (
            "both a file and a source" if "file" in pair_set else "no file and no source"
        )
        raise InputError(problem, remedy="give one of them")
    return pair_set.get("file") or source_path(config, sources, pair_set["source"])


#: Further tables of a model on a set of pairs, besides its scores.
STORES = ("tokens", "null")
