"""Six shards at once, and what may befall them: all ends in the same bytes."""

import hashlib
import re
import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from on_cluster import OnCluster, Run, SlurmJob, crash, of_template, revive, said, until

#: On nodes of their own, since one of them goes down.
TARGET = ("all", "--default-resources", "slurm_partition=storm")


@dataclass
class Story:
    """What happened, for the tests to look at."""

    place: OnCluster
    at_once: list[SlurmJob] = field(default_factory=list)
    cancelled: str = ""
    held: str = ""
    shown_held: str = ""
    restarts: dict[str, int] = field(default_factory=dict)  # of the jobs on the node that dies
    when_killed: list[SlurmJob] = field(default_factory=list)
    refused: Run | None = None
    remedy: str = ""
    listed: str = ""
    last: Run | None = None

    def parts(self, *states: str) -> list[SlurmJob]:
        return [job for job in self.place.jobs(*states) if job.rule == "part"]

    def leftovers(self) -> str:
        program = "from evenhand.core.leftovers import *; print(*find(Path()), sep='\\n')"
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=self.place.root,
            env={"PYTHONPATH": "workflow", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def story(storm_template, tmp_path_factory) -> Story:
    story = Story(of_template(storm_template, tmp_path_factory.mktemp("storm") / "storm"))
    place, hold = story.place, story.place.root / "hold"
    names = [f"p{number:02}" for number in range(6)]
    for name in names:
        (hold / name).touch()
    main = place.start(*TARGET)
    try:
        # all six have begun and wait
        begun = lambda: {path.stem for path in hold.glob("*.*")}  # noqa: E731
        until(lambda: len(begun()) == 6, "six parts at once", main=main)
        story.at_once = story.parts("RUNNING")

        # one is held, as Slurm does with a job that it cannot launch, until somebody releases it
        story.held = next(job.id for job in story.at_once if job.wildcards == "p01")
        said("scontrol", "requeuehold", story.held)
        story.shown_held = until(
            lambda: next((x for x in story.leftovers().splitlines() if "PENDING" in x), ""),
            "a held part",
            main=main,
        )
        said("scontrol", "release", story.held)

        # one is cancelled by somebody
        story.cancelled = next(job.id for job in story.at_once if job.wildcards == "p00")
        said("scancel", story.cancelled)
        until(
            lambda: [job for job in story.parts("RUNNING") if job.wildcards == "p00"],
            "the cancelled part again",
            main=main,
        )
        until(
            lambda: [job for job in story.parts("RUNNING") if job.id == story.held],
            "the released part again",
            main=main,
        )

        # a node dies under its jobs, and Slurm runs them again elsewhere: the others have ended
        # before, since two show as much as six
        there = [job for job in story.parts("RUNNING") if job["NodeList"] == "s2"]
        dying = [job for job in there if job.wildcards not in names[:2]][:2]
        ending = set(names[2:]) - {job.wildcards for job in dying}
        for name in ending:
            (hold / name).unlink()
        made = place.root / "results" / "parts"
        until(
            lambda: {path.stem for path in made.glob("p*.txt")} == ending,
            "the parts elsewhere",
            main=main,
        )
        ended = lambda: main.output.count("Finished jobid")  # noqa: E731
        until(lambda: ended() == len(ending), "their ends told", main=main)
        on_the_node = [job for job in story.parts("RUNNING") if job["NodeList"] == "s2"]
        story.restarts = {job.id: int(job["Restarts"]) for job in on_the_node}
        crash("s2")
        until(
            lambda: [
                job
                for job in story.parts("RUNNING")
                if int(job["Restarts"]) == story.restarts.get(job.id, -1) + 1
            ],
            "a part elsewhere",
            main=main,
        )
        revive("s2")
        for job in dying:
            (hold / job.wildcards).unlink()
        until(lambda: len(list(made.glob("p*.txt"))) == 4, "four parts", main=main)
        until(lambda: ended() == 4, "their ends told", main=main)

        # the main process dies; the next ones do not start beside what it left
        main.kill()
        story.when_killed = place.jobs("RUNNING", "PENDING")
        story.listed = story.leftovers()
        story.refused = place.through(*TARGET, check=False)
        (story.remedy,) = re.findall(r"`(scancel [\d ]+)`", story.refused.output)[:1]
        said(*story.remedy.split())
        until(lambda: not place.jobs("RUNNING", "PENDING", "COMPLETING"), "an empty queue")
        place.is_deserted()
        for name in names[:2]:
            (hold / name).unlink()
        story.last = place.through(*TARGET)
    finally:
        main.end()
    return story


def test_six_shards_run_on_both_nodes_at_once(story):
    assert len(story.at_once) == 6
    assert {job["NodeList"] for job in story.at_once} == {"s1", "s2"}


def test_a_job_that_was_cancelled_is_sent_again(story):
    first, second, *_ = [job for job in story.parts() if job.wildcards == "p00"]
    assert (first.id, first["JobState"]) == (story.cancelled, "CANCELLED")
    assert first["MinMemoryNode"] == "400M" and second["MinMemoryNode"] == "800M"


def test_a_job_that_is_held_is_listed_with_the_reason_and_goes_on_when_released(story):
    shown = rf"(?i){story.held} PENDING \([\w ]*held[\w ]*\) part_wildcards_p01"
    assert re.fullmatch(shown, story.shown_held)
    # it was never sent anew in the first run
    first, *later = [job.id for job in story.parts() if job.wildcards == "p01"]
    assert first == story.held and len(later) == 1


def test_the_jobs_of_a_node_that_fails_run_elsewhere_under_their_numbers(story):
    assert story.restarts
    again = {job.id: int(job["Restarts"]) for job in story.parts()}
    assert {number: again[number] - 1 for number in story.restarts} == story.restarts
    # no second attempt was made for them beside Slurm's own
    sent = [job.wildcards for job in story.parts()]
    assert len(sent) == 6 + 1 + 2  # the cancelled one, and the two of the second run


def test_what_a_killed_main_process_leaves_is_found_and_ended(story):
    assert sorted(job.wildcards for job in story.when_killed) == ["p00", "p01"]
    assert story.refused.returncode == 1
    assert "The former run in this folder was killed; its lock is released." in story.refused.output
    assert "2 jobs are still in Slurm's queue" in story.refused.output
    assert set(story.remedy.split()[1:]) == {job.id for job in story.when_killed}
    for job in story.when_killed:
        assert f"{job.id} RUNNING part_wildcards_{job.wildcards}" in story.listed


def test_the_next_run_makes_only_what_was_missing(story):
    assert story.last.rules == ["merge", "part", "part"]
    lines = []
    for number in range(6):
        text = f"part {number}\n" * (number + 1)
        lines.append(f"p{number:02} {hashlib.sha256(text.encode()).hexdigest()}\n")
    assert story.place.read("results/merged.txt") == "".join(lines)
    left = [path.name for path in (story.place.root / "results").rglob(".partial-*")]
    assert left == []
    story.place.is_quiet()
