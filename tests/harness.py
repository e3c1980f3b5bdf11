"""A harness that runs Snakemake for real, in throwaway copies of the repository."""

import atexit
import compileall
import fcntl
import functools
import gc
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from py_compile import PycInvalidationMode

import warm

REPOSITORY = Path(__file__).resolve().parents[1]

#: What a checkout needs to run.
PARTS = (
    "Snakefile",
    "config",
    "envs",
    "profiles",
    "pyproject.toml",
    "requirements",
    "resources",
    "workflow",
)

#: Two epochs instead of thirty.
TRAINING = """\
dataset,hidden,adversary,learning_rate,batch,epochs,note
default,30;20,10,1,32,2,
"""

#: An edit: steps of a probe, most of the time of the tables of classifiers.
PROBES = ("workflow/evenhand/learning/probes.py", "DECAY = 480,", "DECAY = 12,")

#: Has imported Snakemake, and is forked for each plan: that takes half as long as a new process.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["snakemake.cli", "snakemake.jobs"])

_JOB = re.compile(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)*)", re.M)


@dataclass(frozen=True, order=True)
class Job:
    """A job by its rule and wildcards; `served` if it came from the run cache."""

    rule: str
    wildcards: tuple[tuple[str, str], ...] = ()
    served: bool = field(default=False, compare=False)


@dataclass
class Run:
    """What one call of Snakemake did."""

    returncode: int
    output: str
    jobs: list[Job]

    @property
    def rules(self) -> list[str]:
        return sorted(job.rule for job in self.jobs)


