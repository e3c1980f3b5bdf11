"""The contract of all tables of individual fairness."""

import random
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.core import stage
from evenhand.core.families import load_members
from evenhand.core.tables import read_table, write_tables
from evenhand.errors import InputError
from evenhand.individual import tables
from evenhand.individual.people import read_people
from evenhand.individual.results import METRICS, SETTING, read_runs
from evenhand.individual.tables import inconsistencies, individuals
from evenhand.individual.tabulate_individual import tabulate_individual
from evenhand.learning.train_table import GROUPS
from unit.individual.made_study import FACTS, RESOURCES, run, study
from unit.learning.made_tables import table
from unit.report import made_people
from unit.report.checks import HOSTILE

MEMBERS = load_members(tables)

#: Columns whose names say what they contain.
PLAIN = {*SETTING, *METRICS, "metric", "seeds", "mean", "table", "kind", "count", "of"}
PLAIN |= {"against_mu", "against_mean", "learning_rate", "epochs", "sentence", "published"}
PLAIN |= {"computed", "difference", "diverged", "changed_flips", "beyond_flips"}


def made(folder: Path, member: ModuleType, name: str = "mine"):
    """A study: several settings of three methods with three seeds, one of which diverged."""
    if member is individuals:
        given = made_people.two_groups(folder, "" if name == "mine" else name)
        trainings = list(zip(given["runs"], given["predictions"], strict=True))
        people = read_people(given["people"], given["meta"])
        return study([], people, runs=read_runs(given["runs"]), trainings=trainings)
    loss = {"individual": "iifr_cosine", "epsilon": 0.8, "dataset": name}
    settings = [{}, {"method": name, "mu": 4.0}, {"method": name, "mu": 2.0}]
    settings += [loss | {"lambda": weight} for weight in (1.0, 0.5)]
    settings += [loss | {"lambda": 1.0, "epsilon": 0.9}]
    rows = [
        run(**{"dataset": name, "seed": s, "acc": 80.0 + s, "ifr_p": 50.0 + s} | setting)
        for setting in settings
        for s in random.sample(range(3), 3)
    ]
    lost = run(dataset=name, seed=9, diverged=True, reason="the split leaves a group empty")
    return study([*rows, lost, run(seed=1)], {name: table(60, name=name)})


@pytest.mark.parametrize("member", MEMBERS, ids=lambda one: one.TABLE.name)
class TestMember:
    def test_declaration(self, member):
        declared = member.TABLE
        assert member.__name__.endswith(f".{declared.name}")
        assert declared.title and set(declared.key) <= set(declared.header)
        assert (
            not {one.name for one in declared.columns if not one.description}
            - PLAIN
            - {*declared.key}
        )

    def test_one_row_per_key(self, member, tmp_path):
        # write_tables refuses a column that is not declared, read_table a value of another type
        write_tables(tmp_path / "out", [(member.TABLE, member.rows(made(tmp_path, member)))])
        rows = read_table(tmp_path / "out" / f"{member.TABLE.name}.csv")
        keys = {tuple(row[name] for name in member.TABLE.key) for row in rows}
        assert rows and len(keys) == len(rows)

    def test_order_of_the_runs(self, member, tmp_path):
        for seed, name in enumerate("ab"):
            random.seed(seed)
            given = made(tmp_path / f"{name}_files", member)
            write_tables(tmp_path / name, [(member.TABLE, member.rows(given))])
        file = f"{member.TABLE.name}.csv"
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()

    def test_hostile_names(self, member, tmp_path):
        name = f'{HOSTILE}, "two"\nlines'
        given = made(tmp_path, member, name)
        write_tables(tmp_path / "out", [(member.TABLE, member.rows(given))])
        rows = read_table(tmp_path / "out" / f"{member.TABLE.name}.csv")
        found = {row["dataset"] for row in rows}
        assert member in (inconsistencies, individuals) or name in found

    def test_no_runs(self, member):
        # the checks of the paper need none
        assert bool(list(member.rows(study([])))) == (member is inconsistencies)


def arguments(given):
    """The arguments of the stage for a training of `made_people`."""
    groups = given["runs"][0].with_name("groups.parquet")
    pq.write_table(pa.Table.from_pylist([], GROUPS), groups)
    return {name: given[name] for name in ("runs", "predictions", "meta")} | {
        "groups": [groups],
        "data": given["people"],
        "published": FACTS,
        "settings": RESOURCES / "settings.csv",
        "training": RESOURCES / "training.csv",
    }


def test_the_stage_writes_all_tables_with_the_same_bytes(tmp_path):
    given = arguments(made_people.two_groups(tmp_path / "one"))
    folders = [tmp_path / name for name in "ab"]
    for out in folders:
        record = stage.execute(tabulate_individual, given | {"out": out})
    assert (record["counts"]["runs"], record["counts"]["diverged"]) == (5, 1)
    names = sorted(path.name for path in folders[0].iterdir())
    assert names == sorted(["datapackage.json", *(f"{m.TABLE.name}.csv" for m in MEMBERS)])
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_the_stage_refuses_files_that_do_not_belong_together(tmp_path):
    given = arguments(made_people.two_groups(tmp_path / "one"))
    other = arguments(made_people.three_groups(tmp_path / "two"))
    for wrong, words in (({"predictions": other["predictions"]}, "is not of the people of mine"),):
        with pytest.raises(InputError, match=words):
            tabulate_individual(**given | wrong, out=tmp_path / "out")
