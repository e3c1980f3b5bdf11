"""Each how-to of `docs/`, executed: its files are written and its commands run, in their order.

In a how-to, a fenced block ``bash`` holds commands, a block with ``file=NAME`` is written to that
file, and a comment ``<!-- test: WORDS -->`` stands where a person does something: `BY_HAND` does it
here. Blocks without either are only shown.
"""

import json
import re
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.compare.compare_results import compare_results
from evenhand.core.tables import read_package
from harness import REPOSITORY, checkout

BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)(?: file=(?P<file>\S+))?\n(?P<text>.*?)^(?P=indent)```$"
    r"|^ *<!-- test: (?P<hand>.+?) -->$",
    re.M | re.S,
)

HOWTOS = sorted((REPOSITORY / "docs").glob("howto_*.md"))


def by_hand(words: str) -> Callable:
    """Remember a function as what a person does where a how-to says `words`."""

    def remember(function: Callable[[Path], None]) -> Callable[[Path], None]:
        BY_HAND[words] = function
        return function

    return remember


BY_HAND: dict[str, Callable[[Path], None]] = {}


@by_hand("the new table is in the report, the exports, the provenance and compare")
def look_for_the_table(root: Path) -> None:
    results = root / "results/mine"
    page = (results / "report/individual_fairness.html").read_text(encoding="utf-8")
    _, more = page.split('<section id="more-tables"')
    for words in ("Ratio of the groups&#39; positive rates", "Feldman et al. 2015", "1 is parity"):
        assert words in more, words
    assert "table_4" not in more
    for suffix in ("csv", "tex", "md"):
        assert f'href="tables/individual_parity_ratio.{suffix}"' in more
        assert (results / f"report/tables/individual_parity_ratio.{suffix}").is_file()
    declared = read_package(results / "tables/individual")["parity_ratio"]
    assert declared.key[0] == "dataset" and declared.numbers()
    traced = json.loads((results / "provenance.json").read_text(encoding="utf-8"))["files"]
    assert any("tables/individual" in one["file"] for one in traced)
    found = compare_results(base=results, head=results)
    (table,) = [one for one in found.tables if one.name == "tables/individual/parity_ratio.csv"]
    assert table.numbers and not table.problem
    assert {one.neutral for one in table.numbers} == {1.0}


def model(folder: Path, seed: int) -> None:
    """A small English masked model: a few seconds of training."""
    from evenhand.learning.train_language_model import train_language_model

    texts = sorted((REPOSITORY / "resources/demo/english").glob("*.txt"))
    settings = ["tokens=wordpiece", "layers=1", "steps=60"]
    train_language_model(files=texts, out=folder, kind="masked", settings=settings, seed=seed)


@by_hand("a model of the auditor's own lies in models/mine")
def first_model(root: Path) -> None:
    (root / "models").mkdir()
    model(root / "models/mine", 0)


@by_hand("the model is trained on")
def second_model(root: Path) -> None:
    import torch
    from safetensors.torch import load_file

    folder = root / "models/mine"
    shutil.rmtree(folder)
    model(folder, 1)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


@by_hand("three people fill in their sheets")
def fill_sheets(root: Path) -> None:
    import pandas as pd

    filled = root / "annotation/2026/filled/round_1"
    filled.mkdir(parents=True)
    for sheet in sorted((root / "results/2026/slguset/annotation/round_1/sheets").glob("*.csv")):
        if sheet.name != "handed_out.csv":
            table = pd.read_csv(sheet, dtype=str, encoding="utf-8-sig")
            table["answer"] = "accept"
            table.to_csv(filled / sheet.name, index=False, encoding="utf-8-sig")


@pytest.mark.parametrize("howto", HOWTOS, ids=lambda path: path.stem)
def test_howto_does_what_it_says(howto, tmp_path):
    made = checkout(tmp_path)
    shutil.copytree(REPOSITORY / "tests", made.root / "tests")
    steps = list(BLOCK.finditer(howto.read_text(encoding="utf-8")))
    ran = 0
    for step in steps:
        text = textwrap.dedent(step["text"] or "")
        if step["hand"]:
            BY_HAND[step["hand"]](made.root)
        elif step["file"]:
            made.write(step["file"], text)
        elif step["language"] == "bash":
            done = made.shell(text)
            assert done.returncode == 0, f"{text}\n{done.stdout[-3000:]}"
            ran += 1
    assert ran, f"{howto.name} has no command"
