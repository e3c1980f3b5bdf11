from pathlib import Path

import pytest

from evenhand.core.resources import read_resource
from evenhand.legal.published import (
    ALL,
    ALL_QUANTITIES,
    CLAIMS,
    COURTS,
    SCORES,
    judge,
    read_claims,
    read_scores,
)
from unit.legal.made_cases import court

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
    scores = {kind: read_scores(RESOURCES / "published_scores.csv", kind) for kind in kinds}
    assert [len(scores[kind]) for kind in kinds] == [17, 12, 17, 2]
    of_draft = scores["scotus"]["transformer", "decision_direction", "irm", "overall"]
    assert of_draft == (78.1, pytest.approx(1.05), "draft_2021", False, "")
    assert {
        key[2] for one in scores.values() for key, score in one.items() if score.only_compat
    } == {"adversarial"}
    claims = {kind: read_claims(RESOURCES / "published_claims.csv", kind) for kind in kinds}
    assert [len(claims[kind]) for kind in kinds] == [2, 0, 9, 2]


def test_the_published_tables_name_attributes_and_groups_of_their_courts():
    courts = {kind: court(kind) for kind in COURTS}
    for row in read_resource(RESOURCES / "published_scores.csv", SCORES, optional=SCORES):
        assert row["attribute"] in {one.name for one in courts[row["kind"]].attributes}
    for row in read_resource(RESOURCES / "published_claims.csv", CLAIMS, optional=CLAIMS):
        assert (row["quantity"] in ALL_QUANTITIES) == (row["kind"] == ALL)
        assert bool(row["low"]) == bool(row["high"])
        if row["kind"] != ALL:
            groups = courts[row["kind"]].attribute(row["attribute"]).groups
            named = {"gap": (), "below": ("group", "other_group")}.get(row["quantity"], ("group",))
            for name in ("group", "other_group"):
                assert row[name] in groups if name in named else not row[name]
