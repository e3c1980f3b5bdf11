"""Plan the classifiers of legal cases: trainings, their inputs and outputs.

See `evenhand.plan`.
"""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from evenhand import plan_legal, plan_models
from evenhand.core.config import check_names
from evenhand.core.families import declared, member_names
from evenhand.errors import InputError
from evenhand.legal.declaration import COLUMN, Attribute
from evenhand.legal.groups import LABEL, NO_ATTRIBUTE, PLUS
from evenhand.text.phrases import listed

Config = dict[str, Any]

#: The paper's classifier that each kind represents by default; in the order of the paper.
STANDS_FOR = {"linear": "linear", "frozen": "none", "hierarchical": "transformer"}

#: The folder of the features that each kind uses.
READS = {"linear": "words", "frozen": "embeddings", "hierarchical": "tokens"}

#: Aims of objectives that remove the groups (`evenhand.learning.objective.REMOVES`).
REMOVES = ("erase", "hide")

#: The ends of the names of tables for counterfactuals: words, and words that start no noun phrase.
SWAP_ENDS = (".csv", "_followers.csv")

#: With fewer repeated runs, but more than one, Student's t makes intervals over runs very wide.
ENOUGH_SEEDS = 5

#: Plain training (`evenhand.legal.classifier_study.BASE`), which the tests of classifiers are of.
PLAIN = "erm"

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
    for name, entry in config["legal"]["classifiers"].items():
        key, kind = plan_legal.section(config, "classifiers", name), entry["kind"]
        if kind != "linear" and entry["model"] is None:
            problem = f"config: {key} needs a `model`, as it is of kind: {kind}"
            remedy = "write the name of a model, and declare it under `models`"
            raise InputError(problem, remedy=remedy)
        models = [] if kind == "linear" else [entry["model"]]
        check_names(f"{key}.model", models, config["models"], "the models")
        datasets = config["legal"]["datasets"]
        check_names(f"{key}.datasets", entry["datasets"], datasets, "the data sets")
        known = {a for data in entry["datasets"] for a in plan_legal.attributes(config, data)}
        named = f"{key}.attributes", entry["attributes"], known
        hint = _hint_on_columns(config, entry["datasets"], {*entry["attributes"]} - known)
        check_names(*named, "the attributes of its data sets", hint)
        for data in entry["datasets"]:
            names = [*(attribute.name for attribute in grouped(config, data)), LABEL]
            what = f"the attributes of {data} that have groups, nor the label"
            hint = _hint_on_columns(config, [data], {*entry["groups"]} - {*names})
            check_names(f"{key}.groups", entry["groups"], names, what, hint)
        if entry["groups"] == [LABEL]:
            remedy = "add an attribute, or use the objective class_balanced"
            raise InputError(f"config: {key}.groups has the label alone", remedy=remedy)
        for objective in entry["objectives"] if kind == "linear" else []:
            if learns(config, objective):
                raise InputError(
                    f"config: {key} is linear, and {objective} needs a representation that is"
                    " trained",
                    remedy="use leace, or compat=true in legal.objectives for the published form",
                )
    check_counterfactuals(config)


def few_seeds(config: Config) -> str:
    """Return a note on the classifiers with a few seeds; blank if there are none."""
    seeds = {name: entry["seeds"] for name, entry in config["legal"]["classifiers"].items()}
    few = [f"{name} has {n}" for name, n in seeds.items() if 1 < n < ENOUGH_SEEDS]
    if not few:
        return ""
    return (
        f"note: with fewer than {ENOUGH_SEEDS} seeds ({', '.join(few)}) intervals are wide, and"
        f" only large gaps can be significant; {ENOUGH_SEEDS} is the default."
    )


def without_plain(config: Config) -> str:
    """Return a note on the classifiers that are not tested; blank if there are none.

    They have other objectives than plain training alone, of which none is audited.
    """
    texts, alone, others = config["text"]["datasets"], [], []
    for name, entry in config["legal"]["classifiers"].items():
        named = {o for data in entry["datasets"] if data in texts for o in texts[data]["audited"]}
        if not {PLAIN, *named} & {*entry["objectives"]}:
            alone.append(f"{name} is trained with {listed(entry['objectives'])} alone")
            others += entry["objectives"] if texts.keys() & {*entry["datasets"]} else []
    if not alone:
        return ""
    audit = f", or name {listed(list(dict.fromkeys(others)))} under `audited`" if others else ""
    return (
        f"note: {'; '.join(alone)}: the tests here are of plain training; add `{PLAIN}` to"
        f" `objectives`{audit}."
    )


