"""Run a stage: ``python -m evenhand.core.run slguset.apply_filters --help``."""

import sys

from evenhand.core import stage

if __name__ == "__main__":
    stage.run(*sys.argv[1:] or sys.exit(__doc__))
