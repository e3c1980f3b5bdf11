"""The configuration of docs/predictions.md, run: tables, page and explorer agree."""

import re
import subprocess

import pandas as pd

import warm
from harness import REPOSITORY
from unit.predictions.test_audit_predictions import people
from unit.report.checks import parse, sets_of


def test_the_page_of_the_docs(tmp_path):
    text = (REPOSITORY / "docs/predictions.md").read_text(encoding="utf-8")
    (config,) = re.findall(r"```yaml file=loans.yaml\n(.*?)```", text, re.S)
    (tmp_path / "loans.yaml").write_text(config)
    data = people(n=400, shift=0.3).rename(columns={"y": "approved", "p": "score"})
    data = data.rename(columns={"group": "gender"})
    data.loc[0, "approved"] = None
    data.loc[1:5, "gender"] = None
    data.to_csv(tmp_path / "loans.csv", index=False)

    def run(*words):
        command = [warm.folder() / "python", "-m", "evenhand", *words]
        env = {"PYTHONPATH": str(REPOSITORY / "workflow"), "PATH": "/usr/bin:/bin"}
        env |= {"OMP_NUM_THREADS": "1", "EVENHAND_HERMETIC": "1", "HOME": str(tmp_path)}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("run", "loans.yaml", "--cores", "1")
    report = tmp_path / "results/report"
    page = (report / "predictions.html").read_text(encoding="utf-8")
    assert "Of 5 cases the group in <bdi>gender</bdi> is not known" in page
    assert "1 row left out" in page and "Selection rate differs by gender" in page
    assert 'data-items="predicted.html#?set=loans"' in page
    described = sets_of(parse(report / "predicted.html"))["loans"]["columns"]
    assert "Label counts as" in {column["title"] for column in described}
    cases = pd.read_csv(report / "predicted/loans.csv", encoding="utf-8-sig")
    groups = pd.read_csv(tmp_path / "results/tables/predictions/loans/groups.csv")
    row = groups.query("group == 'a' and metric == 'tpr'").iloc[0]
    behind = cases.query("gender == 'a' and label == 1")
    assert len(behind) == row["counted"]
    assert abs((behind["prediction"] == 1).mean() - row["value"]) < 1e-6
    words = ["--label", "approved", "--prediction", "score", "--group", "gender", "age"]
    run("predictions", "loans.csv", *words, "--bins", "age=30,50", "--id", "id", "--out", "alone")
    alone = pd.read_csv(tmp_path / "alone/tables/predictions/mine/groups.csv")
    pd.testing.assert_frame_equal(alone, groups)
