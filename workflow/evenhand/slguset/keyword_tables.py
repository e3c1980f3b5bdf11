"""The table of a shard's sentences, each with its keyword, that is handed on to the filters."""

import pyarrow as pa

#: Its columns. The keyword's are null where there is not exactly one, and `word` where the
#: sentence was turned down before it was cut into words.
SCHEMA = pa.schema(
    [
        ("sentence_id", pa.string()),
        ("sentence", pa.string()),
        ("source", pa.string()),
        ("source_position", pa.int64()),
        ("copies", pa.int64()),
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
        ("word", pa.string()),
        ("verdict", pa.string()),
    ]
)
