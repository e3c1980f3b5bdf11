"""Build the data set from the sentences that the annotators accept; measure agreement."""

from collections import Counter
from typing import Any

from evenhand.core.stage import Input, Output
from evenhand.core.tables import Row, write_rows, write_tables
from evenhand.io.tables import read_table_schema, write_table
from evenhand.slguset.agreement import AGREEMENT, ANNOTATORS, Agreement
from evenhand.slguset.annotation import read_judgements
from evenhand.slguset.dataset import AUTHORS_COLUMNS, dataset_row, in_order, schema
from evenhand.slguset.keywords import GENDERS, read_keywords
from evenhand.slguset.surface_pairs import attribute_of, surface_pairs


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
        The folder of the tables `AGREEMENT` and `ANNOTATORS` of `evenhand.slguset.agreement`.
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
        tables,
        [(AGREEMENT, agreement.rows(pairs)), (ANNOTATORS, agreement.annotator_rows())],
    )
    fates = [sentence.fate() for sentence in judged]
    rows = in_order(
        (
            dataset_row(sentence.row, columns)
            for sentence, fate in zip(judged, fates, strict=True)
            if fate == "accept"
        ),
        read_keywords(keywords, values).pair_names(),
    )
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
