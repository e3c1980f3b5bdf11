"""Archives and compressed files, whole and broken."""

import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from evenhand.errors import InputError
from evenhand.io import members
from evenhand.io.members import open_members
from evenhand.io.quarantine import Quarantine

TEXT = "".join(f"第{i}行，今天天气不错。\n" for i in range(8_000)).encode()
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def read(path: Path, **options: object) -> tuple[dict[str, bytes], list[tuple]]:
    """Content by member (the folder taken off), and the quarantine's rows without details."""
    quarantine = Quarantine()
    content = {}
    for member in open_members(path, quarantine, **options):
        assert member.name not in content
        content[member.name.removeprefix(f"{path.parent}/")] = b"".join(member.chunks)
    rows = [(f.removeprefix(f"{path.parent}/"), p, u, r) for f, p, u, r, *_ in quarantine.rows()]
    return content, rows


def tar(entries: dict[str, bytes | tarfile.TarInfo]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in entries.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def special(name: str, type: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = type, link
    return info


@pytest.mark.parametrize("suffix", COMPRESS)
def test_streams_of_several_parts_are_read_to_the_end(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.txt.{suffix}"
    path.write_bytes(COMPRESS[suffix](TEXT) + COMPRESS[suffix]("尾。".encode()))
    assert read(path) == ({path.name: TEXT + "尾。".encode()}, [])


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_cut_at_every_place_loses_nothing_that_could_be_read(tmp_path: Path, suffix: str) -> None:
    text = "短短的一行。\n".encode() * 20
    whole = COMPRESS[suffix](text)
    for size in range(2, len(whole)):
        path = tmp_path / f"a.txt.{suffix}"
        path.write_bytes(whole[:size])
        content, rows = read(path)
        assert text.startswith(content[path.name])
        assert rows == [(path.name, len(content[path.name]), "byte", "truncated_archive")]


def flipped(data: bytes, place: int, mask: int = 1) -> bytes:
    changed = bytearray(data)
    changed[place] ^= mask
    return bytes(changed)


MUCH_MEMORY = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]


@pytest.mark.parametrize(
    ("suffix", "data", "text", "reasons"),
    [
        *((suffix, b"this is no compressed data at all", b"", ["broken_archive"])
          for suffix in COMPRESS),
        ("gz", flipped(gzip.compress(TEXT, mtime=0), -5), TEXT, ["broken_archive"]),
        ("zst", flipped(COMPRESS["zst"](TEXT), -1), TEXT, ["broken_archive"]),
        ("xz", lzma.compress(b"x", filters=MUCH_MEMORY), b"", ["broken_archive"]),
        ("xz", lzma.compress(b"x") + bytes(8) + lzma.compress(b"y") + bytes(4), b"xy", []),
    ],
    ids=["text", "text", "text", "flipped", "flipped", "memory", "padded"],
)  # fmt: skip
def test_odd_streams(
    tmp_path: Path, suffix: str, data: bytes, text: bytes, reasons: list[str]
) -> None:
    path = tmp_path / f"a.txt.{suffix}"
    path.write_bytes(data)
    content, rows = read(path)
    content = content[path.name]
    assert text.startswith(content) and (reasons or content == text)
    assert [(row[1], row[3]) for row in rows] == [(len(content), reason) for reason in reasons]


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tgz", "tar.xz", "tar.zst"])
def test_tar_members_come_in_the_archive_order(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    data = tar({"b/2.txt": TEXT, "./a/1.txt": b"x", "c.md": "中".encode()})
    compression = {"tgz": "gz"}.get(suffix, suffix.removeprefix("tar").removeprefix("."))
    path.write_bytes(COMPRESS[compression](data) if compression else data)
    content, rows = read(path)
    assert list(content.items()) == [
        (f"{path.name}!b/2.txt", TEXT),
        (f"{path.name}!a/1.txt", b"x"),
        (f"{path.name}!c.md", "中".encode()),
    ]
    assert rows == []


def test_members_need_not_be_read_to_come_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar({"1.txt": TEXT, "2.txt": b"second"}))
    found = {}
    for member in open_members(path, Quarantine()):
        found[member.file_name] = next(member.chunks)[:6]
    assert found["2.txt"] == b"second"


def test_unsafe_members_and_specials_of_tar_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    entries = {
        "/etc/passwd.txt": b"x",
        "../up.txt": b"x",
        "a/../../up.txt": b"x",
        "C:\\x.txt": b"x",
        "new\nline.txt": b"x",
        "soft": special("soft.txt", tarfile.SYMTYPE, "/etc/passwd"),
        "hard": special("hard.txt", tarfile.LNKTYPE, "ok.txt"),
        "fifo": special("fifo.txt", tarfile.FIFOTYPE),
        "device": special("device.txt", tarfile.CHRTYPE),
        "folder": special("folder", tarfile.DIRTYPE),
        ".hidden.txt": b"x",
        "inner.zip": b"x",
        "ok.txt": b"ok",
    }
    path.write_bytes(tar(entries))
    content, rows = read(path)
    assert content == {"a.tar!ok.txt": b"ok"}
    assert [(name, reason) for name, _, _, reason in rows] == [
        ("a.tar!/etc/passwd.txt", "unsafe_member"),
        ("a.tar!../up.txt", "unsafe_member"),
        ("a.tar!a/../../up.txt", "unsafe_member"),
        ("a.tar!C:\\x.txt", "unsafe_member"),
        ("a.tar!new\\nline.txt", "unsafe_member"),
        ("a.tar!soft.txt", "unsafe_member"),
        ("a.tar!hard.txt", "unsafe_member"),
        ("a.tar!fifo.txt", "unsafe_member"),
        ("a.tar!device.txt", "unsafe_member"),
        ("a.tar!.hidden.txt", "hidden_member"),
        ("a.tar!inner.zip", "nested_archive"),
    ]


def test_compressed_members_are_decompressed(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar({"a.txt.gz": gzip.compress(TEXT), "b.txt.gz": gzip.compress(TEXT)[:900]}))
    content, rows = read(path)
    assert content["a.tar!a.txt.gz"] == TEXT
    assert TEXT.startswith(content["a.tar!b.txt.gz"])
    assert rows == [("a.tar!b.txt.gz", len(content["a.tar!b.txt.gz"]), "byte", "truncated_archive")]


def test_a_tar_file_cut_anywhere_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    first, second = b"1" * 700, b"2" * 300
    whole = tar({"1.txt": first, "2.txt": second})
    for cut in sorted({*range(1, 5 * 512, 19), *range(511, 1030, 512), 1025, 1212, 2047}):
        path.write_bytes(whole[:cut])
        content, rows = read(path)
        assert first.startswith(content.get("a.tar!1.txt", b""))
        assert len(content.get("a.tar!1.txt", b"")) == max(0, min(700, cut - 512)), cut
        assert rows, cut
        assert {row[3] for row in rows} == {"truncated_archive"}, cut
        if 512 < cut < 512 + len(first):
            assert rows[0][:2] == ("a.tar!1.txt", cut - 512)


def test_names_in_gbk_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", encoding="gbk", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("新闻/一.txt")
        archive.addfile(info, io.BytesIO())
    zipped = tmp_path / "a.zip"
    name = "新闻/一.txt".encode("gbk").decode("cp437")
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("x" * len(name.encode("cp437")), b"1")
    raw = zipped.read_bytes().replace(b"x" * 11, name.encode("cp437"))
    zipped.write_bytes(raw)
    assert list(read(path)[0]) == ["a.tar!新闻/一.txt"]
    assert list(read(zipped)[0]) == ["a.zip!新闻/一.txt"]


def make_zip(path: Path, method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a/1.txt", TEXT)
        archive.writestr("../up.txt", b"x")
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.mkdir("folder")
        archive.writestr("2.txt", TEXT[::-1])


def test_zip_members_come_in_the_archive_order(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    make_zip(path)
    content, rows = read(path)
    assert content == {"a.zip!a/1.txt": TEXT, "a.zip!2.txt": TEXT[::-1]}
    assert rows == [
        ("a.zip!../up.txt", None, "file", "unsafe_member"),
        ("a.zip!link.txt", None, "file", "unsafe_member"),
    ]


def test_members_that_need_a_password_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("1.txt", b"x")
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert read(path) == ({}, [("a.zip!1.txt", None, "file", "encrypted_member")])


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.tar", "a.zip"])
def test_a_member_is_read_up_to_the_limit(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    inner = name
    if name == "a.zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("1.txt", TEXT)
        inner = "a.zip!1.txt"
    elif name == "a.tar":
        path.write_bytes(tar({"1.txt": TEXT}))
        inner = "a.tar!1.txt"
    else:
        path.write_bytes(gzip.compress(TEXT) if name.endswith("gz") else TEXT)
    content, rows = read(path, limit=1001)
    assert content == {inner: TEXT[:1001]}
    assert rows == [(inner, 1001, "byte", "oversized_member")]


def test_a_bomb_of_zstd_is_decompressed_piece_by_piece(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(bytes(1 << 28)))
    assert path.stat().st_size < 1 << 16
    content, rows = read(path, limit=1 << 20)
    assert len(content[path.name]) == 1 << 20
    assert [row[3] for row in rows] == ["oversized_member"]


def test_what_grows_out_of_proportion_is_cut(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(members, "GROWN", 1000)
    monkeypatch.setattr(members, "GROWTH", 10)
    compressed = gzip.compress(bytes(100_000))
    path = tmp_path / "a.tar"
    path.write_bytes(tar({"1.txt.gz": compressed, "2.txt.gz": compressed, "3.txt": b"x"}))
    content, rows = read(path)
    assert sum(map(len, content.values())) < 10 * path.stat().st_size + 1000 + 2 * members.CHUNK
    assert {row[3] for row in rows} == {"oversized_member"}
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(tar({"1.txt": b"x"}) + bytes(10_000_000)))
    content, rows = read(tmp_path / "b.tar.gz")
    assert content == {"b.tar.gz!1.txt": b"x"}
    assert [row[3] for row in rows] == ["oversized_member"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_broken_member_of_any_method_is_told(tmp_path: Path, method: int) -> None:
    path = tmp_path / "a.zip"
    make_zip(path, method)
    data = bytearray(path.read_bytes())
    data[60:70] = b"x" * 10
    path.write_bytes(data)
    content, rows = read(path)
    assert content["a.zip!2.txt"] == TEXT[::-1]
    assert ("a.zip!a/1.txt", "broken_archive") in {(row[0], row[3]) for row in rows}


def test_a_zip_file_with_a_wrong_place_or_with_overlapping_members_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("1.txt", TEXT)
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02")
    for offset in (0xFFFFFFF0, 7):
        data[entry + 42 : entry + 46] = struct.pack("<I", offset)
        path.write_bytes(data)
        assert read(path)[1] == [("a.zip!1.txt", 0, "byte", "broken_archive")]
    twice = data[: entry + 42] + bytes(4) + data[entry + 46 :]
    directory = twice[entry : twice.index(b"PK\x05\x06")]
    end = bytearray(twice[twice.index(b"PK\x05\x06") :])
    end[8:16] = struct.pack("<HHI", 2, 2, 2 * len(directory))
    path.write_bytes(twice[:entry] + directory * 2 + end)
    assert [row[3] for row in read(path)[1]] == ["broken_archive"]


@pytest.mark.parametrize(("size", "reason"), [(1000, "truncated_archive"), (3, "broken_archive")])
def test_a_zip_file_without_its_directory_is_quarantined(
    tmp_path: Path, size: int, reason: str
) -> None:
    path = tmp_path / "a.zip"
    make_zip(path)
    path.write_bytes(path.read_bytes()[:size])
    assert read(path) == ({}, [("a.zip", 0, "byte", reason)])


def pax(headers: dict[str, str], data: bytes = b"text") -> bytes:
    info = tarfile.TarInfo("a.txt")
    info.size, info.pax_headers = len(data), headers
    return tar({"0.txt": b"before"})[:1024] + info.tobuf(tarfile.PAX_FORMAT) + data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (flipped(tar({"0.txt": b"before", "2.txt": b"2"}), 1027, 0x55), "broken_archive"),
        (pax({"size": "9" * 18}), "truncated_archive"),
        (pax({"size": "-512"}), "broken_archive"),
        (pax({"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}), "broken_archive"),
        (pax({"GNU.sparse.map": "0,5", "GNU.sparse.size": "9" * 18}), "unsafe_member"),
        (pax({"GNU.sparse.map": "x"}), "broken_archive"),
        (pax({"comment": "x" * 100_000}), "broken_archive"),
        (pax({})[:1024] + special("x", tarfile.GNUTYPE_LONGNAME).tobuf() * 2000, "broken_archive"),
        (pax({})[:1024] + special("x", tarfile.GNUTYPE_SPARSE).tobuf(), "unsafe_member"),
    ],
)
def test_odd_headers_of_tar_are_told(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(data)
    content, rows = read(path)
    assert content.pop("a.tar!0.txt") == b"before"
    assert not any(b"\0" in one for one in content.values())
    assert reason in {row[3] for row in rows}


@pytest.mark.parametrize("name", ["a.txt", "a.zip", "a.tar.gz"])
def test_pipes_and_devices_are_the_users_fault(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="is a pipe, socket or device"):
        read(tmp_path / name)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.tar", "a.tar.gz", "a.zip"])
def test_empty_files_are_told(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"PK\5\6" + bytes(18) if name == "a.zip" else b"")  # without members
    content, rows = read(path)
    assert not any(content.values())
    assert rows == [(name, None, "file", "empty_file")]


def test_reads_from_the_disk_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(bytes(3 * members.CHUNK + 5))
    sizes: list[int] = []
    read(path, on_read=sizes.append)
    assert sum(sizes) == path.stat().st_size
