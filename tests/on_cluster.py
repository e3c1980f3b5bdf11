"""Checkouts whose runs go through Slurm, and what Slurm knows of their jobs."""

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

import pytest

from harness import Checkout, Run, checkout

HERE = Path(__file__).parent / "slurm"
SCRIPT = HERE / "cluster.sh"
OVERLAY = HERE / "profile.yaml"

#: What `--profile slurm` needs beside what the tests lay over it.
PROFILES = ("--profile", "slurm", "--profile", str(OVERLAY))

#: Seconds to wait for anything; a busy machine is no failure.
PATIENCE = 900


def until(what: Callable[[], object], wanted: str, patience: float = PATIENCE) -> object:
    """Wait until `what` gives something true, and return that."""
    end = time.monotonic() + patience
    while not (found := what()):
        assert time.monotonic() < end, f"in vain: {wanted}\n{said('squeue')}\n{said('sinfo')}"
        time.sleep(0.3)
    return found


def said(*command: str) -> str:
    """What a command says; it must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


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

    def is_quiet(self) -> None:
        """No job is left in the queue, and no process in the folder."""
        until(lambda: not self.jobs("RUNNING", "PENDING", "COMPLETING"), "an empty queue", 60)
        self.is_deserted()

    def is_deserted(self) -> None:
        """No process works in the folder."""
        end = time.monotonic() + 60
        while left := processes(self.root):
            assert time.monotonic() < end, f"left behind: {left}"
            time.sleep(0.3)


class Running:
    """A main process in the background."""

    def __init__(self, place: OnCluster, arguments: tuple[str, ...]) -> None:
        self.place = place
        self.log = place.root / f"main-{time.monotonic_ns()}.log"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("EVENHAND_", "SNAKEMAKE"))}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "snakemake", *arguments),
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
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.end()
            pytest.fail(f"the run did not end:\n{self.output[-5000:]}\n{said('squeue')}")
        run = self.place.told(self.process.returncode, self.output)
        assert not check or run.returncode == 0, self.output[-8000:] + self.place.logs()
        return run

    def kill(self) -> None:
        """As a login node does that restarts."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        """End it, if it still lives; its jobs end with the cluster."""
        if self.process.poll() is None:
            self.kill()


def on_cluster(root: Path, arguments: tuple[str, ...] = ()) -> OnCluster:
    """A copy of this repository, with the link that `--profile slurm` looks for."""
    made = OnCluster(checkout(root).root, arguments)
    (root / "slurm").symlink_to(Path("profiles") / "slurm")
    return made


DEMO = ("--configfile", "config/cut.yaml")


def of_template(template: OnCluster, root: Path) -> OnCluster:
    shutil.copytree(template.root, root, symlinks=True)
    return OnCluster(root)
