"""The command line `evenhand`: audits without a workflow, and the workflow itself.

Each command ends with two lines: the finding, and where the report is.
"""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from evenhand.core.places import ROOT, SNAKEFILE, located
from evenhand.errors import InputError

app = App(name="evenhand", version_flags=["--version"], help="Audit models and data for bias.")

#: The words of another program's command line.
Words = Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]

#: Options of Snakemake that say where jobs run.
_PLACES = ("-c", "--cores", "-j", "--jobs", "--profile", "-e", "--executor")


def main(words: list[str] | None = None) -> None:
    """Run a command; exit with 2 if the input is at fault."""
    try:
        app(words)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


@app.command
def run(*words: Words) -> None:
    """Run the workflow: ``evenhand run [CONFIG] [options of snakemake]``.

    Without a configuration the demo runs. The results are in the folder that the configuration
    names, by default ``results``; a second run does what changed.

    Parameters
    ----------
    words
        A configuration (YAML), and options of Snakemake, such as ``--cores 8`` or ``-n``.
    """
    from evenhand.plan import page

    config, arguments = _with_config(words)
    if not any(word.startswith(_PLACES) for word in words):
        arguments += ["--cores", "2"]
    done = subprocess.run([sys.executable, "-m", "snakemake", "all", *arguments, *_LOGGER])
    if done.returncode == 0 and (said := page(completed(config))):
        results = Path(completed(config)["results"])
        print(f"Verdicts: {count_verdicts(results)}.\n{said}")
    sys.exit(done.returncode)


_LOGGER = ["--logger", "evenhand"]


def _with_config(words: tuple[str, ...]) -> tuple[Path, list[str]]:
    """Return the configuration that the words begin with, and Snakemake's arguments."""
    named = bool(words) and words[0].endswith((".yaml", ".yml"))
    config = Path(words[0] if named else located("config/config.yaml"))
    if not config.is_file():
        raise InputError("there is no such configuration", file=config, remedy="`evenhand init`")
    arguments = ["--snakefile", str(SNAKEFILE), f"--configfile={config}"]
    return config, [*arguments, *words[named:]]


def completed(config: Path) -> dict:
    """Read a configuration, and fill in its defaults."""
    from evenhand.core.config import complete, read_config, read_schema
    from evenhand.core.places import SCHEMA

    return complete(read_config(config), read_schema(SCHEMA))


def count_verdicts(results: Path) -> str:
    """Count the verdicts in the declared tables of a folder of results, in words."""
    from collections import Counter

    from evenhand.core.tables import PACKAGE, read_tables
    from evenhand.text.phrases import VERDICTS, listed

    found = Counter(
        row.get("verdict")
        for package in sorted((results / "tables").rglob(PACKAGE))
        for rows in read_tables(package.parent).values()
        for row in rows
    )
    return listed([f"{found[key]} {words}" for key, words in VERDICTS.items() if found[key]])


@app.command
def why(*words: Words) -> None:
    """Say for each job that would run what changed: ``evenhand why [CONFIG]``.

    Parameters
    ----------
    words
        A configuration (YAML), and options of Snakemake.
    """
    _module("evenhand.core.why", _with_config(words)[1])


@app.command
def compare(*words: Words) -> None:
    """Compare two folders of results: ``evenhand compare BASE HEAD [--gates FILE]``.

    Parameters
    ----------
    words
        See ``python -m evenhand.compare.compare_results --help``.
    """
    _module("evenhand.compare.compare_results", list(words))


@app.command
def verify(*words: Words) -> None:
    """Compare results with their recorded checksums: ``evenhand verify [RESULTS] [--restore]``.

    Parameters
    ----------
    words
        See ``python -m evenhand.core.verify --help``.
    """
    _module("evenhand.core.verify", list(words))


@app.command
def certify(*, out: Path = Path("certificate"), seeds: int = 5) -> None:
    """Run every method on problems with planted truth (an hour), and write what was found.

    Parameters
    ----------
    out
        The folder of the tables.
    seeds
        Seeds of each planted model.
    """
    words = ["--resources", str(ROOT / "resources"), "--out", str(out), "--seeds", str(seeds)]
    subprocess.run([sys.executable, "-m", "evenhand.certificates.certify", *words], check=True)
    _module("evenhand.certificates.check", [str(out)])


def _module(name: str, words: list[str]) -> None:
    """Run a module as ``python -m`` does."""
    sys.argv = [name, *words]
    runpy.run_module(name, run_name="__main__", alter_sys=True)
