"""Compare two results folders: ``python -m evenhand compare BASE HEAD``.

It reports changes of data, configuration, code and packages, numbers that moved beyond their
noise, and whether gates hold. Exit status 0: all gates held, or there are none; 1: a gate is
broken; 2: the input cannot be compared, or a gate compares nothing. It reads the folders only,
so it is a command for people and continuous integration, not part of the workflow.
"""

import json
import sys
from pathlib import Path

from evenhand.comparison import summary
from evenhand.comparison.causes import find_causes, other_cases, other_people
from evenhand.comparison.gates import BROKEN, HELD, Gate, judge_gate, parse_gate, read_gates
from evenhand.comparison.notes import audit_doubts, audit_notes
from evenhand.comparison.numbers import ComparedTable, compare_tables
from evenhand.comparison.results import BEFORE_TASK, TASK, open_results
from evenhand.comparison.summary import Comparison
from evenhand.core.files import atomic
from evenhand.core.usage import call
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
        See `evenhand.comparison.summary` for its forms.

    Raises
    ------
    InputError
        A folder has no provenance or no table with a row, something in it cannot be read, or the
        folders have no row in common.
    """
    before, after = open_results(base, head)
    causes = find_causes(before, after)
    tables = compare_tables(before, after, other_people(causes), other_cases(causes))
    if not any(table.compared for table in tables):
        problem = "the two results have no row in common to compare"
        raise InputError(problem, remedy=_remedy(tables))
    names = tuple(path.name if path.is_absolute() else path.as_posix() for path in (base, head))
    models = before.models()
    log_models = before.log_model(), after.log_model()
    return Comparison(
        names if names[0] != names[1] else (str(base), str(head)),
        causes,
        tables,
        {"base": before.changed_since(), "head": after.changed_since()},
        [judge_gate(gate, tables, after.versions) for gate in gates or []],
        after.versions,
        sorted(models) if models == after.models() else [],
        {"base": audit_notes(before), "head": audit_notes(after)},
        before.datasets() | after.datasets(),
        {"base": before.former, "head": after.former},
        log_models if all(log_models) else None,
        {"base": audit_doubts(before), "head": audit_doubts(after)},
    )


def _remedy(tables: list[ComparedTable]) -> str:
    """Return the remedy for tables without a common row."""
    base, head = (
        {value for table in tables for key, value in table.values[side] if key == TASK}
        for side in (0, 1)
    )
    tasks = ({name.rpartition(BEFORE_TASK)[2] for name in names} for names in (base, head))
    if base.isdisjoint(head) and set.intersection(*tasks):
        words = (
            "rows of logs are named `MODEL: TASK` where a folder has several models, else `TASK`"
        )
        return f"{words}; audit the logs of one model alone in both"
    return "compare results of the same tables, groups and methods"


def main(words: list[str]) -> None:
    """Run the command line, without the program's name."""
    from cyclopts import App

    app = App(name="evenhand compare", version_flags=[])

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
        if folder := next((path for path in (out, data) if path and path.is_dir()), None):
            raise InputError("is a folder", file=folder, remedy="name a file to write to")
        conditions = [*map(parse_gate, gate or []), *(read_gates(gates) if gates else [])]
        comparison = compare_results(base=base, head=head, gates=conditions)
        text = summary.markdown(comparison)
        document = json.dumps(summary.document(comparison), ensure_ascii=False, indent=1) + "\n"
        # on a terminal, marks need not be escaped for Markdown
        print(comparison if sys.stdout.isatty() else text, end="")
        for path, content in ((out, text), (data, document)):
            if path:
                with atomic(path) as partial:
                    partial.write_text(content, encoding="utf-8")
        outcomes = [outcome for outcome in comparison.outcomes if outcome.status != HELD]
        for outcome in outcomes:
            print(outcome, file=sys.stderr)
        broken = any(outcome.status == BROKEN for outcome in outcomes)
        sys.exit(1 if broken else 2 if outcomes else 0)

    try:
        call(app, words)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
