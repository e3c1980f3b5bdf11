"""The command line `evenhand`: audits without a workflow, and the workflow itself.

Each command states its finding first, and the path of the report or the table last.
"""

import io
import itertools
import json
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any, NoReturn

from cyclopts import App, CycloptsError, Parameter, UnknownCommandError, UnusedCliTokensError

from evenhand.core.numbers import read_bins
from evenhand.core.places import ROOT, SCHEMA, SNAKEFILE, located
from evenhand.core.usage import problem_of
from evenhand.errors import InputError, errors_of_disk, nearest, with_names
from evenhand.text.phrases import choice, listed, plural

app = App(
    name="evenhand",
    version_flags=["--version"],
    help="Audit models and data for bias.",
    default_parameter=Parameter(consume_multiple=True, negative=""),
)

#: The words of another program's command line.
Words = Annotated[str, Parameter(allow_leading_hyphen=True)]

#: Options of Snakemake that say where jobs run.
_PLACES = ("-c", "--cores", "-j", "--jobs", "--profile", "-e", "--executor")

#: What to do about an option that Snakemake refuses.
_HELP = "its options are listed by `snakemake --help`"

#: What to do about a working folder that cannot be written, where Snakemake keeps its records.
_ELSEWHERE = (
    "start it in a folder that you may write, with full paths to the configuration and in it"
)

#: Options of Snakemake that change the configuration, or the folder that its paths start from.
_CHANGES = ("--config", "-C", "--directory", "-d")

#: The consequences of a signal for a run of the workflow, at its end and at once.
_CONTINUES = "finished results are kept, and the same command continues where it stopped"
_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
_STOPPING = b"Stopping: no further job starts; waiting for those that run.\n"


def main(words: list[str] | None = None) -> None:
    """Run a command; exit with 2 for invalid input."""
    words = sys.argv[1:] if words is None else words
    if "" in words:
        _refuse(InputError("an argument is blank", remedy="give it a value, or leave it out"))
    try:
        with errors_of_disk():
            try:
                app(words, exit_on_error=False, print_error=False)
            finally:  # at the end of the process, its error would be printed
                sys.stdout.flush()
    except CycloptsError as error:
        problem = problem_of(error)
        if isinstance(error, UnusedCliTokensError) and words[0] == "predictions":
            option = words[words.index(error.unused_tokens[0]) - 2]
            problem += (
                ", as --label takes one column: audit each label by itself"
                if option == "--label"
                else f", as {option} takes one value"
                if option.startswith("--")
                else ", as one file, or one folder of logs, is read"
            )
        elif isinstance(error, UnknownCommandError):
            names = listed([name for name in app if not name.startswith("-")])
            problem += f"{'' if problem.endswith('?') else '.'} The commands are {names}"
        command = f"evenhand {words[0]}" if words[0] in app else "evenhand"
        _refuse(InputError(problem, remedy=f"see `{command} --help`"))
    except InputError as error:
        has_flags = words[0] in ("audit", "predictions", "extract")
        _refuse(error.with_names(_flag) if has_flags else error)
    except BrokenPipeError:  # as by `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _flag(name: str) -> str:
    """Return the flag of an argument of a function: ``--group`` of groups, ``--bins age``."""
    name = {"groups": "group", "probabilities": "probability"}.get(name, name)
    option, _, column = name.partition(".")
    return f"--{option.replace('_', '-')} {column}".rstrip()


def _refuse(error: InputError) -> NoReturn:
    print(f"error: {error}".replace("\n", "\nerror: "), file=sys.stderr)
    sys.exit(2)


@contextmanager
def _until_stopped(
    consequence: str = "the same command starts anew", note: bytes = b""
) -> Iterator[list[int]]:
    """Collect the signals that stop a command; exit at one that comes while no job runs."""
    signals: list[int] = []

    def stop(number: int, _: object) -> NoReturn:
        _note(signals, number, note)
        if not note:  # anew, as an exception in a callback is lost; Snakemake ends in its own way
            signal.alarm(1)
        sys.exit(128 + number)  # a KeyboardInterrupt may change Python's exit status

    former = {number: signal.getsignal(number) for number in _STOPS}
    for number, action in former.items():
        if action is not signal.SIG_IGN:  # as of nohup
            signal.signal(number, stop)
    try:
        yield signals
    except BaseException:  # an event loop that a signal interrupts cannot be closed: RuntimeError
        if not signals:
            raise
        sys.exit(_stopped(signals[0], consequence))
    finally:
        signal.alarm(0)
        for number, action in former.items():
            signal.signal(number, action)


