"""The people behind the tables: what is counted comes to the tables' own numbers."""

import csv
import dataclasses
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.individual.count_people import HEADER, MEASURES, count_people
from evenhand.individual.people import (
    Answers,
    count_answers,
    read_answers,
    read_people,
    settings_of_tables,
)
from evenhand.individual.results import SETTING, describe
from evenhand.individual.tabulate_results import tabulate_results
from evenhand.learning.train_eidig import train_eidig
from evenhand.learning.train_table import train_table
from unit.learning.made_eidig import people
from unit.learning.made_tables import table as made_table
from unit.learning.made_tables import write as write_table
from unit.report import made_people


def counted(tmp_path, given):
    """The counts by setting in words, group and label."""
    given = {name: value for name, value in given.items() if name != "formats"}
    out = tmp_path / "people.csv"
    counts = count_people(**given, out=out)
    with out.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert not rows or list(rows[0]) == HEADER
    found = {}
    for row in rows:
        words = f"{row['method']}, {row['individual']}"
        found[words, row["group"], row["label"]] = row
    return counts, found


def test_answers_and_people_are_counted_by_group_and_label(tmp_path):
    counts, found = counted(tmp_path, made_people.two_groups(tmp_path / "one"))
    assert counts == {"settings": 2, "without": 1, "answers": 14}
    everyone = found["mlp, none", "", ""]
    told = {name: everyone[name] for name in HEADER[len(SETTING) + 2 :]}
    assert told == {
        "seeds": "2", "runs": "2", "answers": "7", "people": "5",
        "wrong": "3", "wrong_people": "3", "positive": "2", "positive_people": "2",
        "changed": "1", "changed_people": "1", "beyond": "2", "beyond_people": "2",
        "flips": "7", "changed_flips": "1", "beyond_flips": "2",
        "acc": "54.166667", "positive_rate": "0.25", "ifr_b": "87.5", "ifr_p": "75",
        "ifr_p_all": "75",
    }  # fmt: skip
    women = found["mlp, none", "1", ""]
    assert (women["answers"], women["people"], women["changed"]) == ("4", "3", "1")
    assert float(women["ifr_b"]) == pytest.approx((2 / 3 + 1) / 2 * 100)
    negative = found["mlp, none", "1", "0"]
    assert (negative["answers"], negative["wrong"], negative["beyond"]) == ("2", "1", "1")
    loss = found["mlp, iifr_cosine", "", ""]
    assert (loss["changed"], loss["beyond"], loss["ifr_p"]) == ("0", "0", "100")


def test_a_person_of_several_groups_counts_with_the_share_of_flips(tmp_path):
    _, found = counted(tmp_path, made_people.three_groups(tmp_path / "one"))
    everyone = found["logistic_regression, none", "", ""]
    assert (everyone["changed"], everyone["changed_flips"], everyone["flips"]) == ("2", "3", "12")
    assert float(everyone["ifr_b"]) == 75.0
    assert (everyone["beyond"], everyone["beyond_flips"]) == ("2", "4")
    assert float(everyone["ifr_p"]) == pytest.approx(100 * 8 / 12, abs=1e-4)
    assert float(everyone["ifr_p_all"]) == pytest.approx(100 * 4 / 6, abs=1e-4)


def test_a_method_that_sees_whole_numbers_is_counted_by_their_groups(tmp_path):
    _, found = counted(tmp_path, made_people.whole_numbers(tmp_path / "one"))
    told = {
        (words.removesuffix(", none"), group): (row["answers"], row["flips"])
        for (words, group, label), row in found.items()
        if group and not label
    }
    assert told == {  # nobody of the middle was held out
        ("mlp", "0"): ("2", "2"), ("mlp", "1"): ("2", "2"),
        ("eidig_integers", "0"): ("2", "4"), ("eidig_integers", "2"): ("2", "4"),
    }  # fmt: skip
    everyone = found["eidig_integers, none", "", ""]
    assert (everyone["changed"], everyone["changed_flips"]) == ("1", "1")
    assert (everyone["beyond"], everyone["beyond_flips"]) == ("2", "4")
    assert float(everyone["ifr_b"]) == pytest.approx(100 * 7 / 8)
    assert found["mlp, none", "", ""]["ifr_p"] == "100"


