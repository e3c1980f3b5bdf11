"""Predictions that somebody made: equal to fairlearn, and no bad row is used or lost in silence."""

import json
import re
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from evenhand.core.tables import read_tables
from evenhand.errors import InputError
from evenhand.predictions.audit_predictions import audit_predictions
from evenhand.predictions.read import read_predictions
from evenhand.predictions.words import (
    count_significant,
    echoes,
    findings,
    named_gap,
    notes,
    with_further,
)
from evenhand.tabular.delimited import as_text
from evenhand.text.phrases import plural


def people(n=400, shift=0.0, seed=0):
    """Predictions that select the group `a` less often by `shift`."""
    draw = np.random.default_rng(seed)
    group, age = draw.choice(["a", "b"], n), draw.integers(18, 80, n)
    y = draw.integers(0, 2, n)
    p = np.clip(0.25 + 0.5 * y + draw.normal(0, 0.2, n) - shift * (group == "a"), 0.01, 0.99)
    ids = [f"p{i}" for i in range(n)]
    return pd.DataFrame({"id": ids, "y": y, "p": p.round(4), "group": group, "age": age})


def audit(folder, table, **options):
    """The tables and the description of an audit of a table."""
    file = folder / "predictions.csv"
    if isinstance(table, pd.DataFrame):
        table.to_csv(file, index=False)
    else:
        file.write_bytes(table if isinstance(table, bytes) else table.encode())
    given = {"files": [file], "label": "y", "groups": ["group"]} | options
    if not {"prediction", "probabilities"} & given.keys():
        given["prediction"] = "p"
    made = {key: folder / key for key in ("out", "cases", "meta")}
    audit_predictions(**made, name="mine", **given)
    return read_tables(folder / "out"), json.loads((folder / "meta").read_text())


def other_notes(tables, description, left_out=""):
    """The notes on an audit without those on what a few rows cannot show."""
    words = notes(description, tables, left_out)
    few = ("Not tested, so", "the majority-class baseline", "Without a case of some label")
    return [note for note in words if not any(part in note for part in few)]


def test_other_groups_that_differ_are_named(tmp_path):
    """The most significant group may be the one that is served best."""
    rights = {"best": (392, 400), "worst": (26, 40), "b": (348, 400), "c": (352, 400)}
    rows = [(1, int(n < right), name) for name, (right, of) in rights.items() for n in range(of)]
    rows += [(0, 0, name) for name in rights for _ in range(100)]
    tables, meta = audit(tmp_path, pd.DataFrame(rows, columns=["y", "p", "group"]))
    (words,) = (each for each in findings(tables, 5, meta) if each.startswith("True positive"))
    assert "98.0 % for best (400 positive cases)" in words
    assert " Also significant, each against all others: worst, 65" in words
    (selected,) = (each for each in findings(tables, 5, meta) if each.startswith("Selection rate"))
    assert selected.index("have the label 1.") < selected.index(" Also significant, each")
    assert "Also significant" not in str(findings(audit(tmp_path, people(shift=0.3))[0], 5))


@pytest.mark.parametrize("cluster", [None, "age"])
def test_random_groups_do_not_depend_on_the_order_of_rows(tmp_path, cluster):
    table, options = people(n=640, seed=1), {"id": "id", "cluster": cluster}
    first, again = (
        audit(tmp_path, rows, **options)[0]
        for rows in (table, table.sample(frac=1, random_state=1))
    )
    assert all(again[name] == first[name] for name in ("gaps", "calibration"))


@pytest.mark.parametrize("wrong", [0, 30])
def test_predictions_no_better_than_the_most_frequent_label_are_noted(tmp_path, wrong):
    labels = [1] * 20 + [0] * 80
    table = pd.DataFrame({"y": labels * 2, "group": ["a", "b"] * 100})
    table["p"] = table["y"].where(table.index >= wrong, 1 - table["y"])
    tables, meta = audit(tmp_path, table)
    noted = [note for note in notes(meta, tables, "") if "the majority-class baseline" in note]
    assert len(noted) == (wrong > 0)


@pytest.mark.parametrize("attribute", ["group", "group × age"])
def test_metrics_are_those_of_fairlearn(tmp_path, attribute):
    table = people(shift=0.1)
    tables, _ = audit(tmp_path, table, groups=["group", "age"], bins=["age=30,50"])
    age = pd.cut(table["age"], [0, 29, 49, 99], labels=["<30", "30 to <50", "≥50"]).astype(str)
    group = table["group"] if attribute == "group" else table["group"] + " × " + age
    y, predicted = table["y"], (table["p"] >= 0.5).astype(int)
    metrics = {
        "accuracy": accuracy_score,
        "selection_rate": selection_rate,
        "tpr": true_positive_rate,
        "fpr": false_positive_rate,
        "macro_f1": lambda a, b: f1_score(a, b, average="macro"),
    }
    theirs = MetricFrame(metrics=metrics, y_true=y, y_pred=predicted, sensitive_features=group)
    ours = pd.DataFrame(tables["groups"]).query("attribute == @attribute")
    for metric in metrics:
        own = ours[ours["metric"] == metric].set_index("group")["value"]
        assert own.to_numpy() == pytest.approx(
            theirs.by_group[metric].loc[own.index].to_numpy(dtype=float), abs=1e-6
        )
    gaps = pd.DataFrame(tables["gaps"]).query("attribute == @attribute").set_index("metric")
    assert gaps["gap"][list(metrics)].to_numpy() == pytest.approx(
        theirs.difference(method="between_groups")[list(metrics)].to_numpy(dtype=float), abs=1e-6
    )
    assert gaps["lowest"]["accuracy"] == pytest.approx(theirs.group_min()["accuracy"], abs=1e-6)
    same = {"y_true": y, "y_pred": predicted, "sensitive_features": group}
    parity = demographic_parity_difference(**same)
    assert gaps["gap"]["selection_rate"] == pytest.approx(parity, abs=1e-6)
    assert gaps["ratio"]["selection_rate"] == pytest.approx(
        demographic_parity_ratio(**same), abs=1e-6
    )
    odds = equalized_odds_difference(**same)
    assert gaps["gap"]["equalised_odds"] == pytest.approx(odds, abs=1e-6)


def test_a_planted_gap_is_found_and_an_absent_one_is_not(tmp_path):
    tables, _ = audit(tmp_path, people(n=2000, shift=0.3))
    verdicts = {row["metric"]: row["verdict"] for row in tables["gaps"]}
    assert verdicts["selection_rate"] == verdicts["tpr"] == "above"
    assert any(words.startswith("Selection rate differs by group") for words in findings(tables, 5))
    groups = {(r["group"], r["metric"]): r["verdict"] for r in tables["groups"]}
    assert groups["a", "tpr"] == "below" and groups["b", "tpr"] == "above"
    tables, _ = audit(tmp_path, people(n=6000))
    assert not {row["verdict"] for row in tables["gaps"]} & {"above"}
    assert {row["verdict"] for row in tables["gaps"] if row["metric"] == "accuracy"} == {
        "equivalent"
    }


def test_the_false_positive_rate_of_tests_is_at_most_nominal(tmp_path):
    """Without a difference, few data sets have a significant one, also for small groups."""
    found = []
    for seed in range(20):
        table = people(n=60, seed=seed)
        table["group"] = ["a"] * 12 + ["b"] * 48
        tables, _ = audit(tmp_path, table)
        found.append(any(row["verdict"] in ("above", "below") for row in tables["groups"]))
    assert sum(found) <= 3


def test_dependent_cases_are_one_cluster(tmp_path):
    table = people(n=200, shift=0.15)
    several = pd.concat([table.assign(id=table["id"] + f"-{i}") for i in range(5)])
    several["person"] = several["id"].str.partition("-")[0]
    alone, _ = audit(tmp_path, table)
    apart, _ = audit(tmp_path, several)
    together, _ = audit(tmp_path, several, cluster="person")

    def width(tables):
        row = next(r for r in tables["groups"] if r["group"] == "a" and r["metric"] == "tpr")
        return row["difference_high"] - row["difference_low"]

    def noise(tables):
        return [row["noise_95"] for row in tables["gaps"]]

    assert width(together) == pytest.approx(width(alone), rel=0.05)
    # random groups are of whole persons
    assert noise(together) == pytest.approx(noise(alone), rel=0.15)
    assert np.mean(noise(apart)) < 0.6 * np.mean(noise(alone))
    assert width(apart) < 0.6 * width(alone)


def test_the_interval_of_a_difference_is_recovered_from_those_of_its_parts(tmp_path):
    """Sign flips had p-values that were too small for macro-F1 in few or unequal clusters."""
    table = people(n=300, shift=0.15)
    table["person"] = table["id"].str[:-1] + table["group"]
    tables, _ = audit(tmp_path, table, cluster="person")
    for metric in ("macro_f1", "tpr"):
        rows = [row for row in tables["groups"] if row["metric"] == metric]
        a, b = (next(row for row in rows if row["group"] == group) for group in "ab")
        below = ((a["value"] - a["low"]) ** 2 + (b["high"] - b["value"]) ** 2) ** 0.5
        above = ((a["high"] - a["value"]) ** 2 + (b["value"] - b["low"]) ** 2) ** 0.5
        assert a["difference_low"] == pytest.approx(a["difference"] - below, abs=3e-6)
        assert a["difference_high"] == pytest.approx(a["difference"] + above, abs=3e-6)
        assert (a["p_value"] < 0.05) == (a["difference_high"] < 0 or a["difference_low"] > 0)


def test_counterfactual_rows_give_ifr(tmp_path):
    table = people(n=100)
    other = table.assign(id="c" + table["id"], of=table["id"])
    other["group"] = other["group"].map({"a": "b", "b": "a"})
    other.loc[:49, "p"] = 1 - other.loc[:49, "p"]
    both = pd.concat([table, other])
    tables, meta = audit(tmp_path, both, id="id", counterfactual_of="of")
    (row,) = tables["counterfactuals"]
    assert (row["cases"], row["attribute"], row["ifr_b"]) == (100, "group", 50.0)
    assert row["ifr_p"] >= 50 and meta["cases"] == 100
    labels = both.assign(p=(both["p"] >= 0.5).map({True: "1", False: "0"}))
    [decided] = audit(tmp_path, labels, id="id", counterfactual_of="of")[0]["counterfactuals"]
    blank = [name + end for name in ("ifr_p", "moved") for end in ("", "_low", "_high")]
    assert decided == row | dict.fromkeys(blank)
    assert row["moved_low"] < row["moved"] < row["moved_high"]
    words = findings({**tables, "counterfactuals": [decided]}, 5.0)[0]
    assert words.endswith(
        "have the same predicted label (IFR_b); no direction of change is significant."
    )
    chance = [each | {"verdict": "above", "p_adjusted": 0.06} for each in tables["gaps"]]
    above = [each | {"p_adjusted": 1e-4} for each in chance]
    words = findings(tables | {"gaps": chance, "counterfactuals": [row]}, 5.0)
    assert words[0].startswith("Of 100 counterfactual") and "Perhaps:" in words[1]
    for of_ifr, first in (({}, True), ({"ifr_b_high": 98, "ifr_p_high": 99}, False)):
        words = findings(tables | {"gaps": above, "counterfactuals": [row | of_ifr]}, 5.0)
        starts = [each.startswith("Of 100 counterfactual") for each in words[:2]]
        assert starts == [first, not first]
    named = both.assign(team=["x", "y", "z", "z"] * 25 + [""] * 100)  # a blank cell is no change
    rows = audit(tmp_path, named, groups=["group", "team"], id="id", counterfactual_of="of")[0]
    assert rows["counterfactuals"] == tables["counterfactuals"]
    unlabelled = pd.concat([table, other.assign(y="")])
    words = other_notes(*audit(tmp_path, unlabelled, id="id"))
    assert words[1] == (
        "The rows without a label, and no others, name rows in of: if they are counterfactual, name"
        " this column by `counterfactual_of`."
    )


