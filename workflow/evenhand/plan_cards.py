"""Plan the cards of models and folders: their files and inputs.

Functions of the (completed) configuration, as in `evenhand.plan`.
"""

from typing import Any

from evenhand import plan_individual, plan_slguset, plan_stereotypes

Config = dict[str, Any]


def audited(config: Config) -> list[str]:
    """Return the models that are scored on a set of pairs or an edition of SlguSet, in order."""
    scored = {model for models in plan_stereotypes.pair_sets(config).values() for model in models}
    if plan_slguset.editions(config) and plan_slguset.compares_genders(config):
        scored |= set(plan_slguset.scored_models(config))
    return [model for model in config["models"] if model in scored]


def card_files(config: Config) -> list[str]:
    """Return the cards of all audited models, and of all folders with several kinds of tables."""
    return [
        *(f"<results>/cards/{model}/README.md" for model in audited(config)),
        *(f"<results>/{folder}/README.md" for folder in folders(config)),
    ]


def card_inputs(config: Config) -> dict[str, list[str]]:
    """Return the inputs of the cards of models, by argument name."""
    pairs = plan_stereotypes.pair_sets(config)
    editions = plan_slguset.editions(config).values()
    editions = editions if plan_slguset.compares_genders(config) else ()
    chinese = plan_slguset.scored_models(config)
    folder, tables = "<results>/stereotypes", "<results>/tables"
    return {
        "sets": [f"{folder}/{name}/pairs.json" for name in pairs],
        "gates": [f"{folder}/{name}/gates/{model}.json" for name in pairs for model in pairs[name]],
        "tables": [f"{tables}/pairs/{name}" for name in pairs],
        "bias": [f"{tables}/bias/{edition}" for edition in editions],
        "bias_gates": [
            f"<results>/{edition}/bias/{model}.gate.json"
            for edition in editions
            for model in chinese
        ],
    }


def folders(config: Config) -> dict[str, list[str]]:
    """Return the inputs of the cards of folders (pairs, people, the published SlguSet).

    The first file of each describes the folder, and the others are its tables.
    """
    files = {}
    for name, models in plan_stereotypes.pair_sets(config).items():
        kinds = ("scores", *plan_stereotypes.STORES)
        stores = [f"{kind}/{model}.parquet" for kind in kinds for model in models]
        files[f"stereotypes/{name}"] = ["pairs.json", "pairs.parquet", *stores]
    if "slguset_published" in plan_slguset.editions(config).values():
        bias = [f"bias/{model}.parquet" for model in plan_slguset.scored_models(config)]
        files["slguset_published"] = ["statistics.json", "slguset.parquet", *bias]
    paths = {
        folder: [f"<results>/{folder}/{name}" for name in names] for folder, names in files.items()
    }
    kinds = ("runs", "groups", "predictions")
    runs = [file for kind in kinds for file in plan_individual.table_runs(config, kind)]
    for name in config["individual_fairness"]["datasets"]:
        folder = f"<results>/tabular/{name}"
        tables = [file for file in runs if file.startswith(f"{folder}/")]
        paths[f"tabular/{name}"] = [f"{folder}/data.json", f"{folder}/data.parquet", *tables]
    return paths
