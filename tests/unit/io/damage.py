"""Parquet files with one wrong byte."""

from pathlib import Path

import pyarrow.parquet as pq

#: What is said of such a file, whose pages have checksums.
WORDS = r"{name}: is damaged: .* CRC .*; remove it"


def damage(path: Path, column: str) -> str:
    """Turn the last byte of a column's last page; what `pytest.raises` shall match."""
    group = pq.read_metadata(path).row_group(0)
    chunks = {group.column(i).path_in_schema.split(".")[0]: group.column(i)
              for i in range(group.num_columns)}  # fmt: skip
    one = chunks[column]
    start = one.dictionary_page_offset or one.data_page_offset
    data = bytearray(path.read_bytes())
    data[start + one.total_compressed_size - 1] ^= 0x55
    path.write_bytes(data)
    return WORDS.format(name=path.name)
