import json

from evenhand.report.headlines.legal import describe
from unit.report import checks

#: What people call a data set, and an attribute of it.
TITLES = {"ecthr": "ECtHR", "ecthr/applicant_gender": "Applicant", "fscs/applicant_gender": "x"}


def table(folder, kind, header, *rows, dataset="ecthr"):
    path = folder / f"tables/legal_{dataset}_{kind}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return path


def sizes(folder, cases=120, dataset="ecthr"):
    return table(
        folder, "sizes", "quantity,item,ours,verdict", "task,,multi_label,",
        f"cases,,{cases},not_run", "cases,train,100,not_run", dataset=dataset,
    )  # fmt: skip


def gaps(folder, *rows):
    header = (
        "attribute,classifier,objective,measure,ours,low,high,noise_border,p_labels,noise_verdict,"
        "verdict"
    )
    return table(folder, "table_4", header, *rows)


def gap(verdict, ours=3.1, p_labels=0.01, objective="erm", measure="gd"):
    return (
        f"applicant_gender,linear,{objective},{measure},{ours},1,4,1.2,{p_labels},{verdict},not_run"
    )


def test_nothing_is_told_of_nothing():
    found = describe([], {})
    assert found.sentence == "Nothing was built yet."
    assert not (found.more or found.figure or found.verdicts or found.doubts)


def test_data_sets_without_a_classifier_are_counted(tmp_path):
    files = [sizes(tmp_path), sizes(tmp_path, 30, dataset="my_own")]
    found = describe(files, {"ecthr": "<b>"})
    assert found.sentence == (
        "2 data sets with 150 cases: <bdi>&lt;b&gt;</bdi> (120) and <bdi>my_own</bdi> (30)."
    )
    assert checks.rows(found.figure, "text") == ["120", "30"]
    assert found.verdicts[0].counts == {"not_run": 4}
    assert "FairLex’s own cases" in found.verdicts[0].note


def test_gaps_are_told_beside_chance(tmp_path):
    rows = [
        gap("above noise"),
        gap("above noise", p_labels=0.5),
        gap("not above noise"),
        gap("too few cases"),
        gap("above noise", objective="group_dro"),
        gap("above noise", measure="mean"),
    ]
    found = describe([gaps(tmp_path, *rows), sizes(tmp_path)], TITLES)
    assert found.sentence == (
        "Of 4 gaps between groups under plain training, 2 are larger than chance shows among groups"
        " of these sizes; 1 rests on too few cases to tell; 1 of the 2 goes away among groups with"
        " the same labels."
    )
    assert checks.rows(found.figure, "name") == ["ECtHR, Applicant (linear)"] * 4
    assert checks.rows(found.figure, "kind").count("more") == 2
    assert "1 gap of 4 could hardly stand out: a group has too few cases." in found.doubts


def test_too_few_cases_everywhere_tell_nothing(tmp_path):
    found = describe([gaps(tmp_path, gap("too few cases", 0.0))], {})
    assert found.sentence.endswith("all rest on too few cases to tell.")


def test_objectives_are_said_by_what_they_do(tmp_path):
    header = "measure,difference,verdict"
    tests = table(tmp_path, "tests", header, "gd,-2,lower", "gd,2,not shown", "worst,3,higher")
    found = describe([gaps(tmp_path, gap("not above noise")), tests], {})
    assert found.more[0] == (
        "Of 3 comparisons of another objective with plain training (worst group and gap),"
        " 1 shows it narrowing the gap and 1 shows it lifting the worst group."
    )
    none = table(tmp_path, "tests", header, "gd,-2,not shown")
    found = describe([gaps(tmp_path, gap("not above noise")), none], {})
    assert found.more[0].endswith("none shows a difference beyond chance.")


def test_what_only_the_cases_show_is_said(tmp_path):
    header = "measure,difference,verdict,p_cases_adjusted"
    tests = table(tmp_path, "tests", header, "mean,-20,not shown,0.003", "gd,2,not shown,")
    found = describe([gaps(tmp_path, gap("not above noise")), tests], {})
    assert found.more[0].endswith(
        "none shows a difference beyond chance. Over cases alone 1 more would; the seeds do not"
        " say so."
    )


def test_what_was_left_out_is_said(tmp_path):
    path = tmp_path / "legal/ecthr/records/a.counts.json"
    path.parent.mkdir(parents=True)
    reasons = {"bad_label": 5, "no_facts": 2000, "a": 1, "b": 1, "c": 1}
    path.write_text(json.dumps({"records": 3, "left_out": reasons}), encoding="utf-8")
    (doubt,) = describe([path], {}).doubts
    assert (
        doubt
        == "2,008 records were left out: no facts 2,000, bad label 5, a 1 and 2 other reasons."
    )
