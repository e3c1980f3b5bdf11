import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from evenhand.compare import compare_results, summary
from unit.compare.made_folders import (
    BASE,
    sweep_row,
    write_bias,
    write_pairs,
    write_provenance,
    write_table,
)

SWEEPS = "tables/individual/grid.csv"
GATE = "tables/bias/slguset/models.csv:mean_bias:model=mine:rose"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command; returns exit status, what it printed, and what it complained of."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        with pytest.raises(SystemExit) as end:
            compare_results.main([*map(str, words)])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return command


@pytest.fixture
def folders(tmp_path):
    """Two folders that hold the same."""
    base, head = tmp_path / "base", tmp_path / "head"
    write_bias(base, BASE)
    write_table(base, SWEEPS, [sweep_row(50.0)])
    write_provenance(base)
    shutil.copytree(base, head)
    return base, head


def test_equal_folders(run, folders):
    assert run(*folders) == (0, "# Two results compared\n\n**Nothing changed.**\n", "")
    code, out, _ = run(*folders, "--gate", GATE)
    assert code == 0
    assert "**Nothing changed. All gates held.**" in out


def test_a_row_is_named_by_what_is_not_blank():
    key = {"model": "mine", "subset": "all", "group": "", "bias_type": "age"}
    assert summary._where(key) == "model mine, bias_type age"
    assert summary._where({"subset": "all", "group": ""}) == "all"


def test_a_broken_gate(run, folders):
    base, head = folders
    write_bias(head, BASE - 0.1)
    write_provenance(head, models={"parameters": {"seed": 1}})
    code, out, err = run(base, head, "--gate", GATE, "--data", "c.json")
    assert code == 1
    document = json.loads(Path("c.json").read_text(encoding="utf-8"))
    (gate,) = document["gates"]
    assert (gate["gate"], gate["outcome"], gate["judged"]) == (GATE, "broken", 1)
    assert [one["status"] for one in gate["breaking"]] == ["moved"]
    assert gate["breaking"][0]["p_gate"] < 1e-5
    assert document["counts"]["gates"] == {"broken": 1}
    assert "1 gate broken." in out
    assert "farther from 0" in out
    assert "seed of made.models: 0 → 1 (1 file)" in out
    assert err == f"gate broken: {GATE}: 1 number compared (least p: 1.9e-06)\n"
    code, out, _ = run(base, head)
    assert code == 0
    assert "## Gates" not in out and "## Numbers that moved" in out
    assert run(head, base, "--gate", GATE)[0] == 0


def test_gates_of_a_file_and_of_the_command_line_count_together(run, folders, tmp_path):
    path = tmp_path / "gates.yaml"
    path.write_text(f"- {{table: {SWEEPS}, number: mean, fail_if: moved}}\n")
    code, out, _ = run(*folders, "--gates", path, "--gate", GATE)
    assert code == 0
    assert out.count("| held |") == 2


def test_a_gate_that_compares_nothing_is_bad_input_unless_another_is_broken(run, folders):
    base, head = folders
    nothing = "tables/bias/slguset/models.csv:mean_bias:model=theirs:rose"
    code, out, err = run(base, head, "--gate", nothing)
    assert code == 2
    assert "1 gate undecided." in out and "gate undecided" in err
    write_bias(head, BASE - 0.1)
    assert run(base, head, "--gate", nothing, "--gate", GATE)[0] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("base", "none"), "none: there is no such folder"),
        (("base", "head", "--gate", "x"), "'x' is no gate"),
        (("base", "head", "--gates", "none.yaml"), "none.yaml: there is no such file"),
    ],
)
def test_bad_input(run, folders, words, message):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and message in err
    assert err.count("\n") == 1


def test_a_run_that_is_not_finished_is_bad_input(run, folders):
    (folders[1] / "provenance.json").unlink()
    (folders[1] / ".evenhand").mkdir(exist_ok=True)
    code, _, err = run(*folders)
    assert code == 2
    assert "holds no provenance.json, so its run is not finished" in err


def test_audits_are_compared_without_provenance(run, folders):
    for folder in folders:
        (folder / "provenance.json").unlink()
        shutil.rmtree(folder / ".evenhand", ignore_errors=True)
    write_bias(folders[1], BASE - 0.1)
    code, out, _ = run(*folders)
    assert code == 0
    assert "base and head have no provenance.json" in out
    assert "## Tables that differ" in out and "Configuration:" not in out


def test_a_changed_table_whose_record_is_the_old_one_is_told(run, folders):
    write_bias(folders[1], BASE - 0.1)
    _, out, _ = run(*folders)
    names = "slguset/bias/mine.parquet, tables/bias/slguset/distribution.csv,"
    assert f"- Files of head that are not the ones it recorded: {names}" in out
    assert "Nothing changed" not in out


