import gzip
import os

import pytest

from evenhand.core import whole
from evenhand.errors import InputError


def test_text_is_read_with_its_mark_and_decompressed(tmp_path):
    (tmp_path / "a.csv").write_bytes("中\r\n".encode("utf-8-sig"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress("中".encode()))
    assert whole.read_text(tmp_path / "a.csv") == "中\r\n"
    assert whole.read_text(tmp_path / "a.csv.gz") == "中"


def make_pipe(path):
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (make_pipe, "is a pipe, socket or device; name a file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a pipe, socket or device; name a file"),
        (lambda path: path.symlink_to(path), r"cannot be read \(Too many levels"),
        (lambda path: path.symlink_to("/proc/self/mem"), r"cannot be read \(Input/output error"),
        (lambda path: path.mkdir(), "is a folder; name a file"),
        (lambda path: None, r"cannot be read \(No such file or directory\)"),
        (lambda path: path.write_bytes(gzip.compress(b"abc")[:-9]), "is no whole gzip file"),
        (lambda path: path.write_bytes(b"abc"), "is no whole gzip file"),
        (lambda path: path.write_bytes(gzip.compress(b"a\nb\n\xff\n")), r"a.gz:3: is not UTF-8"),
        (lambda path: path.write_bytes(gzip.compress(b"a" * 3000)), "is longer than 0 MB"),
    ],
)
def test_what_is_no_file_to_read_is_refused(tmp_path, monkeypatch, make, problem):
    monkeypatch.setattr(whole, "WHOLE_BYTES", 2000)
    make(tmp_path / "a.gz")
    with pytest.raises(InputError, match=problem):
        whole.read_text(tmp_path / "a.gz")
