"""Curves of trainings for TensorBoard, where it is installed."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.learning.history import SELECTIONS

#: How TensorBoard's own files begin.
EVENTS = "events.out.tfevents."


def open_board(folder: Path | None, *, goes_on: bool = False) -> Any:
    """A TensorBoard writer, or None without a folder.

    Parameters
    ----------
    folder : path or None
        Where the curves of one training lie.
    goes_on : bool
        Keep the curves that lie there, since the training goes on from a checkpoint; else they
        are of another one, and are removed.

    Raises
    ------
    InputError
        TensorBoard is not installed.
    """
    if folder is None:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InputError(
            "curves were asked for in TensorBoard's form, and it is not installed",
            remedy="run `pip install tensorboard`, or leave the option out: the history has the"
            " same numbers",
        ) from error
    for old in [] if goes_on else folder.glob(f"{EVENTS}*"):
        old.unlink()
    return SummaryWriter(str(folder))


def note_scores(board: Any, epoch: Mapping[str, Any]) -> None:
    """Note the development scores of an epoch, a row of `evenhand.learning.history.HISTORY`."""
    for name in ("dev_loss", *(f"dev_{one}" for one in SELECTIONS)):
        if epoch[name] is not None:
            board.add_scalar(name, epoch[name], epoch["steps"])


def write_curves(board: Any, history: Iterable[Mapping[str, Any]]) -> None:
    """Note a whole training that is over, and close the board; nothing without a board."""
    if board is None:
        return
    for epoch in history:
        first = epoch["steps"] - len(epoch["losses"]) + 1
        for step, loss in enumerate(epoch["losses"], start=first):
            board.add_scalar("loss", loss, step)
        note_scores(board, epoch)
    board.close()
