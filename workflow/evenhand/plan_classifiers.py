"""Plan the classifiers of legal cases: trainings, their inputs and outputs.

See `evenhand.plan`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand import plan_legal, plan_models
from evenhand.core.declared import declared
from evenhand.core.families import member_names
from evenhand.errors import InputError
from evenhand.legal.dataset import Attribute
from evenhand.legal.declaration import COLUMN
from evenhand.legal.groups import LABEL, PLUS

Config = dict[str, Any]

#: The paper's classifier that each kind represents by default; in the order of the paper.
STANDS_FOR = {"linear": "linear", "frozen": "none", "hierarchical": "transformer"}

#: The folder of the features that each kind uses.
READS = {"linear": "words", "frozen": "embeddings", "hierarchical": "tokens"}

#: Aims of objectives that remove the groups (`evenhand.learning.objective.REMOVES`).
REMOVES = ("erase", "hide")

#: Values of the objectives' option ``pairs`` that require further inputs.
COUNTERFACTUAL, GRAPH = "counterfactual", "graph"


def check_classifiers(config: Config) -> None:
    """Check that every classifier can be trained as configured.

    Raises
    ------
    InputError
        A classifier needs a model, names an unknown data set or attribute, has unsuitable groups
        or objectives, or requests counterfactuals without a table.
    """
    settings = config["legal"]
    for name, one in settings["classifiers"].items():
        key = plan_legal.section(config, "classifiers", name)
        if one["kind"] != "linear" and one["model"] not in config["models"]:
            raise InputError(
                f"config: {key} is {one['kind']} and needs a model, and {one['model']} is none",
                remedy="name one of models",
            )
        for data in one["datasets"]:
            if data not in settings["datasets"]:
                raise InputError(f"config: {key} names {data}, which is no data set")
        known = {a for data in one["datasets"] for a in plan_legal.attributes(config, data)}
        if strange := [a for a in one["attributes"] if a not in known]:
            raise InputError(
                f"config: {key} names {strange[0]}, which none of its data sets has",
                remedy=f"they have {', '.join(sorted(known))}",
            )
        for data in one["datasets"]:
            there = [a.name for a in grouped(config, data)]
            if strange := [a for a in one["groups"] if a not in (*there, LABEL)]:
                raise InputError(
                    f"config: {key}.groups names {strange[0]}, which {data} does not have",
                    remedy=f"it has {', '.join(there)} and {LABEL}",
                )
        if one["groups"] == [LABEL]:
            raise InputError(
                f"config: {key}.groups has the label alone",
                remedy="add an attribute, or use the objective class_balanced",
            )
        fixed = [o for o in one["objectives"] if one["kind"] == "linear" and learns(config, o)]
        if fixed:
            raise InputError(
                f"config: {key} is linear, and {fixed[0]} needs a representation that is trained",
                remedy="use leace, or compat=true in legal.objectives for the published form",
            )
    check_counterfactuals(config)


def unused(config: Config) -> dict[str, str]:
    """Return the keys without an effect in this configuration, and why."""
    settings, found = config["legal"], {}
    if not settings["datasets"]:
        return found
    for name, one in settings["classifiers"].items():
        place = plan_legal.section(config, "classifiers", name)
        if not any(map(uses_groups, one["objectives"])):
            why = "none of its objectives sees groups"
            keys = ("attributes", "groups", "select")
            found |= {f"{place}.{key}": why for key in keys}
        elif one["groups"]:
            found[f"{place}.attributes"] = "groups says what the objectives see"
    trained = {name for one in settings["classifiers"].values() for name in one["objectives"]}
    for name in settings["objectives"].keys() - trained:
        found[f"legal.objectives.{name}"] = "no classifier is trained with it"
    if not swapped(config):
        found["legal.swap"] = "no counterfactuals are requested"
    return found


def other_files(config: Config) -> list[str]:
    """Return results that no page reads, but whose provenance is recorded."""
    return [
        file
        for name in config["legal"]["datasets"]
        for file in predictions(config, name) + histories(config, name)
    ]


def classifiers(config: Config, kind: str) -> list[str]:
    """Return the classifiers of a kind."""
    chosen = config["legal"]["classifiers"].items()
    return [name for name, one in chosen if one["kind"] == kind]


def classifiers_of(config: Config, name: str) -> list[str]:
    """Return the classifiers that are trained on a data set; linear ones first, as in the paper."""
    order = list(STANDS_FOR)
    chosen = config["legal"]["classifiers"]
    own = [one for one in chosen if name in chosen[one]["datasets"]]
    return sorted(own, key=lambda one: order.index(chosen[one]["kind"]))


def standing(config: Config, name: str) -> dict[str, list[str]]:
    """Return the classifiers of a data set that represent the paper's, by the paper's classifier.

    Also the objectives that run as in the published code (`compat_objectives`), and the
    development scores that select epochs (`select`).
    """
    found: dict[str, list[str]] = {"linear": [], "transformer": []}
    for classifier in classifiers_of(config, name):
        one = config["legal"]["classifiers"][classifier]
        if one["select"] != "macro_f1":
            found.setdefault("select", []).append(f"{classifier}={one['select']}")
        what = one["stands_for"] or STANDS_FOR[one["kind"]]
        if what != "none":
            found[what].append(classifier)
    options = config["legal"]["objectives"]
    found["compat_objectives"] = [
        one for one in options if any(word.lower() == "compat=true" for word in options[one])
    ]
    return {what: names for what, names in found.items() if names}


def _objective(objective: str, name: str) -> Any:
    """Return a constant of an objective."""
    return declared(f"evenhand.learning.objectives.{objective}", name)


def objective_titles() -> dict[str, list[str]]:
    """Return all objectives, and their titles."""
    names = [one.rpartition(".")[2] for one in member_names("evenhand.learning.objectives")]
    return {
        "objectives": names,
        "objective_titles": [_objective(name, "TITLE") or name for name in names],
    }


def uses_groups(objective: str) -> bool:
    """Return whether an objective depends on groups."""
    return bool(_objective(objective, "USES_GROUPS"))


def predictions(config: Config, name: str) -> list[str]:
    """Return the prediction files of a data set's classifiers, one per training (or its seeds)."""
    return [file for *_, files in trainings(config, name) for file in files]


