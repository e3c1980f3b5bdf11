"""Stage: make the counterfactuals of a data set's cases: the same texts with swapped words."""

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import write_batches
from evenhand.learning.counterfactual_text import SwapTable, read_swap_table, swap_words
from evenhand.legal.built import FIXED, BuiltCases
from evenhand.legal.declaration import carried

#: Languages without blanks between words: a word is swapped wherever its characters stand.
UNSPACED = frozenset({"zh"})


def make_counterfactuals(
    *,
    data: Input,
    words: list[Input],
    languages: list[str],
    out: Output,
    followers: list[Input] | None = None,
    followers_languages: list[str] | None = None,
) -> dict[str, Any]:
    """Swap the words of a table, he and she, say, in the text of each case.

    A case in a language without a table, or without a word of it, keeps its text and forms no
    counterfactual pair.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    words : list of path
        Tables of words and their opposites: see
        `evenhand.learning.counterfactual_text.read_swap_table`.
    languages : list of str
        The language of each of them, as written in the data set.
    out : path
        Parquet, the cases in the order of the data set with its columns but those of the
        attributes, which do not hold for the counterfactual: text is the swapped one, and
        swapped the number of changed words. Readers of a data set's texts can read it too.
    followers : list of path, optional
        Tables of the words that start no noun phrase.
    followers_languages : list of str, optional
        The language of each of them.

    Returns
    -------
    dict
        cases, twins (counterfactuals with a changed word), words (changed), no_table (cases in a
        language without one).

    Raises
    ------
    InputError
        There is not one language for each table, or a table is not right.
    """
    tables = _tables(words, languages, followers or [], followers_languages or [])
    counts: Counter[str] = Counter(dict.fromkeys(("cases", "twins", "words", "no_table"), 0))

    batches = (_swapped(batch, tables, counts) for batch in BuiltCases(data).batches(*FIXED))
    first = next(batches, None)
    if first is None:
        raise InputError("has no case", file=data)
    schema = first.schema.with_metadata(carried(data))
    write_batches(out, schema, itertools.chain([first], batches))
    return dict(counts)


def _tables(
    words: list[Path], languages: list[str], followers: list[Path], followers_languages: list[str]
) -> dict[str, SwapTable]:
    """Return the table of each language."""
    for files, named in ((words, languages), (followers, followers_languages)):
        if len(files) != len(named) or len(set(named)) != len(named):
            raise InputError(
                f"{len(files)} tables are of the languages {', '.join(named) or 'none'}",
                remedy="name one language for each table, and each once",
            )
    after = dict(zip(followers_languages, followers, strict=True))
    return {
        language: read_swap_table(file, after.get(language), whole=language not in UNSPACED)
        for file, language in zip(words, languages, strict=True)
    }


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


if __name__ == "__main__":
    stage.run(make_counterfactuals)
