"""Checkouts that tests may change and run; the means are in `tests/harness.py`."""

from pathlib import Path

import pytest

from harness import TRAINING, Checkout, checkout, once

TOY = Path(__file__).parent / "toy"

#: Every system, with as little of each as shows what depends on what.
CONFIG = """\
offline: true
results: results
models:
  tiny: {language: zh, train: {layers: 1, width: 16, heads: 2, steps: 3, batch: 4}}
  tiny-en: {language: en, path: mine/tiny-en}
inference: {delta: 4}
stereotypes:
  null_seeds: 3
  sets:
    pairs: {format: crows_pairs, file: resources/demo/stereotypes/pairs.csv, language: en}
slguset:
  shard_megabytes: 0.02
  corpora:
    chenhe: {files: [resources/demo/newspapers/chenhe]}
  filters: [names_jieba, pair_fit, coreference, biology]
  annotation: {round: first, sentences_per_pair: 4, filled: filled}
  published: {file: resources/demo/slguset_published.csv}
individual_fairness:
  datasets:
    loans:
      {format: table, files: [mine/loans.csv], label: decision,
       positive: approved, attribute: gender, features: [age, monthly_income]}
  methods: [mlp, majority]
  training: mine/training.csv
  lambdas: [1]
  seeds: 1
legal:
  datasets:
    swiss:
      kind: fscs
      parts: {cases: {format: swiss_judgment, files: [mine/cases.jsonl, mine/more]}}
  permutations: 100
  audit: {per_rule: 2}
"""


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("workflow")


@pytest.fixture(scope="session")
def toy_template(tmp_path_factory) -> Checkout:
    """The library with six tiny stages and a workflow of their own, run once."""

    def make(root: Path) -> None:
        made = checkout(root)
        for path in sorted(TOY.rglob("*")):
            name = path.relative_to(TOY).as_posix().replace("stages/", "workflow/evenhand/toy/")
            if path.is_file() and "__pycache__" not in name:
                made.write(name, path.read_text(encoding="utf-8"))
        made.run()

    return Checkout(once(tmp_path_factory, "toy", make))


@pytest.fixture
def toy(toy_template, tmp_path) -> Checkout:
    """A copy of the toy workflow, up to date."""
    return toy_template.copy(tmp_path / "toy")


@pytest.fixture(scope="session")
def demo_template(tmp_path_factory) -> Checkout:
    """The repository with a small configuration, run once on four cores."""
    arguments = ("--configfile", "config/small.yaml")

    def make(root: Path) -> None:
        made = checkout(root, arguments)
        made.write("config/small.yaml", CONFIG)
        made.write("mine/training.csv", TRAINING)
        made.write("mine/loans.csv", made.read("resources/demo/tabular/loans.csv"))
        lines = made.read("resources/demo/legal/fscs/cases.jsonl").splitlines(keepends=True)
        made.write("mine/cases.jsonl", "".join(lines[:20]))
        made.write("mine/more/first.jsonl", "".join(lines[20:40]))
        made.write("mine/more/second.jsonl", "".join(lines[40:]))
        made.shell(
            "python -m evenhand.core.run learning.train_language_model --kind causal"
            " --settings layers=1 width=16 heads=2 steps=5 batch=4 vocabulary=400"
            " --out mine/tiny-en --files resources/demo/english/town_and_travel.txt"
        ).check_returncode()
        made.run(cores=4)

    return Checkout(once(tmp_path_factory, "demo", make), arguments)


@pytest.fixture
def demo(demo_template, tmp_path) -> Checkout:
    """A copy of the small demo, up to date."""
    return demo_template.copy(tmp_path / "demo")
