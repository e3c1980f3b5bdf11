import importlib

import pytest

from evenhand.compare.roles import ROLES, Number, declared_role, read_roles, role_of
from evenhand.core.families import load_members
from evenhand.core.tables import write_tables
from evenhand.errors import InputError
from evenhand.legal import read_audit
from evenhand.slguset import tables as bias_tables
from evenhand.stereotypes import tables
from evenhand.stereotypes.tables import bias_scores, compat

FAMILIES = read_roles(ROLES)

HEADERS = {
    "tables/legal_a_audit.csv": read_audit.HEADER,
}


@pytest.mark.parametrize("name", HEADERS)
def test_the_columns_are_those_that_the_stages_write(name):
    role = role_of(name, FAMILIES)
    columns = {*role.keys}
    for number in role.numbers:
        columns |= {
            number.value,
            number.low,
            number.high,
            *filter(None, [number.count, number.clusters]),
        }
    assert columns and columns <= {*HEADERS[name]}


def test_whatever_has_an_interval_in_a_table_is_compared():
    for name, header in HEADERS.items():
        values = {number.value for number in role_of(name, FAMILIES).numbers}
        with_borders = {one for one in header if {f"{one}_low", f"{one}_high"} <= {*header}}
        # seeds is a count there, and its borders are the difference's over seeds
        assert with_borders - {"seeds"} <= values, name


def test_the_modules_that_find_items_exist():
    members = load_members(tables) + load_members(bias_tables)
    declared = [column for one in members for column in one.TABLE.numbers()]
    found = [number for one in FAMILIES for number in one.numbers]
    named = {one.items for one in [*found, *declared] if one.items}
    assert named == {"slguset_bias", "pair_scores"}
    for name in named:
        assert importlib.import_module(f"evenhand.compare.items.{name}").Store


def test_the_roles_of_a_declared_table(tmp_path):
    write_tables(tmp_path, [(bias_scores.TABLE, []), (compat.TABLE, [])])
    role = declared_role(tmp_path / "bias_scores.csv")
    assert role.keys == ("model", "method", "subset", "bias_type")
    ends = ("score_low", "score_high")
    assert role.numbers == (Number("score", *ends, "", "clusters", 50, "pair_scores"),)
    assert declared_role(tmp_path / "compat.csv").numbers == ()
    assert declared_role(tmp_path / "other.csv") is None


def test_the_first_family_that_fits_counts():
    assert role_of("tables/legal_a_audit.csv", FAMILIES).numbers[0].value == "precision"
    assert role_of("tables/nothing.csv", FAMILIES) is None


HEADER = "table,keys,value,low,high,count,clusters,neutral,items\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("t,a,v,,,,,,", "no interval or no keys"),
        ("t,,v,l,h,,,,", "no interval or no keys"),
        ("t,a,v,l,h,,,x,", "is no number"),
        ("t,a,v,l,h,,,,\nt,b,w,l,h,,,,", "other keys"),
        ("t,a,,,,,,0,", "not which"),
        ("t,a,v,l,h,,,,\nt,a,v,l,h,,,,", "says the same"),
    ],
)
def test_mistakes_in_the_table_are_told(tmp_path, rows, message):
    path = tmp_path / "compare.csv"
    path.write_text(f"{HEADER}{rows}\n")
    with pytest.raises(InputError, match=message):
        read_roles(path)
