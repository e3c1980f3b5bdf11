import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenhand import audit_logs, audit_predictions, audit_table, compare
from evenhand.comparison import compare_results, summary
from evenhand.comparison.causes import Causes
from evenhand.comparison.items import log_answers
from evenhand.comparison.numbers import Compared, ComparedTable
from evenhand.comparison.results import Results
from evenhand.core.tables import write_tables
from evenhand.errors import InputError
from evenhand.individual.tables import table_4
from evenhand.legal.classifier_tables import scores
from evenhand.metrics.differences import Estimate
from evenhand.predictions.tables import groups
from evenhand.slguset.count_funnel import FUNNEL
from unit.comparison.made_folders import (
    BASE,
    SWEEPS,
    sweep_row,
    write_bias,
    write_pairs,
    write_provenance,
    write_table,
    write_texts,
)
from unit.predictions.test_lm_eval import bbq, crows, with_own_words

GATE = "tables/bias/slguset/models.csv:mean_bias:model=mine:rose"
UNKNOWN = "tables/bias/slguset/models.csv:mean_bias:model=unknown:rose"


#: The first sentence on equal results.
SAME = "The results are the same"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command; returns exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        with pytest.raises(SystemExit) as end:
            compare_results.main([*map(str, words)])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return command


@pytest.fixture
def folders(folders):
    """Two folders with the same results."""
    write_bias(folders[0], BASE)
    write_table(folders[0], SWEEPS, [sweep_row(50.0)])
    write_provenance(folders[0])
    shutil.copytree(*folders)
    return folders


def test_equal_folders_and_gates_of_file_and_command_line(run, folders, tmp_path):
    assert run(*folders) == (0, f"# Two results compared\n\n**{SAME}.**\n", "")
    path = tmp_path / "gates.yaml"
    path.write_text(f"- {{table: {SWEEPS}, number: mean, fail_if: moved}}\n")
    code, out, _ = run(*folders, "--gates", path, "--gate", GATE)
    assert code == 0
    assert f"**{SAME}. All gates held.**" in out and out.count("| held |") == 2


def test_marks_are_escaped_for_markdown_but_not_on_a_terminal(run, folders, monkeypatch):
    write_pairs(folders[1], np.ones(20), model="<65 & >80 [b]")
    write_provenance(folders[1])
    assert "<65 & >80 &#91;b&#93;" in run(*folders)[1]  # what Markdown does not read stays
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "<65 & >80 [b]" in (out := run(*folders)[1]) and "&#" not in out


def test_a_row_is_named_by_its_informative_keys():
    row = {"model": "mine", "subset": "all", "group": "", "bias_type": "age"}
    assert summary._row(row) == "model mine, bias_type age"
    assert summary._row({"subset": "all", "group": ""}) == "all"
    assert summary._row(row, ("mine", "next")) == "model mine → next, bias_type age"
    assert summary._row(row, ("other", "mine")) == "model mine, bias_type age"


def test_broken_and_undecided_gates(run, folders):
    base, head = folders
    write_bias(head, BASE - 0.1)
    write_provenance(head, models={"parameters": {"seed": 1, "größe": 1}})
    code, out, err = run(base, head, "--gate", GATE, "--data", "c.json")
    assert code == 1
    text = Path("c.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert "größe of made.models" in text
    (gate,) = document["gates"]
    assert (gate["gate"], gate["outcome"], gate["judged"]) == (GATE, "broken", 1)
    assert [number["status"] for number in gate["breaking"]] == ["moved"]
    assert gate["breaking"][0]["p_gate"] < 1e-5
    assert document["counts"]["gates"] == {"broken": 1}
    assert "**Bias has risen. Clearest change: mean bias (Bias by model, “slguset”; model" in out
    assert " 1 gate broken." in out
    assert "| change | p of the change of distance from 0 |" in out
    assert "farther from 0" in out
    assert "seed of made.models: 0 → 1 (1 file)" in out
    assert err == f"gate broken: {GATE}: 1 number compared (least p: 1.9e-06)\n"
    code, out, err = run(base, head, "--gate", UNKNOWN)
    assert code == 2
    assert "1 gate undecided." in out and "gate undecided" in err
    assert run(base, head, "--gate", UNKNOWN, "--gate", GATE)[0] == 1
    code, out, _ = run(base, head)
    assert code == 0
    assert "## Gates" not in out and "## Numbers that moved" in out
    assert run(head, base, "--gate", GATE)[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("base", "none"), "none: there is no such folder"),
        (("base/provenance.json", "head"), "provenance.json: is a file, not a folder"),
        (("base", "head", "--gate", "x"), "'x' is no gate"),
        (("base", "head", "--gates", "none.yaml"), "none.yaml: there is no such file"),
        (("base", "head", "--gates", "base"), "base: cannot be read"),
        (("base", "head", "--out", "base"), "base: is a folder"),
        (("base", "head", "--data", "base"), "base: is a folder"),
        (("base", "unfinished"), "holds no provenance.json, so its run is not finished"),
    ],
)
def test_bad_input(run, folders, words, message):
    (folders[0].parent / "unfinished" / ".evenhand").mkdir(parents=True)
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and message in err
    assert err.count("\n") == 1


def test_audits_are_compared_without_provenance(run, folders):
    for folder in folders:
        (folder / "provenance.json").unlink()
        shutil.rmtree(folder / ".evenhand", ignore_errors=True)
    write_bias(folders[1], BASE - 0.1)
    code, out, _ = run(*folders)
    assert code == 0
    assert "provenance.json" not in out and "## What changed" not in out
    write_provenance(folders[0])
    assert "Not known, as head has no provenance.json." in run(*folders)[1]
    assert "## Tables that differ" in out and "Configuration:" not in out


def test_files_that_differ_from_their_records(run, folders):
    saved = {path: path.read_bytes() for path in (folders[1] / "tables").rglob("*.csv")}
    write_bias(folders[1], BASE - 0.1)
    _, out, _ = run(*folders)
    start = "- Files of head that are not the ones it recorded: slguset/bias/mine.parquet"
    assert f"{start}, tables/bias/slguset/distribution.csv," in out
    assert SAME not in out
    for path, content in saved.items():  # the store alone
        path.write_bytes(content)
    code, out, _ = run(*folders)
    assert code == 0
    assert "**No bias score changed. No table differs.**" in out and f"{start}." in out


