"""Write the sheets that annotators fill in, and a Label Studio project of the same sentences."""

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.sheets import Marked, write_csv, write_workbook
from evenhand.io.tables import read_rows
from evenhand.slguset import ledger
from evenhand.slguset.sheet_columns import COLUMNS, NOTES, TABLE
from evenhand.slguset.swap import swap

INSTRUCTIONS = "instructions.md"
LABEL_CONFIG = "label_studio.xml"


def write_sheets(
    *,
    sample: Input,
    instructions: Input,
    interface: Input,
    out: Output,
    annotators: list[str] | None = None,
) -> dict[str, Any]:
    """Write the sheets that annotators fill in, and a Label Studio project of the same sentences.

    The folder holds, for each annotator, ``{annotator}.xlsx`` (instructions in Chinese and
    English, and a table with drop-down answers) and ``{annotator}.csv`` (the same table);
    ``instructions.md``; ``label_studio.json`` (tasks to import) with ``label_studio.xml`` (the
    project's labelling interface); ``handed_out.csv``, which goes into the ledger once the
    sheets are given away. No sentence is taken for a formula by a spreadsheet program.

    Parameters
    ----------
    sample : Path
        sample.parquet.
    instructions : Path
        The template of the annotators' instructions (instructions.md.jinja).
    interface : Path
        Label Studio's labelling interface (label_studio.xml).
    out : Path
        The folder to write.
    annotators : list of str, optional
        The annotators' names, which name their files (letters, digits, underscores, dots and
        hyphens); annotator_1, annotator_2 and annotator_3 if not given.

    Returns
    -------
    dict
        sentences, annotators (how many).

    Raises
    ------
    InputError
        The annotators' names cannot name files or one stands there twice.
    """
    names = annotators or ["annotator_1", "annotator_2", "annotator_3"]
    for name in names:
        ledger.check_name(name, "annotator")
    reserved = {"handed_out", "label_studio", "instructions"}
    if len({name.lower() for name in names} - reserved) != len(names):
        raise InputError(
            f"the annotators {', '.join(names)} cannot each have a file",
            remedy=f"give each a name of its own, other than {', '.join(sorted(reserved))}",
        )
    rows = list(read_rows(sample))
    out.mkdir()
    facts = {"round": rows[0]["round"] if rows else "", "sentences": len(rows)}
    for name in names:
        write_workbook(
            out / f"{name}.xlsx",
            notes=(NOTES, _instructions(instructions, facts | {"annotator": name})),
            table=TABLE,
            columns=COLUMNS,
            rows=([cells[column.name] for column in COLUMNS] for cells in _cells(rows, name)),
        )
        write_csv(
            out / f"{name}.csv",
            [column.name for column in COLUMNS],
            ([_plain(cells[column.name]) for column in COLUMNS] for cells in _cells(rows, name)),
        )
    text = _instructions(instructions, facts | {"annotator": " / ".join(names)})
    (out / INSTRUCTIONS).write_text(text, encoding="utf-8")
    tasks = json.dumps([_task(row) for row in rows], ensure_ascii=False, indent=1)
    (out / "label_studio.json").write_text(tasks + "\n", encoding="utf-8")
    (out / LABEL_CONFIG).write_bytes(interface.read_bytes())
    ledger.write_ledger(
        out / "handed_out.csv", ([row[name] for name in ledger.COLUMNS] for row in rows)
    )
    return {"sentences": len(rows), "annotators": len(names)}


def _cells(rows: list[dict[str, Any]], annotator: str) -> Iterator[dict[str, Any]]:
    """What stands in the columns of a sheet, row by row."""
    for row in rows:
        yield {
            "rank": row["rank"],
            "sentence": Marked(row["sentence"], row["start"], row["end"]),
            "swapped_sentence": _swapped(row),
            "answer": None,
            "criterion": None,
            "comment": None,
            "annotator": annotator,
            "round": row["round"],
            "sentence_id": row["sentence_id"],
        }


def _swapped(row: dict[str, Any]) -> Marked:
    text = swap(row["sentence"], row["start"], row["end"], row["opposite"])
    return Marked(text, row["start"], row["start"] + len(row["opposite"]))


def _plain(value: Any) -> Any:
    return value.text if isinstance(value, Marked) else value


def _task(row: dict[str, Any]) -> dict[str, Any]:
    """A task of Label Studio; `sentence` is for reading back, the rest for the eye."""
    shown = Marked(row["sentence"], row["start"], row["end"])
    names = ("round", "rank", "sentence_id", "sentence")
    return {
        "data": {name: row[name] for name in names}
        | {"sentence_html": _html(shown), "swapped_html": _html(_swapped(row))}
    }


def _html(marked: Marked) -> str:
    """The text as HTML with its marked part in red; what looks like a tag is text."""
    before, inside, after = (
        html.escape(part)
        for part in (
            marked.text[: marked.start],
            marked.text[marked.start : marked.end],
            marked.text[marked.end :],
        )
    )
    return f'{before}<b style="color:#c00000">{inside}</b>{after}'


def _instructions(template: Path, facts: dict[str, Any]) -> str:
    import jinja2

    text = template.read_text(encoding="utf-8")
    template = jinja2.Template(text, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    return template.render(facts)


if __name__ == "__main__":
    stage.run(write_sheets)
