"""Compare results with the checksums that were recorded: ``python -m evenhand.core.verify``.

It lists results that were changed by hand or are missing; ``--restore`` restores them from the run
cache. The next run makes a deleted deliverable again, and completes a folder; other files only
when a job needs them.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core import cache
from evenhand.core.files import content_digest
from evenhand.errors import InputError

Record = dict[str, Any]


def incomplete_folders(results: Path) -> list[str]:
    """Return the folders that lack a file which their stage wrote.

    A folder is left out if one of its other files was changed since: it may contain manual
    edits, which a new run of the stage would replace. A folder that is missing altogether is left
    out too, because the plan requests it anyway.
    """
    found = []
    for listing in sorted((results / ".evenhand" / "folders").glob("*.json")):
        document = json.loads(listing.read_text(encoding="utf-8"))
        folder, files = Path(document["folder"]), document["files"]
        there = {name for name in files if (folder / name).is_file()}
        if len(there) == len(files) or not folder.is_dir():
            continue
        if all(content_digest(folder / name) == files[name] for name in there):
            found.append(document["folder"])
    return found


def read_records(results: Path) -> Iterator[Record]:
    """Yield the record of each run in a folder of results.

    Raises
    ------
    InputError
        The folder has no records.
    """
    paths = sorted((results / ".evenhand" / "records").glob("*.json"))
    if not paths:
        raise InputError("holds no record of a run", file=results, remedy="name the results folder")
    for path in paths:
        yield json.loads(path.read_text(encoding="utf-8"))


def changed_outputs(record: Record) -> dict[str, str]:
    """Return the outputs of a recorded run that are missing or differ from their checksum."""
    found = {}
    for one in record["outputs"].values():
        path = Path(one["file"])
        if not path.exists():
            found[str(path)] = "is missing"
        elif content_digest(path) != one["sha256"]:
            found[str(path)] = "differs from its record"
    return found


def verify(results: Path, *, restore: bool = False, store: Path | None = None) -> int:
    """Print each result that differs from its record; return how many still differ at the end.

    Parameters
    ----------
    results
        The folder of results, as the configuration names it.
    restore
        Restore each from the run cache.
    store
        The run cache. The default is the one in the folder of results.
    """
    store = store or results / ".evenhand" / "cache"
    checked = missing = left = 0
    for record in read_records(results):
        outputs = {name: Path(output["file"]) for name, output in record["outputs"].items()}
        checked += len(outputs)
        changed = changed_outputs(record)
        gone = sum(not path.exists() for path in outputs.values())
        restored = bool(changed and restore and cache.restore(store, record["key"], outputs))
        missing += 0 if restored else gone
        left += 0 if restored else len(changed) - gone
        for file, what in changed.items():
            print(f"{file}: {'restored' if restored else what}")
    print(f"{checked} results checked, {left} differ" + f", {missing} are missing" * bool(missing))
    if left:
        print(
            "The run cache does not hold them: delete them and run the workflow again."
            if restore
            else "`python -m evenhand.core.verify --restore` replaces them by what was made."
        )
    return left


def main() -> None:
    """Run the command line; exit 1 if a result differs."""
    from cyclopts import App

    app = App(name="python -m evenhand.core.verify", version_flags=[])

    @app.default
    def command(
        results: Path = Path("results"), *, restore: bool = False, cache: Path | None = None
    ) -> None:
        """Compare results with the checksums that their stages recorded.

        Parameters
        ----------
        results
            The folder of results, as the configuration names it.
        restore
            Restore changed results from the run cache.
        cache
            The run cache, if it is not in the folder of results.
        """
        sys.exit(1 if verify(results, restore=restore, store=cache) else 0)

    try:
        app()
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
