"""Tables of sentences with a keyword: their columns, and their surface pairs by name.

A surface pair has the words of two values, in the order of the values (``男人/女人``).
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.io.tables import schema_of
from evenhand.slguset.keywords import GENDERS, Surface, read_keywords

#: The columns of a table of sentences.
SENTENCES = schema_of(
    sentence_id="string",
    sentence="string",
    source="string",
    source_position="int64",
    copies="int64",
)

#: The words that change with the keyword, and their replacements; see `spans_of`.
SPANS = pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32()), ("text", pa.string())]))


def keyword_columns(
    attribute: str = "gender", values: Sequence[str] = GENDERS, spans: bool = False
) -> pa.Schema:
    """Return the columns of a keyword and its position.

    Parameters
    ----------
    attribute : str
        The attribute, which names the column of the keyword's value.
    values : sequence of str
        Its values: of more than two, a column {attribute}_opposite has that of the opposite.
    spans : bool
        Whether a sentence can have several words to exchange, the keyword among them.
    """
    columns = ["pair", "surface", "surface_opposite", "keyword", "opposite", attribute]
    columns += [f"{attribute}_opposite"] if len(values) > 2 else []
    places = ["start", "end", "surface_start", "surface_end"]
    fields = [(name, pa.string()) for name in columns] + [(name, pa.int32()) for name in places]
    return pa.schema([*fields, *([("spans", SPANS)] if spans else [])])


def schema(*options: object) -> pa.Schema:
    """Return the columns of the table, for the options of `keyword_columns`.

    The keyword's are null where there is not exactly one, and `word` where the sentence was turned
    down before it was cut into words.
    """
    keyword = keyword_columns(*options)
    return pa.schema([*SENTENCES, *keyword, ("word", pa.string()), ("verdict", pa.string())])


#: The columns for gender, one keyword a sentence.
SCHEMA = schema()


def columns_in(table: pa.Schema) -> pa.Schema:
    """Return the columns of `keyword_columns` that a table has."""
    start = table.get_field_index("pair")
    last = "spans" if "spans" in table.names else "surface_end"
    return pa.schema([table.field(i) for i in range(start, table.get_field_index(last) + 1)])


def attribute_of(columns: Sequence[str]) -> str:
    """Return the attribute that a table of keywords is about (see `keyword_columns`)."""
    names = list(columns)
    return names[names.index("opposite") + 1]


def sides(row: Mapping[str, Any], values: Sequence[str] = GENDERS) -> tuple[str, str]:
    """Return the values of a row's keyword and opposite, in the order of the values."""
    attribute = attribute_of([*row])
    opposite = row.get(f"{attribute}_opposite")
    first, second = (v for v in values if opposite is None or v in (row[attribute], opposite))
    return first, second


def is_first(row: Mapping[str, Any], values: Sequence[str] = GENDERS) -> bool:
    """Return whether the value of a row's keyword comes before that of its opposite."""
    return row[attribute_of([*row])] == sides(row, values)[0]


def surface_pair(row: Mapping[str, Any], values: Sequence[str] = GENDERS) -> str:
    """Return the name of the surface pair of a row with the columns of keywords."""
    words = (row["surface"], row["surface_opposite"])
    return "/".join(words if is_first(row, values) else words[::-1])


def surface_pairs(keywords: Path, values: Sequence[str] = GENDERS) -> dict[str, Surface]:
    """Return the first side of each surface pair, by name, in the order of the table."""
    table = read_keywords(keywords, values)
    firsts = [
        table.base(row) if row.features else row
        for rows in table.alternatives.values()
        for row in rows
        if values.index(row.value) < values.index(row.value_opposite)
    ]
    return {f"{row.surface}/{row.surface_opposite}": row for row in firsts}


def word_columns(values: Sequence[str]) -> list[str]:
    """Return the columns of a surface pair's two words: surface_male and surface_female."""
    sides = values if len(values) == 2 else ("first", "second")
    return [f"surface_{side}" for side in sides]


def read_pair_numbers(
    path: Path, pairs: Collection[str], values: Sequence[str] = GENDERS
) -> dict[str, int]:
    """Read a table with a number of sentences of surface pairs (surface_male, surface_female).

    Raises
    ------
    InputError
        The table is malformed, or a pair is none of `pairs`.
    """
    names = word_columns(values)

    def numbered(row: dict[str, str]) -> tuple[str, int]:
        pair, number = "/".join(row[name] for name in names), row["sentences"]
        if pair not in pairs:
            remedy = "take the words of a pair from the table of keywords"
            raise InputError(f"there is no surface pair {pair}", remedy=remedy)
        if not (number.isascii() and number.isdigit()):
            raise InputError(f"{number!r} is no number")
        return pair, int(number)

    return dict(read_resource(path, [*names, "sentences"], unique=tuple(names), make=numbered))
