import json
import zipfile
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.legal.formats import scdb
from unit.legal.made_records import json_lines, read

HEADER = "caseId,usCite,term,docket,caseName,dateDecision,issueArea,decisionDirection,respondent"
ROWS = [
    '2001-001,"900 U.S. 1",2001,00-1,"APPLE v. BERRY et al.",11/18/2001,1,2,27',
    '2001-002,"900 U.S. 40",2001,00-2,"CHERRY v. DATE",2/1/2002,9,1,100',
    "2001-003,,2001,00-3,ELDER v. FIG,2/30/2002,8,3,122",
    '2001-004,"900 U.S. 90",2001,12 ORIG,"GRAPE v. HAZEL",,11,,28',
]


def table(folder, *rows, header=HEADER, name="SCDB.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes("\n".join([header, *(rows or ROWS), ""]).encode(encoding))
    return path


def opinions(folder, *rows):
    return json_lines(folder / "opinions.jsonl", *rows)


def test_a_text_by_its_citation_and_one_by_term_and_docket(tmp_path):
    texts = opinions(
        tmp_path,
        {"citation": "900 U.S. 1 (2001)", "text": "First.\n\nSecond\u00a0 part."},
        {"term": 2001, "docket": "No. 00\u20132", "text": "Other."},
    )
    records, counts = read("scdb", [table(tmp_path), texts])
    first, second = records
    assert (first.case_id, second.case_id) == ("2001-001", "2001-002")
    assert first.text == ("First.", "Second part.")
    assert first.date == date(2001, 11, 18) and first.title == "APPLE v. BERRY et al."
    assert first.labels == ("Criminal Procedure",) and second.labels == ("Judicial Power",)
    assert (
        first.metadata["scdb_respondent"] == "27"
        and first.metadata["scdb_decision_direction"] == "2"
    )
    assert first.metadata["joined_by"] == "citation" and second.metadata["joined_by"] == "docket"
    assert first.metadata["text_kind"] == "opinion"
    assert first.language == "en" and (first.source, first.source_position) == (str(texts), 1)
    assert counts == {"unmatched_row": 2}


def test_facts_of_oyez_are_html_and_called_a_summary(tmp_path):
    texts = opinions(
        tmp_path,
        {
            "name": "Apple v. Berry",
            "term": "2001",
            "docket_number": "00-1",
            "citation": {"volume": "900", "page": "1", "year": "2001"},
            "facts_of_the_case": "<p>A &amp; B met.</p>\n<p>They <em>sued</em>.</p>",
            "conclusion": "<p>Yes.</p>",
        },
        {"name": "Cherry v. Date", "term": "2001", "docket_number": "00-2", "citation": None},
        {"docket_number": "00-2", "term": "2001", "facts_of_the_case": None},
    )
    (record,), counts = read("scdb", [texts, table(tmp_path)])
    assert record.text == ("A & B met.", "They sued.")
    assert record.metadata["text_kind"] == "summary"
    assert record.metadata["joined_by"] == "citation_and_docket"
    assert counts == {"unmatched_row": 3, "missing_field": 1, "no_facts": 1}


def test_a_text_by_its_citation_of_the_supreme_court_reporter(tmp_path):
    header = HEADER.replace("usCite", "usCite,sctCite")
    rows = [
        "2001-001,,121 S. Ct. 10,2001,00-1,APPLE v. BERRY,11/18/2001,1,2,27",
        '2001-002,"900 U.S. 40",121 S. Ct. 90,2001,00-2,CHERRY v. DATE,2/1/2002,9,1,100',
        "2001-003,,121 S. Ct. 99,2001,00-3,ELDER v. FIG,2/1/2002,9,1,100",
    ]
    texts = opinions(
        tmp_path,
        {"citation": "900 U.S. ___ (2001), 121 S.Ct. 10", "text": "A."},
        {"sctCite": "121 S. Ct. 90", "citation": "", "text": "B."},
    )
    named = tmp_path / "121_SCt_99.txt"
    named.write_text("C.")
    records, counts = read("scdb", [table(tmp_path, *rows, header=header), texts, named])
    assert [(one.case_id, one.text[0]) for one in records] == [
        ("2001-001", "A."),
        ("2001-002", "B."),
        ("2001-003", "C."),
    ]
    assert {one.metadata["joined_by"] for one in records} == {"citation"} and not counts


def test_areas_outside_the_labels_missing_ones_and_a_date_that_is_none(tmp_path):
    rows = [*ROWS, "2001-005,,2001,00-5,IVY v. JADE,2002-03-04,,1,27"]
    dockets = ("00-3", "12, Original", "00-5")
    texts = opinions(tmp_path, *({"term": "2001", "docket": d, "text": "T."} for d in dockets))
    records, counts = read("scdb", [table(tmp_path, *rows), texts])
    assert [one.case_id for one in records] == ["2001-003"] and records[0].date is None
    assert counts == {"bad_date": 1, "outside_labels": 1, "bad_label": 1, "unmatched_row": 2}


def test_a_missing_date_is_no_bad_date(tmp_path):
    row = "2001-006,,2001,00-6,KALE v. LEEK,,nan,,27"
    texts = opinions(tmp_path, {"term": 2001, "docket": "00-6", "text": "T."})
    assert read("scdb", [table(tmp_path, row), texts]) == ([], {"bad_label": 1})
    row = row.replace("nan", "8.0")
    (record,), counts = read("scdb", [table(tmp_path, row), texts])
    assert record.date is None and record.labels == ("Economic Activity",) and not counts
    assert "scdb_decision_direction" not in record.metadata


def test_names_decide_where_citation_and_docket_disagree(tmp_path):
    texts = opinions(
        tmp_path,
        # the citation is that of another case, and the docket is right
        {"citation": "900 U.S. 1", "term": 2001, "docket": "00-2", "name": "Cherry v. Date"}
        | {"text": "A."},
        # no row has the docket, and the name is not that of the citation's row
        {"citation": "900 U.S. 90", "term": 2001, "docket": "00-9", "name": "Iris v. Joy"}
        | {"text": "B."},
        # the same, but the name agrees: one opinion for several dockets
        {"citation": "900 U.S. 1", "term": 2001, "docket": "00-8", "name": "In re Berry"}
        | {"text": "C."},
        # two rows, and no name to decide
        {"citation": "900 U.S. 1", "term": 2001, "docket": "00-3", "text": "D."},
        {"text": "E."},
        {"citation": "1 U.S. 1", "text": "F."},
    )
    records, counts = read("scdb", [table(tmp_path), texts])
    assert [(one.case_id, one.text[0]) for one in records] == [
        ("2001-002", "A."),
        ("2001-001", "C."),
    ]
    assert counts["unmatched_text"] == 4 and counts["unmatched_row"] == 2


def test_a_row_gets_the_text_that_fits_best(tmp_path):
    texts = opinions(
        tmp_path,
        {"citation": "900 U.S. 1", "text": "By citation alone."},
        {"citation": "900 U.S. 1", "term": 2001, "docket": "00-1", "text": "By both."},
        {"citation": "900 U.S. 1", "term": 2001, "docket": "00-1", "text": "By both, again."},
    )
    (record,), counts = read("scdb", [table(tmp_path), texts])
    assert record.text == ("By both.",)
    assert counts == {"unmatched_text": 2, "unmatched_row": 3}


def test_a_citation_that_two_rows_have(tmp_path):
    rows = [
        '2001-007,"901 U.S. 5",2001,00-7,MINT v. NUT,1/2/2002,1,1,27',
        '2001-008,"901 U.S. 5",2001,00-8,OLIVE v. PEAR,1/2/2002,1,1,27',
    ]
    texts = opinions(
        tmp_path,
        {"citation": "901 U.S. 5", "text": "A."},
        {"citation": "901 U.S. 5", "name": "Olive v. Pear", "text": "B."},
    )
    (record,), counts = read("scdb", [table(tmp_path, *rows), texts])
    assert record.case_id == "2001-008" and counts == {"unmatched_text": 1, "unmatched_row": 1}


def test_texts_as_files_of_a_folder_and_an_archive(tmp_path):
    folder = tmp_path / "opinions"
    folder.mkdir()
    (folder / "900_US_1.txt").write_bytes("Caf\u00e9.".encode("cp1252"))
    (folder / "2001_00-2.txt").write_text("By term and docket.")
    (folder / ".hidden.txt").write_text("Not meant.")
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        archive.writestr("x/00-3.txt", "By docket.")
        archive.writestr("../900 U.S. 90.txt", "Outside.")
    files = [folder, tmp_path / "more.zip", table(tmp_path)]
    records, counts = read("scdb", files)
    texts = {one.case_id: one.text[0] for one in records}
    assert texts["2001-001"] == "Café." and texts["2001-002"] == "By term and docket."
    assert texts["2001-003"] == "By docket." and len(texts) == 3
    assert counts["unsafe_member"] == 1 and counts["unmatched_row"] == 1


def test_texts_as_csv(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('us_cite,opinion_text\n900 U.S. 1,"Two\n\nparagraphs"\n900 U.S. 40\n')
    (record,), counts = read("scdb", [table(tmp_path), path])
    assert record.text == ("Two", "paragraphs") and record.source_position == 2
    assert counts["broken_csv"] == 1 and counts["unmatched_row"] == 3


def test_windows_1252_and_another_release_with_known_names(tmp_path):
    header = "case_id,US_Cite,Term,docket_number,CASENAME,Date_Decision,issue_area"
    header += ",direction,respondent_code"
    row = '2001-001,"900 U.S. 1",2001,00-1,P\u00c9REZ v. Q,11/18/2001,Civil Rights,2,State'
    scdb_table = table(tmp_path, row, header=header, encoding="cp1252")
    texts = opinions(tmp_path, {"citation": "900 U.S. 1", "text": "T."})
    (record,), _ = read("scdb", [scdb_table, texts])
    assert record.title == "PÉREZ v. Q" and record.labels == ("Civil Rights",)
    assert record.metadata["scdb_respondent"] == "State"


@pytest.mark.parametrize(
    ("header", "match"),
    [
        (HEADER.replace("dateDecision", "decided_on"), "lacks SCDB's column dateDecision"),
        (HEADER.replace("issueArea", "subject"), "neither a table of SCDB .* nor one of texts"),
        (HEADER + ",justice", "justice-centred"),
        (HEADER + ",term", "the column 'term' twice"),
    ],
)
def test_a_table_of_another_form(tmp_path, header, match):
    extra = ",x" * (header.count(",") - HEADER.count(","))
    path = table(tmp_path, ROWS[0] + extra, header=header)
    with pytest.raises(InputError, match=match) as caught:
        read("scdb", [path])
    assert caught.value.file == str(path)


def test_no_table_of_scdb_or_two(tmp_path):
    texts = opinions(tmp_path, {"citation": "900 U.S. 1", "text": "T."})
    with pytest.raises(InputError, match="none of the files is a table of SCDB"):
        read("scdb", [texts])
    with pytest.raises(InputError, match="2 of the files are"):
        read("scdb", [table(tmp_path), table(tmp_path, name="again.csv"), texts])


def test_cases_that_the_table_has_twice_or_without_an_id(tmp_path):
    rows = [*ROWS, ROWS[0], ",,2001,00-9,X v. Y,1/1/2002,1,1,27"]
    texts = opinions(tmp_path, {"citation": "900 U.S. 1", "text": "T."})
    records, counts = read("scdb", [table(tmp_path, *rows), texts])
    assert len(records) == 1
    assert counts == {"duplicate_case": 1, "missing_field": 1, "unmatched_row": 3}


def test_nothing_is_lost(tmp_path):
    rows = [f"2001-{n:03},,2001,00-{n},A v. B,1/1/2002,{n % 16},1,27" for n in range(40)]
    texts = [{"term": 2001, "docket": f"00-{n}", "text": "T."} for n in range(20, 60)]
    records, counts = read("scdb", [table(tmp_path, *rows), opinions(tmp_path, *texts)])
    told = counts["unmatched_text"] + counts["bad_label"] + counts["outside_labels"]
    assert len(records) + told == 40
    assert counts["unmatched_row"] == counts["unmatched_text"] == 20


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("329 U.S. 1", "329 u.s. 1"),
        ("329_US_1", "329 u.s. 1"),
        ("10us87", "10 u.s. 87"),
        ("0329 u. s. 0001 (1946)", "329 u.s. 1"),
        ("67 S. Ct. 6", ""),
        ("1946 U.S. LEXIS 1724", ""),
        ("", ""),
    ],
)
def test_keys_of_citations(text, key):
    assert scdb.citation_key(text) == key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("70-13", "70-13"),
        ("No. 70\u201313 ", "70-13"),
        ("12 ORIG", "12 orig"),
        ("No. 12, Original", "12 orig"),
        ("142-orig", "142 orig"),
        ("22O141", "141 orig"),
        ("71 M", "71 m"),
        ("133M", "133 m"),
        ("None", ""),
        ("   ORIG", ""),
    ],
)
def test_keys_of_dockets(text, key):
    assert scdb.docket_key(text) == key


