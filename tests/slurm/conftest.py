"""A real Slurm on this machine, and checkouts that are run through it.

All that takes long is begun at once, in the background, and each test waits for its own:
the demo (`test_demo.py`), and the jobs that ask for more (`test_asked.py`).
"""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator

import pytest

from on_cluster import DEMO, HERE, SCRIPT, OnCluster, Running, of_template, on_cluster, said


@pytest.fixture(scope="session")
def cluster(tmp_path_factory) -> Iterator[None]:
    """The cluster, up for all tests and down after them."""
    folder = tmp_path_factory.mktemp("slurm") / "cluster"
    up = subprocess.run([SCRIPT, "up", folder], stderr=subprocess.PIPE, text=True)
    if up.returncode:
        pytest.exit(up.stderr.strip(), returncode=1)
    try:
        yield
    finally:
        subprocess.run([SCRIPT, "down", folder], check=True)


@pytest.fixture(scope="session")
def storm_template(tmp_path_factory) -> OnCluster:
    """The library with a workflow of twenty parts."""
    made = on_cluster(tmp_path_factory.mktemp("template") / "storm")
    for path in sorted((HERE / "storm").rglob("*")):
        name = (
            path.relative_to(HERE / "storm").as_posix().replace("stages/", "workflow/evenhand/toy/")
        )
        if path.is_file() and "__pycache__" not in name:
            made.write(name, path.read_text(encoding="utf-8"))
    for number in range(20):
        made.write(f"parts/p{number:02}.txt", f"part {number}\n" * (number + 1))
    (made.root / "hold").mkdir()
    return made


def preempt_training(demo: Running) -> None:
    """Do to the training of the demo's model, once it has a checkpoint, what a preemption does."""
    scratch = demo.place.root / "results" / ".evenhand" / "scratch"
    while demo.process.poll() is None:
        if list(scratch.glob("*/checkpoint.pt")):
            for job in demo.place.jobs("RUNNING"):
                if job.rule == "train_masked_lm":
                    said("scontrol", "requeue", job.id)
                    return
        time.sleep(0.2)


@pytest.fixture(scope="session")
def background(cluster, storm_template, tmp_path_factory) -> Iterator[dict[str, Running]]:
    """The runs that take long, begun together."""
    asked = of_template(storm_template, tmp_path_factory.mktemp("asked") / "asked")
    demo = on_cluster(tmp_path_factory.mktemp("far") / "demo", DEMO)
    shutil.copy(HERE / "demo.yaml", demo.root / "config" / "cut.yaml")
    demo.clone(demo.root.parent / "here", "slurm")  # the same state of the code, for `test_demo`
    runs = {"demo": demo.start("all"), "asked": asked.start("asked")}
    # a demo that ends before says so in its test
    threading.Thread(target=preempt_training, args=[runs["demo"]], daemon=True).start()
    yield runs
    for run in runs.values():
        run.end()
