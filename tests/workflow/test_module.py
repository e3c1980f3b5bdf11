"""Evenhand as a module of another workflow, in Snakemake's usual way."""

import os
import re
import shutil
import subprocess

import pytest

import warm

MODULE = """configfile: "mine.yaml"

module evenhand:
    snakefile: {snakefile}
    config: config

use rule * from evenhand as evenhand_*
"""

MINE = """rule mine:
    input: "results/report/index.html", "results/tables/predictions/mine"
    output: "mine.txt"
    shell: "wc -c {input} > {output}"

rule other:
    output: "other.txt"
    shell: "echo > {output}"

"""

CONFIG = """predictions:
  mine: {files: [p.csv], label: y, prediction: p, groups: [g]}
"""


GITHUB = 'github("a-team/evenhand", path="Snakefile", tag="v1")'


@pytest.fixture
def on_github(tmp_path, repository):
    """Return what makes git find the workflow files, as they are now, at GitHub's address."""
    clone, server = tmp_path / "clone", tmp_path / "server"
    shutil.copytree(repository / "workflow" / "rules", clone / "workflow" / "rules")
    shutil.copy(repository / "Snakefile", clone)
    hosted = server / "a-team" / "evenhand"
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "All"], ["tag", "v1"]):
        subprocess.run(["git", *words], cwd=clone, check=True)
    subprocess.run(["git", "clone", "-q", "--bare", clone, hosted], check=True)
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_VALUE_0": "https://github.com/"}
    settings["GIT_CONFIG_KEY_0"] = f"url.{server}/.insteadOf"
    return settings | {"XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.mark.parametrize("is_first", [True, False])
def test_results_are_inputs_of_rules_of_ones_own(is_first, on_github, tmp_path, repository):
    rows = "".join(f"{n % 2},{n % 3 % 2},{'ab'[n % 5 % 2]}\n" for n in range(60))
    (tmp_path / "p.csv").write_text("y,p,g\n" + rows)
    (tmp_path / "mine.yaml").write_text(CONFIG)
    module = MODULE.format(snakefile=repr(str(repository / "Snakefile")) if is_first else GITHUB)
    (tmp_path / "Snakefile").write_text(MINE + module if is_first else module + "\n" + MINE)
    words = [warm.folder() / "snakemake", "--cores", "1"]

    def printed(*others):
        done = subprocess.run(
            [*words, *others],
            cwd=tmp_path,
            env=os.environ | on_github,
            capture_output=True,
            text=True,
        )
        assert not done.returncode, done.stdout + done.stderr
        return done.stdout + done.stderr

    said = printed("--dry-run")
    jobs = {job.split(":")[0]: job for job in re.split("^(?:local)?rule ", said, flags=re.M)}
    assert "evenhand_audit_predictions" in jobs and "localrules" not in said
    assert ("mine" in jobs, "evenhand_all" in jobs) == (is_first, not is_first)
    assert "mem_mb=2000" in jobs["evenhand_write_page"]
    if is_first:
        assert not re.search("log: |benchmark: |mem_mb|runtime", jobs["mine"])
        printed("other")
        assert "Nothing to be done" in printed("--dry-run", "other")