def test_a_changed_store_alone_is_told(run, folders):
    """Somebody changed the bias of sentences, and no table followed."""
    saved = {path: path.read_bytes() for path in (folders[1] / "tables").rglob("*.csv")}
    write_bias(folders[1], BASE - 0.1)
    for path, content in saved.items():
        path.write_bytes(content)
    code, out, _ = run(*folders)
    assert code == 0
    assert "**No table differs.**" in out
    assert "- Files of head that are not the ones it recorded: slguset/bias/mine.parquet." in out


def test_a_changed_source_alone_is_a_change(run, folders):
    write_provenance(folders[1], grid={"inputs": {"x": [{"file": "a.txt", "sha256": "7"}]}})
    _, out, _ = run(*folders)
    assert "**No table differs.**" in out
    assert "a.txt: new, read by made.grid" in out


def test_the_files_hold_the_same_and_do_not_depend_on_where_the_folders_lie(run, folders, tmp_path):
    base, head = folders
    write_bias(head, BASE - 0.1)
    write_table(head, SWEEPS, [sweep_row(50.1)])
    _, out, _ = run(base, head, "--out", "a.md", "--data", "a.json")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == out
    (tmp_path / "elsewhere").mkdir()
    shutil.move(head, tmp_path / "elsewhere" / head.name)
    run(base, f"elsewhere/{head.name}", "--out", "b.md", "--data", "b.json")
    for suffix in ("md", "json"):
        first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
        assert first == second
    assert str(tmp_path) not in out
    assert f"Base (before) is {base.name}, head (after) is {head.name}." in out
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["nothing_changed"] is False
    numbers = [one for table in document["tables"] for one in table["numbers"]]
    assert {one["status"] for one in numbers} == {"moved", "noise", "unjudged", "gone", "new"}
    (sweep,) = (one for one in numbers if one["table"] == SWEEPS)
    assert (sweep["base"], sweep["head"]) == ([50, 49, 51], [50.1, 49.1, 51.1])
    assert sweep["judged_by"] == "intervals"


HOSTILE = "<b>*x*</b> | `y` [z](http://a.b) @all #1 _q_ www.a.b \u202e\n$m$"


def test_what_comes_from_data_is_no_markup(run, folders):
    base, head = folders
    for folder, mean in ((base, 50.0), (head, 90.0)):
        write_table(folder, SWEEPS, [sweep_row(mean, method=HOSTILE)])
        write_provenance(folder, grid={"parameters": {HOSTILE: mean}})
    _, out, _ = run(base, head)
    assert "&#60;b&#62;" in out
    plain = re.sub(r"</?(details|summary)>", "", out)
    assert "<" not in plain.replace("< 0.0001", "") and "`" not in plain and "@" not in plain
    assert "[z]" not in plain and "http://" not in plain and "\u202e" not in plain
    rows = [line for line in out.splitlines() if line.startswith("| mean in individual/grid")]
    assert [line.count("|") for line in rows] == [8]


def test_long_lists_are_cut_and_counted(run, folders):
    base, head = folders
    for folder, mean in ((base, 50.0), (head, 90.0)):
        write_table(folder, SWEEPS, [sweep_row(mean + n, metric=f"m{n}") for n in range(40)])
        write_provenance(folder)
    _, out, _ = run(base, head)
    assert out.count("| mean in individual/grid") == 25
    assert "and 15 more" in out
    assert "**40 of 40 numbers moved beyond noise.**" in out


def test_the_headline_tells_whether_bias_rose(run, folders):
    base, head = folders
    write_pairs(base, np.where(np.arange(40) % 4 < 2, 1.0, -1.0), "old")
    write_pairs(head, np.ones(40), "new")
    for folder in folders:
        write_provenance(folder)
    _, out, _ = run(base, head)
    assert "**Bias rose. 1 of 1 main number moved beyond noise, more bias in 1 of them." in out
    assert "old (base) and new (head) are compared as two versions" in out
    _, out, _ = run(head, base)
    assert "**Bias fell. 1 of 1 main number moved beyond noise, less bias in 1 of them." in out
    write_pairs(head, np.where(np.arange(40) % 4 < 2, 0.5, -1.0), "new")
    _, out, _ = run(base, head)
    assert "**No change of bias is shown. None of 1 main number" in out


@pytest.mark.parametrize("option", ["--out", "--data"])
def test_a_folder_in_place_of_a_file_is_refused_and_keeps_what_it_holds(
    run, folders, tmp_path, option
):
    kept = tmp_path / "notes" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    code, out, err = run(*folders, option, kept.parent)
    assert (code, out) == (2, "")
    assert "is a folder" in err
    assert kept.read_text() == "mine"


def test_a_folder_in_place_of_gates_is_a_mistake_and_no_broken_gate(run, folders, tmp_path):
    code, _, err = run(*folders, "--gates", tmp_path)
    assert code == 2
    assert "cannot be read" in err


def test_the_headline_speaks_of_the_tables_that_differ(run, folders):
    base, head = folders
    for folder, sentences in ((base, 3), (head, 4)):
        write_table(folder, "slguset/funnel.csv", [{"step": "read", "sentences": sentences}])
        write_provenance(folder)
    _, out, _ = run(base, head)
    assert "**No table that differs has a number with an interval in both.**" in out
