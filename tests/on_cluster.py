"""Checkouts whose runs go through Slurm, and what Slurm knows of their jobs."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from harness import Checkout, Run, checkout

HERE = Path(__file__).parent / "slurm"
SCRIPT = HERE / "cluster.sh"
OVERLAY = HERE / "profile.yaml"
SNAKEMAKE = HERE / "snakemake"

#: What `--profile slurm` needs beside what the tests lay over it.
PROFILES = ("--profile", "slurm", "--profile", str(OVERLAY))

#: The environment variable with the cluster's folder; what has it ends with the cluster.
CLUSTER = "TEST_CLUSTER"

#: Seconds to wait for one thing, and for a whole run. Busy machines are no failure.
PATIENCE, LONG_PATIENCE = 300, 900


def until(
    what: Callable[[], object],
    wanted: str,
    *,
    main: "Running | None" = None,
    patience: float = PATIENCE,
) -> object:
    """Wait until `what` gives something true, and return that.

    Fails, with all that Slurm says, when the time is over, when `main`, which should bring it
    about, has ended, and when Slurm holds a job that it could not launch: nothing comes then.
    """
    end = time.monotonic() + patience
    rounds = 0
    while not (found := what()):
        if time.monotonic() > end:
            pytest.fail(f"{patience} seconds in vain for {wanted}\n{circumstances(main)}")
        if main and main.process.poll() is not None and not what():
            pytest.fail(f"the run ended before {wanted}\n{circumstances(main)}")
        if rounds % 10 == 9 and "launch failed" in said("squeue", "--format=%i %r"):
            pytest.fail(f"a job is held, waiting for {wanted}\n{circumstances(main)}")
        rounds += 1
        time.sleep(0.5)
    return found


def circumstances(main: "Running | None" = None) -> str:
    """What one wants to read where something did not come."""
    words = []
    for command in (
        ["squeue", "--format=%i %T %M %R %k"],
        ["sinfo", "--Node", "--format=%N %P %T"],
        ["sinfo", "--list-reasons"],
        ["uptime"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        words.append(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
    logs = [Path(os.environ[CLUSTER]) / "log" / "slurmctld.log", *([main.log] if main else [])]
    for log in logs:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-50:]
        words.append("\n".join([f"the end of {log}:", *lines]))
    return "\n".join(words)


def said(*command: str) -> str:
    """What a command says; it must succeed."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout


def crash(node: str) -> None:
    """A node dies as by loss of power, and its administrators tell Slurm."""
    numbers = said("squeue", "--noheader", f"--nodelist={node}", "--format=%A").split()
    steps = re.compile(f"slurmstepd: \\[({'|'.join(numbers)})\\.")
    pid = int((Path(os.environ[CLUSTER]) / "run" / f"slurmd.{node}.pid").read_text())
    doomed = [psutil.Process(pid)]
    for process in psutil.process_iter(["cmdline"]):
        if steps.match(" ".join(process.info["cmdline"] or [])):
            doomed += [process, *process.children(recursive=True)]
    for process in doomed:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    said("scontrol", "update", f"nodename={node}", "state=down", "reason=test")


def revive(node: str) -> None:
    """The node comes back."""
    said("slurmd", "-N", node)
    said("scontrol", "update", f"nodename={node}", "state=resume")


@dataclass(frozen=True)
class SlurmJob:
    """A job as Slurm knows it, also when it has ended: see ``scontrol show job``."""

    facts: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.facts[name]

    @property
    def id(self) -> str:
        return self["JobId"]

    @property
    def rule(self) -> str:
        return self["Comment"].removeprefix("rule_").split("_wildcards_")[0]

    @property
    def wildcards(self) -> str:
        return self["Comment"].partition("_wildcards_")[2]


def slurm_jobs(folder: Path, *states: str) -> list[SlurmJob]:
    """The jobs that were sent from a folder, in the order of their numbers."""
    found = []
    for line in said("scontrol", "--oneliner", "show", "job").splitlines():
        facts = dict(re.findall(r"(\S+?)=(.*?) *(?= [\w:/]+=|$)", line))
        if facts.get("WorkDir") == str(folder) and (not states or facts["JobState"] in states):
            found.append(SlurmJob(facts))
    return sorted(found, key=lambda job: int(job.id))


