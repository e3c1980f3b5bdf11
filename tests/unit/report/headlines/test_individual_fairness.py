import json

import pytest

from evenhand.errors import InputError
from evenhand.report.headlines.individual_fairness import describe
from unit.report import checks

HEADER = (
    "dataset,method,individual,group,lambda,epsilon,mu,split,metric,paper,ours_mean,ours_sd,ours_low,"
    "ours_high,seeds,diverged,verdict,reason\n"
)


def table(folder, number, *rows):
    path = folder / f"tables/iifr_table_{number}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def row(method="mlp", individual="none", *, metric="ifr_p", mean=50, sd="4", seeds=20, group="",
        epsilon="", weight=0, verdict="reproduced", diverged=0, split="random"):  # fmt: skip
    return (
        f"adult,{method},{individual},{group},{weight},{epsilon},,{split},{metric},1,{mean},{sd},"
        f"{mean - 1},{mean + 1},{seeds},{diverged},{verdict},"
    )


def findings(folder, *said):
    path = folder / "tables/iifr_findings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"headline": said, "findings": []}), encoding="utf-8")
    return path


def test_nothing_is_told_of_nothing():
    found = describe([], {})
    assert found.sentence == "Nothing was concluded."
    assert not (found.more or found.figure or found.verdicts or found.doubts)


def test_the_finding_stands_first_and_the_noise_beside_it(tmp_path):
    files = [
        findings(tmp_path, "A blind network is fair.", "IIFR costs.", "8 cells of the paper."),
        table(tmp_path, 4, row(), row("mlp_without_attribute", mean=100, sd="0"),
              row("alfr", mean=1), row(split="official", mean=2)),
    ]  # fmt: skip
    found = describe(files, {})
    assert found.sentence == "A blind network is fair."
    assert found.more[0].endswith(
        "On <bdi>Adult</bdi> it is 50.0 ± 4.0 for the MLP and 100.0 ± 0.0 for the MLP without the"
        " attribute. Behind ± stands the noise of single runs."
    )
    assert found.more[1:] == ["IIFR costs."]
    assert checks.rows(found.figure, "value") == [50.0, 100.0]
    assert not found.doubts


def test_a_cell_that_stands_in_two_tables_counts_once(tmp_path):
    cosine = {"individual": "iifr_cosine", "epsilon": 0.8, "weight": 1}
    files = [
        table(tmp_path, 4, row(), row(**cosine), row(metric="acc", verdict="not_reproduced")),
        table(tmp_path, 7, row(metric="ddp")),
        table(
            tmp_path, 8,
            row(individual="iifr_cosine", epsilon=1, weight=1),  # the plain network again
            row(**cosine),
            row(individual="iifr_cosine", epsilon=0.9, weight=1, verdict="inconsistent_in_paper"),
            row(metric="balanced_acc", verdict="no_published_value"),
        ),
    ]  # fmt: skip
    found = describe(files, {})
    assert [line.counts for line in found.verdicts] == [
        {"reproduced": 2, "not_reproduced": 1},
        {"reproduced": 1},
        {"doubtful": 1, "no_published_number": 1},
    ]
    assert found.verdicts[-1].note == "2 cells more stand in the tables above."
    assert "1 published cell contradicts the paper elsewhere." in found.doubts


def test_groups_of_the_data_are_judged_without_their_number_of_rows(tmp_path):
    path = tmp_path / "tables/adult_groups.csv"
    path.parent.mkdir(parents=True)
    path.write_text("quantity,verdict\nrows,\nP(A),reproduced\nP(Y=1),not_checked\n")
    (line,) = describe([path], {}).verdicts
    assert line.counts == {"reproduced": 1, "no_published_number": 1}


def test_few_seeds_lost_runs_and_strange_data_are_said(tmp_path):
    about = tmp_path / "tabular/adult/data.json"
    about.parent.mkdir(parents=True)
    about.write_text('{"name": "adult", "meta": {"title": "<i>Mine"}}', encoding="utf-8")
    rows = [
        row(seeds=5, verdict="no_published_value"),
        row(metric="acc", diverged=2, verdict="no_published_value"),
    ]
    doubts = describe([table(tmp_path, 4, *rows), about], {}).doubts
    assert doubts[0].startswith("The paper has no numbers for <bdi>&lt;i&gt;Mine</bdi>")
    assert "rest on 5 seeds; 20 are advised" in doubts[1]
    assert doubts[2] == "2 runs diverged and left no numbers."


def test_a_row_without_a_spread_has_no_band(tmp_path):
    found = describe([table(tmp_path, 4, row(sd=""))], {})
    assert checks.rows(found.figure, "from") == [None]
    assert "50.0 for the MLP" in found.more[0]


def test_findings_without_a_headline_are_an_error(tmp_path):
    path = findings(tmp_path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="holds no findings"):
        describe([path], {})
