"""The table of a shard's sentences, each with its keyword, that is handed on to the filters."""

from collections.abc import Sequence

import pyarrow as pa

from evenhand.slguset import distinct_sentences
from evenhand.slguset.keywords import GENDERS

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
    return pa.schema(
        [*distinct_sentences.SCHEMA, *keyword, ("word", pa.string()), ("verdict", pa.string())]
    )


#: The columns for gender, one keyword a sentence.
SCHEMA = schema()


def columns_in(table: pa.Schema) -> pa.Schema:
    """Return the columns of `keyword_columns` that a table has."""
    start = table.get_field_index("pair")
    last = "spans" if "spans" in table.names else "surface_end"
    return pa.schema([table.field(i) for i in range(start, table.get_field_index(last) + 1)])
