"""What a job sees of what its rule asked for."""

import json
import os
import subprocess

from evenhand.core.stage import Output


def seen(*, out: Output) -> dict:
    """Write the environment of the job, and its limits: Slurm's plugin hides them from it."""
    found = {k: v for k, v in os.environ.items() if k.startswith(("SLURM", "CUDA"))}
    command = ["squeue", "--noheader", "--format=%l %m", f"--jobs={found['SLURM_JOB_ID']}"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found["limit"], found["memory"] = told.split()
    out.write_text(json.dumps(found, indent=1))
    return {}