def test_scores_that_move_without_a_decision_are_stated(tmp_path):
    table = people(n=80).assign(p=[0.15, 0.45] * 40, group=["a", "b"] * 40, of="")
    other = table.assign(
        id="c" + table["id"], of=table["id"], p=[0.45, 0.15] * 40, group=["b", "a"] * 40
    )
    other.loc[:2, "y"] = 1 - other.loc[:2, "y"].astype(int)
    other.loc[3, "of"], other.loc[4, "of"] = "cp3", "cp5"  # itself, and another counterfactual row
    other.loc[5, "of"] = "nobody"
    tables, meta = audit(tmp_path, pd.concat([table, other]), id="id", counterfactual_of="of")
    (row,) = tables["counterfactuals"]
    assert (row["ifr_b"], row["ifr_p"], row["moved"]) == (100, 0, 0.3)
    assert findings(tables, 5.0, meta)[0].startswith(
        "Of 77 counterfactual rows of group, 100.0 % (95 % CI 95.3 to 100.0) have the same"
        " predicted label (IFR_b), and 0.0 % (95 % CI 0.0 to 4.7) a similar probability (IFR_p),"
        " which changes by 30.0 points on average; set to a, the probability of 1 falls by 30.0"
        " points on average (95 % CI 30.0 to 30.0; 38 rows); set to b, it rises by 30.0 points on"
        " average (95 % CI 30.0 to 30.0; 39 rows)."
    )
    assert "3 of 77 counterfactual rows have another label than the factual row" in " ".join(
        notes(meta, tables, "")
    )
    reasons = {row["detail"]: row["reason"] for row in tables["left_out"]}
    assert reasons == {"'cp3'": "not_factual", "'cp5'": "not_factual", "'nobody'": "no_factual"}
    again = pd.concat([table, other, other[6:8].assign(id=["d1", "d2"])])
    tables, meta = audit(tmp_path, again, id="id", counterfactual_of="of")
    assert (
        "2 of 79 counterfactual rows set their case to a value that an earlier row sets it to, and"
        " count too; if they are copies, remove them."
    ) in notes(meta, tables, "")


@pytest.mark.parametrize("has_probabilities", [True, False])
def test_the_values_that_counterfactual_rows_are_set_to_have_a_direction(
    tmp_path, has_probabilities
):
    """Set to c, predictions fall; set to a and b they change in both directions."""
    table = people(n=300).assign(of="")
    table["group"] = ["a", "b", "c"] * 100
    other = table.assign(id="c" + table["id"], of=table["id"], group=["b", "c", "a"] * 100)
    shift = np.where(other["group"] == "c", -0.2, np.where(np.arange(300) // 3 % 2, 0.04, -0.04))
    other["p"] = (other["p"] + shift).clip(0, 1)
    both = pd.concat([table, other])
    if not has_probabilities:
        both["p"] = (both["p"] >= 0.5).astype(int)
    options = {"id": "id", "counterfactual_of": "of"}
    tables, meta = audit(tmp_path, both, positive="1", **options)
    rows = {row["value"]: row for row in tables["counterfactual_values"]}
    before, after = (part["p"].to_numpy()[1::3] for part in (both[:300], both[300:]))
    assert rows["c"]["signed_change"] == pytest.approx((after - before).mean(), abs=1e-6)
    assert (rows["c"]["label"], rows["c"]["rows"], [*rows]) == ("1", 100, ["a", "b", "c"])
    low, change, high = (rows["c"][f"signed_change{end}"] for end in ("_low", "", "_high"))
    assert low < change < high < 0
    assert [row["p_adjusted"] < 0.05 for row in rows.values()] == [False, False, True]
    (words,) = (each for each in findings(tables, 5.0, meta) if "counterfactual row" in each)
    subject = "the probability of 1" if has_probabilities else "the share predicted as 1"
    assert f"; set to c, {subject} falls by " in words and words.count("set to") == 1
    audited = audit(
        tmp_path,
        both.assign(y=both["y"].map({0: "x", 1: "z"}), p=np.where(both["p"] >= 0.5, "z", "x")),
        **options,
    )[0]
    assert "counterfactual_values" not in audited  # no label is positive


def test_one_counterfactual_row_has_no_interval(tmp_path):
    table = people(n=40).assign(of="")
    other = table[:1].assign(
        id="c", of="p0", group=lambda row: row["group"].map({"a": "b", "b": "a"})
    )
    tables, meta = audit(tmp_path, pd.concat([table, other]), id="id", counterfactual_of="of")
    assert (
        "Of 1 counterfactual row of group, 100.0 % (too few for an interval) have the same"
        in findings(tables, 5.0, meta)[0]
    )


def test_probabilities_of_three_classes(tmp_path):
    draw = np.random.default_rng(1)
    p = draw.dirichlet([1, 1, 1], 90).round(4)
    table = pd.DataFrame(p, columns=["x", "y1", "z"])
    table["z"] = (1 - table["x"] - table["y1"]).round(4)
    table["y"], table["group"] = draw.choice(["x", "y", "z"], 90), ["a", "b"] * 45
    options = {"classes": ["x", "y", "z"], "probabilities": ["x", "y1", "z"]}
    tables, meta = audit(tmp_path, table, **options)
    assert {(row["metric"], row["label"]) for row in tables["gaps"]} == {
        *((name, None) for name in ("accuracy", "macro_f1", "ece")),
        *(("tpr", name) for name in "xyz"),
    }
    assert meta["positive"] is None
    with_rates, _ = audit(tmp_path, table, positive="z", **options)
    assert "tpr" in {row["metric"] for row in with_rates["gaps"]}


SETS = "y,p,group\n" + "{0},{0},a\n{1},{1},a\n{2},{2},b\n{3},{3},b\n"
ROWS = "id,y,p,group\n1,1,0.9,a\n2,0,0.2,a\n3,1,0.4,b\n4,0,0.6,b\n"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (ROWS, {"groups": ["sex"]}, "has no column 'sex'"),
        ("x,1,0.9,a\ny,0,0.1,b\n", {}, "its first line has x, 1, 0.9, a; write a line of names"),
        (ROWS.replace(",", "|"), {"label": "truth"}, "are id|y|p|group; separate cells by comma"),
        (ROWS.replace("a", "b"), {}, "one value only (b)"),
        (ROWS.replace(",a\n", ",\n").replace(",b\n", ",\n"), {}, "group has no value"),
        (ROWS, {"bins": ["group=30"]}, "group is 'a', and its bins need a number"),
        (ROWS.replace(",a\n", ",8\n").replace(",b\n", ",9\n") + "5,1,,7\n",
         {"bins": ["group=30"]}, "`bins.group` puts all numbers of group (7 to 9) into one group"),
        (ROWS.replace(",b\n", ",a\n") + "5,1,,b\n", {},
         "one value only (a), so there are no groups to compare; 1 of 5 rows is left out (the p"),
        (ROWS.replace(",1,", ",yes,").replace(",0,", ",true,"), {},
         "y has true and yes, and each may be the positive label; name it as `positive`"),
        (ROWS, {"positive": "2"}, "`positive` is 2, which is no value of y; choose one of 0"),
        (ROWS, {"groups": ["group"], "bins": ["age=30"]}, "`bins` names age, which is none of"),
        (ROWS.replace(",a\n", ",ä\n").encode("latin-1"), {}, "UTF-8"),
        ("id,y,p,group\n", {}, "no rows below its header"),
        (ROWS + '5,"1,0.2,a\n6,0,0.3,b\n7,"", 1"\n8,1,0.2,a\n', {},
         ".csv:8: row 5 below the header, in lines 6 to 8, has 2 cells, and the header 4; close the"
         " quotation mark that opens a cell in line 6, or double it"),
        (ROWS + "\n5;1;0.2;a\n", {}, ".csv:7: row 5 below the header, in line 7, has 1 cell, and"
         " the header 4; separate all its cells by a comma, as in the header, blank ones too."),
        ("id,y,p,group\n" + "".join(f"{i},{i % 2},0.4,{i}.62{i % 10}\n{i},{i % 2},0.4,{i}\n"
                                    for i in range(1, 30)), {"bins": ["group=500"]},
         "group has numbers such as 1.621 beside 1, and all with a point have three digits after"
         " it; if it separates thousands, write 1621; else write all with as many decimals, such"),
        ("sep=;\n" + ROWS.replace(",", ";"), {}, ":1: begins with sep=;, which only Excel"),
        (ROWS.replace(",", ";").replace("0.", "0,"), {}, "a comma, for example by pandas: `re"),
        ("id,y,p,group\n" + "".join(f"{i},{i % 50},{i % 50 + i % 3},{'ab'[i % 2]}\n"
                                    for i in range(300)), {},
         "y has 50 numbers, and most predictions are near the true one, so it is a quantity and"),
        ("id,y,p,group\n" + "".join(f"{i},{' '.join('abc'[j] for j in range(3) if i >> j & 1)},a,c"
                                    "\n" for i in range(1, 8)), {},
         "y has cells such as 'a b': a row has one label here; if it may have several, audit a"),
        (ROWS + "5,1,0.2,a,b\n", {}, " the header 4; put a cell with a comma inside into quotes."),
        (ROWS + "5,1", {}, " line 6, has 2 cells, and the header 4; copy or write the file again"),
        (ROWS + "5,1,0.2,\0b\n", {}, ".csv:6: has the control character U+0000 in the column"),
        (ROWS + ROWS, {}, ".csv:6: repeats the header; remove this line"),
        (ROWS.replace("p,gr", "p\x07,gr"), {}, ":1: has the control character U+0007 in the name"),
        (ROWS.replace("0.", "yes"), {}, ".csv:2: p has 'yes9', and y has 0 and 1; use the same"),
        ("id,y,p,group\n1,yes,yess,a\n2,no,no,a\n3,yes,yess,b\n4,no,no,b\n", {},
         ".csv:2: p has 'yess', and y has no and yes; use the same labels"),
        (ROWS.replace(",", ";").replace("0.", "0,"), {}, "y has 0 and 1; write numbers with a"),
        (ROWS.replace("0.9", "79%").replace("0.", "7%"), {}, ":2: p has '79%', and y has 0 and 1;"
         " write 0.79 for 79%"),
        (ROWS.replace("0.9", "inf").replace("0.4", "inf").replace("0.", "-"), {},
         "p has 'inf', and y has 0 and 1; infinite numbers are no probabilities; write"),
        (ROWS.replace("0.", "6"), {}, "p has numbers above 1 (up to 69); divide percent"),
        (ROWS.replace("0.2", "-2.2").replace("0.", "2."), {}, "(up to 2.9); apply the sigmoid, or"),
        ("y,p,group\n" + "".join(f"{n % 2},{n / 100 - 0.1},{n % 3}\n" for n in range(90)), {},
         "p has numbers below 0 (down to -0.1); apply the sigmoid, or name a column of labels"),
        (ROWS.replace("0.", "") + "5,1,0,b\n6,0,1,b\n", {}, "p has numbers above 1 (up to 9)"),
        (ROWS.replace("0.", "0.0") + "5,1,2,b\n6,0,3,b\n7,0,4,b\n", {}, "above 1 (up to 4)"),
        (ROWS + "5,maybe,0.7,b\n", {}, "predictions.csv:6: p has one probability a row, which is"
         " not enough, as y has 3 values (0, 1 and maybe); the rarest is 'maybe', in 1 row, first"
         " here; give `probabilities` by class, or correct"),
        ("y,p,group\nyes,0.9,a\nno,0.2,b\nYes,0.7,a\nNo,0.1,b\n", {}, "as y has 4 values (No, Yes,"
         " no and yes); spell 'No' and 'no' alike, if they are one label"),
        (ROWS.replace(",1,", ",2,"), {}, "of which label; name `positive`, one of 0 and 2"),
        (ROWS + "5,1,,a\n6,1,2,b\n7,1,,b\n8,,1,b\n9,,1,a\n", {},
         "5 of 9 rows are left out (the prediction or a probability is missing: 2; the label is"
         " missing: 2; a probability is below 0, above 1 or no number (48 % is 0.48): 1; the first"
         " is 2), more than half of them; correct"),
        ("id,y,p,group\n" + "1,1,0.9,a\n1,0,0.2,b\n" * 2, {"id": "id"},
         "3 of 4 rows are left out (an earlier row has this id and other cells: 2; the first is"
         " '1'; an earlier row has this id: 1; the first is '1'), more than half of them; name a"
         " column as `id` that differs in all rows"),
        (ROWS + "5,1,0.9,a\n6,0,0.2,b\n", {"id": "group"}, "4 of 6 rows are left out (an earlier"),
        (ROWS, {"groups": ["p"]}, "the attribute p is the prediction; name a protected attribute"),
        (ROWS.replace(",group", ","), {"groups": [""]}, "`groups` names a column without a name"),
        ("y,p,group\n1,1,a\n-1,0,b\n", {}, "csv: p has '0', and y has -1 and 1; use the same"),
        (ROWS, {"prediction": None, "classes": ["1"], "probabilities": ["p"]},
         "y has 0, for which `probabilities` names no column; it names columns for 1; of two"),
        ("y,p,group\n" + "".join(f"{n % 2},0.5,g{n}\n" for n in range(60)), {},
         "the attribute group has 60 groups in 60 rows; it seems to be an id: name a protected"),
        *(("y,p,group\n" + "".join(f"{n % 2},1,{day.format(n % 25 + 1)}\n" for n in range(99)), {},
           "the attribute group has 25 dates in 99 rows; write periods, such as years, in place")
          for day in ("2024-05-{:02}", "{}.5.2024", "5/{}/24 12:00:00")),
        (ROWS, {"groups": ["y"]}, "the attribute y is the label; name a protected attribute"),
        ("y,p,group\nno,no,no\nyes,no,yes\n", {}, "the attribute group is the label"),
        (ROWS.replace("1,1,", "1,,").replace("2,0,", "2,,").replace("3,1,", "3,,")
         .replace("4,0,", "4,,"), {}, "y has no value"),
        (ROWS.replace(",0,", ",1,"), {}, "has one value only (1)"),
        (ROWS, {"prediction": "p", "classes": ["1"], "probabilities": ["p"]}, "name either"),
        (ROWS, {"prediction": None, "classes": ["0", "1"], "probabilities": ["p", "p"]},
         "`probabilities` names the column p for 0 and 1; name another column for each label"),
        (ROWS.replace(",b", ",\"['left', 'web']\""), {}, ":4: group has the list ['left', 'web'],"
         " and each cell is to have one group; write a column of true and false for each group"),
        ('id,y,p,group\n1,1,"[0.1, 0.9]",a\n2,0,"[0.8, 0.2]",b\n', {}, "; write a column of prob"),
        (SETS.format("roof", "roof;water", "water;wall;roof", ""), {"positive": "roof"},
         "y has cells such as 'roof;water': a row has one label here; if it may have several, a"),
        (SETS.format("roof | wall", "roof | water", "wall | water", ""), {},
         "audit a column of 0 and 1 for each label, else write these without '|'"),
        (ROWS.replace(",1,", ",[],"), {}, ":2: y has the list [], and each cell is to have one la"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(tmp_path, text, options, words):
    with pytest.raises(InputError) as error:
        audit(tmp_path, text, **options)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "names",
    [
        ("old;red", "old;blue", "new;red", "new;blue"),  # of two properties, each in its place
        ("York; NY", "Troy; NY", "Rome; NY", "other"),
        ("1,5", "2,5", "1", "2"),
    ],
)
def test_labels_with_a_separator_are_no_sets_for_that(tmp_path, names):
    header, _, rows = SETS.format(*(f'"{name}"' for name in names)).partition("\n")
    audit(tmp_path, f"{header}\n{rows * 2}")


@pytest.mark.parametrize(
    ("form", "call"),
    [
        ({"orient": "records", "lines": True}, "pandas.read_json(file, lines=True)"),
        ({"orient": "records", "indent": 1}, "pandas.read_json(file)"),
        ({"orient": "columns"}, "pandas.read_json(file)"),
        ("rows", "pandas.DataFrame(pandas.read_json(file, typ='series')['rows'])"),
        ("none", ""),
    ],
)
def test_the_advice_on_json_reads_it(tmp_path, form, call):
    file, table = tmp_path / "p.csv", people(n=12)
    if form == "rows":
        file.write_text(json.dumps({"rows": table.to_dict("records"), "size": 12}))
    elif form == "none":
        file.write_text('{"y": [\n')
    else:
        table.to_json(file, **form)
    with pytest.raises(InputError, match="is JSON, no CSV or Parquet file") as error:
        audit(tmp_path, file.read_text())
    as_csv = f"write a CSV, as by {call}.to_csv(name, index=False)"
    assert error.value.remedy == (as_csv if call else "write a CSV with a row for each case")
    if call:
        made = eval(call, {"pandas": pd, "file": file})
        assert made.shape == table.shape


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("1,1,0.9,a", "duplicate_id"),
        ("1,0,0.9,a", "other_row"),
        ("5,,0.9,a", "no_label"),
        ("5,1,,a", "no_prediction"),
        ("5,1,nan,a", "no_prediction"),
        ("5,1,1.5,a", "not_a_probability"),
        ("5,1,often,a", "not_a_probability"),
    ],
)
def test_a_bad_row_is_left_out_with_its_reason(tmp_path, row, reason):
    tables, meta = audit(tmp_path, f"{ROWS}{row}\n", id="id")
    (left,) = tables["left_out"]
    assert (left["row"], left["reason"], meta["cases"]) == (5, reason, 4)
    lines = f"{ROWS}{row}\n".splitlines()  # a column that is not read
    text = "".join(f"{line},{'at' if n == 0 else n}\n" for n, line in enumerate(lines))
    assert audit(tmp_path, text, id="id")[0]["left_out"] == [left]
    assert not audit(tmp_path, f"{ROWS}5,1,1.0000001,a\n6,0,-1e-9,b\n")[0]["left_out"]


