from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.legal.published import ALL, read_claims, read_scores
from evenhand.legal.score_groups import score_groups
from evenhand.legal.tabulate_classifiers import judge, tabulate_classifiers
from unit.legal.made_cases import read_csv, write_cases
from unit.legal.made_predictions import noisy, people, predictions, write

RESOURCES = Path(__file__).parents[3] / "resources" / "legal"

SCORES = "kind,classifier,attribute,objective,measure,value,tolerance,source,only_compat,note\n"
CLAIMS = "kind,attribute,quantity,group,other_group,low,high,known_error\n"


#: The sizes of FairLex's own cases, as `describe_cases` has them.
OWN = {"train": "reproduced", "dev": "reproduced", "test": "reproduced"}


def sizes(path, verdicts):
    rows = [
        f"mine,cases,{split},7,,,{9 if verdict == 'not_reproduced' else 7},{verdict}\n"
        for split, verdict in verdicts.items()
    ]
    head = "dataset,quantity,item,ours,of,share,published,verdict\nmine,task,,multi_class,,,,\n"
    path.write_text(head + "".join(rows), encoding="utf-8")
    return path


def tabulated(tmp_path, *trainings, scores=SCORES, claims=CLAIMS, cases_are=OWN, **options):
    cases = people(30, 30)
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    runs = [predictions(data, "cail", noisy(1 + number), **one)
            for number, one in enumerate(trainings)]  # fmt: skip
    path = write(tmp_path / "p.parquet", *runs)
    names = ("scores", "groups", "table_4", "claims")
    files = {name: tmp_path / f"{name}.csv" for name in names}
    score_groups(
        data=data, predictions=[path], out=files["scores"], groups_out=files["groups"],
        kind="cail", dataset="mine", splits=["test"], resamples=20, permutations=20,
    )  # fmt: skip
    (tmp_path / "anchors.csv").write_text(scores, encoding="utf-8")
    (tmp_path / "said.csv").write_text(claims, encoding="utf-8")
    counts = tabulate_classifiers(
        scores=files["scores"], groups=files["groups"],
        sizes=sizes(tmp_path / "sizes.csv", cases_are), anchors=tmp_path / "anchors.csv",
        claims=tmp_path / "said.csv", out=files["table_4"], claims_out=files["claims"],
        kind="cail", dataset="mine", **options,
    )  # fmt: skip
    return counts, *(read_csv(files[name]) for name in names)


ERM = [{"seed": seed} for seed in (1, 2, 3)]
ENCODER = [{"seed": seed, "classifier": "encoder"} for seed in (1, 2, 3)]
DRO = {"objective": "group_dro", "attribute": "defendant_gender"}


def test_linear_rows_stand_first_and_erm_before_the_others(tmp_path):
    runs = [*ENCODER, {**DRO}, *ERM[1:], {"classifier": "encoder"} | DRO]
    _, _, _, table, _ = tabulated(tmp_path, *runs, linear=["linear"])
    own = [row for row in table if row["attribute"] == "defendant_gender"]
    assert [(row["classifier"], row["objective"]) for row in own[::4]] == [
        ("linear", "erm"),
        ("linear", "group_dro"),
        ("encoder", "erm"),
        ("encoder", "group_dro"),
    ]
    assert [row["measure"] for row in own[:4]] == ["overall", "mean", "gd", "worst"]
    assert {row["verdict"] for row in table} == {"no_published_value"}


def test_ours_is_by_our_convention_and_compat_by_that_of_the_published_code(tmp_path):
    _, scores, _, table, _ = tabulated(tmp_path, *ERM)
    for measure in ("overall", "mean", "gd", "worst"):
        row = next(row for row in table if row["attribute"] == "defendant_gender"
                   and row["measure"] == measure)  # fmt: skip
        for name, convention in (("ours", "all"), ("compat", "present")):
            score = next(one for one in scores if one["attribute"] == "defendant_gender"
                         and (one["convention"], one["seed"]) == (convention, "mean"))  # fmt: skip
            assert row[name] == score[measure]
    assert (row["noise_border"], row["noise_verdict"]) == (
        scores_of(scores)["worst_noise_5"],
        scores_of(scores)["worst_verdict"],
    )


def scores_of(scores):
    return next(one for one in scores if one["attribute"] == "defendant_gender"
                and (one["convention"], one["seed"]) == ("all", "mean"))  # fmt: skip


PUBLISHED = (
    SCORES
    + "cail,transformer,defendant_gender,erm,mean,5.0,0,table_4,,\n"
    + "cail,transformer,defendant_gender,erm,worst,99,99,table_4,,\n"
    + "cail,linear,defendant_gender,erm,gd,99,99,table_4,,\n"
    + "cail,transformer,defendant_gender,v_rex,mean,60.2,0,table_4,,\n"
    + "ecthr,transformer,applicant_age,erm,mean,60.2,0,table_4,,\n"
)


