"""Plan the audits of predictions: their files, options and pages. See `evenhand.plan`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evenhand import plan_classifiers
from evenhand.core.config import check_names
from evenhand.errors import InputError
from evenhand.legal.groups import NO_ATTRIBUTE
from evenhand.legal.groups import title as groups_title
from evenhand.plan_legal import SMALL, as_text, with_keys
from evenhand.plan_legal import dataset as dataset_of
from evenhand.text.phrases import listed

Config = dict[str, Any]

#: The format of predictions by a classifier that the workflow trains.
CLASSIFIER = "classifier"

#: Options of `audit_predictions` with keys of the same names.
OPTIONS = ["format", "title", "label", "prediction", "groups", "positive", "id", "cluster"]
OPTIONS += ["counterfactual_of", "threshold"]


def expand(config: Config) -> Config:
    """Return the configuration with an entry for each audited training of a text data set.

    Raises
    ------
    InputError
        The user's predictions have the name of such an entry.
    """
    made, called = {}, dict(zip(*plan_classifiers.objective_titles().values(), strict=True))
    for data, dataset in config["text"]["datasets"].items():
        title, label = dataset["title"] or data, dataset["label"]
        for classifier, objective, attribute, files in plan_classifiers.trainings(config, data):
            if objective not in dataset["audited"]:
                continue
            named = [] if attribute == NO_ATTRIBUTE else [attribute]
            words = [classifier, called[objective]]
            trained_on = [groups_title(each, dataset_of(config, data)) for each in named]
            words += [f"trained on groups of {groups}" for groups in trained_on]
            name = "_".join([data, classifier, objective, *named]).replace("+", "_")
            made[name] = {
                **{"format": CLASSIFIER, "title": ", ".join([title, *words]), "files": []},
                **{"dataset": data, "predictions": files, "positive": as_text(label["positive"])},
            }
    if twice := sorted({*made} & {*config["predictions"]}):
        problem = f"config: predictions.{twice[0]} has the name of an audit of text.datasets"
        raise InputError(problem, remedy="rename it")
    return config | {"predictions": dict(sorted((config["predictions"] | made).items()))}


def unused(config: Config) -> dict[str, str]:
    """Return the keys without an effect in this configuration, and why.

    Those of a data set without a classifier are checked (`plan_legal`) and kept for one.
    """
    reasons = {}
    for data, dataset in config["text"]["datasets"].items():
        key, classifiers = f"text.datasets.{data}", config["legal"]["classifiers"].values()
        trained = {
            o for each in classifiers if data in each["datasets"] for o in each["objectives"]
        }
        if not trained:
            continue
        wrong = [name for name in dataset["audited"] if name not in trained]
        if wrong:
            reasons[f"{key}.audited"] = f"no classifier is trained on {data} with {wrong[0]}"
        if not trained & {*dataset["audited"]}:
            cure = f" (to audit one, write `audited: [{min(trained)}]`, or train with erm)"
            reasons[f"{key}.label.positive"] = f"no classifier of {data} is audited{cure}"
    return reasons


def names(config: Config, trained: bool) -> list[str]:
    """Return the predictions of classifiers that the workflow trains, or the others."""
    predictions = config["predictions"].items()
    return [name for name, entry in predictions if (entry["format"] == CLASSIFIER) == trained]


def check_predictions(config: Config) -> dict[str, str]:
    """Check the entries, and return the files that they name, by key.

    Raises
    ------
    InputError
        An entry is incomplete or inconsistent; the error names the key.
    """
    named = {}
    for name, entry in config["predictions"].items():
        key = f"predictions.{name}"
        if entry["format"] == CLASSIFIER:
            continue
        named |= {f"{key}.files.{i}": path for i, path in enumerate(entry["files"])}
        named |= {f"{key}.gold": entry["gold"]} if entry["gold"] else {}
        if entry["format"] == "lm_eval":
            continue
        is_predicted = entry["prediction"] is not None
        either = "give either `prediction` or `probabilities`"
        lacking = [part for part in ("label", "groups") if not entry[part]]
        lacking += [] if is_predicted or entry["probabilities"] else ["prediction"]
        if lacking:
            remedy = either if "prediction" in lacking else None
            names = listed([f"{key}.{part}" for part in lacking])
            verb = "is" if len(lacking) == 1 else "are"
            raise InputError(f"config: {names} {verb} missing", remedy=remedy)
        if len(entry["files"]) != 1:
            raise InputError(f"config: {key}.files must name one file")
        if is_predicted and entry["probabilities"]:
            problem = f"config: {key}.prediction has no effect beside `probabilities`"
            raise InputError(problem, remedy=either)
        hint = "; name one of these, add the column to `groups`, or leave its bins out"
        for name in entry["groups"]:
            parts = [part.strip() for part in name.split(",")]
            if len(parts) > 1 and {*parts} & {*entry["bins"]}:
                hint = f"; name {listed(parts)} without a comma"
        check_names(f"{key}.bins", sorted(entry["bins"]), entry["groups"], "`groups`", hint)
    return named


def check_tables(config: Config) -> None:
    """Read the tables of predictions that are small, so that errors in them precede the first job.

    Of larger ones the label is checked.

    Raises
    ------
    InputError
        As in `evenhand.predictions.read.read_predictions`; the error names the file or the key.
    """
    from evenhand.predictions.read import read_predictions
    from evenhand.tabular.delimited import check_columns, check_positive, read_header

    for name, entry in config["predictions"].items():
        if entry["format"] != "table":
            continue
        paths = [Path(path) for path in (*entry["files"], entry["gold"]) if path]
        if not all(path.is_file() for path in paths):
            continue  # they are fetched
        positive = as_text(entry["positive"])
        if sum(path.stat().st_size for path in paths) > SMALL:
            with with_keys(f"predictions.{name}", entry):
                check_columns(read_header(paths[-1]), paths[-1], label=entry["label"])
                check_positive(paths[-1:], entry["label"], [positive] if positive else [])
            continue
        shared = {key: entry[key] for key in OPTIONS if key not in ("format", "title")}
        shared |= {key: entry[key] for key in ("bins", "probabilities")}
        gold = paths[1] if entry["gold"] else None
        with with_keys(f"predictions.{name}", entry):
            read_predictions(paths[0], **shared | {"gold": gold, "positive": positive})


def options(config: Config, name: str) -> dict[str, Any]:
    """Return the options of an audit."""
    entry = config["predictions"][name]
    values = {key: entry[key] for key in OPTIONS}
    values["positive"] = as_text(entry["positive"])
    values["classes"] = list(entry["probabilities"])
    values["probabilities"] = list(entry["probabilities"].values())
    values["bins"] = [
        f"{column}={','.join(f'{edge:g}' for edge in edges)}"
        for column, edges in entry["bins"].items()
    ]
    return values


def option_keys(name: str) -> dict[str, str]:
    """Return the configuration keys of options with other names."""
    return {"classes": f"predictions.{name}.probabilities"}


def page_files(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the results of audits that pages show, by kind."""
    return {
        "meta": [f"<results>/predictions/{name}/meta.json" for name in names],
        "tables": [f"<results>/tables/predictions/{name}" for name in names],
    }


def explorer_files(config: Config) -> dict[str, str | list[str]]:
    """Return the inputs of the explorer of cases, by argument name."""
    names = [name for name, entry in config["predictions"].items() if entry["format"] != "lm_eval"]
    if not names:
        return {}
    return {
        "cases": [f"<results>/predictions/{name}/cases.parquet" for name in names],
        "meta": [f"<results>/predictions/{name}/meta.json" for name in names],
    }