def test_a_changed_source_alone_is_a_change(run, folders):
    write_provenance(folders[1], grid={"inputs": {"x": [{"file": "a.txt", "sha256": "7"}]}})
    _, out, _ = run(*folders)
    assert "**No bias score changed. No table differs.**" in out
    assert "a.txt: new, read by made.grid" in out


def test_the_outputs_agree_and_do_not_depend_on_the_place_of_the_folders(run, folders, tmp_path):
    base, head = folders
    write_bias(head, BASE - 0.1)
    for folder, mean in ((base, 50.0), (head, 50.1)):
        write_table(folder, SWEEPS, [sweep_row(mean), sweep_row(1.0, metric="m")])
    _, out, _ = run(base, head, "--out", "a.md", "--data", "a.json")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == out
    (tmp_path / "elsewhere").mkdir()
    shutil.move(head, tmp_path / "elsewhere" / head.name)
    run(base, tmp_path / "elsewhere" / head.name, "--out", "b.md", "--data", "b.json")
    for suffix in ("md", "json"):
        first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
        assert first == second
    assert str(tmp_path) not in out
    assert f"Base (before) is {base.name}, head (after) is {head.name}." in out
    shutil.move(f"elsewhere/{head.name}", f"elsewhere/{base.name}")
    _, out, _ = run(base, tmp_path / f"elsewhere/{base.name}")
    assert f"Base (before) is {base}, head (after) is {tmp_path}/elsewhere/{base.name}." in out
    _, out, _ = run(base, f"elsewhere/{base.name}")
    assert f"Base (before) is {base.name}, head (after) is elsewhere/{base.name}." in out
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["nothing_changed"] is False
    numbers = [number for table in document["tables"] for number in table["numbers"]]
    statuses = {number["status"] for number in numbers}
    assert statuses == {"moved", "noise", "same", "unjudged", "gone", "new"}
    sweep, same = (number for number in numbers if number["table"] == SWEEPS)
    assert (same["status"], same["p_value"], same["p_adjusted"]) == ("same", 1, 1)
    assert (sweep["base"], sweep["head"]) == ([50, 49, 51, 5], [50.1, 49.1, 51.1, 5])
    assert sweep["judged_by"] == "intervals"
    for part in (
        r"- Bias by model, word pair and direction, “slguset”: \d+ numbers? (new|gone)",
        r"- fewer than 6 clusters: \d+ in Bias by model",
    ):
        assert re.search(part, out), part


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a__b-1: c_d_e", "a__b-1: c_d_e"),  # readable: within words these mark nothing
        ("__a__ b_", "&#95;&#95;a&#95;&#95; b&#95;"),
        ("a -_b", "a -&#95;b"),
    ],
)
def test_only_underscores_that_markdown_reads_are_escaped(name, escaped):
    assert summary.text(name) == escaped


HOSTILE = "<b>*x*</b> | `y` [z](http://a.b) @all #1 _q_ www.a.b \u202e\n$m$"


def test_text_from_data_is_escaped(run, folders):
    for folder, mean in zip(folders, (50.0, 90.0), strict=True):
        write_table(folder, SWEEPS, [sweep_row(mean, method=HOSTILE)])
        write_provenance(folder, grid={"parameters": {HOSTILE: mean}})
    _, out, _ = run(*folders)
    assert "&#60;b>" in out
    plain = re.sub(r"</?(details|summary)>", "", out)
    assert "<" not in plain.replace("< 0.0001", "") and "`" not in plain and "@" not in plain
    assert "[z]" not in plain and "http://" not in plain and "\u202e" not in plain
    rows = [line for line in out.splitlines() if line.startswith("| mean (Accuracy and fairness")]
    assert [line.count("|") for line in rows] == [8]


def test_long_lists_are_cut_and_counted(run, folders):
    for folder, mean in zip(folders, (50.0, 90.0), strict=True):
        write_table(folder, SWEEPS, [sweep_row(mean + n, metric=f"m{n}") for n in range(40)])
        write_provenance(folder)
    _, out, _ = run(*folders)
    assert out.count("| mean (Accuracy and fairness") == 25
    assert "\n\nand 15 more: `evenhand compare --data FILE` writes all\n" in out
    assert (
        "**No bias score changed. 40 of 40 numbers moved beyond noise. The clearest: mean (Accuracy"
        in out
    )


def test_the_headline_states_whether_bias_rose(run, folders):
    base, head = folders
    write_pairs(base, np.where(np.arange(40) % 4 < 2, 1.0, -1.0), "old")
    write_pairs(head, np.ones(40), "new")
    for folder in folders:
        write_provenance(folder)
    _, out, _ = run(base, head)
    assert (
        "Bias has risen. Clearest change: score (Bias scores and verdicts, “My pairs”; model old →"
        " new, method aul) from 50.0 % (26.1 to 73.9) to 100.0 % (" in out
    )
    assert ", a change of +50.0 points (95 % interval +" in out
    assert (
        "model old → new, method aul (the same: clean, equal_length, score equal length"
        " (Preference for the longer sentence, “My pairs”)) |" in out
    )
    assert "subset clean" not in out
    assert "Assumed: the model new (head) is the next version of old (base)" in out
    _, out, _ = run(head, base)
    assert "Clearest change: score (Bias scores and verdicts, “My pairs”; model new →" in out
    assert "**Bias has fallen. Clearest change: " in out
    write_pairs(head, np.where(np.arange(40) % 4 < 2, 0.5, -1.0), "new")
    _, out, _ = run(base, head)
    assert "**Bias: no change (Bias scores and verdicts, “My pairs”).**\n\n- 2 other numbers" in out


def test_a_score_that_moves_to_the_other_side_is_no_change_of_bias(run, folders):
    signs = np.where(np.arange(40) % 10 < 8, 1.0, -1.0)
    for folder, values in zip(folders, (signs, -signs), strict=True):
        write_pairs(folder, values)
        write_provenance(folder)
    _, out, _ = run(*folders)
    assert (
        "**Bias has not clearly risen or fallen. 1 bias score moved to the other side of 50,"
        " neither clearly farther nor nearer: score (Bias scores and verdicts, “My pairs”;"
        " model tiny, method aul) from 80.0 % (" in out
    )
    assert " 1 part moved to the other side of 50, neither clearly farther nor nearer: score" in out


