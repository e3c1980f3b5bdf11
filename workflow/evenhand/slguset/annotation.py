"""The annotation task: judge whether a sentence with an exchanged gender word is as natural.

Its sheets, those of its adjudication, and Label Studio's tasks of the same sentences.
"""

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.io.json_text import load
from evenhand.io.sheets import Column, Marked
from evenhand.io.tables import read_rows
from evenhand.sheets.tasks import (
    Task,
    digest,
    render,
    with_headings,
    write_handed_out,
    write_sheet,
)
from evenhand.slguset.dataset import spans_of, swap, swapped_spans

#: The answers of annotators; the last is no judgement.
ANSWERS = ("accept", "reject", "unsure")

#: Why they do not accept it: a criterion, a personal name, something else.
CRITERIA = ("a", "b", "c", "name", "other")

TASK = Task(
    item="sentence",
    group="round",
    key="sentence_id",
    key_form="[0-9a-f]{16}",
    columns=(
        Column("rank", width=7),
        Column("sentence", width=56),
        Column("swapped_sentence", width=56),
        Column("answer", choices=ANSWERS, fill_in=True),
        Column("criterion", choices=CRITERIA, fill_in=True),
        Column("comment", width=32, fill_in=True),
        Column("annotator", width=16),
        Column("round", width=10),
        Column("sentence_id", width=20),
    ),
    fixed=("sentence",),
    handed_out=("round", "rank", "sentence_id", "sentence", "swapped_sentence", "annotators"),
    table="sentences",
)


#: The name under which the sentences on which annotators disagree are decided.
ADJUDICATOR = "adjudicator"

#: The adjudicator's sheet shows the annotators' answers.
ADJUDICATION = replace(
    TASK, columns=(*TASK.columns[:3], Column("answers", width=32), *TASK.columns[3:])
)

#: The fates of a sentence without a decision.
WAITING, DISAGREEMENT = "waiting", "disagreement"


class Judged(NamedTuple):
    """A sentence of a sample with its answers.

    Attributes
    ----------
    row : dict
        The row of sample.parquet.
    answers : list of dict
        The annotators' rows of answers.parquet, sorted by annotator.
    ruling : str or None
        The adjudicator's answer.
    """

    row: dict[str, Any]
    answers: list[dict[str, Any]]
    ruling: str | None = None

    def words(self) -> list[str]:
        """The answers alone: one word per annotator."""
        return [answer["answer"] for answer in self.answers]

    def complete(self) -> bool:
        """Whether as many annotators have answered as the sentence was handed out to."""
        return len(self.answers) >= len(self.row["assigned"])

    def unanimous(self) -> bool:
        """Whether the sentence is complete and all its annotators agree."""
        return self.complete() and len(set(self.words())) == 1

    def fate(self) -> str:
        """The adjudicator's answer, the annotators' if they agree, WAITING, or DISAGREEMENT."""
        if self.ruling:
            return self.ruling
        if not self.complete():
            return WAITING
        return self.words()[0] if self.unanimous() else DISAGREEMENT


def read_judgements(samples: Sequence[Path], answers: Sequence[Path]) -> list[Judged]:
    """Bring samples and answers of one or more rounds together.

    Parameters
    ----------
    samples, answers : sequence of Path
        A sample.parquet and an answers.parquet per round; the order does not matter.

    Returns
    -------
    list of Judged
        Sorted by round and rank; without the sentences that were lost since they were handed out.
    """
    rows = {row["sentence_id"]: row for path in samples for row in read_rows(path)}
    answered: dict[str, list[dict[str, Any]]] = {key: [] for key in rows}
    for path in answers:
        for answer in read_rows(path):
            answered[answer["sentence_id"]].append(answer)
    judged = []
    for row in sorted(rows.values(), key=lambda row: (row["round"], row["rank"])):
        by_name = {answer["annotator"]: answer for answer in answered[row["sentence_id"]]}
        ruling = by_name.pop(ADJUDICATOR, {}).get("answer")
        if not row["lost"]:
            judged.append(Judged(row, [by_name[name] for name in sorted(by_name)], ruling))
    return judged


def corpora_by_file(inventories: list[Path], corpora: list[str]) -> dict[str, str]:
    """Return the corpus of each file, from the shards' inventories and corpora, in equal order."""
    return {
        row["file"]: corpus
        for path, corpus in zip(inventories, corpora, strict=True)
        for row in read_rows(path, ["file"])
    }


def random_order(ids: Iterable[str], seed: int) -> list[str]:
    """Return ids of sentences in an order that depends on nothing but the seed and the id.

    So the beginning of the order of a corpus is a random sample of it.
    """
    return sorted(ids, key=lambda key: digest(f"{seed} random", key))


INSTRUCTIONS = "instructions.md"
LABEL_CONFIG = "label_studio.xml"

#: The beginning of the instructions on the adjudicator's sheet.
TO_ADJUDICATE = """# Adjudication
The annotators disagree on these sentences; their answers are in the column answers. Your \
answer decides.

"""


