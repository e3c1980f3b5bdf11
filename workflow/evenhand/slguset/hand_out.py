"""Enter a round's sentences into the ledger, so that they are never handed out again.

``python -m evenhand.slguset.hand_out HANDED_OUT LEDGER`` is for people, not for the workflow:
the workflow must not decide that sheets were given to somebody.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from evenhand.core.files import atomic
from evenhand.errors import InputError
from evenhand.sheets.tasks import check_name, group_of, read_handed_out
from evenhand.slguset.annotation import TASK


def hand_out(handed_out: Path, ledger: Path) -> Path:
    """Copy a round's handed_out.csv into the folder of the ledger, as ``{round}.csv``.

    Parameters
    ----------
    handed_out : Path
        The handed_out.csv that was written beside the annotators' sheets.
    ledger : Path
        The folder of the ledger; it is made if there is none.

    Returns
    -------
    Path
        The ledger's file. If it was there with the same content, nothing was done.

    Raises
    ------
    InputError
        The file holds no round or more than one, the ledger has the round with other
        sentences, or one of the sentences belongs to another round already.
    """
    name, rows = group_of(handed_out, TASK)
    if not rows:
        raise InputError("has no row", file=handed_out)
    check_name(name, "round")
    target = ledger / f"{name}.csv"
    if target.exists():
        if _equal(group_of(target, TASK)[1], rows):
            return target
        raise InputError(
            f"the ledger has a round {name!r} with other content",
            file=target,
            remedy="give the new round a name of its own in the configuration",
        )
    read_handed_out([*sorted(ledger.glob("*.csv")), handed_out], TASK)
    with atomic(target) as partial:
        shutil.copyfile(handed_out, partial)
    return target


def _equal(former: dict[str, dict[str, Any]], rows: dict[str, dict[str, Any]]) -> bool:
    """Whether the rows are the same but for cells that a file of an earlier version lacks."""
    return former.keys() == rows.keys() and all(
        cell in ("", rows[key][name]) for key, row in former.items() for name, cell in row.items()
    )


def main() -> None:
    """Run the command line, which prints the ledger's file."""
    from cyclopts import App

    app = App(name="python -m evenhand.slguset.hand_out", version_flags=[])
    app.default(hand_out)
    try:
        print(app(result_action="return_value"))  # by cyclopts, a long path would be broken
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
