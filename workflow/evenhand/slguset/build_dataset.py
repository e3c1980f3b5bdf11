"""Build the data set from the sentences that the annotators accept; measure agreement."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.core.stage import Input, Output
from evenhand.core.tables import Row, Table, integer, number, share, text, write_rows, write_tables
from evenhand.io.tables import read_table_schema, write_table
from evenhand.slguset.annotation import ANSWERS, Judged, read_judgements
from evenhand.slguset.dataset import AUTHORS_COLUMNS, dataset_row, in_order, schema
from evenhand.slguset.keywords import GENDERS, read_keywords
from evenhand.slguset.surface_pairs import attribute_of, surface_pair, surface_pairs

AGREEMENT = Table(
    "agreement",
    title="Agreement between annotators, per pair and overall",
    key=("pair",),
    columns=(
        text("pair", "Surface pair, or all"),
        integer("n", "Sentences with all their answers"),
        integer("unanimous", "Sentences that all annotators answered alike"),
        share("percent_agreement", "Pairs of annotators that agree"),
        number("fleiss_kappa"),
        number("krippendorff_alpha", "For nominal data"),
        share("estimated_accept", "Sentences to accept, estimated by Dawid and Skene (1979)"),
        integer("adjudicated", "Sentences that the adjudicator decided"),
        integer("waiting", "Sentences that lack answers"),
        text("note", "Why a measure is not defined"),
    ),
    form="",
)

ANNOTATORS = Table(
    "annotators",
    title="How often each annotator gave each answer",
    key=("annotator",),
    columns=(
        text("annotator"),
        *map(integer, ("answers", *ANSWERS)),
        integer("waiting", "Sentences handed out to them that lack their answer and others"),
        share("accuracy", "Answers that are right, estimated by Dawid and Skene (1979)"),
    ),
)

#: Why a row has no kappa and no alpha.
ONE_ANSWER = "all answers are the same: kappa and alpha are not defined"
UNEQUAL = "sentences have different numbers of answers: kappa is not defined"

#: The least numbers for estimates of who is right, and the least Krippendorff's alpha: two
#: annotators, few sentences or agreement near chance do not identify it.
LEAST_ANNOTATORS, LEAST_SENTENCES, LEAST_ALPHA = 3, 30, 0.2


class Agreement:
    """Agreement on judged sentences, and the estimates of Dawid and Skene (1979)."""

    def __init__(self, judged: Sequence[Judged], values: Sequence[str] = GENDERS):
        import numpy as np

        from evenhand.metrics.agreement import MISSING, dawid_skene, krippendorff_alpha

        self.judged, self.values = judged, values
        self.complete = [sentence for sentence in judged if sentence.complete()]
        self.names = sorted(
            {answer["annotator"] for sentence in judged for answer in sentence.answers}
        )
        place = {name: number for number, name in enumerate(self.names)}
        self.codes = np.full((len(self.complete), len(self.names)), MISSING)
        for codes, sentence in zip(self.codes, self.complete, strict=True):
            for answer in sentence.answers:
                codes[place[answer["annotator"]]] = ANSWERS.index(answer["answer"])
        self.truths = None
        if len(self.names) >= LEAST_ANNOTATORS and len(self.complete) >= LEAST_SENTENCES:
            alpha = krippendorff_alpha(self.codes)
            truths = len(ANSWERS) - 1  # a sentence is to accept or to reject; `unsure` is no truth
            if alpha is None or alpha >= LEAST_ALPHA:
                self.truths = dawid_skene(self.codes, len(ANSWERS), truths=truths)

    def rows(self, pairs: Sequence[str]) -> Iterator[Row]:
        """Yield a row of AGREEMENT per pair with a sentence, in the order of `pairs`, and all."""
        groups: dict[str, list[Judged]] = {pair: [] for pair in pairs}
        for sentence in self.judged:
            groups.setdefault(surface_pair(sentence.row, self.values), []).append(sentence)
        for pair, group in groups.items():
            if group:
                yield self._row(pair, group)
        yield self._row("all", self.judged)

    def _row(self, pair: str, group: Sequence[Judged]) -> Row:
        from evenhand.metrics import agreement

        ids = {id(sentence) for sentence in group}
        chosen = [number for number, sentence in enumerate(self.complete) if id(sentence) in ids]
        codes = self.codes[chosen]
        row = {
            "pair": pair,
            "n": len(chosen),
            "unanimous": sum(sentence.unanimous() for sentence in group),
            "adjudicated": sum(sentence.ruling is not None for sentence in group),
            "waiting": sum(not sentence.complete() for sentence in group),
        }
        if not chosen:
            return row | {"note": "there is no sentence with all its answers"}
        if self.truths is not None:
            row["estimated_accept"] = self.truths.shares[chosen, ANSWERS.index("accept")].mean()
        if len(self.names) < 2:
            return row | {"note": "there is one annotator"}
        row["percent_agreement"] = agreement.percent_agreement(codes)
        row["fleiss_kappa"] = agreement.fleiss_kappa(codes)
        row["krippendorff_alpha"] = agreement.krippendorff_alpha(codes)
        if row["krippendorff_alpha"] is None:
            row["note"] = ONE_ANSWER
        elif row["fleiss_kappa"] is None:
            row["note"] = UNEQUAL
        return {
            key: round(value, 6) if isinstance(value, float) else value
            for key, value in row.items()
        }

    def annotator_rows(self) -> Iterator[Row]:
        """Yield a row of ANNOTATORS per annotator who has an answer or should have, sorted."""
        answers = (answer for sentence in self.judged for answer in sentence.answers)
        counted = Counter((answer["annotator"], answer["answer"]) for answer in answers)
        missing = Counter(
            name
            for sentence in self.judged
            if not sentence.complete()
            for name in sentence.row["assigned"]
            if name not in {answer["annotator"] for answer in sentence.answers}
        )
        for name in sorted({*self.names, *missing}):
            counts = {answer: counted[name, answer] for answer in ANSWERS}
            row = {"annotator": name, "answers": sum(counts.values())} | counts
            row["waiting"] = missing[name]
            if self.truths is not None and name in self.names:
                row["accuracy"] = round(float(self.truths.accuracy[self.names.index(name)]), 6)
            yield row


def build_dataset(
    *,
    samples: list[Input],
    answers: list[Input],
    keywords: Input,
    out: Output,
    table: Output,
    tables: Output,
    values: list[str] | None = None,
) -> dict[str, Any]:
    """Build the data set from the sentences that the annotators accept; measure agreement.

    A sentence enters if all its annotators accept it, or if the adjudicator does. A sentence that
    waits for answers is left out until they come.

    Rows are sorted by mask pair in the order of the table of keywords, gender (female first),
    sentence_id. The authors' table has the same rows in the same order. Its positions are
    ``[start, end]``, counted from 0 with the end exclusive, so that they always slice the
    keyword; so do 11,465 of the 20,000 positions in the authors' own file, more than in any
    other way of counting there.

    Parameters
    ----------
    samples : list of Path
        sample.parquet of each round.
    answers : list of Path
        answers.parquet of each round.
    keywords : Path
        The table of surface pairs (keywords.csv).
    out : Path
        slguset.parquet.
    table : Path
        slguset.csv, in the authors' four columns: 句子, 关键词位置, 原始关键词, 对立关键词 (UTF-8).
    tables : Path
        The folder of the tables `AGREEMENT` and `ANNOTATORS` of `evenhand.slguset.build_dataset`.
        Pairs without a sentence have no row.
    values : list of str, optional
        The values of the attribute; male and female by default.

    Returns
    -------
    dict
        judged, sentences (in the data set), left_out (by reason: `disagreement`, `waiting`, or
        the answer), by_{attribute}.
    """
    values = values or [*GENDERS]
    columns = schema(read_table_schema(samples[0]))
    attribute = attribute_of(columns.names)
    judged = read_judgements(samples, answers)
    agreement = Agreement(judged, values)
    pairs = list(surface_pairs(keywords, values))
    write_tables(
        tables, [(AGREEMENT, agreement.rows(pairs)), (ANNOTATORS, agreement.annotator_rows())]
    )
    fates = [sentence.fate() for sentence in judged]
    accepted = (
        dataset_row(sentence.row, columns)
        for sentence, fate in zip(judged, fates, strict=True)
        if fate == "accept"
    )
    rows = in_order(accepted, read_keywords(keywords, values).pair_names())
    for row in rows:
        if row["sentence"][row["start"] : row["end"]] != row["keyword"]:
            raise RuntimeError(f"the offsets of sentence {row['sentence_id']} are wrong")
    write_table(out, columns, rows)
    write_rows(table, AUTHORS_COLUMNS, map(_as_published, rows))
    left_out = Counter(fate for fate in fates if fate != "accept")
    return {
        "judged": len(judged),
        "sentences": len(rows),
        "left_out": dict(sorted(left_out.items())),
        f"by_{attribute}": dict(sorted(Counter(row[attribute] for row in rows).items())),
    }


def _as_published(row: Row) -> Row:
    position = f"[{row['start']}, {row['end']}]"
    cells = (row["sentence"], position, row["keyword"], row["opposite"])
    return dict(zip(AUTHORS_COLUMNS, cells, strict=True))
