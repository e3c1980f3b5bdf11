"""Fixtures that every test may use."""

import gc
import os
import signal

# A process of pytest for each core: with threads of its own, each would wait for the other's.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Processes buffer what they print, as those of users do.
os.environ.pop("PYTHONUNBUFFERED", None)

from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parents[1]

# A test that takes long on a busy machine is not wrong; the examples of each run are others.
settings.register_profile("untimed", deadline=None, max_examples=40, database=None)
settings.load_profile("untimed")


# Processes of tests inherit an interrupt that is ignored, as of tests in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # until all is imported


def pytest_collection_finish():
    """What has been imported by now is no garbage; whoever collects need not look at it again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of real data that EVENHAND_MIRROR names; the test is skipped without it."""
    folder = os.environ.get("EVENHAND_MIRROR")
    if not folder or not Path(folder).is_dir():
        pytest.skip("no mirror of the real data: set EVENHAND_MIRROR to its folder")
    return Path(folder)
