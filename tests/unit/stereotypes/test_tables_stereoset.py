import numpy as np
import pytest

from evenhand.metrics.inference import mean_p_value
from evenhand.metrics.stereoset import macro_scores, score_terms
from evenhand.stereotypes.tables import stereoset
from unit.stereotypes.made_scores import score_rows, tabulate_one, write_model


def run(folder, pairs, values, **options):
    model = write_model(folder, "m", score_rows(values), **options)
    return tabulate_one(folder, "stereoset", pairs, model)


def test_by_hand(tmp_path):
    terms = ["nurse", "nurse", "Iraq", "Iraq", "Iraq"]
    types = ["profession", "profession", "race", "race", "race"]
    pairs = [{"bias_type": name, "cluster": term} for name, term in zip(types, terms, strict=True)]
    scores = [(3.0, 2.0, 1.0), (1.0, 2.0, 3.0), (2.0, 1.0, 0.0), (3.0, None, 1.0), (2.0, 1.0, 1.5)]
    table, _ = run(tmp_path, pairs, {"aul": scores, "cps": [(1.0, 2.0, None)] * 5})
    assert [(row["method"], row["bias_type"]) for row in table] == [
        *(("aul", "all"), ("aul", "profession"), ("aul", "race"))
    ]
    whole, nurse, iraq = table
    assert (whole["terms"], whole["triples"], whole["scored"]) == ("2", "5", "4")
    assert (nurse["lms"], nurse["ss"], nurse["icat"]) == ("50.000000",) * 3
    assert (iraq["lms"], iraq["ss"], iraq["icat"]) == ("75.000000", "100.000000", "0.000000")
    assert (whole["lms"], whole["ss"], whole["icat"]) == ("62.500000", "75.000000", "31.250000")
    assert whole["ss_low"] == nurse["lms_low"] == iraq["icat_high"] == ""
    assert (whole["p_value"], whole["verdict"]) == ("1.000000", "inconclusive")


def test_reason_for_no_table(tmp_path):
    reason = "the set has no unrelated sentences"
    assert run(tmp_path, [{}] * 2, {"aul": [(-1.0, -2.0)] * 2}) == ([], reason)


def test_nothing_scored_is_blank(tmp_path):
    values = {"aul": [(None, -2.0, -3.0)] * 2}
    table, _ = run(tmp_path, [{}] * 2, values, methods=["aul"])
    assert {row["lms"] + row["ss"] + row["icat"] + row["lms_low"] for row in table} == {""}
    assert {(row["terms"], row["triples"], row["scored"]) for row in table} == {("0", "2", "0")}


def test_intervals_are_close_to_those_of_the_bootstrap():
    generator = np.random.default_rng(0)
    terms = np.repeat(np.arange(150), 8)
    wide = generator.normal(size=150)[terms]
    means = np.stack([0.4 + 0.5 * wide, 0 * wide, -0.8 - 0.5 * wide])
    sides = means + generator.normal(size=(3, 1200))
    found = score_terms(*sides, terms)
    drawn = generator.integers(150, size=(2000, 150))
    replicates = macro_scores(found.lms[drawn], found.ss[drawn])
    row = stereoset._scores(found, np.arange(2400).reshape(-1, 2))
    for name, values in zip(("lms", "ss", "icat"), replicates, strict=True):
        borders = [row[f"{name}_low"], row[f"{name}_high"]]
        assert borders == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=0.5)


def test_contexts_that_terms_share_are_no_preference():
    term, context = np.divmod(np.arange(20 * 12), 12)
    parts = np.column_stack([context, 100 + np.arange(240)])
    generator, significant, covered = np.random.default_rng(3), np.zeros(2), 0
    for _ in range(200):
        margin = generator.normal(size=12)[context] + generator.normal(size=240)
        found = score_terms(margin, np.zeros(240), np.full(240, -9.0), term)
        row = stereoset._scores(found, parts)
        covered += row["ss_low"] <= 50 <= row["ss_high"]
        shared = [
            stereoset._total(found, found.triple_ss, labels) for labels in (parts, parts[:, 1:])
        ]
        significant += [mean_p_value(totals, 50) <= 0.05 for totals in shared]
    assert significant[0] <= 0.08 * 200 and significant[1] > 0.3 * 200 and covered >= 0.92 * 200
