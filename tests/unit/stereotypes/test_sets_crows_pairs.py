import pytest

from evenhand.errors import InputError
from evenhand.stereotypes.pairs import PAIRS
from evenhand.stereotypes.sets.crows_pairs import form, read, unused_columns

HEADER = ",sent_more,sent_less,stereo_antistereo,bias_type,annotations"


def written(path, *lines, header=HEADER, encoding="utf-8"):
    path.write_text("\n".join([header, *lines]) + "\n", encoding=encoding)
    return path


@pytest.fixture
def file(tmp_path):
    return tmp_path / "pairs.csv"


def refused(file, match):
    with pytest.raises(InputError, match=match) as caught:
        list(read(file, None))
    return caught.value


def test_a_pair_of_each_direction(file):
    written(
        file,
        '7,"Poor people, again.","Rich people, again.",stereo,socioeconomic,'
        """"[['socioeconomic'], [], ['age'], ['age', 'socioeconomic'], ['socioeconomic']]\"""",
        "9, He works. ,She works.,antistereo,gender,",
    )
    one, other = read(file, None)
    assert set(one) == set(PAIRS.names)
    assert (one["pair_id"], one["source_position"], other["pair_id"]) == ("7", 1, "9")
    assert (one["more"], one["less"]) == ("Poor people, again.", "Rich people, again.")
    assert (one["direction"], one["disadvantaged"]) == ("stereo", "more")
    assert (other["direction"], other["disadvantaged"]) == ("antistereo", "less")
    assert (one["annotators"], one["agreement"], one["agreement_any"]) == (5, 3, 4)
    assert (other["annotators"], other["agreement"], other["agreement_any"]) == (None,) * 3
    assert (one["cluster"], other["cluster"], other["more"]) == ("poor|rich", "he|she", "He works.")
    assert one["context"] is one["unrelated"] is None


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_other_languages_delimiters_and_column_orders(file, delimiter, encoding):
    header = delimiter.join(
        ["bias_type", "sent_less", "more words", "sent_more", "stereo_antistereo"]
    )
    written(
        file,
        delimiter.join(["性别", "女人很强", "x", "男人很强", ""]),
        header=header,
        encoding=encoding,
    )
    (row,) = read(file, None)
    assert (row["pair_id"], row["more"], row["cluster"]) == ("1", "男人很强", "女|男")
    assert row["direction"] is row["disadvantaged"] is row["annotators"] is None


@pytest.mark.parametrize("name", ["id", "pair_id", "Unnamed: 0"])
def test_ids_come_from_a_column_that_has_them(file, name):
    header = f"sent_more,sent_less,stereo_antistereo,bias_type,{name}"
    written(file, "a,b,stereo,age,x1", ",,,,", "c,d,stereo,age,x2", header=header)
    assert [(r["pair_id"], r["source_position"]) for r in read(file, None)] == [
        ("x1", 1),
        ("x2", 2),
    ]


def test_a_column_without_a_name_has_ids_only_if_it_is_the_first(file):
    header = "sent_more,,sent_less,stereo_antistereo,bias_type"
    written(file, "a,7,b,stereo,age", header=header)
    (row,) = read(file, None)
    assert row["pair_id"] == "1"


def test_a_wrong_encoding_is_named_with_its_line(file):
    written(file, "0,a,b,stereo,age,", "1,café,b,stereo,age,", encoding="latin-1")
    error = refused(file, "is not UTF-8")
    assert (error.file, error.line) == (file, 3)
    written(file, "0,a,b,stereo,age,", encoding="utf-16")
    refused(file, "is not UTF-8 .* > .*utf8/.*/pairs.csv`")
    for content, words in (
        (b"PK\x03\x04\xff", "is a spreadsheet or an archive; save it as a CSV file"),
        (b"PAR1\x15\xff", "is a Parquet file; end its name in .parquet"),
        (b"\x1f\x8b", "is compressed by gzip; end its name in .gz"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS; get the file"),
        (b"<!doctype html>\n", "is a web page; download the file itself"),
    ):
        file.write_bytes(content)
        refused(file, words)
    written(file, "0,a,b\ufffd,stereo,age,")
    assert refused(file, "wrong encoding").line == 2


@pytest.mark.parametrize("column", ["sent_more", "sent_less"])
def test_a_missing_column(file, column):
    written(file, "0,a,b,stereo,age,[]", header=HEADER.replace(column, column.title()))
    refused(file, f"; rename {column.title()} to {column}")
    written(file, "0,a,b,stereo,age,[]", header=HEADER.replace(column, "other"))
    assert refused(file, f"has no column {column}; its columns are .*other").line == 1
    written(file, "0,a,b,stereo,age,[],c", header=f"{HEADER},{column}")
    refused(file, f"has the column '{column}' twice; give each column a name of its own")


@pytest.mark.parametrize("name", ["biastype", "Bias Type", "BIAS_TYPE"])
def test_a_column_in_another_spelling(file, name):
    written(file, "a,b,age", header=f"sent_more,sent_less,{name}")
    refused(file, f"has a column '{name}', and none named bias_type; rename it to bias_type")
    written(file, "a,b,x,age", header=f"sent_more,sent_less,{name},bias_type")
    assert [pair["bias_type"] for pair in read(file, None)] == ["age"]


def test_columns_that_are_not_read(file):
    written(file, "1,a,b,age,x", header=",sent_more,sent_less,category,note")
    assert unused_columns(file) == ["category", "note"]


def test_two_columns_are_enough(file):
    written(file, "a,b", header="sent_more,sent_less")
    [pair] = read(file, None)
    assert (pair["bias_type"], pair["direction"]) == ("not given", None)


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ("1,a,b,stereo,age", "has 5 cells, and the header 6"),
        ("1,a,b,c,stereo,age,", "has 7 cells"),
        ("1,a,b,both,age,", "'both' is no direction"),
        ("1,a,b,stereo,all,", "'all' is no bias_type"),
        (",a,b,stereo,age,", "the id"),
        ("1,a,b,stereo,age,[[age]]", "annotations"),
        ("1,a,b,stereo,age,\"['age', 'age']\"", "annotations"),
        ("1,a,b,stereo,age,{}", "annotations"),
        ("1,a,b,stereo,age," + "[" * 500, "annotations"),
        ("1,a,b,stereo,age,__import__('os')", "annotations"),
        ('1,"a,b,stereo,age,', "is not a CSV file"),
    ],
)
def test_a_broken_row_is_named_with_its_line(file, row, match):
    written(file, "0,a,b,stereo,age,[]", row)
    error = refused(file, match)
    assert error.file == file and error.line >= 3


def test_json_annotations_and_none(file):
    written(file, '0,a,b,stereo,age,"[[""age""], []]"', "1,a,c,stereo,age,[]")
    one, other = read(file, None)
    assert (one["annotators"], one["agreement"]) == (2, 1)
    assert other["annotators"] is other["agreement"] is None


def test_it_has_no_parts():
    with pytest.raises(InputError, match="no part 'intrasentence'"):
        form("intrasentence")
