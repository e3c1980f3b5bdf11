"""A run that a signal stops says so, and the same command completes it."""

import os
import signal
import subprocess
import sys

import pytest

from harness import REPOSITORY, Checkout
from unit.predictions.test_audit_predictions import people

CONFIG = "predictions: {mine: {files: [p.csv], label: y, prediction: p, groups: [group]}}"
COMMAND = [sys.executable, "-m", "evenhand", "run", "mine.yaml", "--cores", "2"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("moment", ["", " jobs to run"])
def test_a_stopped_run_says_so_and_continues(tmp_path, number, moment):
    (tmp_path / "mine.yaml").write_text(CONFIG)
    people(n=100).to_csv(tmp_path / "p.csv", index=False)
    env = {"PYTHONPATH": str(REPOSITORY / "workflow"), "PATH": os.environ["PATH"]}
    options = {"cwd": tmp_path, "env": env | {"HOME": str(tmp_path)}, "text": True}
    process = subprocess.Popen(COMMAND, **options, stderr=-1, stdout=-1, start_new_session=True)
    with process:
        if moment:
            assert moment in process.stderr.readline()
        else:  # while it imports or plans
            while not (tmp_path / ".snakemake").is_dir():
                assert process.poll() is None
        os.killpg(process.pid, number)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number
    last = f"error: the run was stopped by the signal {number.name}; finished results are kept"
    assert said.strip().splitlines()[-1].startswith(last)
    assert "memory" not in said and "defect" not in said and "Traceback" not in said
    subprocess.run(COMMAND, **options, check=True)
    stopped = Checkout(tmp_path).results()
    (tmp_path / "results").rename(tmp_path / "former")
    subprocess.run(COMMAND, **options, check=True)
    assert stopped == Checkout(tmp_path).results()