def _note(signals: list[int], number: int, note: bytes) -> None:
    if not signals:  # not by print, which the signal may have interrupted
        os.write(2, note)
    signals.append(number)


def _stopped(number: int, consequence: str) -> int:
    """Print that a signal stopped the command; return the exit status that shells expect."""
    problem = f"stopped by the signal {signal.Signals(number).name}; {consequence}"
    print(f"error: {problem}.", file=sys.stderr)
    return 128 + number


@app.command
@_until_stopped()
def audit(
    model: str,
    *,
    pairs: Path,
    out: Path = Path("audit"),
    language: str = "en",
    delta: float = 5.0,
    device: str = "cpu",
    threads: int = 1,
) -> None:
    """Measure which sentence of each pair a language model prefers.

    Parameters
    ----------
    model
        A folder, or a name on the Hugging Face hub.
    pairs
        A CSV with CrowS-Pairs' columns: sent_more (the stereotype), sent_less,
        stereo_antistereo, bias_type. Swapped columns reverse every verdict.
    out
        The folder of the report, the card and the tables: a new one for each other audit.
    language
        The model's language, for its card: a code of ISO 639, such as en.
    delta
        The smallest preference that matters, in percentage points.
    device
        cpu or cuda.
    threads
        The number of threads; it does not affect the result.
    """
    import evenhand as eh

    result = eh.audit_pairs(
        model, pairs, language=language, delta=delta, device=device, threads=threads, out=out
    )
    _write_report(result, out)
    if "broken_model" in {*result.table["reason"]}:
        remedy = "mend its configuration, or audit another model"
        raise InputError("the model fails on its inputs", file=model, remedy=remedy)


@app.command
@_until_stopped()
def predictions(
    file: Path,
    *,
    label: str | None = None,
    prediction: list[str] | None = None,
    probability: list[str] | None = None,
    group: list[str] | None = None,
    positive: str | None = None,
    bins: list[str] | None = None,
    id: str | None = None,
    cluster: str | None = None,
    counterfactual_of: str | None = None,
    gold: Path | None = None,
    threshold: float = 0.5,
    delta: float = 5.0,
    out: Path = Path("predictions_audit"),
) -> None:
    """Compare predictions of any model between groups; nothing is trained.

    Parameters
    ----------
    file
        CSV or Parquet; or logs of lm-evaluation-harness (samples_*.jsonl, or their folder), which
        need no further option.
    label
        The column of the label.
    prediction
        The column of the predicted label, or of the probability of the positive one.
    probability
        LABEL=COLUMN for each label, such as yes=p1 no=p0, in place of a prediction.
    group
        Columns of protected attributes.
    positive
        The label whose rates are computed; by default 1, true or yes.
    bins
        COLUMN=18,30,50: the borders between the groups of a numeric column.
    id
        The column of ids.
    cluster
        A column with equal cells for dependent cases.
    counterfactual_of
        A column with the id of the factual row of a counterfactual one.
    gold
        A file with ids, labels and groups, if the predictions have none.
    threshold
        The minimum probability of a positive prediction.
    delta
        The smallest difference that matters, in percentage points.
    out
        The folder of the report, the card and the tables: a new one for each other audit.
    """
    import evenhand as eh
    from evenhand.tabular.delimited import read_cells

    if file.is_dir() or file.name.endswith((".json", ".jsonl", ".jsonl.gz")):
        from evenhand.predictions.lm_eval import log_files

        log_files([file])
        columns = (label, prediction, probability, group, positive, bins, id, cluster)
        if any((*columns, counterfactual_of, gold)) or threshold != 0.5:
            problem = (
                "is read as a log of lm-evaluation-harness, which takes --delta and --out only"
            )
            raise InputError(problem, file=file, remedy="save other predictions as CSV or Parquet")
        _write_report(eh.audit_logs(file, delta=delta, out=out), out)
        return
    if len(prediction or []) > 1:
        remedy = "for probabilities by class use `probabilities` LABEL=COLUMN"
        raise InputError("`prediction` takes one column", remedy=remedy)
    needed = {"label": label, "group": group, "prediction": prediction or probability}
    if lacking := [f"`{name}`" for name, value in needed.items() if not value]:
        header = read_cells(file)[0]
        if {"doc_id", "target"} <= {*header} or any(name.startswith("doc.") for name in header):
            remedy = "name the samples_*.jsonl that lm_eval --log_samples writes"
            raise InputError("looks like a log of lm_eval saved as CSV", file=file, remedy=remedy)
        if {"sent_more", "sent_less"} <= {*header}:
            remedy = f"audit a model by `evenhand audit MODEL --pairs {shlex.quote(str(file))}`"
            raise InputError("has pairs of sentences, not predictions", file=file, remedy=remedy)
        either = "give either `prediction` or `probability`; " * ("`prediction`" in lacking)
        verb, columns = "is" if len(lacking) == 1 else "are", listed(header, 12)
        raise InputError(
            f"{listed(lacking)} {verb} missing", remedy=f"{either}the columns: {columns}"
        )
    result = eh.audit_predictions(
        file,
        label=label or "",
        groups=group or [],
        positive=positive,
        prediction=prediction[0] if prediction else None,
        probabilities=_by_name("probabilities", _parts(probability or [])),
        bins=_by_name("bins", map(read_bins, bins or [])),
        id=id,
        cluster=cluster,
        counterfactual_of=counterfactual_of,
        gold=gold,
        threshold=threshold,
        delta=delta,
        title=file.stem,
        out=out,
    )
    _write_report(result, out)


