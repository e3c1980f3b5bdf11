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

from evenhand.config import complete, read_schema
from evenhand.errors import InputError
from evenhand.io.resources import read_resource
from evenhand.slguset.shards import Shard, Skipped, plan_shards

Config = dict[str, Any]

#: What a filled sheet can be.
SHEETS = (".xlsx", ".csv", ".json")


def read_sources(path: Path) -> dict[str, dict[str, str]]:
    """The table of data sources, by name."""
    columns = ["name", "file", "sha256", "url", "licence"]
    rows = read_resource(path, columns, optional=("url",), unique=("name",))
    return {row["name"]: row for row in rows}


def source_path(config: Config, sources: dict[str, dict[str, str]], name: str) -> str:
    """Where a data source lies once it is fetched."""
    if name not in sources:
        raise InputError(
            f"config: there is no data source {name}", remedy=f"add it to {config['sources']}"
        )
    return f"{config['results']}/sources/{name}/{sources[name]['file']}"


def check_files(config: Config) -> None:
    """Stop if there is nothing to read, or if a file or folder that the user names is not there.

    Raises
    ------
    InputError
        It names the key.
    """
    slguset = config["slguset"]
    if not slguset["corpora"] and not slguset["published"]:
        raise InputError(
            "config: there is nothing to read",
            remedy="name a corpus under slguset.corpora, or a published file under"
            " slguset.published",
        )
    named = {"slguset.published.file": slguset["published"].get("file")}
    named |= {f"models.{name}.path": model.get("path") for name, model in config["models"].items()}
    for key, path in named.items():
        if path and not Path(path).exists():
            raise InputError(f"config: {key} is {path}, and there is no such file or folder")


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
    return f"<results>/models/{model}" if "train" in settings else settings.get("path")


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
            files |= {"answers": answers, "agreement": f"{slguset}/agreement.csv"}
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
        if models := list(config["models"]):
            table = f"<results>/tables/{edition}_bias"
            files |= {
                f"{prefix}bias": f"{table}.csv",
                f"{prefix}bias_by_pair": f"{table}_by_pair.csv",
                f"{prefix}bias_correlations": f"{table}_correlations.csv",
                f"{prefix}bias_scores": [f"<results>/{edition}/bias/{m}.parquet" for m in models],
            }
    return files


def other_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Results that the page does not read, but that are traced like the rest."""
    files = []
    slguset, rounds = "<results>/slguset", annotation_rounds(config)
    if shards := list(shards):
        files += [f"{slguset}/sentences/{shard}.files.parquet" for shard in shards]
        files += [f"{slguset}/annotation/{name}/sheets" for name in rounds]
    if "" in editions(config):
        files.append(f"{slguset}/annotation/disagreements.csv")
        files += [f"{slguset}/slguset.csv", f"{slguset}/README.md"]
    if config["slguset"]["published"]:
        files.append("<results>/slguset_published/problems.csv")
    if editions(config):
        trained = [name for name, model in config["models"].items() if "train" in model]
        files += [f"<results>/models/{name}" for name in trained]
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
