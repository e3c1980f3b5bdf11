import pytest

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.legal.cross_attributes import CLAIMS, cross_attributes
from unit.legal.made_cases import read_csv, write_cases

CASES = [
    *[{"applicant_gender": "male", "defendant_state": "C.E. European"}] * 5,
    {"applicant_gender": "male", "defendant_state": "Rest of Europe"},
    {"applicant_gender": None, "defendant_state": "C.E. European"},
    {"applicant_gender": "female"},
]
HEADER = ",".join(CLAIMS)
CLAIM = "ecthr,applicant_gender,male,defendant_state,C.E. European,0.83"


def crossed(tmp_path, cases, claims=CLAIM, **options):
    table, out = tmp_path / "claims.csv", tmp_path / "cross.csv"
    table.write_text(f"{HEADER}\n{claims}\n", encoding="utf-8")
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    counts = cross_attributes(
        data=data, claims=table, out=out, kind="ecthr", dataset="mine", **options
    )
    rows = read_csv(out)
    names = ("attribute", "group", "other_attribute", "other_group")
    return counts, {tuple(row[name] for name in names): row for row in rows}


CELL = ("applicant_gender", "male", "defendant_state", "C.E. European")


def test_shares_in_the_row(tmp_path):
    counts, rows = crossed(tmp_path, CASES, published=True)
    row = rows[CELL]
    assert (row["cases"], row["of"], row["share"]) == ("5", "6", "0.833333")
    assert float(row["low"]) < 5 / 6 < float(row["high"])
    assert (row["published"], row["verdict"]) == ("0.83", "reproduced")
    assert counts["reproduced"] == 1
    back = rows["defendant_state", "C.E. European", "applicant_gender", "male"]
    assert (back["cases"], back["of"], back["known"], back["share_known"]) == (
        *("5", "6", "5"),
        "1.000000",
    )
    unknown = rows["applicant_gender", "female", "defendant_state", "unknown"]
    assert (unknown["cases"], unknown["share"], unknown["share_known"]) == ("1", "1.000000", "")


def test_every_row_adds_up(tmp_path):
    _, rows = crossed(tmp_path, CASES)
    sums, totals = {}, {}
    for (attribute, group, other, _), row in rows.items():
        sums[attribute, group, other] = sums.get((attribute, group, other), 0) + int(row["cases"])
        totals[attribute, group, other] = int(row["of"])
    assert sums == totals
    assert not [key for key in rows if key[0] == key[2]]


def test_verdicts(tmp_path):
    wrong = CLAIM.replace("0.83", "0.84")
    assert crossed(tmp_path, CASES, wrong, published=True)[1][CELL]["verdict"] == "not_reproduced"
    assert crossed(tmp_path, CASES)[1][CELL]["verdict"] == "not_run"
    assert crossed(tmp_path, [], published=True)[1][CELL]["verdict"] == "not_run"


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (CLAIM.replace("male", "man", 1), r"claims.csv:2: the applicant_gender has no group 'man'"),
        (CLAIM.replace("defendant_state", "state"), "ECtHR has no attribute 'state'"),
        (CLAIM.replace("0.83", "83"), "'83' is no share"),
        (CLAIM.replace("0.83", "83%"), "'83%' is no share"),
    ],
)
def test_claims_that_cannot_be_checked(tmp_path, claim, said):
    with pytest.raises(InputError, match=said):
        crossed(tmp_path, CASES, claim)


@pytest.mark.parametrize("kind", ["ecthr", "fscs"])
def test_the_table_of_claims_fits_its_kinds(tmp_path, repository, kind):
    table = repository / "resources/legal/published_cross.csv"
    out, data = tmp_path / "cross.csv", write_cases(tmp_path / "d.parquet", kind, [{}])
    counts = cross_attributes(data=data, claims=table, out=out, kind=kind, dataset="mine")
    rows = read_resource(table, CLAIMS)
    assert counts["not_run"] == sum(row["kind"] == kind for row in rows)
