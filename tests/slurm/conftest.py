"""A real Slurm on this machine, for as long as the tests take.

Most of their time is waiting, so each file has a process of its own (``make test-slurm``) and
all share the cluster, which the main process of pytest starts and stops.
"""

import subprocess
import tempfile
from pathlib import Path

import pytest

from on_cluster import HERE, SCRIPT, OnCluster, on_cluster


def pytest_sessionstart(session):
    if hasattr(session.config, "workerinput"):
        return
    session.config.cluster = Path(tempfile.mkdtemp(prefix="evenhand-slurm-"))
    up = subprocess.run([SCRIPT, "up", session.config.cluster], stderr=subprocess.PIPE, text=True)
    if up.returncode:
        pytest.exit(up.stderr.strip(), returncode=1)


def pytest_sessionfinish(session):
    if hasattr(session.config, "cluster"):
        down = subprocess.run([SCRIPT, "down", session.config.cluster], capture_output=True)
        if down.returncode:
            print(down.stderr.decode())
            session.exitstatus = 1


@pytest.fixture(scope="session")
def storm_template(tmp_path_factory) -> OnCluster:
    """The library with a workflow of twenty parts."""
    made = on_cluster(tmp_path_factory.mktemp("template") / "storm")
    for path in sorted((HERE / "storm").rglob("*")):
        name = path.relative_to(HERE / "storm").as_posix()
        if path.is_file() and "__pycache__" not in name:
            name = name.replace("stages/", "workflow/evenhand/toy/")
            made.write(name, path.read_text(encoding="utf-8"))
    for number in range(20):
        made.write(f"parts/p{number:02}.txt", f"part {number}\n" * (number + 1))
    (made.root / "hold").mkdir()
    return made
