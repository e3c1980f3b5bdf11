"""A stage that needs memory."""

import time

from evenhand.core.stage import Output


def hog(*, out: Output, megabytes: int) -> dict:
    """Hold so much memory for a few seconds: Slurm looks once a second."""
    held = bytearray(megabytes * 10**6)
    held[::4096] = b"x" * len(held[::4096])
    time.sleep(4)
    out.write_text(f"held {len(held)}\n")
    return {}
