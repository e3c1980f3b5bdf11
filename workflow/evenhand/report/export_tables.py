"""Stage: copies of the result tables for spreadsheets, papers and repositories."""

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.files import content_digest
from evenhand.core.stage import Count, Input, Output, checked
from evenhand.core.tables import read_package
from evenhand.errors import InputError
from evenhand.io.markdown import plain as escaped
from evenhand.io.sheets import guarded
from evenhand.report.headline import plain
from evenhand.report.read import read_json
from evenhand.report.render import stem, visible

if TYPE_CHECKING:
    import pandas as pd

#: A LaTeX table with more rows breaks over pages.
PAGE_ROWS = 40

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?inf|nan", re.ASCII)


@checked
def export_tables(
    *,
    tables: list[Input],
    files: list[str],
    out: Output,
    provenance: Input | None = None,
    rows: Count = 1000,
    notice: str = "",
) -> dict[str, Any]:
    """Write each table as CSV, LaTeX and Markdown into one folder.

    ``{stem}.csv`` contains the whole table. Text that a spreadsheet program could read as a
    formula gets an apostrophe in front; numbers stay numbers.
    ``{stem}.tex`` (packages booktabs and longtable; Chinese text needs XeLaTeX or LuaLaTeX with
    a font for it) and ``{stem}.md`` show numbers with four significant digits and the first
    `rows` rows, with a note where there are more. The stem is the path without folder
    ``tables/`` and suffix, with underscores for slashes (`evenhand.report.render.stem`).

    Parameters
    ----------
    tables : list of path
        CSV tables with a header, UTF-8; folders of declared tables; or JSON documents, which
        become tables of two columns, field (``length.mean``; parts of a list by their numbers,
        from 1) and value. A list of numbers or words is one value, with semicolons between.
    files : list of str
        The path of each table below the results, as stated in the copies.
    out : path
        The folder.
    provenance : path, optional
        ``provenance.json``: the LaTeX file states the stage that made each table.
    rows : int
        The maximum number of rows of the LaTeX and Markdown files.
    notice : str
        A notice to readers, repeated in LaTeX and Markdown; ``NOTICE.txt`` contains it once.

    Returns
    -------
    dict
        tables, rows, and shortened: how many tables have more than `rows` rows.

    Raises
    ------
    InputError
        Two tables would get the same name.
    """
    both = [
        pair
        for path, file in zip(tables, files, strict=True)
        for pair in ([(path / name, f"{file}/{name}") for name in _csvs(path)] or [(path, file)])
    ]
    stems = [stem(file) for _, file in both]
    if twice := {name for name in stems if stems.count(name) > 1}:
        raise InputError(f"two tables would be called {min(twice)}")
    stages = _stages(provenance) if provenance else {}
    out.mkdir(parents=True, exist_ok=True)
    if notice:
        (out / "NOTICE.txt").write_text(f"{notice}\n", encoding="utf-8")
    counts = {"tables": len(both), "rows": 0, "shortened": 0}
    for (path, file), name in zip(both, stems, strict=True):
        table = _read(path)
        safe = table.rename(columns=_safe).map(_safe)
        safe.to_csv(out / f"{name}.csv", index=False, encoding="utf-8-sig", lineterminator="\r\n")
        numeric = [_is_numeric(cells) for _, cells in table.items()]
        forms = [_rounded if is_number else _line for is_number in numeric]
        rounded = [
            [form(cell) for form, cell in zip(forms, row, strict=True)]
            for row in table.head(rows).to_numpy().tolist()
        ]
        header = [_line(cell) for cell in table.columns]
        origin = file
        if stage_name := stages.get((Path(file).name, content_digest(path))):
            origin += f", made by {stage_name}"
        limit = ""
        if len(table) > rows:
            limit = plain("table_first", rows=rows, total=len(table), name=name)
        comments = "".join(f"% {_line(text)}\n" for text in (notice, origin, limit) if text)
        latex = comments + _latex(header, rounded, numeric)
        (out / f"{name}.tex").write_text(latex, encoding="utf-8")
        notes = "".join(f"\n{escaped(text)}\n" for text in (limit, notice) if text)
        markdown = _markdown(header, rounded, numeric) + notes
        (out / f"{name}.md").write_text(markdown, encoding="utf-8")
        counts["rows"] += len(table)
        counts["shortened"] += bool(limit)
    return counts


def _csvs(path: Path) -> list[str]:
    """Return the tables of a folder; an empty result for a file."""
    return [f"{name}.csv" for name in read_package(path)] if path.is_dir() else []


def _stages(provenance: Path) -> dict[tuple[str, str], str]:
    """Return the stage that made each file, by the file's name and checksum."""
    return {
        (Path(entry["file"]).name, entry["sha256"]): entry["stage"]
        for entry in read_json(provenance)["files"]
        if entry["stage"]
    }


def _read(path: Path) -> "pd.DataFrame":
    """Return a table of text."""
    import pandas as pd

    if path.suffix == ".json":
        return pd.DataFrame(_fields(read_json(path)), columns=["field", "value"], dtype=str)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        header, *rows = csv.reader(stream)
    return pd.DataFrame(rows, columns=header, dtype=str)


def _fields(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of a document, each with its path."""
    inside = field and f"{field}."
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _fields(part, f"{inside}{name}")
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        for number, part in enumerate(value, start=1):
            yield from _fields(part, f"{inside}{number}")
    else:
        yield field, "; ".join(map(_text, value)) if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    """Return a value in the format of the tables of results."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _safe(cell: str) -> str:
    """Return a cell that no spreadsheet program reads as a formula."""
    return cell if _NUMBER.fullmatch(cell) else guarded(cell)


def _is_numeric(cells: Iterable[str]) -> bool:
    """Return whether a column contains only numbers and blanks."""
    values = [cell for cell in cells if cell]
    return bool(values) and all(map(_NUMBER.fullmatch, values))


def _rounded(text: str) -> str:
    """Return a number with four significant digits; integers and blanks stay."""
    if not re.search(r"[.eE]", text):
        return text
    number = float(text)
    return f"{number:.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"


def _line(text: str) -> str:
    """Return the text on one line, with its control characters visible."""
    return visible(" ".join(text.split()) if re.search(r"\s", text) else text)


def _latex(header: list[str], body: list[list[str]], numeric: list[bool]) -> str:
    import pandas as pd

    text = pd.DataFrame(body, columns=header, dtype=str).to_latex(
        index=False,
        escape=True,
        longtable=len(body) > PAGE_ROWS,
        column_format="".join("r" if is_number else "l" for is_number in numeric),
    )
    # after the end of a row, [ and * would be taken for an option of it
    return re.sub(r"^(?=[\[*])", "{}", text, flags=re.MULTILINE)


def _markdown(header: list[str], body: list[list[str]], numeric: list[bool]) -> str:
    rule = ["---:" if is_number else "---" for is_number in numeric]
    lines = [[escaped(cell) for cell in row] for row in (header, *body)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [lines[0], rule, *lines[1:]])
