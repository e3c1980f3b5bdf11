"""The wheel: built, installed into an environment of its own, and run in an empty folder."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import warm
from harness import PARTS, REPOSITORY

CONFIG = """
results: out
individual_fairness:
  datasets:
    loans:
      {format: table, files: [loans.csv], label: decision, positive: approved, attribute: gender,
       features: [age, savings, loan]}
  methods: [majority, logistic_regression]
  seeds: 2
  eidig: {seeds: 0}
"""


def forks() -> dict[str, str]:
    """Jobs are forks of a process that has imported their packages."""
    return {"EVENHAND_PROGRAMS": str(warm.folder())}


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """The Python of a new environment with the wheel, and the packages of this one."""
    checkout, folder = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("installed")
    for part in (*PARTS, "docs", "setup.py", "README.md", "LICENSE"):
        copy = shutil.copytree if (REPOSITORY / part).is_dir() else shutil.copy
        copy(REPOSITORY / part, checkout / part)
    build = "from setuptools.build_meta import build_wheel; build_wheel('dist')"
    _call(checkout, sys.executable, "-c", build)
    _call(folder, sys.executable, "-m", "venv", "--without-pip", "venv")
    python = folder / "venv" / "bin" / "python"
    wheel = str(next((checkout / "dist").glob("*.whl")))
    pip = (sys.executable, "-m", "pip", "--python", python)
    _call(folder, *pip, "install", "--no-deps", "--no-index", wheel)
    site = next((folder / "venv" / "lib").glob("python*/site-packages"))
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def forked(folder, python, *words, check=True) -> str:
    """Call the installed `evenhand` in a fork, which saves the imports of a process."""
    site = sysconfig.get_path("purelib", vars={"base": python.parent.parent})
    command = (warm.folder() / "python", "-m", "evenhand", *words)
    return _call(folder, *command, check=check, PYTHONPATH=site, **forks())


def _call(folder, *command, check=True, **variables) -> str:
    named = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=named | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0 or not check, done.stdout
    return done.stdout


def test_the_workflow_runs_in_an_empty_folder(python, tmp_path):
    loans = REPOSITORY / "resources/demo/tabular/loans.csv"
    shutil.copy(loans, tmp_path)
    (tmp_path / "mine.yaml").write_text(CONFIG)
    run = (python.parent / "evenhand", "run", "mine.yaml")
    # the other jobs are no processes
    _call(tmp_path, *run, "out/tabular/loans/data.parquet", "--cores", "1")
    said = _call(tmp_path, *run, "--cores", "1", **forks())
    finding, report = said.strip().splitlines()[-2:]
    assert finding.startswith("- ")
    assert report == f"The report: {tmp_path}/out/report/index.html"
    assert "Nothing would run." in forked(tmp_path, python, "why", "mine.yaml")
    assert "0 differ" in forked(tmp_path, python, "verify", "out")
    # a fork has no more files open than a process
    (tmp_path / "files.py").write_text("import os; print(os.listdir('/proc/self/fd'))")
    programs = (sys.executable, warm.folder() / "python")
    assert len({_call(tmp_path, program, "files.py") for program in programs}) == 1


def test_an_audit_in_an_empty_folder_is_that_of_the_workflow(python, tmp_path):
    from evenhand.learning.train_language_model import train_language_model

    texts = sorted((REPOSITORY / "resources/demo/english").glob("*.txt"))
    settings = ["steps=60", "width=32", "layers=1", "heads=2"]
    train_language_model(files=texts, out=tmp_path / "tiny", kind="causal", settings=settings)
    shutil.copy(REPOSITORY / "resources/demo/stereotypes/pairs.csv", tmp_path)
    said = forked(tmp_path, python, "audit", "tiny", "--pairs", "pairs.csv")
    finding, _, note, report = said.strip().splitlines()[-4:]
    assert finding.startswith("Log-likelihood: ") and report == "Report: audit/report.html"
    assert note.startswith("Note: 2 of 90 pairs are left out (a sentence is empty: 1; the first is")
    (tmp_path / "mine.yaml").write_text(
        "models: {tiny: {path: tiny, language: en}}\n"
        "stereotypes: {sets: {pairs: {format: crows_pairs, file: pairs.csv, title: Pairs}}}\n"
    )
    tables = "results/tables/pairs/pairs"
    forked(tmp_path, python, "run", "mine.yaml", tables, "--cores", "1")
    made = sorted((tmp_path / tables).glob("[!.]*"))
    assert made
    for file in made:
        audited = tmp_path / "audit" / file.relative_to(tmp_path / "results")
        assert audited.read_bytes() == file.read_bytes(), file


def test_the_demo_can_be_planned_in_an_empty_folder(python, tmp_path):
    said = forked(tmp_path, python, "run", "-n", "--quiet", "rules")
    assert "score_pairs" in said


def test_a_missing_configuration_is_one_sentence(python, tmp_path):
    said = forked(tmp_path, python, "run", "mine.yaml", check=False)
    assert (
        said
        == "error: mine.yaml: there is no such configuration; write one with `evenhand init`.\n"
    )
    (tmp_path / "mine.yaml").write_text("reslts: out\n")
    said = forked(tmp_path, python, "run", "mine.yaml", check=False)
    path = said.partition("every key is explained in ")[2].removesuffix(".\n")
    assert path.endswith("/evenhand_workflow/docs/config.md") and Path(path).is_file()
