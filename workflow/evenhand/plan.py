"""What the Snakefile asks about a configuration: shards, sources, rounds, and what is to be made.

Plain functions of the (completed) configuration. They read no corpus, because the Snakefile
is parsed in every job. Paths of results begin with ``<results>``, which Snakemake replaces.
"""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from evenhand import plan_legal
from evenhand.config import complete, read_schema
from evenhand.errors import InputError
from evenhand.slguset.shards import Shard, Skipped, plan_shards
from evenhand.sources import source_path

Config = dict[str, Any]

#: The language of SlguSet.
CHINESE = "zh"

#: What a filled sheet can be.
SHEETS = (".xlsx", ".csv", ".json")


def check_files(config: Config) -> None:
    """Stop if there is nothing to read, a named file is not there, or a set is never scored.

    Raises
    ------
    InputError
        It names the key.
    """
    slguset, stereotypes = config["slguset"], config["stereotypes"]
    tables = config["individual_fairness"]["datasets"]
    cases = config["legal"]["datasets"]
    if not (slguset["corpora"] or slguset["published"] or stereotypes["sets"] or tables or cases):
        raise InputError(
            "config: there is nothing to read",
            remedy="name a corpus under slguset.corpora, a published file under"
            " slguset.published, a set of pairs under stereotypes.sets, a table under"
            " individual_fairness.datasets, or cases under legal.datasets",
        )
    named = {"slguset.published.file": slguset["published"].get("file")}
    for name, model in config["models"].items():
        kinds = [kind for kind in ("path", "hub", "train", "pretrain") if kind in model]
        if len(kinds) != 1:
            raise InputError(
                f"config: models.{name} has {' and '.join(kinds) or 'none'} of path, hub, train and"
                " pretrain",
                remedy="give exactly one of them",
            )
        named[f"models.{name}.path"] = model.get("path")
        for number, path in enumerate(model.get("train", {}).get("files", [])):
            named[f"models.{name}.train.files.{number}"] = path
        if "train" in model and not model["train"]["files"] and not slguset["corpora"]:
            raise InputError(
                f"config: models.{name} has nothing to be trained on",
                remedy=f"name text files under models.{name}.train.files",
            )
    for name, table in tables.items():
        for number, path in enumerate(table["files"]):
            named[f"individual_fairness.datasets.{name}.files.{number}"] = path
    named |= plan_legal.check_legal(config)
    for name, one in config["stereotypes"]["sets"].items():
        named[f"stereotypes.sets.{name}.file"] = one.get("file")
    for key, path in named.items():
        if path and not Path(path).exists():
            raise InputError(f"config: {key} is {path}, and there is no such file or folder")
        if path and key.startswith("stereotypes.") and Path(path).is_dir():
            raise InputError(f"config: {key} is {path}, which is a folder", remedy="name a file")
    _check_sets(config)


def _check_sets(config: Config) -> None:
    """Stop if a set of pairs would be left out without a word.

    Raises
    ------
    InputError
        No model reads the set's language, or nothing makes the edition of SlguSet it stands on.
    """
    slguset = config["slguset"]
    made = {"slguset": slguset["corpora"], "slguset_published": slguset["published"]}
    keys = {"slguset": "corpora", "slguset_published": "published"}
    for name, one in _sets(config).items():
        edition = one.get("edition")
        if edition and not made[edition]:
            raise InputError(
                f"config: stereotypes.sets.{name} stands on {edition}, and nothing makes it",
                remedy=f"fill in slguset.{keys[edition]}, or leave the set out",
            )
        language = _language(one)
        if not models_for(config, language):
            raise InputError(
                f"config: no model scores stereotypes.sets.{name}"
                + (f", whose language is {language}" if language else ""),
                remedy="name a model of its language under models, or leave the set out",
            )


def published_file(config: Config, sources: dict[str, dict[str, str]]) -> str | None:
    """The authors' published file, if there is one."""
    published = config["slguset"]["published"]
    if "source" in published:
        return source_path(config, sources, published["source"])
    return published.get("file")


