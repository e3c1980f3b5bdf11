"""A stage that does not end in time at first, and goes on at the second attempt."""

import time

from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Output


def slow(*, out: Output) -> dict:
    """Wait for the end of the time limit, unless an earlier attempt did."""
    done = scratch_folder() / "half"
    if not done.exists():
        done.touch()
        time.sleep(600)
    out.write_text("went on\n")
    return {}
