import math
from pathlib import Path

import numpy as np
import pytest

from evenhand.certificates import dose_response
from evenhand.certificates.study import KnownFailure, Study, judge
from evenhand.core.tables import read_tables, write_tables

CLUSTERS = [f"swap {i // 6}" for i in range(48)]


def made(effect, *, seeds=5, noise=0.3, new_frames=False):
    """Rows of a method whose difference is `effect` times the planted dose."""
    rows = []
    for dose in (0, 0.25, 0.5, 0.75, 1):
        for seed in range(seeds):
            generator = np.random.default_rng([seed, int(100 * dose)])
            values = effect * dose + generator.normal(0, noise, 48)
            row = dose_response.dose_row(values.tolist(), CLUSTERS, dose)
            names = {"language": "x", "family": "masked", "method": "m", "seed": seed}
            rows.append(row | names | {"new_frames": new_frames})
    return rows


def findings(rows, log_odds=()):
    return {one.measure: one for one in dose_response.summarise(rows, log_odds)}


def test_a_method_that_sees_the_dose_is_certified():
    found = findings(made(1.0))
    assert found["rank correlation with the dose"].found > 0.9
    assert found["AUC of dose 1 against dose 0"].found == 1
    assert found["smallest dose seen"].found == 0.25
    assert all(one.holds for one in found.values())
    # 50 points at most, from no preference to all items
    assert 30 < found["slope (points per unit of dose)"].found <= 60


@pytest.mark.parametrize("effect", [0, -1])
def test_a_method_that_does_not_is_not(effect):
    found = findings(made(effect))
    assert not found["rank correlation with the dose"].holds
    assert not found["AUC of dose 1 against dose 0"].holds
    assert found["smallest dose seen"].found is None


def test_a_method_without_noise_that_always_prefers_raises_false_alarms():
    rows = [row | {"score": 100.0, "p_value": 0.01} for row in made(0)]
    found = findings(rows)["false alarms at dose 0"]
    assert found.found == 1 and not found.holds
    assert findings(rows)["rank correlation with the dose"].found == 0
    at_the_level = [row | {"p_value": 0.05} for row in rows]
    assert findings(at_the_level)["false alarms at dose 0"].found == 0


def test_the_difference_is_compared_with_the_planted_log_odds():
    rows = [
        dose_response.dose_row([2 * math.log(3)] * 48, CLUSTERS, 0.5)
        | {"language": "english", "family": "causal", "method": "m", "seed": 0}
        | {"new_frames": False}
    ]
    assert rows[0]["planted"] == pytest.approx(math.log(3))
    (share,) = [name for name in findings(rows) if "log-odds" in name]
    assert findings(rows)[share].found == pytest.approx(2)
    weak = [row | {"difference": 0.49 * math.log(3)} for row in rows]
    for some, holds in ((rows, True), (weak, False)):
        assert findings(some)[share].holds and findings(some, ["m"])[share].holds is holds
    assert dose_response.dose_row([1.0, 2.0], ["a", "b"], 1)["planted"] is None


def test_what_is_not_scored_does_not_count():
    row = dose_response.dose_row([1.0, math.nan, -1.0, 3.0], ["a", "a", "b", "b"], 0.5)
    assert (row["items"], row["score"], row["difference"]) == (3, pytest.approx(200 / 3), 1)
    none = dose_response.dose_row([math.nan], ["a"], 0.5)
    assert (none["items"], none["score"]) == (0, None)
    found = findings([none | {"language": "x", "family": "f", "method": "m", "new_frames": False}])
    assert not any(one.holds for one in found.values())


def test_new_frames_are_shown_and_not_judged():
    rows = made(1.0) + made(-1.0, new_frames=True)
    assert findings(rows) == findings(made(1.0))


def test_a_known_failure_has_its_reason_and_no_other_excuse():
    one = findings(made(0))["AUC of dose 1 against dose 0"]
    key = ("p", one.method, one.measure)
    why = {key: KnownFailure("why")}
    assert judge("p", one, {})["verdict"] == "failed"
    assert judge("q", one, why)["verdict"] == "failed"
    row = judge("p", one, why)
    assert (row["verdict"], row["reason"]) == ("known_failure", "why")
    for least, verdict in ((one.found, "known_failure"), (one.found + 0.01, "failed")):
        assert judge("p", one, {key: KnownFailure("why", least)})["verdict"] == verdict
    held = findings(made(1.0))["AUC of dose 1 against dose 0"]
    assert judge("p", held, why)["verdict"] == "certified"
    shown = findings(made(1.0))["smallest dose seen"]
    assert judge("p", shown, {})["verdict"] == "shown"


def test_rows_of_a_former_certificate_are_written_as_new_ones(tmp_path):
    table = dose_response.dose_table("doses", "Scores by dose")
    names = {"language": "x", "family": "masked", "method": "m", "seed": 0, "new_frames": False}
    rows = [
        names | dose_response.dose_row([1.0, 2.0], ["a", "b"], dose)
        for dose in Study(Path(), Path()).doses
    ]
    write_tables(tmp_path / "new", [(table, rows)])
    write_tables(tmp_path / "kept", [(table, read_tables(tmp_path / "new")["doses"])])
    new, kept = (tmp_path / name / "doses.csv" for name in ("new", "kept"))
    assert new.read_bytes() == kept.read_bytes()
