import json

import pytest

from evenhand.errors import InputError
from unit.legal.made_records import json_lines, read

FACT = "某县人民检察院指控，被告人甲某于某日在某村将被害人乙某的一辆自行车盗走。"


def line(fact=FACT, *, months=6, death=False, life=False, **more):
    term = {"death_penalty": death, "imprisonment": months, "life_imprisonment": life}
    meta = {"relevant_articles": [264], "accusation": ["盗窃"], "criminals": ["甲某"]}
    return {"fact": fact, "meta": meta | {"term_of_imprisonment": term} | more}


def read_lines(folder, *lines, name="cases.json", is_in="utf-8", **options):
    return read("cail2018", [json_lines(folder / name, *lines, encoding=is_in)], **options)


def test_a_case(tmp_path):
    (record,), counts = read_lines(tmp_path, line(" " + FACT + "\r\n第二段。 "))
    assert record.text == (FACT, "第二段。") and record.context == () and not counts
    assert (record.source, record.source_position) == (str(tmp_path / "cases.json"), 1)
    assert record.labels == ("<=12",) and record.date is None and record.language == "zh"
    assert record.metadata == {
        "accusation": "盗窃",
        "articles": "264",
        "criminals": "甲某",
        "sentence": "imprisonment",
        "months": "6",
    }


def test_equal_facts_have_the_same_id_in_both_encodings(tmp_path):
    lines = [line(), line(FACT + "另查明。")]
    utf8, _ = read_lines(tmp_path, *lines, name="a.json")
    chinese, _ = read_lines(tmp_path, *lines, is_in="gb18030", name="b.jsonl")
    assert [(r.case_id, r.text) for r in utf8] == [(r.case_id, r.text) for r in chinese]
    assert len({r.case_id for r in utf8}) == 2 and len(utf8[0].case_id) == 16


@pytest.mark.parametrize(
    ("term", "label", "sentence"),
    [
        ({"months": 0}, "0", "imprisonment"),
        ({"months": 12.5}, "<=36", "imprisonment"),
        ({"months": 0, "life": True}, ">120", "life"),
        ({"months": 6, "death": True, "life": True}, ">120", "death"),
        ({"months": -1, "life": True}, ">120", "life"),
    ],
)
def test_terms(tmp_path, term, label, sentence):
    (record,), counts = read_lines(tmp_path, line(**term))
    assert (record.labels, record.metadata["sentence"]) == ((label,), sentence) and not counts


def test_lines_that_are_left_out(tmp_path):
    bad = [line(f"{FACT}{m}", months=m) for m in (-1, "六", None, True, float("nan"), [6])]
    bad += [line(death="no"), line() | {"meta": {"term_of_imprisonment": 6}}]
    records, counts = read_lines(tmp_path, *bad, {"meta": {}}, {"fact": None}, [1], line(""))
    assert [r.text for r in records] == [()]  # read_cases leaves it out
    assert counts == {"bad_label": len(bad), "missing_field": 2, "broken_json": 1}


def test_a_line_without_a_term_has_no_label(tmp_path):
    lines = [{"fact": FACT}, {"fact": FACT + "二", "meta": {}}, {"fact": FACT + "三", "meta": None}]
    records, counts = read_lines(tmp_path, *lines)
    assert [r.labels for r in records] == [None] * 3 and not counts
    assert "sentence" not in records[0].metadata


@pytest.mark.parametrize(("is_in", "stated"), [("gb18030", "utf-8"), ("utf-8", "gb18030")])
def test_a_wrong_encoding_is_refused(tmp_path, is_in, stated):
    message = f"is {is_in.upper()}, but the stated encoding is {stated.upper()}"
    with pytest.raises(InputError, match=message):
        read_lines(tmp_path, line(), is_in=is_in, encoding=stated)
    assert len(read_lines(tmp_path, line(), is_in=is_in, encoding=is_in)[0]) == 1
    escaped = tmp_path / "escaped.json"
    escaped.write_text(json.dumps(line()) + "\n", encoding="ascii")
    assert read("cail2018", [escaped], encoding=stated)[0][0].text == (FACT,)


def test_damaged_cases_are_left_out(tmp_path):
    file = json_lines(tmp_path / "cases.json", *(line(f"{FACT}{i}") for i in range(3)))
    file.write_bytes(file.read_bytes().replace("乙某".encode(), b"\xff\xfe", 1))
    records, counts = read("cail2018", [file])
    assert [r.source_position for r in records] == [2, 3]
    assert counts == {"undecodable_bytes": 1, "damaged_case": 1}


@pytest.mark.parametrize("inside", [True, False])
def test_annotated_subsets(tmp_path, inside):
    extra = {"gender": "女", "province": "广东省"}
    (record,), _ = read_lines(tmp_path, line(**extra) if inside else line() | extra)
    assert record.metadata["defendant_gender"] == "female"
    assert record.metadata["province"] == "广东省"


@pytest.mark.mirror
def test_the_real_files(mirror):
    chinese = mirror / "cail2018" / "cail2018_train_subset.gb18030.jsonl"
    for path, cases, distinct in (
        (chinese, 1766, 1764),
        (mirror / "cail2018" / "cail2018_test_subset.jsonl", 682, 681),
    ):
        records, counts = read("cail2018", [path])
        assert (len(records), len({r.case_id for r in records})) == (cases, distinct)
        assert not counts and all(r.labels and r.text for r in records)
    with pytest.raises(InputError, match="GB18030, but the stated encoding is UTF-8"):
        read("cail2018", [chinese], encoding="utf-8")
