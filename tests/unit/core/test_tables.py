import json
from types import SimpleNamespace

import pytest

from evenhand.core.tables import (
    NotApplicable,
    Table,
    declaration,
    flag,
    integer,
    number,
    read_table,
    read_tables,
    share,
    tabulate,
    text,
)
from evenhand.errors import InputError

TABLE = Table(
    "rates",
    title="Rates by group",
    key=("group",),
    columns=(
        text("group", "The group"),
        integer("n", "Items", "items"),
        share("rate", "Selected items / n", interval=True, neutral=0.5, clusters="n"),
        number("gap", interval=("low", "high")),
        number("p_value"),
        flag("trusted"),
    ),
    source="A paper, table 1",
)
ROWS = [
    {"group": "a, b", "n": 3, "rate": 1 / 3, "rate_low": 0, "rate_high": 0.9, "p_value": 1.23e-9}
    | {"trusted": True},
    {"group": "她", "n": None, "rate": float("nan"), "gap": -0.0, "low": -1.5, "p_value": 0.0},
]


def member(table=TABLE, rows=ROWS):
    def made(study):
        assert study == "study"
        if rows is None:
            raise NotApplicable("nothing to see")
        return iter(rows)

    return SimpleNamespace(TABLE=table, rows=made)


def test_a_table_is_read_back_with_its_types(tmp_path):
    assert tabulate(tmp_path / "t", [member()], "study") == {"rows": {"rates": 2}}
    assert read_tables(tmp_path / "t") == {
        "rates": [
            {"group": "a, b", "n": 3, "rate": 0.333333, "rate_low": 0.0, "rate_high": 0.9}
            | {"gap": None, "low": None, "high": None, "p_value": 1.2e-9, "trusted": True},
            {"group": "她", "n": None, "rate": None, "rate_low": None, "rate_high": None}
            | {"gap": 0.0, "low": -1.5, "high": None, "p_value": 2.2e-308, "trusted": None},
        ]
    }


def test_its_declaration_lies_beside_it(tmp_path):
    tabulate(tmp_path, [member()], "study")
    assert declaration(tmp_path / "rates.csv") == TABLE
    assert declaration(tmp_path / "other.csv") is None
    assert declaration(tmp_path.parent / "rates.csv") is None
    assert [one.name for one in TABLE.numbers()] == ["rate", "gap"]
    package = json.loads((tmp_path / "datapackage.json").read_text(encoding="utf-8"))
    (resource,) = package["resources"]
    fields = resource["schema"]["fields"]
    assert [one["name"] for one in fields] == TABLE.header and resource["path"] == "rates.csv"
    assert [one["name"] for one in fields if "interval" in one] == ["rate", "gap"]
    assert fields[3]["description"] == "Lower end of the confidence interval of rate"


def test_a_table_that_does_not_apply_is_left_out_with_its_reason(tmp_path):
    other = Table("other", "Other", (), (text("x"),))
    counts = tabulate(tmp_path, [member(), member(other, None)], "study")
    assert counts == {"rows": {"rates": 2}, "left_out": {"other": "nothing to see"}}
    assert not (tmp_path / "other.csv").exists()
    package = json.loads((tmp_path / "datapackage.json").read_text(encoding="utf-8"))
    assert package["left_out"] == {"other": "nothing to see"}


@pytest.mark.parametrize(
    ("find", "put", "fault"),
    [
        ("group,n", "group,m", "has other columns"),
        ("true", "yes", "'yes' in column"),
        ("0.333333", "a third", "'a third' in column .* is no number; copy it again, or"),
    ],
)
def test_a_file_that_does_not_follow_its_declaration(tmp_path, find, put, fault):
    tabulate(tmp_path, [member()], "study")
    file = tmp_path / "rates.csv"
    file.write_text(file.read_text(encoding="utf-8").replace(find, put, 1), encoding="utf-8")
    with pytest.raises(InputError, match=rf"rates\.csv:\d.*{fault}"):
        read_table(file)


def test_what_is_not_declared_is_refused(tmp_path):
    tabulate(tmp_path, [member()], "study")
    (tmp_path / "own.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(InputError, match="is not declared in"):
        read_table(tmp_path / "own.csv")
    (tmp_path / "rates.csv").unlink()
    with pytest.raises(InputError, match=r"is missing, but datapackage\.json declares it; copy it"):
        read_table(tmp_path / "rates.csv")
    (tmp_path / "datapackage.json").write_text('{"resources": [{}]}', encoding="utf-8")
    with pytest.raises(InputError, match="is not a description of tables"):
        read_table(tmp_path / "rates.csv")