def test_a_whole_number_is_one_group_in_every_form(tmp_path):
    table = people(n=80)
    table["group"] = (["1", "1.0", "2", "2.0"] * 20)[:80]
    table["of"], table["id"] = "", range(80)
    table.loc[79, "group"], table.loc[79, "of"] = "1.0", "2.0"
    tables, meta = audit(tmp_path, table, id="id", counterfactual_of="of")
    assert {row["group"] for row in tables["groups"]} == {"all", "1", "2"}
    assert (meta["rows"], meta["cases"], meta["left_out"]) == (80, 79, 0)


def test_left_out_rows_and_unknown_groups_are_noted(tmp_path):
    tables, meta = audit(tmp_path, ROWS + "4,1,0.9,a\n5,1,,a\n6,1,1,\n", id="id")
    assert other_notes(tables, meta, "left_out.csv") == [
        "2 of 7 rows are left out (an earlier row has this id and other cells: 1; the prediction"
        " or a probability is missing: 1): left_out.csv",
        "1 case has no group in group, and counts for other attributes only.",
    ]
    tables, meta = audit(tmp_path, ROWS)
    assert other_notes(tables, meta) == []
    tables, meta = audit(
        tmp_path, ROWS + "4,1,0.9,A\n4,1,0.8,\u200ba\n4,1,0.7,a\xa0b\n4,0,0.7,a b\n"
    )
    assert other_notes(tables, meta) == [
        r"The groups 'A', 'a', '\u200ba'; 'a b', 'a\xa0b' of group differ only in capital letters,"
        " blanks, invisible characters, or letters that look alike, and each counts as a group; if"
        " they are one, spell them alike."
    ]
    tables, meta = audit(tmp_path, ROWS + "5,1,0.9,#NV\n6,0,0.1,#ARG!\n")
    assert meta["unknown"] == {"group": 2}
    as_excel = ROWS.replace(",1,", ",TRUE,").replace(",0,", ",FALSE,")
    assert audit(tmp_path, as_excel)[1]["positive"] == "TRUE"
    tables, meta = audit(tmp_path, ROWS + "4,1,0.9,a;b\n5,0,0.9,a; b\n6,0,0.9,c;d\n")
    (noted,) = other_notes(tables, meta)
    assert noted.startswith("Cells of group such as “a; b” look like several groups; each combin")
    tables, meta = audit(tmp_path, ROWS + "5,1,0.9,MÃ¼ller\n6,0,0.9,MÃ¼ller\n")
    assert other_notes(tables, meta)[0].startswith("Groups of group such as “MÃ¼ller” look damaged")
    letters = ["\u0410", "A", "Ste\u0301", "St\xe9", "\u0421T", "C\u03a4", "q", "a b", "a  b"]
    cells = "".join(f"4,{n % 2},0.7,{name}\n" for n, name in enumerate(letters))
    words = "\n".join(other_notes(*audit(tmp_path, "id,y,p,group\n" + cells)))
    cyrillic = "'A', '\u0410' (with U+0410 CYRILLIC CAPITAL LETTER A); "
    composed = "'Ste\u0301' (with U+0301 COMBINING ACUTE ACCENT), 'St\xe9' (with U+00E9 LATIN"
    both = "'C\u03a4' (with U+03A4 GREEK CAPITAL LETTER TAU), '\u0421T' (with U+0421 CYRILLIC"
    assert cyrillic in words and composed in words and both in words
    assert "'a\u2423\u2423b', 'a b' of group" in words and words.count("The groups ") == 1
    tables, meta = audit(tmp_path, "y,p,group\nYes,no,a\nyes,yes,b\nno,no,a\nno,Yes,b\n")
    assert other_notes(tables, meta)[0].startswith("The labels 'Yes', 'yes' differ only in capital")


def test_predictions_of_0_and_1_that_are_no_labels_are_decisions(tmp_path):
    table = people(n=80)
    table["p"] = (table["p"] >= 0.5).astype(int)
    table["y"] = table["y"].map({1: "yes", 0: "no"})
    tables, meta = audit(tmp_path, table)
    assert "ece" not in meta["metrics"] and "calibration" not in tables
    (note,) = notes(meta, tables, "")
    assert note == "The predictions are 0 and 1, which are no labels: 1 counts as yes."
    table["p"] = table["p"].map({1: "yes", 0: "no"})
    same, _ = audit(tmp_path, table)
    assert same == tables


def test_a_few_predictions_of_another_label_are_no_probabilities(tmp_path):
    text = "y,p,group\n" + "1,1,a\n0,0,b\n0,1,a\n1,0,b\n" * 2 + "1,2,a\n"
    assert [row["reason"] for row in audit(tmp_path, text)[0]["left_out"]] == ["not_a_label"]


def test_values_that_may_be_missing_and_a_label_that_nobody_named_are_noted(tmp_path):
    text = ROWS.replace(",a\n", ",unknown\n").replace(",0,", ",n/a,") + "5,2,0.3,b\n6,2,0.1,b\n"
    text += "7,1,0.8,b\n"
    tables, meta = audit(tmp_path, text, id="id")
    assert other_notes(tables, meta, "left_out.csv") == [
        "2 of 7 rows are left out (the label is missing): left_out.csv",
        "Rates are of the label 1, as none was named by `positive`.",
        "In group, “unknown” (2) may mean a missing value, and counts as a value; leave such cells"
        " blank if so.",
    ]
    table = people(n=80)
    table.loc[:2, "age"] = -999
    tables, meta = audit(tmp_path, table, groups=["age"], bins=["age=25,45"])
    assert other_notes(tables, meta)[0].startswith("In age, “-999” (3) may mean a missing value")
    tables, meta = audit(tmp_path, ROWS.replace("group", "none"), id="id", groups=["none"])
    assert other_notes(tables, meta) == []


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        ("age=30,50", []),
        ("age=35,200", ["The bin ≥200 of age has no case; check the borders."]),
        ("age=2,35,200", ["The bins <2 and ≥200 of age have no case; check the borders."]),
    ],
)
def test_bins_without_a_case_are_noted(tmp_path, bins, words):
    tables, meta = audit(tmp_path, people(), id="id", groups=["age"], bins=[bins])
    assert [note for note in notes(meta, tables, "") if "bin" in note] == words


