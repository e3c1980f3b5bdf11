import errno
import os

import pytest
import torch

from evenhand.errors import InputError
from evenhand.io import checkpoint
from evenhand.io.checkpoint import NAME, Checkpoints, random_state, set_random_state


def kept(step):
    """What might be kept: 4 MB and the step."""
    return {"weights": torch.full((1_000_000,), float(step)), "step": step, "none": None}


def restored(folder, **configuration):
    """The step that is gone on from."""
    found = Checkpoints(folder, configuration).restore()
    return found and found["step"]


def test_it_comes_back(tmp_path):
    one = Checkpoints(tmp_path, {"lr": 0.1, "layers": (1, 2)})
    assert one.restore() is None
    one.save(kept(3))
    one.save(kept(4))
    found = Checkpoints(tmp_path, {"layers": [1, 2], "lr": 0.1}).restore()
    assert (found["step"], found["none"], float(found["weights"][-1])) == (4, None, 4.0)
    assert [file.name for file in tmp_path.iterdir()] == [NAME]


def test_without_a_folder_nothing_is_kept():
    one = Checkpoints(None, {})
    one.save(kept(1))
    one.save_if_due(lambda: pytest.fail("nobody keeps this"))
    assert one.restore() is None


def test_it_is_kept_when_it_is_due(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    write = torch.save

    def slow(*given):
        now[0] += 2
        write(*given)

    monkeypatch.setattr(torch, "save", slow)
    monkeypatch.setattr(checkpoint, "SECONDS", 5)
    one = Checkpoints(tmp_path, {})
    steps = {}
    for moment in (104, 105, 146, 147, 150):
        now[0] = moment = max(now[0], moment)
        one.save_if_due(lambda moment=moment: kept(moment))
        steps[moment] = restored(tmp_path)
    # the first after five seconds; it took two, so the next one comes forty later
    assert steps == {104: None, 105: 105, 146: 105, 147: 147, 150: 147}


def test_another_configuration_is_refused(tmp_path):
    Checkpoints(tmp_path, {"lr": 0.1, "batch": 16}).save(kept(1))
    for other, named in (
        ({"lr": 0.2, "batch": 16}, "lr"),
        ({"lr": 0.1}, "batch"),
        ({"lr": 0.1, "batch": 16, "clip": None}, "clip"),
        ({"lr": {"top": 1}, "batch": 8}, "lr, batch"),
    ):
        with pytest.raises(InputError, match=f"other settings or data: {named}; remove it"):
            restored(tmp_path, **other)
    Checkpoints(tmp_path, {"settings": {"lr": 0.1, "decay": 0}}).save(kept(1))
    with pytest.raises(InputError, match=r"data: settings\.lr; remove it"):
        restored(tmp_path, settings={"lr": 0.2, "decay": 0})


@pytest.mark.parametrize("damage", ["cut", "empty", "other", "hole"])
def test_a_broken_one_is_told_and_left_out(tmp_path, capsys, damage):
    one = Checkpoints(tmp_path, {})
    one.save(kept(1))
    whole = one.file.read_bytes()
    middle = len(whole) // 2
    # blocks that a machine never wrote are zeros
    hole = whole[:middle] + bytes(4096) + whole[middle + 4096 :]
    damaged = {"cut": whole[:middle], "empty": b"", "other": b"{}", "hole": hole}
    one.file.write_bytes(damaged[damage])
    assert one.restore() is None
    assert "begins again: " in capsys.readouterr().err


def test_nothing_in_it_is_run(tmp_path):
    class Harmful:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "harm"),)

    torch.save({"configuration": "{}", "x": Harmful()}, tmp_path / NAME)
    assert restored(tmp_path) is None
    assert not (tmp_path / "harm").exists()


def test_a_full_disk_leaves_the_old_one_whole(tmp_path, monkeypatch):
    one = Checkpoints(tmp_path, {})

    def full(value, stream):
        stream.write(b"half of it")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full)
        with pytest.raises(InputError, match=r"left on device\); make room and run again\.$"):
            one.save(kept(2))
    one.save(kept(1))
    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full)
        with pytest.raises(InputError, match=r"No space left on device\); the one before it is"):
            one.save(kept(2))
    assert restored(tmp_path) == 1
    assert [file.name for file in tmp_path.iterdir()] == [NAME]


def test_what_is_random_goes_on_where_it_was(tmp_path):
    one = Checkpoints(tmp_path, {})
    one.save({"random": random_state()})
    drawn = torch.rand(3)
    set_random_state(one.restore()["random"])
    assert torch.equal(torch.rand(3), drawn)