def _hint_on_columns(config: Config, datasets: Iterable[str], unknown: Collection[str]) -> str:
    """Return the role of the columns of an attribute, if an unknown name may be of one."""
    entries = (config["text"]["datasets"].get(data, {}) for data in datasets)
    for name, how in (item for entry in entries for item in entry.get("attributes", {}).items()):
        parts = (name, *how["columns"])
        if how["columns"] and any(e in parts or e.startswith(f"{name}_") for e in unknown):
            if how["overlapping"]:
                return f"; {name} is overlapping, so that each of its columns is an attribute"
            return f"; the columns of {name} are its groups (attributes with overlapping: true)"
    return ""


def unused(config: Config) -> dict[str, str]:
    """Return the keys without an effect in this configuration, and why."""
    settings, reasons = config["legal"], {}
    if not settings["datasets"]:
        return reasons
    trained: set[str] = set()
    for name, entry in settings["classifiers"].items():
        place = plan_legal.section(config, "classifiers", name)
        trained |= {*entry["objectives"]}
        if not any(map(uses_groups, entry["objectives"])):
            reason = "none of its objectives sees groups"
            reasons |= {f"{place}.{key}": reason for key in ("attributes", "groups", "select")}
        elif entry["groups"]:
            reasons[f"{place}.attributes"] = "groups says what the objectives see"
    for name in settings["objectives"].keys() - trained:
        reasons[f"legal.objectives.{name}"] = "no classifier is trained with it"
    if not swapped(config):
        reasons["legal.swap"] = "no counterfactuals are requested"
    return reasons


def other_files(config: Config) -> list[str]:
    """Return results that no page reads, but whose provenance is recorded."""
    return [
        file
        for name in config["legal"]["datasets"]
        for file in predictions(config, name) + histories(config, name)
    ]


def classifiers(config: Config, kind: str) -> list[str]:
    """Return the classifiers of a kind."""
    entries = config["legal"]["classifiers"].items()
    return [name for name, entry in entries if entry["kind"] == kind]


def classifiers_of(config: Config, name: str) -> list[str]:
    """Return the classifiers that are trained on a data set; linear ones first, as in the paper."""
    return [
        classifier
        for kind in STANDS_FOR
        for classifier in classifiers(config, kind)
        if name in config["legal"]["classifiers"][classifier]["datasets"]
    ]


def standing(config: Config, name: str) -> dict[str, Any]:
    """Return the classifiers of a data set that represent the paper's, by the paper's classifier.

    Also the objectives that run as in the published code (`compat_objectives`), the
    development scores that select epochs (`select`), and the label whose rates are compared.
    """
    names: dict[str, list[str]] = {"linear": [], "transformer": [], "none": [], "select": []}
    for classifier in classifiers_of(config, name):
        entry = config["legal"]["classifiers"][classifier]
        names[entry["stands_for"] or STANDS_FOR[entry["kind"]]].append(classifier)
        if entry["select"] != "macro_f1":
            names["select"].append(f"{classifier}={entry['select']}")
    objectives = config["legal"]["objectives"]
    names["compat_objectives"] = [name for name in objectives if _is_compat(config, name)]
    options = {role: members for role, members in names.items() if members and role != "none"}
    if declared_by_columns := config["text"]["datasets"].get(name):
        positive = plan_legal.as_text(declared_by_columns["label"]["positive"])
        options |= {"rates": True, "positive": positive}
    return options


def _is_compat(config: Config, objective: str) -> bool:
    """Return whether an objective runs as in the published code."""
    options = config["legal"]["objectives"].get(objective) or []
    return any(option.lower() == "compat=true" for option in options)


def _objective(objective: str, name: str) -> Any:
    """Return a constant of an objective."""
    return declared(f"evenhand.learning.objectives.{objective}", name)


def objective_titles() -> dict[str, list[str]]:
    """Return all objectives, and their titles."""
    members = member_names("evenhand.learning.objectives")
    names = [member.rpartition(".")[2] for member in members]
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
        entry = config["legal"]["classifiers"][classifier]
        # one job trains all seeds of the other kinds
        seeds = range(entry["seeds"]) if entry["kind"] == "hierarchical" else ["all"]
        for objective in entry["objectives"]:
            for attribute in _trained_with(config, name, classifier, objective):
                folder = f"<results>/legal/{name}/predictions/{classifier}/{objective}/{attribute}"
                files = [f"{folder}/{seed}.parquet" for seed in seeds]
                yield classifier, objective, attribute, files


def histories(config: Config, name: str) -> list[str]:
    """Return the training histories of a data set, in the order of `predictions`."""
    folder = f"<results>/legal/{name}"
    return [
        file.replace(f"{folder}/predictions/", f"{folder}/history/", 1)
        for file in predictions(config, name)
    ]


