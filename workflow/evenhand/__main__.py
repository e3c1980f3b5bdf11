"""The command line: ``python -m evenhand``, the same as ``evenhand``."""

from evenhand.cli import main

if __name__ == "__main__":
    main()
