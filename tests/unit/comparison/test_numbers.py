import importlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand import audit_logs, audit_predictions
from evenhand.comparison.causes import find_causes, other_people
from evenhand.comparison.gates import BROKEN, UNDECIDED, Gate, judge_gate
from evenhand.comparison.numbers import (
    GONE,
    INTERVALS,
    ITEMS,
    MOVED,
    NEW,
    NOISE,
    OTHER_GROUPS,
    SAME,
    TRAINING,
    UNJUDGED,
    compare_tables,
)
from evenhand.comparison.results import Results
from evenhand.core.families import load_members
from evenhand.core.tables import write_tables
from evenhand.errors import InputError
from evenhand.individual.tables import grid, individuals, table_6
from evenhand.legal import classifier_tables
from evenhand.legal.classifier_tables import attribute_leakage, group_scores, mitigation
from evenhand.legal.classifier_tables.calibration import TABLE
from evenhand.predictions import preferences
from evenhand.predictions import tables as predicted_tables
from evenhand.predictions.tables import groups as predicted_groups
from evenhand.slguset import tables as bias_tables
from evenhand.stereotypes import tables as pair_tables
from unit.comparison.made_folders import (
    BASE,
    SENTENCES,
    SWEEP,
    SWEEPS,
    compare,
    sweep_row,
    write_bias,
    write_pairs,
    write_table,
)
from unit.predictions.test_lm_eval import bbq, crows, with_own_words

BIAS = "tables/bias/slguset/models.csv"
PAIRS = "tables/pairs/mine/bias_scores.csv"


def sweeps(folders, base, head):
    def write(folder, rows):
        write_table(folder, SWEEPS, rows, SWEEP)

    return compare(folders, write, base, head)[SWEEPS]


def statuses(table):
    return {number.row["metric"]: number.status for number in table.numbers}


def test_numbers_that_moved_by_their_intervals(folders):
    base = [sweep_row(50.0, metric="a"), sweep_row(50.0, metric="b"), sweep_row(1.0, metric="c")]
    head = [sweep_row(60.0, metric="a"), sweep_row(50.5, metric="b"), base[2]]
    table = sweeps(folders, base, head)
    assert statuses(table) == {"a": MOVED, "b": NOISE, "c": SAME}
    assert (table.numbers[0].judged_by, table.numbers[0].change) == (INTERVALS, 10)
    table = sweeps(folders, base, base)
    assert table.equal
    assert set(statuses(table).values()) == {SAME}


def test_p_values_are_adjusted_for_all_numbers_of_the_tables_that_differ(folders):
    def rows(mean, count):
        return [sweep_row(mean if n == 0 else 10.0, metric=f"m{n}") for n in range(count)]

    alone = sweeps(folders, rows(10.0, 1), rows(11.6, 1)).numbers[0]
    among = sweeps(folders, rows(10.0, 40), rows(11.6, 40)).numbers[0]
    assert (alone.status, among.status) == (MOVED, NOISE)
    assert among.p_adjusted == pytest.approx(40 * alone.p_value)


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
    (number,) = sweeps(folders, [base], [head]).numbers
    assert number.status == UNJUDGED and not number.is_judged
    assert reason in number.reason


def test_rows_and_numbers_of_one_run_only(folders):
    blank = sweep_row("", metric="c")
    base = [
        sweep_row(1.0, metric="a"),
        sweep_row("", metric="b"),
        blank,
        sweep_row(1.0, method="x"),
    ]
    head = [
        sweep_row(1.0, method="y"),
        blank,
        sweep_row("", metric="a"),
        sweep_row(1.0, metric="b"),
    ]
    table = sweeps(folders, base, head)
    assert statuses(table) == {"a": GONE, "b": NEW}
    assert [row["method"] for row in table.gone + table.new] == ["x", "y"]
    assert table.rows == (4, 4)


def test_rows_are_matched_by_their_keys_in_any_order(folders):
    rows = [sweep_row(float(n), metric=f"m{n}") for n in range(5)]
    table = sweeps(folders, rows, rows[::-1])
    assert not table.equal
    assert set(statuses(table).values()) == {SAME}
    assert not table.new and not table.gone and not table.other_columns_that_differ


