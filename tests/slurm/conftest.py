"""A real Slurm on this machine, for as long as the tests take.

Most of their time is waiting, so each file has a process of its own (``make test-slurm``) and
all share the cluster, which the main process of pytest starts and stops. If pytest is killed,
a watcher that `cluster.sh` leaves behind stops it, and whatever the tests have started.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from harness import Checkout
from on_cluster import CLUSTER, HERE, SCRIPT, OnCluster, Run, on_cluster


def pytest_sessionstart(session):
    if hasattr(session.config, "workerinput") or session.config.option.collectonly:
        return
    session.config.cluster = Path(tempfile.mkdtemp(prefix="evenhand-slurm-"))
    up = subprocess.run(
        [SCRIPT, "up", session.config.cluster, str(os.getpid())], stderr=subprocess.PIPE, text=True
    )
    if up.returncode:
        pytest.exit(up.stderr.strip(), returncode=1)
    os.environ[CLUSTER] = str(session.config.cluster)  # for all that the tests start


def pytest_sessionfinish(session, exitstatus):
    folder = getattr(session.config, "cluster", None)
    if folder is None:
        return
    down = subprocess.run([SCRIPT, "down", folder], capture_output=True, text=True)
    if down.returncode:
        print(down.stderr)
        session.exitstatus = 1
    elif exitstatus == 0:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def storm_template(tmp_path_factory) -> OnCluster:
    """The library with a workflow of six parts."""
    made = on_cluster(tmp_path_factory.mktemp("template") / "storm")
    for path in sorted((HERE / "storm").rglob("*")):
        name = path.relative_to(HERE / "storm").as_posix()
        if path.is_file() and "__pycache__" not in name:
            name = name.replace("stages/", "workflow/evenhand/toy/")
            made.write(name, path.read_text(encoding="utf-8"))
    for number in range(6):
        made.write(f"parts/p{number:02}.txt", f"part {number}\n" * (number + 1))
    (made.root / "hold").mkdir()
    return made


@pytest.fixture(scope="module")
def here(running) -> Checkout:
    """What a file has `running` on the cluster, run on this machine meanwhile."""
    far = running.place
    place = far.clone(far.root.parent / "here")
    place.run(*running.arguments)
    return place


@pytest.fixture(scope="module")
def run(here, running) -> Run:
    return running.finish()


@pytest.fixture(scope="module")
def far(running, run) -> OnCluster:
    return running.place
