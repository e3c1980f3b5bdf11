"""The table of a shard's sentences, each with its keyword, that is handed on to the filters."""

import pyarrow as pa

from evenhand.slguset import distinct_sentences

#: What is said of a keyword and where it stands.
KEYWORD = pa.schema(
    [
        ("pair", pa.string()),
        ("surface", pa.string()),
        ("surface_opposite", pa.string()),
        ("keyword", pa.string()),
        ("opposite", pa.string()),
        ("gender", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("surface_start", pa.int32()),
        ("surface_end", pa.int32()),
    ]
)

#: The columns of the table. The keyword's are null where there is not exactly one, and `word`
#: where the sentence was turned down before it was cut into words.
SCHEMA = pa.schema(
    [*distinct_sentences.SCHEMA, *KEYWORD, ("word", pa.string()), ("verdict", pa.string())]
)