@given(st.integers(1, 999), st.integers(1, 9999), st.sampled_from(["{} U.S. {}", "{}_US_{}"]))
def test_every_citation_has_its_key(volume, page, form):
    assert scdb.citation_key(form.format(volume, page)) == f"{volume} u.s. {page}"


def test_names_that_say_nothing_do_not_decide():
    assert not scdb.party_words("UNITED STATES v. STATE et al.")
    assert scdb.party_words("V.L. v. E.L.") == scdb.party_words("VL v. EL") == {"vl", "el"}


@pytest.mark.mirror
def test_the_real_files(mirror):
    files = [
        mirror / "scotus" / "SCDB_2024_01_caseCentered_Citation.csv",
        mirror / "scotus" / "oyez_case_facts.jsonl.gz",
    ]
    records, counts = read("scdb", files)
    texts = counts["unmatched_text"] + counts["outside_labels"] + counts["bad_label"]
    assert len(records) + texts == 3_693
    assert len(records) + counts["outside_labels"] + counts["bad_label"] == 3_382
    assert counts["unmatched_row"] == 9_277 - 3_382
    assert len({one.case_id for one in records}) == len(records) == 3_320
    assert not counts["bad_date"] and all(one.date for one in records)


def test_the_summaries_are_told_by_their_field(tmp_path):
    path = tmp_path / "one.json"
    both = {"citation": "900 U.S. 1", "text": "Opinion.", "facts_of_the_case": "Facts."}
    path.write_text(json.dumps([both]))
    (record,), _ = read("scdb", [table(tmp_path), path])
    assert record.text == ("Opinion.",) and record.metadata["text_kind"] == "opinion"
