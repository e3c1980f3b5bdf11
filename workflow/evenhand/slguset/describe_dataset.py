"""Describe a data set: sentences per pair and direction, lengths, characters, vocabulary."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.core.tables import Row, Table, integer, text, write_tables
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import read_rows, read_table_schema
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.surface_pairs import attribute_of, surface_pair, surface_pairs, word_columns


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
        A table or the vocabulary is not well formed.
    """
    values = values or [*GENDERS]
    firsts = surface_pairs(keywords, values)
    pairs = {name: one.pair for name, one in firsts.items()}
    attribute = attribute_of(read_table_schema(dataset).names)
    opposite = [f"{attribute}_opposite"] if len(values) > 2 else []
    counts: dict[str, Counter[str]] = {pair: Counter() for pair in pairs}
    lengths: Counter[int] = Counter()
    characters: Counter[str] = Counter()
    columns = ["sentence", "pair", "surface", "surface_opposite", "opposite", attribute, *opposite]
    for row in read_rows(dataset, columns):
        pair = surface_pair(row, values)
        pairs.setdefault(pair, row["pair"])
        counts.setdefault(pair, Counter())[row[attribute]] += 1
        lengths[len(row["sentence"])] += 1
        characters.update(row["sentence"])
    known = _published(published, pairs, values) if published else {}
    write_tables(table, [(table_1(values), _rows(pairs, counts, known, values))])
    document = {
        "sentences": lengths.total(),
        "length": _length(lengths),
        "distinct_characters": len(characters),
        "vocabulary": _coverage(characters, vocabulary) if vocabulary else None,
        "pairs": _mask_pairs(pairs, counts, known, values),
    }
    write_json(statistics, document)
    return {"sentences": lengths.total(), "distinct_characters": len(characters)}


def _published(path: Path, pairs: dict[str, str], values: Sequence[str]) -> dict[str, int]:
    """The published sentences per direction of a surface pair."""
    known = {}
    names = word_columns(values)
    rows = read_resource(path, [*names, "sentences"], unique=tuple(names))
    for line, row in enumerate(rows, start=2):
        if not (row["sentences"].isascii() and row["sentences"].isdigit()):
            raise InputError(f"{row['sentences']!r} is no number", file=path, line=line)
        known["/".join(row[name] for name in names)] = int(row["sentences"])
    if unknown := [pair for pair in known if pair not in pairs]:
        raise InputError(
            f"there is no surface pair {unknown[0]}",
            file=path,
            line=list(known).index(unknown[0]) + 2,
            remedy="take the words of a pair from the table of keywords",
        )
    return known


def _rows(
    pairs: dict[str, str],
    counts: dict[str, Counter[str]],
    known: dict[str, int],
    values: Sequence[str],
) -> Iterator[Row]:
    for pair, mask_pair in pairs.items():
        row = {"pair": mask_pair, "surface": pair} | {one: counts[pair][one] for one in values}
        row |= dict.fromkeys((f"published_{one}" for one in values), known.get(pair))
        yield row | {"total": counts[pair].total()}


def _mask_pairs(
    pairs: dict[str, str],
    counts: dict[str, Counter[str]],
    known: dict[str, int],
    values: Sequence[str],
) -> list[dict[str, Any]]:
    """The table's sums per mask pair; published numbers only where all of a pair's are known."""
    sums = []
    for mask_pair in dict.fromkeys(pairs.values()):
        surfaces = [pair for pair, mask in pairs.items() if mask == mask_pair]
        found = sum((counts[pair] for pair in surfaces), Counter())
        complete = all(pair in known for pair in surfaces)
        published = sum(known[pair] for pair in surfaces) if complete else None
        sums.append(
            {"pair": mask_pair}
            | {value: found[value] for value in values}
            | {"total": found.total()}
            | {f"published_{value}": published for value in values}
        )
    return sums


def _length(lengths: Counter[int]) -> dict[str, Any]:
    """Mean, median, range and histogram of the lengths in characters; null where none."""
    import numpy as np

    if not lengths:
        nothing = dict.fromkeys(("mean", "median", "min", "max"))
        return nothing | {"histogram": []}
    values = np.repeat(list(lengths), list(lengths.values()))
    bars = Counter(length // BAR for length in values.tolist())
    return {
        "mean": round(float(values.mean()), 6),
        "median": float(np.median(values)),
        "min": int(values.min()),
        "max": int(values.max()),
        "histogram": [
            {"from": bar * BAR, "to": (bar + 1) * BAR - 1, "sentences": bars[bar]}
            for bar in range(max(bars) + 1)
        ],
    }


def _coverage(characters: Counter[str], path: Path) -> dict[str, Any]:
    """How the characters and the entries of a vocabulary cover each other."""
    try:
        # Only a line feed ends an entry: other separators may be entries themselves.
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", file=path, remedy="give a model's vocab.txt") from error
    entries = {line.removesuffix("\r") for line in lines} - {""}
    if not entries:
        raise InputError("holds no entry", file=path, remedy="give a model's vocab.txt")
    covered = sum(character in entries for character in characters)
    missing = sorted(
        ((count, one) for one, count in characters.items() if one not in entries),
        key=lambda item: (-item[0], item[1]),
    )
    return {
        "entries": len(entries),
        "characters_covered": covered,
        "characters_missing": len(missing),
        "share_of_characters": round(covered / len(characters), 6) if characters else None,
        "share_of_entries": round(covered / len(entries), 6),
        "distinct_characters_per_entry": round(len(characters) / len(entries), 6),
        "most_frequent_missing": [
            {"character": one, "occurrences": count} for count, one in missing[:NAMED]
        ],
    }


if __name__ == "__main__":
    stage.run(describe_dataset)
