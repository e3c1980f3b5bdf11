"""Curves for TensorBoard; the package itself is looked for, and not needed."""

import sys

import pytest

from evenhand.errors import InputError
from evenhand.learning.board import open_board, write_curves

EPOCHS = [
    {
        "steps": 2,
        "losses": [0.75, 0.5],
        "dev_loss": 0.625,
        "dev_macro_f1": 0.25,
        "dev_mean_group_f1": None,
        "dev_worst_group_f1": None,
    },
    {
        "steps": 4,
        "losses": [0.5, 0.25],
        "dev_loss": 0.5,
        "dev_macro_f1": 0.5,
        "dev_mean_group_f1": 0.375,
        "dev_worst_group_f1": 0.125,
    },
]


class Board:
    def __init__(self):
        self.noted, self.closed = [], False

    def add_scalar(self, name, value, step):
        self.noted.append((name, value, step))

    def close(self):
        self.closed = True


def test_only_if_asked(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert open_board(None) is None
    write_curves(None, EPOCHS)
    with pytest.raises(InputError, match=r"not installed; run `pip install tensorboard`"):
        open_board(tmp_path)


def test_a_training_that_is_over_is_noted_step_by_step():
    board = Board()
    write_curves(board, EPOCHS)
    assert board.closed
    losses = [(step, value) for name, value, step in board.noted if name == "loss"]
    assert losses == [(1, 0.75), (2, 0.5), (3, 0.5), (4, 0.25)]
    scores = {(name, step): value for name, value, step in board.noted if name != "loss"}
    assert scores == {
        ("dev_loss", 2): 0.625,
        ("dev_macro_f1", 2): 0.25,
        ("dev_loss", 4): 0.5,
        ("dev_macro_f1", 4): 0.5,
        ("dev_mean_group_f1", 4): 0.375,
        ("dev_worst_group_f1", 4): 0.125,
    }


@pytest.mark.filterwarnings("ignore")  # of packages that tensorboard brings
def test_what_is_written_is_read_by_tensorboard(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def read():
        events = EventAccumulator(str(tmp_path))
        events.Reload()
        return [(one.step, one.value) for one in events.Scalars("loss")]

    for _ in range(2):  # the second training takes the place of the first
        write_curves(open_board(tmp_path), EPOCHS)
        assert read() == [(1, 0.75), (2, 0.5), (3, 0.5), (4, 0.25)]
    later = [EPOCHS[1] | {"steps": 6}]
    write_curves(open_board(tmp_path, goes_on=True), later)
    assert read()[-3:] == [(4, 0.25), (5, 0.5), (6, 0.25)]
