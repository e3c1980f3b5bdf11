"""Parquet in and out."""

import os
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.io import tables

SCHEMA = pa.schema([("word", pa.string()), ("count", pa.int64())])


def test_rows_come_back_in_order_with_null_for_none(tmp_path):
    rows = [{"word": "男", "count": 1}, {"word": None, "count": None}, {"count": 2, "word": ""}]
    assert tables.write_table(tmp_path / "t.parquet", SCHEMA, iter(rows)) == 3
    assert list(tables.read_rows(tmp_path / "t.parquet")) == rows
    assert list(tables.read_rows(tmp_path / "t.parquet", ["count"])) == [
        {"count": 1},
        {"count": None},
        {"count": 2},
    ]


def test_a_failure_leaves_no_file_and_keeps_the_former(tmp_path):
    def rows():
        yield {"word": "x", "count": 1}
        raise RuntimeError("midway")

    path = tmp_path / "t.parquet"
    for former in (False, True):
        if former:
            tables.write_table(path, SCHEMA, [{"word": "former", "count": 0}])
        with pytest.raises(RuntimeError, match="midway"):
            tables.write_table(path, SCHEMA, rows())
        assert list(tmp_path.iterdir()) == ([path] if former else [])
    assert list(tables.read_rows(path)) == [{"word": "former", "count": 0}]


@pytest.mark.parametrize(
    "row", [{"word": "x"}, {"word": "x", "cuont": 1}, {"word": "x", "count": 1, "more": 2}, {}]
)
def test_a_row_with_other_columns_is_a_defect_and_not_dropped(tmp_path, row):
    with pytest.raises(ValueError, match="row has the columns"):
        tables.write_table(tmp_path / "t.parquet", SCHEMA, [row])


def test_columns_that_are_there_and_one_that_is_not(tmp_path):
    path = tmp_path / "t.parquet"
    tables.write_table(path, SCHEMA, [])
    names = SCHEMA.names
    assert tables.read_columns(path, names[:1]).column_names == names[:1]
    assert tables.count_rows(path, names) == 0
    with pytest.raises(InputError, match="lacks the column other; use another"):
        tables.count_rows(path, ["other"], remedy="use another")
    path.write_text("no table", encoding="utf-8")
    with pytest.raises(InputError, match="is not a Parquet file"):
        tables.read_columns(path, names)


#: Bytes of a page at most before what it holds, which alone its checksum covers.
HEAD = 80


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a table, and the places of what its pages hold."""
    path = tmp_path_factory.mktemp("whole") / "t.parquet"
    rows = [{"word": f"w{i * 7919 % 997}", "count": i * i % 977} for i in range(5000)]
    tables.write_table(path, SCHEMA, rows)
    group = pq.read_metadata(path).row_group(0)
    places = []
    for column in map(group.column, range(group.num_columns)):
        start, middle = column.dictionary_page_offset, column.data_page_offset
        end = start + column.total_compressed_size
        places += [*range(start + HEAD, middle), *range(middle + HEAD, end)]
    return path.read_bytes(), places


@given(data=st.data(), mask=st.integers(1, 255))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_damaged_page_is_told_with_its_file_and_never_read(tmp_path, whole, data, mask):
    text, places = whole
    at = data.draw(st.sampled_from(places))
    path = tmp_path / "t.parquet"
    path.write_bytes(text[:at] + bytes([text[at] ^ mask]) + text[at + 1 :])
    readers = (lambda: tables.read_columns(path, SCHEMA.names), lambda: [*tables.read_rows(path)])
    for read in readers:
        with pytest.raises(
            InputError, match=r"t\.parquet: is damaged: .* CRC .*; remove it"
        ) as one:
            read()
        assert one.value.file == path


def test_a_file_that_is_cut_is_told(tmp_path, whole):
    path = tmp_path / "t.parquet"
    for length in (0, 3, 100, len(whole[0]) - 1):
        path.write_bytes(whole[0][:length])
        cut = "a Parquet file that is cut off; copy or write it again" if length > 3 else "not a P"
        with pytest.raises(InputError, match=rf"t\.parquet: is {cut}"):
            tables.count_rows(path)


def test_a_name_that_pyarrow_cannot_take_is_told(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff.parquet")
    path.touch()
    with pytest.raises(InputError, match="has a name that is not UTF-8; rename it"):
        tables.count_rows(path)


def test_nobody_else_reads_pages(repository):
    """Whoever does reads damaged ones, too; what a file says of itself may be read by all."""
    library = repository / "workflow/evenhand"
    reading = re.compile(r"pq\.read_table\(|read_parquet\(|\bParquetFile\(")
    found = {
        path.relative_to(library).as_posix()
        for path in library.rglob("*.py")
        if reading.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"io/tables.py"}
