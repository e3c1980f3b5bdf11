"""The demo through Slurm: the same bytes as here, and the same jobs after a change."""

import re
import shutil
import threading
import time
from collections.abc import Iterator

import pytest

from on_cluster import DEMO, HERE, PROFILES, OnCluster, Run, Running, on_cluster, said


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[Running]:
    """The demo on the cluster, with the training of its model preempted in the middle."""
    place = on_cluster(tmp_path_factory.mktemp("far") / "demo", DEMO)
    shutil.copy(HERE / "demo.yaml", place.root / "config" / "cut.yaml")
    place.clone(place.root.parent / "here")
    running = place.start("all")
    threading.Thread(target=preempt_training, args=[running], daemon=True).start()
    yield running
    running.end()


def preempt_training(demo: Running) -> None:
    """Do to a training what a preemption does, once it has a checkpoint."""
    scratch = demo.place.root / "results" / ".evenhand" / "scratch"
    while demo.process.poll() is None:
        if list(scratch.glob("*/checkpoint.pt")):
            for job in demo.place.jobs("RUNNING"):
                if job.rule == "train_masked_lm":
                    said("scontrol", "requeue", job.id)
                    return
        time.sleep(0.2)


@pytest.fixture(scope="module")
def here(running) -> OnCluster:
    """The same demo, run on this machine meanwhile."""
    place = OnCluster(running.place.root.parent / "here", DEMO)
    place.run("all")
    return place


@pytest.fixture(scope="module")
def run(here, running) -> Run:
    return running.finish()


@pytest.fixture(scope="module")
def far(running, run) -> OnCluster:
    return running.place


def test_a_preempted_training_goes_on_from_its_checkpoint(far):
    trained = [job for job in far.jobs() if job.rule == "train_masked_lm"]
    assert [(job["Restarts"], job["JobState"]) for job in trained] == [("1", "COMPLETED")]
    log = far.read("results/logs/train_masked_lm/tiny-en.log")
    assert int(re.search(r"goes on after step (\d+)", log)[1]) > 0


def test_the_cluster_gives_the_same_bytes(here, far):
    assert far.whole() == here.results()
    assert any(name.startswith("models/tiny-en/") for name in far.whole())


def test_each_job_asked_slurm_for_what_its_rule_states(run, far):
    jobs = far.jobs()
    assert len(jobs) == len(run.jobs) > 25
    # what the rules state, as Snakemake printed it when it sent the jobs
    stated = {
        rule: dict(re.findall(r"(\w+)=(\d+)", resources))
        for rule, resources in re.findall(
            r"^rule (\w+):\n(?:    .*\n)*?    resources: (.*)$", run.output, re.M
        )
    }
    assert set(stated) == {job.rule for job in jobs}
    for job in jobs:
        asked = stated[job.rule]
        assert megabytes(job["MinMemoryNode"]) == int(asked["mem_mb"]), job.rule
        assert minutes_of(job["TimeLimit"]) == int(asked["runtime"]), job.rule
        gpu = job.rule == "score_pairs"
        assert job["Partition"] == ("gpu" if gpu else "cpu")
        assert ("gres:gpu:1" in job.facts.get("TresPerJob", "")) == gpu


def megabytes(text: str) -> float:
    return float(text[:-1]) * {"M": 1, "G": 1024}[text[-1]]


def minutes_of(text: str) -> int:
    days, _, clock = text.rpartition("-")
    hours, minutes, _ = map(int, clock.split(":"))
    return (int(days or 0) * 24 + hours) * 60 + minutes


def test_nothing_is_left(far):
    far.is_quiet()


def test_a_second_run_has_nothing_to_do(far):
    assert far.plan() == far.plan(*PROFILES) == []


def test_a_change_reruns_on_the_cluster_what_it_reruns_here(here, far):
    before = len(far.jobs())
    for place in (here, far):
        place.append("workflow/evenhand/stereotypes/measure_length.py", "\n\nADDED = 1\n")
        place.edit("config/cut.yaml", "sentences_per_pair: 4", "sentences_per_pair: 2")
    far.write("results/tables/.partial-01234567-scores.csv", "of a job that was killed")
    plan = here.plan()
    rules = {job.rule for job in plan}
    assert {"measure_length", "draw_annotation", "write_slguset_page"} <= rules
    assert not rules & {"train_masked_lm", "score_pairs", "merge_candidates", "measure_accuracy"}
    run = far.through("all")
    assert [(job.rule, job.wildcards) for job in run.jobs] == [
        (job.rule, job.wildcards) for job in plan
    ]
    assert len(far.jobs()) - before == len(plan)
    here.run("all")
    assert far.results() == here.results()  # nothing unfinished is left
    assert far.plan() == []