def tagged_files(config: Config, sources: dict[str, dict[str, str]]) -> list[str]:
    """The tagged corpora that the name tagger is trained on."""
    files = []
    for number, corpus in enumerate(config["slguset"]["train_names_crf"]["corpora"], start=1):
        if ("file" in corpus) == ("source" in corpus):
            raise InputError(
                f"config: corpus {number} of slguset.train_names_crf has "
                + ("both a file and a source" if "file" in corpus else "no file and no source")
            )
        files.append(corpus.get("file") or source_path(config, sources, corpus["source"]))
    if "names_crf" in config["slguset"]["filters"] and not files:
        raise InputError(
            "config: the filter names_crf has nothing to learn from",
            remedy="list tagged corpora under slguset.train_names_crf.corpora",
        )
    return files


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


def pair_sets(config: Config) -> dict[str, list[str]]:
    """The sets of pairs that can be made now, and the models that are scored on each.

    A set that stands on SlguSet waits for the annotators as SlguSet does.
    """
    ready = editions(config).values()
    return {
        name: models_for(config, _language(one))
        for name, one in _sets(config).items()
        if "edition" not in one or one["edition"] in ready
    }


def _language(one: Config) -> str | None:
    """The language of a set of `_sets`; SlguSet is Chinese."""
    return one["language"] or (CHINESE if "edition" in one else None)


def _sets(config: Config) -> dict[str, Config]:
    """The sets, of which only those of the format slguset have an edition."""
    return {
        name: {
            key: value
            for key, value in one.items()
            if key != "edition" or one["format"] == "slguset"
        }
        for name, one in config["stereotypes"]["sets"].items()
    }


def set_of_edition(config: Config, edition: str) -> str | None:
    """The set of pairs that is made of an edition of SlguSet; the first, if there are several."""
    models = models_for(config, CHINESE)
    return next(
        (
            name
            for name, scored in pair_sets(config).items()
            if _sets(config)[name].get("edition") == edition and set(models) <= set(scored)
        ),
        None,
    )


def pair_set_options(config: Config, name: str) -> list[str]:
    """The keys of a set that say how it is read; only StereoSet has parts."""
    form = config["stereotypes"]["sets"][name]["format"]
    return ["format", "title", *(["part"] if form == "stereoset" else [])]


def pair_set_file(config: Config, sources: dict[str, dict[str, str]], name: str) -> str:
    """What a set of pairs is read from.

    Raises
    ------
    InputError
        The set names no file, several, or an edition of SlguSet that is not made.
    """
    one = config["stereotypes"]["sets"][name]
    if one["format"] == "slguset":
        return f"<results>/{one['edition']}/slguset.parquet"
    if ("file" in one) == ("source" in one):
        raise InputError(
            f"config: stereotypes.sets.{name} has "
            + ("both a file and a source" if "file" in one else "no file and no source"),
            remedy="give one of them",
        )
    return one.get("file") or source_path(config, sources, one["source"])


def pair_tables(config: Config, name: str) -> list[str]:
    """The tables of a set of pairs: those that its format has something for."""
    form = config["stereotypes"]["sets"][name]["format"]
    tables = ["bias_scores", "token_accuracy", "length", "compat"]
    if form == "stereoset":
        tables.append("stereoset")
    if form == "crows_pairs":  # which alone says who is disadvantaged, and what people thought
        tables += ["all_masked", "meta_evaluation", "roc", "auc_tests"]
    if len(pair_sets(config)[name]) > 1:
        tables.append("model_comparisons")
    return tables


#: What is kept of a model on a set of pairs beside its scores.
STORES = ("tokens", "null")


def models_page_files(config: Config) -> dict[str, str | list[str]]:
    """The results that the page of the language models shows, by the name of its argument."""
    sets = {name: models for name, models in pair_sets(config).items() if models}
    files: dict[str, str | list[str]] = {}
    if sets:
        folder = "<results>/stereotypes"
        each = [(name, model) for name, models in sets.items() for model in models]
        files |= {
            "sets": [f"{folder}/{name}/pairs.json" for name in sets],
            "pairs": [f"{folder}/{name}/pairs.parquet" for name in sets],
            "scores": [f"{folder}/{name}/scores/{model}.parquet" for name, model in each],
            "gates": [f"{folder}/{name}/gates/{model}.json" for name, model in each],
        }
        for name in sets:
            for table in pair_tables(config, name):
                files.setdefault(table, []).append(f"<results>/tables/{name}_{table}.csv")
    if config["stereotypes"]["released"]["scores"]:
        files["released"] = "<results>/tables/stereoset_released.csv"
    return files