def test_a_folder_of_an_older_version_may_lack_columns(folders):
    for folder, lacking in zip(folders, ("reduction", ""), strict=True):
        row = {name: cell for name, cell in sweep_row(1.0).items() if name != lacking}
        write_table(folder, SWEEPS, [row])
    table = compare(folders)[SWEEPS]
    assert table.columns_new == ["reduction"] and table.columns_gone == []
    assert set(statuses(table).values()) == {SAME}


def test_tables_that_are_not_compared_by_row(folders):
    sweeps(folders, [sweep_row(1.0), sweep_row(2.0)], [sweep_row(1.0)])
    for folder, value in zip(folders, (1, 2), strict=True):
        write_table(folder, "tables/undeclared.csv", [{"a": value}])
    write_table(folders[1], "tables/fresh.csv", [{"model": "a"}])
    tables = compare(folders)
    assert "two rows have the same dataset" in tables[SWEEPS].problem and not tables[SWEEPS].numbers
    assert "not declared" in tables["tables/undeclared.csv"].problem
    assert tables["tables/fresh.csv"].rows == (None, 1) and not tables["tables/fresh.csv"].equal


def test_other_columns_and_verdicts(folders):
    name = "tables/classifiers/d/calibration.csv"
    for folder, verdict in zip(folders, ("above noise", "not above noise"), strict=True):
        row = {"dataset": "d", "classifier": "c", "objective": "o", "trained_for": "t",
               "attribute": "a", "group": "g", "split": "test", "ece": len(verdict),
               "p": 1, "verdict": verdict}  # fmt: skip
        write_tables(folder / "tables/classifiers/d", [(TABLE, [row])])
    table = compare(folders)[name]
    assert table.other_columns_that_differ == {"ece": 1, "verdict": 1}
    (verdict,) = table.verdicts
    assert (verdict["base"], verdict["head"]) == ("above noise", "not above noise")
    assert verdict["row"]["group"] == "g"


def test_ends_of_intervals_that_alone_differ_are_counted(folders):
    base = [sweep_row(1.0, metric="a"), sweep_row(1.0, metric="b")]
    head = [sweep_row(1.0, 2.0, metric="a"), sweep_row(1.5, metric="b")]
    assert sweeps(folders, base, head).other_columns_that_differ == {"low": 1, "high": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1\n", "does not have 2 cells"),
        ("a,a\n1,2\n", "column 'a' twice"),
        ("", "no header"),
        (f"{','.join(SWEEP)}\n", "no table with a row"),
    ],
)
def test_malformed_tables_are_an_error(folders, text, message):
    for folder in folders:
        write_table(folder, SWEEPS, [sweep_row(1.0)])
    (folders[1] / SWEEPS).write_text(text)
    with pytest.raises(InputError, match=message):
        compare(folders)


# The items behind the numbers.


def test_the_modules_that_find_items_exist():
    members = [*load_members(pair_tables), *load_members(bias_tables)]
    members += [preferences, *load_members(predicted_tables), *load_members(classifier_tables)]
    names = {column.items for member in members for column in member.TABLE.numbers()} - {""}
    assert names == {
        "slguset_bias",
        "pair_scores",
        "log_answers",
        "audited_cases",
        "counterfactual_rows",
        "classifier_cases",
        "classifier_tests",
        "worst_cells",
    }
    for name in names:
        assert importlib.import_module(f"evenhand.comparison.items.{name}").Store


def test_items_show_what_intervals_hide(folders):
    (number,) = compare(folders, write_bias, BASE, BASE - 0.05)[BIAS].numbers
    assert number.base.low < number.head.value < number.base.high
    assert (number.status, number.judged_by) == (MOVED, ITEMS)
    assert number.distance_change == pytest.approx(0.05)
    store, table = folders[1] / "slguset/bias/mine.parquet", folders[1] / BIAS
    store.unlink()
    (number,) = compare(folders)[BIAS].numbers
    assert (number.status, number.judged_by) == (NOISE, INTERVALS)
    content = table.read_bytes()
    write_bias(folders[1], BASE - 1)  # not the store of this table
    table.write_bytes(content)
    (number,) = compare(folders)[BIAS].numbers
    assert number.judged_by == INTERVALS


