"""The annotators' sheets of a round, and a Label Studio project of the same sentences."""

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.io.json_text import load
from evenhand.io.sheets import Marked
from evenhand.sheets.tasks import check_name, render, write_handed_out, write_sheet
from evenhand.slguset.annotation import TASK
from evenhand.slguset.swap import spans_of, swap, swapped_spans

INSTRUCTIONS = "instructions.md"
LABEL_CONFIG = "label_studio.xml"


def check_annotators(names: list[str]) -> None:
    """Raise InputError unless each annotator can have a file."""
    for name in names:
        check_name(name, "annotator")
    reserved = {"handed_out", "label_studio", "instructions"}
    if len({name.lower() for name in names} - reserved) != len(names):
        raise InputError(
            f"the annotators {', '.join(names)} cannot each have a file",
            remedy=f"give each a name of its own, other than {', '.join(sorted(reserved))}",
        )


def write_round(
    out: Path,
    rows: list[dict[str, Any]],
    annotators: list[str],
    *,
    instructions: Path,
    interface: Path,
) -> None:
    """Write the folder of a round's sheets; see `evenhand.slguset.draw_annotation`."""
    out.mkdir()
    facts = {"round": rows[0]["round"] if rows else "", "sentences": len(rows)}
    marked = [row | _marked(row) for row in rows]
    for name in annotators:
        text = render(instructions, facts | {"annotator": name})
        write_sheet(out, name, TASK, text, [row | {"annotator": name} for row in marked])
    text = render(instructions, facts | {"annotator": " / ".join(annotators)})
    (out / INSTRUCTIONS).write_text(text, encoding="utf-8")
    tasks = json.dumps([_task(row) for row in rows], ensure_ascii=False, indent=1)
    (out / "label_studio.json").write_text(tasks + "\n", encoding="utf-8")
    (out / LABEL_CONFIG).write_bytes(interface.read_bytes())
    write_handed_out(out / "handed_out.csv", TASK, rows)


def _marked(row: dict[str, Any]) -> dict[str, Marked]:
    """The sentence and its swapped form, with their keywords marked."""
    sentence, spans = row["sentence"], spans_of(row)
    place = [start for start, _, _ in spans].index(row["start"])
    start, end, _ = swapped_spans(sentence, spans)[place]
    return {
        "sentence": Marked(sentence, row["start"], row["end"]),
        "swapped_sentence": Marked(swap(sentence, spans), start, end),
    }


def _task(row: dict[str, Any]) -> dict[str, Any]:
    """A task of Label Studio; `sentence` is for reading back, the rest for display."""
    marked = _marked(row)
    return {
        "data": {name: row[name] for name in ("round", "rank", "sentence_id", "sentence")}
        | {
            "sentence_html": _html(marked["sentence"]),
            "swapped_html": _html(marked["swapped_sentence"]),
        }
    }


def _html(marked: Marked) -> str:
    """Return the text as HTML with its marked part in red; tags in the text are escaped."""
    before, inside, after = (
        html.escape(part)
        for part in (
            marked.text[: marked.start],
            marked.text[marked.start : marked.end],
            marked.text[marked.end :],
        )
    )
    return f'{before}<b style="color:#c00000">{inside}</b>{after}'


def read_export(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of Label Studio's export in its format JSON."""
    try:
        tasks = load(read_text(path))
        for number, task in enumerate(tasks, start=1):
            for annotation in task["annotations"]:
                person = annotation["completed_by"]
                name = person["email"] if isinstance(person, dict) else person
                cells = dict.fromkeys(("answer", "criterion", "comment"), "")
                for key in ("sentence_id", "sentence", "round"):
                    cells[key] = _text(task["data"][key])
                cells["annotator"] = str(name) if isinstance(name, int) else _text(name)
                if not annotation.get("was_cancelled"):
                    for result in annotation["result"]:
                        value = result["value"]
                        texts = value.get("choices") or value.get("text") or []
                        texts = [texts] if isinstance(texts, str) else texts
                        if result["from_name"] in ("answer", "criterion", "comment"):
                            cells[result["from_name"]] = "\n".join(texts).strip()
                yield number, cells
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(
            "is not an export of Label Studio",
            file=path,
            remedy="export the project in the format JSON (not JSON-MIN)",
        ) from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} instead of text")
    return value
