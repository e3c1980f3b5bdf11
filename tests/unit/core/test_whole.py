import gzip
import os
import subprocess
from pathlib import Path

import pytest

from evenhand.core import whole
from evenhand.errors import InputError


def test_text_is_read_with_its_mark_and_decompressed(tmp_path):
    (tmp_path / "a.csv").write_bytes("中\r\n".encode("utf-8-sig"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress("中".encode()))
    assert whole.read_text(tmp_path / "a.csv") == "中\r\n"
    assert whole.read_text(tmp_path / "a.csv.gz") == "中"


@pytest.mark.parametrize(
    ("file", "encoding", "name", "cell"),
    [
        ("my table.csv", "latin-1", "windows-1252", "señor"),
        ("table.csv", "cp1252", "windows-1252", "Müller – “Straße”"),
        ("table.csv", "gbk", "gb18030", "男"),
        ("table.csv.gz", "big5", "big5", "護士說她很累"),
        ("table.csv", "latin-1", "windows-1252?", "Ö"),  # too little to detect it
        ("table.csv", "latin-1", "windows-1252?", "Zoë"),
        ("table.csv", "cp850", None, "ü"),  # no character of windows-1252
    ],
)
def test_another_encoding_is_named_with_the_command_that_converts_it(
    tmp_path, file, encoding, name, cell
):
    path, new = tmp_path / "a b" / file, tmp_path / "utf8/a b" / file
    path.parent.mkdir()
    content = f"y,group\n1,{cell}\n".encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    with pytest.raises(InputError) as caught:
        whole.read_text(path)
    problem = f" but seems to be {name}"
    hint = f"; if words are wrong then, in place of {name} name the encoding of the program that"
    hint += " wrote it"
    if name is None:
        problem, name = "", "ENCODING"
        hint = "; ENCODING is that of the program that wrote it, such as windows-1252"
    elif name.endswith("?"):
        name = name.removesuffix("?")
        problem = f" but may be {name}, in which this line has {cell!r}"
        hint = f"; if that is wrong, in place of {name} name the encoding of the program that"
        hint += " wrote it"
    iconv = f"iconv -f {name} -t UTF-8"
    command = f"{iconv} '{path}' > '{new}'"
    if path.suffix == ".gz":
        command = f"gzip -dc '{path}' | {iconv} | gzip > '{new}'"
    command = f"mkdir -p '{new.parent}' && {command}"
    assert str(caught.value) == (
        f"{path}:2: is not UTF-8{problem}; save it as UTF-8,"
        f" for example by `{command}`, and name the new file{hint}."
    )
    command = command.replace("ENCODING", encoding)
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert whole.read_text(new) == f"y,group\n1,{cell}\n"


def test_a_table_that_is_joined_of_two_encodings_is_not_converted_as_one(tmp_path, monkeypatch):
    rows = "".join(f"{n},Zoé,José\n" for n in range(9))
    content = b"y,group,name\n" + rows.encode() + rows.encode("cp1252")
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_bytes(content)
    with pytest.raises(
        InputError, match=r":11: is the first of 9 lines that are not UTF-8, though 9"
    ):
        whole.read_text(Path("t.csv"))
    Path("t.csv").write_bytes(rows.encode() + b"10,Zo\xe9,b\n")
    with pytest.raises(InputError, match=r":10: is not UTF-8, though 9 of the lines beyond ASCII"):
        whole.read_text(Path("t.csv"))
    Path("t.csv").write_bytes(rows.encode("cp1252"))
    with pytest.raises(InputError, match=r"`mkdir -p utf8 && iconv .* t.csv > utf8/t.csv`"):
        whole.read_text(Path("t.csv"))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("pairs.csv", "; check the path."),  # only the ending is alike
        ("predictions.csv", "; check the path."),  # a configuration is no table
        ("laons.csv", "; did you mean {}/data/loans.csv?"),
        ("../dta/loan.csv", "; did you mean {}/data/../data/loans.csv?"),
        ("../dta/pairs.csv", "; there is no folder {}/data/../dta either; check the path."),
    ],
)
def test_the_nearest_path_is_suggested_if_it_is_alike(tmp_path, name, remedy):
    (tmp_path / "data").mkdir()
    for there in ("loans.csv", "predictions.yaml"):
        (tmp_path / "data" / there).touch()
    with pytest.raises(InputError) as caught:
        whole.check_file(tmp_path / "data" / name)
    assert str(caught.value).endswith(f"there is no such file{remedy.format(tmp_path)}")


def test_the_beginning_of_a_file_is_its_whole_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("a\nä\nü\n".encode() + b"\xff\n")
    with pytest.raises(InputError, match=r"a.csv:4: is not UTF-8"):
        whole.read_text(path)
    assert whole.read_text(path, 6) == "a\nä\n"  # ends within ü
    assert whole.read_text(path, 1) == ""


def test_bytes_that_are_no_text_have_no_command_that_converts_them(tmp_path):
    for name, kind in (("a.pkl", "a CSV or a Parquet file"), ("a.yaml", "plain text")):
        (tmp_path / name).write_bytes(b"\x80\x04\x95\0\0\xff")
        with pytest.raises(InputError, match=f"is no text; save it as {kind}"):
            whole.read_text(tmp_path / name)


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
        (lambda path: None, "there is no such file"),
        (
            lambda path: path.write_bytes(gzip.compress(b"abc")[:-9]),
            r"is no whole gzip file \(.*\); copy or write it again\.",
        ),
        (lambda path: path.write_bytes(b"abc"), "is no whole gzip file"),
        (lambda path: path.write_bytes(gzip.compress(b"a\nb\n\xff\n")), r"a.gz:3: is not UTF-8"),
        (
            lambda path: path.write_bytes(gzip.compress("ä\nä".encode()[:-1])),
            r":2: ends in the mid",
        ),
        (lambda path: path.write_bytes(gzip.compress(b"a" * 3000)), "is longer than 0 MB"),
    ],
)
def test_what_is_no_file_to_read_is_refused(tmp_path, monkeypatch, make, problem):
    monkeypatch.setattr(whole, "WHOLE_BYTES", 2000)
    make(tmp_path / "a.gz")
    with pytest.raises(InputError, match=problem):
        whole.read_text(tmp_path / "a.gz")


def test_a_missing_file_of_a_folder_that_cannot_be_listed_is_refused(tmp_path, monkeypatch):
    def refuse(folder):
        raise PermissionError(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(InputError, match="no such file; check the path"):
        whole.read_text(tmp_path / "a.csv")
