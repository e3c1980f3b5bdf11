import pytest

from evenhand.core.scratch import scratch_at, scratch_folder


def test_success_removes_the_folder_and_failure_keeps_it(tmp_path):
    folder = tmp_path / "scratch" / "key"
    with pytest.raises(RuntimeError), scratch_at(folder):
        (scratch_folder() / "done").write_text("half")
        raise RuntimeError
    assert scratch_folder() is None
    with scratch_at(folder):
        assert (scratch_folder() / "done").read_text() == "half"
    assert not folder.exists()


def test_the_folders_of_parts_end_with_the_whole(tmp_path):
    folder = tmp_path / "scratch"
    with scratch_at(folder):
        assert scratch_folder("one") == folder / "one"
        assert scratch_folder("one").is_dir() and scratch_folder() == folder
    assert not folder.exists()
    assert scratch_folder("one") is None