def test_noise_of_sentences_moves_nothing(folders):
    noise = np.random.default_rng(9).normal(0, 0.1, SENTENCES)
    tables = compare(folders, write_bias, BASE, BASE + noise - noise.mean() / 2)
    judged = [one for table in tables.values() for one in table.numbers if one.judged_by == ITEMS]
    assert len(judged) > 10
    assert {number.status for number in judged} == {NOISE}


def test_the_items_of_every_row_are_found(folders):
    """No number falls back to its interval."""
    tables = compare(folders, write_bias, BASE, BASE[::-1])
    for name in ("models", "pairs", "variants"):
        for number in tables[f"tables/bias/slguset/{name}.csv"].numbers:
            few = number.reason == "fewer than 6 clusters"
            assert number.status in (SAME, NEW, GONE) or number.judged_by == ITEMS or few, number


def test_other_sentences_of_the_same_words_are_compared_by_words(folders):
    other = np.random.default_rng(5).normal(-0.2, 0.3, 100)
    other[:50] = BASE[50:]
    write_bias(folders[0], BASE)
    write_bias(folders[1], other, sentences=list(range(50, 150)))
    (number,) = compare(folders)[BIAS].numbers
    assert (number.status, number.judged_by) == (NOISE, ITEMS)
    assert number.change == pytest.approx(other.mean() - BASE.mean())


def test_pairs(folders):
    base = np.tile([1.0, -1.0], 24)
    head = np.where(np.arange(48) % 4 == 1, 1.0, base)
    rows = {
        tuple(n.row.values()): n for n in compare(folders, write_pairs, base, head)[PAIRS].numbers
    }
    number = rows["tiny", "aul", "all", "all"]
    assert (number.base.value, number.head.value) == (50, 75)
    assert (number.status, number.judged_by) == (MOVED, ITEMS)
    assert number.distance_change == pytest.approx(25)


def test_few_clusters_are_not_judged_by_intervals_either(folders):
    table = compare(folders, write_pairs, np.tile([1.0, -1.0], 4), np.full(8, -1.0))[PAIRS]
    for number in table.numbers:
        assert number.status == SAME or number.reason == "fewer than 6 clusters"


def test_two_names_of_a_model_are_two_versions(folders):
    """Eight clusters show a whole change among the main numbers, whatever else is compared."""
    signs = np.tile([1.0, -1.0], 8)
    write_pairs(folders[0], np.where(np.arange(16) < 8, signs, -signs), "old")
    write_pairs(folders[1], np.ones(16), "new")
    write_bias(folders[0], BASE, "old")
    write_bias(folders[1], BASE, "new")
    table = compare(folders)[PAIRS]
    assert not table.new and not table.gone
    [main] = [number for number in table.numbers if number.main]
    assert main.row == {"model": "old", "method": "aul", "subset": "all", "bias_type": "all"}
    assert (main.judged_by, main.status) == (ITEMS, MOVED)
    assert main.p_adjusted == pytest.approx(2 * main.p_value)  # beside a mean Bias
    others = [number for number in table.numbers if not number.main]
    assert {number.status for number in others if number.repeats is main} == {MOVED}
    assert MOVED not in {number.status for number in others if number.repeats is None}
    write_bias(folders[1] / "more", BASE, "third")  # at most one can be a version
    (folders[1] / "more/tables/bias/slguset").rename(folders[1] / "tables/bias/more")
    assert compare(folders)[PAIRS].new


def test_pairs_of_a_few_templates_are_few(folders):
    base, head = np.tile([1.0, -1.0], 40), np.ones(80)
    for templates, least in ((None, 0.0), (4, 0.125)):
        for folder, values in zip(folders, (base, head), strict=True):
            write_pairs(folder, values, templates=templates)
        whole, *_ = compare(folders)[PAIRS].numbers
        assert whole.judged_by == ITEMS and (whole.p_value < 0.001) == (templates is None)
        assert whole.p_value >= least


def audited_logs(folder, **samples):
    """Audit logs with these samples by task."""
    logs = folder.with_name(f"{folder.name}_logs")
    logs.mkdir()
    for task, some in samples.items():
        (logs / f"samples_{task}_1.jsonl").write_text("\n".join(map(json.dumps, some)))
    audit_logs(logs, out=folder)


