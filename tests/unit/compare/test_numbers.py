import importlib

import numpy as np
import pytest

from evenhand.compare.numbers import (
    GONE,
    INTERVALS,
    ITEMS,
    MOVED,
    NEW,
    NOISE,
    SAME,
    UNJUDGED,
    compare_tables,
)
from evenhand.compare.results import Results
from evenhand.core.families import load_members
from evenhand.core.tables import write_tables
from evenhand.errors import InputError
from evenhand.legal.classifier_tables.calibration import TABLE
from evenhand.slguset import tables as bias_tables
from evenhand.stereotypes import tables as pair_tables
from unit.compare.made_folders import (
    BASE,
    SENTENCES,
    SWEEP,
    sweep_row,
    write_bias,
    write_pairs,
    write_provenance,
    write_table,
)

SWEEPS = "tables/individual/grid.csv"
BIAS = "tables/bias/slguset/models.csv"


@pytest.fixture
def folders(tmp_path):
    """Two empty results folders."""
    return tmp_path / "base", tmp_path / "head"


def compare(folders):
    for folder in folders:
        if folder.is_dir() and not (folder / "provenance.json").exists():
            write_provenance(folder)
    tables = compare_tables(*map(Results, folders))
    return {table.name: table for table in tables}


def sweeps(folders, base, head):
    for folder, rows in zip(folders, (base, head), strict=True):
        write_table(folder, SWEEPS, rows, SWEEP)
    return compare(folders)[SWEEPS]


def by_row(table, key):
    return {number.key[key]: number for number in table.numbers}


def test_equal_tables_have_nothing_to_judge(folders):
    table = sweeps(folders, [sweep_row(50.0)], [sweep_row(50.0)])
    assert table.equal
    assert [one.status for one in table.numbers] == [SAME]


def test_intervals_tell_what_moved(folders):
    base = [sweep_row(50.0, metric="acc"), sweep_row(50.0, metric="ddp"), sweep_row(1.0)]
    base[2]["metric"] = "same"
    head = [dict(row) for row in base]
    head[0] = sweep_row(60.0, metric="acc")
    head[1] = sweep_row(50.5, metric="ddp")
    table = sweeps(folders, base, head)
    found = by_row(table, "metric")
    assert {name: one.status for name, one in found.items()} == {
        "acc": MOVED,
        "ddp": NOISE,
        "same": SAME,
    }
    assert found["acc"].by == INTERVALS
    assert found["acc"].change.difference == 10


def test_p_values_are_adjusted_for_all_numbers_of_the_tables_that_differ(folders):
    def rows(mean, count):
        return [sweep_row(mean if n == 0 else 10.0, metric=f"m{n}") for n in range(count)]

    alone = sweeps(folders, rows(10.0, 1), rows(11.6, 1)).numbers[0]
    assert alone.status == MOVED
    among = sweeps(folders, rows(10.0, 40), rows(11.6, 40)).numbers[0]
    assert among.change == alone.change
    assert among.p_adjusted == pytest.approx(40 * alone.change.p_value)
    assert among.status == NOISE


@pytest.mark.parametrize(
    ("base", "head", "reason"),
    [
        (sweep_row(1.0, low="", high=""), sweep_row(9.0), "no interval"),
        (sweep_row(1.0), sweep_row(9.0, low="nan"), "no interval"),
        (sweep_row(1.0, 0.0), sweep_row(9.0, 0.0), "an interval without width"),
        (sweep_row(1.0, low=1.5), sweep_row(9.0), "does not hold its number"),
    ],
)
def test_without_known_noise_nothing_is_judged(folders, base, head, reason):
    (one,) = sweeps(folders, [base], [head]).numbers
    assert one.status == UNJUDGED
    assert reason in one.reason
    assert one.change is None


def test_a_number_that_only_one_run_has(folders):
    table = sweeps(
        folders,
        [sweep_row(1.0, metric="a"), sweep_row("", metric="b"), sweep_row("", metric="c")],
        [sweep_row("", metric="a"), sweep_row(1.0, metric="b"), sweep_row("", metric="c")],
    )
    assert {name: one.status for name, one in by_row(table, "metric").items()} == {
        "a": GONE,
        "b": NEW,
    }


