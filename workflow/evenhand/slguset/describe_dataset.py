"""Describe a data set: sentences per pair and direction, lengths, characters, vocabulary."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.core.tables import Row, Table, integer, text, write_tables
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import read_rows
from evenhand.slguset.surface_pairs import surface_pair, surface_pairs

TABLE = Table(
    "table_1",
    title="Sentences per word pair and direction",
    key=("pair", "surface"),
    columns=(
        text("pair", "Mask pair"),
        text("surface", "Surface pair"),
        integer("male", "Sentences with the male word"),
        integer("female", "Sentences with the female word"),
        *map(integer, ("total", "published_male", "published_female")),
    ),
    source="Zhao et al. 2021, table 1",
)

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

    Returns
    -------
    dict
        sentences, distinct_characters.

    Raises
    ------
    InputError
        A table or the vocabulary is not well formed.
    """
    pairs = surface_pairs(keywords)
    counts: dict[str, Counter[str]] = {pair: Counter() for pair in pairs}
    lengths: Counter[int] = Counter()
    characters: Counter[str] = Counter()
    columns = ["sentence", "pair", "surface", "surface_opposite", "gender"]
    for row in read_rows(dataset, columns):
        pair = surface_pair(row)
        pairs.setdefault(pair, row["pair"])
        counts.setdefault(pair, Counter())[row["gender"]] += 1
        lengths[len(row["sentence"])] += 1
        characters.update(row["sentence"])
    known = _published(published, pairs) if published else {}
    write_tables(table, [(TABLE, _rows(pairs, counts, known))])
    document = {
        "sentences": lengths.total(),
        "length": _length(lengths),
        "distinct_characters": len(characters),
        "vocabulary": _coverage(characters, vocabulary) if vocabulary else None,
        "pairs": _mask_pairs(pairs, counts, known),
    }
    write_json(statistics, document)
    return {"sentences": lengths.total(), "distinct_characters": len(characters)}


def _published(path: Path, pairs: dict[str, str]) -> dict[str, int]:
    """The published sentences per direction of a surface pair."""
    known = {}
    names = ["surface_male", "surface_female"]
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
    pairs: dict[str, str], counts: dict[str, Counter[str]], known: dict[str, int]
) -> Iterator[Row]:
    for pair, mask_pair in pairs.items():
        male, female = counts[pair]["male"], counts[pair]["female"]
        row = {"pair": mask_pair, "surface": pair, "male": male, "female": female}
        row |= dict.fromkeys(("published_male", "published_female"), known.get(pair))
        yield row | {"total": male + female}


def _mask_pairs(
    pairs: dict[str, str], counts: dict[str, Counter[str]], known: dict[str, int]
) -> list[dict[str, Any]]:
    """The table's sums per mask pair; published numbers only where all of a pair's are known."""
    sums = []
    for mask_pair in dict.fromkeys(pairs.values()):
        surfaces = [pair for pair, mask in pairs.items() if mask == mask_pair]
        male = sum(counts[pair]["male"] for pair in surfaces)
        female = sum(counts[pair]["female"] for pair in surfaces)
        complete = all(pair in known for pair in surfaces)
        published = sum(known[pair] for pair in surfaces) if complete else None
        sums.append(
            {"pair": mask_pair, "male": male, "female": female, "total": male + female,
             "published_male": published, "published_female": published}
        )  # fmt: skip
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
