"""Jobs get what their rules ask for, and more after they needed more."""

import json

import pytest

from on_cluster import OnCluster, Run, SlurmJob, of_template

#: The inputs of the rule `many`.
MANY = [f"many/{number}{'_' * 60}.txt" for number in range(2000)]


@pytest.fixture(scope="module")
def place(storm_template, tmp_path_factory) -> OnCluster:
    place = of_template(storm_template, tmp_path_factory.mktemp("asked") / "asked")
    for name in MANY:
        place.write(name, "one\n")
    return place


@pytest.fixture(scope="module")
def run(place) -> Run:
    return place.through("asked")


def of_rule(place: OnCluster, rule: str) -> list[SlurmJob]:
    return [job for job in place.jobs() if job.rule == rule]


@pytest.mark.parametrize(
    ("name", "memory", "limit", "gpus", "processors"),
    [("cpu", 500, "9:00", 0, 1), ("gpu", 700, "7:00", 1, 2), ("gres", 600, "8:00", 2, 1)],
)
def test_a_job_sees_what_its_rule_asked_for(run, place, name, memory, limit, gpus, processors):
    seen = json.loads(place.read(f"results/asked/{name}.txt"))
    assert (seen["memory"], seen["limit"]) == (f"{memory}M", limit)
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
    jobs = of_rule(place, "slow")
    # on a busy machine the second attempt may not have begun to work within its two minutes
    assert len(jobs) in (2, 3)
    assert [job["TimeLimit"] for job in jobs] == ["00:01:00", "00:02:00", "00:03:00"][: len(jobs)]
    assert [job["JobState"] for job in jobs] == ["TIMEOUT"] * (len(jobs) - 1) + ["COMPLETED"]
    assert place.read("results/asked/slow.txt") == "went on\n"


def test_a_file_that_is_shown_late_is_waited_for(run, place):
    assert [job["JobState"] for job in of_rule(place, "late")] == ["COMPLETED"]
    assert place.read("results/asked/late.txt") == "there\n"


def test_a_command_may_name_more_files_than_one_word_can_hold(run, place):
    assert sum(len(name) + 1 for name in MANY) > 128 * 1024
    assert place.read("results/asked/many.txt") == "one\n" * 2000


def test_nothing_was_tried_oftener_than_needed_and_nothing_is_left(run, place):
    assert len(place.jobs()) == 7 + 1 + len(of_rule(place, "slow")) - 1
    place.is_quiet()
