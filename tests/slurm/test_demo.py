"""The demo through Slurm: the same bytes as here, and the same jobs after a change."""

import json
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from on_cluster import (
    CLUSTER,
    DEMO,
    HERE,
    PROFILES,
    OnCluster,
    Run,
    Running,
    on_cluster,
    said,
    slurm_jobs,
)

#: What is made, of all four systems: what asks for GPUs, keeps checkpoints or is cut into shards,
#: and what it takes to come to a page. The results that are left out are the work of small rules.
MADE = [
    "results/slguset/annotation/first/sheets",
    *(f"results/tables/pairs_{table}.csv" for table in ("bias_scores", "length")),
    *(f"results/tables/legal_cases_{table}.csv" for table in ("scores", "tests")),
    "results/report/individual_fairness.html",
]

#: The rules that the profile of the tests gives a GPU.
WITH_GPU = {"score_pairs", "score_null", "embed_paragraphs", "train_classifier", "train_top"}

#: The trainings that an urgent job drives from their nodes.
PREEMPTED = ["train_masked_lm", "train_classifier"]


@dataclass
class Preemption:
    """An urgent job, and the training that had to make room for it."""

    rule: str
    training: str
    urgent: str


@pytest.fixture(scope="module")
def preemptions() -> list[Preemption]:
    return []


@pytest.fixture(scope="module")
def running(tmp_path_factory, preemptions) -> Iterator[Running]:
    """The demo on the cluster, with two trainings preempted in the middle."""
    place = on_cluster(tmp_path_factory.mktemp("far") / "demo", DEMO)
    shutil.copy(HERE / "demo.yaml", place.root / "config" / "cut.yaml")
    place.clone(place.root.parent / "here")
    running = place.start(*MADE)
    threading.Thread(target=preempt, args=[running, preemptions], daemon=True).start()
    yield running
    running.end()


def preempt(demo: Running, done: list[Preemption]) -> None:
    """Send an urgent job to the node of each training as soon as that has a checkpoint."""
    scratch = demo.place.root / "results" / ".evenhand" / "scratch"
    urgent = ["sbatch", "--parsable", "--partition=urgent", "--exclusive", "--output=/dev/null"]
    for rule in PREEMPTED:
        while demo.process.poll() is None and len(done) <= PREEMPTED.index(rule):
            if list(scratch.glob("*/checkpoint.pt")):
                for job in demo.place.jobs("RUNNING"):
                    if job.rule == rule:
                        at = ["--chdir", str(scratch.parent), f"--nodelist={job['NodeList']}"]
                        sent = said(*urgent, *at, "--wrap=sleep 1").strip()
                        done.append(Preemption(rule, job.id, sent))
            time.sleep(0.2)


@pytest.fixture(scope="module")
def here(running) -> OnCluster:
    """The same demo, run on this machine meanwhile."""
    place = OnCluster(running.place.root.parent / "here", DEMO)
    place.run(*MADE)
    return place


@pytest.fixture(scope="module")
def run(here, running) -> Run:
    return running.finish()


@pytest.fixture(scope="module")
def far(running, run) -> OnCluster:
    return running.place


def test_trainings_that_another_job_preempts_go_on_from_their_checkpoints(far, preemptions):
    assert [one.rule for one in preemptions] == PREEMPTED
    urgent = {job.id: job for job in slurm_jobs(far.root / "results" / ".evenhand")}
    slurm = (Path(os.environ[CLUSTER]) / "log" / "slurmctld.log").read_text(encoding="utf-8")
    for one in preemptions:
        # it was never sent anew: Slurm itself made room, and ran it again
        (trained,) = [job for job in far.jobs() if job.rule == one.rule]
        assert (trained.id, trained["Restarts"]) == (one.training, "1")
        assert trained["JobState"] == urgent[one.urgent]["JobState"] == "COMPLETED"
        told = rf"preempted JobId={one.training} has been requeued .* JobId={one.urgent}\b"
        assert re.search(told, slurm)
        (log,) = (far.root / "results" / "logs" / one.rule).rglob("*.log")
        assert int(re.search(r"goes on after (?:step|.*) (\d+)", log.read_text())[1]) > 0


def test_the_cluster_gives_the_same_bytes(here, far):
    assert far.whole() == here.results()
    assert records(far) == records(here)
    for made in ("models/tiny-en/", "legal/cases/weights/transformer/", "tabular/loans/runs/"):
        assert any(name.startswith(made) for name in far.whole()), made


def records(place: OnCluster) -> dict[str, str]:
    """What is kept of the run behind each result: what the provenance is made of."""
    folder = place.root / "results" / ".evenhand" / "records"
    return {file.name: json.loads(file.read_bytes()) for file in folder.glob("*.json")}


def test_each_job_asked_slurm_for_what_its_rule_states(run, far):
    jobs = far.jobs()
    assert 35 <= len(jobs) == len(run.jobs) <= 42
    # what the rules state, as Snakemake printed it when it sent the jobs
    stated = {
        rule: dict(re.findall(r"(\w+)=(\d+)", resources))
        for rule, resources in re.findall(
            r"^rule (\w+):\n(?:    .*\n)*?    resources: (.*)$", run.output, re.M
        )
    }
    assert set(stated) == {job.rule for job in jobs} > WITH_GPU
    for job in jobs:
        asked = stated[job.rule]
        assert megabytes(job["MinMemoryNode"]) == int(asked["mem_mb"]), job.rule
        assert minutes_of(job["TimeLimit"]) == int(asked["runtime"]), job.rule
        gpu = job.rule in WITH_GPU
        at_gpus = gpu or job.rule == "train_masked_lm"  # as tests/slurm/profile.yaml says
        assert job["Partition"] == ("gpu" if at_gpus else "cpu")
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
    assert far.plan(*MADE) == far.plan(*MADE, *PROFILES) == []


def test_a_change_reruns_on_the_cluster_what_it_reruns_here(here, far):
    before = len(far.jobs())
    for place in (here, far):
        place.append("workflow/evenhand/stereotypes/measure_length.py", "\n\nADDED = 1\n")
        place.edit("config/cut.yaml", "sentences_per_pair: 4", "sentences_per_pair: 2")
    far.write("results/tables/.partial-01234567-scores.csv", "of a job that was killed")
    plan = here.plan(*MADE)
    rules = {job.rule for job in plan}
    assert rules == {"measure_length", "draw_annotation", "write_sheets"}
    run = far.through(*MADE)
    assert [(job.rule, job.wildcards) for job in run.jobs] == [
        (job.rule, job.wildcards) for job in plan
    ]
    assert len(far.jobs()) - before == len(plan)
    here.run(*MADE)
    assert far.results() == here.results()  # nothing unfinished is left
    assert far.plan(*MADE) == []
