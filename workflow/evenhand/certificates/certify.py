"""Stage: run every method on problems with planted truth, and test whether it finds the truth.

A problem is a module of `evenhand.certificates.problems` with ``TABLE``, ``rows(study)``, which
yields its rows (or raises `NotApplicable`), and ``findings(rows)``, which yields the measurements
of each method and the required bounds (`Finding`). It lists the methods of its family itself, so
that new methods are certified without further code.
"""

import tempfile
from pathlib import Path
from typing import Annotated, Any

from evenhand.certificates import problems as family
from evenhand.certificates.study import CERTIFICATE, Finding, Known, KnownFailure, Study, judge
from evenhand.core.families import load_members
from evenhand.core.resources import read_resource
from evenhand.core.scratch import scratch_folder
from evenhand.core.stage import Count, Input, Output, Setting, checked
from evenhand.core.tables import NotApplicable, Row, Table, read_tables, write_tables
from evenhand.errors import InputError


@checked
def certify(
    *,
    resources: Input,
    out: Output,
    seeds: Count = 5,
    problems: list[str] | None = None,
    former: Input | None = None,
    work: Annotated[Path | None, Setting] = None,
) -> dict[str, Any]:
    """Run every method on problems with planted truth, and test whether it finds the truth.

    Parameters
    ----------
    resources : path
        The folder ``resources`` of the repository; ``planted/known_failures.csv`` lists the known
        failures.
    out : path
        Folder of tables: one per problem, and ``certificate`` with the verdict on each measure.
    seeds : int
        Number of seeds of each planted model.
    problems : list of str, optional
        Names of `evenhand.certificates.problems`; all by default.
    former : path, optional
        A certificate, perhaps that at `out`, whose rows of other problems are kept. They are judged
        anew by the known failures.
    work : path, optional
        Folder for trained models and scores, which later runs reuse.

    Returns
    -------
    dict
        failed (measures outside their bounds that are not known failures), stale (known failures
        that now pass) and the number of rows of each table.
    """
    members = {item.__name__.rpartition(".")[2]: item for item in load_members(family)}
    for name in problems or ():
        if name not in members:
            raise InputError(f"there is no problem {name!r}", remedy=f"use {', '.join(members)}")
    failures = read_known(resources / "planted/known_failures.csv")
    before = read_tables(former) if former else {}
    tables: list[tuple[Table, list[Row]]] = []
    left_out: dict[str, str] = {}
    verdicts: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        place = work or scratch_folder() or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        study = Study(resources, place, seeds=tuple(range(seeds)))
        for name, problem in members.items():
            if name in (problems or members):
                try:
                    rows = list(problem.rows(study))
                except NotApplicable as reason:
                    left_out[name] = str(reason)
                    continue
                findings = list(problem.findings(rows))
            elif rows := before.get(problem.TABLE.name):
                if list(rows[0]) != problem.TABLE.header:
                    what = f"has other columns than the problem {name} has now"
                    raise InputError(what, file=former, remedy=f"run {name} too")
                former_rows = (row for row in before[CERTIFICATE.name] if row["problem"] == name)
                findings = [
                    Finding(*(row[part] for part in Finding._fields)) for row in former_rows
                ]
            else:
                continue
            tables.append((problem.TABLE, rows))
            verdicts += (judge(name, item, failures) for item in findings)
    counts = write_tables(out, [(CERTIFICATE, verdicts), *tables], left_out)
    return {"failed": failed(verdicts), "stale": stale(verdicts, failures), "rows": counts}


def read_known(path: Path) -> Known:
    """Read the known failures."""
    columns = ["problem", "method", "measure"]
    every = [*columns, "least", "reason"]
    rows = read_resource(path, every, optional=["least"], unique=tuple(columns))
    return {
        tuple(row[name] for name in columns): KnownFailure(
            row["reason"], float(row["least"] or "-inf")
        )
        for row in rows
    }


def failed(verdicts: list[Row]) -> list[str]:
    """Return the measures that are outside their bounds and not known failures."""
    return [_named(row) for row in verdicts if row["verdict"] == "failed"]


def stale(verdicts: list[Row], known: Known) -> list[str]:
    """Return the known failures that now pass, whose rows should be removed."""
    return [
        _named(row)
        for row in verdicts
        if row["verdict"] == "certified"
        and (row["problem"], row["method"], row["measure"]) in known
    ]


def _named(row: Row) -> str:
    return f"{row['problem']}: {row['method']}: {row['measure']} is {row['found']}"
