"""Slurm's queue, played by a script: the real one is in tests/slurm."""

import json
import os
import subprocess

import pytest

from evenhand.core import leftovers
from evenhand.errors import InputError

RUN = "evenhand_0b2f0d8e-8f61-4f0c-9c1d-2f6a8a7f1c11"


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A folder with `squeue` and `scancel`; the queue is a file, what scancel got another."""
    programs = tmp_path / "programs"
    programs.mkdir()
    queue = tmp_path / "queue"
    queue.write_text("")
    script(programs / "squeue", f"cat {queue}")
    script(programs / "scancel", f'echo "$@" > {tmp_path}/cancelled; : > {queue}')
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def fill(slurm, *rows, reason="None"):
    text = "".join("\x1f".join(map(str, [*row, reason])) + "\n" for row in rows)
    (slurm / "queue").write_text(text)


def test_jobs_are_told_by_folder_and_name(slurm):
    here = slurm / "here | there"
    here.mkdir()
    fill(
        slurm,
        (7, "RUNNING", RUN, "rule_biology_wildcards_slguset_a-1", here),
        (8, "PENDING", RUN.removeprefix("evenhand_"), "rule_merge", here),
        (9, "RUNNING", RUN, "rule_merge", slurm),
        (10, "RUNNING", "my_notebook", "", here),
    )
    found = leftovers.find(here)
    assert [job.id for job in found] == ["7", "8"]
    assert str(found[0]) == "7 RUNNING biology_wildcards_slguset_a-1"


def test_a_run_does_not_start_beside_them(slurm, monkeypatch):
    assert leftovers.check(slurm)
    fill(slurm, *((n, "RUNNING", RUN, "rule_merge", slurm) for n in range(7)))
    with pytest.raises(InputError, match=r"7 jobs are still .*`scancel 0 1 2 3 4 5 6`"):
        leftovers.check(slurm)
    monkeypatch.setenv("PATH", "/nowhere")
    leftovers.check(slurm)


def test_a_run_starts_where_slurm_does_not_answer(slurm, capsys):
    script(slurm / "programs" / "squeue", "echo no controller >&2; exit 1")
    assert not leftovers.check(slurm)
    assert "squeue failed (no controller)" in capsys.readouterr().err


def test_programs_without_a_cluster_are_no_slurm(slurm, capsys):
    words = "squeue: fatal: Could not establish a configuration source"
    script(slurm / "programs" / "squeue", f"echo '{words}' >&2; exit 1")
    leftovers.check(slurm)
    assert capsys.readouterr().err == ""


def test_unfinished_files_and_folders_are_removed(tmp_path):
    (tmp_path / "models" / ".partial-01234567-tiny").mkdir(parents=True)
    (tmp_path / "models" / ".partial-01234567-tiny" / "config.json").touch()
    (tmp_path / ".partial-01234567-funnel.csv").touch()
    (tmp_path / "funnel.csv").touch()
    assert leftovers.remove_partials(tmp_path) == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["funnel.csv", "models"]


@pytest.fixture
def locked(tmp_path):
    """A folder that this process has locked."""
    lock = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/funnel.csv\n")
    leftovers.own(tmp_path)
    return tmp_path


def of_owner(folder, **changes):
    owner = folder / leftovers.OWNER
    owner.write_text(json.dumps(json.loads(owner.read_text()) | changes))


def test_the_lock_of_a_dead_process_is_released(locked):
    with subprocess.Popen(["true"]) as process:
        pass
    of_owner(locked, pid=process.pid)
    assert leftovers.release_dead_lock(locked)
    assert not list((locked / ".snakemake" / "locks").iterdir())
    assert not leftovers.release_dead_lock(locked)


def test_a_process_that_has_the_number_of_a_dead_one_is_another(locked):
    of_owner(locked, started=1.0)
    assert leftovers.release_dead_lock(locked)


@pytest.mark.parametrize(
    "changes", [{}, {"host": "elsewhere", "started": 1.0}, {"host": None, "started": 1.0}]
)
def test_the_lock_of_a_living_or_a_remote_process_stays(locked, changes):
    of_owner(locked, **changes)
    assert not leftovers.release_dead_lock(locked)


def test_a_lock_without_an_owner_stays(locked):
    for text in ("", "[]", "{}"):
        (locked / leftovers.OWNER).write_text(text)
        assert not leftovers.release_dead_lock(locked)
    (locked / leftovers.OWNER).unlink()
    assert not leftovers.release_dead_lock(locked)
