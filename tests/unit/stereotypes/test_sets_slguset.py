import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.slguset.dataset import SCHEMA, dataset_row
from evenhand.stereotypes.sets.slguset import form, read


def row(name, sentence, gender, surface, opposite, start=0):
    return dataset_row(
        {
            "sentence_id": name,
            "sentence": sentence,
            "pair": "男/女",
            "surface": surface,
            "surface_opposite": opposite,
            "keyword": surface[0],
            "opposite": opposite[0],
            "gender": gender,
            "start": start,
            "end": start + 1,
            "surface_start": start,
            "surface_end": start + 2,
            "source": "a.txt",
            "source_position": 1,
        }
    )


def written(path, rows):
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    return path


def test_the_male_sentence_is_more(tmp_path):
    rows = [
        row("a", "男人很强。", "male", "男人", "女人"),
        row("b", "一个女孩跑了。", "female", "女孩", "男孩", 2),
    ]
    one, other = read(written(tmp_path / "slguset.parquet", rows), None)
    assert (one["more"], one["less"]) == ("男人很强。", "女人很强。")
    assert (other["more"], other["less"]) == ("一个男孩跑了。", "一个女孩跑了。")
    assert [(r["pair_id"], r["bias_type"], r["cluster"]) for r in (one, other)] == [
        ("a", "男人/女人", "男人/女人"),
        ("b", "男孩/女孩", "男孩/女孩"),
    ]
    assert (form(None).more_means, form(None).less_means) == ("male", "female")
    assert "repeated_swap" not in form(None).flags


def test_broken_files(tmp_path):
    path = tmp_path / "slguset.parquet"
    path.write_text("no table", encoding="utf-8")
    with pytest.raises(InputError, match="is not a Parquet file"):
        list(read(path, None))
    written(path, [row("a", "男人很强。", "man", "男人", "女人")])
    with pytest.raises(InputError, match="'man' is no gender"):
        list(read(path, None))
    pq.write_table(pa.table({"sentence_id": ["a"]}), path)
    with pytest.raises(InputError, match="lacks the column sentence"):
        list(read(path, None))
    with pytest.raises(InputError, match="no part"):
        form("intrasentence")
