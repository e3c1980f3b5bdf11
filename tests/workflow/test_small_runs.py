"""Runs of one audit: stopped, beside another run, and with a file in the folder of results."""

import os
import signal
import subprocess
import sys

import pytest

import warm
from evenhand.core import leftovers
from harness import REPOSITORY, Checkout
from unit.predictions.test_audit_predictions import people

CONFIG = "predictions: {mine: {files: [p.csv], label: y, prediction: p, groups: [group]}}"
RUN = ["-m", "evenhand", "run", "mine.yaml", "--cores", "2"]
COMMAND = [sys.executable, *RUN]


def settings(folder):
    """Of each process."""
    env = {"PYTHONPATH": str(REPOSITORY / "workflow"), "PATH": os.environ["PATH"]}
    return {"cwd": folder, "env": env | {"HOME": str(folder)}, "text": True}


def call(options, *words, check=True):
    """Run a command that nothing stops; it and its jobs are forks, which saves their imports."""
    env = options["env"] | {"EVENHAND_PROGRAMS": str(warm.folder()), "OMP_NUM_THREADS": "1"}
    command = [warm.folder() / "python", *words]
    return subprocess.run(command, **options | {"env": env}, check=check, capture_output=True)


@pytest.fixture
def options(tmp_path):
    return settings(tmp_path)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The results of a run that nobody stopped."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "mine.yaml").write_text(CONFIG)
    people(n=100).to_csv(folder / "p.csv", index=False)
    call(settings(folder), *RUN)
    return Checkout(folder).results()


@pytest.mark.parametrize(
    ("number", "moment"), [(signal.SIGTERM, " jobs to run"), (signal.SIGINT, "")]
)
def test_a_stopped_run_says_so_and_continues(tmp_path, options, undisturbed, number, moment):
    (tmp_path / "mine.yaml").write_text(CONFIG)
    people(n=100).to_csv(tmp_path / "p.csv", index=False)
    process = subprocess.Popen(COMMAND, **options, stderr=-1, stdout=-1, start_new_session=True)
    with process:
        if moment:
            assert any(moment in line for line in process.stderr)
        else:  # while it imports or plans
            while not (tmp_path / ".snakemake").is_dir():
                assert process.poll() is None
        os.killpg(process.pid, number)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number
    last = f"error: stopped by the signal {number.name}; finished results are kept"
    assert said.strip().splitlines()[-1].startswith(last)
    assert "memory" not in said and "defect" not in said and "Traceback" not in said
    assert "The report: " in call(options, *RUN).stdout
    assert Checkout(tmp_path).results() == undisturbed
    assert "The report: " not in call(options, *RUN, "-n").stdout  # of the run before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_audit_says_so_and_leaves_no_folder(tmp_path, options, number):
    people(n=100).to_csv(tmp_path / "p.csv", index=False)
    words = ["predictions", "p.csv", "--label", "y", "--prediction", "p", "--group", "group"]
    command = [sys.executable, "-m", "evenhand", *words, "--out", "audit"]
    with subprocess.Popen(command, **options, stderr=-1, start_new_session=True) as process:
        while not (tmp_path / "audit").is_dir():
            assert process.poll() is None
        os.killpg(process.pid, number)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number
    assert said == f"error: stopped by the signal {number.name}; the same command starts anew.\n"
    assert not (tmp_path / "audit").exists()


def test_a_file_of_the_user_in_the_folder_of_results_is_compared_by_content(tmp_path, options):
    table, data = tmp_path / "results/mine/p.csv", people(n=100)
    table.parent.mkdir(parents=True)
    data.to_csv(table, index=False)
    target = "results/predictions/mine/meta.json"

    def why():
        return call(options, "-m", "evenhand", "why", "mine.yaml", target).stdout

    (tmp_path / "mine.yaml").write_text(CONFIG.replace("p.csv", "results/mine/p.csv"))
    call(options, *RUN[:-2], target, "--cores", "1")
    os.utime(table)
    assert why() == "Nothing would run.\n"
    data[::-1].to_csv(table, index=False)
    os.utime(table, (1e9, 1e9))
    assert "the content of results/mine/p.csv changed" in why()


def test_beside_another_run_none_starts_and_why_names_it(tmp_path, options):
    (tmp_path / "mine.yaml").write_text(CONFIG)
    people(n=100).to_csv(tmp_path / "p.csv", index=False)
    lock = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/predictions/mine/meta.json\n")
    leftovers.claim(lock)
    refused = call(options, *RUN, check=False)
    *before, last = refused.stderr.splitlines()
    assert refused.returncode == 2 and len(before) <= 1  # of other versions than the lock's
    assert last.startswith(f"error: another run, process {os.getpid()} on ")
    why = ("-m", "evenhand", "why", "mine.yaml")
    plan = call(options, *why).stdout.splitlines()
    assert plan[0].startswith(f"Note: another run, process {os.getpid()} on ")
    leftovers.release(lock)
    assert call(options, *why).stdout[:4] != "Note"
