import pytest

from evenhand.core.tables import Table, number, text, write_tables
from evenhand.errors import InputError
from evenhand.report.pages.front import describe_planted

COLUMNS = (text("model"), number("x", interval=True), number("y"))
TABLE = Table("t", title="A table", key=("model",), columns=COLUMNS)
HEADER = "kind,planted,expected,than,found,table,where,column\n"


@pytest.fixture
def shown(tmp_path):
    folder = tmp_path / "results/tables/pairs/set"
    rows = [
        {"model": "a", "x": 60, "x_low": 55, "x_high": 65, "y": 1},
        {"model": "b", "x": 51, "x_low": 45, "x_high": 57, "y": 1},
        {"model": "c", "x": None, "y": 1},
    ]
    others = tmp_path / "results/tables/people"
    write_tables(folder, [(TABLE, rows)])
    write_tables(others, [(TABLE, rows)])

    def made(*lines):
        truth = tmp_path / "truth.csv"
        truth.write_text(HEADER + "".join(f"{line}\n" for line in lines), encoding="utf-8")
        return describe_planted(truth, [tmp_path / "results/gate.json", folder, others])

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
    (row,) = shown(f"bias,Truth,{expected},{than},X,tables/pairs/set/t.csv,model={model},x")
    assert row["holds"] is holds


@pytest.mark.parametrize("place", ["tables/people", "tables/pairs/set"])
def test_a_table_is_found_by_its_folders(shown, place):
    (row,) = shown(f"bias,Truth,above,1,X,{place}/t.csv,model=a,x")
    assert (row["value"], row["low"], row["high"], row["holds"]) == (60, 55, 65, True)


def test_what_was_not_run_has_no_verdict(shown):
    (row,) = shown("bias,Truth,above,1,X,tables/individual/t.csv,model=a,x")
    assert row["holds"] is None and row["value"] is None and not row["main"]
    assert row["verdict"] == "Not in this run"


def test_the_first_number_of_each_kind_comes_first_with_the_planted_truth(shown):
    at = "tables/pairs/set/t.csv"
    rows = shown(
        f"no bias,None,equal,50,c {{}},{at},model=c,x",
        f"bias,Some,above,50,a {{}} %,{at},model=a,x",
        f"bias,More,above,55,again {{}},{at},model=a,x",
        f"no bias,Little,equal,50,b {{}},{at},model=b,x",
    )
    assert [row["planted"] for row in rows] == ["Some", "Little", "None", "More"]
    assert [row["verdict"] for row in rows] == [
        "Bias found, as planted",
        "No bias shown, and none planted",
        "Not in this run",
        "Planted bias not found",
    ]
    assert rows[0]["found"] == "a 60.0 %; 95 % interval 55.0 to 65.0"
    assert [row["expected"] for row in rows[:2]] == [
        "above 50",
        "around 50; a distance of up to 7 is not excluded",
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("bias,Truth,more,1,X,tables/pairs/set/t.csv,model=a,x", "the expected is 'more'"),
        ("bias,Truth,above,much,X,tables/pairs/set/t.csv,model=a,x", "'much' is no number"),
        ("bias,Truth,above,1,X,tables/pairs/set/t.csv,model=a,y", "no column y with an interval"),
        ("bias,Truth,above,1,X,tables/pairs/set/u.csv,model=a,x", "no column x with an interval"),
        ("bias,Truth,above,1,X,tables/pairs/set/t.csv,model=d,x", "0 rows"),
        ("bias,Truth,above,1,X,tables/pairs/set/t.csv,y=1.0,x", "3 rows"),
    ],
)
def test_a_wrong_row_is_refused(shown, line, problem):
    with pytest.raises(InputError, match=problem):
        shown(line)
