"""Compare two results folders: ``python -m evenhand.compare.compare_results BASE HEAD``.

It reports changes of data, configuration, code and packages, numbers that moved beyond their
noise, and whether gates hold. Exit status 0: all gates held, or there are none; 1: a gate is
broken; 2: the input cannot be compared, or a gate compares nothing. It reads the folders only,
so it is a command for people and continuous integration, not part of the workflow.
"""

import json
import sys
from pathlib import Path

from evenhand.compare import summary
from evenhand.compare.causes import find_causes
from evenhand.compare.gates import BROKEN, HELD, Gate, judge_gate, parse_gate, read_gates
from evenhand.compare.numbers import compare_tables
from evenhand.compare.results import Results
from evenhand.compare.summary import Comparison
from evenhand.core.files import atomic
from evenhand.errors import InputError


def compare_results(*, base: Path, head: Path, gates: list[Gate] | None = None) -> Comparison:
    """Compare two results folders.

    Parameters
    ----------
    base, head : Path
        The folders, before and after.
    gates : list of Gate, optional
        Conditions that must hold.

    Returns
    -------
    Comparison
        See `evenhand.compare.summary` for its forms.

    Raises
    ------
    InputError
        A folder has no provenance or no table with a row, or something in it cannot be read.
    """
    before, after = Results(base), Results(head)
    tables = compare_tables(before, after)
    return Comparison(
        (base.name, head.name),
        find_causes(before, after),
        tables,
        {"base": before.changed_since(), "head": after.changed_since()},
        [judge_gate(gate, tables) for gate in gates or []],
        after.versions,
    )


def status(found: Comparison) -> int:
    """Return the exit status: 1 if a gate is broken, 2 if one is undecided, else 0."""
    outcomes = {one.status for one in found.outcomes}
    return 1 if BROKEN in outcomes else 2 if outcomes - {HELD} else 0


def _refuse_folder(file: Path) -> None:
    """Refuse to replace a folder by a file."""
    if file.is_dir():
        raise InputError("is a folder", file=file, remedy="name a file to write to")


def main(words: list[str]) -> None:
    """Run the command line, without the program's name."""
    from cyclopts import App

    app = App(name="python -m evenhand.compare.compare_results", version_flags=[])

    @app.default
    def command(
        base: Path,
        head: Path,
        *,
        gate: list[str] | None = None,
        gates: Path | None = None,
        out: Path | None = None,
        data: Path | None = None,
    ) -> None:
        """Compare two results folders, and print a summary in Markdown.

        Exit status 0: all gates held, or there are none; 1: a gate is broken; 2: the input
        cannot be compared, or a gate compares nothing.

        Parameters
        ----------
        base
            The results before.
        head
            The results after.
        gate
            A change to refuse, TABLE:COLUMN:KEY=VALUE:DIRECTION. The direction is rose, fell or
            moved; any number of KEY=VALUE choose the rows. May be repeated.
        gates
            A YAML file with gates: a list of table, number, where and fail_if.
        out
            Write the summary to this file too.
        data
            Write everything as JSON to this file.
        """
        try:
            for file in filter(None, (out, data)):
                _refuse_folder(file)
            chosen = [parse_gate(one) for one in gate or []]
            chosen += read_gates(gates) if gates else []
            found = compare_results(base=base, head=head, gates=chosen)
        except InputError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(2)
        text = summary.markdown(found)
        print(text, end="")
        if out:
            with atomic(out) as partial:
                partial.write_text(text, encoding="utf-8")
        if data:
            with atomic(data) as partial:
                document = json.dumps(summary.document(found), ensure_ascii=False, indent=1)
                partial.write_text(document + "\n", encoding="utf-8")
        for one in found.outcomes:
            if one.status != HELD:
                print(f"gate {one.status}: {one.gate}: {one.words}", file=sys.stderr)
        sys.exit(status(found))

    app(words)


if __name__ == "__main__":
    main(sys.argv[1:])