def test_samples_of_logs_are_compared_one_by_one(folders):
    """The intervals of the pairs overlap, of which eight changed in the same direction."""
    for folder, hits, changed in zip(folders, (20, 28), (0, 14), strict=True):
        questions = [*bbq()]
        for sample in questions[1 : 1 + changed : 2]:
            sample["amb_bias_score"] = [0.0, 0.0, 1.0, "False"]
        audited_logs(folder, crows_pairs=with_own_words([*crows(hits)]), bbq=questions)
    table = compare(folders)["tables/predictions/mine/preferences.csv"]
    assert {number.judged_by for number in table.numbers if number.status != SAME} == {ITEMS}
    by_task = {number.row["task"]: number for number in table.numbers if number.main}
    assert by_task["crows_pairs"].p_value == pytest.approx(2**-7)
    assert by_task["crows_pairs"].status == MOVED
    (folders[0] / "predictions/mine/cases.parquet").unlink()
    table = compare(folders)["tables/predictions/mine/preferences.csv"]
    (status,) = (one.status for one in table.numbers if one.main and one.row["condition"] == "")
    assert status == NOISE


GROUPS = "tables/predictions/mine/groups.csv"


@pytest.mark.parametrize("clustered", [False, True])
def test_cases_of_predictions_are_compared_one_by_one(folders, clustered):
    """Of 80 women 12 are predicted right no longer; all intervals overlap."""
    draw = np.random.default_rng(8)
    cases = pd.DataFrame({"y": draw.integers(0, 2, 240), "sex": ["f", "m", "m"] * 80})
    cases["p"] = np.where(draw.random(240) < 0.75, cases["y"], 1 - cases["y"])
    cases["person"] = [f"p{row // 6}" if row > 6 else "" for row in range(240)]
    women = cases.index[(cases["sex"] == "f") & (cases["y"] == cases["p"])][:12]
    for folder, places in zip(folders, ([], women), strict=True):
        cases.loc[places, "p"] = 1 - cases.loc[places, "y"]
        options = {"label": "y", "prediction": "p", "groups": ["sex"], "positive": 1}
        options |= {"cluster": "person"} if clustered else {}
        audit_predictions(cases, **options, out=folder)
    table = compare(folders)[GROUPS]
    assert {number.judged_by for number in table.numbers if number.status != SAME} == {ITEMS}
    place = {"attribute": "sex", "group": "f", "metric": "accuracy", "label": ""}
    (number,) = (one for one in table.numbers if one.main and one.row == place)
    assert number.status == MOVED and number.change == pytest.approx(-12 / 80, abs=1e-5)
    low, high = number.change_low, number.change_high
    assert number.base.low < number.head.high and low < number.change < high < 0
    tables = compare_tables(*map(Results, folders), {}, {"tables/predictions/mine"})
    numbers = (one for table in tables if table.table == GROUPS for one in table.numbers)
    (apart,) = (one for one in numbers if one.main and one.row == place)
    assert (apart.judged_by, apart.change) == (ITEMS, number.change)
    assert apart.status == NOISE and apart.standard_error > 1.5 * number.standard_error
    (folders[0] / "predictions/mine/cases.parquet").unlink()
    table = compare(folders)[GROUPS]
    assert {one.judged_by for one in table.numbers if one.status != SAME} == {INTERVALS}
    assert MOVED not in statuses(table)


COUNTERFACTUAL = "tables/predictions/mine/counterfactuals.csv"


