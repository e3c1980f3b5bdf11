"""A shard that takes as long as the test wants."""

import hashlib
import os
import time
from pathlib import Path
from typing import Annotated

from evenhand.core.stage import Input, Output, Setting


def part(*, source: Input, out: Output, hold: Annotated[str, Setting] = "hold") -> dict:
    """Write the digest of a file, once there is no file of its name in the folder `hold`."""
    place = Path(hold)
    (place / f"{source.stem}.{os.environ.get('SLURM_JOB_ID', 'local')}").touch()
    while (place / source.stem).exists():
        time.sleep(0.2)
    out.write_text(f"{source.stem} {hashlib.sha256(source.read_bytes()).hexdigest()}\n")
    return {"bytes": source.stat().st_size}
