"""What the Snakefile asks about cards: which models were audited on what, what folders hold.

Functions of the (completed) configuration, as in `evenhand.plan`.
"""

from typing import Any

from evenhand import plan_individual, plan_models, plan_slguset, plan_stereotypes

Config = dict[str, Any]


def audited(config: Config) -> list[str]:
    """The models that are scored on a set of pairs or an edition of SlguSet, in their order."""
    scored = {model for models in plan_stereotypes.pair_sets(config).values() for model in models}
    if plan_slguset.editions(config):
        scored |= set(plan_models.models_for(config, plan_models.CHINESE))
    return [model for model in config["models"] if model in scored]


def card_files(config: Config) -> list[str]:
    """The cards of all audited models, and of all folders with tables of several kinds."""
    return [
        *(f"<results>/cards/{model}/README.md" for model in audited(config)),
        *(f"<results>/{folder}/README.md" for folder in folders(config)),
    ]


def card_inputs(config: Config, model: str) -> dict[str, list[str]]:
    """The results that a model's card tells, by the name of the argument."""
    sets = [name for name, models in plan_stereotypes.pair_sets(config).items() if model in models]
    editions = plan_slguset.editions(config).values()
    if model not in plan_models.models_for(config, plan_models.CHINESE):
        editions = []
    folder, tables = "<results>/stereotypes", "<results>/tables"
    return {
        "sets": [f"{folder}/{name}/pairs.json" for name in sets],
        "gates": [f"{folder}/{name}/gates/{model}.json" for name in sets],
        "tables": [f"{tables}/pairs/{name}" for name in sets],
        "bias": [f"{tables}/bias/{edition}" for edition in editions],
        "bias_gates": [f"<results>/{edition}/bias/{model}.gate.json" for edition in editions],
    }


def folders(config: Config) -> dict[str, dict[str, str | list[str]]]:
    """The folders of pairs, people and the published SlguSet: what their cards read."""
    found: dict[str, dict[str, str | list[str]]] = {}
    for name, models in plan_stereotypes.pair_sets(config).items():
        place = f"<results>/stereotypes/{name}"
        stores = [
            f"{place}/{kind}/{model}.parquet"
            for kind in ("scores", *plan_stereotypes.STORES)
            for model in models
        ]
        found[f"stereotypes/{name}"] = {
            "document": f"{place}/pairs.json",
            "tables": [f"{place}/pairs.parquet", *stores],
        }
    if "slguset_published" in plan_slguset.editions(config).values():
        place = "<results>/slguset_published"
        models = plan_models.models_for(config, plan_models.CHINESE)
        found["slguset_published"] = {
            "document": f"{place}/statistics.json",
            "tables": [f"{place}/slguset.parquet", *(f"{place}/bias/{m}.parquet" for m in models)],
        }
    runs = [
        file
        for kind in ("runs", "groups", "predictions")
        for file in plan_individual.table_runs(config, kind)
    ]
    for name in config["individual_fairness"]["datasets"]:
        place = f"<results>/tabular/{name}"
        own = [file for file in runs if file.startswith(f"{place}/")]
        found[f"tabular/{name}"] = {
            "document": f"{place}/data.json",
            "tables": [f"{place}/data.parquet", *own],
        }
    return found
