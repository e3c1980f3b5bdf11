"""The annotation task: judge whether a sentence with an exchanged gender word is as natural."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.io.sheets import Column
from evenhand.io.tables import read_rows
from evenhand.sheets.tasks import Task, digest

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
        Column("rank", "序号", 7),
        Column("sentence", "句子", 56),
        Column("swapped_sentence", "换词后", 56),
        Column("answer", "判断", 12, choices=ANSWERS, fill_in=True),
        Column("criterion", "原因", 12, choices=CRITERIA, fill_in=True),
        Column("comment", "说明", 32, fill_in=True),
        Column("annotator", "标注员", 16),
        Column("round", "轮次", 10),
        Column("sentence_id", "编号", 20),
    ),
    fixed=("sentence",),
    handed_out=("round", "rank", "sentence_id", "sentence", "swapped_sentence", "annotators"),
    optional=("swapped_sentence", "annotators"),
    table="sentences 句子",
    notes="instructions 说明",
)


#: The name under which the sentences on which annotators disagree are decided.
ADJUDICATOR = "adjudicator"

#: The adjudicator's sheet shows the annotators' answers.
ADJUDICATION = replace(
    TASK,
    columns=(*TASK.columns[:3], Column("answers", "各人判断", 32), *TASK.columns[3:]),
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
