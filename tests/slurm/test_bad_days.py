"""What a user sees on a bad day: a full disk, a missing partition, files that are shown late."""

import re
import subprocess
from pathlib import Path

import pytest

from on_cluster import OnCluster, Run, of_template


@pytest.fixture(scope="module")
def bad(storm_template, tmp_path_factory) -> OnCluster:
    return of_template(storm_template, tmp_path_factory.mktemp("bad") / "bad")


@pytest.fixture(scope="module")
def small_disk(bad):
    """A disk of one megabyte, in the place of the scratch folder of the rule `fill`.

    None where a machine forbids to mount one.
    """
    folder = bad.root / "small_disk"
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=1m", "small", str(folder)]
    if subprocess.run(mounted, capture_output=True).returncode:
        yield None
    else:
        yield folder
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="module")
def bad_run(bad, small_disk) -> Run:
    """A run with two bad days: a disk that is full, and files that are shown late."""
    return bad.through(
        *("results/asked/full.txt", "results/asked/late.txt"),
        *("--latency-wait", "1", "--retries", "0"),
        check=False,
    )


def test_a_latency_that_is_too_short_is_told(bad_run):
    assert bad_run.returncode == 1
    # the error names the log in which the job says why
    (log,) = re.findall(r"^    log: .*?(\S+/rule_late/\d+\.log)", bad_run.output, re.M)
    told = Path(log).read_text(encoding="utf-8")
    assert "Missing files after 1 seconds. This might be due to filesystem latency" in told


def test_a_full_disk_is_told_and_room_helps(bad, small_disk, bad_run):
    if small_disk is None:
        pytest.skip("this machine forbids to mount a small disk")
    # told again at the end, behind the logs
    (told,) = [
        line
        for line in bad_run.output.rpartition("Exiting because")[2].splitlines()
        if line.startswith("error: ")
    ]
    assert "the disk or your share of it is full" in told and "make room" in told
    assert "results/logs/fill.log" in bad_run.output  # one step to all that the job said
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
