"""Slurm's queue, played by a script: the real one is in tests/slurm."""

import os
import subprocess
import sys

import pytest

from evenhand import leftovers
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
    monkeypatch.setattr(leftovers, "_PAUSE", 0.01)
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


def test_they_are_cancelled_and_all_is_ready_for_the_next_run(slurm, capsys):
    fill(slurm, (7, "RUNNING", RUN, "rule_merge", slurm), (8, "PENDING", RUN, "rule_all", slurm))
    results, locks = slurm / "results", slurm / ".snakemake" / "locks"
    for folder in (results / "models" / ".partial-01234567-tiny", locks):
        folder.mkdir(parents=True)
    (results / ".partial-01234567-funnel.csv").touch()
    (results / "funnel.csv").touch()
    (locks / "0.output.lock").touch()
    leftovers._main(slurm, results, cancelling=True, waiting=False)
    assert (slurm / "cancelled").read_text() == "7 8\n"
    assert sorted(p.name for p in results.rglob("*")) == ["funnel.csv", "models"]
    assert not list(locks.iterdir())
    out = capsys.readouterr().out.splitlines()
    assert out[:2] == ["7 RUNNING merge", "8 PENDING all"]
    assert out[2].startswith("2 cancelled, 2 unfinished files removed, the lock released")


def test_listing_changes_nothing(slurm, capsys):
    fill(slurm, (7, "RUNNING", RUN, "rule_merge", slurm))
    leftovers._main(slurm, slurm / "results", cancelling=False, waiting=False)
    assert capsys.readouterr().out.endswith("1 job is in Slurm's queue, sent from this folder.\n")
    assert not (slurm / "cancelled").exists()


def test_a_job_that_is_held_is_not_waited_for(slurm):
    script(slurm / "programs" / "squeue", f"cat {slurm}/queue; cat {slurm}/later > {slurm}/queue")
    fill(slurm, (8, "PENDING", RUN, "rule_merge", slurm), reason="launch failed requeued held")
    held = (slurm / "queue").read_text()
    (slurm / "later").write_text(held)
    fill(slurm, (7, "RUNNING", RUN, "rule_part", slurm))
    # the other one ends, then only the held one is left
    with pytest.raises(
        InputError,
        match=r"1 job is held and will not end \(8 PENDING \(launch failed requeued"
        r" held\) merge\); let Slurm run what it holds \(`scontrol release 8`\)",
    ):
        leftovers.wait(slurm)
    assert not (slurm / "cancelled").exists()


def test_a_job_that_does_not_go_away_is_told(slurm, monkeypatch):
    fill(slurm, (7, "COMPLETING", RUN, "rule_merge", slurm))
    script(slurm / "programs" / "scancel", "echo Access denied >&2; exit 1")
    monkeypatch.setattr(leftovers, "_PATIENCE", 0)
    with pytest.raises(InputError, match=r"1 job is still in the queue .*Access denied.*jobs=7"):
        leftovers.cancel(slurm)


def test_a_run_does_not_start_beside_them(slurm, monkeypatch):
    leftovers.check(slurm)
    fill(slurm, *((n, "RUNNING", RUN, "rule_merge", slurm) for n in range(7)))
    with pytest.raises(InputError, match=r"7 jobs are still in Slurm's queue.*--cancel"):
        leftovers.check(slurm)
    monkeypatch.setenv("PATH", "/nowhere")
    leftovers.check(slurm)


def test_a_run_starts_where_slurm_does_not_answer(slurm, capsys):
    script(slurm / "programs" / "squeue", "echo no controller >&2; exit 1")
    leftovers.check(slurm)
    assert "squeue failed (no controller)" in capsys.readouterr().err


def test_programs_without_a_cluster_are_no_slurm(slurm, capsys):
    words = "squeue: fatal: Could not establish a configuration source"
    script(slurm / "programs" / "squeue", f"echo '{words}' >&2; exit 1")
    leftovers.check(slurm)
    assert capsys.readouterr().err == ""


def test_jobs_of_a_living_run_are_its_own(slurm):
    program = slurm / "snakemake"
    program.write_text("import time\nprint('on', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, str(program), "all"]
    with subprocess.Popen(command, cwd=slurm, stdout=subprocess.PIPE) as main:
        main.stdout.readline()
        try:
            assert leftovers.main_processes(slurm) == [main.pid]
            with pytest.raises(InputError, match=f"still runs in this folder .process {main.pid}"):
                leftovers._main(slurm, slurm / "results", cancelling=True, waiting=False)
        finally:
            main.kill()
    # a zombie is gone at once, since Popen has waited for it
    assert leftovers.main_processes(slurm) == []