def flat(*groups: dict[str, str | list[str]]) -> list[str]:
    """All files of some groups, each once."""
    files = [file for group in groups for file in group.values()]
    return list(dict.fromkeys(one for f in files for one in ([f] if isinstance(f, str) else f)))


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
        if settings["eidig"]["seeds"] and kind != "predictions":
            tracks = settings["eidig"]["tracks"]
            files += [
                f"{folder}/eidig/{track}.parquet"
                for track in tracks
                if track == "base" or one["format"] in WITH_INTEGERS
            ]
    return files


#: The formats that have whole numbers for EIDIG's own track.
WITH_INTEGERS = ("adult", "german")


def individual_page_files(config: Config) -> dict[str, str | list[str]]:
    """The results that the page of individual fairness shows, by the name of its argument."""
    datasets = config["individual_fairness"]["datasets"]
    if not datasets:
        return {}
    tables = "<results>/tables"
    return {
        **{f"table_{number}": f"{tables}/iifr_table_{number}.csv" for number in (4, 6, 7, 8)},
        **{
            name: f"{tables}/iifr_{name}.csv"
            for name in ("sweeps", "fronts", "tests", "inconsistencies")
        },
        "findings": f"{tables}/iifr_findings.json",
        "data_tables": [f"{tables}/{name}_groups.csv" for name in datasets],
        "data": [f"<results>/tabular/{name}/data.json" for name in datasets],
    }


def plan_corpora(
    config: Config, sources: dict[str, dict[str, str]]
) -> tuple[dict[str, tuple[str, Shard]], list[Skipped]]:
    """Every shard by its id, with the name of its corpus, and the files that are not read.

    Corpora are in alphabetical order. Each fetched data source is a shard of its own, since
    its size is not known yet.
    """
    mirror = config["mirror"] or os.environ.get("EVENHAND_MIRROR")
    shards: dict[str, tuple[str, Shard]] = {}
    skipped: list[Skipped] = []
    for name, corpus in config["slguset"]["corpora"].items():
        if not corpus["files"] and not corpus["sources"]:
            raise InputError(f"config: slguset.corpora.{name} names neither files nor sources")
        planned = [
            Shard(f"{name}-{source}", (source_path(config, sources, source),))
            for source in corpus["sources"]
        ]
        if corpus["files"]:
            plan = plan_shards(
                name,
                [_in_mirror(path, mirror) for path in corpus["files"]],
                target_mb=config["slguset"]["shard_megabytes"],
                format=corpus["format"],
                paragraphs=corpus["paragraphs"],
                header=corpus["header"],
            )
            planned += plan.shards
            skipped += plan.skipped
        shards |= {shard.id: (name, shard) for shard in planned}
    return shards, skipped


def _in_mirror(path: str, mirror: str | None) -> str:
    if "{mirror}" in path and not mirror:
        raise InputError(
            f"config: {path} lies in the mirror, and there is none",
            remedy="set `mirror` or the environment variable EVENHAND_MIRROR",
        )
    return path.replace("{mirror}", mirror or "")


@dataclass(frozen=True)
class Round:
    """How far an annotation round is.

    Attributes
    ----------
    name : str
        The round's name.
    sheets : list of str
        Its filled sheets.
    complete : bool
        Whether there are enough of them to go on.
    """

    name: str
    sheets: list[str]
    complete: bool


def ledger_files(config: Config) -> list[str]:
    """The ledger: one CSV per round whose sheets were handed out."""
    return sorted(
        str(file) for file in Path(config["slguset"]["annotation"]["ledger"]).glob("*.csv")
    )


