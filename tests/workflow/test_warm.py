"""Where there are no forks; what they run is in the workflow tests, which all use them."""

import os
import subprocess
import sys
from pathlib import Path

import warm


def test_where_forks_cannot_be_waited_for_the_programs_are_themselves(monkeypatch):
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert warm.folder(-1) == Path(sys.executable).parent


def test_without_a_command_it_says_how_it_is_called():
    done = subprocess.run([sys.executable, warm.__file__], capture_output=True, text=True)
    assert done.returncode == 1 and "``python workflow/warm.py COMMAND``" in done.stderr
