"""Plan SlguSet: shards, sources, rounds. See `evenhand.plan`."""

import json
import os
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evenhand import plan_models
from evenhand.core.config import Options, check_names, complete, pick
from evenhand.core.families import declared
from evenhand.core.files import path_text
from evenhand.core.places import located
from evenhand.core.sources import input_files, source_path
from evenhand.errors import InputError, one_line
from evenhand.io.sheets import read_csv
from evenhand.sheets.tasks import HANDED_OUT, returned
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.packs import Pack, base_folder, read_pack, with_pack
from evenhand.slguset.shards import Shard, Skipped, plan_shards

Config = dict[str, Any]

#: Maximum number of separate rows for skipped files with the same reason, and of their bytes.
ROWS_PER_REASON = 100
MOST_BYTES = 48 << 10

#: The settings of a pack for reading text, and for finding words.
READING = ("language", "values", "normaliser", "splitter")
WORDS = (*READING, "attribute", "segmenter", "several", "pronouns", "pronouns_open")

#: The tables of a pack that the settings of names_jieba turn on.
NAME_TABLES = {
    "use_stop_words": "name_stop_words.csv",
    "use_everyday_words": "everyday_words.csv",
    "use_name_weights": "name_weights.csv",
}

#: The formats of a filled sheet.
SHEETS = (".xlsx", ".csv", ".json")


def completed(config: Config, schema: dict[str, Any]) -> Config:
    """Return a configuration with all defaults, of which the pack's precede the schema's.

    Paths of the workflow's own files refer to the installed ones.
    """
    default = schema["properties"]["slguset"]["properties"]["pack"]["default"]
    return located(complete(with_pack(config, located(default)), schema))


def scored_models(config: Config) -> list[str]:
    """Return the models that are scored on SlguSet: those of the pack's language."""
    return plan_models.models_for(config, pack_of(config)["language"])


def compares_genders(config: Config) -> bool:
    """Return whether the values are male and female, which cards and explorer compare."""
    return tuple(pack_of(config)["values"]) == GENDERS


def pack_of(config: Config) -> Pack:
    """Return the settings of the pack."""
    return read_pack(Path(located(config["slguset"]["pack"])))


def pack_options(config: Config, *names: str) -> Options:
    """Return settings of the pack as options of a stage, with the key `slguset.pack`."""
    settings = {name: pack_of(config)[name] for name in names}
    return Options(None, settings, dict.fromkeys(names, "slguset.pack"))


def text_modules(config: Config, *names: str) -> list[str]:
    """Return the modules of a pack's normaliser, splitter or segmenter."""
    return [f"evenhand.text.{name}s.{pack_of(config)[name]}" for name in names]


def pack_file(config: Config, name: str) -> str:
    """Return a file of the pack, or of the pack that it is based on if only that one has it."""
    folder, base = config["slguset"]["pack"], pack_of(config)["based_on"]
    if base and not Path(f"{folder}/{name}").is_file():
        return f"{base_folder(Path(folder), base)}/{name}"
    return f"{folder}/{name}"


def pack_files(config: Config, *names: str) -> list[str]:
    """Return the files with these names in the pack itself."""
    return [file for name in names if Path(file := f"{config['slguset']['pack']}/{name}").is_file()]


def agreement_files(config: Config) -> list[str]:
    """Return the tables of words that change together with a keyword, if the pack has them."""
    return pack_files(config, "agreement.csv", "cues.csv")


def published_file(config: Config, sources: dict[str, dict[str, str]]) -> str | None:
    """Return the authors' published file, if there is one."""
    published = config["slguset"]["published"]
    if "source" in published:
        return source_path(config, sources, published["source"])
    return published.get("file")


def tagged_files(config: Config, sources: dict[str, dict[str, str]]) -> list[str]:
    """Return the tagged corpora for training the name tagger."""
    files = [
        corpus.get("file") or source_path(config, sources, corpus["source"])
        for corpus in config["slguset"]["train_names_crf"]["corpora"]
    ]
    if "names_crf" in config["slguset"]["filters"] and not files:
        remedy = "list tagged corpora under slguset.train_names_crf.corpora"
        raise InputError("config: the filter names_crf has nothing to learn from", remedy=remedy)
    return files


