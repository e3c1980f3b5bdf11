"""Plan a run: check the whole configuration; `plan_slguset` and the others plan its parts.

Plain functions of the (completed) configuration. They do not read corpora, because every job
parses the Snakefile. Paths of results begin with ``<results>``, which Snakemake replaces.
"""

import glob
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evenhand import (
    plan_classifiers,
    plan_individual,
    plan_legal,
    plan_models,
    plan_predictions,
    plan_slguset,
    plan_stereotypes,
)
from evenhand.core.config import has, read_config, read_schema
from evenhand.core.places import SCHEMA
from evenhand.core.sources import read_sources, source_path
from evenhand.core.whole import near_names, read_text
from evenhand.errors import InputError, MissingPathError
from evenhand.io.formats import unusable_name
from evenhand.text.phrases import plural

Config = dict[str, Any]

#: How Snakemake's log begins the log of a failed job, between two lines of "=".
#: Bytes of a table that are read before the first job; the job reads the rest of a larger one.
BEGINNING = 64 << 20

_LOGFILE = re.compile(r"Logfile (\S.*):$")
_TRACEBACK = "Traceback (most recent call last):"


def check_files(config: Config) -> None:
    """Check that the configuration has inputs, that named files exist, and that sets are scored.

    Raises
    ------
    InputError
        A check fails; the error names the key.
    """
    slguset, sets = config["slguset"], config["stereotypes"]["sets"]
    tables = config["individual_fairness"]["datasets"]
    texts = config["legal"]["datasets"] or config["text"]["datasets"]
    corpora = slguset["corpora"]
    if not (corpora or slguset["published"] or sets or tables or texts or config["predictions"]):
        raise InputError(
            "config: there is nothing to read",
            remedy="name a corpus under slguset.corpora, a published file under"
            " slguset.published, a set of pairs under stereotypes.sets, a table under"
            " individual_fairness.datasets, texts under text.datasets, cases under"
            " legal.datasets, or predictions",
        )
    named = {
        "slguset.published.file": slguset["published"].get("file"),
        "report.planted": config["report"]["planted"],
        **plan_slguset.acceptance_labels(config),
    }
    plan_models.check_models(config)
    logs = plan_predictions.check_predictions(config)
    for name, model in config["models"].items():
        for number, path in enumerate(model.get("train", {}).get("files", [])):
            named[f"models.{name}.train.files.{number}"] = path
        if "train" in model and not model["train"]["files"] and not corpora:
            problem = f"config: models.{name} has nothing to be trained on"
            raise InputError(problem, remedy=f"name text files under models.{name}.train.files")
    for table in tables.values():
        for number, path in enumerate(table["files"]):
            named[f"{table['key']}.files.{number}"] = path
    for name, entry in sets.items():
        named[f"stereotypes.sets.{name}.file"] = entry.get("file")
    may_be_folders = plan_legal.check_legal(config) | logs
    plan_individual.check_tables(config)
    for key, path in (named | may_be_folders).items():
        if not path:
            continue
        if not Path(path).exists():
            raise MissingPathError(key, path, near_names(Path(path)))
        if not Path(path).is_file() and not Path(path).is_dir():
            raise InputError(f"config: {key} is {path}, which is a pipe, socket or device")
        if why := unusable_name(path):
            raise InputError(f"config: {key} is {path!r}: {why}", remedy="rename the file")
        if key not in may_be_folders and Path(path).is_dir():
            raise InputError(f"config: {key} is {path}, which is a folder", remedy="name a file")
    plan_stereotypes.check_sets(config)


def check_sources(config: Config, sources: dict[str, dict[str, str]]) -> None:
    """Check that every input has a file or a known source.

    Raises
    ------
    InputError
        A check fails; the error names the key or the source.
    """
    for name in config["stereotypes"]["sets"]:
        plan_stereotypes.pair_set_file(config, sources, name)
    for name in config["individual_fairness"]["datasets"]:
        plan_individual.table_files(config, sources, name)
    for name in config["legal"]["datasets"]:
        for part in plan_legal.parts(config, name):
            plan_legal.part_files(config, sources, name, part)
    released = config["stereotypes"]["released"]
    for source in [released["gold"], *released["scores"]] if released["gold"] else []:
        source_path(config, sources, source)


