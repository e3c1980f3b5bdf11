"""The command line: the finding and the place of the report end each command."""

import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from evenhand import api, cli
from evenhand.core.config import complete, read_schema
from evenhand.core.places import SCHEMA
from evenhand.errors import InputError
from harness import REPOSITORY
from unit.stereotypes.english_models import save_broken

ROWS = "y,p,gender\n" + "1,0.9,woman\n0,0.1,man\n1,0.4,man\n0,0.2,woman\n" * 50


PREDICTIONS = ["predictions", "p.csv", "--label", "y", "--prediction", "p", "--group", "gender"]


def run(*words):
    """The exit status of a command."""
    with pytest.raises(SystemExit) as status:
        cli.main([str(word) for word in words])
    return status.value.code


def test_a_reader_that_leaves_early_gets_no_traceback(tmp_path):
    (tmp_path / "p.csv").write_text(ROWS)
    words = [sys.executable, "-m", "evenhand", *PREDICTIONS, "--out", "audit"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=-1, stderr=-1, text=True) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert process.returncode == 1 and "Traceback" not in errors and "Broken" not in errors


def test_predictions_end_with_the_finding_and_the_report(tmp_path, capsys):
    rows = ROWS.replace("\n0,", "\nb,")
    (tmp_path / "p.csv").write_text(rows + "1,,woman\n1,0.2,\n")
    out = tmp_path / "audit"
    words = ["--label", "y", "--prediction", "p", "--group", "gender", "--out", out]
    assert not run("predictions", tmp_path / "p.csv", *words)
    finding, *others, left_out, unknown, label, report = capsys.readouterr().out.splitlines()
    file = f"{out}/tables/predictions/mine/left_out.csv"
    assert (
        left_out
        == f"Note: 1 of 202 rows is left out (the prediction or a probability is missing): {file}"
    )
    assert unknown == "Note: 1 case has no group in gender, and counts for other attributes only."
    assert label == "Note: Rates are of the label 1, as none was named by `--positive`."
    assert finding.startswith("True positive rate differs by gender: 100.0 % for woman")
    metrics = [words.partition(" differ")[0] for words in others]
    assert metrics == ["- Accuracy", "- Selection rate", "- Calibration error"]
    assert report == f"Report: {out}/report.html" and (out / "report.html").is_file()
    assert (out / "card.md").read_text().startswith("# p\n")
    assert all(path.stat().st_size for path in out.rglob("*") if path.is_file())
    assert not run("predictions", tmp_path / "p.csv", *words)
    before = (out / "report.html").read_bytes()
    assert run("predictions", tmp_path / "p.csv", *words, "--threshold", "0.3") == 2
    error = capsys.readouterr().err.splitlines()[-1]
    problem = "`--out` holds the result of another audit, with `--threshold` 0.5, not 0.3; name a"
    problem += " new or an empty folder."
    assert error == f"error: {out}: {problem}" and (out / "report.html").read_bytes() == before


def test_an_audit_of_a_model_that_fails_fails_after_its_report(tmp_path, capsys):
    model, out = save_broken(tmp_path / "model"), tmp_path / "audit"
    pairs = REPOSITORY / "resources/demo/stereotypes/pairs.csv"
    assert run("audit", model, "--pairs", pairs, "--out", out) == 2
    told = capsys.readouterr()
    assert told.err.splitlines()[-1].startswith(f"error: {model}: the model fails on its inputs;")
    assert "The model fails on its inputs (shape " in told.out and (out / "report.html").is_file()


@pytest.mark.parametrize(
    ("command", "function"),
    [(cli.audit, api.audit_pairs), (cli.predictions, api.audit_predictions)],
)
def test_a_command_has_the_defaults_of_its_function(command, function):
    ours, theirs = (inspect.signature(one).parameters for one in (command, function))
    pairs = [(one.default, theirs[name].default) for name, one in ours.items() if name in theirs]
    known = [pair for pair in pairs if type(pair[0]) in (int, float) or pair[0] == "cpu"]
    assert known and all(ours == theirs for ours, theirs in known)


