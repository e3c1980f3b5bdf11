"""Jobs get what their rules ask for, and more after they needed more."""

import json
import subprocess

import pytest

from on_cluster import OnCluster, Run, SlurmJob, of_template, until


@pytest.fixture(scope="module")
def place(asked_running) -> OnCluster:
    return asked_running.place


@pytest.fixture(scope="module")
def run(asked_running) -> Run:
    return asked_running.finish()


def of_rule(place: OnCluster, rule: str) -> list[SlurmJob]:
    return [job for job in place.jobs() if job.rule == rule]


@pytest.mark.parametrize(
    ("name", "memory", "limit", "gpus", "processors"),
    [("cpu", 500, "9:00", 0, 1), ("gpu", 700, "7:00", 1, 2), ("gres", 600, "8:00", 2, 1)],
)
def test_a_job_sees_what_its_rule_asked_for(run, place, name, memory, limit, gpus, processors):
    seen = json.loads(place.read(f"results/asked/{name}.txt"))
    assert seen["SLURM_MEM_PER_NODE"] == str(memory)
    assert seen["limit"].strip() == limit
    assert seen["SLURM_CPUS_ON_NODE"] == str(processors)
    devices = seen.get("CUDA_VISIBLE_DEVICES")
    assert devices == (",".join(map(str, range(gpus))) if gpus else None)
    assert seen["SLURM_JOB_PARTITION"] == ("gpu" if gpus else "cpu")
    assert seen["SLURMD_NODENAME"] in ({"g1"} if gpus else {"c1", "c2"})


def test_a_job_that_needs_more_memory_gets_more(run, place):
    assert [(job["MinMemoryNode"], job["JobState"]) for job in of_rule(place, "hog")] == [
        ("600M", "FAILED"),
        ("1200M", "COMPLETED"),
    ]
    assert place.read("results/asked/hog.txt") == "held 500000000\n"


def test_a_job_that_needs_more_time_gets_more_and_goes_on(run, place):
    assert [(job["TimeLimit"], job["JobState"]) for job in of_rule(place, "slow")] == [
        ("00:01:00", "TIMEOUT"),
        ("00:02:00", "COMPLETED"),
    ]
    assert place.read("results/asked/slow.txt") == "went on\n"


def test_a_file_that_is_shown_late_is_waited_for(run, place):
    assert [job["JobState"] for job in of_rule(place, "late")] == ["COMPLETED"]
    assert place.read("results/asked/late.txt") == "there\n"


def test_nothing_was_tried_oftener_than_needed_and_nothing_is_left(run, place):
    assert len(place.jobs()) == 8
    place.is_quiet()


# bad days


@pytest.fixture(scope="module")
def bad(cluster, storm_template, tmp_path_factory) -> OnCluster:
    return of_template(storm_template, tmp_path_factory.mktemp("bad") / "bad")


@pytest.fixture
def small_disk(bad):
    """A disk of one megabyte, in the place of the scratch folder of the rule `fill`."""
    folder = bad.root / "small_disk"
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=1m", "small", str(folder)]
    if subprocess.run(mounted, capture_output=True).returncode:
        pytest.skip("this machine forbids to mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_and_room_helps(bad, small_disk):
    run = bad.through("results/asked/full.txt", "--retries", "0", check=False)
    assert run.returncode == 1
    last = run.output.splitlines()[-3:]
    (told,) = [line for line in last if line.startswith("error: ")]
    assert "the disk or your share of it is full" in told and "make room" in told
    assert "results/logs/fill.log" in run.output  # one step to all that the job said
    assert not (bad.root / "results" / "asked" / "full.txt").exists()
    subprocess.run(["mount", "-o", "remount,size=32m", str(small_disk)], check=True)
    bad.through("results/asked/full.txt")
    assert bad.read("results/asked/full.txt") == "had room\n"
    bad.is_quiet()


def test_a_partition_that_is_not_there_is_named(bad):
    before = len(bad.jobs())
    run = bad.through(
        *("results/asked/cpu.txt", "--default-resources", "slurm_partition=nowhere"),
        *("--retries", "0"),
        check=False,
    )
    assert run.returncode == 1
    assert "invalid partition specified: nowhere" in run.output
    assert len(bad.jobs()) == before


def test_a_latency_that_is_too_short_is_told(bad):
    run = bad.through(
        "results/asked/late.txt", "--latency-wait", "1", "--retries", "0", check=False
    )
    assert run.returncode == 1
    assert "--latency-wait" in run.output  # Snakemake says what to raise
    # the job wrote it all the same, a little later
    until((bad.root / "results" / "asked" / "late.txt").exists, "the late file", 30)
    bad.is_quiet()
