"""`make why`, on a workflow of six tiny stages (`tests/workflow/toy`)."""

import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import version

import pytest

DROP = "workflow/evenhand/toy/drop.py"
SHARED = "workflow/evenhand/toy/shared.py"


def test_nothing_would_run_where_nothing_changed_what_a_stage_does(toy):
    toy.edit(SHARED, '"""The words of a text."""', '"""All words."""\n    # by blanks')
    toy.edit(DROP, "import Input, Output\n", "import (\n    Input,\n    Output,\n)\n")
    toy.write("workflow/evenhand/toy/new.py", "import numpy\n")
    os.utime(toy.root / "resources/drop.txt")
    assert toy.why() == ["Nothing would run."]


def test_the_function_that_changed_is_named_with_its_module(toy):
    toy.edit(DROP, "not in named", "not in {*named}")
    assert toy.why() == [
        "4 jobs would run:",
        "drop x 2: evenhand.toy.drop: changed drop",
        "merge: because drop runs",
        "train: because merge runs",
    ]
    assert toy.why("results/dropped/a.txt") == [
        "1 job would run:",
        "drop (shard=a): evenhand.toy.drop: changed drop",
    ]


def test_a_job_below_another_has_its_own_cause_too(toy):
    toy.edit(SHARED, "text.split()", "text.split(None)")
    toy.edit(SHARED, "def unused", "MORE = 1\n\n\ndef other")
    toy.edit(DROP, "def drop", "print\n\n\ndef drop")
    toy.append("resources/drop.txt", "rain\n")
    lines = toy.why()
    change = "evenhand.toy.shared: changed words; added MORE and other; removed unused"
    assert lines[1] == f"read x 2: {change}"
    assert lines[2] == (
        "drop x 2: evenhand.toy.drop: changed statements outside its definitions; "
        f"{change}; the content of resources/drop.txt changed; because read runs"
    )
    assert lines[3] == "parse x 2: because read runs"


def test_another_order_of_statements_is_named(toy):
    toy.edit(SHARED, "def unused", "A = 1\nB = A\nA = 2\n\n\ndef unused")
    toy.run()
    toy.edit(SHARED, "A = 1\nB = A\nA = 2\n", "A = 1\nA = 2\nB = A\n")
    assert toy.why()[1] == "read x 2: evenhand.toy.shared: changed the order of its definitions"


def test_keys_packages_modules_and_plugins_are_named(toy):
    toy.edit("config/toy.yaml", "min_length: 2", "min_length: 3\n  text: 男")
    toy.edit("requirements/requirements.lock", "\npyyaml==", "\npyyaml==99.")
    locked = toy.read("requirements/requirements.lock").split("\npyyaml==99.")[1].split()[0]
    installed = f" (installed: {version('pyyaml')})"
    before = locked + installed * (locked != version("pyyaml"))
    toy.write("workflow/evenhand/toy/new.py", "import numpy\n")
    merge = "workflow/evenhand/toy/merge.py"
    toy.edit(merge, "Merge all shards.", "Merge.")
    toy.edit(merge, "    lines =", "    import evenhand.toy.new\n\n    lines =")
    assert "\nnumpy==" in toy.read("requirements/requirements.lock")
    assert toy.why("--config", "objective=square") == [
        "8 jobs would run:",
        "read x 2: config: read.min_length: 2 -> 3; config: read.text is new: '男'",
        "drop x 2: because read runs",
        f"parse x 2: pyyaml {before} -> 99.{locked}{installed}; because read runs",
        "merge: evenhand.toy.merge: changed merge; evenhand.toy.new is imported now; "
        "numpy is imported now; because drop and parse run",
        "train: evenhand.toy.square is imported now; evenhand.toy.sum_up is no longer imported; "
        "because merge runs",
    ]


def test_another_command_another_plugin_and_force_are_named(toy):
    toy.edit("Snakefile", " toy.parse --words", " toy.parse  --words")
    toy.edit("workflow/evenhand/toy/sum_up.py", "len(text)", "len(text) + 0")
    assert toy.why("--forcerun", "drop") == [
        "6 jobs would run:",
        "drop x 2: forced on the command line",
        "parse x 2: the command of the rule changed",
        "merge: because drop and parse run",
        "train: evenhand.toy.sum_up: changed value; because merge runs",
    ]


def test_results_without_the_records_of_their_runs_are_made_again(toy):
    shutil.rmtree(toy.root / ".snakemake" / "metadata")
    assert toy.why()[1] == (
        "read x 2: the records of the run that made results/words/a.txt and results/words/b.txt"
        " are not here"
    )


def test_a_corpus_file_that_came_or_went_is_named(toy):
    toy.write("corpus/c.txt", "a third text")
    assert toy.why() == [
        "5 jobs would run:",
        "read (shard=c): it has not run here yet, nor any job with shard=c",
        "drop (shard=c): it has not run here yet, nor any job with shard=c",
        "parse (shard=c): it has not run here yet, nor any job with shard=c",
        "merge: new among its inputs: results/dropped/c.txt and results/parsed/c.txt; "
        "because drop and parse run",
        "train: because merge runs",
    ]
    (toy.root / "corpus/c.txt").unlink()
    (toy.root / "corpus/b.txt").unlink()
    assert toy.why()[1] == (
        "merge: no longer among its inputs: results/dropped/b.txt and results/parsed/b.txt"
    )


