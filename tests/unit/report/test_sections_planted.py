import pytest

from evenhand.core.tables import Table, number, text, write_tables
from evenhand.errors import InputError
from evenhand.report.sections.planted import describe_planted

COLUMNS = (text("model"), number("x", interval=True), number("y"))
TABLE = Table("t", title="A table", key=("model",), columns=COLUMNS)
HEADER = "planted,expected,than,quantity,table,where,column\n"


@pytest.fixture
def shown(tmp_path):
    folder = tmp_path / "results/tables/pairs/set"
    rows = [
        {"model": "a", "x": 60, "x_low": 55, "x_high": 65, "y": 1},
        {"model": "b", "x": 51, "x_low": 45, "x_high": 57, "y": 1},
        {"model": "c", "x": None, "y": 1},
    ]
    write_tables(folder, [(TABLE, rows)])

    def made(*lines):
        truth = tmp_path / "truth.csv"
        truth.write_text(HEADER + "".join(f"{line}\n" for line in lines), encoding="utf-8")
        return describe_planted(truth, [tmp_path / "results/gate.json", folder])

    return made


@pytest.mark.parametrize(
    ("expected", "model", "than", "holds"),
    [
        ("above", "a", 50, True),
        ("above", "a", 55, False),
        ("above", "b", 50, False),
        ("below", "b", 60, True),
        ("below", "a", 65, False),
        ("equal", "b", 50, True),
        ("equal", "b", 45, True),
        ("equal", "a", 50, False),
        ("equal", "c", 50, None),
    ],
)
def test_an_interval_is_as_expected_or_not(shown, expected, model, than, holds):
    (row,) = shown(f"Truth,{expected},{than},X,tables/pairs/set/t.csv,model={model},x")
    assert row["holds"] is holds
    assert row["expected"].endswith(str(than))


def test_what_was_not_run_has_no_verdict(shown):
    (row,) = shown("Truth,above,1,X,tables/individual/t.csv,model=a,x")
    assert row["holds"] is None and row["value"] is None


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Truth,more,1,X,tables/pairs/set/t.csv,model=a,x", "nothing to expect"),
        ("Truth,above,much,X,tables/pairs/set/t.csv,model=a,x", "'much' is no number"),
        ("Truth,above,1,X,tables/pairs/set/t.csv,model=a,y", "no column y with an interval"),
        ("Truth,above,1,X,tables/pairs/set/u.csv,model=a,x", "no column x with an interval"),
        ("Truth,above,1,X,tables/pairs/set/t.csv,model=d,x", "0 rows"),
        ("Truth,above,1,X,tables/pairs/set/t.csv,y=1.0,x", "3 rows"),
    ],
)
def test_a_wrong_row_is_refused(shown, line, problem):
    with pytest.raises(InputError, match=problem):
        shown(line)