def write_round(
    out: Path,
    rows: list[dict[str, Any]],
    lost: Mapping[str, str],
    *,
    instructions: Path,
    interface: Path,
    headings: Iterable[str] | None = None,
) -> None:
    """Write the folder of a round's sheets; see `evenhand.slguset.draw_annotation`.

    Each annotator's sheet has the sentences that are assigned to them. Lost sentences are in
    handed_out.csv only; `lost` has their swapped forms by sentence_id.
    """
    out.mkdir()
    present = [_marked(row) for row in rows if not row["lost"]]
    names = list(dict.fromkeys(name for row in rows for name in row["assigned"]))
    facts = {"round": rows[0]["round"] if rows else "", "sentences": len(present)}
    for name in names:
        sheet = [row | {"annotator": name} for row in present if name in row["assigned"]]
        text = render(instructions, facts | {"annotator": name, "sentences": len(sheet)})
        write_sheet(out, name, with_headings(TASK, headings), text, sheet)
    text = render(instructions, facts | {"annotator": " / ".join(names)})
    (out / INSTRUCTIONS).write_text(text, encoding="utf-8")
    _write_tasks(out, present, interface)
    swapped = {row["sentence_id"]: row["swapped_sentence"].text for row in present} | {**lost}
    entries = [
        row
        | {"annotators": " ".join(row["assigned"]), "swapped_sentence": swapped[row["sentence_id"]]}
        for row in rows
    ]
    write_handed_out(out, TASK, entries)


def write_adjudication(
    out: Path,
    judged: Sequence[Judged],
    *,
    instructions: Path,
    interface: Path,
    headings: Iterable[str] | None = None,
) -> None:
    """Write the folder of the adjudicator's sheet; see `evenhand.slguset.read_sheets`."""
    out.mkdir()
    rows = [
        _marked(sentence.row)
        | {"annotator": ADJUDICATOR, "answers": "\n".join(map(_line, sentence.answers))}
        for sentence in judged
    ]
    facts = {"round": rows[0]["round"] if rows else "", "sentences": len(rows)}
    text = TO_ADJUDICATE + render(instructions, facts | {"annotator": ADJUDICATOR})
    write_sheet(out, ADJUDICATOR, with_headings(ADJUDICATION, headings), text, rows)
    _write_tasks(out, rows, interface)


def _line(answer: dict[str, Any]) -> str:
    """An annotator's answer in words: ``li: reject (b), two people``."""
    reason = f" ({answer['criterion']})" if answer["criterion"] else ""
    comment = f", {answer['comment']}" if answer["comment"] else ""
    return f"{answer['annotator']}: {answer['answer']}{reason}{comment}"


def _write_tasks(out: Path, rows: list[dict[str, Any]], interface: Path) -> None:
    """Write Label Studio's tasks and its labelling interface."""
    tasks = json.dumps([_task(row) for row in rows], ensure_ascii=False, indent=1)
    (out / "label_studio.json").write_text(tasks + "\n", encoding="utf-8")
    (out / LABEL_CONFIG).write_bytes(interface.read_bytes())


def _marked(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with its sentence and the swapped form, in which the keywords are marked."""
    sentence, spans = row["sentence"], spans_of(row)
    place = [start for start, _, _ in spans].index(row["start"])
    start, end, _ = swapped_spans(sentence, spans)[place]
    return row | {
        "sentence": Marked(sentence, row["start"], row["end"]),
        "swapped_sentence": Marked(swap(sentence, spans), start, end),
    }


def _task(row: dict[str, Any]) -> dict[str, Any]:
    """A task of Label Studio: the fields that are read back, and both sentences for display.

    Its `annotators` are for a filter of the data manager. In an adjudication, the annotators'
    answers are shown below the swapped sentence.
    """
    data = {name: row[name] for name in ("round", "rank", "sentence_id")}
    data |= {
        "sentence": row["sentence"].text,
        "annotators": " ".join(row["assigned"]),
        "sentence_html": _html(row["sentence"]),
        "swapped_html": _html(row["swapped_sentence"]),
    }
    if "answers" in row:
        data |= {"annotators": ADJUDICATOR}
        lines = html.escape(row["answers"]).replace("\n", "<br>")
        data["swapped_html"] += f"<p>{lines}</p>"
    return {"data": data}


def _html(marked: Marked) -> str:
    """Return the text as HTML with its marked part in red; tags in the text are escaped."""
    text, start, end = marked
    before, inside, after = map(html.escape, (text[:start], text[start:end], text[end:]))
    return f'{before}<b style="color:#c00000">{inside}</b>{after}'


def read_export(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of Label Studio's export in its format JSON.

    An answer in a task of the adjudication is the adjudicator's, whoever gave it.
    """
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
                if task["data"].get("annotators") == ADJUDICATOR:
                    cells["annotator"] = ADJUDICATOR
                if not annotation.get("was_cancelled"):
                    for result in annotation["result"]:
                        value = result["value"]
                        texts = value.get("choices") or value.get("text") or []
                        texts = [texts] if isinstance(texts, str) else texts
                        if result["from_name"] in ("answer", "criterion", "comment"):
                            cells[result["from_name"]] = "\n".join(texts).strip()
                yield number, cells
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        remedy = "export the project in the format JSON (not JSON-MIN)"
        raise InputError("is not an export of Label Studio", file=path, remedy=remedy) from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} instead of text")
    return value
