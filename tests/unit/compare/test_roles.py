import importlib

import pytest

from evenhand.compare.roles import ROLES, Number, declared_role, read_roles, role_of
from evenhand.core.families import load_members
from evenhand.core.tables import write_tables
from evenhand.errors import InputError
from evenhand.slguset import tables as bias_tables
from evenhand.stereotypes import tables
from evenhand.stereotypes.tables import bias_scores, compat

FAMILIES = read_roles(ROLES)


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
