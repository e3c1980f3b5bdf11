"""The mirror and the network; the network is a server on 127.0.0.1 that can misbehave."""

import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

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
    return fetch_source(**(arguments | changes))


def test_the_mirror_comes_first(tmp_path: Path) -> None:
    place = tmp_path / "mirror/b/deep/data.bin"
    place.parent.mkdir(parents=True)
    place.write_bytes(DATA)
    os.utime(place, (1, 1))
    out = tmp_path / "out.bin"
    found = fetch(out, mirror=tmp_path / "mirror", url="http://127.0.0.1:1/data.bin", licence="MIT")
    assert out.read_bytes() == DATA
    assert found == {"bytes": len(DATA), "licence": "MIT", "from": "mirror"}
    assert place.stat().st_mtime == 1


def test_the_environment_names_a_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/data.bin").write_bytes(DATA)
    monkeypatch.setenv("EVENHAND_MIRROR", str(tmp_path / "m"))
    assert fetch(tmp_path / "out.bin", offline=True)["from"] == "mirror"


def test_a_copy_with_another_sum_is_passed_over(tmp_path: Path) -> None:
    for folder, content in (("a", b"other"), ("b", DATA)):
        (tmp_path / "m" / folder).mkdir(parents=True)
        (tmp_path / "m" / folder / "data.bin").write_bytes(content)
    out = tmp_path / "out.bin"
    fetch(out, mirror=tmp_path / "m")
    assert out.read_bytes() == DATA


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
    with pytest.raises(InputError, match="there is no mirror, and the source has no URL"):
        fetch(tmp_path / "out.bin")
    with pytest.raises(InputError, match="the mirror is no folder"):
        fetch(tmp_path / "out.bin", mirror=tmp_path / "nowhere")


def test_a_sum_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="64 hex digits"):
        fetch(tmp_path / "out.bin", sha256="abc")


def test_a_download(tmp_path: Path, server: Server) -> None:
    out = tmp_path / "out.bin"
    assert fetch(out, url=server.url, sha256=SUM.upper())["from"] == "url"
    assert out.read_bytes() == DATA
    assert list(tmp_path.iterdir()) == [out]
    assert server.asked == [None]


def test_a_broken_download_is_taken_up_where_it_broke(tmp_path: Path, server: Server) -> None:
    server.breaks = 2
    out = tmp_path / "out.bin"
    fetch(out, url=server.url)
    assert out.read_bytes() == DATA
    assert server.asked == [None, "bytes=100000-", "bytes=200000-"]


def test_without_ranges_it_starts_anew(tmp_path: Path, server: Server) -> None:
    server.breaks, server.ranges = 1, False
    out = tmp_path / "out.bin"
    fetch(out, url=server.url)
    assert out.read_bytes() == DATA
    assert len(server.asked) == 2


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


def test_what_had_come_whole_is_not_fetched_again(tmp_path: Path, server: Server) -> None:
    (tmp_path / f".download-{SUM[:16]}").write_bytes(DATA)
    out = tmp_path / "out.bin"
    fetch(out, url=server.url)
    assert out.read_bytes() == DATA
    assert server.asked == [f"bytes={len(DATA)}-"]


def test_a_remainder_of_another_file_is_dropped(tmp_path: Path, server: Server) -> None:
    (tmp_path / f".download-{SUM[:16]}").write_bytes(DATA + b"more")
    out = tmp_path / "out.bin"
    fetch(out, url=server.url)
    assert out.read_bytes() == DATA


def test_a_busy_server_is_asked_again(tmp_path: Path, server: Server) -> None:
    server.busy = 2
    fetch(tmp_path / "out.bin", url=server.url)
    assert len(server.asked) == 3


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


def test_a_sum_that_nobody_knows(tmp_path):
    out, mirror = tmp_path / "out.bin", tmp_path / "mirror"
    with pytest.raises(InputError, match=r"not known to us, so it is not fetched.*example\.org"):
        fetch(out, sha256="", url="https://example.org/data.bin")
    mirror.mkdir()
    (mirror / "data.bin").write_bytes(DATA)
    with pytest.raises(InputError, match=f"this one has SHA-256 {SUM}"):
        fetch(out, sha256="", mirror=mirror)
    assert not out.exists()
