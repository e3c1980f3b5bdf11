from collections import Counter

import pytest

from unit.cases import read_csv
from unit.legal.made_records import FOLDER, find


def test_fairlex_types_count_as_published():
    rows = read_csv(FOLDER / "scdb_respondents.csv")
    counts = Counter(row["fairlex"] or row["type"] for row in rows)
    published = {"public entity": 125, "person": 68, "other": 61, "organization": 51}
    assert counts == published | {"facility": 6} and len(rows) == 311
    assert all(row["note"] and row["fairlex"] != row["type"] for row in rows if row["fairlex"])


@pytest.mark.mirror
def test_every_respondent_of_the_real_table_is_known(mirror):
    path = mirror / "scotus" / "SCDB_2024_01_caseCentered_Citation.csv"
    codes = Counter(row["respondent"] for row in read_csv(path))
    found = {
        code: find("respondent_type", metadata={"scdb_respondent": code}) for code in codes if code
    }
    assert len(found) == 246 and codes[""] == 3
    known = sum(codes[code] for code, finding in found.items() if finding.value)
    assert known == 8_091
