"""Stage: make the counterfactuals of a data set's cases: the same texts with swapped words."""

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import write_batches
from evenhand.learning.counterfactual_text import SwapTable, read_swap_table, swap_words
from evenhand.legal.built import FIXED, BuiltCases
from evenhand.legal.declaration import carried

#: Languages without blanks between words: a word is swapped wherever its characters stand.
UNSPACED = frozenset({"zh"})

#: The end of the name of a table of words that start no noun phrase.
FOLLOWERS = "_followers"


def make_counterfactuals(*, data: Input, tables: list[Input], out: Output) -> dict[str, Any]:
    """Swap the words of a table, he and she, say, in the text of each case.

    A case in a language without a table, or without a word of it, keeps its text and forms no
    counterfactual pair.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    tables : list of path
        ``swap_{words}_{language}.csv``, words and their opposites in a language as it is written
        in the data set, and ``swap_{words}_{language}_followers.csv``, the words that start no
        noun phrase: see `evenhand.learning.counterfactual_text.read_swap_table`.
    out : path
        Parquet, the cases in the order of the data set with its columns but those of the
        attributes, which do not hold for the counterfactual: text is the swapped one, and
        swapped the number of changed words. Readers of a data set's texts can read it too.

    Returns
    -------
    dict
        cases, twins (counterfactuals with a changed word), words (changed), no_table (cases in a
        language without one).

    Raises
    ------
    InputError
        A language has two tables, or a table is not right.
    """
    by_language = read_tables(tables)
    counts: Counter[str] = Counter(dict.fromkeys(("cases", "twins", "words", "no_table"), 0))
    batches = (_swapped(batch, by_language, counts) for batch in BuiltCases(data).batches(*FIXED))
    first = next(batches)
    schema = first.schema.with_metadata(carried(data))
    write_batches(out, schema, itertools.chain([first], batches))
    return dict(counts)


def read_tables(paths: list[Path]) -> dict[str, SwapTable]:
    """Return the table of each language, which the names of files end in."""
    followers = {path.stem: path for path in paths if path.stem.endswith(FOLLOWERS)}
    tables: dict[str, SwapTable] = {}
    for path in paths:
        language = path.stem.rpartition("_")[2]
        if path.stem in followers:
            continue
        if language in tables:
            raise InputError("is a second table of this language", file=path)
        after = followers.get(path.stem + FOLLOWERS)
        tables[language] = read_swap_table(path, after, whole=language not in UNSPACED)
    return tables


def _swapped(
    batch: pa.RecordBatch, tables: dict[str, SwapTable], counts: Counter[str]
) -> pa.RecordBatch:
    """Return a batch of counterfactuals, and add to the counts."""
    texts, changed = [], []
    pairs = zip(batch["text"].to_pylist(), batch["language"].to_pylist(), strict=True)
    for text, language in pairs:
        table, number = tables.get(language), 0
        if table is None:
            counts["no_table"] += 1
        elif text is not None:
            swapped = [swap_words(paragraph, table) for paragraph in text]
            text, number = [words for words, _ in swapped], sum(count for _, count in swapped)
        texts.append(text)
        changed.append(number)
    counts["cases"] += batch.num_rows
    counts["twins"] += sum(number > 0 for number in changed)
    counts["words"] += sum(changed)
    field = batch.schema.field("text")
    columns = {name: batch[name] for name in FIXED}
    columns |= {"text": pa.array(texts, field.type), "swapped": pa.array(changed, pa.int32())}
    return pa.RecordBatch.from_pydict(columns)
