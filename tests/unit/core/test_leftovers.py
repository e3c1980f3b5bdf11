"""Slurm's queue, played by a script: the real one is in tests/slurm."""

import json
import os
import subprocess

import pytest

from evenhand.core import leftovers
from evenhand.core.owner import OWNER, check_owner, identity
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
    told = ["7 RUNNING biology_wildcards_slguset_a-1", "8 PENDING merge"]
    assert list(map(str, found)) == told
    fill(slurm, (8, "PENDING", RUN, "rule_merge", here), reason="Priority")
    assert list(map(str, leftovers.find(here))) == ["8 PENDING (Priority) merge"]


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
def lock(tmp_path):
    """A lock of this process."""
    lock = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/funnel.csv\n")
    leftovers.claim(lock)
    return lock


def of_owner(lock, *changed):
    """Let another process own the lock: its machine, number and start, as far as they change."""
    owner = json.loads(lock.with_suffix(".owner").read_text())
    new = [after or before for before, after in zip(owner, changed, strict=True)]
    lock.with_suffix(".owner").write_text(json.dumps(new))


def test_the_lock_of_a_dead_process_is_released(lock, tmp_path):
    with subprocess.Popen(["true"]) as process:
        pass
    of_owner(lock, None, process.pid, None)
    assert leftovers.release_dead_locks(tmp_path)
    assert not list(lock.parent.iterdir())
    assert not leftovers.release_dead_locks(tmp_path)


@pytest.mark.parametrize("changes", [(None, None, None), ("elsewhere", None, 1.0)])
def test_the_lock_of_a_living_or_a_remote_process_stays(lock, tmp_path, changes):
    of_owner(lock, *changes)
    dead = lock.with_name("1.input.lock")
    dead.touch()
    leftovers.claim(dead)
    of_owner(dead, None, None, 1.0)
    assert leftovers.release_dead_locks(tmp_path)
    assert sorted(lock.parent.iterdir()) == [lock, lock.with_suffix(".owner")]


@pytest.mark.parametrize("text", ["", "[]", "{}", "[1]", None])
def test_a_lock_without_an_owner_stays(lock, tmp_path, text):
    lock.with_suffix(".owner").unlink()
    if text is not None:
        lock.with_suffix(".owner").write_text(text)
    assert not leftovers.release_dead_locks(tmp_path)


def test_a_job_of_a_dead_run_writes_nothing(monkeypatch):
    monkeypatch.setenv(OWNER, identity())
    check_owner()
    with subprocess.Popen(["true"]) as process:
        pass
    monkeypatch.setenv(OWNER, f"elsewhere {process.pid}")
    check_owner()
    monkeypatch.setenv(OWNER, identity().replace(str(os.getpid()), str(process.pid)))
    with pytest.raises(InputError, match="was killed; the job writes nothing"):
        check_owner()
    monkeypatch.delenv(OWNER)
    check_owner()