def test_an_intersection_of_too_many_groups_is_noted(tmp_path):
    table = people(2400)
    table["group"], table["age"] = table.index % 15, table.index // 15 % 10
    tables, description = audit(tmp_path, table, groups=["group", "age"])
    words = "Not computed: group × age (over 100 groups)."
    assert words in notes(description, tables, "")


def test_a_blank_cluster_is_one_of_its_own_and_a_constant_one_is_refused(tmp_path):
    table = people(n=400, shift=0.3)
    table["home"] = ["" if i % 2 else f"h{i}" for i in range(len(table))]
    tables, meta = audit(tmp_path, table, id="id", cluster="home")
    assert "200 cases have no cluster; each counts as independent." in notes(meta, tables, "")
    assert any(words.startswith("Selection rate differs by group") for words in findings(tables, 5))
    gold = tmp_path / "gold.csv"
    table.drop(columns="p").to_csv(gold, index=False)
    assert audit(tmp_path, table[["id", "p"]], id="id", cluster="home", gold=gold)[0] == tables
    with pytest.raises(InputError, match=r"predictions\.csv: has no column 'h', which `cluster`"):
        audit(tmp_path, table[["id", "p"]], id="id", cluster="h", gold=gold)
    with pytest.raises(InputError, match="the column id differs in all rows, so that no cases"):
        audit(tmp_path, table, cluster="id")
    twice = pd.concat([table, table[:9]])
    with pytest.raises(
        InputError, match="id is named as `id`, of which each counts once, and as `c"
    ):
        audit(tmp_path, twice, id="id", cluster="id")
    with pytest.raises(InputError, match="y is named as `label` and as `cluster`"):
        audit(tmp_path, table, cluster="y")
    with pytest.raises(InputError, match="home is the same for all rows, so nothing can be tested"):
        audit(tmp_path, table.assign(home="h"), id="id", cluster="home")
    with pytest.raises(
        InputError, match=r"each group of the attribute group is one cluster \(home"
    ):
        audit(tmp_path, table.assign(home=table["group"] + "1"), id="id", cluster="home")


def test_a_gap_of_two_groups_has_the_verdict_of_their_difference(tmp_path):
    table = people(n=4000)
    table["y"] = (np.random.default_rng(0).random(4000) < table["p"]).astype(int)
    table["p"] = table["y"] * 0.6 + 0.2  # all are right
    wrong = np.arange(4000) % 10 == 0
    table.loc[wrong, "p"] = 1 - table.loc[wrong, "p"]
    table["home"] = [f"h{place // 2}" for place in range(4000)]
    tables, _ = audit(tmp_path, table, id="id", cluster="home")
    (gap,) = (row for row in tables["gaps"] if row["metric"] == "accuracy")
    rows = (row for row in tables["groups"] if row["metric"] == "accuracy" and row["verdict"])
    groups = {row["verdict"] for row in rows}
    assert groups == {gap["verdict"]} == {"equivalent"}


@pytest.mark.parametrize("options", [{}, {"prediction": "cut"}, {"cluster": "home"}])
def test_scores_that_rank_positive_cases_below_others_are_noted(tmp_path, options):
    table = people()
    table["p"] = 1 - table["p"]
    table["cut"] = (table["p"] >= 0.5).astype(int)
    table["home"] = [f"h{place // 2}" for place in range(len(table))]
    score = table[options.get("prediction", "p")]
    tables, description = audit(tmp_path, table, **options)
    auc = roc_auc_score(table["y"], score)
    assert description["auc_reversed"] == {"1": pytest.approx(auc)}
    assert (
        f"The score ranks the label 1 (AUC {auc:.2f}) below the others: is it the score of another"
        " label, or reversed?"
    ) in findings(tables, 5, description)[0]


@pytest.mark.parametrize("given", ["probabilities", "prediction"])
@pytest.mark.parametrize("exchanged", [{}, {"q0": "q1", "q1": "q0"}])
def test_exchanged_columns_of_several_classes_are_noted(tmp_path, given, exchanged):
    draw, places = np.random.default_rng(0), np.arange(300) % 3
    p = draw.dirichlet([1, 1, 1], 300) + 2 * (places[:, None] == np.arange(3))
    table = pd.DataFrame((p / p.sum(axis=1, keepdims=True)).round(6), columns=["q0", "q1", "q2"])
    table = table.rename(columns=exchanged)
    columns = ["q0", "q1", "q2"]
    table["cut"] = np.array(list("xyz"))[table[columns].to_numpy().argmax(axis=1)]
    table["y"], table["group"] = np.array(list("xyz"))[places], draw.choice(["a", "b"], 300)
    of_classes = {"classes": ["x", "y", "z"], "probabilities": columns}
    options = of_classes if given == "probabilities" else {"prediction": "cut"}
    tables, description = audit(tmp_path, table, **options)
    scores = table[columns] if given == "probabilities" else pd.get_dummies(table["cut"])
    auc = [roc_auc_score(table["y"] == name, scores.iloc[:, i]) for i, name in enumerate("xyz")]
    assert (min(auc) < 0.4) == bool(exchanged) and auc[2] > 0.9
    expected = dict(zip("xy", map(pytest.approx, auc), strict=False)) if exchanged else {}
    assert description["auc_reversed"] == expected
    note = (
        f"The scores rank the labels x (AUC {auc[0]:.2f}) and y (AUC {auc[1]:.2f}) below the"
        " others: are their columns or names exchanged?"
    )
    assert (note in findings(tables, 5, description)[0]) == bool(exchanged)


def test_scores_that_are_right_or_below_chance_in_few_clusters_have_no_such_note(tmp_path):
    table = people()
    assert audit(tmp_path, table)[1]["auc_reversed"] == {}
    table = table.assign(p=1 - table["p"], person=np.arange(len(table)) % 3)
    assert audit(tmp_path, table, cluster="person")[1]["auc_reversed"] == {}


@pytest.mark.parametrize(("groups", "other"), [(["a", "b"], "b"), (["a", "b", "c"], "all others")])
def test_a_finding_has_the_rates_and_the_cases_of_a_group_and_the_others(tmp_path, groups, other):
    table = people(shift=0.3)
    table.loc[table["group"] == "b", "group"] = np.resize(groups[1:], (table["group"] == "b").sum())
    first = findings(audit(tmp_path, table)[0], 5)[0]
    some, others = (
        f"{((part['y'] == 1).sum())} positive cases"
        for part in (table[table["group"] == "a"], table[table["group"] != "a"])
    )
    assert first.startswith("True positive rate") and f" % for a ({some})" in first
    # of two groups the higher one is first
    last = f"a ({some})" if other == "b" else f"{other} ({others})"
    assert f" % for {other} ({others})" in first and f" % for {last}, a difference of" in first


def test_a_finding_of_the_whole_gap_has_the_cases_of_both_groups(tmp_path):
    tables, _ = audit(tmp_path, people(shift=0.3))
    (words,) = (words for words in findings(tables, 5) if words.startswith("Calibration error"))
    counts = {row["group"]: row["cases"] for row in tables["groups"]}
    assert f" for a ({counts['a']} cases)" in words and f" for b ({counts['b']} cases)" in words


def test_the_clearest_finding_of_each_attribute_precedes_the_second_of_any(tmp_path):
    table = people(n=1000, shift=0.4).assign(side=lambda rows: np.arange(len(rows)) % 2)
    table.loc[table["side"] == 1, "p"] = (table["p"] + 0.15).clip(upper=0.999)
    words = findings(audit(tmp_path, table, groups=["group", "side"])[0], 5)
    attributes = [each.partition(" differs by ")[2].partition(":")[0] for each in words]
    assert attributes[:2] == ["group", "side"] and attributes.count("group") > 2
    metrics = [each.partition(" differs")[0] for each in words if " by group:" in each]
    assert "Macro-F1" in metrics and metrics.index("Selection rate") < metrics.index("Macro-F1")
    first, further = with_further(words, "the page")
    assert first == words[0] and further[:-1] == words[1:6]
    assert further[-1] == f"{len(words) - 6} further statements: see the page."
    assert with_further(words[:6], "the page") == (words[0], words[1:6])


@pytest.mark.parametrize("only_crossed", [True, False])
def test_the_first_finding_names_an_intersection_that_differs_more_than_its_attributes(
    tmp_path, only_crossed
):
    table = people(n=4000).assign(sex=lambda rows: np.where(np.arange(len(rows)) % 2, "f", "m"))
    hit = (table["group"] == "a") & (~(table["sex"] == "m") if only_crossed else True)
    table.loc[hit, "p"] = (table.loc[hit, "p"] - 0.4).clip(0.001)
    tables, _ = audit(tmp_path, table, groups=["group", "sex"])
    first, *others = findings(tables, 5)
    words = "An intersection differs more than its attributes: "
    assert " differs by group: " in first or " differs by sex: " in first
    assert (words in first) is only_crossed
    assert only_crossed is (" % for a × f (" in first)
    if only_crossed:
        crossed = first.partition(words)[2]
        assert re.search(
            r"; adjusted p < 0\.001\); the largest difference of its attributes is −\d+\.\d points,"
            r" of f\.$",
            crossed,
        )
        for row in tables["groups"]:
            row["verdict"] = row["verdict"] if " × " in row["attribute"] else "inconclusive"
        few = " points, of f, which is undecided, as 2 seeds (repeated runs) are too few."
        assert findings(tables, 5, {"runs": 2})[0].endswith(few)
        adjusted = " points, of f, which is not significant after adjustment."
        assert findings(tables, 5)[0].endswith(adjusted)
        for row in tables["groups"]:
            row["p_value"] = row["p_value"] and 0.3
        assert findings(tables, 5)[0].endswith(", of f, which is undecided, with so few cases.")
    assert not any(words in other for other in others)


def test_gaps_of_intersections_not_beyond_an_attribute_are_counted_only(tmp_path):
    table = people(n=4000, shift=0.3)
    table = table.assign(sex=lambda rows: np.where(np.arange(len(rows)) % 2, "f", "m"))
    tables, description = audit(tmp_path, table, groups=["group", "sex"])
    above = [row for row in tables["gaps"] if row["verdict"] == "above"]
    crossed = [row for row in above if " × " in row["attribute"]]
    assert len(crossed) > 1 and "equalised_odds" in {row["metric"] for row in crossed}
    words = findings(tables, 5)
    named = [row for row in above if row["lowest"] is not None and row not in crossed]
    quiet = words.pop(1)  # after the clearest gap of each attribute
    assert quiet.startswith("None of 6 gaps by sex is significant. All are shown to be")
    # of plain training, Text classifiers tests macro-F1
    of_plain = findings(tables, 5, {"trained": {"objective": "erm"}})[1]
    besides = "None of 5 gaps by sex, besides macro-F1 (see Text classifiers), is significant. All"
    assert of_plain.startswith(besides)
    gaps = [row | {"verdict": "inconclusive"} for row in tables["gaps"]]
    for runs, remedy in ((2, "five or more seeds, then"), (5, "more seeds, or")):
        undecided = findings({"gaps": gaps, "groups": []}, 5, {"runs": runs})
        assert " A difference of 5 points (delta) cannot be excluded for any of" in undecided[0]
        assert undecided[0].endswith(f": train {remedy} test more cases.")
    assert len(words) == len(named) and " × " not in "".join(words)
    assert words[0].endswith(" for this difference).")
    note = (
        f"{len(crossed)} significant gaps of intersections are not clearly beyond those of their"
        " attributes, and are in the tables only (equalised odds included)."
    )
    assert note in notes(description, tables, "")
    alone = [row | {"verdict": "inconclusive"} for row in tables["gaps"] if row not in crossed]
    words = findings(tables | {"gaps": crossed + alone}, 5)
    doubt = r"It is not clearly larger than that of one of its attributes: \S+ points, of [ab]\."
    assert any(re.search(doubt, each) for each in words)
    rows = [
        row | {"verdict": "inconclusive"} for row in tables["groups"] if "×" not in row["group"]
    ]
    rows += [row for row in tables["groups"] if "×" in row["group"]]
    words = findings(tables | {"gaps": crossed + alone, "groups": rows}, 5)
    assert any(re.search(doubt[:-2] + ", which is not significant after", each) for each in words)
    assert not any("intersections" in each for each in notes(*audit(tmp_path, people())[::-1], ""))