def processes(folder: Path) -> list[str]:
    """The commands of all processes that work in a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (place / "cwd").resolve(strict=True).is_relative_to(folder):
                words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if words:  # a zombie has none
                    found.append(f"{place.name} {words}")
        except OSError:
            continue
    return found


def megabytes(text: str) -> float:
    """Memory as Slurm writes it."""
    return float(text[:-1]) * {"M": 1, "G": 1024}[text[-1]]


def minutes_of(text: str) -> int:
    """A limit of time as Slurm writes it."""
    days, _, clock = text.rpartition("-")
    hours, minutes, _ = map(int, clock.split(":"))
    return (int(days or 0) * 24 + hours) * 60 + minutes


class OnCluster(Checkout):
    """A checkout whose runs go through `--profile slurm`."""

    def start(self, *arguments: str) -> "Running":
        return Running(self, arguments)

    def through(self, *arguments: str, check: bool = True) -> Run:
        """Run the workflow on the cluster, from beginning to end."""
        return self.start(*arguments).finish(check=check)

    def jobs(self, *states: str) -> list[SlurmJob]:
        return slurm_jobs(self.root, *states)

    def whole(self) -> dict[str, str]:
        """The results, but not what killed jobs have left unfinished."""
        return {name: sha for name, sha in self.results().items() if "/.partial-" not in f"/{name}"}

    def asked_as_stated(self, run: Run, *, with_gpu: set[str], at_gpus: set[str]) -> None:
        """Slurm was asked for the memory and time that rules state, and for GPUs where they do.

        `at_gpus` are the rules that the profile of the tests sends to the nodes with GPUs
        although they ask for none.
        """
        # what the rules state, as Snakemake printed it when it sent the jobs
        stated = {
            rule: dict(re.findall(r"(\w+)=(\d+)", resources))
            for rule, resources in re.findall(
                r"^rule (\w+):\n(?:    .*\n)*?    resources: (.*)$", run.output, re.M
            )
        }
        assert set(stated) == {job.rule for job in self.jobs()}
        for job in self.jobs():
            asked = stated[job.rule]
            assert megabytes(job["MinMemoryNode"]) == int(asked["mem_mb"]), job.rule
            assert minutes_of(job["TimeLimit"]) == int(asked["runtime"]), job.rule
            assert job["Partition"] == ("gpu" if job.rule in with_gpu | at_gpus else "cpu")
            gpu = "gres:gpu:1" in job.facts.get("TresPerJob", "")
            assert gpu == (job.rule in with_gpu), job.rule

    def is_quiet(self) -> None:
        """No job is left in the queue, and no process in the folder."""
        until(
            lambda: not self.jobs("RUNNING", "PENDING", "COMPLETING"), "an empty queue", patience=60
        )
        self.is_deserted()

    def is_deserted(self) -> None:
        """No process works in the folder."""
        end = time.monotonic() + 60
        while left := processes(self.root):
            if time.monotonic() > end:
                pytest.fail(f"left behind: {left}\n{circumstances()}")
            time.sleep(0.3)


class Running:
    """A main process in the background."""

    def __init__(self, place: OnCluster, arguments: tuple[str, ...]) -> None:
        self.place, self.arguments = place, arguments
        self.log = place.root / f"main-{time.monotonic_ns()}.log"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("EVENHAND_", "SNAKEMAKE"))}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, SNAKEMAKE, *arguments),
                    *(*PROFILES, "--nocolor", *place.arguments),
                ],
                cwd=place.root,
                env=kept
                | {
                    "PYTHONPATH": str(place.root / "workflow"),
                    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                    "OMP_NUM_THREADS": "1",
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def finish(self, *, check: bool = True) -> Run:
        ended = lambda: self.process.poll() is not None  # noqa: E731
        until(ended, "the end of the run", main=self, patience=LONG_PATIENCE)
        run = self.place.told(self.process.returncode, self.output)
        assert not check or run.returncode == 0, self.output[-8000:] + self.place.logs()
        return run

    def kill(self) -> None:
        """As a login node does that restarts."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def end(self) -> None:
        """End it, if it still lives; its jobs end with the cluster."""
        if self.process.poll() is None:
            self.kill()


def on_cluster(root: Path, arguments: tuple[str, ...] = ()) -> OnCluster:
    """A copy of this repository, with the link that `--profile slurm` looks for."""
    made = OnCluster(checkout(root).root, arguments)
    (root / "slurm").symlink_to(Path("profiles") / "slurm")
    return made


def of_template(template: OnCluster, root: Path) -> OnCluster:
    shutil.copytree(template.root, root, symlinks=True)
    return OnCluster(root)
