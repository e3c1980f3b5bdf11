"""What the Snakefile asks about a configuration: shards, sources, and how far annotation is.

Plain functions of the (completed) configuration that read no file's content, because the
Snakefile is parsed in every job.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.resources import read_resource
from evenhand.slguset.shards import Shard, plan_shards

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
) -> dict[str, tuple[str, Shard]]:
    """Every shard by its id, with the name of its corpus; corpora in alphabetical order.

    Each fetched data source is a shard of its own, since its size is not known yet.
    """
    shards: dict[str, tuple[str, Shard]] = {}
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
        shards |= {shard.id: (name, shard) for shard in planned}
    return shards


def _in_mirror(path: str, mirror: str | None) -> str:
    if "{mirror}" in path and not mirror:
        raise InputError(
            f"config: {path} lies in the mirror, and there is none",
            remedy="set `mirror` or the environment variable EVENHAND_MIRROR",
        )
    return path.replace("{mirror}", mirror or "")


@dataclass(frozen=True)
class Annotation:
    """How far the annotation round is.

    Attributes
    ----------
    ledger : list of str
        What earlier rounds, and this one if it was frozen, handed out.
    sheets : list of str
        The filled sheets of this round.
    complete : bool
        Whether there are enough sheets to go on.
    """

    ledger: list[str]
    sheets: list[str]
    complete: bool


def annotation_state(config: Config) -> Annotation:
    """Look which sheets of the round have come back."""
    settings = config["slguset"]["annotation"]
    folder = Path(settings["filled"]) / settings["round"]
    sheets = sorted(
        str(file)
        for file in (folder.iterdir() if folder.is_dir() else ())
        if file.suffix in SHEETS and not file.name.startswith((".", "~"))
    )
    # an export of Label Studio may hold the answers of all annotators
    complete = len(sheets) >= len(settings["annotators"]) or any(
        sheet.endswith(".json") for sheet in sheets
    )
    ledger = sorted(str(file) for file in Path(settings["ledger"]).glob("*.csv"))
    return Annotation(ledger, sheets, complete)


def next_step(config: Config, state: Annotation) -> str:
    """What to tell the user at the end of a run that succeeded."""
    results = config["results"]
    lines = [f"The page: {Path(results).resolve() / 'report' / 'index.html'}"]
    settings = config["slguset"]["annotation"]
    if config["slguset"]["corpora"] and not state.complete:
        missing = len(settings["annotators"]) - len(state.sheets)
        sheets = f"{results}/slguset/annotation/sheets"
        lines += [
            f"Waiting for {missing} of {len(settings['annotators'])} annotators"
            f" (round {settings['round']}). What to do next:",
            f"  1. Freeze the round: python -m evenhand.slguset.hand_out {sheets}/handed_out.csv"
            f" {settings['ledger']}",
            f"  2. Give each annotator a sheet of {sheets}/",
            f"  3. Put the filled sheets into {settings['filled']}/{settings['round']}/"
            " and run the same command again.",
        ]
    return "\n".join(lines)
