"""What the Snakefile asks about a configuration: shards, sources, and how far annotation is.

Plain functions of the (completed) configuration that read no file's content, because the
Snakefile is parsed in every job.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def plan_corpora(
    config: Config, sources: dict[str, dict[str, str]], mirror: str | None
) -> tuple[dict[str, tuple[str, Shard]], list[Skipped]]:
    """Every shard by its id, with the name of its corpus, and the files that are not read.

    Corpora are in alphabetical order. Each fetched data source is a shard of its own, since
    its size is not known yet.
    """
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
            if file.suffix in SHEETS and not file.name.startswith((".", "~"))
        )
        # an export of Label Studio may hold the answers of all annotators
        complete = len(sheets) >= len(settings["annotators"]) or any(
            sheet.endswith(".json") for sheet in sheets
        )
        rounds[name] = Round(name, sheets, complete)
    return rounds


def next_step(config: Config) -> str:
    """What to tell the user at the end of a run that succeeded."""
    results = config["results"]
    settings = config["slguset"]["annotation"]
    lines = []
    if config["slguset"]["corpora"]:
        for waiting in annotation_rounds(config).values():
            if not waiting.complete:
                sheets = f"{results}/slguset/annotation/{waiting.name}/sheets"
                lines += [
                    f"Round {waiting.name} waits for its annotators: {len(waiting.sheets)} of"
                    f" {len(settings['annotators'])} filled sheets are there. What to do next:",
                    "  1. Freeze the round: python -m evenhand.slguset.hand_out"
                    f" {sheets}/handed_out.csv {settings['ledger']}",
                    f"  2. Give each annotator a sheet of {sheets}/",
                    f"  3. Put the filled sheets into {settings['filled']}/{waiting.name}/"
                    " and run the same command again.",
                ]
    return "\n".join([*lines, f"The page: {Path(results).resolve() / 'report' / 'index.html'}"])