@pytest.fixture
def trained(tmp_path):
    """Trainings of a small table with their results' tables, as the stage is told of them."""
    training = tmp_path / "training.csv"
    training.write_text(
        "dataset,hidden,adversary,learning_rate,batch,epochs\ndefault,8;6,4,1,32,2\n",
        encoding="utf-8",
    )

    def make(repository, values, **options):
        data, meta = write_table(tmp_path, made_table(values=values))
        files = {name: [] for name in ("runs", "groups", "predictions")}
        for method in ("mlp", "logistic_regression"):
            paths = {name: tmp_path / f"{name}_{method}.parquet" for name in files}
            train_table(
                data=data, meta=meta, training=training, method=method, out=paths["runs"],
                groups=paths["groups"], predictions=paths["predictions"], seeds=3,
                individual=["none", "iifr_cosine"], **options,
            )  # fmt: skip
            for name, path in paths.items():
                files[name].append(path)
        return tabulated(tmp_path, repository, data, meta, files)

    return make


def tabulated(tmp_path, repository, data, meta, files):
    """The results' tables of two trainings, and what the stage is told of them."""
    iifr = repository / "resources/iifr"
    tables = {f"table_{n}": tmp_path / f"table_{n}.csv" for n in (4, 6, 7, 8)}
    tabulate_results(
        runs=files["runs"], groups=files["groups"], settings=iifr / "settings.csv",
        inconsistencies=iifr / "inconsistencies.csv",
        **{f"published_{n}": iifr / f"published_table_{n}.csv" for n in (4, 6, 7, 8)},
        **tables,
    )  # fmt: skip
    return tables, {
        "people": [data], "meta": [meta], "runs": files["runs"],
        "predictions": files["predictions"], "trained_on": ["made", "made/random/x"],
        "tables": [tables["table_4"], tables["table_8"]],
    }  # fmt: skip


def compare(tables, found):
    """How many numbers of the tables are those of what was counted."""
    compared = 0
    for name in ("table_4", "table_6"):
        with tables[name].open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["metric"] not in MEASURES or not row["ours_mean"]:
                    continue
                people = found[f"{row['method']}, {row['individual']}", row["group"], ""]
                assert float(people[row["metric"]]) == pytest.approx(
                    float(row["ours_mean"]), abs=1e-5
                )
                compared += 1
    return compared


@pytest.mark.parametrize("values", [2, 3])
def test_what_is_counted_comes_to_the_numbers_of_the_tables(tmp_path, repository, trained, values):
    tables, told = trained(repository, values)
    _, found = counted(tmp_path, told)
    assert compare(tables, found) == 3 * 5 + 3 * values * 2
    for row in found.values():  # seeds of a random split hold out as many people
        if row["group"] == row["label"] == "":
            assert float(row["acc"]) == pytest.approx(
                100 * (1 - int(row["wrong"]) / int(row["answers"])), abs=1e-5
            )
            assert float(row["ifr_b"]) == pytest.approx(
                100 * (1 - int(row["changed_flips"]) / int(row["flips"])), abs=1e-5
            )
            assert float(row["ifr_p"]) == pytest.approx(
                100 * (1 - int(row["beyond_flips"]) / int(row["flips"])), abs=1e-5
            )


