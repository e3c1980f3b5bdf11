"""Trainings of classifiers through Slurm, two of them preempted in the middle of an epoch."""

import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from on_cluster import CLUSTER, HERE, Running, on_cluster, said, slurm_jobs

#: What is made: the scores of all classifiers, so that each is trained.
MADE = "results/tables/classifiers/cases"

#: The rules that the profile of the tests gives a GPU.
WITH_GPU = {"embed_paragraphs", "train_classifier", "train_frozen_head"}

#: The trainings that an urgent job drives from their nodes.
PREEMPTED = ["train_language_model", "train_classifier"]

CONFIG = ("--configfile", "config/trainings.yaml")


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
    place = on_cluster(tmp_path_factory.mktemp("far") / "trainings", CONFIG)
    shutil.copy(HERE / "trainings.yaml", place.root / "config")
    running = place.start(MADE)
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
            heads = [job for job in jobs if job.rule == "train_frozen_head"]  # of the same stage
            if not heads and list(state.glob(f"scratch/{rule}-*/**/checkpoint.pt")):
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
    for made in ("models/tiny-en/", "legal/cases/weights/transformer/"):
        assert any(name.startswith(made) for name in far.whole()), made


def test_each_job_asked_slurm_for_what_its_rule_states(run, far):
    assert {job.rule for job in far.jobs()} > WITH_GPU
    far.asked_as_stated(run, with_gpu=WITH_GPU, at_gpus={"train_language_model"})


def test_nothing_is_left(far):
    far.is_quiet()
