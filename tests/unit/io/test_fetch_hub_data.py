"""Data sets of the Hugging Face hub, from a local cache that is made here."""

from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.io.fetch_hub_data import fetch_hub_data


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Path:
    """The hub's local cache with one data set, of which one file is no table, and no connection."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    repository = tmp_path / "hub" / "datasets--made--bios"
    for branch, commit in (("main", "0123abcd"), ("refs/convert/parquet", "4567abcd")):
        (repository / "refs" / branch).parent.mkdir(parents=True, exist_ok=True)
        (repository / "refs" / branch).write_text(commit)
    for name in ("0123abcd/README.md", "0123abcd/dataset_infos.json", "4567abcd/en/train/0.parquet",
                 "4567abcd/de/train/0.parquet"):  # fmt: skip
        path = repository / "snapshots" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return repository


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))


def test_tables_are_taken_of_the_main_branch_or_of_the_conversion(tmp_path, hub):
    given = {"hub": "made/bios", "out": tmp_path / "out"}
    assert fetch_hub_data(**given) == {"commit": "4567abcd", "files": 2}
    assert files(tmp_path / "out") == ["de/train/0.parquet", "en/train/0.parquet"]
    (hub / "snapshots/0123abcd/rows.csv").write_text("text,label")
    assert fetch_hub_data(hub="made/bios", out=tmp_path / "main")["commit"] == "0123abcd"
    assert files(tmp_path / "main") == ["rows.csv"]


def test_a_revision_and_files_limit_what_is_fetched(tmp_path, hub):
    given = {"hub": "made/bios", "out": tmp_path / "out", "revision": "refs/convert/parquet"}
    assert fetch_hub_data(**given, files=["en/*/*.parquet"])["files"] == 1
    with pytest.raises(InputError, match=r"has no fr/\*\.csv on the hub; save it"):
        fetch_hub_data(**given, files=["fr/*.csv"])
    with pytest.raises(InputError, match="has no tables on the hub"):
        fetch_hub_data(hub="made/bios", out=tmp_path / "none", revision="main")


def test_a_data_set_that_cannot_be_fetched(tmp_path, hub):
    with pytest.raises(InputError, match=r"made/none is not in the hub's local cache.*check its"):
        fetch_hub_data(hub="made/none", out=tmp_path / "out")