def test_scores_that_rise_and_fall_are_named(run, folders):
    half, clear = np.where(np.arange(80) % 4 < 2, 1.0, -1.0), np.where(np.arange(80) % 10, 1.0, -1)
    base, head = {"aul": half, "cps": clear, "sss": clear}, {"aul": clear, "cps": half}
    for folder, values in zip(folders, (base, head | {"sss": -clear}), strict=True):
        write_pairs(folder, values)
        write_provenance(folder)
    first = run(*folders)[1].split("\n\n")[1]
    assert first.startswith(
        "**Bias has risen in 1 of 3 bias scores and fallen in 1. Clearest change: "
    )
    assert "1 bias score moved to the other side of 50, neither clearly farther nor nearer" in first
    assert "of them" not in first
    assert "The clearest rise" not in first
    turned = run(*folders[::-1])[1].split("\n\n")[1]
    rise = "The clearest rise: score (Bias scores and verdicts, “My pairs”; model tiny, method cps)"
    assert "method aul) from 90.0 %" in turned and f"nearer to 50. {rise} from 50.0 %" in turned
    # a bias type that the whole does not show
    place = np.arange(160)
    even = np.where(place // 4 % 2, 1.0, -1.0)
    write_pairs(folders[0], even)
    write_pairs(folders[1], np.select([place % 4 == 0, place % 4 == 1], [1.0, -1.0], even))
    first = run(*folders)[1].split("\n\n")[1]
    assert first.startswith(
        "**Bias: no change overall (Bias scores and verdicts, “My pairs”), but"
        " risen in 2 parts, the clearest of them: model tiny, method aul, bias_type "
    )
    assert first.count("%") == 2  # no number twice


@pytest.mark.parametrize(
    "key",
    [
        {"model": "m", "method": "aul"},
        {"task": "bbq"},
        {"model": "m", "task": "intersentence"},
        {"model": "m"},
        {"attribute": "sex", "group": "f"},
    ],
)
def test_parts_that_rise_and_fall_are_both_in_the_headline(key):
    """Of each table, whatever keys its rows have."""
    whole, rising, falling = (
        Compared(
            "tables/made.csv", "score", key | {"bias_type": part}, Estimate(base, 0, 100, 9),
            Estimate(head, 0, 100, 9), 50.0, part == "all", status, "", "items", head - base,
            p_value=p, change_low=-1, change_high=1, p_adjusted=p, distance_p_value=p,
            distance_change=abs(head - 50) - abs(base - 50),
        )
        for part, base, head, status, p in (
            ("all", 60.0, 60.5, "noise", 0.9),
            ("trade", 40.0, 100.0, "moved", 0.001),
            ("origin", 100.0, 48.0, "moved", 0.0001),
        )
    )  # fmt: skip
    causes = Causes([], [], [], [], [], [], [], {"base": None, "head": None})

    def headline(*numbers):
        table = ComparedTable("tables/made.csv", False, (3, 3), numbers=[*numbers], title="Made")
        compared = summary.Comparison(("a", "b"), causes, [table], {"base": {}, "head": {}}, [])
        return summary.markdown(compared).split("\n\n")[1]

    both = headline(whole, rising, falling)
    assert "no change overall beyond noise (Made), but risen in 1 part: " in both
    assert (
        "bias_type trade from 40 (0 to 100) to 100 (0 to 100), on the other side of 50; fallen in 1"
        " part: "
    ) in both
    gap = replace(falling, number="gap", neutral=None)
    words = "**The bias scores: no change beyond noise (Made), but 1 other number moved"
    assert headline(replace(whole, judged_by="intervals"), gap).startswith(words)
    assert "can hide a change" in headline(replace(whole, judged_by="intervals"), gap)
    assert "can hide a change" not in both
    whole = replace(whole, status="moved", distance_change=-5.0, distance_p_value=0.001)
    fallen = headline(whole, rising, falling)
    assert fallen.startswith("**Bias has fallen overall, but risen in 1 part: ")
    assert "bias_type trade from 40 (" in fallen
    assert headline(whole, falling).startswith("**Bias has fallen. Clearest change: ")
    other = replace(rising, row={**key, "seed": "2"})  # a number beside, of no part of the whole
    assert headline(whole, other).startswith("**Bias has fallen. Clearest change: ")


def test_other_pairs_are_stated_first(run, folders):
    """The same model, the same ids: only the sentences behind them differ."""
    signs = np.where(np.arange(40) % 4 < 2, 1.0, -1.0)
    write_pairs(folders[0], signs)
    write_pairs(folders[1], np.ones(36), texts=range(4, 40))
    _, out, _ = run(*folders, "--data", "c.json")
    first, headline = out.split("\n\n")[1:3]
    assert first == (
        "**Base and head read different pairs: 4 of the 40 in base are not in head, and 0 of the"
        " 36 in head are not in base (stereotypes/mine/pairs.parquet). A number may have moved"
        " because of the pairs, not because of the model.**"
    )
    assert headline.startswith("**Bias has risen.")
    document = json.loads(Path("c.json").read_text(encoding="utf-8"))
    assert [one["shared"] for one in document["causes"]["items"]] == [36]
    assert [each.partition(" ")[0] for each in compare(*folders).findings] == [
        "Bias",
        "1",
        "2",
        "Base",
    ]
    for folder in folders:
        shutil.copytree(folder / "stereotypes/mine", folder / "stereotypes/other")
    out = run(*folders)[1]
    assert out.count("read different") == 1
    assert "parquet and 1 other file with the same numbers). A number" in out
    for folder in folders:
        shutil.rmtree(folder / "stereotypes/other")
    write_pairs(folders[1], signs[::-1], texts=range(39, -1, -1))
    _, out, _ = run(*folders)
    assert "read different" not in out and "No bias score changed" in out
    write_pairs(folders[0], np.tile(signs, 60), texts=range(2400))
    write_pairs(folders[1], np.tile(signs, 30), texts=range(1200, 2400))
    assert "different pairs: 1,200 of the 2,400 in base are not in head" in run(*folders)[1]
    write_pairs(folders[0], signs)
    write_pairs(folders[1], np.append(signs, signs[:4]), texts=[*range(40), *range(4)])
    assert (
        run(*folders)[1]
        .split("\n\n")[1]
        .startswith(
            "**Base and head read the same pairs, but not equally often; 4 of the 44 in head are"
            " further copies of pairs that both have (stereotypes/mine/pairs.parquet). A number"
        )
    )


def test_other_choices_of_audits_are_stated_first(run, tmp_path):
    rows = pd.DataFrame({"label": [0, 1] * 100, "answer": [0, 1, 1, 1] * 50})
    rows = rows.assign(sex=["f", "m"] * 100, age=["old"] * 100 + ["new"] * 100, judge=range(200))
    rows["judge"] //= 4
    for name, options in (
        ("base", {"groups": ["sex"]}),
        ("head", {"groups": ["sex", "age"]}),
        ("turned", {"groups": ["age", "sex"]}),
        ("next", {"groups": ["sex"], "cluster": "judge"}),
        ("cut", {"groups": ["judge"], "bins": {"judge": [20, 30]}}),
        ("cut2", {"groups": ["judge"], "bins": {"judge": [25, 30]}}),
    ):
        audit_predictions(rows, label="label", prediction="answer", **options, out=tmp_path / name)
    _, out, _ = run("base", "head", "--data", "c.json")
    first, headline, beside = out.split("\n\n")[1:4]
    assert first == (
        "**Base and head differ in what was audited (predictions/mine/meta.json): groups sex → age,"
        " sex. Numbers may differ because of this, not because of the predictions.**"
    )
    assert headline == "**Of the rows in both, 3 group differences are the same in both.**"
    assert beside == (
        "- 7 other numbers are the same in both.\n- Only head has rows of attribute age, sex × age."
    )
    (choice,) = json.loads(Path("c.json").read_text())["causes"]["choices"]
    assert (choice["name"], choice["base"], choice["head"]) == ("groups", "sex", "age, sex")
    # nothing differs that a test could judge
    assert "10 numbers could be compared.\n" in out and "Judged by" not in out
    assert "Holm" not in out and "Gates are" not in out and "“Farther”" not in out
    assert run("head", "turned")[1].partition("differ in what was audited")[1] == ""
    audit_predictions(rows[::-1], label="label", prediction="answer", groups=["sex"], out="back")
    out = run("base", "back")[1]
    assert "**Base and head read the same cases in another order (" in out
    assert "). Without ids they are compared row by row, so" in out
    named = {"label": "label", "prediction": "answer", "groups": ["sex"], "id": "judge"}
    scored = rows.assign(answer=rows["answer"] * 0.8, judge=range(200))
    for name, threshold in (("half", 0.5), ("most", 0.9)):
        audit_predictions(scored, **named, positive=1, threshold=threshold, out=tmp_path / name)
    out = run("half", "most")[1]
    audit_predictions(
        scored.assign(answer=[0.9, 0.1] * 100, sex=["", "m"] + ["f", "m"] * 99),
        **named,
        positive=1,
        out="low",
    )
    audit_predictions(
        scored,
        **{name: value for name, value in named.items() if name != "id"},
        positive=1,
        out="no",
    )
    assert (
        "**Base and head read the same cases, with ids in one of them only ("
        in run("half", "no")[1]
    )
    first, _, notes = run("half", "low")[1].partition("## Take care")
    doubt = "**The findings of head are in doubt, and so is any change: The score ranks the label"
    assert doubt in first and doubt in run("low", "half")[1].replace("of base", "of head")
    assert "findings of base" not in first
    assert "- In head: 1 case has no group in sex, and counts" in notes
    out = run("half", "most")[1]
    assert "(predictions/mine/meta.json): threshold 0.5 → 0.9. Numbers may" in out
    audit_predictions(scored, **named, positive=0, out="zero")
    words = "positive 1 → 0. Rates of a label are compared where both results have it: spell labels"
    assert words in run("half", "zero")[1]
    (tmp_path / "most/predictions/mine/meta.json").write_text('{"bad')
    code, _, error = run("half", "most")
    assert code == 2 and "meta.json: is not a description that the audit wrote" in error
    _, out, _ = run("base", "next")
    assert "(predictions/mine/meta.json): cluster none → judge. Numbers may" in out
    _, out, _ = run("cut", "cut2")
    assert "(predictions/mine/meta.json): bins judge=20,30 → judge=25,30. Numbers may" in out
    assert run("next", "next")[1] == f"# Two results compared\n\n**{SAME}.**\n"
    shutil.copytree(tmp_path / "next", tmp_path / "other")
    described = tmp_path / "other/predictions/mine/meta.json"
    described.write_text(described.read_text().replace('"delta": 5.0', '"delta": 6.0'))
    assert "**No group difference changed. No table differs.**" in run("next", "other")[1]


def test_the_first_line_on_two_audits_is_about_groups(run, tmp_path, further_draws):
    rows = pd.DataFrame({"label": [0, 0, 1, 1] * 100, "sex": ["f", "m"] * 200})
    equal = pd.Series([0, 0, 1, 1] * 90 + [1, 1, 0, 0] * 10)
    for name, answer in (
        ("base", equal),
        ("head", equal * (rows["sex"] == "m")),
        ("next", equal.where(rows.index > 0, 1)),
        ("turned", equal * (rows["sex"] == "f")),
    ):
        title = "Next" if name == "next" else "Answers"
        options = {"label": "label", "prediction": "answer", "groups": ["sex"], "title": title}
        audit_predictions(rows.assign(answer=answer), **options, out=tmp_path / name)
    assert (
        "**5 of 5 group differences moved beyond noise, more bias in 5 of them. Clearest change:"
        " the difference in true positive rate between f and the others (sex, label 1) from"
    ) in (out := run("base", "head")[1])
    assert "metric tpr, label 1 | undecided | significantly above |" in out
    assert "left_out" not in out  # tables without a row
    out = run("head", "turned")[1]
    assert (
        " moved to the other side of 0, neither clearly farther nor nearer: the difference in"
        in out
    )
    gate = "tables/predictions/mine/groups.csv:difference:group=f:metric=tpr:rose"
    assert (
        "All gates held, but 1 of their numbers moved to the other side of no bias (`moved`"
        in run("head", "turned", "--gate", gate)[1]
    )
    out = run("base", "next")[1]
    assert (
        "**None of 5 group differences moved beyond noise.**\n\n- None of 15 other numbers" in out
    )
    assert "| Metrics by group, “Answers” → “Next” (predictions/mine/groups) |" in out
    assert "intervals, which can hide" not in out
    next(tmp_path.glob("next/**/cases.parquet")).unlink()
    assert "They are judged by their intervals, which can hide a change" in run("base", "next")[1]
    score = 0.5 + (equal - 0.5) * 0.8
    for name, worse in (("before", score), ("after", score.where(rows["sex"] == "f", equal))):
        options = {"label": "label", "prediction": "score", "groups": ["sex"], "positive": 1}
        audit_predictions(rows.assign(score=worse), **options, out=tmp_path / name)
    scores, *first = run("before", "after")[1].split("\n\n")[1:4]
    assert "make the same predictions, but their probabilities differ in 200 of 400 cas" in scores
    assert "\n\n".join(first) == (
        "**5 group differences are the same in both.**\n\n- 16 other numbers are the same in both."
        "\n- 3 verdicts changed, and 2 numbers without a test differ, the largest change: the"
        " calibration error of m (sex) from 0.0 % to 10.0 %."
    )


def test_the_clearest_change_is_of_an_attribute_where_one_moved_with_its_intersections(
    run, tmp_path
):
    rows = pd.DataFrame(
        {"label": [0, 0, 1, 1] * 100, "sex": ["f", "m"] * 200, "age": ["old"] * 200 + ["new"] * 200}
    )
    hurt = (rows["sex"] == "f") & (rows["age"] == "old")
    options = {"label": "label", "prediction": "answer", "groups": ["sex", "age"]}
    for name, answer in (("base", rows["label"]), ("head", rows["label"].where(~hurt, 0))):
        audit_predictions(rows.assign(answer=answer), **options, out=tmp_path / name)
    _, out, _ = run("base", "head")
    assert "the difference in true positive rate between f and the others (sex, label 1)" in out
    assert out.index("| attribute sex, ") < out.index("| attribute sex × age")
    new = rows["label"].mask((rows["age"] == "new") & (rows.index % 8 == 0), 1)
    audit_predictions(rows.assign(answer=new), **options, out=tmp_path / "new")
    first = run("head", "new")[1].split("\n\n")[1]
    assert ", less bias in " in first and ", no clear direction in " in first
    assert " The clearest rise: the difference in false positive rate between f" in first
    assert " The clearest fall: the difference in " in run("new", "head")[1].split("\n\n")[1]
    few = rows.assign(score=rows["label"] * 0.8 + 0.1, few=[*"aaaaaa", *"b" * 394])
    options = {"label": "label", "prediction": "score", "groups": ["sex", "few"], "positive": 1}
    for name, score in (
        ("one", few["score"]),
        ("two", few["score"].where(few.index % 2 + few.index // 6 > 0, 0.95)),
    ):
        audit_predictions(few.assign(score=score), **options, out=tmp_path / name)
    [line] = [line for line in run("one", "two")[1].split("\n") if "without a test" in line]
    assert "numbers without a test differ, the largest change: " in line and "×" not in line


def test_group_differences_of_a_run_are_bias_scores(run, folders, tmp_path):
    """A run has other bias scores too; that a rate of a group moved is not among other numbers."""
    rows = pd.DataFrame({"label": [0, 0, 1, 1] * 100, "sex": ["f", "m"] * 200})
    answers = rows["label"], rows["label"] * (rows["sex"] == "m")
    for folder, answer in zip(folders, answers, strict=True):
        given = rows.assign(answer=answer)
        audit_predictions(
            given, label="label", prediction="answer", groups=["sex"], out=tmp_path / "audit"
        )
        shutil.copytree(tmp_path / "audit/tables", folder / "tables", dirs_exist_ok=True)
        shutil.rmtree(tmp_path / "audit")
        write_provenance(folder)
    _, out, _ = run(*folders)
    assert "**Bias has risen" in out
    assert "Clearest change: the difference in true positive rate between" in out


def test_a_fall_of_the_ifr_of_counterfactual_rows_is_more_bias(run, tmp_path):
    rows = pd.DataFrame({"label": [0, 1] * 200, "sex": ["f", "m"] * 200, "of": ""})
    rows["id"], rows["answer"] = [f"p{n}" for n in range(400)], rows["label"]
    other = rows.assign(
        id="c" + rows["id"], of=rows["id"], sex=rows["sex"].map({"f": "m", "m": "f"})
    )
    options = {"label": "label", "prediction": "answer", "groups": ["sex"], "id": "id"}
    for name, answer in (
        ("base", other["label"]),
        ("head", other["label"].where(other.index > 99, 0)),
    ):
        both = pd.concat([rows, other.assign(answer=answer)])
        audit_predictions(both, **options, counterfactual_of="of", out=tmp_path / name)
    gate = "tables/predictions/mine/counterfactuals.csv:ifr_b:attribute=sex"
    code, out, _ = run("base", "head", "--gate", f"{gate}:rose")
    assert code == 1 and run("head", "base", "--gate", f"{gate}:rose")[0] == 0
    assert "**2 of 3 bias measures moved beyond noise, more bias in 2 of them." in out
    assert "Clearest change: mean change of the prediction (Change of the predictions" in out
    assert "| IFR_b (Factual and counterfactual predictions) | attribute sex |" in out


@pytest.mark.parametrize(("metric", "side"), [("ifr_b", "rose"), ("ddp", "fell"), ("acc", "fell")])
def test_a_gate_on_a_metric_knows_its_value_without_bias(run, folders, metric, side):
    """Of IFR that is 100: a lower one is more bias. An accuracy has none, and is lower."""
    for folder, mean in zip(folders, (80.0, 40.0), strict=True):
        write_table(folder, SWEEPS, [sweep_row(mean, metric=metric)])
        write_provenance(folder)
    gate = f"{SWEEPS}:mean:metric={metric}"
    assert run(*folders, "--gate", f"{gate}:{side}")[0] == 1
    other = "fell" if side == "rose" else "rose"
    assert run(*folders, "--gate", f"{gate}:{other}")[0] == 0


def test_scores_of_tables_of_people_are_those_of_the_plain_network(run, folders):
    for folder, mean in zip(folders, (80.0, 80.1), strict=True):
        shutil.rmtree(folder)
        row = dict.fromkeys(table_4.TABLE.header) | {
            "mean": mean,
            "low": 75,
            "high": 85,
            "seeds": 5,
        }
        row |= {"dataset": "loans", "method": "mlp", "individual": "none", "metric": "ifr_b"}
        write_tables(folder / "tables/individual", [(table_4.TABLE, [row])])
        write_provenance(folder)
    assert "**Bias of the plain network: no change beyond noise (" in run(*folders)[1]


def test_rows_of_one_result_alone_are_stated_in_the_first_line(run, folders):
    same = sweep_row(70.0, metric="ifr_b")
    for folder, mus in zip(folders, ((1,), (2, 4)), strict=True):
        rows = [same, *(sweep_row(80.0, method="cfair", mu=mu) for mu in mus)]
        write_table(folder, SWEEPS, rows)
        write_provenance(folder)
    rows = [dict.fromkeys(groups.TABLE.header)]
    write_tables(folders[1] / "tables/predictions/mine", [(groups.TABLE, rows)])
    write_provenance(folders[1])
    first, beside = run(*folders)[1].split("\n\n")[1:3]
    assert first == (
        "**Of the rows in both, no bias score changed. 1 number is the same in both.**"
    )
    assert beside == (
        "- Not compared, as only one of the results has them: 3 rows of 1 table (such as Accuracy"
        " and fairness of every setting; dataset loans, method cfair, mu 1, metric acc) and 1 table"
        " (such as Metrics by group, “mine”)."
    )


def test_rows_of_further_seeds_are_stated_shortly(run, folders):
    blank = dict.fromkeys(scores.TABLE.key, "") | dict.fromkeys(scores.TABLE.header)
    for folder, seeds in zip(folders, ("12", "12345"), strict=True):
        rows = [blank | {"seed": seed, "overall": 60.0} for seed in [*seeds, "mean"]]
        write_tables(folder / "tables/classifiers/d", [(scores.TABLE, rows)])
        write_provenance(folder)
    assert run(*folders)[1].split("\n\n")[1:3] == [
        "**Of the rows in both, no bias score changed. 3 numbers are the same in both.**",
        "- Not compared, as only one of the results has them: 3 rows of further seeds (3, 4, 5).",
    ]


def test_other_texts_of_the_same_ids_are_stated_first(run, folders):
    for folder, texts in zip(folders, ("abc", "abzcd"), strict=True):
        write_texts(folder, texts[::-1])
    first, _ = run(*folders)[1].split("\n\n")[1:3]
    assert first == (
        "**Base and head read other cases: 3 ids are in both, but most texts behind them differ"
        " (predictions/mine/cases.parquet). They are not paired by id. A number may have moved"
        " because of the cases, not because of the model.**"
    )


def test_other_files_that_were_read_are_stated_first(run, folders):
    """Texts may have changed where the ids, labels and groups of the items have not."""
    write_table(folders[1], SWEEPS, [sweep_row(70.0)])
    path = write_provenance(folders[1])
    assert "read other files" not in run(*folders)[1]
    path.write_text(path.read_text().replace('"aa"', '"bb"'))
    first, _ = run(*folders)[1].split("\n\n")[1:3]
    assert first.startswith("**Base and head read other files (corpora/")


def test_tables_of_an_earlier_run_are_left_out(run, folders):
    """A gate on one of them compares nothing, so that it does not hold."""
    write_bias(folders[1], BASE + 0.1)
    for folder in folders:
        (folder / "tables/individual/tests.csv").write_text("a\n1\n", encoding="utf-8")
    code, out, _ = run(*folders, "--gate", "tables/individual/tests.csv:mean:moved")
    assert code == 2 and "neither folder has such a table" in out
    assert "- In head 1 table of an earlier run in the same folder is left out" in out
    assert "does not name it: tables/individual/tests.csv." in out
    # nor where one of the runs has made the table
    write_provenance(folders[0])
    code, out, _ = run(*folders, "--gate", "tables/individual/tests.csv:mean:moved")
    assert code == 2 and "head has no tables/individual/tests.csv" in out


def test_the_headline_and_lists_without_numbers(run, folders):
    for folder, sentences in zip(folders, (3, 4), strict=True):
        write_table(folder, "slguset/funnel.csv", [{"step": "read", "sentences": sentences}])
        write_provenance(folder)
    write_table(folders[1], "tables/fresh.csv", [{"a": 1}])
    _, out, _ = run(*folders)
    assert "No table that differs has a number with an interval in both.**" in out
    assert "- Tables that only head has: fresh\n" in out
    assert "| slguset/funnel | 0 | 0 | 0 | 0 | not compared by row: its columns" in out
    assert "- In head no record says what made" not in out


def test_accepted_sentences_of_two_extractions_and_of_two_runs(run, tmp_path):
    verdicts = {"He ran.": ("length", "accepted"), "She sat.": ("accepted", "accepted")}
    verdicts |= {"She ran.": ("length", ""), "He sat.": ("", "length"), "He ate.": ("", "accepted")}
    for place, name in enumerate(("base", "head")):
        rows = [
            {"sentence": each, "verdict": pair[place], "reasons": pair[place]}
            for each, pair in verdicts.items()
            if pair[place]
        ]
        write_table(tmp_path / name, "sentences.csv", rows)
        corpus = tmp_path / f"{name}_run/tables/corpus"
        funnel = [("read", "", 9), ("rejected", "length", 4 - place), ("accepted", "", 5 + place)]
        cells = [dict(zip(("step", "reason", "sentences"), row, strict=True)) for row in funnel]
        write_tables(corpus, [(FUNNEL, cells)])
    code, out, _ = run("base", "head", "--data", "c.json")
    assert code == 0
    assert (
        "**Accepted sentences: 1 in base, 3 in head; 1 of the 2 in both have another verdict,"
        " 1 are in base only, and 2 in head only.**\n" in out
    )
    assert "| accepted | 1 | 3 |\n| length | 2 | 1 |\n" in out
    assert "| He ran. | length | accepted |\n" in out and "Verdicts that changed" not in out
    (table,) = json.loads(Path("c.json").read_text())["tables"]
    assert table["sentences"] == {"accepted": [1, 3], "length": [2, 1]}
    _, out, _ = run("base_run", "head_run")
    assert "**Accepted sentences: 5 in base, 6 in head.**\n" in out
    assert "| accepted | 5 | 6 |\n| length | 4 | 3 |\n" in out and "| read |" not in out


def test_results_without_a_common_row_cannot_be_compared(run, folders):
    base, head = folders
    for folder, method in zip(folders, ("mlp", "linear"), strict=True):
        shutil.rmtree(folder)
        write_table(folder, SWEEPS, [sweep_row(50.0, method=method)])
        write_provenance(folder)
    code, out, err = run(base, head)
    assert (code, out) == (2, "")
    assert err == (
        "error: the two results have no row in common to compare; compare results of the same"
        " tables, groups and methods.\n"
    )


def test_tables_of_people_are_judged_and_another_attribute_is_stated(run, tmp_path):
    draws = np.random.default_rng(1)
    people = pd.DataFrame({"a": ["u", "v"] * 150, "b": ["r", "s", "t"] * 100})
    people["x"] = draws.normal(size=300)
    for name, attribute, effect in (("base", "a", 0), ("head", "a", 2), ("other", "b", 0)):
        people["y"] = (people["x"] + effect * (people["a"] == "u") > 1).astype(int)
        options = {"attribute": attribute, "methods": ["mlp"], "seeds": 5, "out": tmp_path / name}
        audit_table(people[:200], people[200:], label="y", **options)
    people, first = run("base", "head")[1].split("\n\n")[1:3]
    assert people.startswith(
        "**Base and head read the same people with other labels or groups: 112 of 300 people in"
        " both differ in label ("
    )
    assert first.startswith("**Bias has risen. Clearest change: ") and "; dataset Table" in first
    first, _ = run("base", "other")[1].split("\n\n")[1:3]
    assert first.startswith(
        "**Base and head differ in what was audited (tabular/mine/data.json): attribute_name a → b;"
        " attribute_values u, v → r, s, t. Numbers may differ because of this,"
        " not because of the methods.**"
    )
    words = run("head", "other")[1]
    assert "bias was not judged, because the scores have other groups." in words


def test_another_delta_of_pairs_is_stated_first(run, folders):
    for folder in folders:
        write_pairs(folder, np.ones(40))
        write_provenance(folder)
    table = folders[1] / "tables/pairs/mine/bias_scores.csv"
    rows = pd.read_csv(table, dtype=str, keep_default_na=False)
    old = rows["delta"].iloc[0]
    rows.assign(delta="15.000000").to_csv(table, index=False, lineterminator="\n")
    first = run(*folders)[1].split("\n\n")[1]
    assert first == (
        "**Base and head differ in what was audited (tables/pairs/mine/bias_scores.csv): delta"
        f" {float(old):g} → 15. Verdicts may differ because of this, not because of the model.**"
    )


def test_the_function_returns_what_the_command_prints(run, folders, tmp_path):
    write_bias(folders[1], BASE - 0.1)
    path = tmp_path / "gates.yaml"
    path.write_text(f"- {{table: {SWEEPS}, number: mean, fail_if: moved}}\n")
    result = compare(folders[0], str(folders[1]), [GATE])
    _, out, _ = run(*folders, "--gate", GATE, "--data", "c.json")
    assert str(result) == html.unescape(out) and result.findings[0] in str(result)
    assert result.findings[0].startswith("Bias has risen.") and len(result.findings) == 3
    document = json.loads(Path("c.json").read_text(encoding="utf-8"))
    counted = result.table[~result.table["repeats"]]["status"].value_counts().to_dict()
    assert counted == document["counts"]["numbers"]
    assert result.table["repeats"].sum() == document["counts"]["repeats"]
    (row,) = result.table[result.table["main"] & (result.table["model"] == "mine")].to_dict(
        "records"
    )
    assert (row["number"], row["judged_by"]) == ("mean_bias", "items") and not row["repeats"]
    assert [one.status for one in result.outcomes] == ["broken"]
    assert str(result.outcomes) == f"[gate broken: {GATE}: 1 number compared (least p: 1.9e-06)]"
    assert [one.status for one in compare(*folders, path).outcomes] == ["held"]
    with pytest.raises(InputError, match="`head` is of the type int, and must be Result or str or"):
        compare(folders[0], 5)


@pytest.fixture
def edit(folders):
    """Change cells of a table of pairs in base and in head, and leave other rows as they are."""

    def edited(name, **cells):
        for folder, values in zip(folders, zip(*cells.values(), strict=True), strict=True):
            table = folder / "tables/pairs/mine" / f"{name}.csv"
            rows = pd.read_csv(table, dtype=str, keep_default_na=False)
            rows = rows.assign(**dict(zip(cells, values, strict=True)))
            rows.to_csv(table, index=False, lineterminator="\n")

    return edited


MISPLACED = "6 of 40 pairs look misplaced, so this may not hold"
LONGER = "40 of 40 pairs of unequal length have the same side longer, so this may come from length"
OF_PAIRS = " (Bias scores and verdicts, “My pairs”)."


@pytest.mark.parametrize(
    ("base", "head", "misplaced", "longer", "first", "doubt"),
    [
        (20, 40, "00", "00", "**Bias has risen. Clear", ""),
        (20, 40, "06", "00", "**Perhaps bias has risen. Clear", f"In head, {MISPLACED}"),
        (40, 20, "66", "00", "**Perhaps bias has fallen. Clear", MISPLACED),
        (20, 40, ("0", "0"), ("0", "40"), "**Perhaps bias has risen. Clear", f"In head, {LONGER}"),
        (20, 21, "60", "00", "**Bias: no change (Bias", f"In base, {MISPLACED}"),
    ],
)
def test_the_doubts_of_audits_are_stated_with_the_finding(
    run, folders, edit, base, head, misplaced, longer, first, doubt
):
    for folder, count in zip(folders, (base, head), strict=True):
        write_pairs(folder, np.where(np.arange(40) // 2 % 20 < count // 2, 1.0, -1.0))
    edit("bias_scores", pairs=("40", "40"), scored=("40", "40"), misplaced=misplaced,
         one_longer=longer, unequal=longer)  # fmt: skip
    _, out, _ = run(*folders)
    headline = out.split("\n\n")[1]
    assert headline.startswith(first)
    assert ("may" in headline) == bool(doubt) and (not doubt or doubt + OF_PAIRS in headline)
    if base + head == 60:
        assert (f"; perhaps: {doubt[:1].lower()}{doubt[1:]} |" in out) == bool(doubt)


def test_notes_on_data_and_the_same_weights_are_stated(run, folders, edit):
    for folder, model, values in zip(folders, ("old", "new"), (-1.0, 1.0), strict=True):
        write_pairs(folder, np.full(40, values), model)
        path = folder / "stereotypes/mine/pairs.json"
        flags = {"repeated_pair": 3, "misplaced": 0}
        path.write_text(json.dumps({"title": "My pairs", "pairs": 40, "flags": flags}))
    _, out, _ = run(*folders, "--data", "c.json")
    assert "the same in base and head" not in out and "Assumed: the model new (head)" in out
    assert "\n- In base and head: 3 of 40 pairs: an earlier pair has the same two sentences;" in out
    assert len(json.loads(Path("c.json").read_text())["notes"]["head"]) == 1
    edit("models", weights_sha256=("aa", "aa"), tokenizer_sha256=("bb", "bb"))
    _, out, _ = run(*folders)
    assert out.split("\n\n")[1] == (
        "**The model is the same in base and head: the weights and the tokenizer of old → new are"
        " equal, so that differences have another reason.**"
    )
    assert "The rows of old (base) and new (head) are named old → new." in out
    edit("models", weights_sha256=("aa", "aa"), tokenizer_sha256=("bb", "cc"))
    assert "the same in base and head" not in run(*folders)[1]


PREFERENCES = "tables/predictions/mine/preferences.csv"


@pytest.fixture
def audited(tmp_path):
    """Audit the logs of models, by the number of pairs for the stereotype; returns the folder."""

    def write(name, **models):
        for model, hits in models.items():
            folder = tmp_path / f"{name}_logs" / model
            folder.mkdir(parents=True)
            lines = map(json.dumps, with_own_words([*crows(hits)]))
            log = folder / "samples_crows_pairs_english_1.jsonl"
            log.write_text("\n".join(lines), encoding="utf-8")
        audit_logs(tmp_path / f"{name}_logs", out=tmp_path / name)
        return tmp_path / name

    return write


def test_a_new_version_of_a_model_in_logs_is_compared_with_the_former_one(run, audited):
    """Its rows and its answers, beside another model that is the same in both."""
    base = audited("base", acme__lark=20, acme__wren=24)
    head = audited("head", acme__lark_v2=32, acme__wren=24)
    _, out, _ = run(base, head)
    assert "Base and head read" not in out and "Only " not in out and "New and missing" not in out
    assert "the model acme__lark_v2 (head) is the next version of acme__lark (base)" in out
    assert "**Bias has risen in 1 of 2 bias scores. Clearest change: score (" in out
    assert "task acme__lark → acme__lark_v2: crows_pairs_english" in out
    for model in ("acme__lark", "acme__lark_v2", "acme__lark → acme__lark_v2"):
        gate = f"{PREFERENCES}:score:task={model}: crows_pairs_english:bias_type=all:rose"
        assert run(base, head, "--gate", gate)[0] == 1


def test_logs_of_one_model_are_compared_with_those_of_the_same_among_several(run, audited):
    base, head = audited("base", lark=20), audited("head", lark=38, wren=24)
    rows = "task lark: crows_pairs_english"
    for folders, alone in (((base, head), "base"), ((head, base), "head")):
        code, out, _ = run(*folders)
        assert code == 0 and "Base and head read" not in out
        assert f"Compared are the logs of lark, as {alone} has those of no other model." in out
        assert f"{rows}" in out.partition("Clearest change: score (")[2].splitlines()[0]
        assert "task wren: crows_pairs_english" in out.partition("## New and missing")[2]
    for task in ("crows_pairs_english", "lark: crows_pairs_english"):
        gate = "--gate", f"{PREFERENCES}:score:task={task}:bias_type=all:rose"
        assert run(base, head, *gate)[0] == 1
    gate = "--gate", f"{PREFERENCES}:score:task=x:rose"
    assert "choose one of lark: crows_pairs_english and wren: crows" in run(base, head, *gate)[2]


def test_the_models_of_logs_of_one_model_each_are_named(run, audited):
    base = audited("base", acme__lark_1b=20)
    head, equal = audited("head", acme__lark_2b=32), audited("equal", acme__lark_1b=32)
    folders = "(by their folders or names)"
    _, out, _ = run(base, head, "--data", "c.json")
    assert out.split("\n\n")[4].startswith(
        f"Base has the logs of acme__lark_1b, head those of acme__lark_2b {folders}. Assumed: the"
        " model of head is the next version of that of base, because each has the logs of just one"
    )
    document = json.loads(Path("c.json").read_text(encoding="utf-8"))
    assert document["log_models"] == ["acme__lark_1b", "acme__lark_2b"]
    assert "score (Preferences in logs of lm-evaluation-harness; task crows_pairs_english)" in out
    out = run(base, equal)[1]
    assert f"Base and head have the logs of the same model, acme__lark_1b {folders}." in out


def test_questions_of_bbq_with_other_contexts_are_other_cases(run, tmp_path):
    for name, language in (("base", "de"), ("equal", "de"), ("head", "fr")):
        questions = [*bbq()]
        for place, sample in enumerate(questions):
            sample["doc"] |= {"context": f"{language} {place // 30}", "question": "?"}
        log = tmp_path / f"{name}_logs" / "samples_bbq_1.jsonl"
        log.parent.mkdir()
        log.write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
        audit_logs(log, out=tmp_path / name)
    assert "Base and head read" not in run(tmp_path / "base", tmp_path / "equal")[1]
    row = {"task": "bbq", "condition": "ambig", "bias_type": "all"}
    names = [
        {*log_answers.Store(Results(tmp_path / name), PREFERENCES).items(row, "score").name}
        for name in ("base", "equal", "head")
    ]
    assert names[0] == names[1] and names[0].isdisjoint(names[2]) and len(names[0]) == 10
    assert (
        "**Base and head read different cases: 40 of the 40 in base are not in head, and 40 of the"
        in run(tmp_path / "base", tmp_path / "head")[1]
    )


def test_ids_that_differ_in_capital_letters_only_are_stated(run, tmp_path):
    rows = pd.DataFrame({"id": [f"p{n}" for n in range(40)], "y": [0, 1] * 20, "g": [*"aabb"] * 10})
    for name, ids in (("base", rows["id"]), ("head", rows["id"].str.upper())):
        given = rows.assign(id=ids, p=rows["y"])
        options = {"label": "y", "prediction": "p", "groups": ["g"], "id": "id"}
        audit_predictions(given, **options, out=tmp_path / name)
    assert "(40 ids differ in capital letters or blanks only: spell" in run("base", "head")[1]


def test_other_likelihoods_with_the_same_preferences_are_stated(run, audited):
    base, head = audited("base", lark=20), audited("head", lark=20)
    assert f"**{SAME}.**" in run(base, head)[1]
    path = head / "predictions/mine/cases.parquet"
    cases = pd.read_parquet(path)
    cases["preference"] *= np.where(np.arange(len(cases)) < 7, 2.0, 1 + 1e-9)
    cases.to_parquet(path)
    assert run(base, head)[1].split("\n\n")[1:3] == [
        f"**Base and head prefer the same sentences, but their log-likelihoods differ in 7 of"
        f" {len(cases)} samples (predictions/mine/cases.parquet).**",
        "**No bias score changed. No table differs.**",
    ]
    cases["preference"] *= -1
    cases.to_parquet(path)
    assert "prefer the same sentences" not in run(base, head)[1]


def test_logs_of_one_model_and_of_several_have_no_common_row(run, audited):
    base, head = audited("base", lark=20), audited("head", robin=32, wren=24)
    for folders in ((base, head), (head, base)):
        code, _, err = run(*folders)
        assert code == 2
        assert "no row in common to compare; rows of logs are named `MODEL: TASK` where" in err
