"""The demo through Slurm: the same bytes as here, and the same jobs after a change."""

import json
import shutil
from collections.abc import Iterator

import pytest

from harness import Checkout
from on_cluster import DEMO, HERE, PROFILES, Running, on_cluster

#: The rules of the demo that the profile of the tests gives a GPU.
WITH_GPU = {"score_pairs"}


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[Running]:
    """``snakemake --profile slurm all``, as a person types it."""
    place = on_cluster(tmp_path_factory.mktemp("far") / "demo", DEMO)
    shutil.copy(HERE / "demo.yaml", place.root / "config" / "cut.yaml")
    running = place.start("all")
    yield running
    running.end()


def test_the_cluster_gives_the_same_bytes(here, far):
    assert far.whole() == here.results()
    assert records(far) == records(here)
    for made in ("models/tiny-en/", "slguset/annotation/", "tabular/loans/runs/", "report/index"):
        assert any(name.startswith(made) for name in far.whole()), made


def records(place: Checkout) -> dict[str, dict]:
    """The record of the run behind each result."""
    folder = place.root / "results" / ".evenhand" / "records"
    return {file.name: json.loads(file.read_bytes()) for file in folder.glob("*.json")}


def test_each_job_asked_slurm_for_what_its_rule_states(run, far):
    assert 15 <= len(far.jobs()) == len(run.jobs) <= 30
    assert {job.rule for job in far.jobs()} >= WITH_GPU
    far.asked_as_stated(run, with_gpu=WITH_GPU, at_gpus={"train_language_model"})


def test_nothing_is_left(far):
    far.is_quiet()


def test_a_second_run_has_nothing_to_do(far):
    assert far.plan("all") == far.plan("all", *PROFILES) == []


def test_a_change_reruns_on_the_cluster_what_it_reruns_here(here, far):
    before = len(far.jobs())
    made = ["results/tables/pairs/pairs", "results/slguset/annotation/first/sheets"]
    for place in (here, far):
        place.append("workflow/evenhand/stereotypes/tables/length.py", "\n\nADDED = 1\n")
        place.edit("config/cut.yaml", "sentences_per_pair: 4", "sentences_per_pair: 2")
    far.write("results/tables/.partial-01234567-scores.csv", "of a job that was killed")
    plan = here.plan(*made)
    assert {job.rule for job in plan} == {"tabulate_pairs", "draw_annotation"}
    run = far.through(*made)
    assert [(job.rule, job.wildcards) for job in run.jobs] == [
        (job.rule, job.wildcards) for job in plan
    ]
    assert len(far.jobs()) - before == len(plan)
    here.run(*made)
    assert far.results() == here.results()  # nothing unfinished is left
    assert far.plan(*made) == []
    assert far.plan("all") == here.plan("all")