def judged(table):
    return {row["published"]: (row["verdict"], row["reason"]) for row in table if row["published"]}


def test_published_numbers_stand_beside_those_that_stand_for_them(tmp_path):
    counts, _, _, table, _ = tabulated(tmp_path, *ERM, scores=PUBLISHED)
    assert [row["published"] for row in table[-4:]] == [
        *("5.000000", "99.000000", "99.000000", "60.200000")
    ]
    assert {row["reason"] for row in table[-4:]} == {"no run stands for the paper's"}
    assert counts["not_run"] == 4
    counts, _, _, table, _ = tabulated(
        tmp_path, *ERM, *ENCODER, scores=PUBLISHED, linear=["linear"], transformer=["encoder"]
    )
    of = {(row["stands_for"], row["measure"]): row for row in table if row["published"]}
    assert {key: row["classifier"] for key, row in of.items()} == {
        ("linear", "gd"): "linear",
        ("transformer", "worst"): "encoder",
        ("transformer", "mean"): "",  # v_rex, the last one
    }
    verdicts = judged(table)
    assert verdicts["5.000000"][0] == "not_reproduced"
    assert verdicts["99.000000"] == ("reproduced", "")
    assert verdicts["60.200000"][0] == "not_run"
    assert (counts["reproduced"], counts["not_reproduced"], counts["not_run"]) == (2, 1, 1)


def test_two_may_stand_for_the_same(tmp_path):
    _, _, _, table, _ = tabulated(
        tmp_path, *ERM, *ENCODER, scores=PUBLISHED, transformer=["encoder", "linear"]
    )
    own = [row["classifier"] for row in table if row["published"] == "5.000000"]
    assert own == ["encoder", "linear"]


@pytest.mark.parametrize(
    ("cases_are", "reason"),
    [
        (dict.fromkeys(OWN, "not_run"), "the cases are not FairLex's own"),
        (OWN | {"test": "not_reproduced"}, "test has 7 cases, and FairLex's 9"),
        (OWN | {"train": "not_reproduced"}, "train has 7 cases, and FairLex's 9"),
    ],
)
def test_other_cases_and_samples_are_not_comparable(tmp_path, cases_are, reason):
    claims = CLAIMS + "cail,defendant_gender,gap,,,0,100,\n"
    counts, _, _, table, found = tabulated(
        tmp_path, *ENCODER, scores=PUBLISHED, claims=claims, cases_are=cases_are,
        transformer=["encoder"],
    )  # fmt: skip
    assert judged(table)["5.000000"] == ("not_comparable", reason)
    assert [(row["verdict"], row["reason"]) for row in found] == [("not_comparable", reason)]
    assert counts["not_comparable"] == 3


def test_a_quirk_that_decides_a_number_is_needed_to_compare_it(tmp_path):
    scores = SCORES + "cail,transformer,defendant_gender,group_dro,mean,50,50,draft,true,a quirk\n"
    runs = [DRO | {"seed": seed} for seed in (1, 2)]
    options = {"scores": scores, "transformer": ["linear"]}
    _, _, _, table, _ = tabulated(tmp_path, *runs, **options)
    assert judged(table) == {"50.000000": ("not_comparable", "a quirk")}
    _, _, _, table, _ = tabulated(tmp_path, *runs, **options, compat_objectives=["group_dro"])
    assert judged(table) == {"50.000000": ("reproduced", "")}


def test_claims_of_the_text(tmp_path):
    claims = (
        CLAIMS
        + "cail,defendant_gender,gap,,,0,100,my-error\n"
        + "cail,defendant_gender,score,male,,1.0,1.0,\n"
        + "cail,defendant_gender,below,male,female,-100,100,\n"
        + "cail,defendant_gender,best,male,,,,\n"
        + "cail,court_region,score,Beijing,,66.8,66.8,\n"
    )
    _, _, groups, _, found = tabulated(
        tmp_path, *ERM, *ENCODER, claims=claims, linear=["linear"], transformer=["encoder"]
    )
    assert [row["classifier"] for row in found] == ["linear", "encoder"] * 4 + [""]
    assert [row["known_error"] for row in found] == ["my-error"] * 2 + [""] * 7
    gap, score, below, best = found[1:8:2]
    assert (gap["verdict"], score["verdict"], below["verdict"]) == (
        "reproduced",
        "not_reproduced",
        "reproduced",
    )
    each = {
        group: [float(row["score"]) for row in groups if row["classifier"] == "encoder"
                and (row["convention"], row["group"]) == ("present", group)
                and row["seed"] != "mean"]
        for group in ("male", "female")
    }  # fmt: skip
    pairs = list(zip(each["male"], each["female"], strict=True))
    assert float(gap["ours"]) == pytest.approx(sum(abs(m - f) for m, f in pairs) / 3, abs=1e-5)
    assert float(below["ours"]) == pytest.approx(sum(f - m for m, f in pairs) / 3, abs=1e-5)
    assert best["ours"] == max(each, key=lambda group: sum(each[group]))
    assert (found[-1]["verdict"], found[-1]["reason"]) == (
        "not_run",
        "no run stands for the paper's",
    )
    assert found[0]["reason"] == "it does not stand for the paper's encoder"
    _, _, _, _, found = tabulated(tmp_path, *ERM, claims=claims)
    assert {row["verdict"] for row in found} == {"not_run", "not_comparable"}