def test_rows_that_only_one_run_has(folders):
    table = sweeps(
        folders,
        [sweep_row(1.0, method="old"), sweep_row(2.0)],
        [sweep_row(2.0), sweep_row(1.0, method="fresh")],
    )
    assert [key["method"] for key in table.gone] == ["old"]
    assert [key["method"] for key in table.new] == ["fresh"]
    assert [one.status for one in table.numbers] == [SAME]
    assert table.rows == (2, 2)


def test_rows_are_matched_by_their_keys_in_any_order(folders):
    rows = [sweep_row(float(n), metric=f"m{n}") for n in range(5)]
    table = sweeps(folders, rows, rows[::-1])
    assert not table.equal
    assert {one.status for one in table.numbers} == {SAME}
    assert not table.new and not table.gone and not table.others


def test_two_rows_of_one_name_cannot_be_matched(folders):
    table = sweeps(folders, [sweep_row(1.0), sweep_row(2.0)], [sweep_row(1.0)])
    assert "two rows have the same dataset" in table.problem
    assert table.numbers == []


def test_a_folder_of_an_older_version_may_lack_columns(folders):
    for folder, lacking in zip(folders, ("reduction", ""), strict=True):
        rows = [sweep_row(1.0)]
        header = [name for name in SWEEP if name != lacking]
        rows = [{name: row[name] for name in header} for row in rows]
        write_table(folder, SWEEPS, rows)
    table = compare(folders)[SWEEPS]
    assert table.columns_new == ["reduction"] and table.columns_gone == []
    assert [one.status for one in table.numbers] == [SAME]


def test_a_table_that_nothing_is_known_of_is_said_to_be(folders):
    for folder, value in zip(folders, (1, 2), strict=True):
        write_table(folder, "tables/my_own.csv", [{"a": value}])
    assert "not declared" in compare(folders)["tables/my_own.csv"].problem


def test_the_modules_that_find_items_exist():
    members = load_members(pair_tables) + load_members(bias_tables)
    named = {column.items for one in members for column in one.TABLE.numbers()} - {""}
    assert named == {"slguset_bias", "pair_scores"}
    for name in named:
        assert importlib.import_module(f"evenhand.compare.items.{name}").Store


def test_a_table_that_only_one_run_has(folders):
    for folder in folders:
        write_table(folder, SWEEPS, [sweep_row(1.0)])
    write_table(folders[1], "tables/other_compat.csv", [{"model": "a"}])
    table = compare(folders)["tables/other_compat.csv"]
    assert table.rows == (None, 1)
    assert not table.equal


def test_other_columns_and_verdicts(folders):
    name = "tables/classifiers/d/calibration.csv"
    for folder, verdict in zip(folders, ("above noise", "not above noise"), strict=True):
        row = {"dataset": "d", "classifier": "c", "objective": "o", "trained_for": "t",
               "attribute": "a", "group": "g", "split": "test", "ece": len(verdict),
               "p": 1, "verdict": verdict}  # fmt: skip
        write_tables(folder / "tables/classifiers/d", [(TABLE, [row])])
    table = compare(folders)[name]
    assert table.others == {"ece": 1, "verdict": 1}
    (verdict,) = table.verdicts
    assert (verdict.base, verdict.head) == ("above noise", "not above noise")
    assert verdict.key["group"] == "g"


def test_borders_alone_that_differ_are_counted(folders):
    table = sweeps(
        folders,
        [sweep_row(1.0, metric="a"), sweep_row(1.0, metric="b")],
        [sweep_row(1.0, 2.0, metric="a"), sweep_row(1.5, metric="b")],
    )
    assert table.others == {"low": 1, "high": 1}


def test_folders_without_any_row_are_an_error(folders):
    for folder in folders:
        write_table(folder, SWEEPS, [], SWEEP)
    with pytest.raises(InputError, match="no table with a row"):
        compare(folders)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\n1\n", "does not have 2 cells"), ("a,a\n1,2\n", "a column twice"), ("", "no header")],
)
def test_what_is_no_table_is_an_error(folders, text, message):
    for folder in folders:
        write_table(folder, SWEEPS, [sweep_row(1.0)])
    (folders[1] / SWEEPS).write_text(text)
    with pytest.raises(InputError, match=message):
        compare(folders)


# The items behind the numbers.


def bias(folders, base, head, **options):
    write_bias(folders[0], base)
    write_bias(folders[1], head, **options)
    return compare(folders)