def test_the_same_of_eidig_on_either_encoding(tmp_path, repository):
    made = people(240)
    sizes = made.integers[:, 1]  # six, which make other groups than the two of the attribute
    made = dataclasses.replace(made, integers=np.column_stack([made.integers[:, :2], sizes // 2]))
    data, meta = write_table(tmp_path, made)
    training = tmp_path / "training.csv"
    training.write_text(
        "dataset,hidden,adversary,learning_rate,batch,epochs\ndefault,8;6,4,1,32,4\n",
        encoding="utf-8",
    )
    files = {name: [] for name in ("runs", "groups", "predictions")}
    for track in ("base", "integers"):
        for name, paths in files.items():
            paths.append(tmp_path / f"{name}_{track}.parquet")
        train_eidig(
            data=data, meta=meta, training=training, track=track, seeds=2, tries=5,
            out=files["runs"][-1], groups=files["groups"][-1],
            predictions=files["predictions"][-1],
        )  # fmt: skip
    tables, told = tabulated(tmp_path, repository, data, meta, files)
    counts, found = counted(tmp_path, told)
    assert (counts["settings"], counts["without"]) == (6, 0)
    assert compare(tables, found) == 6 * 5 + 3 * 2 * 2 + 3 * 3 * 2
    assert {row["flips"] for (name, *where), row in found.items() if where == ["", ""]} == {
        "144", "288"
    }  # fmt: skip


def test_seeds_without_predictions_are_told(tmp_path, repository, trained):
    _, told = trained(repository, 2, predicted_seeds=1)
    _, found = counted(tmp_path, told)
    assert {(row["seeds"], row["runs"]) for row in found.values()} == {("1", "3")}
    _, told = trained(repository, 2, predicted_seeds=0)
    counts, found = counted(tmp_path, told)
    assert (counts["settings"], found) == (0, {})


def test_settings_are_those_of_the_tables_once_each(tmp_path):
    given = made_people.two_groups(tmp_path)
    words = [describe(one) for one in settings_of_tables(given["tables"] * 2)]
    assert words == [
        "mlp",
        "mlp, iifr_cosine, lambda 1, epsilon 0.8",
        "mlp, iifr_cosine, lambda 9, epsilon 0.8",
    ]
    text = given["tables"][0].read_text(encoding="utf-8")
    given["tables"][0].write_text(text.replace("9.0", "nine"), encoding="utf-8")
    with pytest.raises(InputError, match=r"shown\.csv:4: could not convert"):
        settings_of_tables(given["tables"])
    given["tables"][0].write_text("dataset\n", encoding="utf-8")
    with pytest.raises(InputError, match="lacks the column method"):
        settings_of_tables(given["tables"])


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    given = made_people.two_groups(tmp_path / "one")
    other = made_people.three_groups(tmp_path / "two")
    for wrong in ({"runs": []}, {"trained_on": ["none/random/mlp"]}, {"meta": []}):
        with pytest.raises(InputError, match="there is not one"):
            counted(tmp_path, given | wrong)
    with pytest.raises(InputError, match="is not of the people of mine"):
        counted(tmp_path, given | {"predictions": other["predictions"]})
    path = tmp_path / "none.parquet"
    path.write_bytes(b"no table")
    with pytest.raises(InputError, match=r"none\.parquet: is not a Parquet file"):
        counted(tmp_path, given | {"predictions": [path]})
    [path] = given["predictions"]
    whole = pq.read_table(path)
    pq.write_table(whole.take(np.arange(len(whole))[::-1]), path)
    with pytest.raises(InputError, match="not in the order of the runs"):
        counted(tmp_path, given)
    pq.write_table(whole.set_column(1, "row", [np.where(whole["row"], whole["row"], 1)]), path)
    with pytest.raises(InputError, match="probabilities that are not of the people"):
        counted(tmp_path, given)


def test_only_wanted_settings_are_read(tmp_path):
    given = made_people.two_groups(tmp_path)
    [people] = read_people(given["people"], given["meta"]).values()
    wanted = {("mine", "mlp, iifr_cosine, lambda 1, epsilon 0.8"), ("other", "mlp")}
    [one] = read_answers(given["runs"][0], given["predictions"][0], people, wanted)
    assert (one.name, one.seeds, one.runs) == (
        ("mine", "mlp, iifr_cosine, lambda 1, epsilon 0.8"), [0, 1], 2
    )  # fmt: skip
    assert one.row.tolist() == [*made_people.HELD[0], *made_people.HELD[1]]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), min_size=1))
def test_no_more_people_than_answers_and_no_more_answers_than_flips(said):
    table = made_people.table(values=3)
    row = np.array([one[0] for one in said])
    others = table.a[row][:, None] != np.arange(3)
    changed = others & np.array([one[1] for one in said])[:, None]
    beyond = others & np.array([one[2] for one in said])[:, None]
    zeros = np.zeros(len(row))
    answers = Answers(
        ("mine", *(None,) * 9), table, [0], 1, zeros.astype(int), row, zeros, zeros[:, None],
        zeros.astype(bool), changed, beyond,
    )  # fmt: skip
    found = count_answers(answers, np.ones(len(row), dtype=bool))
    for kind in ("changed", "beyond"):
        assert found[f"{kind}_people"] <= found[kind] <= found[f"{kind}_flips"] <= found["flips"]
    assert found["people"] <= found["answers"] == len(row)
    assert found["ifr_b"] == pytest.approx(100 * (1 - found["changed_flips"] / found["flips"]))
    assert found["ifr_p_all"] == pytest.approx(100 * (1 - found["beyond"] / found["answers"]))


def test_the_same_input_gives_the_same_table(tmp_path):
    given = made_people.two_groups(tmp_path / "one")
    del given["formats"]
    texts = set()
    for name in ("a.csv", "b.csv"):
        record = stage.execute(count_people, given | {"out": tmp_path / name})
        texts.add((tmp_path / name).read_bytes())
    assert len(texts) == 1
    assert json.dumps(record["counts"])