def trainings(config: Config, name: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield classifier, objective and attribute of each training, and its prediction files."""
    for classifier in classifiers_of(config, name):
        one = config["legal"]["classifiers"][classifier]
        seeds = ["all"] if seeds_together(config, classifier) else range(one["seeds"])
        for objective in one["objectives"]:
            for attribute in _trained_with(config, name, classifier, objective):
                folder = f"<results>/legal/{name}/predictions/{classifier}/{objective}/{attribute}"
                files = [f"{folder}/{seed}.parquet" for seed in seeds]
                yield classifier, objective, attribute, files


def histories(config: Config, name: str) -> list[str]:
    """Return the training histories of a data set, in the order of `predictions`."""
    folder = f"<results>/legal/{name}"
    return [
        f"{folder}/history/" + file.removeprefix(f"{folder}/predictions/")
        for file in predictions(config, name)
    ]


def _trained_with(config: Config, name: str, classifier: str, objective: str) -> list[str]:
    if not uses_groups(objective):
        return [plan_legal.NO_ATTRIBUTE]
    one = config["legal"]["classifiers"][classifier]
    if one["groups"]:  # objectives that remove the groups must not remove the label
        dropped = LABEL if _objective(objective, "AIM") in REMOVES else None
        return [PLUS.join(part for part in one["groups"] if part != dropped)]
    chosen = one["attributes"]
    return [a.name for a in grouped(config, name) if not chosen or a.name in chosen]


def grouped(config: Config, name: str) -> list[Attribute]:
    """Return the attributes of a data set that have groups."""
    every = plan_legal.dataset(config, name).attributes
    return [one for one in every if one.groups or one.module == COLUMN]


def learns(config: Config, objective: str) -> bool:
    """Return whether an objective trains an adversary on the representation."""
    options = config["legal"]["objectives"].get(objective) or []
    compat = any(one.lower() == "compat=true" for one in options)
    return "inner_steps" in (_objective(objective, "OPTIONS") or {}) and not compat


def training_options(
    config: Config, name: str, classifier: str, objective: str, attribute: str
) -> dict[str, Any]:
    """Return the options of a training, without settings that are the kind's defaults."""
    one = config["legal"]["classifiers"][classifier]
    defaults = declared(f"evenhand.legal.classifiers.{one['kind']}", "SETTINGS")
    chosen = one | {"lr": one["learning_rate"]}
    settings = [
        f"{key}={chosen[key]}"
        for key, default in defaults.items()
        if chosen[key] is not None
        and chosen[key] != default
        # without groups, epochs are not selected by group scores
        and not (key == "select" and attribute == plan_legal.NO_ATTRIBUTE)
    ]
    return {
        "family": one["kind"],
        "classifier": classifier,
        "objective": objective,
        "attribute": None if attribute == plan_legal.NO_ATTRIBUTE else attribute,
        "objective_options": config["legal"]["objectives"].get(objective),
        "settings": settings or None,
    }


def seeds_together(config: Config, classifier: str) -> bool:
    """Return whether one job trains all seeds of a classifier."""
    return config["legal"]["classifiers"][classifier]["kind"] != "hierarchical"


def pairs(config: Config, objective: str) -> str | None:
    """Return the kind of pairs that an objective compares, if it has the option ``pairs``."""
    given = config["legal"]["objectives"].get(objective) or []
    chosen = [one.removeprefix("pairs=") for one in given if one.startswith("pairs=")]
    return chosen[-1] if chosen else (_objective(objective, "OPTIONS") or {}).get("pairs")


def predicts_counterfactuals(config: Config, classifier: str, objective: str) -> bool:
    """Return whether a training uses the cases' counterfactuals."""
    configured = config["legal"]["classifiers"][classifier]["counterfactuals"]
    return configured or pairs(config, objective) == COUNTERFACTUAL


def swap_tables(config: Config, name: str) -> dict[str, dict[str, str]]:
    """Return the tables for making counterfactuals of a data set.

    Returns
    -------
    dict
        words and followers, each with the existing files by language.
    """
    folder = Path(config["legal"]["tables"])
    found: dict[str, dict[str, str]] = {"words": {}, "followers": {}}
    for language in plan_legal.dataset(config, name).languages:
        stem = f"swap_{config['legal']['swap']}_{language}"
        for what, end in (("words", ""), ("followers", "_followers")):
            if (folder / f"{stem}{end}.csv").is_file():
                found[what][language] = str(folder / f"{stem}{end}.csv")
    return found


def training_inputs(
    config: Config, name: str, classifier: str, objective: str, attribute: str
) -> dict[str, str]:
    """Return the files that a training reads, by argument name."""
    one, folder = config["legal"]["classifiers"][classifier], f"<results>/legal/{name}"
    kind, model = one["kind"], one["model"]
    made = f"{READS[kind]}/{classifier if kind == 'linear' else model}"
    files = {
        "data": f"{folder}/training/{attribute}.parquet",
        "features": f"{folder}/{made}.arrow",
    }
    if kind != "linear":
        files["features_meta"] = f"{folder}/{made}.json"
    if kind == "hierarchical" and (encoder := plan_models.model_folder(config, model)):
        files["model"] = encoder
    if predicts_counterfactuals(config, classifier, objective):
        files["counterfactuals"] = f"{folder}/twins/{made}.arrow"
        if kind == "hierarchical":
            files["counterfactuals_meta"] = f"{folder}/twins/{made}.json"
    if pairs(config, objective) == GRAPH:
        space = made if kind == "linear" else f"embeddings/{model}"
        files["neighbours"] = f"{folder}/neighbours/{space}.parquet"
    return files


def with_counterfactuals(config: Config, name: str) -> list[str]:
    """Return the predictions of a data set that have counterfactuals."""
    return [
        file
        for classifier, objective, _, files in trainings(config, name)
        for file in files
        if predicts_counterfactuals(config, classifier, objective)
    ]


def swapped(config: Config) -> list[str]:
    """Return the data sets for which a classifier predicts counterfactuals."""
    return [name for name in scored(config) if with_counterfactuals(config, name)]


def check_counterfactuals(config: Config) -> None:
    """Check that there is a table of words for requested counterfactuals.

    Raises
    ------
    InputError
        There is no such table for any language of the data set.
    """
    for name in swapped(config):
        if not swap_tables(config, name)["words"]:
            swap, folder = config["legal"]["swap"], config["legal"]["tables"]
            languages = plan_legal.dataset(config, name).languages
            files = [f"swap_{swap}_{one}.csv" for one in languages]
            raise InputError(
                f"config: counterfactuals of {name} are requested, and no table lists the words of"
                f" {swap} ({' or '.join(files)} in {folder})",
                remedy="write such a table, name another one in legal.swap, or request none of"
                f" {name} (counterfactuals of its classifiers, or pairs=counterfactual)",
            )


def scored(config: Config) -> list[str]:
    """Return the data sets that classifiers are trained on."""
    return [name for name in config["legal"]["datasets"] if classifiers_of(config, name)]


def table_folders(config: Config) -> list[str]:
    """Return the folders of the tables of classifiers, one per data set."""
    return [f"<results>/tables/classifiers/{name}" for name in scored(config)]


def declarations(config: Config) -> dict[str, list[str]]:
    """Return the declarations of the data sets that classifiers are trained on."""
    return {"declarations": [plan_legal.declaration(config, name) for name in scored(config)]}


def classifiers_page_files(config: Config) -> dict[str, str | list[str]]:
    """Return the inputs of the report on classifiers, by argument name."""
    folders = table_folders(config)
    findings = "<results>/tables/legal_classifier_findings.json"
    return {"tables": folders, "findings": findings} if folders else {}


def cases_page_files(config: Config) -> dict[str, list[str]]:
    """Return the inputs of the cases page, by argument name."""
    names = list(config["legal"]["datasets"])
    if not names:
        return {}
    return {
        "cases": [f"<results>/legal/{name}/{name}.parquet" for name in names],
        "records": [file for name in names for file in plan_legal.records(config, name)],
        "predictions": [file for name in names for file in predictions(config, name)],
    }


def cases_page_options(config: Config) -> dict[str, list[str]]:
    """Return the other arguments of that page, in the order of its files."""
    datasets = list(config["legal"]["datasets"])
    trainings = [
        file.removeprefix("<results>/legal/").removesuffix(".parquet")
        for name in datasets
        for file in predictions(config, name)
    ]
    parts = [f"{name}/{part}" for name in datasets for part in plan_legal.parts(config, name)]
    return {
        "titles": plan_legal.titles(config),
        "names": datasets,
        "parts": parts,
        **objective_titles(),
        "trainings": [one.replace("/predictions/", "/", 1) for one in trainings],
    }