class Checkout:
    """A copy of the repository that a test may change and run.

    Parameters
    ----------
    root : Path
        Where it lies.
    arguments : tuple of str
        What each call of Snakemake is given at its end, such as ``--configfile``.
    """

    #: Which process of `warm` its programs are forks of: arguments of `warm.folder`.
    server: tuple[int, ...] = ()

    def __init__(self, root: Path, arguments: tuple[str, ...] = ()) -> None:
        self.root, self.arguments = root, arguments

    # changing it

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def append(self, name: str, text: str) -> None:
        self.write(name, self.read(name) + text)

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.read(name)
        assert old in text, f"{name} does not hold {old!r}"
        self.write(name, text.replace(old, new, 1))

    def touch_all(self) -> None:
        """Give every file that git holds a new time, as a fresh clone does."""
        for part in PARTS:
            for path in [self.root / part, *(self.root / part).rglob("*")]:
                if path.is_file():
                    os.utime(path)

    # running it

    def run(self, *arguments: str, cores: int = 2, check: bool = True) -> Run:
        """Run the workflow; it must succeed unless `check` is off."""
        done = self._python(
            "-m", "snakemake", *arguments, "--cores", str(cores), "--nocolor", *self.arguments
        )
        assert not check or done.returncode == 0, done.stdout + self.logs()
        return self.told(done.returncode, done.stdout)

    def told(self, returncode: int, output: str) -> Run:
        """What a call of Snakemake did, by what it printed."""
        jobs = [self._job(*found.groups()) for found in _JOB.finditer(output)]
        return Run(returncode, output, sorted(job for job in jobs if job.rule != "all"))

    def plan(self, *arguments: str) -> list[Job]:
        """The jobs that a dry run would run."""
        return sorted(
            Job(job["rule"], tuple(sorted(job["wildcards"].items())))
            for job in self.planned(*arguments)
        )

    def planned(self, *arguments: str) -> list[dict]:
        """The same with all that `workflow/dry_run.py` says."""
        with tempfile.TemporaryDirectory() as scratch:  # workers share the templates
            plan = Path(scratch) / "plan.json"
            words = ["workflow/dry_run.py", str(plan), *arguments, *self.arguments]
            done = self._python(*words)
            assert done.returncode == 0, done.stdout
            return json.loads(plan.read_text(encoding="utf-8"))["jobs"]

    def rules(self, *arguments: str) -> set[str]:
        """The rules that have a job in the plan."""
        return {job.rule for job in self.plan(*arguments)}

    def why(self, *arguments: str) -> list[str]:
        """The lines of `make why`."""
        done = self._python("-m", "evenhand.core.why", *arguments, *self.arguments)
        assert done.returncode == 0, done.stdout
        return done.stdout.splitlines()

    def shell(self, commands: str) -> subprocess.CompletedProcess:
        """Run commands as a terminal does after `source .venv/bin/activate`."""
        return self._call("bash", "-euo", "pipefail", "-c", commands)

    def _python(self, *arguments: str) -> subprocess.CompletedProcess:
        return self._call("python", *arguments)

    def _environment(self) -> dict[str, str]:
        # no more bytecode: two edits within a second would be taken for one
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("EVENHAND_", "SNAKEMAKE"))}
        folders = [warm.folder(*self.server), Path(sys.executable).parent, os.environ["PATH"]]
        return kept | {
            "PYTHONPATH": str(self.root / "workflow"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "EVENHAND_HERMETIC": "1",
            # a pytest within a test removes no folders of the one that runs it
            "PYTEST_DEBUG_TEMPROOT": str(self.root),
            "PATH": os.pathsep.join(map(str, folders)),
        }

    def _call(self, *command: str) -> subprocess.CompletedProcess:
        environment = self._environment()
        return subprocess.run(
            [shutil.which(command[0], path=environment["PATH"]), *command[1:]],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )

    def _job(self, rule: str, block: str) -> Job:
        lines = dict(re.findall(r"^ {4}(\w+): (.*)$", block, re.M))
        pairs = [pair.split("=", 1) for pair in lines.get("wildcards", "").split(", ") if pair]
        log = self.root / lines.get("log", "")
        served = log.is_file() and "served from the run cache" in log.read_text(encoding="utf-8")
        return Job(rule, tuple(sorted((name, value) for name, value in pairs)), served)

    # what came out

    def logs(self) -> str:
        """The ends of the log files, for the message of a failed test."""
        logs = sorted((self.root / "results").rglob("*.log"))
        return "".join(f"\n{log}:\n{log.read_text(encoding='utf-8')[-2000:]}" for log in logs)

    def results(self) -> dict[str, str]:
        """SHA-256 by name of each result, but not of logs, timings and what explains runs."""
        untold = (".evenhand", "logs", "benchmarks")
        found = {}
        for path in sorted((self.root / "results").rglob("*")):
            name = path.relative_to(self.root / "results").as_posix()
            if path.is_file() and name.split("/")[0] not in untold:
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def copy(self, root: Path) -> "Checkout":
        """All of it, results, times and Snakemake's own records included."""
        shutil.copytree(self.root, root, symlinks=True)
        return Checkout(root, self.arguments)

    def clone(self, root: Path, *beside: str) -> "Checkout":
        """A fresh clone, with copies of some folders (such as ``results``) beside it."""
        copy_parts(self.root, root)
        for part in beside:
            shutil.copytree(self.root / part, root / part)
        clone = Checkout(root, self.arguments)
        clone.touch_all()
        return clone


class Planner:
    """The plans of many configurations, made by one process that parses each rule file once.

    Parameters
    ----------
    folder : Path
        Where it plans: with what the configurations name, and no results.
    """

    def __init__(self, folder: Path) -> None:
        for part in ("config", "resources", "workflow"):
            (folder / part).symlink_to(REPOSITORY / part)
        self._pipe, end = FORKS.Pipe()
        arguments = (end, folder, Checkout(REPOSITORY)._environment())
        self._fork = FORKS.Process(target=_serve_plans, args=arguments, daemon=True)
        self._fork.start()

    def plan(self, config: dict | str) -> dict[Job, tuple] | str:
        """What Snakemake would record of each job (parameters, inputs, outputs), or the error."""
        self._pipe.send(config if isinstance(config, str) else json.dumps(config))
        return self._pipe.recv()

    def close(self) -> None:
        self._fork.kill()
        self._fork.join()


def _serve_plans(pipe: Connection, folder: Path, environment: dict[str, str]) -> None:
    """Answer each configuration with its plan."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with Path("printed.txt").open("w") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    from snakemake import workflow

    workflow.parse = _parse_once(workflow.parse)
    workflow.compile = functools.cache(compile)
    gc.freeze()
    while True:
        Path("walked.yaml").write_text(pipe.recv(), encoding="utf-8")
        try:
            pipe.send(_plan_here("walked.yaml"))
        except SystemExit as error:
            pipe.send(str(error))
        except Exception:
            pipe.send(traceback.format_exc())


def _parse_once(parse: Callable) -> Callable:
    """Snakemake's parser, whose answer depends on nothing but the file and the rules before it."""
    parsed: dict[tuple, tuple] = {}

    def answer(path, workflow, linemap, rulecount=0):
        key = (path.get_path_or_uri(secret_free=True), rulecount)
        if key not in parsed:
            parsed[key] = (parse(path, workflow, linemap=linemap, rulecount=rulecount), linemap)
        answer, lines = parsed[key]
        linemap.update(lines)
        return answer

    return answer


def _plan_here(configfile: str) -> dict[Job, tuple]:
    from snakemake.api import SnakemakeApi
    from snakemake.settings import types

    with SnakemakeApi(types.OutputSettings(quiet={types.Quietness.ALL})) as api:
        made = api.workflow(
            types.ResourceSettings(cores=1),
            types.ConfigSettings(configfiles=[Path(configfile)]),
            snakefile=REPOSITORY / "Snakefile",
        )
        made.dag(types.DAGSettings(targets={"all"}))
        workflow = made._workflow
        workflow._prepare_dag(False, ignore_incomplete=True, lock_warn_only=True, nolock=True)
        workflow.async_run(_choose_jobs(workflow.dag))
        return {
            Job(job.rule.name, tuple(sorted(job.wildcards_dict.items()))): (
                sorted(map(repr, job.non_derived_params)),
                sorted(map(str, job.input)),
                sorted(map(str, job.output)),
            )
            for job in workflow.dag.jobs
        }


async def _choose_jobs(dag) -> None:
    """Find the jobs; `DAG.init` would look at all files too, and so take twice as long."""
    for rule in dag.targetrules:
        await dag.update([await dag.rule2job(rule)])


def copy_parts(source: Path, target: Path) -> None:
    """Copy what a checkout needs, and compile its library once for all processes to come.

    Bytecode goes by what a module holds, not by its time, so that no edit is missed; what
    `evenhand.core.code` keeps beside it does so anyway.
    """
    for part in PARTS:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, ignore=_all_but_digests)
        else:
            shutil.copy2(source / part, target / part)
    compileall.compile_dir(
        target / "workflow", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH
    )


def _all_but_digests(folder: str, names: list[str]) -> list[str]:
    """What of ``__pycache__`` is not copied: others may be writing there."""
    kept = ".digest" if Path(folder).name == "__pycache__" else ""
    return [name for name in names if not name.endswith(kept)]


def checkout(root: Path, arguments: tuple[str, ...] = ()) -> Checkout:
    """A copy of this repository as it is, committed or not."""
    shutil.copytree(_compiled(), root, dirs_exist_ok=True)
    return Checkout(root, arguments)


@functools.cache
def _compiled() -> Path:
    """What this process copies: to compile takes five times as long as to copy."""
    folder = Path(tempfile.mkdtemp(prefix="checkout-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy_parts(REPOSITORY, folder)
    return folder


def once(tmp_path_factory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that is made once, also where pytest-xdist has several workers."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (base / f"{name}.done").exists():
            shutil.rmtree(base / name, ignore_errors=True)
            make(base / name)
            (base / f"{name}.done").touch()
    return base / name
