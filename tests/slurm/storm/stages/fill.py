"""A stage that needs room in its scratch folder."""

from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Output


def fill(*, out: Output) -> dict:
    """Keep some megabytes."""
    for number in range(4):
        (scratch_folder() / f"{number}").write_bytes(bytes(2**20))
    out.write_text("had room\n")
    return {}