def check_effects(config: Config, written: Config) -> None:
    """Reject keys that have no effect (see also `evenhand.core.config.complete`).

    Parameters
    ----------
    config, written : dict
        The configuration, completed and as written by the user.

    Raises
    ------
    InputError
        There are such keys; the error names all of them, one per line.
    """
    parts = (plan_stereotypes, plan_individual, plan_classifiers, plan_predictions)
    faults = [
        f"config: {key} has no effect, since {why}"
        for part in parts
        for key, why in part.unused(config).items()
        if has(written, *key.split("."))
    ]
    if faults:
        raise InputError(faults, remedy="remove what is not used")


def other_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Return results that no page reads, but whose provenance is recorded."""
    files = []
    slguset, rounds = "<results>/slguset", plan_slguset.annotation_rounds(config)
    if shards := list(shards):
        files += [f"{slguset}/sentences/{shard}.files.parquet" for shard in shards]
        files += [f"{slguset}/annotation/{name}/sheets" for name in rounds]
        files += [f"{slguset}/sentences/{shard}.quarantine.parquet" for shard in shards]
    if "" in plan_slguset.editions(config):
        files += [
            f"{slguset}/annotation/{name}/adjudication"
            for name, entry in rounds.items()
            if entry.sheets
        ]
        files += [f"{slguset}/slguset.csv", f"{slguset}/README.md"]
    if config["slguset"]["acceptance"]["learn"] and shards:
        files += [f"{slguset}/acceptance/{name}" for name in ("verdicts.parquet", "accepted.csv")]
    if config["slguset"]["published"]:
        files.append("<results>/slguset_published/problems.csv")
    sets = plan_stereotypes.pair_sets(config)
    for name, models in sets.items():
        for model in models:
            files += [
                f"<results>/stereotypes/{name}/{kind}/{model}.parquet"
                for kind in plan_stereotypes.STORES
            ]
    for kind in ("runs", "groups", "predictions"):
        files += plan_individual.table_runs(config, kind)
    files += [
        f"<results>/tabular/{name}/data.parquet"
        for name in config["individual_fairness"]["datasets"]
    ]
    files += plan_legal.other_files(config) + plan_classifiers.other_files(config)
    used = {model for models in sets.values() for model in models}
    for entry in config["legal"]["datasets"].values():
        used |= {*entry["tokenizers"]}
    used |= {entry["model"] for entry in config["legal"]["classifiers"].values()}
    used |= set(plan_slguset.scored_models(config) if plan_slguset.editions(config) else [])
    folders = {plan_models.model_folder(config, name) for name in config["models"] if name in used}
    files += sorted(folder for folder in folders if folder and folder.startswith("<results>"))
    return files


def job_environment(config: Config, library: str) -> dict[str, str]:
    """Return the environment variables of every job: Python, the library, the cache, the mirror.

    Jobs on a cluster have them too, since they also parse the Snakefile. A rule's conda environment
    puts its own Python before this one.
    """
    state = f"{config['results']}/.evenhand"
    folder = config["cache"]["folder"] or f"{state}/cache"
    before = {name: os.environ.get(name) for name in ("PATH", "PYTHONPATH")}
    # where jobs are forks of one process (`workflow/warm.py`), its programs come first
    programs = [os.environ.get("EVENHAND_PROGRAMS"), str(Path(sys.executable).parent)]
    environment = {
        "PATH": os.pathsep.join(filter(None, [*programs, before["PATH"]])),
        "PYTHONPATH": os.pathsep.join(filter(None, [library, before["PYTHONPATH"]])),
        "EVENHAND_STATE": state,
        "EVENHAND_CACHE": folder if config["cache"]["enabled"] else "",
        # otherwise transformers requests a conversion of pickled weights from the hub
        "DISABLE_SAFETENSORS_CONVERSION": "1",
    }
    if config["mirror"]:
        environment["EVENHAND_MIRROR"] = config["mirror"]
    if config["offline"]:
        environment["EVENHAND_OFFLINE"] = environment["HF_HUB_OFFLINE"] = "1"
    return environment


def summary(config: Config) -> str:
    """Return the main findings and the path of the report; blank if there is no report."""
    file = Path(config["results"]).resolve() / "report" / "index.html"
    if not file.is_file():
        return ""
    embedded = re.search(r'id="findings">(.*?)</script>', file.read_text(encoding="utf-8"), re.S)
    findings = json.loads(embedded[1]) if embedded else []
    return "\n".join([*(f"- {finding}" for finding in findings), f"The report: {file}"])


def errors_in(logs: Iterable[str]) -> str:
    """Return the distinct errors in the logs of a run, a sentence each.

    Defects, whose logs end with a traceback, share the first sentence, with the first log.
    """
    lines = []
    for log in map(Path, logs):
        if log.is_file():
            lines += log.read_text(encoding="utf-8", errors="replace").splitlines()
    defects = _defects(lines)
    sentences = [line for line in lines if line.startswith("error: ")]
    if defects:
        log, error = next(iter(defects.items()))
        jobs = plural(len(defects), "job")
        problem = f"error: {jobs} failed by a defect of Evenhand ({error})"
        sentences.insert(0, f"{problem}; report it with the log {log}.")
    return "\n".join(dict.fromkeys(sentences))


def _defects(lines: Iterable[str]) -> dict[str, str]:
    """Return the last line of each job's log that has a traceback in Snakemake's log, by path."""
    defects: dict[str, str] = {}
    path, content = "", None
    for line in lines:
        if started := _LOGFILE.match(line):
            path, content = started[1], None
        elif path and line and not line.strip("="):
            if content and _TRACEBACK in content and content[-1] != "KeyboardInterrupt":
                defects[path] = content[-1]
            path, content = ("", None) if content is not None else (path, [])
        elif content is not None:
            content.append(line)
    return defects


def checked(
    written: Config, *, with_texts: bool = False
) -> tuple[Config, dict[str, dict[str, str]], plan_slguset.Inputs]:
    """Return a configuration with all defaults and data sets, the sources, and SlguSet's inputs.

    Parameters
    ----------
    written : dict
        The configuration as it is written.
    with_texts : bool
        Read the declared texts, too: the names of their columns are in other keys.

    Raises
    ------
    InputError
        A check fails; the error names the key.
    """
    config = plan_individual.expand(plan_slguset.completed(written, read_schema(SCHEMA)))
    config = plan_legal.expand(config)
    check_files(config)
    if with_texts:
        plan_legal.check_declared(config)
    plan_classifiers.check_classifiers(config)  # whose names of groups the next line takes
    config = plan_predictions.expand(config)
    check_effects(config, written)
    sources = read_sources(Path(config["sources"]))
    check_sources(config, sources)
    return config, sources, plan_slguset.inputs(config, sources)


def check_config(path: Path) -> None:
    """Check a configuration before Snakemake does.

    Raises
    ------
    InputError
        A check fails; the error names the configuration and the key.
    """
    try:
        config = checked(read_config(path), with_texts=True)[0]
        plan_predictions.check_tables(config)
        for table in _tables(config):
            if Path(table).suffix != ".parquet":
                read_text(Path(table), BEGINNING)
        plan_individual.check_declared(config)
    except InputError as error:
        if error.file:
            raise
        problems = re.sub(r"^config: ", f"{path}: ", error.problem, flags=re.M).splitlines()
        remedy = _beside(error, path.parent) if isinstance(error, MissingPathError) else None
        raise InputError(problems, remedy=remedy or error.remedy) from None


def _beside(error: MissingPathError, folder: Path) -> str | None:
    """Return the remedy for a path that is missing in the folder of the run, but is in this one."""
    path = folder / error.path
    if path == Path(error.path):  # the same folder, or an absolute path
        return None
    is_pattern = error.key.startswith("text.datasets.")
    if not any(folder.glob(error.path if is_pattern else glob.escape(error.path))):
        return None
    return f"it is in {folder}/, beside the configuration: run it there, or write {path}"


def _tables(config: Config) -> Iterator[str]:
    """Yield the user's tables and sets of pairs, which must be UTF-8."""
    for entry in config["predictions"].values():
        if entry["format"] not in (plan_predictions.CLASSIFIER, "lm_eval"):
            yield from filter(None, [*entry["files"], entry["gold"]])
    for table in config["individual_fairness"]["datasets"].values():
        yield from table["files"]
    for pairs in config["stereotypes"]["sets"].values():
        yield from filter(None, [pairs.get("file")])


def completed_config(path: Path) -> Config:
    """Read a configuration, and fill in its defaults."""
    return plan_slguset.completed(read_config(path), read_schema(SCHEMA))


def main() -> None:
    """Print the main findings and the path of the report; with --check, check the config."""
    try:
        if "--check" in sys.argv:
            check_config(Path(sys.argv[-1]))
        else:
            print(summary(completed_config(Path(sys.argv[-1]))))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