def test_counterfactual_rows_are_compared_one_by_one(folders):
    """Of 200 pairs 12 decisions differ anew; the intervals overlap, and the order is another."""
    draw = np.random.default_rng(4)
    cases = pd.DataFrame({"id": range(200), "y": draw.integers(0, 2, 200), "of": ""})
    cases["sex"], cases["p"] = ["f", "m"] * 100, draw.uniform(0.1, 0.9, 200).round(3)
    other = cases.assign(id=cases["id"] + 200, of=cases["id"], sex=["m", "f"] * 100)
    other.loc[::20, "p"] = 1 - other.loc[::20, "p"]
    options = {"label": "y", "prediction": "p", "groups": ["sex"], "positive": 1}
    options |= {"id": "id", "counterfactual_of": "of"}
    audit_predictions(pd.concat([cases, other]), **options, out=folders[0])
    other.loc[5:121:10, "p"] = 1 - other.loc[5:121:10, "p"]
    head = pd.concat([cases, other]).iloc[::-1]
    audit_predictions(head, **options, out=folders[1])
    numbers = {number.number: number for number in compare(folders)[COUNTERFACTUAL].numbers}
    assert {*numbers} == {"ifr_b", "ifr_p", "moved"}
    assert {(one.status, one.judged_by) for one in numbers.values()} == {(MOVED, ITEMS)}
    same = numbers["ifr_b"]
    assert (same.change, same.p_value) == (pytest.approx(-6), pytest.approx(2 / 2**12))
    assert same.base.low < same.head.high  # McNemar's test is exact
    of_values = compare(folders)["tables/predictions/mine/counterfactual_values.csv"].numbers
    assert {number.judged_by for number in of_values if number.status != SAME} == {ITEMS}
    shutil.rmtree(folders[1])
    audit_predictions(head[::-1], **options, out=folders[1])
    again = {number.number: number for number in compare(folders)[COUNTERFACTUAL].numbers}
    assert [again[name].p_value for name in again] == [numbers[name].p_value for name in again]
    assert not find_causes(*map(Results, folders)).items
    shutil.rmtree(folders[1])
    audit_predictions(head.iloc[7:], **options, out=folders[1])  # without 7 counterfactual rows
    (others,) = find_causes(*map(Results, folders)).items
    assert others[1:5] == ("counterfactual rows", 200, 193, 193)
    # a row set to another value, or of another case, is another item
    others = head.assign(id=lambda row: row["id"] + 1000)
    others.loc[others["of"] != "", "of"] += 1000
    shutil.rmtree(folders[1])
    audit_predictions(others, **options, out=folders[1])
    (apart,) = (one for one in compare(folders)[COUNTERFACTUAL].numbers if one.number == "ifr_b")
    assert apart.judged_by == ITEMS and apart.standard_error > 1.2 * same.standard_error
    shutil.rmtree(folders[1])
    audit_predictions(head, **options, out=folders[1])
    path = folders[0] / "predictions/mine/cases.parquet"  # as of an older audit
    pq.write_table(pq.read_table(path).drop_columns("counterfactuals"), path)
    numbers = compare(folders)[COUNTERFACTUAL].numbers
    assert {number.judged_by for number in numbers} == {INTERVALS}
    assert MOVED not in {number.status for number in numbers if number.number == "ifr_b"}


def test_equal_items_under_two_names_are_one_number(folders):
    """Not so two bias types with equal numbers; only main numbers are adjusted together."""
    for folder, hits in zip(folders, (20, 28), strict=True):
        pairs = with_own_words([*crows(hits)])
        audited_logs(folder, crows_pairs_en=pairs, crows_pairs_en_age=pairs[::2])
    numbers = {
        (one.row["task"][12:], one.row["bias_type"]): one
        for one in compare(folders)["tables/predictions/mine/preferences.csv"].numbers
    }
    whole, age = numbers["en", "all"], numbers["en_age", "all"]
    assert numbers["en", "age"].repeats is age
    assert [one.repeats for one in (whole, age, numbers["en", "gender"])] == [None] * 3
    assert numbers["en", "gender"].base == age.base and numbers["en", "gender"].head == age.head
    assert whole.p_adjusted == 2 * whole.p_value


def test_methods_that_decide_alike_and_tables_with_one_number_count_once(folders):
    base, head = np.tile([1.0, -1.0], 20), np.where(np.arange(40) % 8 == 1, 1.0, [1.0, -1.0] * 20)
    for folder, values in zip(folders, (base, head), strict=True):
        write_pairs(folder, {"aul": values, "cps": values})
        copies = [(replace(grid.TABLE, name=name), [sweep_row(values.sum())]) for name in "ab"]
        write_tables(folder / "tables/individual", copies)
    tables = compare(folders)
    first, second = (number for number in tables[PAIRS].numbers if number.main)
    assert second.repeats is first and first.p_adjusted == first.p_value
    (length,) = (
        n for n in tables["tables/pairs/mine/length.csv"].numbers if n.row["method"] == "cps"
    )
    assert length.repeats is first
    (number,), (copy,) = (tables[f"tables/individual/{name}.csv"].numbers for name in "ab")
    assert copy.repeats is number and copy.status == number.status == MOVED
    first, second = (n for n in compare(folders[:1] * 2)[PAIRS].numbers if n.main)
    assert second.repeats is first  # also where both results are equal


