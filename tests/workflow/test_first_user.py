"""What the README and the how-to tell a curator to type, and what she is told."""

import re

import pytest

from harness import checkout

CONFIG = ("--configfile", "config/my_newspapers.yaml")

#: `all` writes the report too, which `test_howtos.py` does.
SHEETS = "results/mine/slguset/annotation/round_1/sheets"


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    made = checkout(tmp_path_factory.mktemp("curator"), CONFIG)
    made.first = made.run(SHEETS)
    return made


def test_the_run_ends_well_at_the_sheets_and_says_what_to_do(curator):
    assert "Round round_1 waits for its annotators: 0 of 3" in curator.first.output
    assert not (curator.root / "results/mine/slguset/slguset.parquet").exists()


def test_it_says_so_again_when_nothing_is_left_to_run(curator):
    again = curator.run(SHEETS)
    assert "Nothing to be done" in again.output
    assert "Round round_1 waits for its annotators" in again.output


def test_the_command_that_freezes_the_round_works_as_printed(curator):
    curator.shell(re.search(r"Freeze the round: (.*)", curator.first.output)[1])
    assert (curator.root / "annotation/mine/filled/round_1/handed_out.csv").is_file()
    assert "Freeze the round" not in curator.run(SHEETS).output


def test_a_mistake_is_told_last_and_once(curator):
    text = curator.read("config/my_newspapers.yaml")
    corpus = "files: [resources/demo/newspapers/wire/stories.jsonl]\n      text_field: body   #"
    curator.write("wrong.yaml", text.replace("files: [resources", f"{corpus} [resources", 1))
    curator.arguments = ("--configfile", "wrong.yaml")
    run = curator.run(SHEETS, check=False)
    assert run.returncode == 1
    tail = run.output[run.output.rindex("error: ") :]
    assert "stories.jsonl: no record has a text in the field 'body'" in tail
    assert tail.count("\n") < 8


def test_a_positive_label_that_is_misspelt_stops_the_job_that_reads(curator):
    rows = [f"A life {n},{('cook', 'nurse')[n % 2]},{'fm'[n // 4 % 2]}" for n in range(12)]
    curator.write("bios.csv", "\n".join(["bio,job,sex", *rows]))
    curator.write(
        "typo.yaml",
        """
        text:
          datasets:
            bios: {files: [bios.csv], text: bio, label: {column: job, task: binary, positive: nurs},
                   attributes: {sex: {column: sex}}}
          classifiers:
            words: {kind: linear, datasets: [bios], objectives: [erm]}
        """,
    )
    curator.arguments = ("--configfile", "typo.yaml")
    run = curator.run("results/legal/bios/bios.parquet", check=False)
    assert run.returncode == 1
    assert (
        "error: bios.csv: `text.datasets.bios.label.positive` is nurs, which is none of the labels;"
        " choose one of cook and nurse; did you mean nurse?"
    ) in run.output