@pytest.mark.parametrize("task", cli.STARTS)
def test_init_writes_a_configuration_that_is_one(task, tmp_path, monkeypatch, capsys):
    assert not run("init", tmp_path / "new", "--task", task)
    path = tmp_path / "new" / f"{task}.yaml"
    advice, place = capsys.readouterr().out.splitlines()
    assert place == f"Configuration: {path}" and f"then: evenhand run {path} (other" in advice
    assert advice.endswith("; every key is explained in docs/config.md)")
    assert f" {task}" not in advice.partition("--task")[2]
    text = path.read_text()
    for each in (text, text.replace("        # identity", "        identity")):
        complete(yaml.safe_load(each), read_schema(SCHEMA))
    assert ("overlapping: true" in text) == (task == "text")
    assert yaml.safe_load(text)["results"] == f"results/{task}"  # tasks of one folder
    assert run("init", tmp_path / "new", task) == 2  # nothing is overwritten
    monkeypatch.chdir(tmp_path)
    assert run("init", task, "--task", task) == 0  # a folder that is called so


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["predictions", "none.csv", "--label", "y", "--group", "g", "--prediction", "p"],
         "no such file"),
        (["predictions", "p.csv", "--label", "y", "--prediction", "p"],
         "`--group` is missing; the columns: y, p and gender."),
        (["predictions", "p.csv"], "error: `--label`, `--group` and `--prediction` are missing; "
         "give either `--prediction` or `--probability`; the columns: "),
        ([*PREDICTIONS, "--out", "p.csv"], "error: p.csv: `--out` is a file; name a new"),
        ([*PREDICTIONS, "--out", "."], ".: `--out` has other files, such as bad.yaml; name a new"),
        ([*PREDICTIONS, "--out", "/proc/x"], "error: /proc/x: cannot be read or written"),
        (["extract", "p.csv", "--language", "en", "--out", "p.csv"], "p.csv: `--out` is a file"),
        (["extract", "p.csv"], "`--language` is missing; give `--language` and `--attribute` of one"
         " of de gender, en gender, ja gender, zh age, zh gender, zh region, or your own `--pack`"),
        (["init", "p.csv"], "error: p.csv: cannot be read or written (File exists)"),
        (["audit", "none/", "--pairs", "p.csv"], "none/ is no folder, and no name on the hub"),
        (["audit", "m", "--pairs", "p.csv", "--language", "English"], "`--language` is 'Eng"),
        (["audit", "p.csv", "--pairs", "p.csv"], "p.csv: is a file, and a model is a folder"),
        ([*PREDICTIONS[:1], "empty.csv", *PREDICTIONS[2:]], "empty.csv: is empty"),
        (["predictions", "n.csv", *PREDICTIONS[2:], "--bins", "age"], "`--bins` is 'age', wh"),
        (["predictions", "n.csv", *PREDICTIONS[2:], "--bins", "age=inf"], "e=inf', which is not"),
        (["predictions", "n.csv", *PREDICTIONS[2:], "--bins", "age=a"],
         "`--bins` is 'age=a', which is not a column with borders; write numb"),
        (["predictions", "n.csv", *PREDICTIONS[2:4], "--group", "g", "--probability", "p"],
         "which has no =; write LABEL=COLUMN for each label, as `--probability yes=p1 no=p0`."),
        (["init", "--task", "all"], "there is no task 'all'"),
        (["init", "text"], "error: text is a task; write `evenhand init . text`."),
        (["run", "-n"], "error: no configuration is named, and this folder has bad.yaml, "
         "bins.yaml, ok.yaml, people.yaml and western.yaml; write `evenhand run bad.yaml`; the "),
        (["why"], "write `evenhand why bad.yaml`; the demo needs a folder without a conf"),
        (["run", "none.yaml"], "there is no such configuration"),
        (["compare", "logs", "logs"], "logs: holds no table, so there is nothing to compare"),
        (["compare", "v1"], "error: HEAD is missing; see `evenhand compare --help`."),
        (["compare", "a", "b", "c"], "nothing takes the argument c; see `evenhand compare --help`"),
        (["compare", "a", "b", "--gate"], "error: Parameter --gate requires an argument; see "),
        (["verify", "a", "b"], "nothing takes the argument b; see `evenhand verify --help`"),
        (["verify", "--restor"], "Unknown option: --restor. Did you mean --restore?; see `ev"),
        (["verify", "none"], "error: none: holds no record of a run; name the results folder."),
        (["run", "logs", "--cores", "1"], "error: logs: is a folder; name a YAML file, such as"),
        (["run", "p.csv"], "error: p.csv: is no YAML configuration; name a YAML file, such as"),
        (["run", "bad.yaml", "-n"], "error: bad.yaml: predictions.p.prediction is missing; giv"),
        (["why", "bad.yaml"], "error: bad.yaml: predictions.p.prediction is missing; give either"),
        (["run", "bins.yaml"], "p.bins names a, which is none of `groups`; they are gender; na"),
        (["run", "western.yaml"], "error: w.csv:3: is not UTF-8 but seems to be windows-1252; "),
        (["run", "people.yaml", "-n"], "error: w.csv:3: is not UTF-8 but seems to be windows-1252"),
        (["predictions", "p.csv", "q.csv"], "takes the argument q.csv, as one file, or one folder"),
        (["predictions", "p.csv", "--label", "y1", "y2", "--group", "g"],
         "nothing takes the argument y2, as --label takes one column: audit each label by itself;"),
        ([*PREDICTIONS, "--delta", "5", "6"], "the argument 6, as --delta takes one value; see"),
        ([*PREDICTIONS, "--delta", "5%"], 'Invalid value for --delta: unable to convert "5%" into'),
        ([*PREDICTIONS[:-1], "gender", "--groups", "g"], "Unknown option: --groups. Did you mean "),
        (["audit", "m", "--pairs", "p.csv", "--foo", "x"], "error: Unknown option: --foo; see `ev"),
        (["nosuch"], "compare, verify and certify; see `evenhand --help`."),
        (["audits"], "Did you mean \"audit\"? The commands are audit, predictions,"),
        (["audit", "--pairs", "p.csv"], "error: MODEL is missing; see `evenhand audit --help`."),
        (["audit", "m"], "error: `--pairs` is missing; see `evenhand audit --help`."),
        (["audit", "m", "--pair", "x"], "error: Unknown option: --pair. Did you mean --pairs?; "),
        (["audit", "m", "--pair=x"], "error: Unknown option: --pair. Did you mean --pairs?; "),
        (["audit", "m", "--pairs"], "error: Command \"audit\" parameter --pairs requires an arg"),
        (["run", "ok.yaml", "--profile=slrum"],
         "error: `--profile` is slrum, where no profile.yaml is; did you mean slurm?\n"),
        (["why", "ok.yaml", "--profile", "logs"], "no profile.yaml is; name a folder that has on"),
        (["run", "ok.yaml", "--cores", "0"], "error: `--cores` is 0; give a whole number from 1 o"),
        (["run", "ok.yaml", "--jobs", "-1"], "error: `--jobs` is -1; give a whole number from 1 o"),
        (["run", "ok.yaml", "--cores", "x"], "must be integer or 'all'; its options are listed by"),
        (["run", "ok.yaml", "--config", "a=1"], "`--config` is 'a=1', which sets no key; write K"),
        (["run", "ok.yaml", "--config", "results=p.csv/x"], "error: p.csv/x: no results can be wr"),
        (["run", "ok.yaml", "--directory", "/proc", "--config", "results=/tmp"],
         "error: /proc: no results can be written there (No such file or directory); start it in"),
        (["why", "ok.yaml", "--directory", "/proc"], "error: /proc: no results can be written"),
        (["certify", "--out", "p.csv"], "error: p.csv: no results can be written there (Not a di"),
        (["run", "ok.yaml", "--config", "a"], "`--config` is 'a', which sets no key; write KEY="),
        (["run", "ok.yaml", "--nosuch"], "error: snakemake: unrecognized arguments: --nosuch; it"),
        (["run", "ok.yaml", "--res", "x"], "error: snakemake: `--res` cannot be 'x'; its optio"),
        (["run", "ok.yaml", "--set-threads", "x"], "snakemake: `--set-threads` cannot be 'x'; its"),
        (["run", "ok.yaml", "--res", "mem=x"], "snakemake: `--res` cannot be 'mem=x'; its opti"),
        (["why", "ok.yaml", "--res", "x"], "error: snakemake: `--res` cannot be 'x'; its optio"),
        (["why", "ok.yaml", "--cores", "x"], "must be integer or 'all'; its options are listed by"),
        (["run", "ok.yaml", "--configfile=b.yaml"], "`--configfile` has no effect on a run; name"),
        (["extract", "p.csv", "--language", "xx"], "there is no pack for xx and gender"),
        (["extract", "none"], "error: none: there is no such file or folder"),
        (["predictions", "logs", "--label", "y"], "logs: has no log of lm-evaluation-harness (sam"),
        (["predictions", "p.csv", "--prediction", "p0", "p1"], "`--prediction` takes one column; "
         "for probabilities by class use `--probability` LABEL=COLUMN."),
        (["predictions", "log.csv"], "log.csv: looks like a log of lm_eval saved as CSV; name"),
        (["predictions", "pairs.csv"], "error: pairs.csv: has pairs of sentences, not predictions;"
         " audit a model by `evenhand audit MODEL --pairs pairs.csv`."),
        (["predictions", "results.json"], "results.json: has the results of tasks, not their samp"),
        (["predictions", ""], "error: an argument is blank; give it a value, or le"),
        ([*PREDICTIONS[:-1], "gender,p"], "names; name gender and p without a comma."),
        (["predictions", "d.jsonl", "--label", "y"], "error: d.jsonl: there is no such file"),
        (["predictions", "results.json", "--label", "y"], "is read as a log of lm-evaluation-har"),
        (["extract", "pj.pdf", "--language", "en"], "the corpus has no file that can be read; "),
        (["predictions", "pj.csv", *PREDICTIONS[2:]], "pj.csv: is JSON, no CSV or Parquet file; "),
        ([*PREDICTIONS, "--delta", "-1"], "error: `--delta` is -1.0; it must be a number, at le"),
        ([*PREDICTIONS, "--bins", "my_age=50,30"], "which does not ascend; write [30, 50]"),
        ([*PREDICTIONS[:-1], "sex"], "p.csv: has no column 'sex', which `--group` names; its"),
        ([*PREDICTIONS, "--probability", "1=p"], "`--prediction` has no effect beside `--prob"),
        ([*PREDICTIONS[:4], "--group", "gender", "--probability", "0=p0,1=p", "1=q"],
         "error: `--probability` names 1 twice; keep one of the two"),
        (["predictions", "p.csc", *PREDICTIONS[2:]], "no such file; did you mean p.csv?\n"),
        ([*PREDICTIONS, "--counterfactual-of", "y"],
         "`--counterfactual-of` has no effect without `--id`; name that, too, or remove it"),
        ([*PREDICTIONS, "--bins", "a=3", "a=4"], "`--bins` names a twice; keep one of the two"),
        ([*PREDICTIONS, "--positive", "2"], "p.csv: `--positive` is 2, which is no value of y; c"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(words, problem, capsys, tmp_path, monkeypatch):
    for program in ("compare.compare_results", "core.verify"):
        monkeypatch.delitem(sys.modules, f"evenhand.{program}", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    Path("p.csv").write_text(ROWS)
    Path("empty.csv").write_text("")
    Path("log.csv").write_text("doc_id,doc,target\n0,{},a\n")
    Path("pairs.csv").write_text("sent_more,sent_less\nShe cooks.,He cooks.\n")
    Path("results.json").write_text('{"results": {"bbq": {}},\n "config": {}}\n')
    Path("pj.pdf").touch()
    Path("pj.csv").write_text('{"y": 1, "p": 0.9}\n')
    Path("bad.yaml").write_text("predictions: {p: {files: [p.csv], label: y, groups: [gender]}}")
    bins = "{p: {files: [p.csv], label: y, prediction: p, groups: [gender], bins: {a: [1]}}}"
    Path("bins.yaml").write_text(f"predictions: {bins}")
    Path("ok.yaml").write_text(f"predictions: {bins.replace(', bins: {a: [1]}', '')}")
    Path("western.yaml").write_text(Path("ok.yaml").read_text().replace("p.csv", "w.csv"))
    table = "{format: table, files: [w.csv], label: y, positive: '1', attribute: gender}"
    Path("people.yaml").write_text(f"individual_fairness: {{datasets: {{t: {table}}}}}")
    Path("w.csv").write_bytes("y,p,gender\n1,0.5,men\n0,0.5,Mädchen\n".encode("cp1252"))
    assert run(*words) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and problem in error and error.count("\n") == 1


def test_the_demo_runs_beside_yaml_files_of_other_programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("compose.yaml").write_text("services: {web: {}}\n")
    Path(".mine.yaml").write_text("results: out\n")
    assert cli._with_config(("-n",)) == (REPOSITORY / "config/config.yaml", ("-n",))


@pytest.mark.parametrize("word", ["--profile=slurm", "--profile slurm", "--profile ./slurm"])
def test_a_profile_is_the_folders_own_or_else_the_installed_one(
    word, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("snakemake_executor_plugin_slurm")
    monkeypatch.chdir(tmp_path)
    if is_own := word.endswith("./slurm"):
        shutil.copytree(REPOSITORY / "profiles/slurm", "slurm")
    _, options, _ = cli._options(cli._with_profiles(["all", *word.split()]))
    folder = Path("slurm") if is_own else REPOSITORY / "profiles/slurm"
    assert Path(options.slurm_partition_config) == folder / "partitions.yaml"
    if is_own:
        Path("slurm", "partitions.yaml").unlink()
        predictions = "{files: [p.csv], label: y, prediction: p, groups: [g]}"
        Path("mine.yaml").write_text(f"predictions: {{mine: {predictions}}}")
        Path("p.csv").write_text(ROWS.replace("gender", "g"))
        assert run("run", "mine.yaml", *word.split(), "-n") == 2
        problem = "error: snakemake: Partition configuration file not found, given was partitions."
        assert capsys.readouterr().err.startswith(problem)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("compare", "--gates "),
        ("verify", "--restore "),
        (
            "run",
            "--cores 8 (by default 2), -n (count the jobs only), --profile NAME (of a cluster)",
        ),
        ("run", "--config results=FOLDER; snakemake --help lists all."),
        ("why", "As of evenhand run: a configuration (YAML), files or rules, and options of "),
        ("extract", "'evenhand[ja]'"),
    ],
)
def test_the_help_of_a_command_has_its_options(command, option):
    words = [sys.executable, "-m", "evenhand", command, "--help"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert option in " ".join(said.replace("│", " ").split()) + " "


def test_an_extraction_of_nothing_names_the_language(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("She is a nurse.\n")
    assert not run("extract", tmp_path / "a.txt", "--language", "zh", "--out", tmp_path / "out")
    finding = capsys.readouterr().out.splitlines()[0]
    assert finding.endswith(
        "of 0 sentences read (with copies); texts were read as --language zh --attribute gender: is"
        " it right?"
    )
    (tmp_path / "a.txt").write_text("Man liest heute ein Buch.\n" + "Wir essen jetzt gern.\n" * 30)
    assert not run("extract", tmp_path / "a.txt", "--language", "en", "--out", tmp_path / "out")
    finding = capsys.readouterr().out.splitlines()[0]
    assert finding.startswith("0 of 1 different sentences") and finding.endswith("is it right?")


def test_wrapped_lines_are_noted_and_joined(tmp_path, capsys):
    lines = "".join(f"On day\n{i} she was walking through\nthe town.\n\n" for i in range(20))
    (tmp_path / "a.txt").write_text(lines)
    words = ["extract", tmp_path / "a.txt", "--language", "en", "--out", tmp_path / "out"]
    assert not run(*words)
    hint = "20 of 20 do not end as a sentence: if lines are wrapped, read them with `--paragraphs`"
    assert hint in capsys.readouterr().out
    assert not run(*words, "--paragraphs", "blank_line")
    assert "20 of 20 different sentences" in capsys.readouterr().out
    rows = pd.read_csv(tmp_path / "out" / "sentences.csv")
    assert "On day 1 he was walking through the town." in {*rows["swapped_sentence"]}


def test_an_extraction_names_the_field_of_the_text_and_lists_the_problems(tmp_path, capsys):
    folder, out = tmp_path / "news", tmp_path / "out"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"content": "She is a nurse."}\n')
    (folder / "b.pdf").write_bytes(b"%PDF-1.4")
    options = ("extract", folder, "--language", "en", "--out", out)
    assert run(*options) == 2
    assert "set `--text-field` to the field" in capsys.readouterr().err and not out.exists()
    assert not run(*options, "--text-field", "content")
    finding = capsys.readouterr().out.splitlines()[0]
    problems = f"problems with files: {folder}/b.pdf (unknown format: its suffix names no format)"
    assert (
        finding
        == "0 of 1 different sentences with a gender word of the pack are kept, of 1 sentences"
        " read (with copies); " + (f"{problems}; all are in {out}/quarantine.csv.")
    )
    assert (out / "quarantine.csv").read_text().count("\n") == 2
    (folder / "c.jsonl").write_text('{"content": "Une phrase française."}\n')
    assert not run(*options, "--text-field", "content")
    words = f"; 1 file of 2 without such a word: {folder}/c.jsonl."
    assert capsys.readouterr().out.splitlines()[0].endswith(words)
    (folder / "a.jsonl").write_text('{"content": "She is a nurse."}\n{"content": "He')
    assert not run(*options, "--text-field", "content")
    place = "a.jsonl, line 2 (broken json: Unterminated string starting at (character 13 of the "
    assert f"problems with files: {folder}/{place}" in capsys.readouterr().out
    (folder / "c.csv").write_text("body\nShe sings.\n")
    assert not run(*options, "--text-field", "content")
    words = "/quarantine.csv; set `--text-field` to the field or column that holds the text"
    assert words in capsys.readouterr().out


def test_the_words_and_reasons_of_an_extraction_can_be_read(tmp_path):
    (tmp_path / "a.txt").write_text("She forgot her coat at the library. The woman met a man.\n")
    assert not run("extract", tmp_path / "a.txt", "--language", "en", "--out", tmp_path / "out")
    rows = pd.read_csv(tmp_path / "out" / "sentences.csv").set_index("sentence")
    words = rows.loc["The woman met a man.", ["reasons", "evidence"]]
    assert words.tolist() == ["several_keywords", "woman, man"]
    spans = json.loads(rows.loc["She forgot her coat at the library.", "spans"])
    assert [span["text"] for span in spans] == ["He", "his"]
    (tmp_path / "b.txt").write_text("她在医院工作了很多年。\n")  # one word is replaced
    assert not run("extract", tmp_path / "b.txt", "--language", "zh", "--out", tmp_path / "zh")
    assert "spans" not in pd.read_csv(tmp_path / "zh" / "sentences.csv")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\xff\xfe", "is not UTF-8"), (b"models: &a {x: *a}\n", "nested deeper than 100 levels")],
)
def test_a_configuration_that_cannot_be_read_is_one_sentence(tmp_path, content, words):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        cli._with_config((str(path),))


def test_a_signal_that_becomes_another_error_ends_the_run_with_its_sentence(monkeypatch, capsys):
    def interrupted(words, signals):  # as Snakemake, which cannot close its event loop
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except SystemExit as error:
            raise RuntimeError("Cannot close a running event loop") from error

    monkeypatch.setattr(cli, "_run", interrupted)
    assert run("run") == 128 + signal.SIGINT
    assert (
        capsys.readouterr().err.splitlines()[-1].startswith("error: stopped by the signal SIGINT")
    )


def test_an_error_without_a_signal_is_raised(monkeypatch):
    monkeypatch.setattr(cli, "_run", lambda words, signals: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["run"])


def test_a_certificate_of_some_problems_keeps_the_others(tmp_path, monkeypatch):
    ran = []
    stopped = subprocess.CompletedProcess([], 3)
    monkeypatch.setattr(cli.subprocess, "run", lambda words: ran.append(words) or stopped)
    for _ in range(2):
        assert run("certify", "--out", tmp_path / "c", "--problems", "tables", "mitigation") == 3
        (tmp_path / "c").mkdir(exist_ok=True)
        (tmp_path / "c/certificate.csv").touch()
    first, second = (words[words.index("--problems") :] for words in ran)
    assert first == ["--problems", "tables", "mitigation"]
    assert second == [*first, "--former", f"{tmp_path}/c"]
