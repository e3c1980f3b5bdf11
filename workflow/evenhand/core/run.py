"""Run a stage from a shell: ``python -m evenhand.core.run slguset.apply_filters --help``."""

import importlib
import sys

from evenhand.core import stage

if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit("error: name a stage, such as slguset.apply_filters")
    name = f"evenhand.{sys.argv.pop(1)}"
    stage.run(getattr(importlib.import_module(name), name.rpartition(".")[2]))
