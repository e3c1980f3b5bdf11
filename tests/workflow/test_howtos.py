"""Each how-to of `docs/`, executed: its files are written and its commands run, in their order.

In a how-to, a fenced block ``bash`` holds commands, a block with ``file=NAME`` is written to that
file, and a comment ``<!-- test: WORDS -->`` stands where a person does something: `BY_HAND` does it
here. Blocks without either are only shown.
"""

import json
import random
import re
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.comparison.compare_results import compare_results
from evenhand.core.config import complete, read_config, read_schema
from evenhand.core.places import SCHEMA
from evenhand.core.tables import read_package
from evenhand.legal.declaration import read_dataset
from evenhand.legal.read_cases import read_cases
from evenhand.legal.records import read_records
from evenhand.plan_legal import expand
from harness import PROBES, REPOSITORY, TRAINING, checkout

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

SHEETS = {n: f"results/2026/slguset/annotation/round_{n}/sheets" for n in (1, 2)}

#: Where the new table is looked for.
SHOWN = " ".join(
    f"results/mine/{name}"
    for name in ("report/individual_fairness.html", "report/tables", "provenance.json")
)

#: What costs less and does the same: shorter trainings, and a fork in place of a process, which
#: has imported what pytest would rewrite.
CHEAPER = (
    (r"\bsteps: (\d+)00\b", r"steps: \g<1>0"),
    (r"^pytest\b", "python -m pytest -W ignore::pytest.PytestAssertRewriteWarning"),
    # of runs whose (other) pages nothing reads; `demo_template` has those of a round that waits
    (r"^snakemake all (?=--configfile audit_2)", "snakemake results/audit_2/provenance.json "),
    (r"^snakemake all (?=--configfile mine.yaml)", "snakemake results/mine/provenance.json "),
    (r"\Asnakemake all (?=--configfile my.yaml --cores 2\n\Z)", f"snakemake {SHEETS[1]} "),
    (r"(?<=round_2/' my.yaml\n)snakemake all", f"snakemake {SHEETS[2]}"),
    (r"(?<=-k parity_ratio\n)snakemake all", f"snakemake {SHOWN}"),
)


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
    (table,) = [one for one in found.tables if one.table == "tables/individual/parity_ratio.csv"]
    assert table.numbers and not table.problem
    assert {one.neutral for one in table.numbers} == {1.0}


def model(folder: Path, seed: int) -> None:
    """A small English masked model: a few seconds of training."""
    from evenhand.learning.train_language_model import train_language_model

    texts = sorted((REPOSITORY / "resources/demo/english").glob("*.txt"))
    settings = ["tokens=wordpiece", "layers=1", "width=32", "heads=2", "steps=60"]
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
    for sheet in sorted((root / "results/2026/slguset/annotation/round_1/sheets").glob("*.csv")):
        if sheet.name != "handed_out.csv":
            table = pd.read_csv(sheet, dtype=str, encoding="utf-8-sig")
            table["answer"] = "accept"
            table.to_csv(filled / sheet.name, index=False, encoding="utf-8-sig")


@by_hand("biographies lie in bios")
def write_biographies(root: Path) -> None:
    words = {"nurse": ["patients", "a ward"], "surgeon": ["operations", "a clinic"]}
    rng = random.Random(1)
    (root / "bios").mkdir()
    for split, size in (("train", 160), ("dev", 60), ("test", 100)):
        rows = []
        for number in range(size):
            job, gender = rng.choice([*words]), rng.choice("FM")
            told = "nurse" if gender == "F" and rng.random() < 0.4 else job
            text = f"{split.title()} person {number} works with {rng.choice(words[told])}."
            row = {"hard_text": text, "profession": job, "gender": gender}
            rows.append(row | {"n_skills": rng.choice([1, 6, 12, None])})
        rows[0]["hard_text"] = None
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (root / f"bios/{split}.jsonl").write_text(lines, encoding="utf-8")


@by_hand("the rates, the splits and the quarantine are right")
def look_at_biographies(root: Path) -> None:
    import numpy as np
    import pandas as pd
    from fairlearn.metrics import MetricFrame, selection_rate, true_positive_rate

    results = root / "results/bios"
    cases = pd.read_parquet(results / "legal/biasbios/biasbios.parquet").set_index("case_id")
    assert cases["split"].value_counts().to_dict() == {"train": 159, "dev": 59, "test": 99}
    bad = pd.read_parquet(results / "legal/biasbios/records/rows.quarantine.parquet")
    assert bad["reason"].tolist() == ["no_text"] * 3 and {*bad["position"]} == {1}
    page = (results / "report/legal_cases.html").read_text(encoding="utf-8")
    assert "no text 3" in re.sub(r"<[^>]*>", "", page)
    for words in ("court", "judgment", "FairLex"):
        assert words not in page, words
    folder = results / "legal/biasbios/predictions/words/erm/none"
    (file,) = folder.glob("*.parquet")
    said = pd.read_parquet(file).query("seed == 0 and split == 'test'")
    surgeon = np.array([logits[1] > logits[0] for logits in said["logits"]])
    behind = cases.loc[said["case_id"]]
    truth = behind["labels"].str[0].to_numpy() == 1
    metrics = {"selection_rate": selection_rate, "tpr": true_positive_rate}
    frame = MetricFrame(metrics=metrics, y_true=truth, y_pred=surgeon,
                        sensitive_features=behind["gender"].to_numpy())  # fmt: skip
    groups = pd.read_csv(results / "tables/predictions/biasbios_words_erm/groups.csv")
    for name in metrics:
        ours = groups.query("attribute == 'gender' and metric == @name").set_index("group")
        np.testing.assert_allclose(ours["value"], frame.by_group[name], atol=1e-6)
    gaps = pd.read_csv(results / "tables/predictions/biasbios_words_erm/gaps.csv")
    (gap,) = gaps.query("attribute == 'gender' and metric == 'tpr'")["gap"]
    assert abs(gap - frame.difference()["tpr"]) < 1e-6 and gap > 0.2
    assert (results / "report/cases/biasbios.csv").is_file()


