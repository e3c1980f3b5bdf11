"""A data source: found in the mirror or fetched from its URL, and checked either way."""

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import requests
import urllib3
from tqdm import tqdm

from evenhand.core.files import content_digest, remove
from evenhand.core.stage import Output, Range, Setting, checked
from evenhand.errors import InputError

#: Bytes read from the network at a time.
CHUNK = 1 << 18

#: How often a broken download is taken up again before the run gives up.
ATTEMPTS = 6

#: The answers of a server that is asked again later.
BUSY = (429, 500, 502, 503, 504)

#: Seconds without a byte until a connection counts as broken.
TIMEOUT = 60


@checked
def fetch_source(
    *,
    name: str,
    file: str,
    sha256: str = "",
    out: Output,
    record: Output,
    url: str | None = None,
    licence: str | None = None,
    mirror: Annotated[Path | None, Setting] = None,
    offline: Annotated[bool, Setting] = False,
    pause: Annotated[float, Setting, Range(least=0)] = 1.0,
) -> dict[str, Any]:
    """Get a data source from the mirror folder or its URL, and check it.

    The file appears whole and checked, or not at all. A download that breaks is taken up
    where it broke, in this run or the next. A source without a known checksum is checked from
    its second copy on, by the checksum of the first.

    Parameters
    ----------
    name
        The source's name in the table of sources.
    file
        Its file name, by which the mirror is searched.
    sha256
        Its SHA-256: 64 hex digits. Blank if it is not known: then the one counts that an
        earlier run left beside `out`, and without one the first copy is taken.
    out
        Where it is put: a hard link to the mirror's file where that is possible.
    record
        Its SHA-256, in the format of ``sha256sum``. It belongs beside `out`, under the name of
        `file` with ``.sha256`` behind it, where the next run looks.
    url
        Where it is fetched if the mirror lacks it.
    licence
        Its licence, for the record of the run.
    mirror
        A folder that is searched first, with all folders below; by default the one that
        the environment variable EVENHAND_MIRROR names.
    offline
        Fetch nothing.
    pause
        Seconds before the first new attempt; they double with each.
    """
    folder = mirror or os.environ.get("EVENHAND_MIRROR") or None
    recorded = out.with_name(f"{file}.sha256")
    expected = sha256.lower()
    if not expected and recorded.is_file():
        expected = recorded.read_text(encoding="utf-8").partition(" ")[0].strip()
    if expected and (len(expected) != 64 or set(expected) - set("0123456789abcdef")):
        problem = f"{name}: {expected!r} is no SHA-256"
        raise InputError(problem, remedy="enter 64 hex digits in the table of sources")
    copies = _copies(Path(folder), file) if folder else {}
    if not expected and len(copies) > 1:
        problem = f"{name}: the mirror has {len(copies)} different files {file}"
        remedy = "enter the checksum of the right one in the table of sources"
        raise InputError(problem, file=next(iter(copies.values())), remedy=remedy)
    digest = expected or next(iter(copies), "")
    offline = offline or bool(os.environ.get("EVENHAND_OFFLINE"))
    if copy := copies.get(digest):
        _link_or_copy(copy, out)
    elif offline or not url:
        reason = "the run is offline" if offline else "the source has no URL"
        others = f" with SHA-256 {expected} (but {', '.join(copies)})" if copies else ""
        raise InputError(
            f"{name}: the mirror ({folder or 'none is set'}) has no {file}{others}, and {reason}",
            remedy=f"put {file} into a folder and name that folder as the mirror"
            " (EVENHAND_MIRROR), or mend the table of sources",
        )
    else:
        part = out.with_name(f".download-{expected[:16] or 'first'}")
        digest = _download(name, url, expected, part, pause)
        part.replace(out)
    record.write_text(f"{digest}  {file}\n", encoding="utf-8")
    if not expected:
        problem = f"{name} has no checksum in the table of sources"
        remedy = f"This copy has SHA-256 {digest}, which later copies must have too."
        print(f"warning: {problem}. {remedy}", file=sys.stderr)
    place = "mirror" if copy else "url"
    return {"bytes": out.stat().st_size, "licence": licence, "from": place}


# --- the mirror ----------------------------------------------------------------------------


def _copies(folder: Path, file: str) -> dict[str, Path]:
    """Return the files of that name in a folder and below, by SHA-256."""
    if not folder.is_dir():
        raise InputError("the mirror is no folder", file=folder, remedy="mend the path to it")
    paths = sorted(path for path in folder.rglob(file) if path.is_file())
    return {content_digest(path): path for path in paths}


def _link_or_copy(source: Path, target: Path) -> None:
    """Make a hard link, whose times are left alone: they are the mirror's too."""
    remove(target)
    try:
        os.link(source, target, follow_symlinks=True)
    except OSError:
        shutil.copyfile(source, target)


# --- the network -----------------------------------------------------------------------------


def _download(name: str, url: str, expected: str, part: Path, pause: float) -> str:
    """Fetch a URL into `part`, which may hold a partial download; return its SHA-256."""
    if not expected:
        remove(part)  # without a checksum a part of another file would go unnoticed
    for attempt in range(ATTEMPTS):
        try:
            _fetch_rest(url, part)
            break
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            problem = error
            if isinstance(error, requests.HTTPError | ValueError):  # not mended by time
                remedy = "check the address, or put the file into the mirror"
                raise InputError(
                    f"{name}: cannot be fetched ({error})", file=url, remedy=remedy
                ) from error
            print(f"{url}: {error}", file=sys.stderr)
            time.sleep(pause * 2**attempt)
    else:
        raise InputError(
            f"{name}: could not be fetched in {ATTEMPTS} attempts ({problem})",
            file=url,
            remedy="run again to go on where it broke, or put the file into the mirror",
        ) from problem
    digest = content_digest(part)
    if expected and digest != expected:
        remove(part)
        raise InputError(
            f"{name}: what was fetched has SHA-256 {digest}, not {expected}",
            file=url,
            remedy="see whether the source has changed; to accept this copy, enter its checksum in"
            " the table of sources",
        )
    return digest


def _fetch_rest(url: str, part: Path) -> None:
    """Append the missing bytes to `part`; start anew if the server does not support ranges."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity", "User-Agent": "evenhand"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code in BUSY:
            raise requests.ConnectionError(f"the server answers {response.status_code}")
        if response.status_code == 416:  # no further bytes: complete, or another file
            if response.headers.get("Content-Range", "").endswith(f"/{have}"):
                return
            remove(part)
            raise requests.ConnectionError("the file has changed on the server")
        response.raise_for_status()
        resumed = response.status_code == 206
        have = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else None
        with (
            part.open("ab" if resumed else "wb") as file,
            tqdm(
                total=total,
                initial=have,
                unit="B",
                unit_scale=True,
                mininterval=0.5 if sys.stderr.isatty() else 10,
                desc="fetching",
            ) as bar,
        ):
            for chunk in response.raw.stream(CHUNK, decode_content=False):
                file.write(chunk)
                have += len(chunk)
                bar.update(len(chunk))
    if total is not None and have != total:
        raise requests.ConnectionError(f"{have} of {total} bytes came")
