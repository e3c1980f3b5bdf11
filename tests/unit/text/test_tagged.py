import gzip
import json

import pytest

from evenhand.errors import InputError
from evenhand.text.tagged import parse_cluener, parse_pku, read_tagged


def marked(tagged):
    return [tagged.text[start:end] for start, end in tagged.names]


def test_pku_joins_surname_and_given_name():
    line = "19980101-01-001-002/m  [中央/n  台/n]nt  主席/n  王/nr  小丫/nr  和/c  [李/nr  明/nr]nz"
    tagged = parse_pku(line)
    assert tagged.text == "中央台主席王小丫和李明"
    assert marked(tagged) == ["王小丫", "李明"]


def test_pku_with_a_slash_as_a_word():
    assert parse_pku("甲/n  //w  乙/n").text == "甲/乙"


def test_pku_that_is_not_tagged(tmp_path):
    path = tmp_path / "pd.txt"
    path.write_text("甲/n\n\n她 在/p\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"pd.txt:3: '她' is no tagged word"):
        list(read_tagged(path, "pku"))


def test_cluener_spans_are_inclusive():
    line = json.dumps(
        {"text": "王小丫看见王小丫。", "label": {"name": {"王小丫": [[0, 2], [5, 7]]}, "city": {}}}
    )
    assert parse_cluener(line).names == ((0, 3), (5, 8))
    assert parse_cluener('{"text": "她在。"}').names == ()


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"label": {}}',
        '{"text": "她", "label": {"name": {"她": [0]}}}',
        '{"text": "她在", "label": {"name": {"在": [[0, 0]]}}}',
        '{"text": "她在", "label": {"name": {"在": [[-1, -1]]}}}',
        '{"text": "她在", "label": {"name": {"": [[7, 8]]}}}',
        '{"text": ["她"], "label": {}}',
        '{"text": ' + "9" * 5000 + "}",
        '{"text": ' + "[" * 5000,
        "[]",
    ],
)
def test_broken_cluener_records(line, tmp_path):
    file = tmp_path / "cluener.json"
    file.write_text('{"text": "她在。", "label": {}}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"cluener.json:2"):
        list(read_tagged(file, "cluener"))


def test_sentences_are_cut_and_normalised(tmp_path):
    file = tmp_path / "pd.txt.gz"
    line = "王/nr  小丫/nr  穿/v  T/x  恤/n  。/w  “/w  李/nr  ·/w  约翰/nr  ？/w  ”/w  。/w\n\n"
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.write(line)
    first, second = read_tagged(file, "pku")
    assert (first.text, marked(first)) == ("王小丫穿恤。", ["王小丫"])
    assert second.text == "“李·约翰？"
    assert marked(second) == ["李", "约翰"]
    file = tmp_path / "cluener.json"
    record = {"text": "她叫王。小丫了。", "label": {"name": {"王。小丫": [[2, 5]]}}}
    file.write_text(json.dumps(record), encoding="utf-8")
    assert [sentence.names for sentence in read_tagged(file, "cluener")] == [((2, 4),), ((0, 2),)]
