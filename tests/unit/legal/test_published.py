from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.legal.published import judge, read_claims, read_scores
from unit.legal.made_cases import court
from unit.legal.made_study import NO_CLAIMS, NO_SCORES

RESOURCES = Path(__file__).parents[3] / "resources" / "legal"


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
    scores = {kind: read_scores(RESOURCES / "published_scores.csv", court(kind)) for kind in kinds}
    assert [len(scores[kind]) for kind in kinds] == [17, 12, 17, 2]
    of_draft = scores["scotus"]["transformer", "decision_direction", "irm", "overall"]
    assert of_draft == (78.1, pytest.approx(1.05), "draft_2021", False, "")
    assert {
        key[2] for one in scores.values() for key, score in one.items() if score.only_compat
    } == {"adversarial"}
    claims = {kind: read_claims(RESOURCES / "published_claims.csv", court(kind)) for kind in kinds}
    assert [len(claims[kind]) for kind in kinds] == [2, 0, 9, 2]


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
    path.write_text(
        (NO_SCORES if read is read_scores else NO_CLAIMS) + row + "\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match=match):
        read(path, court("cail"))