def test_a_macro_f1_that_comes_from_unlike_labels_is_no_finding(tmp_path):
    """Everybody is classified right with 85 %; the labels alone differ, by sex."""
    generator = np.random.default_rng(7)
    sex, region = (generator.choice([*pair], 1500) for pair in ("fm", "ns"))
    label = generator.random(1500) < np.where(sex == "m", 0.95, 0.5)
    right = generator.random(1500) < 0.85
    table = pd.DataFrame({"y": label, "p": label == right, "sex": sex, "region": region})
    tables, description = audit(tmp_path, table.astype({"y": int, "p": int}),
                                groups=["sex", "region"])  # fmt: skip
    mixed = [row for row in tables["groups"]
             if row["metric"] == "macro_f1" and row["verdict"] in ("above", "below")]  # fmt: skip
    assert mixed and not any("acro-F1" in words for words in findings(tables, 5))
    said = [
        words for words in notes(description, tables, "") if "Macro-F1 gives each label" in words
    ]
    # both groups of sex are one gap
    assert len(said) == 1 and f"of {len(mixed) - 1} groups (the first: f, by sex, 86.1 %" in said[0]
    rest = [row for row in tables["groups"] if row not in mixed or row["attribute"] == "sex"]
    tables = tables | {"groups": rest}
    (said,) = (words for words in notes(description, tables, "") if "gives each label" in words)
    assert re.search(r"but accuracy, by -?\d\.\d points, does not \(adjusted p = .*\)\.", said)


@pytest.mark.parametrize(
    ("labels", "options", "lacking"),
    [
        (
            ("stw", "st", "s"),
            {},
            "b (by group, no case of w) and c (by group, no case of t and w)",
        ),
        (
            ("st", "s", "t"),
            {"positive": "s"},
            "b (by group, no case of t) and c (by group, no case of s)",
        ),
        (("st", "st", "ts"), {"positive": "s"}, None),
    ],
)
def test_a_group_without_a_case_of_a_label_is_named(tmp_path, labels, options, lacking):
    table = pd.DataFrame([(label, name) for name, some in zip("abc", labels, strict=True)
                          for label in [*some] * 60], columns=["y", "group"])  # fmt: skip
    table["p"] = np.random.default_rng(1).permutation(table["y"])
    tables, description = audit(tmp_path, table, **options)
    noted = notes(description, tables, "")
    said = [words for words in noted if "macro-F1 of such a group" in words]
    assert [words.partition(". In ")[0] for words in said] == [
        f"Without a case of some label: {names}" for names in [lacking] if names
    ]
    words = "a (without a case of some label: b and c, which may explain the difference; few cases"
    untested = [note for note in noted if note.startswith("Not tested")]
    assert len(untested) == ("positive" in options and lacking is not None)
    assert all(words in note for note in untested)
    assert all(noted.index(note) > noted.index(said[0]) for note in untested)


