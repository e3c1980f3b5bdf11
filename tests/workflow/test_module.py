"""Evenhand as a module of another workflow, in Snakemake's usual way."""

import subprocess
import sys

WORKFLOW = """configfile: "mine.yaml"

module evenhand:
    snakefile: {snakefile!r}
    config: config

use rule * from evenhand as evenhand_*

rule mine:
    default_target: True
    input: "results/report/index.html"
    output: "mine.txt"
    shell: "wc -c {{input}} > {{output}}"
"""

CONFIG = """predictions:
  mine: {files: [p.csv], label: y, prediction: p, groups: [g]}
"""


def test_results_are_inputs_of_rules_of_ones_own(tmp_path, repository):
    rows = "".join(f"{n % 2},{n % 3 % 2},{'ab'[n % 5 % 2]}\n" for n in range(60))
    (tmp_path / "p.csv").write_text("y,p,g\n" + rows)
    (tmp_path / "mine.yaml").write_text(CONFIG)
    snakefile = str(repository / "Snakefile")
    (tmp_path / "Snakefile").write_text(WORKFLOW.format(snakefile=snakefile))
    words = [sys.executable, "-m", "snakemake", "--cores", "1", "--dry-run"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    assert "rule evenhand_audit_predictions:" in done.stdout + done.stderr
