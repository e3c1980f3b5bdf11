"""Leftovers of a killed run: a lock, unfinished files, jobs in Slurm's queue.

The lock of a dead run on this machine is released, unfinished files are removed, and a run does
not start beside Slurm jobs that an earlier run submitted from the same folder: both would write
the same files. Such a job is recognised by the folder that it runs in and by its name,
which ends in the identifier that Snakemake's Slurm plugin gives a run.
"""

import contextlib
import fcntl
import getpass
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from evenhand.core.files import PARTIAL, remove
from evenhand.errors import InputError

#: The name of each job of a run: a prefix that the profile gives, and the run's identifier.
_NAME = re.compile(r"(?:[\w-]*_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

#: The fields that squeue prints, and a separator that occurs in no folder's name.
_SEPARATOR = "\x1f"
_FORMAT = _SEPARATOR.join(["%i", "%T", "%j", "%k", "%Z", "%r"])

#: Seconds that a command of Slurm may take.
_TIMEOUT = 20


def identity() -> str:
    """Return a unique identity of this process: machine, process id and start time, as JSON."""
    return json.dumps([socket.gethostname(), os.getpid(), _started(os.getpid())])


def is_dead(owner: str) -> bool:
    """Return whether a process (its `identity`) ran on this machine and has ended."""
    try:
        host, pid, started = json.loads(owner)
        return host == socket.gethostname() and started != _started(pid)
    except (ValueError, TypeError):
        return False


def claim(lock: Path) -> None:
    """Record this process as the owner of one of Snakemake's locks."""
    lock.with_suffix(".owner").write_text(identity(), encoding="utf-8")


def release(lock: Path) -> None:
    """Remove a lock and the record of its owner."""
    lock.unlink(missing_ok=True)
    lock.with_suffix(".owner").unlink(missing_ok=True)


def release_dead_locks(folder: Path) -> str:
    """Remove those of Snakemake's locks on a folder whose owners are dead.

    A lock whose owner lives, ran elsewhere or is unknown stays.

    Returns
    -------
    str
        A sentence on the dead run; blank if there is none.
    """
    owners = _owners(folder / ".snakemake" / "locks")
    dead = [lock for lock, owner in owners.items() if is_dead(owner)]
    for lock in dead:
        release(lock)
    return "The former run in this folder was killed; its lock is released." if dead else ""


@contextlib.contextmanager
def starting(folder: Path) -> Iterator[None]:
    """Look for locks and write them while no other run on this machine does."""
    with (folder / "starting").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def other_run(locks: Path) -> str:
    """Return a sentence on the run that holds Snakemake's locks."""
    for owner in _owners(locks).values():
        with contextlib.suppress(ValueError):
            host, pid, _ = json.loads(owner)
            return (
                f"another run, process {pid} on {host}, works in this folder; let it end before you"
                " start a second one, and use --unlock only if it is dead"
            )
    return "another run works in this folder; let it end, and use --unlock only if it is dead"


def _owners(locks: Path) -> dict[Path, str]:
    """Return the owner of each of Snakemake's locks that has one."""
    owners = {}
    for lock in locks.glob("*.lock"):
        with contextlib.suppress(OSError):
            owners[lock] = lock.with_suffix(".owner").read_text(encoding="utf-8")
    return owners


def _started(pid: int) -> float | None:
    """Return the start time of a process (seconds since 1970); None if it does not exist."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return process.create_time()
    return None


@dataclass(frozen=True)
class Leftover:
    """A job in Slurm's queue.

    Attributes
    ----------
    id : str
        Slurm's job id.
    state : str
        PENDING, RUNNING, COMPLETING, ...
    job : str
        The rule, and the wildcards with underscores between.
    reason : str
        Why a pending job does not run, in Slurm's words.
    """

    id: str
    state: str
    job: str
    reason: str

    def __str__(self) -> str:
        why = f" ({self.reason})" if self.state == "PENDING" and self.reason != "None" else ""
        return f"{self.id} {self.state}{why} {self.job}"


def find(folder: Path) -> list[Leftover]:
    """Return the user's jobs of all runs started in a folder; none without Slurm.

    Raises
    ------
    InputError
        Slurm is installed, but does not answer.
    """
    command = ["squeue", f"--user={getpass.getuser()}", "--noheader", f"--format={_FORMAT}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT
        )
    except FileNotFoundError:
        return []
    except subprocess.TimeoutExpired:
        raise InputError(f"squeue did not answer within {_TIMEOUT} seconds") from None
    if "Could not establish a configuration source" in done.stderr:
        return []  # Slurm's programs, but no cluster
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
        raise InputError(f"squeue failed ({last})")
    return _parse(done.stdout, folder)


def _parse(listing: str, folder: Path) -> list[Leftover]:
    jobs = []
    for line in listing.splitlines():
        fields = line.split(_SEPARATOR)
        if len(fields) == 6 and _NAME.fullmatch(fields[2]):
            id, state, _, comment, place, reason = fields
            if Path(place).resolve() == folder.resolve():
                jobs.append(Leftover(id, state, comment.removeprefix("rule_"), reason))
    return jobs


def remove_partials(results: Path) -> int:
    """Remove unfinished files of killed jobs, and return their number. No job may be running."""
    partials = sorted(results.rglob(f"{PARTIAL}*"), key=lambda path: len(path.parts))
    for path in partials:
        remove(path)
    return len(partials)


def check(folder: Path) -> bool:
    """Stop a run that would write the same files as the jobs of an earlier one.

    Returns
    -------
    bool
        Whether it is certain that there are no such jobs: Slurm may not answer.

    Raises
    ------
    InputError
        There are such jobs; the message lists them, with a remedy.
    """
    try:
        jobs = find(folder)
    except InputError as error:  # a run on this machine alone needs no Slurm
        print(f"warning: jobs of a former run were not looked for: {error}", file=sys.stderr)
        return False
    if jobs:
        listed = "; ".join(map(str, jobs[:5])) + ("; ..." if len(jobs) > 5 else "")
        count = "1 job is" if len(jobs) == 1 else f"{len(jobs)} jobs are"
        raise InputError(
            f"{count} still in Slurm's queue, sent from this folder by another run,"
            f" and would write the same files: {listed}",
            remedy="if that run is dead, let them end or type"
            f" `scancel {' '.join(job.id for job in jobs)}`, and start again when they have left"
            " the queue; if it is alive, let it end, or work in another copy of the folder",
        )
    return True
