"""Slurm jobs that outlived the process that sent them: ``python -m evenhand.leftovers``.

When Snakemake's main process is killed (kill -9, a login node that restarts), its jobs stay
in Slurm's queue and write into the same folders as the jobs of the next run. This lists
them; ``--cancel`` cancels them, waits until none is left, removes their unfinished files and
releases Snakemake's lock; ``--wait`` lets them finish instead: what they make is served to
the next run from the run cache. A job is found by the folder that it runs in and by its name,
which ends in the identifier that Snakemake's Slurm plugin gives a run.
"""

import getpass
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InputError
from evenhand.io.files import PARTIAL, remove

#: The name of each job of a run: a prefix that the profile gives, and the run's identifier.
_NAME = re.compile(r"(?:[\w-]*_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

#: What squeue is asked for, and what stands between: it occurs in no folder's name.
_SEPARATOR = "\x1f"
_FORMAT = _SEPARATOR.join(["%i", "%T", "%j", "%k", "%Z", "%r"])

#: Seconds after which a cancelled job is asked about again, and after which we give up.
_PAUSE, _PATIENCE = 1.0, 120.0

#: Seconds that a command of Slurm may take.
_TIMEOUT = 20


@dataclass(frozen=True)
class Leftover:
    """A job in Slurm's queue.

    Attributes
    ----------
    id : str
        Slurm's number.
    state : str
        PENDING, RUNNING, COMPLETING, ...
    run : str
        The name that all jobs of a run have.
    job : str
        The rule, and the wildcards with underscores between.
    reason : str
        Why a pending job does not run, in Slurm's words.
    """

    id: str
    state: str
    run: str
    job: str
    reason: str

    def __str__(self) -> str:
        why = f" ({self.reason})" if self.state == "PENDING" and self.reason != "None" else ""
        return f"{self.id} {self.state}{why} {self.job}"

    @property
    def held(self) -> bool:
        """Whether it waits for somebody to release it, and would for ever."""
        return self.state == "PENDING" and "held" in self.reason.lower()


def find(folder: Path) -> list[Leftover]:
    """The user's jobs of all runs that were started in a folder; none where there is no Slurm.

    Raises
    ------
    InputError
        Slurm is there, but does not answer.
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
    found = []
    for line in listing.splitlines():
        fields = line.split(_SEPARATOR)
        if len(fields) == 6 and _NAME.fullmatch(fields[2]):
            id, state, run, comment, place, reason = fields
            if Path(place).resolve() == folder.resolve():
                found.append(Leftover(id, state, run, comment.removeprefix("rule_"), reason))
    return found


def cancel(folder: Path) -> list[Leftover]:
    """Cancel the jobs of a folder and wait until they have left the queue; what they were.

    Raises
    ------
    InputError
        Slurm does not answer, or a job does not go away.
    """
    found = find(folder)
    if found:
        done = subprocess.run(
            ["scancel", *(job.id for job in found)],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
        )
        # a job that ended meanwhile is no failure: what counts is that none is left
        _wait(folder, _PATIENCE, done.stderr.strip())
    return found


def wait(folder: Path) -> list[Leftover]:
    """Wait until the jobs of a folder have ended by themselves; what they were.

    Raises
    ------
    InputError
        Slurm does not answer, or those that are left are held.
    """
    found = find(folder)
    _wait(folder, None, "")
    return found


def _wait(folder: Path, patience: float | None, words: str) -> None:
    started = time.monotonic()
    while left := find(folder):
        if patience is not None and time.monotonic() - started > patience:
            raise InputError(
                f"{_counted(left)} still in the queue {patience:.0f} seconds after scancel"
                + (f" ({words})" if words else ""),
                remedy=f"look at `squeue --jobs={','.join(job.id for job in left)}`",
            )
        if patience is None and all(job.held for job in left):
            numbers = " ".join(job.id for job in left)
            raise InputError(
                f"{_counted(left)} held and will not end ({', '.join(map(str, left))})",
                remedy=f"let Slurm run what it holds (`scontrol release {numbers}`), or cancel it"
                " with --cancel",
            )
        time.sleep(_PAUSE)


def remove_partials(results: Path) -> int:
    """Remove what killed jobs were writing; how many files and folders. No job may run.

    The workflow does so at the end of a run that went well, and `--cancel` and `--wait` do.
    """
    found = sorted(results.rglob(f"{PARTIAL}*"), key=lambda path: len(path.parts))
    for path in found:
        remove(path)
    return len(found)


def main_processes(folder: Path) -> list[int]:
    """The process ids of Snakemake's main processes in a folder, on this machine."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().decode(errors="replace").split("\0")
            here = (place / "cwd").resolve(strict=True) == folder.resolve()
        except OSError:  # ended meanwhile, or somebody else's
            continue
        named = any(Path(word).name == "snakemake" for word in words[:3])
        if here and named and "--mode" not in words:  # a job's own Snakemake has a mode
            found.append(int(place.name))
    return sorted(found)


def check(folder: Path) -> None:
    """Stop a run that would write beside the jobs of a former one.

    Raises
    ------
    InputError
        There are such jobs; it says which, and what to do.
    """
    try:
        found = find(folder)
    except InputError as error:  # a run on this machine alone needs no Slurm
        print(f"jobs of a former run were not looked for: {error}", file=sys.stderr)
        return
    if found:
        shown = "; ".join(map(str, found[:5])) + ("; ..." if len(found) > 5 else "")
        raise InputError(
            f"{_counted(found)} still in Slurm's queue, sent from this folder by another run,"
            f" and would write the same files: {shown}",
            remedy="if that run is dead, type `python -m evenhand.leftovers --cancel` (or --wait)"
            " and start again; if it lives, let it end, or work in another copy of the folder",
        )


def _counted(jobs: list[Leftover]) -> str:
    return "1 job is" if len(jobs) == 1 else f"{len(jobs)} jobs are"


def main() -> None:
    """The command line."""
    from cyclopts import App

    app = App(name="python -m evenhand.leftovers", version_flags=[])

    @app.default
    def leftovers(
        *,
        cancel: bool = False,
        wait: bool = False,
        folder: Path = Path(),
        results: Path = Path("results"),
    ) -> None:
        """List the Slurm jobs of this folder that a dead run left behind.

        Parameters
        ----------
        cancel
            Cancel them, remove their unfinished files, release Snakemake's lock.
        wait
            Let them end, then release Snakemake's lock.
        folder
            Where Snakemake was started.
        results
            The folder of the results, seen from there.
        """
        _main(folder, folder / results, cancel, wait)

    try:
        app()
    except InputError as error:
        sys.exit(f"error: {error}")


def _main(folder: Path, results: Path, cancelling: bool, waiting: bool) -> None:
    if cancelling and waiting:
        raise InputError("--cancel and --wait exclude each other")
    if (cancelling or waiting) and (alive := main_processes(folder)):
        raise InputError(
            f"Snakemake still runs in this folder (process {', '.join(map(str, alive))})",
            remedy="these jobs are its own; to end it and them, press Ctrl-C there",
        )
    jobs = cancel(folder) if cancelling else wait(folder) if waiting else find(folder)
    for job in jobs:
        print(job)
    if not (cancelling or waiting):
        print(
            f"{_counted(jobs)} in Slurm's queue, sent from this folder."
            if jobs
            else "No job sent from this folder is in Slurm's queue."
        )
        return
    partials = remove_partials(results)
    locks = list((folder / ".snakemake" / "locks").glob("*.lock"))
    for lock in locks:
        lock.unlink(missing_ok=True)
    print(
        f"{len(jobs)} {'cancelled' if cancelling else 'ended'},"
        f" {partials} unfinished files removed,"
        f" {'the lock released' if locks else 'no lock was held'}: start the run again."
    )


if __name__ == "__main__":
    main()
