"""The run cache: the outputs of stages by code, parameters and inputs.

One folder per entry, ``{cache}/{first two digits}/{key}/``, with the outputs by name and an
``entry.json`` that holds the record of the run and a SHA-256 per output. An entry appears
by one rename, so it is whole or absent; it is checked against its sums each time it is
used, and removed if it is damaged. Several users can share a folder; one without write
permission is only read, and a stage never fails because of its cache.

``python -m evenhand.core.cache list|prune|clear`` maintains it.
"""

import contextlib
import errno
import json
import os
import shutil
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from evenhand.core.files import content_digest, link_or_copy, partial_path, remove, replace

ENTRY = "entry.json"


def restore(cache: Path, key: str, outputs: dict[str, Path]) -> dict[str, Any] | None:
    """Restore an entry's files to `outputs` (path by name); return its record, or None."""
    folder = _folder(cache, key)
    partials = {name: partial_path(path) for name, path in outputs.items()}
    try:
        if not folder.is_dir():
            return None
        entry = json.loads((folder / ENTRY).read_text(encoding="utf-8"))
        record = dict(entry["record"])
        if entry["key"] != key or set(entry["digests"]) != set(outputs):
            raise ValueError("it belongs to another run")
        for name, path in outputs.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(folder / name, partials[name])
            if content_digest(partials[name]) != entry["digests"][name]:
                raise ValueError(f"{name} does not match its checksum")
        for name, path in outputs.items():
            replace(partials[name], path)
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        _discard(folder, str(error))
        return None
    except OSError as error:  # a full disk or a forbidden file does not invalidate the entry
        _report(f"entry {key} cannot be read: {error}")
        return None
    finally:
        for partial in partials.values():
            remove(partial)
    with contextlib.suppress(OSError):  # another user's entry may not be ours to touch
        os.utime(folder)
    return record


def store(cache: Path, key: str, outputs: dict[str, Path], record: dict[str, Any]) -> None:
    """Store finished outputs (path by name) under `key`; an existing entry stays.

    A folder without write permission is left unchanged, with a message to stderr.
    """
    folder = _folder(cache, key)
    building = folder.with_name(f".building-{uuid.uuid4().hex}")
    try:
        if folder.exists():
            return
        building.mkdir(parents=True)
        for name, path in outputs.items():
            link_or_copy(path, building / name)
        entry = {
            "key": key,
            "digests": {name: content_digest(building / name) for name in outputs},
            "record": record,
        }
        text = json.dumps(entry, ensure_ascii=False, sort_keys=True, indent=1)
        (building / ENTRY).write_text(text, encoding="utf-8")
        building.rename(folder)
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:  # else another process finished the same entry first
            _report(f"nothing is kept: {error}")
    finally:
        shutil.rmtree(building, ignore_errors=True)


def entries(cache: Path) -> list[dict[str, Any]]:
    """Return all entries, least recently used first: key, stage, bytes, used (seconds since 1970).

    The stage of a damaged entry, which would not be served, is `broken`.
    """
    listed = []
    for folder in cache.glob("??/[!.]*"):
        try:
            size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
            used = folder.stat().st_mtime
        except FileNotFoundError:  # removed by another user meanwhile
            continue
        try:
            stage = str(json.loads((folder / ENTRY).read_text(encoding="utf-8"))["record"]["stage"])
        except (OSError, ValueError, KeyError, TypeError):
            stage = "broken"
        listed.append({"key": folder.name, "stage": stage, "bytes": size, "used": used})
    return sorted(listed, key=lambda e: (e["used"], e["key"]))


def prune(cache: Path, limit: int) -> tuple[int, int]:
    """Remove least recently used entries until `limit` bytes stay: (entries, bytes) removed."""
    listed = entries(cache)
    total = sum(entry["bytes"] for entry in listed)
    count = freed = 0
    for entry in listed:
        if total - freed <= limit:
            break
        if _discard(_folder(cache, entry["key"])):
            count, freed = count + 1, freed + entry["bytes"]
    for building in cache.glob("??/.building-*"):
        if time.time() - building.stat().st_mtime > 86_400:  # its writer was killed
            shutil.rmtree(building, ignore_errors=True)
    return count, freed


def _folder(cache: Path, key: str) -> Path:
    return cache / key[:2] / key


def _discard(folder: Path, reason: str | None = None) -> bool:
    """Rename an entry in one step, then remove it; return whether that was possible."""
    if reason:
        _report(f"entry {folder.name} is not used: {reason}")
    doomed = folder.with_name(f".building-{uuid.uuid4().hex}")
    try:
        folder.rename(doomed)
    except OSError:
        return False  # another user's, or already gone
    shutil.rmtree(doomed, ignore_errors=True)
    return True


def _report(message: str) -> None:
    print(f"run cache: {message}", file=sys.stderr)


def main() -> None:
    """The command line: list, prune to a size, clear."""
    from cyclopts import App

    app = App(name="evenhand.core.cache", help="Show and tend the run cache.")

    @app.command(name="list")
    def list_(folder: Path) -> None:
        """Print one line per entry: last use, size, stage, key."""
        listed = entries(folder)
        for entry in listed:
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry["used"]))
            print(f"{used}  {entry['bytes'] / 1e6:10.2f} MB  {entry['stage']}  {entry['key']}")
        print(f"{len(listed)} entries, {sum(e['bytes'] for e in listed) / 1e6:.2f} MB in {folder}")

    @app.command(name="prune")
    def prune_(folder: Path, *, megabytes: float) -> None:
        """Remove the least recently used entries until the rest fits into so many MB."""
        count, freed = prune(folder, int(megabytes * 1e6))
        print(f"removed {count} entries, {freed / 1e6:.2f} MB")

    @app.command
    def clear(folder: Path) -> None:
        """Remove every entry."""
        count, freed = prune(folder, -1)
        print(f"removed {count} entries, {freed / 1e6:.2f} MB")

    app()


if __name__ == "__main__":
    main()