def test_a_missing_output_is_named(toy):
    (toy.root / "results/merged.txt").unlink()
    assert toy.why() == ["Nothing would run."]  # nobody asks for it
    shutil.rmtree(toy.root / "results/model")
    assert toy.why()[1:] == [
        "merge: results/merged.txt is missing",
        "train: results/model is missing; because merge runs",
    ]


def test_without_its_former_state_a_module_is_still_named(toy):
    shutil.rmtree(toy.root / "results/.evenhand/code")
    toy.edit(DROP, "not in named", "not in {*named}")
    assert toy.why()[1] == (
        "drop x 2: the code of evenhand.toy.drop changed (its former state was not kept)"
    )


def test_a_fresh_checkout_has_not_run_yet(toy, tmp_path):
    fresh = toy.clone(tmp_path / "fresh", "corpus")
    assert fresh.why() == [
        "8 jobs would run:",
        "read x 2: it has not run here yet",
        "drop x 2: it has not run here yet",
        "parse x 2: it has not run here yet",
        "merge: it has not run here yet",
        "train: it has not run here yet",
    ]
    assert not (fresh.root / "results").exists()


def test_a_target_that_no_rule_makes_is_one_sentence(toy):
    with pytest.raises(AssertionError, match=r"^error: nonsense is no rule and no result of th.*$"):
        toy.why("nonsense")


def test_a_run_does_what_was_foretold_and_serves_what_is_known(toy):
    """The harness sees which jobs ran, and which of them the run cache served."""
    toy.edit(DROP, "not in named", "not in {*named}")
    foretold = toy.plan()
    run = toy.run()
    assert run.jobs == foretold
    assert {(job.rule, job.served) for job in run.jobs} == {
        ("drop", False),
        ("merge", True),
        ("train", True),
    }
    assert toy.why() == ["Nothing would run."]


def test_after_a_kill_the_next_run_needs_no_help(toy, tmp_path):
    waiting = tmp_path / "waiting"
    toy.append("resources/drop.txt", "rain\n")
    toy.edit(
        "workflow/evenhand/toy/merge.py",
        "    lines =",
        f"    from pathlib import Path\n    if not Path({str(waiting)!r}).exists():\n"
        f"        Path({str(waiting)!r}).touch()\n        __import__('time').sleep(60)\n"
        "    lines =",
    )
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *toy.arguments]
    run = subprocess.Popen(
        command,
        cwd=toy.root,
        env=toy._environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not waiting.exists():
        assert run.poll() is None
        time.sleep(0.05)
    refused = toy.run(check=False)
    assert refused.returncode == 2 and "cannot be locked" not in refused.output
    assert f"another run, process {run.pid} on " in refused.output
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    partial = toy.root / "results" / ".partial-01234567-merged.txt"
    partial.touch()
    again = toy.run()
    assert "was killed; its lock is released" in again.output
    assert again.rules == ["merge", "train"] and not partial.exists()


def test_of_two_starts_at_once_one_is_refused_by_the_name_of_the_other(toy):
    toy.append("resources/drop.txt", "rain\n")
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *toy.arguments]
    how = {"cwd": toy.root, "env": toy._environment(), "text": True}
    runs = [
        subprocess.Popen(command, **how, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(2)
    ]
    said = {run.communicate()[0]: run for run in runs}
    codes = sorted(run.returncode for run in runs)
    assert codes in (
        [0, 0],
        [0, 1],
        [0, 2],
    )  # of slow starts the second comes when the first is done
    for words, run in said.items():
        other = next(one for one in runs if one is not run)
        refused = f"another run, process {other.pid} on "
        # or, while it still plans, Snakemake misses a file that the first has just removed
        missed = "a concurrent process has deleted it"
        assert not run.returncode or refused in words or missed in words


def test_the_lock_of_another_host_stays_until_it_is_unlocked(toy):
    toy.append("resources/drop.txt", "rain\n")
    locks = toy.root / ".snakemake" / "locks"
    locks.mkdir(exist_ok=True)
    (locks / "0.output.lock").write_text("results/merged.txt\n")
    (locks / "0.output.owner").write_text('["elsewhere", 12, 1.5]')
    refused = toy.run(check=False)
    assert refused.returncode == 2 and not refused.jobs
    assert "another run, process 12 on elsewhere, works in this folder; let it" in refused.output
    toy.run("--unlock")
    assert not locks.exists()
    locks.mkdir()
    (locks / "0.input.lock").symlink_to("removed")  # listed, and absent when it is opened
    assert "drop" in toy.run().rules


def test_a_stage_that_fails_stops_the_run_and_its_log_is_shown(toy):
    toy.edit(DROP, "named = ", "raise ValueError('broken on purpose')\n    named = ")
    run = toy.run(check=False)
    assert run.returncode == 1
    assert "broken on purpose" in run.output
    assert "train" not in run.rules