def test_a_method_with_one_setting_in_each_run_is_compared(folders):
    """Of two settings in a run nobody knows which is the other's next version."""
    rows = [
        [sweep_row(60.0, method="laftr_dp", mu=1), sweep_row(60.0, method="cfair", mu=1)],
        [sweep_row(80.0, method="laftr_dp", mu=2)]
        + [sweep_row(80.0, method="cfair", mu=mu) for mu in (2, 4)],
    ]
    table = compare(folders, lambda folder, own: write_table(folder, SWEEPS, own), *rows)[SWEEPS]
    (number,) = table.numbers
    assert number.row["mu"] == "1 → 2" and number.status == MOVED
    assert [row["method"] for row in (*table.gone, *table.new)] == ["cfair"] * 3
    for mu in ("1", "2", "1 → 2"):
        gate = Gate(SWEEPS, "mean", {"method": "laftr_dp", "mu": mu})
        assert judge_gate(gate, [table]).status == BROKEN
    assert judge_gate(Gate(SWEEPS, "mean", {"mu": "3"}), [table]).status == UNDECIDED


def test_a_classifier_trained_for_other_groups_in_each_run_is_compared(folders):
    """Its rows, and its audit in a folder of another name; of two, that of the same attributes."""
    for folder, trained, shift in zip(folders, ("sex", "label+sex"), (0, 20), strict=True):
        classifiers = [("dro", trained), ("erm", "none"), ("sampler", "sex")]
        classifiers += [("sampler", "label+sex") if shift else ("old", "sex")]
        classifiers += [("leace", each) for each in (["label+age"] if shift else ["age", "sex"])]
        rows = []
        for objective, groups in classifiers:
            ends = {"worst": 40 + shift, "worst_low": 35 + shift, "worst_high": 45 + shift}
            ends |= {name.replace("worst", "over_plain"): end for name, end in ends.items()}
            key = ("dataset", "classifier", "objective", "trained_for")
            how = dict(zip(key, ("cases", "words", objective, groups), strict=True))
            rows.append(dict.fromkeys(mitigation.TABLE.header) | how | ends | {"attribute": "sex"})
            name = f"cases_words_{objective}_{groups}"
            row = {"attribute": "sex", "group": "f", "metric": "tpr"}
            row |= {"difference": 0.01 * shift, "cases": 90}
            row |= {"difference_low": 0.01 * shift - 0.05, "difference_high": 0.01 * shift + 0.05}
            row = dict.fromkeys(predicted_groups.TABLE.header) | row
            write_tables(folder / f"tables/predictions/{name}", [(predicted_groups.TABLE, [row])])
            meta = {"name": name, "title": f"{objective}, {groups}", "label": f"y{shift}"}
            path = folder / f"predictions/{name}/meta.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(meta | {"trained": how}))
        write_tables(folder / "tables/classifiers/cases", [(mitigation.TABLE, rows)])
    tables = compare(folders)
    table = tables["tables/classifiers/cases/mitigation.csv"]
    assert [row["objective"] for row in (*table.gone, *table.new)] == ["old", "leace", "sampler"]
    # a gain over plain training is no bias
    assert {one.number: one.neutral for one in table.numbers} == {"worst": None, "over_plain": None}
    path = "tables/predictions/cases_words_{}/groups.csv"
    audits = [path.format(f"dro_{groups}") for groups in ("sex", "label+sex")]
    table = tables[audits[0]]
    assert table.numbers[0].status == MOVED and table.head_table == audits[1]
    assert table.title == "Metrics by group, “dro, sex” → “dro, label+sex”"
    assert tables[path.format("leace_age")].head_table == path.format("leace_label+age")
    for audit in audits:
        assert judge_gate(Gate(audit, "difference"), [*tables.values()]).status == BROKEN
    assert tables[path.format("sampler_label+sex")].rows == (None, 1)
    assert tables[path.format("old_sex")].title == "Metrics by group, “old, sex”"
    choices = {
        change.where[0].split("/")[1] for change in find_causes(*map(Results, folders)).choices
    }
    names = ("dro_sex", "erm_none", "leace_age", "sampler_sex")
    assert choices == {f"cases_words_{name}" for name in names}