def plan_corpora(
    config: Config, sources: dict[str, dict[str, str]]
) -> tuple[dict[str, tuple[str, Shard]], list[Skipped]]:
    """Return every shard by its id, with the name of its corpus, and the skipped files.

    Corpora are in alphabetical order. Each fetched data source is a separate shard, since its
    size is not known yet.
    """
    mirror = config["mirror"] or os.environ.get("EVENHAND_MIRROR")
    shards: dict[str, tuple[str, Shard]] = {}
    skipped: list[Skipped] = []
    for name, corpus in config["slguset"]["corpora"].items():
        input_files(config, sources, f"slguset.corpora.{name}", corpus)  # rejects no files
        field = str(corpus["text_field"])
        if not corpus["header"] and not field.isdecimal():
            raise InputError(
                f"config: slguset.corpora.{name}.text_field is {field!r}, and there is no header",
                remedy="give the column's number, from 1",
            )
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


def quarantine_rows(skipped: list[Skipped]) -> list[str]:
    """Return the skipped files as rows (JSON) that `count_funnel` adds to the quarantine.

    After `ROWS_PER_REASON` files of a reason, the others share a last row, which has the first of
    them and their number; so do all files after `MOST_BYTES`, since the rows are passed on a
    command line.
    """
    rows: list[dict[str, Any]] = []
    others: dict[str, dict[str, Any]] = {}
    alone: Counter[str] = Counter()
    size = 0
    for file in skipped:
        row = {"reason": file.reason, "file": one_line(path_text(file.path)), "detail": file.detail}
        size += len(json.dumps(row))
        if file.reason in others:
            others[file.reason]["parts"] += 1
            continue
        rows.append(row | {"parts": 1})
        alone[file.reason] += 1
        if alone[file.reason] > ROWS_PER_REASON or size > MOST_BYTES:
            others[file.reason] = rows[-1]
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def not_read(rows: list[str]) -> str:
    """Return a line for each of `quarantine_rows`."""
    lines = []
    for row in map(json.loads, rows):
        more = f" and {row['parts'] - 1} more" if row["parts"] > 1 else ""
        lines.append(f"not read: {row['file']} ({row['detail']}){more}")
    return "\n".join(lines)


def _in_mirror(path: str, mirror: str | None) -> str:
    if "{mirror}" in path and not mirror:
        problem = f"config: {path} lies in the mirror, and there is none"
        raise InputError(problem, remedy="set `mirror` or the environment variable EVENHAND_MIRROR")
    return path.replace("{mirror}", mirror or "")


@dataclass(frozen=True)
class Round:
    """The state of an annotation round.

    Attributes
    ----------
    name : str
        The round's name.
    sheets : list of str
        Its filled sheets.
    annotators : list of str
        The people its sentences were, or would be, handed out to.
    frozen : list of str
        Its handed_out.csv beside them, if its sheets were handed out.
    """

    name: str
    sheets: list[str]
    annotators: list[str]
    frozen: list[str]

    def complete(self) -> bool:
        """Whether there may be a sheet of each annotator; an export may hold all answers."""
        exported = any(sheet.endswith(".json") for sheet in self.sheets)
        return exported or len(self.sheets) >= len(self.annotators)


def handed_out(config: Config) -> list[str]:
    """Return the lists of the rounds whose sheets were handed out."""
    return [path for round_ in annotation_rounds(config).values() for path in round_.frozen]


def annotation_rounds(config: Config) -> dict[str, Round]:
    """Return the frozen rounds and the present one, with their filled sheets."""
    settings = config["slguset"]["annotation"]
    folder, rounds = Path(settings["filled"]), {}
    names = {path.parent.name for path in folder.glob(f"*/{HANDED_OUT}")}
    for name in sorted(names | {settings["round"]}):
        frozen, sheets = returned(folder / name, SHEETS)
        annotators = _handed_out_to(frozen[0]) if frozen else settings["annotators"]
        rounds[name] = Round(name, sheets, annotators, frozen)
    return rounds


