"""Import the authors' own file: repair every offset, and list the problems."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.resources import read_strict_csv
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import write_rows
from evenhand.errors import InputError
from evenhand.io.tables import write_batches, write_table
from evenhand.slguset import dataset as dataset_table
from evenhand.slguset.dataset import AUTHORS_COLUMNS as COLUMNS
from evenhand.slguset.distinct_sentences import distinct, sentence_id
from evenhand.slguset.keywords import Keywords, Surface, read_keywords
from evenhand.slguset.surface_pairs import SENTENCES
from evenhand.text.sentences import ENDERS, is_kept, normalise, repair_quotes, split_sentences

PROBLEM_COLUMNS = ["row", "problem", "detail"]

_POSITION = re.compile(r"\[\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\]")

_ENDER_INSIDE = re.compile(f"[{ENDERS}]”$")
_WHOLE = re.compile(f"[{ENDERS}!…][”’）》]*$")


class Row(NamedTuple):
    """A row of the authors' file; `number` counts from 1, without the header."""

    number: int
    sentence: str
    start: int
    end: int
    keyword: str
    opposite: str


#: The problem of a row: a fixed word, and the case.
Problem = tuple[str, str]


def import_published(
    *, file: Source, keywords: Input, sentences: Output, dataset: Output, problems: Output
) -> dict[str, Any]:
    """Import the authors' own file: repair every offset, and list the problems.

    The sentences are unchanged. The keyword's offsets are searched again: each sentence contains
    it once. Problems, one row each:

    - `wrong_slice`: the stated position is not the keyword's. The detail begins with the kind:
      `whole_word` (it marks the surface, 女人 for 女), `counts_from_1`,
      `whole_word_counts_from_1`, `shifted` (as long as the keyword or surface, further off),
      `outside` (it ends behind the sentence), `other`;
    - `duplicate`: the sentence occurs in an earlier row;
    - `unbalanced_quotes`: “ and ” do not match;
    - `ender_inside_quotes`: it ends like 。” where the file otherwise has ”。;
    - `cut_again`: our splitting cuts it for another reason;
    - `unfinished`: it does not end in 。？！;
    - `unexpected_character`: it holds characters that our normalising removes;
    - `not_a_pair`: keyword and opposite are no pair of the table; the row is left out of the
      data set;
    - `keyword_count`: the table's surfaces occur in it more than once, or none does; the row is
      left out of the data set unless its position marks one of them.

    Parameters
    ----------
    file : Path
        A UTF-8 CSV file with the authors' columns 句子, 关键词位置, 原始关键词, 对立关键词.
    keywords : Path
        The table of surface pairs (keywords.csv).
    sentences : Path
        A table of sentences, for `find_keywords`: each once, with the number of its copies.
    dataset : Path
        The data set's columns, one row per row of the file. A repeated sentence gets an id of
        its own, so that ids are unique.
    problems : Path
        The problems as CSV: row (from 1, without the header), problem, detail.
    """
    table = read_keywords(keywords)
    published = list(read_published(file))
    occurrences = ((row.sentence, str(file), row.number) for row in published)
    write_batches(sentences, SENTENCES, distinct(occurrences))
    listed: list[tuple[int, Problem]] = []
    rows: list[dict[str, Any]] = []
    first: dict[str, int] = {}
    seen: Counter[str] = Counter()
    for row in published:
        sentence = row.sentence
        seen[sentence] += 1
        if first.setdefault(sentence, row.number) != row.number:
            detail = f"the same sentence as row {first[sentence]}"
            listed.append((row.number, ("duplicate", detail)))
        place, problems_found = locate(row, table)
        listed += [(row.number, p) for p in [*problems_found, *check_text(sentence)]]
        if place is None:
            continue
        surface, surface_start = place
        start = surface_start + surface.offset
        described = surface._asdict() | {
            "gender": surface.value,
            "sentence_id": copy_id(sentence, seen[sentence]),
            "sentence": sentence,
            "start": start,
            "end": start + len(surface.keyword),
            "surface_start": surface_start,
            "surface_end": surface_start + len(surface.surface),
            "source": str(file),
            "source_position": row.number,
        }
        rows.append(dataset_table.dataset_row(described))
    ordered = dataset_table.in_order(rows, table.pair_names())
    write_table(dataset, dataset_table.SCHEMA, ordered)
    cells = (dict(zip(PROBLEM_COLUMNS, (n, *problem), strict=True)) for n, problem in listed)
    write_rows(problems, PROBLEM_COLUMNS, cells)
    by_problem = Counter(problem for _, (problem, _) in listed)
    return {
        "rows": seen.total(),
        "sentences": len(seen),
        "dataset": len(rows),
        "left_out": seen.total() - len(rows),
        "problems": dict(sorted(by_problem.items())),
    }


