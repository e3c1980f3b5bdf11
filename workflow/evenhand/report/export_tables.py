"""Stage: copies of the result tables for spreadsheets, papers and repositories."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.core.stage import Input, Output
from evenhand.core.tables import read_package
from evenhand.errors import InputError
from evenhand.io.sheets import guarded
from evenhand.report.read import read_json
from evenhand.report.render import stem, visible

#: A LaTeX table with more rows breaks over pages.
PAGE_ROWS = 40

#: Characters that Markdown, or the HTML inside it, could read as markup. An underscore inside a
#: word is none.
_MARKDOWN = re.compile(r"[\\`*\[\]<>|&~]|(?<!\w)_|_(?!\w)")


def export_tables(
    *,
    tables: list[Input],
    files: list[str],
    out: Output,
    provenance: Input | None = None,
    rows: int = 1000,
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
        The numbers of tables and paths differ, two would get the same name, or a file is no table.
    """
    if len(tables) != len(files):
        raise InputError("there is not one path for each table")
    both = [
        pair
        for path, file in zip(tables, files, strict=True)
        for pair in ([(path / name, f"{file}/{name}") for name in _csvs(path)] or [(path, file)])
    ]
    tables, files = [path for path, _ in both], [file for _, file in both]
    stems = [stem(file) for file in files]
    if twice := {name for name in stems if stems.count(name) > 1}:
        raise InputError(f"two tables would be called {min(twice)}")
    stages = _stages(provenance) if provenance else {}
    Path(out).mkdir(parents=True, exist_ok=True)
    if notice:
        (Path(out) / "NOTICE.txt").write_text(f"{notice}\n", encoding="utf-8")
    counts = {"tables": len(tables), "rows": 0, "shortened": 0}
    for path, file, name in zip(tables, files, stems, strict=True):
        header, body = _read(path)
        _write_csv(Path(out) / f"{name}.csv", header, body)
        numeric = [_is_numeric([row[i] for row in body]) for i in range(len(header))]
        shown = [
            [
                _rounded(cell) if is_number else _line(cell)
                for cell, is_number in zip(row, numeric, strict=True)
            ]
            for row in body[:rows]
        ]
        head = [_line(cell) for cell in header]
        origin = file
        if made_by := stages.get((Path(file).name, content_digest(path))):
            origin += f", made by {made_by}"
        limit = ""
        if len(body) > rows:
            limit = f"The first {rows:,} of {len(body):,} rows; {name}.csv holds all of them."
        latex = _latex(head, shown, numeric)
        lines = [f"% {_line(one)}\n" for one in (notice, origin, limit) if one]
        (Path(out) / f"{name}.tex").write_text("".join(lines) + latex, encoding="utf-8")
        markdown = _markdown(head, shown, numeric) + "".join(
            f"\n{_plain(one)}\n" for one in (limit, notice) if one
        )
        (Path(out) / f"{name}.md").write_text(markdown, encoding="utf-8")
        counts["rows"] += len(body)
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


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table."""
    if path.suffix == ".json":
        return ["field", "value"], [[field, value] for field, value in _fields(read_json(path))]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        header = next(reader, None)
        if not header:
            raise InputError("is empty; a table has a header", file=path)
        body = []
        for row in reader:
            if len(row) != len(header):
                raise InputError(
                    f"has {len(row)} cells where the header has {len(header)}",
                    file=path,
                    line=reader.line_num,
                )
            body.append(row)
    return header, body


def _fields(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of a document, each with its path."""
    inside = field and f"{field}."
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _fields(one, f"{inside}{name}")
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for number, one in enumerate(value, start=1):
            yield from _fields(one, f"{inside}{number}")
    else:
        yield field, "; ".join(map(_text, value)) if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    """Return a value in the format of the tables of results."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _write_csv(path: Path, header: list[str], body: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)  # ends lines with CR LF, and so quotes a cell with either
        for row in [header, *body]:
            writer.writerow([cell if _is_number(cell) else guarded(cell) for cell in row])


def _is_number(text: str) -> bool:
    return (
        re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?inf|nan", text, re.ASCII)
        is not None
    )


def _is_numeric(cells: list[str]) -> bool:
    """Return whether a column contains only numbers and blanks."""
    return any(cells) and all(_is_number(cell) for cell in cells if cell)


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
    lines = [[_plain(cell) for cell in row] for row in (header, *body)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [lines[0], rule, *lines[1:]])


def _plain(text: str) -> str:
    """Return the text with Markdown's special characters escaped."""
    entities = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return _MARKDOWN.sub(lambda found: entities.get(found[0], "\\" + found[0]), text)


if __name__ == "__main__":
    stage.run(export_tables)