def test_verdicts():
    def said(*given):
        return judge(*given)["verdict"]

    assert said(50, 50, 0.05, 51.0, 0.5, 5, None) == "reproduced"  # 2 sd
    assert said(50, 50, 0.05, 51.1, 0.5, 5, None) == "not_reproduced"
    assert said(50, 50, 1.05, 51.0, 0.0, 5, None) == "reproduced"
    assert said(40, 60, 0.05, 51.1, 0.0, 5, None) == "reproduced"
    assert said(50, 50, 0.05, 50.0, None, 1, None) == "undecided"
    assert said(50, 50, 0.05, None, None, 5, None) == "not_run"
    assert said(50, 50, 0.05, 50.0, 0.5, 5, "other cases") == "not_comparable"
    assert judge(50, 50, 0.05, 40.0, 1.0, 5, None)["reason"] == "ours is 10.0 below"


def test_what_is_published_can_be_read():
    kinds = ("ecthr", "scotus", "fscs", "cail")
    scores = {kind: read_scores(RESOURCES / "published_scores.csv", kind) for kind in kinds}
    assert [len(scores[kind]) for kind in kinds] == [17, 12, 17, 2]
    of_draft = scores["scotus"]["transformer", "decision_direction", "irm", "overall"]
    assert of_draft == (78.1, pytest.approx(1.05), "draft_2021", False, "")
    assert {
        key[2] for one in scores.values() for key, score in one.items() if score.only_compat
    } == {"adversarial"}
    claims = {kind: read_claims(RESOURCES / "published_claims.csv", kind) for kind in (*kinds, ALL)}
    assert [len(claims[kind]) for kind in (*kinds, ALL)] == [2, 0, 9, 2, 4]


@pytest.mark.parametrize(
    ("read", "row", "match"),
    [
        (read_scores, "cail,transformer,shoe_size,erm,mean,5,0,x,,", "no attribute 'shoe_size'"),
        (read_scores, "cali,transformer,court_region,erm,mean,5,0,x,,", "no kind 'cali'; they are"),
        (
            read_scores,
            "cail,transformer,court_region,erm,mode,5,0,x,,",
            "no measure 'mode'; they are overall",
        ),
        (read_scores, "cail,transformer,court_region,erm,mean,five,0,x,,", "'five' is no number"),
        (read_scores, "cail,tree,court_region,erm,mean,5,0,x,,", "there is no classifier 'tree'"),
        (read_scores, "cail,linear,court_region,erm,mean,5,0,x,no,", "must be true or blank"),
        (read_claims, "cail,court_region,sum,Hunan,,1,2,", "no quantity 'sum'"),
        (read_claims, "cail,court_region,score,Paris,,1,2,", "no group 'Paris' here"),
        (read_claims, "cail,court_region,score,Hunan,Hunan,1,2,", "no group 'Hunan' here"),
        (read_claims, "cail,court_region,below,Hunan,,1,2,", "no group '' here"),
        (read_claims, "cail,court_region,score,Hunan,,1,,", "has one end of two"),
        (read_claims, "all,,gap,,,1,1,", "no quantity 'gap'"),
    ],
)
def test_tables_that_are_wrong(tmp_path, read, row, match):
    path = tmp_path / "t.csv"
    path.write_text((SCORES if read is read_scores else CLAIMS) + row + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=match):
        read(path, "cail")


def test_a_table_of_another_stage(tmp_path):
    other = tmp_path / "o.csv"
    other.write_text("dataset,split\n", encoding="utf-8")
    with pytest.raises(InputError, match="lacks the column convention"):
        tabulate_classifiers(
            scores=other, groups=other, sizes=sizes(tmp_path / "s.csv", OWN),
            anchors=RESOURCES / "published_scores.csv",
            claims=RESOURCES / "published_claims.csv", out=tmp_path / "a",
            claims_out=tmp_path / "b", kind="cail", dataset="mine",
        )  # fmt: skip
