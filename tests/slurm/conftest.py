"""A real Slurm on this machine, and checkouts that are run through it.

All that takes long is begun at once, in the background, and each test waits for its own:
the demo (`test_demo.py`), and the jobs that ask for more (`test_asked.py`).
"""

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from on_cluster import DEMO, HERE, SCRIPT, OnCluster, Running, of_template, on_cluster


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


@pytest.fixture(scope="session")
def asked_running(cluster, storm_template, tmp_path_factory) -> Iterator[Running]:
    place = of_template(storm_template, tmp_path_factory.mktemp("asked") / "asked")
    running = place.start("asked")
    yield running
    running.end()


@pytest.fixture(scope="session")
def demo_running(asked_running, tmp_path_factory) -> Iterator[Running]:
    place = on_cluster(tmp_path_factory.mktemp("far") / "demo", DEMO)
    shutil.copy(HERE / "demo.yaml", place.root / "config" / "cut.yaml")
    running = place.start("all")
    yield running
    running.end()
