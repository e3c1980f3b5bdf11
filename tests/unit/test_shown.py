"""What `snakemake --report` shows: the table agrees with the rules, the captions with Snakemake."""

import re
from pathlib import PurePosixPath

import pytest

from evenhand.plan_report import read_shown


@pytest.fixture
def folder(repository):
    return repository / "workflow" / "report"


def test_the_table_tells_of_the_outputs_that_rules_mark(repository, folder):
    rules = sorted((repository / "workflow/rules").glob("*.smk"))
    texts = [rule.read_text(encoding="utf-8") for rule in rules]
    marked = re.findall(r'(?:folder_|each_)?in_report\(\s*"([^"]+)"', "".join(texts))
    assert len(marked) == len(set(marked)) > 10
    assert set(marked) == read_shown(folder / "shown.csv").keys()


def test_every_page_and_table_is_marked(repository, folder):
    shown = read_shown(folder / "shown.csv")
    for rule in sorted((repository / "workflow/rules").glob("*.smk")):
        text = rule.read_text(encoding="utf-8")
        for block in re.findall(r"^    output:\n((?: {8}.*\n)+)", text, re.M):
            for file in re.findall(
                r'"(<results>/(?:tables/[^"]+\.csv|report/[^"]+\.html))"', block
            ):
                assert file in shown


def test_labels_hold_no_wildcard_that_the_file_lacks(folder):
    for file, arguments in read_shown(folder / "shown.csv").items():
        names = set(re.findall(r"\{(\w+)\}", " ".join(arguments["labels"].values())))
        folder = set() if PurePosixPath(file).suffix else {"table"}  # an entry for each table
        assert names <= {*re.findall(r"\{(\w+)\}", file), *folder}


def test_every_caption_is_used(folder):
    used = {arguments["caption"] for arguments in read_shown(folder / "shown.csv").values()}
    there = {f"../report/{path.name}" for path in folder.glob("*.rst")}
    assert there - used == {"../report/workflow.rst"}