def _trained_with(config: Config, name: str, classifier: str, objective: str) -> list[str]:
    if not uses_groups(objective):
        return [NO_ATTRIBUTE]
    entry = config["legal"]["classifiers"][classifier]
    if entry["groups"]:  # objectives that remove the groups must not remove the label
        dropped = LABEL if _objective(objective, "AIM") in REMOVES else None
        return [PLUS.join(part for part in entry["groups"] if part != dropped)]
    names = [attribute.name for attribute in grouped(config, name)]
    return [name for name in names if name in (entry["attributes"] or names)]


def grouped(config: Config, name: str) -> list[Attribute]:
    """Return the attributes of a data set that have groups."""
    attributes = plan_legal.dataset(config, name).attributes
    return [each for each in attributes if each.groups or each.module == COLUMN]


def learns(config: Config, objective: str) -> bool:
    """Return whether an objective trains an adversary on the representation."""
    options = _objective(objective, "OPTIONS") or {}
    return "inner_steps" in options and not _is_compat(config, objective)


def training_options(
    config: Config, classifier: str, objective: str, attribute: str
) -> dict[str, Any]:
    """Return the options of a training, without settings that are the kind's defaults."""
    entry = config["legal"]["classifiers"][classifier]
    defaults = declared(f"evenhand.legal.classifiers.{entry['kind']}", "SETTINGS")
    settings = [
        f"{key}={entry[key]}"
        for key, default in defaults.items()
        if entry[key] not in (None, default)
        # without groups, epochs are not selected by group scores
        and not (key == "select" and attribute == NO_ATTRIBUTE)
    ]
    return {
        "family": entry["kind"],
        "classifier": classifier,
        "objective": objective,
        "attribute": None if attribute == NO_ATTRIBUTE else attribute,
        "objective_options": config["legal"]["objectives"].get(objective),
        "settings": settings or None,
    }


def pairs(config: Config, objective: str) -> str | None:
    """Return the kind of pairs that an objective compares, if it has the option ``pairs``."""
    options = dict(_objective(objective, "OPTIONS") or {})
    for option in config["legal"]["objectives"].get(objective) or []:
        key, _, value = option.partition("=")
        options[key] = value
    return options.get("pairs")


def predicts_counterfactuals(config: Config, classifier: str, objective: str) -> bool:
    """Return whether a training uses the cases' counterfactuals."""
    configured = config["legal"]["classifiers"][classifier]["counterfactuals"]
    return configured or pairs(config, objective) == COUNTERFACTUAL


def swap_tables(config: Config, name: str) -> list[str]:
    """Return the existing tables for making counterfactuals of a data set."""
    tables = [Path(f"{stem}{end}") for stem in _swaps(config, name) for end in SWAP_ENDS]
    return [str(path) for path in tables if path.is_file()]


def _swaps(config: Config, name: str) -> list[str]:
    """Return the tables of words of each language of a data set, without their ends."""
    stem = f"{config['legal']['tables']}/swap_{config['legal']['swap']}"
    return [f"{stem}_{language}" for language in plan_legal.dataset(config, name).languages]


def training_inputs(
    config: Config, name: str, classifier: str, objective: str, attribute: str
) -> dict[str, str]:
    """Return the files that a training reads, by argument name."""
    entry, folder = config["legal"]["classifiers"][classifier], f"<results>/legal/{name}"
    kind, model = entry["kind"], entry["model"]
    features = f"{READS[kind]}/{classifier if kind == 'linear' else model}"
    files = {
        "data": f"{folder}/training/{attribute}.parquet",
        "features": f"{folder}/{features}.arrow",
    }
    if kind != "linear":
        files["features_meta"] = f"{folder}/{features}.json"
    if kind == "hierarchical" and (encoder := plan_models.model_folder(config, model)):
        files["model"] = encoder
    if predicts_counterfactuals(config, classifier, objective):
        files["counterfactuals"] = f"{folder}/twins/{features}.arrow"
    if pairs(config, objective) == GRAPH:
        space = features if kind == "linear" else f"embeddings/{model}"
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
        paths = [Path(f"{stem}.csv") for stem in _swaps(config, name)]
        if not any(path.is_file() for path in paths):
            swap, folder = config["legal"]["swap"], config["legal"]["tables"]
            files = [path.name for path in paths] or ["it has no language"]
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


def cases_page_files(config: Config) -> dict[str, list[str]]:
    """Return the inputs of the cases page, by argument name."""
    names = list(config["legal"]["datasets"])
    files = {
        "cases": plan_legal.of_each(config, "<results>/legal/{0}/{0}.parquet"),
        "records": [file for name in names for file in plan_legal.records(config, name)],
        "predictions": [file for name in names for file in predictions(config, name)],
    }
    return files if names else {}


def cases_page_options(config: Config) -> dict[str, list[str]]:
    """Return the other arguments of that page."""
    return {"titles": plan_legal.titles(config), **objective_titles()}
