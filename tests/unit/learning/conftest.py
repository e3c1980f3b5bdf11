"""Trainings that are killed, and started again."""

from types import SimpleNamespace

import pytest

from evenhand.errors import InputError
from evenhand.io import checkpoint
from evenhand.io.checkpoint import Checkpoints


class Killed(BaseException):
    """What a kill looks like from inside: nothing is tidied up."""


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """Two checks of a training, a function from the folder of its checkpoints to its result."""
    folder, steps, save = tmp_path / "kept", [], Checkpoints.save_if_due

    def killed(train, at):
        def stop(self, collect):
            save(self, collect)
            steps.append(1)
            if len(steps) == at:
                raise Killed

        monkeypatch.setattr(Checkpoints, "save_if_due", stop)
        monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
        monkeypatch.setattr(checkpoint, "SHARE", 0)
        with pytest.raises(Killed):
            train(folder)

    def goes_on(train, at):
        """Killed after `at` checkpoints it goes on to the same result, and makes no step twice."""
        with monkeypatch.context() as patch:
            count = []
            patch.setattr(Checkpoints, "save_if_due", lambda *_: count.append(1))
            whole = train(None)
        assert at < len(count), "it would not be killed"
        killed(train, at)
        assert train(folder) == whole
        assert len(steps) == len(count)

    def refused(train, *others):
        """Other trainings do not go on from its checkpoint."""
        killed(train, 1)
        for other in others:
            with pytest.raises(InputError, match="other settings or data"):
                other(folder)

    return SimpleNamespace(goes_on=goes_on, refused=refused)