@by_hand("the recipes read what they say")
def read_recipes(root: Path) -> None:
    import datasets
    import pandas as pd

    text = [f"Text {number}" for number in range(8)]
    names = ["male", "female", "LGBTQ", "christian", "muslim", "other_religions", "black", "white"]
    identities = {name: [i * 0.3 % 1 for i in range(place, place + 8)]
                  for place, name in enumerate(names)}  # fmt: skip
    civil = {"comment_text": text, "toxicity": [0.1, 0.9] * 4,
             "split": ["train", "val", "test", "train"] * 2}  # fmt: skip
    pd.DataFrame(civil | identities).to_csv(root / "all_data_with_identities.csv")
    labels = datasets.ClassLabel(names=["no", "yes"])
    saved = datasets.Dataset.from_dict(
        {"text": text, "label": [0, 1] * 4, "dialect": ["a", "b", "b", "a"] * 2}
    ).cast_column("label", labels)
    datasets.DatasetDict({"train": saved, "test": saved}).save_to_disk(root / "saved")
    eurlex = {"celex_id": [f"3{i}" for i in range(8)], "title": ["A"] * 8, "text": text,
              "labels": [[1], [2, 3], [], [1, 3]] * 2, "institution": ["C", "P"] * 4,
              "date": pd.date_range("2001-01-01", periods=8)}  # fmt: skip
    pd.DataFrame(eurlex).to_parquet(root / "eurlex.parquet")
    found = {}
    for name in ("civil", "saved", "eurlex"):
        config = complete(read_config(root / f"{name}.yaml"), read_schema(SCHEMA))
        one = config["text"]["datasets"][name]
        one["files"] = [str(root / file) for file in one["files"]]
        one = expand(config)["legal"]["datasets"][name]
        out = {key: root / f"{name}.{key}" for key in ("out", "quarantine", "counts")}
        files = [Path(file) for file in one["parts"]["rows"]["files"]]
        counts = read_cases(files=files, **out, format="declared",
                            declaration=one["declaration"])  # fmt: skip
        assert not counts["left_out"] and not counts["noted"]
        found[name] = read_dataset(out["out"]), [*read_records(out["out"])]
    dataset, records = found["civil"]
    assert [one.name for one in dataset.attributes] == [f"identity_{n.lower()}" for n in names]
    assert dataset.attributes[2].groups == ("LGBTQ", "not LGBTQ")
    assert [one.split for one in records[:3]] == ["train", "dev", "test"]
    assert [one.labels[0] for one in records[:2]] == ["<0.5", "≥0.5"] == [*dataset.labels]
    dataset, records = found["saved"]
    assert dataset.labels == ("no", "yes") and {one.split for one in records} == {"train", "test"}
    dataset, records = found["eurlex"]
    assert dataset.labels == ("1", "2", "3") and dataset.task == "multi_label"
    assert records[1].labels == ("2", "3") and records[2].labels == ()
    assert str(records[1].date) == "2001-01-02" and records[1].text == ("A", "Text 1")


@pytest.mark.parametrize("howto", HOWTOS, ids=lambda path: path.stem)
def test_howto_does_what_it_says(howto, tmp_path):
    made = checkout(tmp_path)
    shutil.copytree(REPOSITORY / "tests", made.root / "tests")
    made.write("resources/iifr/training.csv", TRAINING)
    made.edit(*PROBES)
    steps = list(BLOCK.finditer(howto.read_text(encoding="utf-8")))
    ran = 0
    for step in steps:
        text = textwrap.dedent(step["text"] or "")
        for words, others in CHEAPER:
            text = re.sub(words, others, text, flags=re.M)
        if step["hand"]:
            BY_HAND[step["hand"]](made.root)
        elif step["file"]:
            made.write(step["file"], text)
        elif step["language"] == "bash":
            done = made.shell(text)
            assert done.returncode == 0, f"{text}\n{done.stdout[-3000:]}"
            ran += 1
    assert ran, f"{howto.name} has no command"