def annotation_rounds(config: Config) -> dict[str, Round]:
    """The rounds of the ledger and the present one, and which sheets have come back."""
    settings = config["slguset"]["annotation"]
    names = {Path(file).stem for file in ledger_files(config)} | {settings["round"]}
    rounds = {}
    for name in sorted(names):
        folder = Path(settings["filled"]) / name
        sheets = sorted(
            str(file)
            for file in (folder.iterdir() if folder.is_dir() else ())
            if file.suffix.lower() in SHEETS and not file.name.startswith((".", "~"))
        )
        # an export of Label Studio may hold the answers of all annotators
        complete = len(sheets) >= len(settings["annotators"]) or any(
            sheet.endswith(".json") for sheet in sheets
        )
        rounds[name] = Round(name, sheets, complete)
    return rounds


def vocabulary_folder(config: Config) -> str | None:
    """The folder of the model whose vocabulary the data set is measured against."""
    model = config["slguset"]["vocabulary"]
    if model is None:
        return None
    folder = model_folder(config, model) if model in config["models"] else None
    if folder is None:
        raise InputError(
            f"config: slguset.vocabulary is {model!r}, which is no model with a folder",
            remedy="name one of `models` that has a `path` or is trained here",
        )
    return folder


def editions(config: Config) -> dict[str, str]:
    """The data sets that will be there, by the prefix of their names among `result_files`."""
    annotated = any(one.complete for one in annotation_rounds(config).values())
    own = {"": "slguset"} if config["slguset"]["corpora"] and annotated else {}
    return own | ({"published_": "slguset_published"} if config["slguset"]["published"] else {})


def result_files(config: Config, shards: Iterable[str]) -> dict[str, str | list[str]]:
    """The results that the page shows, by the name of its argument."""
    files: dict[str, str | list[str]] = {}
    slguset, rounds = "<results>/slguset", annotation_rounds(config)
    annotated = [one.name for one in rounds.values() if one.complete]
    if shards := list(shards):
        files |= {
            "funnel": f"{slguset}/funnel.csv",
            "candidates": f"{slguset}/candidates.parquet",
            "counts": [f"{slguset}/sentences/{shard}.counts.json" for shard in shards],
            "quarantine": [f"{slguset}/sentences/{shard}.quarantine.parquet" for shard in shards],
            "samples": [f"{slguset}/annotation/{name}/sample.parquet" for name in rounds],
            "drawn": f"{slguset}/annotation/{config['slguset']['annotation']['round']}/drawn.csv",
        }
        if annotated:
            answers = [f"{slguset}/annotation/{name}/answers.parquet" for name in annotated]
            files |= {
                "answers": answers,
                "annotators": f"{slguset}/annotation/annotators.csv",
                "agreement": f"{slguset}/agreement.csv",
            }
    if config["slguset"]["published"]:
        files |= {
            "published_filters": "<results>/slguset_published/filters.csv",
            "published_report": "<results>/slguset_published/report.json",
        }
    for prefix, edition in editions(config).items():
        files |= {
            f"{prefix}dataset": f"<results>/{edition}/slguset.parquet",
            f"{prefix}table_1": f"<results>/{edition}/table_1.csv",
            f"{prefix}statistics": f"<results>/{edition}/statistics.json",
        }
        if models := models_for(config, CHINESE):
            table = f"<results>/tables/{edition}_bias"
            files |= {
                f"{prefix}bias": f"{table}.csv",
                f"{prefix}bias_by_pair": f"{table}_by_pair.csv",
                f"{prefix}bias_variants": f"{table}_variants.csv",
                f"{prefix}bias_correlations": f"{table}_correlations.csv",
                f"{prefix}bias_sentences": f"{table}_sentences.csv",
                f"{prefix}bias_words": f"{table}_words.csv",
                f"{prefix}bias_scores": [f"<results>/{edition}/bias/{m}.parquet" for m in models],
            }
            if set_of_edition(config, edition):
                files[f"{prefix}bias_methods"] = f"{table}_methods.csv"
    return files