@cache
def _handed_out_to(path: str) -> list[str]:
    """Return the annotators of a round.

    Raises
    ------
    InputError
        The list is of another round than its folder.
    """
    names, name = set(), Path(path).parent.name
    for line, cells in read_csv(Path(path), ["round", "annotators"]):
        if cells["round"] != name:
            raise InputError(f"is of the round {cells['round']}, not {name}", file=path, line=line)
        names |= {*cells["annotators"].split()}
    return sorted(names)


def is_undecided(config: Config, name: str) -> bool:
    """Return whether a round's sentences are chosen by uncertainty: nobody has them yet.

    Raises
    ------
    InputError
        Its sheets came back, and it is not frozen: another model would choose other sentences.
    """
    settings, round_ = config["slguset"]["annotation"], annotation_rounds(config)[name]
    if settings["draw"] != "uncertain" or round_.frozen:
        return False
    if round_.sheets:
        problem = f"config: the sheets of round {name}, drawn by uncertainty, are not frozen"
        raise InputError(problem, remedy=f"copy its {HANDED_OUT} to {settings['filled']}/{name}/")
    return True


def acceptance_labels(config: Config) -> dict[str, str]:
    """Return the tables of labels of the acceptance model, by key."""
    labels = config["slguset"]["acceptance"]["labels"]
    return {f"slguset.acceptance.labels.{number}": path for number, path in enumerate(labels)}


def acceptance_odds(config: Config) -> dict[str, str]:
    """Return a language model's scores of the acceptance model's sentences, if one is named.

    Raises
    ------
    InputError
        There is no such model, or it has another language.
    """
    model = config["slguset"]["acceptance"]["model"]
    if not model:
        return {}
    known = scored_models(config)
    check_names("slguset.acceptance.model", [model], known, "the models of the pack's language")
    stem = f"<results>/slguset_examples/bias/{model}"
    return {"log_odds": f"{stem}.parquet", "gate": f"{stem}.gate.json"}


@dataclass(frozen=True)
class Inputs:
    """The inputs of SlguSet.

    Attributes
    ----------
    shards : dict
        See `plan_corpora`.
    not_read : list of str
        The parts of the corpora that are not read: see `quarantine_rows`.
    published : str or None
        See `published_file`.
    tagged : list of str
        See `tagged_files`.
    rounds : dict
        See `annotation_rounds`.
    vocabulary : str or None
        See `vocabulary_folder`.
    """

    shards: dict[str, tuple[str, Shard]]
    not_read: list[str]
    published: str | None
    tagged: list[str]
    rounds: dict[str, Round]
    vocabulary: str | None


def inputs(config: Config, sources: dict[str, dict[str, str]]) -> Inputs:
    """Return the inputs of SlguSet.

    Raises
    ------
    InputError
        One is missing, or does not belong to the others.
    """
    shards, skipped = plan_corpora(config, sources)
    rounds = annotation_rounds(config)
    for name in rounds:
        is_undecided(config, name)  # rejects sheets of an unknown draw
    acceptance_odds(config)  # rejects an unknown model
    return Inputs(
        shards=shards,
        not_read=quarantine_rows(skipped),
        published=published_file(config, sources),
        tagged=tagged_files(config, sources),
        rounds=rounds,
        vocabulary=vocabulary_folder(config),
    )


def filter_module(name: str) -> str:
    """Return the module of a filter."""
    return f"evenhand.slguset.filters.{name}"


