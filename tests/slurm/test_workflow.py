"""The workflow through Slurm: the bytes of a run on this machine, although two trainings are
preempted in the middle of an epoch, and the same jobs after a change.
"""

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

from harness import Checkout
from on_cluster import CLUSTER, HERE, PROFILES, Running, on_cluster, said, slurm_jobs

#: What is made: the tables that need both trainings, and sheets. Each job costs its start twice.
TABLES = ("results/tables/pairs/pairs", "results/legal/cases/audit")
MADE = (*TABLES, "results/tables/classifiers/cases")

#: The rules that the profile of the tests gives a GPU.
WITH_GPU = {"score_pairs", "train_classifier"}

#: The trainings that an urgent job drives from their nodes.
PREEMPTED = ["train_language_model", "train_classifier"]

CONFIG = ("--configfile", "config/cut.yaml")


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
    place = on_cluster(tmp_path_factory.mktemp("far") / "workflow", CONFIG)
    shutil.copy(HERE / "workflow.yaml", place.root / "config" / "cut.yaml")
    running = place.start(*MADE)
    threading.Thread(target=preempt, args=[running, preemptions], daemon=True).start()
    yield running
    running.end()


def preempt(main: Running, done: list[Preemption]) -> None:
    """Send an urgent job to the node of each training as soon as that has a checkpoint."""
    state = main.place.root / "results" / ".evenhand"
    urgent = ["sbatch", "--parsable", "--partition=urgent", "--exclusive", "--output=/dev/null"]
    for rule in PREEMPTED:
        while main.process.poll() is None and len(done) <= PREEMPTED.index(rule):
            jobs = main.place.jobs("RUNNING")
            if list(state.glob(f"scratch/{rule}-*/**/checkpoint.pt")):
                for job in jobs:
                    if job.rule == rule:
                        at = ["--chdir", str(state), f"--nodelist={job['NodeList']}"]
                        sent = said(*urgent, *at, "--wrap=sleep 1").strip()
                        done.append(Preemption(rule, job.id, sent))
            time.sleep(0.2)


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
        assert int(re.search(r"continues after step (\d+)", log.read_text())[1]) > 0


def test_the_cluster_gives_the_same_bytes(here, far):
    assert far.whole() == here.results()
    assert records(far) == records(here)
    for made in ("models/tiny-en/", "legal/cases/weights/transformer/", "legal/cases/audit/"):
        assert any(name.startswith(made) for name in far.whole()), made


def records(place: Checkout) -> dict[str, dict]:
    """The record of the run behind each result."""
    folder = place.root / "results" / ".evenhand" / "records"
    return {file.name: json.loads(file.read_bytes()) for file in folder.glob("*.json")}


def test_each_job_asked_slurm_for_what_its_rule_states(run, far):
    assert 10 <= len(far.jobs()) == len(run.jobs) <= 20
    assert {job.rule for job in far.jobs()} > WITH_GPU
    far.asked_as_stated(run, with_gpu=WITH_GPU, at_gpus={"train_language_model"})


def test_nothing_is_left(far):
    far.is_quiet()


def test_a_second_run_has_nothing_to_do(far):
    assert far.plan(*MADE) == far.plan(*MADE, *PROFILES) == []


def test_a_change_reruns_on_the_cluster_what_it_reruns_here(here, far):
    before = len(far.jobs())
    for place in (here, far):
        place.append("workflow/evenhand/stereotypes/tables/length.py", "\n\nADDED = 1\n")
        place.edit("config/cut.yaml", "per_rule: 4", "per_rule: 2")
    far.write("results/tables/.partial-01234567-scores.csv", "of a job that was killed")
    plan = here.plan(*TABLES)
    assert {job.rule for job in plan} == {"tabulate_pairs", "draw_audit"}
    run = far.through(*TABLES)
    assert [(job.rule, job.wildcards) for job in run.jobs] == [
        (job.rule, job.wildcards) for job in plan
    ]
    assert len(far.jobs()) - before == len(plan)
    here.run(*TABLES)
    assert far.results() == here.results()  # nothing unfinished is left
    assert far.plan(*TABLES) == []
    assert far.plan("all") == here.plan("all")
