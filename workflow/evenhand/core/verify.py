"""Compare results with the checksums that were recorded: ``evenhand verify``.

It lists results that were changed by hand or are missing, and then exits with 1; ``--restore``
restores them from the run cache. The next run makes a deleted deliverable again, and completes a
folder; other files only when a job needs them.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from evenhand.core.cache import restore as restore_outputs
from evenhand.core.files import content_digest
from evenhand.errors import InputError

Record = dict[str, Any]

#: What to do about a record that cannot be read.
DELETE_RECORD = "delete it and run the workflow again, which makes its results again"


def folder_listings(results: Path) -> dict[str, Record]:
    """Return the listing of each folder that a stage wrote, by its file name.

    One that cannot be read, as after a crash of the machine, counts as absent.
    """
    listings = {}
    for path in sorted((results / ".evenhand" / "folders").glob("*.json")):
        with suppress(ValueError):
            listings[path.name] = json.loads(path.read_bytes())
    return listings


def incomplete_folders(listings: Iterable[Record]) -> list[str]:
    """Return the folders that lack a file which their stage wrote.

    A folder is left out if one of its other files was changed since: it may contain manual
    edits, which a new run of the stage would replace. A folder that is missing altogether is left
    out too, because the plan requests it anyway.
    """
    incomplete = []
    for document in listings:
        folder, files = Path(document["folder"]), document["files"]
        present = {name for name in files if (folder / name).is_file()}
        if len(present) == len(files) or not folder.is_dir():
            continue
        if all(content_digest(folder / name) == files[name] for name in present):
            incomplete.append(document["folder"])
    return incomplete


def read_records(results: Path) -> Iterator[tuple[Path, Record]]:
    """Yield the record of each run in a folder of results, and its file; the latest first.

    A record of an earlier run is left out if a later one wrote any of the same files.

    Raises
    ------
    InputError
        The folder has no records, or one that cannot be read.
    """
    paths = sorted((results / ".evenhand" / "records").glob("*.json"))
    if not paths:
        below = sorted(path.parent for path in results.glob("*/.evenhand"))
        remedy = f"name the results folder{f', such as {below[0]}' if below else ''}"
        raise InputError("holds no record of a run", file=results, remedy=remedy)
    written: set[str] = set()
    for path in sorted(paths, key=lambda path: -path.stat().st_mtime_ns):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError("is not JSON", file=path, remedy=DELETE_RECORD) from error
        files = {output["file"] for output in record["outputs"].values()}
        if not files & written:
            yield path, record
        written |= files


def verify(
    results: Path = Path("results"), *, restore: bool = False, cache: Path | None = None
) -> int:
    """Compare results with the checksums that their stages recorded.

    Print each result that is missing or differs; return how many are left.

    Parameters
    ----------
    results
        The folder of results, as the configuration names it.
    restore
        Restore missing and changed results from the run cache.
    cache
        The run cache, if it is not in the folder of results.
    """
    cache = cache or results / ".evenhand" / "cache"
    lines: list[str] = []
    checked = missing = changed = 0
    for place, record in read_records(results):
        outputs = {name: Path(output["file"]) for name, output in record["outputs"].items()}
        checked += len(outputs)
        gone = [path for path in outputs.values() if not path.exists()]
        edited = [
            path
            for name, path in outputs.items()
            if path not in gone and content_digest(path) != record["outputs"][name]["sha256"]
        ]
        if (gone or edited) and restore and restore_outputs(cache, record["key"], outputs):
            lines += [f"{path}: restored" for path in gone + edited]
            continue
        missing += len(gone)
        changed += len(edited)
        lines += [f"{path}: is missing ({place} records it)" for path in gone]
        lines += [f"{path}: differs from its record" for path in edited]
    if missing == checked:
        print(
            f"All {checked} results are missing: is this the folder in which the run was started?"
            f" {Path.cwd()}"
        )
        return missing
    print(*sorted(lines), sep="\n", end="\n" * bool(lines))
    print(f"{checked} results checked, {changed} differ, {missing} missing")
    if (changed or missing) and not restore:
        print("`evenhand verify --restore` takes them from the run cache.")
    elif changed or missing:
        print("The run cache does not hold them: delete what differs and run the workflow again.")
    if missing:
        print("Of results that the configuration no longer makes, delete the record.")
    return changed + missing


def main() -> None:
    """Run the command line; exit 1 if a result is missing or differs."""
    from cyclopts import App

    from evenhand.core.usage import call

    app = App(name="evenhand verify", version_flags=[])
    app.default(verify)
    try:
        sys.exit(bool(call(app, sys.argv[1:])))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