def test_sentences_show_what_intervals_hide(folders):
    tables = bias(folders, BASE, BASE - 0.05)
    (one,) = tables[BIAS].numbers
    assert one.base.low < one.head.value < one.base.high
    assert (one.status, one.by) == (MOVED, ITEMS)
    assert one.distance.difference == pytest.approx(0.05)
    (folders[1] / "slguset/bias/mine.parquet").unlink()
    (one,) = compare(folders)[BIAS].numbers
    assert (one.status, one.by) == (NOISE, INTERVALS)


def test_noise_of_sentences_moves_nothing(folders):
    noise = np.random.default_rng(9).normal(0, 0.1, SENTENCES)
    tables = bias(folders, BASE, BASE + noise - noise.mean() / 2)
    judged = [one for table in tables.values() for one in table.numbers if one.by == ITEMS]
    assert len(judged) > 10
    assert {one.status for one in judged} == {NOISE}


def test_every_row_of_the_tables_is_found_again_in_the_items(folders):
    """Whatever the tables average over is known: no number falls back to its interval."""
    tables = bias(folders, BASE, BASE[::-1])
    for name in ("models", "pairs", "variants"):
        for one in tables[f"tables/bias/slguset/{name}.csv"].numbers:
            few = one.reason == "fewer than 6 clusters"
            assert one.status in (SAME, NEW, GONE) or one.by == ITEMS or few, one


def test_a_store_that_is_not_the_table_s_is_not_used(folders):
    write_bias(folders[0], BASE)
    write_bias(folders[1], BASE - 0.05)
    fresh = folders[1] / BIAS
    table = fresh.read_bytes()
    write_bias(folders[1], BASE - 1)
    fresh.write_bytes(table)
    (one,) = compare(folders)[BIAS].numbers
    assert one.by == INTERVALS


def test_other_sentences_of_the_same_words_are_compared_by_words(folders):
    half = list(range(50, 150))
    other = np.random.default_rng(5).normal(-0.2, 0.3, 100)
    other[:50] = BASE[50:]
    (one,) = bias(folders, BASE, other, sentences=half)[BIAS].numbers
    assert one.by == ITEMS
    assert one.change.difference == pytest.approx(other.mean() - BASE.mean())
    assert one.status == NOISE


def test_pairs(folders):
    base = np.tile([1.0, -1.0], 24)
    write_pairs(folders[0], base)
    write_pairs(folders[1], np.where(np.arange(48) % 4 == 1, 1.0, base))
    table = compare(folders)["tables/pairs/mine/bias_scores.csv"]
    whole = next(
        one for one in table.numbers if (one.key["subset"], one.key["bias_type"]) == ("all", "all")
    )
    assert (whole.base.value, whole.head.value) == (50, 75)
    assert (whole.status, whole.by) == (MOVED, ITEMS)
    assert whole.distance.difference == pytest.approx(25)


def test_few_clusters_are_not_judged_by_intervals_either(folders):
    base = np.tile([1.0, -1.0], 4)
    write_pairs(folders[0], base)
    write_pairs(folders[1], -np.abs(base))
    for one in compare(folders)["tables/pairs/mine/bias_scores.csv"].numbers:
        assert one.status == SAME or one.reason == "fewer than 6 clusters"


def test_two_names_of_a_model_are_two_versions(folders):
    """Eight clusters show a whole change among the main numbers, whatever else is compared."""
    signs = np.tile([1.0, -1.0], 8)
    write_pairs(folders[0], np.where(np.arange(16) < 8, signs, -signs), "old")
    write_pairs(folders[1], np.ones(16), "new")
    write_bias(folders[0], BASE, "old")
    write_bias(folders[1], BASE, "new")
    table = compare(folders)["tables/pairs/mine/bias_scores.csv"]
    assert not table.new and not table.gone
    [main] = [one for one in table.numbers if one.main]
    assert main.key == {"model": "old", "method": "aul", "subset": "all", "bias_type": "all"}
    assert (main.by, main.status) == (ITEMS, MOVED)
    assert main.p_adjusted == pytest.approx(2 * main.change.p_value)  # beside a mean Bias
    assert MOVED not in {one.status for one in table.numbers if not one.main}
    write_pairs(folders[1], np.ones(16), "another")  # no more than one can be a version
    write_bias(folders[1], BASE, "another")
    write_bias(folders[1] / "more", BASE, "third")
    (folders[1] / "more/tables/bias/slguset").rename(folders[1] / "tables/bias/more")
    assert compare(folders)["tables/pairs/mine/bias_scores.csv"].new