def test_intervals_over_people_alone_have_no_noise_of_training(folders):
    name = "tables/individual/individuals.csv"
    for place, folder in enumerate(folders):
        share = dict(zip(("ifr_b", "ifr_b_low", "ifr_b_high"), (80, 79, 81), strict=True))
        row = {"dataset": "loans"} | {name: 5 * place + end for name, end in share.items()}
        blank = dict.fromkeys(individuals.TABLE.header)
        write_tables(folder / "tables/individual", [(individuals.TABLE, [blank | row])])
    numbers = compare(folders)[name].numbers
    assert {(number.status, number.reason) for number in numbers} == {(UNJUDGED, TRAINING)}


def test_groups_are_matched_by_name_and_numbers_of_other_groups_are_not_judged(folders):
    """The code of a group is its place among the names; other bins have other chance levels."""
    scores, leaks = (
        f"tables/classifiers/d/{name}.csv" for name in ("group_scores", "attribute_leakage")
    )
    names = ["<30", "b", "≥50"], ["b", "≥50"]
    for shift, folder, groups in zip((0, 20), folders, names, strict=True):
        path = folder / "tabular/loans/data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"name": "loans", "attribute_values": groups, "meta": {}}))
        rows = [
            dict.fromkeys(table_6.TABLE.header)
            | {"dataset": "loans", "group": code, "metric": "ifr_b", "seeds": 5}
            | {"mean": 10 * len(name), "low": 10 * len(name) - 1, "high": 10 * len(name) + 1}
            for code, name in enumerate(groups)
        ]
        gaps = [sweep_row(50.0 + shift, metric=metric) for metric in ("ddp", "acc")]
        people = [(table_6.TABLE, rows), (grid.TABLE, gaps)]
        write_tables(folder / "tables/individual", people)
        tables = [
            (attribute_leakage.TABLE, {"score": 33 + shift, "score_low": 32 + shift}
             | {"score_high": 34 + shift, "seeds": 3}, [""]),
            (group_scores.TABLE, {"seed": "mean"}, groups),
        ]  # fmt: skip
        write_tables(
            folder / "tables/classifiers/d",
            [
                (table, [dict.fromkeys(table.header) | row | {"attribute": "age"}
                         | ({"group": group} if group else {}) for group in names])
                for table, row, names in tables
            ],
        )  # fmt: skip
    tables = compare(folders)
    table = tables["tables/individual/table_6.csv"]
    assert {n.row["group"]: n.status for n in table.numbers} == {"b": SAME, "≥50": SAME}
    assert [row["group"] for row in table.gone] == ["<30"] and not table.new
    assert {n.row["metric"]: n.reason for n in tables[SWEEPS].numbers} == {
        "ddp": OTHER_GROUPS, "acc": ""
    }  # fmt: skip
    assert tables[leaks].numbers[0].reason == OTHER_GROUPS and scores in tables


@pytest.mark.parametrize(("others", "random"), [(0, MOVED), (5, MOVED), (50, NOISE), (100, NOISE)])
def test_with_other_people_a_mean_varies_as_a_single_seed_does(folders, others, random):
    for number, folder in enumerate(folders):
        people = [{"row": n, "x": n + 1000 * (number and n < others)} for n in range(100)]
        path = folder / "tabular/loans/data.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(people), path)
        splits = ("random", "official")
        rows = [sweep_row(60.0 + 2 * number, split=split) for split in splits]
        write_table(folder, SWEEPS, rows)
    runs = [*map(Results, folders)]
    tables = compare_tables(*runs, other_people(find_causes(*runs)))
    (table,) = (each for each in tables if each.table == SWEEPS)
    found = {number.row["split"]: number for number in table.numbers}
    assert found["random"].status == random
    is_fixed_judged = found["official"].reason != TRAINING
    assert is_fixed_judged is (others < 10) and found["random"].base.low == 59.0