def _by_name(option: str, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise InputError(f"`{option}` names {name} twice", remedy="keep one of the two")
        values[name] = value
    return values


def _parts(options: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield label and column of ``LABEL=COLUMN``; commas separate several that have a = each."""
    for words in options:
        pieces = words.split(",")
        for piece in pieces if all("=" in piece for piece in pieces) else [words]:
            name, sign, value = piece.partition("=")
            if not sign:
                problem = f"`probabilities` is {words!r}, which has no ="
                remedy = "write LABEL=COLUMN for each label, as `--probability yes=p1 no=p0`"
                raise InputError(problem, remedy=remedy)
            yield name.strip(), value.strip()


@app.command
@_until_stopped()
def extract(
    folder: Path,
    *,
    language: str | None = None,
    attribute: str = "gender",
    pack: Path | None = None,
    text_field: str = "text",
    paragraphs: str = "line",
    out: Path = Path("sentences"),
) -> None:
    """Find the sentences of a corpus with one gender word, and why each is kept or dropped.

    Parameters
    ----------
    folder
        A folder, a file or an archive.
    language
        zh, en, de or ja (which needs `pip install 'evenhand[ja]'`), unless you name a pack.
    attribute
        gender; of zh also age and region.
    pack
        A folder with a pack of your own, in place of language and attribute.
    text_field
        The field of JSON lines, or the column of tables, that holds the text.
    paragraphs
        blank_line joins lines up to a blank one (hard-wrapped text); line joins none.
    out
        The folder of the tables.
    """
    import evenhand as eh
    from evenhand.api import is_other_language, problem_of_lines

    with warnings.catch_warnings():  # the finding has the problems with files
        warnings.simplefilter("ignore", UserWarning)
        rows = eh.extract_sentences(
            folder,
            language=language,
            attribute=attribute,
            pack=pack,
            text_field=text_field,
            paragraphs=paragraphs,
            out=out,
        )
    path = out / "sentences.csv"
    if "spans" in rows:  # of packs with masks of several words
        spans = (None if some is None else json.dumps([*some], ensure_ascii=False)
                 for some in rows["spans"])  # fmt: skip
        rows["spans"] = [*spans]
    rows.to_csv(path, index=False)
    count = int((rows["verdict"] == "accepted").sum())
    note = _write_problems(rows.attrs["quarantine"], out / "quarantine.csv")
    if len(rows) and (without := rows.attrs["without_keyword"]):
        note += f"; {plural(len(without), 'file')} of {rows.attrs['files']:,} without such a word"
        note += f": {listed(without, 3)}"
    if problem := problem_of_lines(rows):
        note += f"; {with_names(problem, _flag)}"
    elif pack is None and is_other_language(rows):
        note += f"; texts were read as --language {language} --attribute {attribute}: is it right?"
    finding = f"{count} of {len(rows)} different sentences with a {rows.attrs['attribute']} word of"
    finding += f" the pack are kept, of {rows.attrs['sentences']:,} sentences read (with copies)"
    print(f"{finding}{note}{'' if note.endswith('?') else '.'}\nTable: {path}")


def _write_problems(quarantine: list[dict], path: Path) -> str:
    """Write the problems with files, if there are any; return them in words, with the path."""
    if not quarantine:
        path.unlink(missing_ok=True)  # of an earlier result
        return ""
    import pandas as pd

    from evenhand.api import problems_with_files

    pd.DataFrame(quarantine).to_csv(path, index=False)
    return f"; {with_names(problems_with_files(quarantine, path), _flag)}"


def _write_report(result, out: Path) -> None:
    """Write the report and the card of a result; print findings, notes and the report."""
    from evenhand.predictions.words import with_further

    report = result.to_html(out / "report.html")
    (out / "card.md").write_text(result.card(), encoding="utf-8")
    first, others = with_further(result.findings, str(report))
    lines = [
        first,
        *(f"- {words}" for words in others),
        *(f"Note: {note}" for note in result.notes),
    ]
    print("\n".join([*(with_names(line, _flag) for line in lines), f"Report: {report}"]))


#: The configurations to begin with, by task.
STARTS = {path.stem: path for path in sorted((ROOT / "config" / "starts").glob("*.yaml"))}


@app.command
def init(folder: Path = Path(), task: str = "predictions") -> None:
    """Write a small commented configuration to begin with.

    Parameters
    ----------
    folder
        The output folder; created if missing.
    task
        audit, predictions, table, text or extract.
    """
    from evenhand.core.config import explained

    if task not in STARTS:
        raise InputError(f"there is no task {task!r}", remedy=choice(task, STARTS))
    if str(folder) in {*STARTS} - {task} and not folder.exists():
        raise InputError(f"{folder} is a task", remedy=f"write `evenhand init . {folder}`")
    path = folder / f"{task}.yaml"
    if path.exists():
        raise InputError("is there already", file=path, remedy="remove it, or name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(STARTS[task], path)
    others = ", ".join(name for name in STARTS if name != task)
    print(
        f"Edit the names in it, then: evenhand run {shlex.quote(str(path))}"
        f" (other tasks: --task {others}; {explained()})\nConfiguration: {path}"
    )


@app.command
def run(*words: Words) -> None:
    """Run the workflow: ``evenhand run [CONFIG] [options of snakemake]``.

    Without a configuration the demo runs, if the working folder has none. The results are in the
    folder that the configuration specifies, by default ``results``; a second run repeats only the
    jobs that changed.

    Parameters
    ----------
    words
        A configuration (YAML), files or rules to make (by default all), and options of Snakemake,
        such as ``--cores 8`` (by default 2), ``-n`` (count the jobs only), ``--profile NAME`` (of a
        cluster) or ``--config results=FOLDER``; ``snakemake --help`` lists all.
    """
    with _until_stopped(_CONTINUES, _STOPPING) as signals:
        is_done, settings = _run(words, signals)
    if not is_done:
        sys.exit(_stopped(signals[0], _CONTINUES) if signals else 1)
    from evenhand.plan import summary

    if settings and (findings := summary(settings)):
        print(findings)


def _run(words: tuple[str, ...], signals: list[int]) -> tuple[bool, dict[str, Any]]:
    """Run the workflow; return whether all is done, and the configuration, {} after a dry run."""
    from evenhand.plan import completed_config

    config, words = _with_config(words)
    targets = list(itertools.takewhile(lambda word: not word.startswith("-"), words))
    arguments = [*(targets or ["all"]), *_named(config), *words[len(targets) :]]
    if not any(word.startswith(_PLACES) for word in words):
        arguments += ["--cores", "2"]
    parser, options, changes = _options([*_with_profiles(arguments), "--logger", "evenhand"])
    if [*map(Path, options.configfile)] != [config]:
        remedy = "name it first, as in `evenhand run mine.yaml`"
        raise InputError("`--configfile` has no effect on a run", remedy=remedy)
    settings = completed_config(config) | changes
    results = Path(options.directory or "", settings["results"])
    _check_writable(Path(options.directory or ""), _ELSEWHERE)
    _check_writable(
        results, "name a folder that you may write in the key `results` of the configuration"
    )
    os.environ["EVENHAND_REPORT"] = str(results / "report" / "index.html")
    from snakemake.cli import args_to_api
    from snakemake.exceptions import WorkflowError
    from snakemake.scheduling.job_scheduler import JobScheduler

    finish = JobScheduler.exit_gracefully  # at SIGTERM

    def stop(scheduler: JobScheduler, number: int, _: object) -> None:
        _note(signals, number, _STOPPING)
        finish(scheduler)

    JobScheduler.exit_gracefully = stop
    try:
        is_done = args_to_api(options, parser)
        for thread in threading.enumerate():  # the limit of jobs per second: Python waits for it
            if isinstance(thread, threading.Timer):
                thread.cancel()
        return is_done, {} if options.dryrun else settings | {"results": results.resolve()}
    except WorkflowError as error:  # before the workflow is read, as of a profile's other files
        problem = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"snakemake: {problem}", remedy=_HELP) from None


def _check_writable(folder: Path, remedy: str) -> None:
    """Raise InputError if a folder, or the one that it would be in, cannot be written."""
    try:
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        with TemporaryFile(dir=there):
            pass
    except OSError as error:
        problem = f"no results can be written there ({os.strerror(error.errno)})"
        raise InputError(problem, file=folder, remedy=remedy) from None


def _options(arguments: list[str]) -> tuple[Any, Any, dict[str, Any]]:
    """Return Snakemake's parser, options and ``--config``; InputError where it refuses them."""
    from snakemake.cli import parse_args, parse_config
    from snakemake.exceptions import CliException, WorkflowError

    messages = io.StringIO()  # the usage of an invalid option, and which profiles are read
    try:
        with redirect_stderr(messages):
            parser, options = parse_args(arguments)
    except SystemExit as stop:
        if not stop.code:
            raise
        printed = re.split("[Ee]rror: ", messages.getvalue())
        problem = " ".join(printed[-1].split()).rstrip(".")
        raise InputError(f"snakemake: {problem}", remedy=_HELP) from None
    except CliException as error:
        raise InputError(f"snakemake: {str(error).rstrip('.')}", remedy=_HELP) from None
    except (ValueError, WorkflowError) as error:  # of an option whose values are not KEY=VALUE
        frames = (frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__))
        if not (parsed := next((each for each in frames if "argument_strings" in each), None)):
            raise
        problem = f"`{parsed['option_string']}` cannot be {' '.join(parsed['argument_strings'])!r}"
        raise InputError(f"snakemake: {problem}", remedy=_HELP) from None
    try:
        changes = parse_config(options.config)
    except ValueError:
        problem = f"`--config` is {' '.join(options.config)!r}, which sets no key"
        remedy = f"write KEY=VALUE with a key of {located('docs/config.md')}, as results=folder"
        raise InputError(problem, remedy=remedy) from None
    for name, word in (("cores", "all"), ("jobs", "unlimited")):
        count = getattr(options, name)
        if count not in (None, word) and not (str(count).isdecimal() and int(count)):
            remedy = f"give a whole number from 1 on, or {word}"
            raise InputError(f"`--{name}` is {count}", remedy=remedy)
    return parser, options, changes


def _with_profiles(words: Iterable[str]) -> list[str]:
    """Return the words with the workflow's own profiles, where Snakemake finds none of the name.

    Raises
    ------
    InputError
        No profile has the name.
    """
    from snakemake.cli import get_profile_dir

    words = [
        part
        for word in words
        for part in (word.split("=", 1) if word.startswith("--profile=") else [word])
    ]
    replaced = []
    for option, word in itertools.pairwise(["", *words]):
        if option == "--profile" and not get_profile_dir(word):
            profiles = {
                path.parent.name: path.parent for path in ROOT.glob("profiles/*/profile.yaml")
            }
            if word not in profiles:
                remedy = "name a folder that has one"
                if near := nearest(word, profiles):
                    remedy = f"did you mean {near}?"
                problem = f"`--profile` is {word}, where no profile.yaml is"
                raise InputError(problem, remedy=remedy)
            word = str(profiles[word])
        replaced.append(word)
    return replaced


def _named(config: Path) -> list[str]:
    return ["--snakefile", str(SNAKEFILE), f"--configfile={config}"]


def _with_config(words: tuple[str, ...], command: str = "run") -> tuple[Path, tuple[str, ...]]:
    """Return the configuration at the start of the words, and the other words."""
    is_named = bool(words) and words[0].endswith((".yaml", ".yml"))
    config = Path(words[0] if is_named else located("config/config.yaml"))
    if not is_named and not any(word.startswith(_CHANGES) for word in words):
        _check_target(words)
    if not is_named and (names := _configurations()):
        problem = f"no configuration is named, and this folder has {listed(names, 5)}"
        example = shlex.join(["evenhand", command, names[0]])
        remedy = f"write `{example}`; the demo needs a folder without a configuration"
        raise InputError(problem, remedy=remedy)
    if not config.is_file():
        problem = "there is no such configuration"
        raise InputError(problem, file=config, remedy="write one with `evenhand init`")
    from evenhand.core.config import read_config
    from evenhand.plan import check_config

    # Snakemake would answer with a traceback, or the place of a rule
    check = read_config if any(word.startswith(_CHANGES) for word in words) else check_config
    check(config)
    return config, words[is_named:]


def _configurations() -> list[str]:
    """Return the YAML files of the working folder that have a key of the configuration."""
    from evenhand.core.config import read_schema

    key = re.compile(rf"^({'|'.join(read_schema(SCHEMA)['properties'])})\s*:".encode(), re.M)
    paths = sorted(path for end in ("yaml", "yml") for path in Path().glob(f"[!.]*.{end}"))
    return [path.name for path in paths if path.is_file() and key.search(path.read_bytes())]


def _check_target(words: tuple[str, ...]) -> None:
    """Raise InputError if the first word is a file or a folder that the demo does not make."""
    path = Path(words[0] if words else "all")
    if path.exists() and path.name != "all" and path.parts[:1] != ("results",):
        kind = "is a folder" if path.is_dir() else "is no YAML configuration"
        raise InputError(kind, file=path, remedy="name a YAML file, such as predictions.yaml")


@app.command
def why(*words: Words) -> None:
    """Explain why each job would run: ``evenhand why [CONFIG]``.

    The exit status is 0 with an answer, whether jobs would run or none; 1 if Snakemake cannot make
    a plan; and 2 for invalid input.

    Parameters
    ----------
    words
        As of ``evenhand run``: a configuration (YAML), files or rules, and options of Snakemake.
    """
    config, words = _with_config(words, "why")
    words = _with_profiles(words)
    _, options, _ = _options([*_named(config), *words])
    _check_writable(Path(options.directory or ""), _ELSEWHERE)
    _module("evenhand.core.why", [*_named(config), *words])


@app.command(help_flags=[])
def compare(*words: Words) -> None:
    """Compare two folders of results: ``evenhand compare BASE HEAD [--gates FILE]``.

    Parameters
    ----------
    words
        See ``evenhand compare --help``.
    """
    from evenhand.comparison.compare_results import main

    main(list(words))


@app.command(help_flags=[])
def verify(*words: Words) -> None:
    """Compare results with their recorded checksums: ``evenhand verify [RESULTS] [--restore]``.

    Parameters
    ----------
    words
        See ``evenhand verify --help``.
    """
    _module("evenhand.core.verify", list(words))


@app.command
def certify(
    *, out: Path = Path("certificate"), seeds: int = 5, problems: list[str] | None = None
) -> None:
    """Run every method on problems with planted truth (an hour), and write the results.

    Parameters
    ----------
    out
        The folder of the tables.
    seeds
        Seeds of each planted model; with fewer than five, methods can fail by chance.
    problems
        Only these: language_models, mitigation, name_filters (a minute), slguset_bias, tables. The
        rows of the others are kept, if there are some in the folder.
    """
    _check_writable(out, "name another folder")
    words = ["certificates.certify", "--resources", str(ROOT / "resources")]
    words += ["--out", str(out), "--seeds", str(seeds)]
    if problems:
        words += ["--problems", *problems]
        words += ["--former", str(out)] if (out / "certificate.csv").is_file() else []
    done = subprocess.run([sys.executable, "-m", "evenhand.core.run", *words])
    if done.returncode:
        sys.exit(done.returncode)
    _module("evenhand.certificates.check", [str(out)])


def _module(name: str, words: list[str]) -> None:
    """Run a module as ``python -m`` does."""
    sys.argv = [name, *words]
    runpy.run_module(name, run_name="__main__", alter_sys=True)
