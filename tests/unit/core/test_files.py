"""Digests of content, and outputs that are whole or absent."""

import os
from pathlib import Path

import pytest

from evenhand.core import files
from evenhand.core.inputs import Checksums, named_in_results
from evenhand.errors import InputError


def folder_of(path: Path, **texts: str) -> Path:
    for name, text in texts.items():
        file = path / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return path


def test_the_digest_of_a_folder_goes_by_names_and_contents(tmp_path):
    first = files.content_digest(folder_of(tmp_path / "1", a="x", b__c="y"))
    assert files.content_digest(folder_of(tmp_path / "2", b__c="y", a="x")) == first
    for number, other in enumerate(
        ({"a": "x"}, {"a": "y", "b__c": "x"}, {"a": "x", "b__d": "y"}, {"a": "x", "c": "y"})
    ):
        assert files.content_digest(folder_of(tmp_path / f"other{number}", **other)) != first


def test_snakemake_s_timestamp_and_partial_files_do_not_count(tmp_path):
    folder = folder_of(tmp_path / "1", a="x", b__c="y")
    before = files.content_digest(folder)
    (folder / ".snakemake_timestamp").touch()
    files.partial_path(folder / "d").write_text("z")
    assert files.content_digest(folder) == before


@pytest.mark.parametrize("content", ["", "{", "[1]", "3", '{"a": [1, 2, 3, 4, ""]}'])
def test_a_damaged_store_of_checksums_is_ignored(tmp_path, content):
    store, file = tmp_path / "checksums.json", tmp_path / "a"
    store.write_text(content)
    file.write_text("text")
    checksums = Checksums(store)
    assert checksums(str(file)) == files.content_digest(file)
    checksums.save()  # without an error


@pytest.mark.parametrize("digest", [files.content_digest, lambda path: Checksums()(str(path))])
def test_what_is_no_file_counts_by_its_name_and_kind(tmp_path, digest):
    folder = folder_of(tmp_path / "1", a="x")
    target = folder_of(tmp_path / "2", b="y")
    found = [digest(folder)]
    os.mkfifo(folder / "one")
    found.append(digest(folder))
    (folder / "one").rename(folder / "two")
    found.append(digest(folder))
    (folder / "two").unlink()
    (folder / "two").symlink_to(target)
    found.append(digest(folder))
    (folder / "two").unlink()
    (folder / "two").write_text("")
    found.append(digest(folder))
    assert len({*found}) == len(found)
    (folder / "two").unlink()
    assert digest(folder) == found[0]


def test_a_name_cannot_pass_for_content(tmp_path):
    one = folder_of(tmp_path / "1", ab="", c="")
    two = folder_of(tmp_path / "2", a="b", c="")
    assert files.content_digest(one) != files.content_digest(two)


def test_remove_takes_files_folders_links_and_nothing(tmp_path):
    kept = folder_of(tmp_path / "kept", a="x")
    (tmp_path / "link").symlink_to(kept)
    (tmp_path / "file").write_text("x")
    folder_of(tmp_path / "folder", a__b="x")
    for name in ("link", "file", "folder", "nothing"):
        files.remove(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (kept / "a").read_text() == "x"


@pytest.mark.parametrize("before", ["nothing", "file", "empty", "folder"])
def test_replace_puts_a_folder_or_a_file_over_a_former_one(tmp_path, before):
    target = tmp_path / "target"
    if before == "file":
        target.write_text("old")
    if before in ("empty", "folder"):
        target.mkdir()
        (target / ".snakemake_timestamp").touch()
    if before != "folder":
        source = tmp_path / "source"
        source.write_text("new")
        files.replace(source, target)
        assert target.read_text() == "new"
    else:
        folder_of(target, new="old")
    files.replace(folder_of(tmp_path / "source", new="x"), target)
    assert [path.name for path in target.iterdir()] == ["new"]
    assert (target / "new").read_text() == "x"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_replace_removes_no_folder_of_somebody_else_s(tmp_path, kind):
    home = folder_of(tmp_path / "home", thesis="years", new="old")
    source = tmp_path / "source"
    source.write_text("new") if kind == "file" else folder_of(source, new="x")
    with pytest.raises(InputError, match=r"holds '(new|thesis)', which is none of what is written"):
        files.replace(source, home)
    assert (home / "thesis").read_text() == "years"
    assert (home / "new").read_text() == "old"


def test_atomic_makes_the_file_appear_at_the_end(tmp_path):
    path = tmp_path / "deep" / "a.txt"
    with files.atomic(path) as partial:
        partial.write_text("x")
        assert not path.exists()
    assert path.read_text() == "x"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_atomic_keeps_the_former_file_when_the_block_fails(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("former")
    with pytest.raises(error), files.atomic(path) as partial:
        partial.write_text("half")
        raise error
    assert path.read_text() == "former"
    assert list(tmp_path.iterdir()) == [path]


def test_small_files_are_copied_and_large_ones_linked(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LINK_FROM_BYTES", 10)
    source = folder_of(tmp_path / "source", small="x" * 9, deep__large="x" * 10)
    files.link_or_copy(source, tmp_path / "target")
    for name, shared in (("small", False), ("deep/large", True)):
        assert (source / name).samefile(tmp_path / "target" / name) is shared
        assert (source / name).read_bytes() == (tmp_path / "target" / name).read_bytes()


def test_a_file_that_cannot_be_linked_is_copied(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(files, "LINK_FROM_BYTES", 0)
    monkeypatch.setattr(files.os, "link", refuse)
    (tmp_path / "a").write_text("x")
    files.link_or_copy(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "x"
    assert not (tmp_path / "a").samefile(tmp_path / "b")


def test_what_a_configuration_names_in_the_folder_of_results():
    models = {"a": {"path": "out/m/"}, "b": {"path": "outer/m"}}
    config = {"results": "out", "models": models, "files": ["out/*.csv", "<results>/x", 1, None]}
    assert named_in_results(config) == ["out/m", "out/*.csv"]