def read_published(file: Path) -> Iterator[Row]:
    """The rows of the authors' file.

    Raises
    ------
    InputError
        It is no UTF-8 or no CSV, lacks a column, or a row has a blank cell, too many or too
        few cells, or a position that is not two numbers in brackets.
    """
    header, rows = read_strict_csv(file)
    if missing := [name for name in COLUMNS if name not in header]:
        remedy = f"the columns are {', '.join(COLUMNS)}"
        raise InputError(f"lacks the column {missing[0]}", file=file, line=1, remedy=remedy)
    for number, (line, cells) in enumerate(rows, start=1):
        row = dict(zip(header, cells, strict=True))
        if blank := [name for name in COLUMNS if not row[name].strip()]:
            raise InputError(f"the cell of {blank[0]} is blank", file=file, line=line)
        sentence, position, keyword, opposite = (row[name] for name in COLUMNS)
        stated = _POSITION.fullmatch(position.strip())
        if stated is None:
            problem = f"the position {position!r} is not two numbers in brackets"
            raise InputError(problem, file=file, line=line, remedy="write it like [3, 5]")
        start, end = map(int, stated.groups())
        yield Row(number, sentence, start, end, keyword.strip(), opposite.strip())


def locate(row: Row, keywords: Keywords) -> tuple[tuple[Surface, int] | None, list[Problem]]:
    """Return the surface of a row's keyword with its start, and the row's problems."""
    surfaces = keywords.surfaces.values()
    if not any(s.keyword == row.keyword and s.opposite == row.opposite for s in surfaces):
        return None, [("not_a_pair", f"{row.keyword} and {row.opposite}")]
    places = [
        (keywords.surfaces[m.group()], m.start()) for m in keywords.pattern.finditer(row.sentence)
    ]
    fitting = [p for p in places if (p[0].keyword, p[0].opposite) == (row.keyword, row.opposite)]
    problems = []
    if len(places) != 1 or not fitting:
        words = "、".join(surface.surface for surface, _ in places) or "no surface of the table"
        problems.append(("keyword_count", f"{row.keyword} in: {words}"))
        fitting = [p for p in fitting if p[1] + p[0].offset == row.start]
    if not fitting:
        return None, problems
    surface, surface_start = fitting[0]
    start = surface_start + surface.offset
    span = (start, start + len(surface.keyword))
    if (row.start, row.end) != span:
        word = (surface_start, surface_start + len(surface.surface))
        kind = slice_kind((row.start, row.end), span, word, len(row.sentence))
        detail = f"{kind}: [{row.start}, {row.end}], the keyword is at [{span[0]}, {span[1]}]"
        problems.append(("wrong_slice", detail))
    return (surface, surface_start), problems


def slice_kind(
    stated: tuple[int, int], keyword: tuple[int, int], word: tuple[int, int], length: int
) -> str:
    """In which way a stated position (start, end) misses the keyword's; see `import_published`."""
    if stated == word:
        return "whole_word"
    start, end = stated
    if (start - 1, end - 1) == keyword:
        return "counts_from_1"
    if (start - 1, end - 1) == word:
        return "whole_word_counts_from_1"
    if end > length:
        return "outside"
    lengths = (keyword[1] - keyword[0], word[1] - word[0])
    return "shifted" if end - start in lengths else "other"


def check_text(sentence: str) -> list[Problem]:
    """Return the problems of a sentence that our normalising and splitting would change."""
    problems = []
    if repair_quotes(sentence) != sentence:
        detail = f"{sentence.count('“')} “ and {sentence.count('”')} ”"
        problems.append(("unbalanced_quotes", detail))
    elif _ENDER_INSIDE.search(sentence):
        problems.append(("ender_inside_quotes", sentence[-2:]))
    elif (pieces := len(split_sentences(sentence))) > 1:
        problems.append(("cut_again", f"into {pieces}"))
    if not _WHOLE.search(sentence):
        problems.append(("unfinished", f"ends in {sentence[-1]!r}"))
    if normalise(sentence) != sentence:
        removed = "".join(dict.fromkeys(c for c in sentence if not is_kept(c))) or "."
        problems.append(("unexpected_character", repr(removed)))
    return problems


def copy_id(sentence: str, copy: int) -> str:
    """The id of a sentence's first, second, ... copy; the first copy's is the sentence's."""
    return sentence_id(sentence if copy == 1 else f"{sentence}\0{copy}")
