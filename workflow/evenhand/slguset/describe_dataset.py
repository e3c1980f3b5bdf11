"""Describe a data set: sentences per pair and direction, lengths, characters, vocabulary."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.stage import Input, Output
from evenhand.core.tables import Row, Table, integer, text, write_tables
from evenhand.core.whole import read_text
from evenhand.io.documents import write_json
from evenhand.io.tables import read_rows, read_table_schema
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.surface_pairs import (
    attribute_of,
    read_pair_numbers,
    surface_pair,
    surface_pairs,
)

if TYPE_CHECKING:
    import numpy as np


def table_1(values: Sequence[str] = GENDERS) -> Table:
    """Declare the table, with columns for each value of the attribute."""
    return Table(
        "table_1",
        title="Sentences per word pair and direction",
        key=("pair", "surface"),
        columns=(
            text("pair", "Mask pair"),
            text("surface", "Surface pair"),
            *(integer(value, f"Sentences with the {value} word") for value in values),
            *map(integer, ("total", *(f"published_{value}" for value in values))),
        ),
        source="Zhao et al. 2021, table 1",
    )


TABLE = table_1()

#: Characters per bar of the histogram of lengths.
BAR = 10

#: How many characters outside the vocabulary are named.
NAMED = 20


def describe_dataset(
    *,
    dataset: Input,
    keywords: Input,
    table: Output,
    statistics: Output,
    published: Input | None = None,
    vocabulary: Input | None = None,
    values: list[str] | None = None,
) -> dict[str, Any]:
    """Describe a data set: sentences per pair and direction, lengths, characters, vocabulary.

    Parameters
    ----------
    dataset : Path
        slguset.parquet, of either edition.
    keywords : Path
        The table of surface pairs (keywords.csv).
    table : Path
        The folder of the table `TABLE`: a row per surface pair of the table of keywords.
    statistics : Path
        statistics.json: sentences; length (characters: mean, median, min, max, histogram);
        distinct_characters; vocabulary (null without one); pairs (sentences per mask pair).
    published : Path, optional
        A table (surface_male, surface_female, sentences) of the published number of sentences
        per direction of each surface pair.
    vocabulary : Path, optional
        A model's vocab.txt, one entry per line. The paper divides the number of distinct
        characters by that of the entries (`distinct_characters_per_entry`; 4,220 of 21,128
        there, 0.1997), although some characters are no entries: `share_of_entries` counts
        those that are, `share_of_characters` divides them by the distinct characters.
    values : list of str, optional
        The values of the attribute; male and female by default.

    Returns
    -------
    dict
        sentences, distinct_characters.

    Raises
    ------
    InputError
        A table is malformed, or the vocabulary is not UTF-8.
    """
    import numpy as np

    values = values or [*GENDERS]
    pairs = {name: row.pair for name, row in surface_pairs(keywords, values).items()}
    columns = read_table_schema(dataset).names
    attribute = attribute_of(columns)
    needed = {"sentence", "pair", "surface", "surface_opposite", "opposite", attribute}
    needed.add(f"{attribute}_opposite")
    counts: Counter[tuple[str, str]] = Counter()
    lengths: list[int] = []
    characters: Counter[str] = Counter()
    for row in read_rows(dataset, [name for name in columns if name in needed]):
        pair = surface_pair(row, values)
        pairs.setdefault(pair, row["pair"])
        counts[pair, row[attribute]] += 1
        lengths.append(len(row["sentence"]))
        characters.update(row["sentence"])
    known = read_pair_numbers(published, pairs, values) if published else {}

    def sums(surfaces: Sequence[str]) -> Row:
        """Sum over surface pairs; published numbers only where all of them are known."""
        row = {value: sum(counts[pair, value] for pair in surfaces) for value in values}
        complete = all(pair in known for pair in surfaces)
        total = sum(known[pair] for pair in surfaces) if complete else None
        published = {f"published_{value}": total for value in values}
        return row | {"total": sum(row.values())} | published

    rows = ({"pair": mask, "surface": pair} | sums([pair]) for pair, mask in pairs.items())
    write_tables(table, [(table_1(values), rows)])
    document = {
        "sentences": len(lengths),
        "length": _length(np.array(lengths)),
        "distinct_characters": len(characters),
        "vocabulary": _coverage(characters, vocabulary) if vocabulary else None,
        "pairs": [
            {"pair": mask} | sums([pair for pair in pairs if pairs[pair] == mask])
            for mask in dict.fromkeys(pairs.values())
        ],
    }
    write_json(statistics, document)
    return {"sentences": len(lengths), "distinct_characters": len(characters)}


def _length(lengths: "np.ndarray") -> dict[str, Any]:
    """Return mean, median, range and histogram of the lengths in characters; null where none."""
    import numpy as np

    if not len(lengths):
        return {"mean": None, "median": None, "min": None, "max": None, "histogram": []}
    return {
        "mean": round(float(lengths.mean()), 6),
        "median": float(np.median(lengths)),
        "min": int(lengths.min()),
        "max": int(lengths.max()),
        "histogram": [
            {"from": bar * BAR, "to": (bar + 1) * BAR - 1, "sentences": count}
            for bar, count in enumerate(np.bincount(lengths // BAR).tolist())
        ],
    }


def _coverage(characters: Counter[str], path: Path) -> dict[str, Any]:
    """Return how the characters and the entries of a vocabulary cover each other."""
    # Only a line feed ends an entry: other separators may be entries themselves.
    entries = {line.removesuffix("\r") for line in read_text(path).split("\n")} - {""}
    covered = len(entries & characters.keys())
    missing = sorted(characters.keys() - entries, key=lambda c: (-characters[c], c))
    return {
        "entries": len(entries),
        "characters_covered": covered,
        "characters_missing": len(missing),
        "share_of_characters": round(covered / len(characters), 6) if characters else None,
        "share_of_entries": round(covered / len(entries), 6),
        "distinct_characters_per_entry": round(len(characters) / len(entries), 6),
        "most_frequent_missing": [
            {"character": character, "occurrences": characters[character]}
            for character in missing[:NAMED]
        ],
    }