def other_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Results that the page does not read, but that are traced like the rest."""
    files = []
    slguset, rounds = "<results>/slguset", annotation_rounds(config)
    if shards := list(shards):
        files += [f"{slguset}/sentences/{shard}.files.parquet" for shard in shards]
        files += [f"{slguset}/annotation/{name}/sheets" for name in rounds]
        files.append(f"{slguset}/quarantine.csv")
    if "" in editions(config):
        files.append(f"{slguset}/annotation/disagreements.csv")
        files += [f"{slguset}/slguset.csv", f"{slguset}/README.md"]
    if config["slguset"]["published"]:
        files.append("<results>/slguset_published/problems.csv")
    sets = pair_sets(config)
    for name, models in sets.items():
        for model in models:
            files += [f"<results>/stereotypes/{name}/{kind}/{model}.parquet" for kind in STORES]
        files += [f"<results>/tables/{name}_models.csv"] if models else []
    for kind in ("runs", "groups", "predictions"):
        files += table_runs(config, kind)
    files += [
        f"<results>/tabular/{name}/data.parquet"
        for name in config["individual_fairness"]["datasets"]
    ]
    files += plan_legal.other_files(config)
    used = {model for models in sets.values() for model in models}
    used |= {m for one in config["legal"]["datasets"].values() for m in one["tokenizers"]}
    used |= {one["model"] for one in config["legal"]["classifiers"].values() if one["model"]}
    used |= set(models_for(config, CHINESE) if editions(config) else [])
    files += [
        f"<results>/models/{name}"
        for name, model in config["models"].items()
        if ("train" in model or "pretrain" in model) and name in used
    ]
    return files


def job_environment(config: Config, library: str) -> dict[str, str]:
    """The environment variables of every job: Python, the library, the run cache, the mirror.

    Jobs on a cluster parse the Snakefile too, and so have them. A rule's conda environment
    puts its own Python before this one.
    """
    state = f"{config['results']}/.evenhand"
    folder = config["cache"]["folder"] or f"{state}/cache"
    before = {name: os.environ.get(name) for name in ("PATH", "PYTHONPATH")}
    environment = {
        "PATH": os.pathsep.join(filter(None, [str(Path(sys.executable).parent), before["PATH"]])),
        "PYTHONPATH": os.pathsep.join(filter(None, [library, before["PYTHONPATH"]])),
        "EVENHAND_STATE": state,
        "EVENHAND_CACHE": folder if config["cache"]["enabled"] else "",
    }
    if config["mirror"]:
        environment["EVENHAND_MIRROR"] = config["mirror"]
    if config["offline"]:
        environment["EVENHAND_OFFLINE"] = environment["HF_HUB_OFFLINE"] = "1"
    return environment


def waiting(config: Config) -> str:
    """Which rounds wait for their annotators, and what the user can do; empty if none does."""
    settings = config["slguset"]["annotation"]
    frozen = {Path(file).stem for file in ledger_files(config)}
    python = os.path.relpath(sys.executable)
    lines = []
    for one in annotation_rounds(config).values() if config["slguset"]["corpora"] else ():
        if one.complete:
            continue
        sheets = f"{config['results']}/slguset/annotation/{one.name}/sheets"
        there = f": {', '.join(one.sheets)}" if one.sheets else ""
        lines.append(
            f"Round {one.name} waits for its annotators: {len(one.sheets)} of"
            f" {len(settings['annotators'])} filled sheets are there{there}. What to do next:"
        )
        steps = [
            f"Give each annotator a copy of a sheet of {sheets}/ (a later run may write that"
            " folder anew: nobody should fill in the files there).",
            f"Put the filled sheets into {settings['filled']}/{one.name}/"
            " and run the same command again.",
        ]
        if one.name not in frozen:
            command = f"{python} -m evenhand.slguset.hand_out"
            steps.insert(
                0, f"Freeze the round: {command} {sheets}/handed_out.csv {settings['ledger']}"
            )
        lines += [f"  {number}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n".join(lines)


def page(config: Config) -> str:
    """Where the page is."""
    return f"The page: {Path(config['results']).resolve() / 'report' / 'index.html'}"


def errors_in(logs: Iterable[str]) -> str:
    """The errors in the logs of a run, each once: what the user can mend."""
    lines = []
    for log in map(Path, logs):
        if log.is_file():
            lines += log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(dict.fromkeys(line for line in lines if line.startswith("error: ")))


def main() -> None:
    """The command line: say where the page of a configuration is."""
    schema = Path(__file__).parents[1] / "schemas" / "config.schema.yaml"
    config = yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(page(complete(config, read_schema(schema))))


if __name__ == "__main__":
    main()
