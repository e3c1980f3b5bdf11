import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.io.quarantine import Quarantine
from evenhand.legal.formats.cail2018 import read
from evenhand.legal.severity import Sentence, severity

FACT = "某县人民检察院指控，被告人甲某于某日在某村将被害人乙某的一辆自行车盗走。"


def line(fact=FACT, *, months=6, death=False, life=False, **more):
    """A line of CAIL2018."""
    meta = {
        "relevant_articles": [264],
        "accusation": ["盗窃"],
        "punish_of_money": 0,
        "criminals": ["甲某"],
        "term_of_imprisonment": {
            "death_penalty": death,
            "imprisonment": months,
            "life_imprisonment": life,
        },
    }
    return {"fact": fact, "meta": meta | more}


def read_lines(folder, lines, *, encoding="utf-8", stated=None, name="cases.json"):
    file = folder / name
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)
    file.write_bytes(text.encode(encoding))
    quarantine = Quarantine()
    options = {} if stated is None else {"encoding": stated}
    return list(read([file], options, quarantine, {})), quarantine


def test_a_case(tmp_path):
    (record,), quarantine = read_lines(tmp_path, [line(" " + FACT + "\r\n第二段。 ")])
    assert not quarantine.counts
    assert record.text == (FACT, "第二段。") and record.context == ()
    assert (record.source, record.source_position) == (str(tmp_path / "cases.json"), 1)
    assert record.labels == ("<=12",) and record.date is None and record.language == "zh"
    assert record.given == {
        "accusation": "盗窃",
        "articles": "264",
        "criminals": "甲某",
        "sentence": "imprisonment",
        "months": "6",
    }


def test_equal_facts_have_the_same_id_in_both_encodings(tmp_path):
    lines = [line(), line(FACT + "另查明。")]
    one, _ = read_lines(tmp_path, lines, name="a.json")
    other, _ = read_lines(tmp_path, lines, encoding="gb18030", name="b.jsonl")
    assert [r.case_id for r in one] == [r.case_id for r in other]
    assert [r.text for r in one] == [r.text for r in other]
    assert len({r.case_id for r in one}) == 2 and len(one[0].case_id) == 16


@pytest.mark.parametrize(
    ("term", "labels", "sentence"),
    [
        ({"months": 0}, ("0",), "imprisonment"),
        ({"months": 12.5}, ("<=36",), "imprisonment"),
        ({"months": 0, "life": True}, (">120",), "life"),
        ({"months": 6, "death": True}, (">120",), "death"),
        ({"months": 6, "death": True, "life": True}, (">120",), "death"),
        ({"months": -1, "life": True}, (">120",), "life"),
    ],
)
def test_terms(tmp_path, term, labels, sentence):
    (record,), quarantine = read_lines(tmp_path, [line(**term)])
    assert (record.labels, record.given["sentence"]) == (labels, sentence)
    assert not quarantine.counts


@given(st.integers(0, 600))
def test_months_are_classed_as_severity_says(tmp_path_factory, months):
    (record,), _ = read_lines(tmp_path_factory.mktemp("cail"), [line(months=months)])
    assert record.labels == (severity(Sentence("imprisonment", months)),)


def test_terms_that_are_none(tmp_path):
    bad = [line(f"{FACT}{m}", months=m) for m in (-1, "六", None, True, float("nan"), [6])]
    bad += [line(death="no"), line() | {"meta": {"term_of_imprisonment": 6}}]
    records, quarantine = read_lines(tmp_path, [*bad, line()])
    assert len(records) == 1 and records[0].source_position == len(bad) + 1
    assert quarantine.counts == {"bad_label": len(bad)}


def test_a_line_without_a_term_has_no_label(tmp_path):
    lines = [{"fact": FACT}, {"fact": FACT + "二", "meta": {}}, {"fact": FACT + "三", "meta": None}]
    records, quarantine = read_lines(tmp_path, lines)
    assert [r.labels for r in records] == [None] * 3 and not quarantine.counts
    assert "sentence" not in records[0].given


def test_lines_that_are_no_cases(tmp_path):
    records, quarantine = read_lines(tmp_path, [{"meta": {}}, {"fact": None}, [1], line("")])
    assert [r.text for r in records] == [()]  # read_cases sends it away
    assert quarantine.counts == {"missing_field": 2, "broken_json": 1}


@pytest.mark.parametrize(("is_in", "said"), [("gb18030", "utf-8"), ("utf-8", "gb18030")])
def test_a_wrong_encoding_is_told(tmp_path, is_in, said):
    with pytest.raises(
        InputError, match=f"is {is_in.upper()}, but the stated encoding is {said.upper()}"
    ):
        read_lines(tmp_path, [line()], encoding=is_in, stated=said)
    assert len(read_lines(tmp_path, [line()], encoding=is_in, stated=is_in)[0]) == 1
    with pytest.raises(InputError, match="'latin-1' is none"):
        read_lines(tmp_path, [line()], stated="latin-1")


def test_escaped_text_has_no_encoding_to_be_wrong(tmp_path):
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(line()) + "\n", encoding="ascii")
    for stated in ("auto", "utf-8", "gb18030"):
        (record,) = read([file], {"encoding": stated}, Quarantine(), {})
        assert record.text == (FACT,)


def test_damaged_cases_are_left_out(tmp_path):
    file = tmp_path / "cases.json"
    lines = [json.dumps(line(FACT + str(i)), ensure_ascii=False).encode() for i in range(3)]
    lines[1] = lines[1].replace("乙某".encode(), b"\xff\xfe")
    file.write_bytes(b"\n".join(lines))
    quarantine = Quarantine()
    records = list(read([file], {}, quarantine, {}))
    assert [r.source_position for r in records] == [1, 3]
    assert quarantine.counts == {"undecodable_bytes": 1, "damaged_case": 1}


@pytest.mark.parametrize("inside", [True, False])
def test_annotated_subsets(tmp_path, inside):
    extra = {"gender": "女", "province": "广东省"}
    made = line(**extra) if inside else line() | extra
    (record,), _ = read_lines(tmp_path, [made])
    assert record.given["defendant_gender"] == "female"
    assert record.given["province"] == "广东省"


@pytest.mark.mirror
def test_the_real_files(mirror):
    folder = mirror / "cail2018"
    for name, cases, distinct in (
        ("cail2018_train_subset.gb18030.jsonl", 1766, 1764),
        ("cail2018_test_subset.jsonl", 682, 681),
    ):
        quarantine = Quarantine()
        records = list(read([folder / name], {}, quarantine, {}))
        assert (len(records), len({r.case_id for r in records})) == (cases, distinct)
        assert not quarantine.counts
        assert all(r.labels and r.text for r in records)
    with pytest.raises(InputError, match="GB18030, but the stated encoding is UTF-8"):
        list(
            read(
                [folder / "cail2018_train_subset.gb18030.jsonl"],
                {"encoding": "utf-8"},
                Quarantine(),
                {},
            )
        )
