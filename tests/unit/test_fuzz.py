"""Malformed inputs for every reader; `tests/fuzz.py` says how to run more of them."""

import subprocess
import sys


def test_no_malformed_input_hangs_or_breaks_a_reader(repository):
    command = [sys.executable, repository / "tests" / "fuzz.py", "--cases", "500", "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