def filter_files(config: Config) -> list[str]:
    """Return the files that the configured filters read: tables and trained models.

    Raises
    ------
    InputError
        The pack lacks a table of a filter, or one that a setting of names_jieba asks for.
    """
    modules = [filter_module(name) for name in config["slguset"]["filters"]]
    names = dict.fromkeys(name for module in modules for name in declared(module, "FILES"))
    settings = config["slguset"]["names_jieba"]
    # names_lac alone uses every table that the pack has
    tables = NAME_TABLES.items() if "names_jieba" in config["slguset"]["filters"] else ()
    for key, table in tables:
        if not settings[key]:
            names.pop(table, None)
        elif table in names and not Path(pack_file(config, table)).is_file():
            raise InputError(
                f"config: slguset.names_jieba.{key} needs {table}, which the pack"
                f" {config['slguset']['pack']} lacks",
                remedy="add the table to the pack, or set it to false",
            )
    optional = {name for module in modules for name in declared(module, "OPTIONAL") or ()}
    for filter_, module in zip(config["slguset"]["filters"], modules, strict=True):
        for table in {*declared(module, "FILES")} - optional:
            if table.endswith(".csv") and not Path(pack_file(config, table)).is_file():
                pack = Path(config["slguset"]["pack"]).name
                remedy = f"leave out the filter {filter_}, or use a pack that has it"
                raise InputError(f"the pack {pack} has no {table}", remedy=remedy)
    return [
        pack_file(config, name) if name.endswith(".csv") else f"<results>/slguset/names/{name}"
        for name in names
        if name not in optional or Path(pack_file(config, name)).is_file()
    ]


def filter_options(config: Config) -> Options:
    """Return the settings of the configured filters, from their sections of the configuration."""
    sections = dict.fromkeys(
        section
        for name in config["slguset"]["filters"]
        for section in declared(filter_module(name), "SETTINGS") or ()
    )
    keys = {
        key: f"slguset.{section}.{key}"
        for section in sections
        for key in config["slguset"][section]
    }
    return Options(
        None, {key: pick(config, *place.split(".")) for key, place in keys.items()}, keys
    )


def reasons(config: Config) -> dict[str, tuple[str, str]]:
    """Return the reasons for rejecting a sentence after `find_keywords`, with name and meaning."""
    modules = [
        *map(filter_module, config["slguset"]["filters"]),
        "evenhand.slguset.merge_candidates",
    ]
    meanings: dict[str, tuple[str, str]] = {}
    for module in modules:
        meanings |= declared(module, "REASONS")
    attribute = pack_of(config)["attribute"]
    return {
        name: (title.replace("{attribute}", attribute), meaning.replace("{attribute}", attribute))
        for name, (title, meaning) in meanings.items()
    }


def vocabulary_folder(config: Config) -> str | None:
    """Return the folder of the model for the statistics of the data set's vocabulary."""
    model = config["slguset"]["vocabulary"]
    if model is None:
        return None
    folder = plan_models.model_folder(config, model) if model in config["models"] else None
    if folder is None:
        problem = f"config: slguset.vocabulary is {model!r}, which is no model with a folder"
        remedy = "name one of `models` that has a `path` or is trained here"
        raise InputError(problem, remedy=remedy)
    return folder


def editions(config: Config) -> dict[str, str]:
    """Return the editions of SlguSet in this run, by the prefix of their `slguset_page_files`."""
    annotated = any(round_.sheets for round_ in annotation_rounds(config).values())
    sources = {"": "slguset"} if config["slguset"]["corpora"] and annotated else {}
    return sources | ({"published_": "slguset_published"} if config["slguset"]["published"] else {})


def waiting(config: Config) -> str:
    """Return the rounds that wait for annotators, and the next steps; empty if none does."""
    settings = config["slguset"]["annotation"]
    lines = []
    for round_ in annotation_rounds(config).values() if config["slguset"]["corpora"] else ():
        if round_.complete():
            continue
        sheets = f"{config['results']}/slguset/annotation/{round_.name}/sheets"
        filled = f"{settings['filled']}/{round_.name}"
        there = f": {', '.join(round_.sheets)}" if round_.sheets else ""
        lines.append(
            f"Round {round_.name} waits for its annotators: {len(round_.sheets)} of"
            f" {len(round_.annotators)} filled sheets are there{there}. What to do next:"
        )
        steps = [
            f"Give each annotator a copy of a sheet of {sheets}/ (a later run may write that"
            " folder anew: nobody should fill in the files there).",
            f"Put the filled sheets into {filled}/, as they come, and run the same command again."
            " Another corpus needs another folder (slguset.annotation.filled).",
        ]
        if not round_.frozen:
            command = f"mkdir -p {filled} && cp -n {sheets}/{HANDED_OUT} {filled}/"
            steps.insert(0, f"Freeze the round: {command}")
        lines += [f"  {number}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n".join(lines)
