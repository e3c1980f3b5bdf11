"""The contract of all tables of pairs."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from evenhand.core.families import load_members
from evenhand.core.tables import read_package, read_tables
from evenhand.stereotypes import tables
from evenhand.stereotypes.tabulate_pairs import tabulate_pairs
from unit.stereotypes.made_scores import made_set, write_model

MEMBERS = load_members(tables)
NAMES = [member.TABLE.name for member in MEMBERS]


@pytest.fixture(scope="module", params=[2, 3], ids=["pairs", "triples"])
def written(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("pairs")
    options = made_set(folder, models=2, pairs=40, seeds=2, sides=request.param)
    counts = tabulate_pairs(**options, out=folder / "tables")
    return options, folder / "tables", counts


def test_a_member_is_named_after_its_table():
    assert [member.__name__.rpartition(".")[2] for member in MEMBERS] == NAMES
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
def test_a_table_describes_itself(member):
    table = member.TABLE
    assert table.title and table.title[0].isupper() and not table.title.endswith(".")
    assert {*table.key} <= {*table.header} and len({*table.header}) == len(table.header)
    assert len(member.__doc__.splitlines()[0]) > 20


@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
def test_rows_follow_the_declaration(written, member):
    _, folder, counts = written
    name, table = member.TABLE.name, member.TABLE
    ratings = {"meta_evaluation", "roc", "auc_tests"}
    assert {*counts["left_out"]} == (ratings if "stereoset" in counts["rows"] else {"stereoset"})
    if name in counts["left_out"]:
        assert not (folder / f"{name}.csv").exists() and counts["left_out"][name]
        return
    rows = read_tables(folder)[name]
    assert rows and read_package(folder)[name] == table
    if table.key:
        keys = [tuple(row[column] for column in table.key) for row in rows]
        assert len({*keys}) == len(keys)
    for column in table.numbers():
        low, high = column.interval
        for row in rows:
            if None not in (row[column.name], row[low], row[high]):
                assert row[low] <= row[high]


def test_the_order_of_the_scores_does_not_matter(written, tmp_path):
    options, folder, _ = written
    generator = np.random.default_rng(0)
    shuffled = {**options, "scores": [], "nulls": []}
    for kind in ("scores", "nulls"):
        for path in options[kind]:
            table = pq.read_table(path)
            other = tmp_path / kind / path.name
            other.parent.mkdir(exist_ok=True)
            pq.write_table(table.take(generator.permutation(table.num_rows)), other)
            shuffled[kind].append(other)
    tabulate_pairs(**shuffled, out=tmp_path / "tables")
    for file in folder.iterdir():
        assert (tmp_path / "tables" / file.name).read_bytes() == file.read_bytes(), file.name


def test_options_change_the_tables(written, tmp_path):
    tabulate_pairs(**written[0], delta=9.0, agreeing=[3], out=tmp_path / "tables")
    after = read_tables(tmp_path / "tables")
    assert {row["delta"] for row in after["bias_scores"]} == {9}
    assert {row["agreeing"] for row in after.get("meta_evaluation", [])} <= {3}


def test_an_untrusted_model_has_no_number(written, tmp_path):
    options, folder, _ = written
    bad = write_model(tmp_path, '"bad", <b>model', [], trusted=False)
    both = {**options} | {key: [*options[key], *bad[key]] for key in ("scores", "gates")}
    counts = tabulate_pairs(**both, out=tmp_path / "tables")
    assert list(counts["untrusted"]) == ['"bad", <b>model']
    before, after = read_tables(folder), read_tables(tmp_path / "tables")
    assert before.keys() == after.keys()
    for name, rows in after.items():
        own = [row for row in rows if '"bad", <b>model' in row.values()]
        assert [row for row in rows if row not in own] == before[name], name
        assert len(own) == (1 if name in ("bias_scores", "models") else 0), name
