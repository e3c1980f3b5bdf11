"""The mirror and the network; the network is a server on 127.0.0.1 that can misbehave."""

import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.io.fetch_source import fetch_source

DATA = os.urandom(300_000)
SUM = hashlib.sha256(DATA).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `data`; breaks the first `breaks` answers off after `break_after` bytes."""

    data = DATA
    breaks = 0
    break_after = 100_000
    busy = 0
    ranges = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/data.bin"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        wanted = self.headers["Range"]
        server.asked.append(wanted)
        if server.busy:
            server.busy -= 1
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path != "/data.bin":
            self.send_error(404)
            return
        first = 0
        if wanted and server.ranges:
            first = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if first >= len(server.data):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(server.data)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(server.data) - first))
        self.end_headers()
        rest = server.data[first:]
        if server.breaks:
            server.breaks -= 1
            rest = rest[: server.break_after]
            self.close_connection = True
        self.wfile.write(rest)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENHAND_MIRROR", raising=False)


def fetch(out: Path, **changes: object) -> dict:
    arguments = {"name": "news", "file": "data.bin", "sha256": SUM, "out": out, "pause": 0.0}
    arguments["record"] = out.with_name("data.bin.sha256")
    return fetch_source(**(arguments | changes))


def test_the_mirror_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "mirror/b/deep/data.bin"
    place.parent.mkdir(parents=True)
    place.write_bytes(DATA)
    os.utime(place, (1, 1))
    out = tmp_path / "out.bin"
    found = fetch(out, mirror=tmp_path / "mirror", url="http://127.0.0.1:1/data.bin", licence="MIT")
    assert out.read_bytes() == DATA
    assert found == {"bytes": len(DATA), "licence": "MIT", "from": "mirror"}
    assert place.stat().st_mtime == 1
    monkeypatch.setenv("EVENHAND_MIRROR", str(tmp_path / "mirror"))
    assert fetch(tmp_path / "again.bin", offline=True)["from"] == "mirror"


def test_a_wrong_sum_in_the_mirror_names_both(tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"other")
    other = hashlib.sha256(b"other").hexdigest()
    with pytest.raises(InputError) as caught:
        fetch(tmp_path / "out.bin", mirror=tmp_path, offline=True, url="http://127.0.0.1:1/")
    assert other in str(caught.value)
    assert SUM in str(caught.value)


def test_offline_and_absent_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no data\.bin, and the run is offline; put data\.bin"):
        fetch(tmp_path / "out.bin", mirror=tmp_path, offline=True, url="http://127.0.0.1:1/")
    with pytest.raises(
        InputError, match=r"none is set\) has no data\.bin, and the source has no URL"
    ):
        fetch(tmp_path / "out.bin")
    with pytest.raises(InputError, match="the mirror is no folder"):
        fetch(tmp_path / "out.bin", mirror=tmp_path / "nowhere")


def test_a_download(tmp_path: Path, server: Server) -> None:
    out = tmp_path / "out.bin"
    assert fetch(out, url=server.url, sha256=SUM.upper())["from"] == "url"
    assert out.read_bytes() == DATA
    record = tmp_path / "data.bin.sha256"
    assert record.read_text(encoding="utf-8") == f"{SUM}  data.bin\n"
    assert {*tmp_path.iterdir()} == {out, record}
    assert server.asked == [None]


def test_a_broken_download_is_taken_up_where_it_broke(tmp_path: Path, server: Server) -> None:
    server.breaks = 2
    out = tmp_path / "out.bin"
    fetch(out, url=server.url)
    assert out.read_bytes() == DATA
    assert server.asked == [None, "bytes=100000-", "bytes=200000-"]


def test_a_busy_server_is_asked_again_and_one_without_ranges_anew(
    tmp_path: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.breaks, server.ranges, server.busy = 1, False, 2
    out = tmp_path / "out.bin"
    fetch(out, url=server.url)
    assert out.read_bytes() == DATA
    assert server.asked == [None, None, None, "bytes=100000-"]
    assert capsys.readouterr().err.count(f"{server.url}: ") == 3


def test_the_next_run_goes_on(tmp_path: Path, server: Server) -> None:
    server.breaks, server.break_after = 99, 10_000
    out = tmp_path / "out.bin"
    with pytest.raises(InputError, match=r"in 6 attempts.*run again"):
        fetch(out, url=server.url)
    assert not out.exists()
    server.breaks = 0
    fetch(out, url=server.url)
    assert out.read_bytes() == DATA
    assert server.asked[-1] == "bytes=60000-"


def test_a_remainder_of_another_file_is_dropped(tmp_path: Path, server: Server) -> None:
    (tmp_path / f".download-{SUM[:16]}").write_bytes(DATA + b"more")
    out = tmp_path / "out.bin"
    fetch(out, url=server.url)
    assert out.read_bytes() == DATA


def test_a_wrong_sum_names_both_and_leaves_nothing(tmp_path: Path, server: Server) -> None:
    server.data = b"something else"
    with pytest.raises(InputError) as caught:
        fetch(tmp_path / "out.bin", url=server.url)
    assert hashlib.sha256(server.data).hexdigest() in str(caught.value)
    assert SUM in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_addresses_that_lead_nowhere(tmp_path: Path, server: Server) -> None:
    with pytest.raises(InputError, match=r"404.*check the address"):
        fetch(tmp_path / "out.bin", url=server.url + "x")
    with pytest.raises(InputError, match="check the address"):
        fetch(tmp_path / "out.bin", url="no-address")


# ---------------------------------------------------------------- without a checksum


def test_later_copies_must_be_the_first_one(tmp_path, server, capsys):
    first = tmp_path / "data.bin"
    assert fetch(first, sha256="", url=server.url)["from"] == "url"
    assert first.read_bytes() == DATA
    assert (tmp_path / "data.bin.sha256").read_text(encoding="utf-8") == f"{SUM}  data.bin\n"
    words = capsys.readouterr().err
    assert "warning: news has no checksum in the table of sources" in words and SUM in words
    first.unlink()
    server.data = b"something else"
    with pytest.raises(InputError) as caught:
        fetch(first, sha256="", url=server.url)
    assert hashlib.sha256(server.data).hexdigest() in str(caught.value)
    assert f"not {SUM}; see whether the source has changed; to accept" in str(caught.value)
    fetch(first, sha256=hashlib.sha256(server.data).hexdigest(), url=server.url)
    assert first.read_bytes() == server.data
    assert "warning" not in capsys.readouterr().err


def test_a_part_of_an_unknown_file_is_not_taken_up_by_another_run(tmp_path, server):
    (tmp_path / ".download-first").write_bytes(b"of an older file")
    server.breaks = 1
    fetch(tmp_path / "out.bin", sha256="", url=server.url)
    assert (tmp_path / "out.bin").read_bytes() == DATA
    assert server.asked == [None, "bytes=100000-"]


def test_an_unknown_source_in_the_mirror(tmp_path):
    out, mirror = tmp_path / "out.bin", tmp_path / "mirror"
    for name in ("a", "b"):
        (mirror / name).mkdir(parents=True)
        (mirror / name / "data.bin").write_bytes(DATA)
    assert fetch(out, sha256="", mirror=mirror, offline=True)["from"] == "mirror"
    (mirror / "b/data.bin").write_bytes(b"other")
    fetch(out, sha256="", mirror=mirror, offline=True)  # the record tells which
    assert out.read_bytes() == DATA
    (tmp_path / "data.bin.sha256").unlink()
    with pytest.raises(InputError, match=r"mirror has 2 different files data\.bin; enter the"):
        fetch(out, sha256="", mirror=mirror)
    (tmp_path / "data.bin.sha256").write_text("abc  data.bin\n")
    with pytest.raises(InputError, match="'abc' is no SHA-256; enter 64 hex digits"):
        fetch(out, sha256="", mirror=mirror)


def test_the_record_outlives_the_cache_and_the_file(tmp_path, server, monkeypatch):
    """Snakemake removes the outputs that it knows of before a job; the record is none of them."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    arguments = {"name": "news", "file": "data.bin", "url": server.url}
    for folder in ("one", "two"):
        out = tmp_path / folder / "data.bin"
        outputs = {"out": out, "record": out.with_name("data.bin.sha256")}
        stage.execute(fetch_source, arguments | outputs)
        assert outputs["record"].read_text(encoding="utf-8") == f"{SUM}  data.bin\n"
    assert server.asked == [None]
    monkeypatch.setenv("EVENHAND_CACHE", "")
    out.unlink()
    server.data = b"other"
    with pytest.raises(InputError, match="see whether the source has changed"):
        stage.execute(fetch_source, arguments | outputs)