def test_the_label_that_a_group_misses_is_named_first(tmp_path):
    """In group b one of three labels is never predicted, and as many cases are right."""
    table = pd.DataFrame({"y": [*"stw"] * 400, "group": np.repeat(["a", "b"], 600)})
    number, error = np.arange(1200), {"s": "t", "t": "w", "w": "s"}
    wrong = np.where(table["group"] == "a", number // 3 % 3 == 0, table["y"] == "s")
    table["p"] = np.where(wrong, table["y"].map(error), table["y"])
    missed = (
        "The label s is recognised 66.5 points less often for b than for a, by group: in 0.0 % of"
        " 200 cases against 66.5 % of 200 (95 % CI of the difference −73.0 to −59.3; adjusted p <"
        " 0.001)."
    )
    for positive, begins in ((None, missed), ("s", "True positive rate differs by group")):
        tables, description = audit(tmp_path, table, positive=positive)
        (first, *_) = findings(tables, 5, description)
        assert first.startswith(begins)
        noted = notes(description, tables, "")
        assert len([words for words in noted if "acro-F1 gives" in words]) == 1
        computed = [words for words in noted if "or recall, is computed of each label." in words]
        assert len(computed) == (positive is None)


def test_the_recall_of_many_labels_is_that_of_the_most_frequent(tmp_path):
    labels = [f"l{number:02}" for number in range(25) for _ in range(2 + 2 * (number > 4))]
    table = pd.DataFrame({"y": labels, "p": labels, "group": ["a", "b"] * 45})
    table.loc[0, "p"] = "l01"
    tables, description = audit(tmp_path, table)
    recalled = {row["label"] for row in tables["gaps"] if row["metric"] == "tpr"}
    assert recalled == {*labels[10:]}
    (noted,) = (words for words in notes(description, tables, "") if "or recall" in words)
    assert "of the 20 most frequent of 25 labels; the others count in accuracy" in noted


@pytest.mark.parametrize(("positive", "unlike"), [(None, True), ("s", True), (None, False)])
def test_unlike_labels_of_three_may_explain_a_gap_of_accuracy(tmp_path, positive, unlike):
    """Each label has one recall in both groups; else one group has a lower one."""
    generator = np.random.default_rng(3)
    group = np.repeat(["a", "b"], 900)
    shares = {"a": (0.6, 0.3, 0.1), "b": (0.1, 0.3, 0.6) if unlike else (0.6, 0.3, 0.1)}
    label = np.concatenate([generator.choice([*"stw"], 900, p=shares[name]) for name in "ab"])
    recall = np.select([label == "s", label == "t"], [0.95, 0.8], 0.6)
    if not unlike:
        recall = np.where(group == "b", recall - 0.2, recall)
    wrong = pd.Series(label).map({"s": "t", "t": "w", "w": "t"})
    table = pd.DataFrame({"y": label, "group": group})
    table["p"] = np.where(generator.random(1800) < recall, label, wrong)
    tables, description = audit(tmp_path, table, positive=positive)
    sentence = next(
        words for words in findings(tables, 5, description) if words.startswith("Accuracy differs")
    )
    assert ("if each label had the recall of all cases in every group" in sentence) == unlike
    rows = {row["group"]: row for row in tables["groups"] if row["metric"] == "accuracy"}
    of_a = table[table["group"] == "a"]
    recalls = (table["y"] == table["p"]).groupby(table["y"]).mean()
    assert rows["a"]["expected"] == pytest.approx(of_a["y"].map(recalls).mean())


def unlike_labels(right, n=1200):
    """Labels differ by sex; `right` gives the share of right predictions by label and region."""
    generator = np.random.default_rng(5)
    sex, region = (generator.choice([*pair], n) for pair in ("fm", "ns"))
    label = generator.random(n) < np.where(sex == "m", 0.8, 0.3)
    hit = generator.random(n) < right(label, region)
    table = pd.DataFrame({"y": label, "p": label == hit, "sex": sex, "region": region})
    return table.astype({"y": int, "p": int})


#: What a finding that labels may explain states.
UNLIKE = "Unlike labels may explain it: no gap of TPR or FPR by sex is significant, and with those"


def test_gaps_that_unlike_labels_explain_follow_gaps_of_errors(tmp_path):
    table = unlike_labels(lambda label, region: np.where(region == "n", 0.95, 0.8))
    words = findings(audit(tmp_path, table, groups=["sex", "region"])[0], 5)
    starts = [each.partition(":")[0] for each in words[:3]]
    assert starts[0] == "True positive rate differs by region"
    assert starts[1] == "Selection rate differs by sex" and UNLIKE in words[1]
    assert not any(UNLIKE in each for each in words[:1] + words[2:])
    # groups of which one has errors: labels are no reason
    unfair = unlike_labels(lambda label, region: 0.9)
    of_f = unfair["sex"] == "f"
    unfair.loc[of_f, "p"] = unfair.loc[of_f, "p"] * (unfair.index[of_f] % 2)
    words = findings(audit(tmp_path, unfair, groups=["sex"])[0], 5)
    (rates,) = (each for each in words if each.startswith("Selection rate differs by sex"))
    assert rates.endswith(" % have the label 1.") and UNLIKE not in "".join(words)


def test_unlike_labels_explain_an_accuracy_of_two_labels(tmp_path):
    table = unlike_labels(lambda label, region: np.where(label, 0.97, 0.7))
    tables, description = audit(tmp_path, table, groups=["sex"], positive="1")
    words = findings(tables, 5, description)
    assert [each.partition(" differs")[0] for each in words] == [
        "Selection rate", "Accuracy", "Macro-F1",
    ]  # fmt: skip
    assert all(UNLIKE in each for each in words)
    share = {row["group"]: row["counted"] / row["cases"] for row in tables["groups"]
             if row["metric"] == "tpr"}  # fmt: skip
    tpr, fpr = (
        next(row["value"] for row in tables["groups"] if row["metric"] == name)
        for name in ("tpr", "fpr")
    )
    made = 100 * (share["m"] - share["f"]) * (tpr - 1 + fpr)
    end = f" alone make a difference of {made:.1f} points.".replace("-", "−")
    assert words[1].endswith(end)
    # the rates of one of three labels do not make an accuracy
    part = np.arange(len(table)) % 3 == 0
    table.loc[part, "y"], table.loc[part, "p"] = 2, 2 * (np.arange(part.sum()) % 2)
    words = findings(audit(tmp_path, table, groups=["sex"], positive="1")[0], 5)
    assert not any(UNLIKE in each for each in words if each.startswith("Accuracy"))


def test_the_macro_f1_of_a_group_is_not_compared_with_that_of_a_mixture(tmp_path):
    """Predictions follow the sex alone: all groups have a macro-F1 near 45 %, both sexes 70 %."""
    generator = np.random.default_rng(3)
    sex, region = (generator.choice([*pair], 2000, p=[0.7, 0.3]) for pair in ("fm", "ns"))
    label = generator.random(2000) < np.where(sex == "m", 0.8, 0.3)
    noise = generator.random(2000) < 0.05
    table = pd.DataFrame({"y": label, "p": (sex == "m") ^ noise, "sex": sex, "region": region})
    table["of_three"] = np.where(sex == "m", "m", np.where(region == "n", "f1", "f2"))
    groups = ["sex", "region", "of_three"]
    tables, description = audit(tmp_path, table.astype({"y": int, "p": int}), groups=groups)
    assert f1_score(label, (sex == "m") ^ noise, average="macro") > 0.65
    assert not any("acro-F1" in words for words in findings(tables, 5, description))
    rows = [row for row in tables["groups"] if row["attribute"] == "of_three"]
    values = {row["group"]: row for row in rows if row["metric"] == "macro_f1"}
    others = [values["f1"], values["m"]]
    mean = np.average([row["value"] for row in others], weights=[row["cases"] for row in others])
    assert values["f2"]["rest"] == pytest.approx(mean, abs=1e-6)
    assert values["f2"]["difference"] == pytest.approx(values["f2"]["value"] - mean, abs=2e-6)


@pytest.mark.parametrize(("accuracy", "named"), [(-0.2, True), (0.2, False), (None, False)])
def test_a_macro_f1_of_a_group_is_named_if_accuracy_differs_alike(accuracy, named):
    """The other group of the attribute has no difference in accuracy in any case."""
    key = {"attribute": "g", "label": None}
    gap = key | {"metric": "macro_f1", "verdict": "above", "lowest": 0.5, "p_adjusted": 0.01}
    rows = [
        key | {"group": group, "metric": metric, "difference": difference or 0.0}
        | {"verdict": {None: "inconclusive"}.get(difference, "below"), "p_adjusted": 0.01}
        | {"difference_low": -0.3, "difference_high": -0.1, "value": 0.5}
        for group, of_accuracy in (("a", accuracy), ("b", None))
        for metric, difference in (("macro_f1", -0.2), ("accuracy", of_accuracy))
    ]  # fmt: skip
    found = named_gap({"gaps": [gap], "groups": rows})
    assert found == (gap if named else None)


def test_gaps_that_cannot_be_tested_are_not_findings(tmp_path):
    table = people(n=400)
    table["home"] = [f"h{i % 2}" for i in range(len(table))]
    tables, _ = audit(tmp_path, table, id="id", cluster="home")
    (words,) = findings(tables, 5)
    assert "(of group) cannot be tested, as there are too few independent cases, or too" in words
    gap = {"lowest": 0.1, "label": None, "verdict": "equivalent", "p_adjusted": 0.5}
    gap |= {"attribute": "group", "metric": "accuracy"}
    (words,) = findings({"gaps": [gap], "groups": []}, 5)
    assert words.startswith("The one gap between groups is not sig") and ". It is shown" in words
    untested = gap | {"p_adjusted": None, "verdict": "inconclusive"}
    (words,) = findings({"gaps": [gap | {"verdict": "inconclusive"}, untested], "groups": []}, 5)
    assert words.endswith(
        " The other gap between groups is not significant, adjusted for the metrics of each"
        " attribute. A difference of 5 points (delta) cannot be excluded with so few cases."
    )
    (words,) = findings(
        {"gaps": [gap, *[gap | {"verdict": "inconclusive"}] * 2], "groups": []}, 2.5
    )
    assert words.endswith(
        " 1 is shown to be smaller than the smallest difference that matters (delta, 2.5 points);"
        " for the other 2 one of that size cannot be excluded with so few cases."
    )


def test_differences_that_no_verdict_covers_are_noted(tmp_path):
    """A group of five cases that are all wrong has no test, and one like the others no note."""
    table = people(n=400)
    table["coin"] = np.where(np.arange(400) < 5, "edge", table["group"])
    table["p"] = (np.where(table["coin"] == "edge", 1 - table["y"], table["y"]) + 0.5) / 2
    table.loc[table.index[10::20], "p"] = 0.5
    table["side"] = table["coin"]
    tables, description = audit(tmp_path, table, groups=["coin", "group", "side"], id="id")
    (note,) = (words for words in notes(description, tables, "") if "Not tested" in words)
    assert note.startswith(
        "Not tested, so that no verdict covers these differences from all others: Accuracy by coin"
        " for edge (fewer than 8 cases): 0.0 % (5 cases), 9"
    )
    assert (
        note.count("points; Accuracy by side for edge (fewer than 8 cases): 0.0 % (5 cases), 9")
        == 1
    )
    table["coin"] = table["coin"].replace("edge", "a")
    assert not any("Not tested" in words for words in notes(*audit(tmp_path, table)[::-1], ""))


@pytest.mark.parametrize(("n", "tested"), [(2, ""), (8, ""), (60, "None of the other 5 ")])
def test_gaps_that_so_few_cases_cannot_show_are_untested(tmp_path, n, tested):
    rows = np.arange(n)
    table = pd.DataFrame({"y": rows % 2, "group": np.where(rows < n / 2, "a", "b")})
    table["p"] = np.where(rows % 5 == 3, 0.3, 0.2 + 0.6 * table["y"])
    tables, _ = audit(tmp_path, table)
    (words,) = findings(tables, 5)
    count = sum(row["lowest"] is not None for row in tables["gaps"])
    count = 1 if tested else count  # of 60 cases with 12 errors, macro-F1
    untested = f"{plural(count, 'gap')} between groups (of group) cannot be tested, as there"
    assert words.startswith(untested) and tested in words and ("None of" in words) == bool(tested)


def test_calibration_errors_that_may_be_significant_have_further_draws(tmp_path, monkeypatch):
    table = people().assign(coin=np.tile([*"xy"], 200))
    table["p"] = np.where(table["group"] == "a", 0.9, 0.5)
    for most, further in ((10**9, 10_000), (400 * 2000, 2000), (400, 1000)):
        monkeypatch.setattr("evenhand.predictions.study.MOST_DRAWN", most)
        tables, _ = audit(tmp_path, table, groups=["group", "coin"], id="id")
        rows = [row for row in tables["gaps"] if row["metric"] == "ece"]
        p_values = {row["attribute"]: row["p_value"] for row in rows}
        assert p_values["group"] == pytest.approx(1 / (1 + further), rel=1e-2)
        count = 1001 * p_values["coin"]
        assert 51 < count == pytest.approx(round(count), abs=1e-2)
        again = audit(tmp_path, table.iloc[::-1], groups=["group", "coin"], id="id")[0]["gaps"]
        assert [row["noise_95"] for row in again] == [row["noise_95"] for row in tables["gaps"]]


def test_errors_of_calibration_that_cancel_in_random_groups_are_no_gap(tmp_path, further_draws):
    """Scores of one group are too high, and of the other too low, by as much."""
    draw, n = np.random.default_rng(3), 1200
    group, p = np.arange(n) % 2, draw.uniform(0.2, 0.8, n)
    table = pd.DataFrame({"p": p.round(4), "group": np.where(group, "a", "b")})
    table["y"] = (draw.random(n) < p + np.where(group, 0.15, -0.15)).astype(int)
    tables, _ = audit(tmp_path, table)
    (gap,) = (row for row in tables["gaps"] if row["metric"] == "ece")
    assert gap["verdict"] != "above" and gap["gap"] < gap["noise_95"]
    errors = {row["group"]: row for row in tables["groups"] if row["metric"] == "ece"}
    assert errors["a"]["verdict"] == errors["b"]["verdict"] == "above"
    assert errors["a"]["value"] > errors["a"]["noise_high"]
    assert errors["a"]["p_value"] == pytest.approx(1 / 10_001, rel=1e-2)  # of further draws
    for count in (2, 1_000):  # gaps adjusted for so many attributes
        facts = {"group": {"count": count, "several": False, "p": 0.9}}
        (words,) = (words for words in findings(tables, 5, chance=facts) if "Calibration" in words)
        assert words.startswith("Perhaps: ") == (count > 2)
        chance = f"It may be chance: not significant after adjustment for {count} attributes"
        assert (chance in words) == (count > 2)
        assert count_significant(tables, facts) == (count == 2)
    (words,) = (words for words in findings(tables, 5) if words.startswith("Calibration error"))
    ends = [100 * errors["a"][name] for name in ("value", "noise_low", "noise_high")]
    of_a = table["group"] == "a"
    for group, too in ((of_a, "low"), (~of_a, "high")):
        far = 100 * abs((table["p"] - table["y"])[group].mean())
        assert f"its probabilities are {far:.1f} points too {too} on average" in words
    mixed = [row | {"value": 0.4} if row["metric"] == "ece" else row for row in tables["groups"]]
    (other,) = (each for each in findings(tables | {"groups": mixed}, 5) if "by group: the" in each)
    assert other.count("its probabilities are too high in some ranges and too low in others") == 2
    assert words.startswith(
        "Calibration error by group: the gap between groups is not significant. Worse"
    )
    assert "a ({:.1f} %; random groups {:.1f} to {:.1f} %; its ".format(*ends) in words


def test_the_finding_names_the_group_that_is_calibrated_worse(tmp_path):
    draw, n = np.random.default_rng(0), 3000
    group, p = draw.choice(["a", "b", "c"], n), draw.uniform(0.05, 0.6, n)
    table = pd.DataFrame({"p": p.round(4), "group": group})
    table["y"] = (draw.random(n) < p + 0.3 * (group == "b")).astype(int)
    tables, meta = audit(tmp_path, table)
    for change, of in (
        ({}, ""),
        ({"positive": None}, " of the predicted class"),
        ({"several": True}, " over all pairs of case and label"),
    ):
        sentences = findings(tables, 5, meta | change)
        (words,) = (words for words in sentences if words.startswith("Calibration error"))
        assert words.startswith(f"Calibration error{of} differs by group: ")
        assert " for the whole gap. " in words
        assert "Worse calibrated than random groups of the same size: b (" in words
        noted = f"Calibration errors are{of}." in notes(meta | change, tables, "")
        assert noted == bool(of)


def test_a_group_is_significant_only_where_the_gap_of_its_attribute_is(tmp_path):
    """Two groups have one test: it was significant over five metrics, and not over seven."""
    tables, _ = audit(tmp_path, people(n=300, shift=0.06, seed=48))
    gaps = {row["metric"]: row for row in tables["gaps"]}
    rows = [row for row in tables["groups"] if row["difference"] is not None]
    assert gaps["selection_rate"]["verdict"] == "inconclusive"
    for row in rows:
        assert row["p_adjusted"] >= gaps[row["metric"]]["p_adjusted"]
        assert row["verdict"] not in ("above", "below") or gaps[row["metric"]]["verdict"] == "above"


def test_a_gap_without_a_significant_group_names_the_one_that_differs_most():
    row = {"attribute": "group", "metric": "tpr", "label": None}
    gap = {"lowest": 0.1, "highest": 0.2, "lowest_group": "a", "highest_group": "b", "groups": 3}
    group = {"counted": 9, "difference": 0.1, "verdict": "inconclusive", "p_adjusted": 0.06}
    p_values = {"a": 0.1, "b": 0.04, "c": None}
    groups = [row | group | {"group": name, "p_value": p} for name, p in p_values.items()]
    (words,) = findings({"gaps": [row | gap | {"verdict": "above", "p_adjusted": 0.04}],
                         "groups": groups}, 5)  # fmt: skip
    assert (
        ", where b differs most clearly from the others; adjusted p = 0.04 for the whole gap."
        in words
    )


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_a_file_whose_last_line_has_no_end_may_be_cut_off(tmp_path, cut):
    table = ROWS[: len(ROWS) - cut]
    noted = other_notes(*audit(tmp_path, table))
    assert any("if the file was cut off" in note for note in noted) is (cut > 0)


def test_rows_that_repeat_another_are_noted_where_no_column_tells_them_apart(tmp_path):
    table = ROWS.replace("id,", "town,") + "1,1,0.9,a\n1,1,0.9,a\n"
    tables, meta = audit(tmp_path, table)
    (note,) = other_notes(tables, meta)
    assert note.startswith("2 of 6 rows repeat an earlier row in every column, and each counts")
    assert other_notes(*audit(tmp_path, table, cluster="town")) == []
    rows = "".join(line[2:] + "\n" for line in table.splitlines()[1:])
    assert other_notes(*audit(tmp_path, "y,p,group\n" + rows)) == []
    once = people()[["y", "p", "group"]].drop_duplicates()[:160]
    for n, words in ((159, ""), (160, "160 of 320 rows")):  # each row has a copy
        (note, *_) = [*other_notes(*audit(tmp_path, pd.concat([once, once[:n]]))), ""]
        assert note.startswith(words) and bool(note) == bool(words)


def test_probabilities_that_do_not_sum_to_one_are_left_out(tmp_path):
    text = "y,n,p,group\n1,0.1,0.9,a\n0,0.7,0.3,b\n1,0.5,0.9,a\n0,0.6,0.4,b\n"
    options = {"classes": ["0", "1"], "probabilities": ["n", "p"]}
    tables, _ = audit(tmp_path, text, **options)
    assert [row["reason"] for row in tables["left_out"]] == ["sum_not_one"]


@pytest.mark.parametrize("digits", [3, 2, 1])
def test_sums_of_rounded_probabilities_are_those_of_rounding(tmp_path, digits):
    p = np.random.default_rng(0).dirichlet([1, 1, 1], 90).round(digits)
    table = pd.DataFrame(p, columns=["x", "y", "z"]).assign(w=0)  # a class that never is
    table["group"], table["label"] = ["a", "b"] * 45, ["x", "y", "z"] * 30
    table.loc[0, ["x", "y", "z"]] = 0.5
    classes = ["x", "y", "z", "w"]
    options = {"label": "label", "classes": classes, "probabilities": classes}
    tables, description = audit(tmp_path, table, **options)
    assert [row["row"] for row in tables["left_out"]] == [1]
    count = int((abs(p[1:].sum(axis=1) - 1) > 1.1e-3).sum())
    words = f"The probabilities of {count} of 90 rows sum to 1 within rounding only, and are"
    noted = [note for note in notes(description, tables, "") if " within rounding only" in note]
    assert [note.startswith(words) for note in noted] == [True] * (count > 0)
    read = read_predictions(
        tmp_path / "predictions.csv", label="label", groups=["group"],
        probabilities={name: name for name in classes},
    )  # fmt: skip
    assert read.probabilities.sum(axis=2) == pytest.approx(1, abs=1.1e-3)


def test_a_label_outside_the_declared_set_is_refused(tmp_path):
    text = "y,n,p,group\n1,0.1,0.9,a\n2,0.7,0.3,b\n"
    with pytest.raises(InputError, match="y has 2, for which `probabilities` names no column"):
        audit(tmp_path, text, classes=["0", "1"], probabilities=["n", "p"])


def test_predictions_that_miss_rows_of_the_labels_are_counted(tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("id,y,group\n1,1,a\n2,0,a\n3,1,b\n4,0,b\n")
    tables, meta = audit(tmp_path, "id,p\n1,0.9\n2,0.1\n4,0.3\n", id="id", gold=gold)
    assert [(r["id"], r["reason"]) for r in tables["left_out"]] == [("3", "no_prediction")]
    assert meta["cases"] == 3
    with pytest.raises(InputError, match=r"has 1 id that `gold` does not have, such as '9'"):
        audit(tmp_path, "id,p\n9,0.9\n", id="id", gold=gold)
    # where both have the column, the predictions are those of the file of predictions
    gold.write_text("id,y,group,p\n1,1,a,0.1\n2,0,a,0.9\n3,1,b,0.1\n4,0,b,0.9\n")
    rows = "id,p,y,group\n1,0.9,0,b\n2,0.1,1,b\n3,0.9,0,a\n4,0.1,1,a\n"
    tables, _ = audit(tmp_path, rows, id="id", gold=gold)
    values = {r["group"]: r["value"] for r in tables["groups"] if r["metric"] == "accuracy"}
    assert values == {"all": 1, "a": 1, "b": 1}


@pytest.mark.parametrize(
    ("table", "options", "problem"),
    [
        (people().assign(p=1), {"threshold": 0.7}, "`threshold` has no effect without the prob"),
        (people(), {"prediction": "y"}, "^.*: y is named as `label` and as the prediction"),
        (people(), {"groups": ["outcome"]}, "`groups` names outcome, which has a meaning of its"),
        (people(), {"groups": ["all"]}, "`groups` names all, which has a meaning of its own in"),
        (people(), {"groups": ["counterfactuals"]}, "`groups` names counterfactuals, which has a"),
        (people(), {"groups": ["a × b"]}, "`groups` names a × b, which joins attributes in the"),
        (people(), {"id": "id", "counterfactual_of": "none"}, "the column none is blank, so ther"),
    ],
)
def test_options_that_would_change_nothing_or_too_much_are_refused(
    tmp_path, table, options, problem
):
    with pytest.raises(InputError, match=problem):
        names = ("outcome", "all", "counterfactuals", "a × b")
        more = dict.fromkeys(names, table["group"]) | {"none": ""}
        audit(tmp_path, table.assign(**more), **options)


def test_large_whole_labels_are_not_rounded(tmp_path):
    large = 2**60
    table = people()
    table = table.assign(y=table["y"].astype("int64") + large, p=(table["p"] > 0.5) + large)
    _, meta = audit(tmp_path, table, positive=str(large + 1))
    assert meta["classes"] == [str(large), str(large + 1)]


def test_rows_without_an_id_are_left_out(tmp_path):
    table = people().astype({"id": str})
    table.loc[:2, "id"] = ""
    tables, _ = audit(tmp_path, table, id="id")
    assert [row["reason"] for row in tables["left_out"]] == ["no_id"] * 3


def test_a_text_in_a_binned_column_is_refused_at_its_place(tmp_path):
    table = people().astype({"age": str})
    table.loc[:4, "age"] = ""
    table.loc[5:9, "age"] = "3,5"
    words = r"predictions\.csv:7: age is '3,5', and its bins need a number"
    with pytest.raises(InputError, match=words):
        audit(tmp_path, table, groups=["age"], bins=["age=30"])
    gold = tmp_path / "gold.csv"
    gold.write_text("id,y,age\n1,1,20\n2,0,old\n")
    with pytest.raises(InputError, match=r"gold\.csv:3: age is 'old'"):
        rows = "id,p\n2,0.1\n1,0.9\n"
        audit(tmp_path, rows, id="id", gold=gold, groups=["age"], bins=["age=30"])


def test_parquet_gives_the_same_bytes(tmp_path):
    table = people()
    audit(tmp_path, table)
    csv = (tmp_path / "out" / "groups.csv").read_bytes()
    table.to_parquet(tmp_path / "p.parquet")
    audit(tmp_path, table, files=[tmp_path / "p.parquet"])
    assert (tmp_path / "out" / "groups.csv").read_bytes() == csv


def test_a_tiny_group_does_not_hide_the_gap_of_two_large_ones(tmp_path):
    rng = np.random.default_rng(5)
    n = 3000
    group = np.where(np.arange(n) < 8, "tiny", np.where(rng.random(n) < 0.5, "a", "b"))
    label = rng.integers(0, 2, n)
    wrong = rng.random(n) < np.where(group == "a", 0.40, 0.22)  # of those without the label
    table = pd.DataFrame({"y": label, "p": np.where(wrong & (label == 0), 1, label), "g": group})
    tables, _ = audit(tmp_path, table, groups=["g"])
    (fpr,) = (row for row in tables["gaps"] if row["metric"] == "fpr")
    assert (fpr["verdict"], fpr["noise_95"] > 0.3) == ("above", True)
    (first, *_) = [one for one in findings(tables, 5) if one.startswith("False positive rate")]
    assert "% for a (" in first or "% for b (" in first


def test_the_interval_of_a_difference_has_a_width_where_all_cases_agree(tmp_path):
    table = pd.DataFrame({"y": [1, 0] * 40, "p": [0.9, 0.1] * 40, "group": ["a"] * 40 + ["b"] * 40})
    tables, _ = audit(tmp_path, table)
    row = next(r for r in tables["groups"] if (r["group"], r["metric"]) == ("a", "tpr"))
    assert row["difference"] == 0 and row["difference_low"] < -0.1 < 0.1 < row["difference_high"]
    assert row["verdict"] == "inconclusive"  # 20 cases of each cannot exclude 5 points


def test_groups_that_share_clusters_are_compared_as_dependent(tmp_path):
    """One of the two persons of each vacancy is chosen, so that the rates move against each other.

    Then the interval of the difference has the width of both intervals together.
    """
    chosen = np.random.default_rng(3).random(150) < 0.5
    table = pd.DataFrame(
        {"vacancy": np.repeat(np.arange(150), 2), "g": ["f", "m"] * 150, "y": [0, 1, 1, 0] * 75}
    ).assign(p=np.column_stack([chosen, ~chosen]).ravel().astype(int))
    tables, _ = audit(tmp_path, table, prediction="p", groups=["g"], positive="1",
                      cluster="vacancy", id=None)  # fmt: skip
    rates = {r["group"]: r for r in tables["groups"] if r["metric"] == "selection_rate"}
    together = rates["f"]["low"] - rates["m"]["high"]
    assert rates["f"]["difference_low"] == pytest.approx(together, abs=1e-5)


def test_clusters_that_differ_are_no_gap_between_groups(tmp_path):
    """Random groups of cases would take clusters of like cases for a gap in most draws."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        cluster = np.arange(400) // 20
        chosen = np.where(
            rng.random(400) < 0.8, rng.random(20)[cluster] < 0.5, rng.random(400) < 0.5
        )
        table = pd.DataFrame({"y": np.arange(400) % 2, "p": chosen.astype(int), "c": cluster})
        table["g"] = np.where(cluster % 2, "a", "b")
        tables, _ = audit(tmp_path, table, groups=["g"], cluster="c")
        found += [row["verdict"] for row in tables["gaps"] if row["metric"] == "selection_rate"]
    assert found.count("above") <= 1 and "equivalent" not in found


def test_with_clusters_the_gap_has_the_least_p_value_of_its_groups_adjusted(tmp_path):
    table = people(n=240).assign(c=np.arange(240) // 2)
    table["group"] = table["age"].map(lambda age: "abc"[age % 3])
    tables, _ = audit(tmp_path, table, cluster="c")
    by_group = {}
    for metric in ("accuracy", "tpr", "fpr"):
        rows = [row["p_value"] for row in tables["groups"] if row["metric"] == metric]
        by_group[metric] = min(1, 3 * min(p for p in rows if p is not None))
    by_group["equalised_odds"] = min(1, 2 * min(by_group["tpr"], by_group["fpr"]))
    gaps = {row["metric"]: row["p_value"] for row in tables["gaps"]}
    assert {name: gaps[name] for name in by_group} == pytest.approx(by_group, abs=1e-5)


def test_a_gap_of_delta_is_seldom_called_smaller(tmp_path):
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        group = np.arange(750) % 2
        table = pd.DataFrame({"y": np.arange(750) // 2 % 2, "g": np.where(group, "a", "b")})
        table["p"] = (rng.random(750) < np.where(group, 0.55, 0.45)).astype(int)
        tables, _ = audit(tmp_path, table, groups=["g"], delta=10)
        found += [row["verdict"] for row in tables["gaps"] if row["metric"] == "selection_rate"]
    assert found.count("equivalent") <= 2  # 5 % are allowed; the noise of the gap alone gives 12 %


def test_macro_f1_of_few_cases_has_no_interval(tmp_path):
    """All 50 cases of a group right, 3 of them positive: its interval would have no width."""
    label = np.r_[np.arange(50) < 3, np.arange(400) % 2].astype(int)
    right = np.r_[np.ones(50, bool), np.arange(400) % 5 > 0]
    table = pd.DataFrame({"y": label, "p": np.where(right, label, 1 - label)})
    table["g"] = np.where(np.arange(450) < 50, "few", np.where(np.arange(450) % 4 > 1, "a", "b"))
    tables, _ = audit(tmp_path, table, groups=["g"])
    rows = {one["group"]: one for one in tables["groups"] if one["metric"] == "macro_f1"}
    assert rows["few"]["value"] == 1 and rows["few"]["low"] is None
    assert rows["few"]["reason"] == "few cases of a class, or few errors"
    assert rows["a"]["low"] < rows["a"]["value"] and rows["a"]["p_value"] is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": lambda table: (table["p"] >= 0.5).astype(int)}, "Every prediction is right, which"),
        ({}, ""),
    ],
)
def test_predictions_without_a_difference_are_noted(tmp_path, change, words):
    tables, meta = audit(tmp_path, people().assign(**change))
    assert "".join(notes(meta, tables, "")).startswith(words) or not words
    assert bool(words) == bool(notes(meta, tables, ""))


def test_a_finding_on_predictions_that_are_worth_nothing_states_so(tmp_path):
    same = "All cases have the same prediction, so that groups cannot differ in it: differences in"
    tables, meta = audit(tmp_path, people().assign(p=0.9, y=[*[1] * 250, *[0] * 150]))
    assert meta["majority"] == 0.625
    first, *others = findings(tables, 5, meta)
    assert f"{same} accuracy and calibration error come from their labels." in first
    scored = [row | {"confidence": 0.5 + 0.1 * i} for i, row in enumerate(tables["calibration"])]
    for each in (tables | {"calibration": scored}, tables | {"calibration": []}):
        assert f"{same} accuracy come from their labels." in findings(each, 5, meta)[0]
    assert not any(same in words for words in [*others, *notes(meta, tables, "")])
    [whole] = [r for r in tables["groups"] if (r["attribute"], r["metric"]) == ("all", "accuracy")]
    no_better = "not significantly above the majority-class baseline (62.5 %)."
    for trained, value, low, high, words in [
        (True, 0.625, 0.6, 0.7, f"over all cases, 62.5 % (95 % CI 60.0 to 70.0), is {no_better}"),
        (True, 0.61, 0.6, 0.62, "is below the majority-class baseline (62.5 %)."),
        (True, 0.7, 0.65, 0.75, ""),
        (True, 0.7, None, None, ""),
        (False, 0.6, 0.5, 0.7, ""),  # predictions from elsewhere may be meant for another measure
    ]:
        whole |= {"value": value, "low": low, "high": high}
        described = meta | {"uniform": None} | ({"trained": {}} if trained else {})
        first, *others = findings(tables, 5, described)
        assert first.endswith(words) and (bool(words) == ("majority" in first))
        assert not any("majority" in words for words in others)


@pytest.mark.parametrize(
    ("tied", "of", "doubt"),
    [
        ([0.5, 0.5, 0], "300 of 500 cases of a (60.0 %)", True),
        ([0.4, 0.6, 0], "", False),
        (0.5, "300 of 500 cases of a (60.0 %)", True),
        (0.51, "", False),
    ],
)
def test_ties_of_the_largest_probabilities_are_noted_beside_the_finding(tmp_path, tied, of, doubt):
    p = np.tile([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1]], (500, 1))
    table = pd.DataFrame(p, columns=["x", "y", "z"]).assign(group=["a", "a", "b", "b"] * 250)
    places, columns = table.index[table["group"] == "a"][:300], ["x", "y", "z"]
    table["label"] = ["y", "x", "z", "y"] * 250
    options = {"label": "label", "positive": "x"}
    options |= {"classes": ["z", "y", "x"], "probabilities": ["z", "y", "x"]}
    if isinstance(tied, float):
        table["label"] = ["y", "x", "x", "y"] * 250
        columns, options = "x", {"label": "label", "positive": "x", "prediction": "x"}
    table.loc[places, columns] = tied
    tables, meta = audit(tmp_path, table, **options)
    first, *_ = findings(tables, 5, meta)
    words = f"{of} are decided by the rule for ties, so this may come from it."
    assert first.endswith(words) == doubt
    note = "In 300 of 1,000 cases (30.0 %) the largest probabilities tie"
    assert any(words.startswith(note) for words in notes(meta, tables, "")) == doubt
    [row] = [row for row in tables["gaps"] if row["metric"] == "selection_rate"]
    assert not doubt or row["highest"] == pytest.approx(0.8)


def test_ties_of_a_group_that_the_finding_is_not_on_are_in_the_note(tmp_path):
    table = pd.concat([people(shift=0.4), people(shift=0.0, seed=1).assign(group="c")])
    table = table.assign(id=range(len(table))).reset_index(drop=True)
    tables, meta = audit(tmp_path, table)
    for name in "abc":
        tied = {"all": {"all": 20}, "group": {"a": 0, "b": 0, "c": 0} | {name: 20}}
        first, *_ = findings(tables, 5, meta | {"tied": tied})
        (note,) = (
            words for words in notes(meta | {"tied": tied}, tables, "") if " tie, or" in words
        )
        is_on = f"% for {name} (" in first
        assert is_on == (f"cases of {name} (" in first and "so this may come from it" in first)
        assert is_on != note.endswith("a difference of this group may come from this rule.")
        assert is_on or f"By group, the share is largest for {name} (20 of" in note


def test_text_of_a_parquet_file_is_checked_and_bytes_are_text(tmp_path):
    table = people(shift=0.3)
    table.replace({"group": {"b": "\x7fb"}}).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match=r"p\.parquet:\d+: has the control character U\+007F in"):
        audit(tmp_path, table, files=[tmp_path / "p.parquet"])
    assert as_text("\ud800é") == "\\ud800é"
    table.assign(group=table["group"].map(str.encode)).to_parquet(tmp_path / "p.parquet")
    tables, _ = audit(tmp_path, table, files=[tmp_path / "p.parquet"])
    assert {row["group"] for row in tables["groups"]} == {"all", "a", "b"}


def test_a_perfect_score_of_few_cases_is_not_shown_to_be_equal(tmp_path):
    table = pd.DataFrame({"y": np.arange(40) % 2, "g": np.where(np.arange(40) % 4 > 1, "a", "b")})
    table["p"] = table["y"]
    tables, _ = audit(tmp_path, table, groups=["g"])
    verdicts = {row["metric"]: row["verdict"] for row in tables["gaps"]}
    assert {verdicts[name] for name in ("accuracy", "tpr", "fpr", "macro_f1")} == {"inconclusive"}


def test_bins_are_in_the_order_of_their_numbers(tmp_path):
    table = people(n=200)
    tables, _ = audit(tmp_path, table, groups=["age"], bins=["age=9.5,30,50"])
    rows = [row["group"] for row in tables["groups"] if row["metric"] == "accuracy"]
    assert rows == ["all", "9.5 to <30", "30 to <50", "≥50"]


@pytest.mark.parametrize(
    ("column", "form", "most", "problem"),
    [
        ("group", "{}", 20, "the attribute group has 21 numbers in 42 rows; give numbers `bins`"),
        ("group", "g{}", 100, "the attribute group has 101 groups in 202 rows"),
        ("y", "l{}", 200, "y has 201 values, so it is no class"),
        ("y", "0.{}1", 20, "y has 21 numbers between 0 and 1, so it is no class; .* as `predict"),
    ],
)
def test_more_groups_or_labels_than_can_be_compared_are_refused(
    tmp_path, column, form, most, problem
):
    file = tmp_path / "p.csv"
    for count in (most, most + 1):
        rows = np.arange(2 * count)
        table = pd.DataFrame({"y": rows % 2, "group": [f"g{n}" for n in rows % 2]})
        table[column] = [form.format(n) for n in rows // 2]
        table.assign(p=table["y"]).to_csv(file, index=False)
        expected = pytest.raises(InputError, match=problem) if count > most else nullcontext()
        with expected:
            read = read_predictions(file, label="y", prediction="p", groups=["group"])
            assert len(read.id) == 2 * count


def test_a_small_group_that_is_all_right_differs_only_if_the_interval_says_so(tmp_path):
    """Signs of clusters are not symmetric there: they took chance for a difference."""
    for rate, differs in ((0.87, False), (0.4, True)):
        right = np.r_[np.ones(16, bool), np.random.default_rng(1).random(132) < rate]
        label = np.arange(148) % 2
        table = pd.DataFrame({"y": label, "p": np.where(right, label, 1 - label)})
        table = table.assign(g=np.where(np.arange(148) < 16, "few", "many"), c=np.arange(148) // 2)
        tables, _ = audit(tmp_path, table, groups=["g"], cluster="c")
        by = {(row["group"], row["metric"]): row for row in tables["groups"]}
        row = by["few", "accuracy"]
        assert (row["p_value"] < 0.05) == (row["difference_low"] > 0) == differs


def test_no_interval_leaves_the_scale(tmp_path):
    """All errors of a group are in one of ten clusters, and all hits of the other."""
    rows = np.arange(600)
    table = pd.DataFrame({"y": rows % 2, "g": np.where(rows < 300, "a", "b"), "c": rows // 30})
    wrong = (rows < 25) | ((rows >= 300) & (rows < 575))
    table["p"] = np.where(wrong, 1 - table["y"], table["y"])
    tables, _ = audit(tmp_path, table, groups=["g"], cluster="c")
    rows = [
        row for row in tables["groups"] if row["metric"] == "macro_f1" and row["low"] is not None
    ]
    assert max(row["high"] for row in rows) > 0.9999 and min(row["low"] for row in rows) < 0.0001
    assert all(0 <= row["low"] <= row["value"] <= row["high"] for row in rows)
    assert all(row["difference_low"] >= -1 for row in rows if row["difference_low"] is not None)


@pytest.mark.parametrize(("size", "verdict"), [(10, "below"), (1000, "inconclusive")])
def test_macro_f1_of_the_others_counts_groups_without_a_test(tmp_path, size, verdict):
    """A small one makes the interval a little wider; a large one may be anything."""
    draw = np.random.default_rng(0)
    table = pd.DataFrame({"group": ["a"] * 400 + ["b"] * 400 + ["c"] * size})
    table["y"] = draw.integers(0, 2, len(table))
    wrong = draw.random(len(table)) < table["group"].map({"a": 0.4, "b": 0.2, "c": 0})
    table["p"] = (table["y"] ^ wrong).astype(int)
    rows = audit(tmp_path, table)[0]["groups"]
    row = next(row for row in rows if row["metric"] == "macro_f1" and row["group"] == "a")
    scores = {
        name: f1_score(part["y"], part["p"], average="macro")
        for name, part in table.groupby("group")
    }
    assert row["rest"] == pytest.approx((400 * scores["b"] + size) / (400 + size), abs=1e-6)
    assert row["verdict"] == verdict
    reach = (
        row["difference_high"] - row["difference_low"],
        row["difference"] - row["difference_low"],
    )
    assert (reach[0] > 0.7) == (size == 1000) and reach[1] < 0.12


def test_groups_with_mirrored_errors_have_no_gap_of_macro_f1(tmp_path):
    """Their mixtures, random groups, have a higher macro-F1 than either."""
    table = pd.DataFrame(
        {"y": np.arange(800) // 2 % 2, "group": np.where(np.arange(800) % 2, "a", "b")}
    )
    often = np.arange(800) // 4 % 10 < 9  # group a is right about 1, and b about 0
    table["p"] = np.where(often, (table["group"] == "a").astype(int), table["y"])
    tables, _ = audit(tmp_path, table)
    verdicts = {row["metric"]: row["verdict"] for row in tables["gaps"]}
    assert (verdicts["tpr"], verdicts["macro_f1"]) == ("above", "inconclusive")


def test_p_values_too_small_to_tell_from_0_are_findings(tmp_path):
    table = people(n=2000)
    table["p"] = np.where(table["group"] == "a", table["y"], 1 - table["y"])
    table["home"] = np.arange(2000) // 2
    tables, document = audit(tmp_path, table, id="id", cluster="home")
    assert any(0 < row["p_adjusted"] < 1e-9 for row in tables["gaps"])
    assert "differs by group" in findings(tables, 5)[0]
    notes(document, tables, "")


def test_intersections_whose_groups_alone_are_worse_calibrated_are_no_gaps():
    same = {"metric": "ece", "label": None, "lowest": 0.1, "p_adjusted": 0.5}
    gaps = [
        same | {"attribute": "a", "verdict": "above", "p_adjusted": 0.01},
        same | {"attribute": "a × b", "verdict": "inconclusive"},
    ]
    group = {"attribute": "a × b", "group": "x × y", "metric": "ece", "label": None}
    group |= {"verdict": "above", "p_adjusted": 0.01, "difference": None, "value": 0.2}
    assert echoes({"gaps": gaps, "groups": [group]}) == 0
    gaps[1]["verdict"] = "above"
    assert echoes({"gaps": gaps, "groups": [group]}) == 1


def test_a_column_of_persons_with_several_rows_is_named(tmp_path):
    rng = np.random.default_rng(3)
    person, visit = np.divmod(np.arange(200), 4)
    table = pd.DataFrame({"id": np.arange(200), "y": visit % 2, "p": rng.integers(0, 2, 200)})
    table = table.assign(patient=[f"P{n}" for n in person], group=[*"aab"] * 66 + ["a", "b"])
    options = {"id": "id", "groups": ["group"]}
    by_person = table.assign(group=np.where(person % 3, "a", "b"))
    words = "150 of 200 rows have the patient of an earlier row, always with the same groups"
    for data, more, is_noted in (
        (by_person, {}, True),
        (by_person, {"cluster": "patient"}, False),
        (table, {}, False),  # groups differ
        (by_person.assign(half=visit // 2), {"groups": ["group", "half"]}, False),  # of one
        (by_person.assign(patient=person // 6), {}, False),  # few, such as sites
        (by_person.assign(patient=person, group=np.where(person < 20, "a", "b")), {}, False),  # age
    ):
        tables, meta = audit(tmp_path, data, **options | more)
        assert any(note.startswith(words) for note in notes(meta, tables, "")) is is_noted
    tables, meta = audit(tmp_path, table, **options)
    copied = table.assign(call=[f"C{n}" for n in range(200)]).drop(columns=["id", "patient"])
    _, of_copies = audit(tmp_path, pd.concat([copied, copied[:40]]), groups=["group"])
    assert of_copies["repeated"] == {"": 40}  # not those with the same call again
    former = notes(meta | {"repeated": 2}, tables, "")  # of a result of an earlier version
    assert any(note.startswith("2 of 200 rows repeat an earlier row") for note in former)
