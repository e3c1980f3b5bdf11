import numpy as np
import pytest

from evenhand.metrics.stereoset import macro_scores, score_terms
from evenhand.stereotypes.tables import stereoset
from unit.stereotypes.made_scores import (
    made_set,
    read_csv,
    score_rows,
    tabulate_one,
    write_model,
    write_pairs,
)


def run(pairs, model, out, **options):
    counts = tabulate_one("stereoset", pairs=pairs, **model, out=out, **options)
    return read_csv(out), counts


def test_by_hand(tmp_path):
    pairs = write_pairs(
        tmp_path / "pairs.parquet",
        [
            {"bias_type": "profession", "cluster": "nurse"},
            {"bias_type": "profession", "cluster": "nurse"},
            {"bias_type": "race", "cluster": "Iraq"},
            {"bias_type": "race", "cluster": "Iraq"},
            {"bias_type": "race", "cluster": "Iraq"},
        ],
    )
    scores = [(3.0, 2.0, 1.0), (1.0, 2.0, 3.0), (2.0, 1.0, 0.0), (3.0, None, 1.0), (2.0, 1.0, 1.5)]
    model = write_model(tmp_path, "m", score_rows({"aul": scores, "cps": [(1.0, 2.0, None)] * 5}))
    table, counts = run(pairs, model, tmp_path / "out.csv")
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
    assert counts["rows"] == 3 and "reason" not in counts


def test_it_is_left_out_without_unrelated_sentences(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.parquet", [{}] * 2)
    model = write_model(tmp_path, "m", score_rows({"aul": [(-1.0, -2.0)] * 2}))
    table, counts = run(pairs, model, tmp_path / "out.csv")
    assert table == [] and counts["reason"] == "the set has no unrelated sentences"


def test_nothing_scored_and_untrusted(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.parquet", [{}] * 2)
    rows = score_rows({"aul": [(None, -2.0, -3.0)] * 2})
    table, _ = run(pairs, write_model(tmp_path, "m", rows), tmp_path / "o.csv", methods=["aul"])
    assert {row["lms"] + row["ss"] + row["icat"] + row["lms_low"] for row in table} == {""}
    assert {(row["terms"], row["triples"], row["scored"]) for row in table} == {("0", "2", "0")}
    bad = write_model(tmp_path, "bad", rows, trusted=False)
    table, counts = run(pairs, bad, tmp_path / "o.csv")
    assert table == [] and list(counts["untrusted"]) == ["bad"]


def test_intervals_are_close_to_those_of_the_bootstrap():
    generator = np.random.default_rng(0)
    terms = np.repeat(np.arange(150), 8)
    wide = generator.normal(size=150)[terms]
    means = np.stack([0.4 + 0.5 * wide, 0 * wide, -0.8 - 0.5 * wide])
    sides = means + generator.normal(size=(3, 1200))
    found = score_terms(*sides, terms)
    drawn = generator.integers(150, size=(2000, 150))
    replicates = macro_scores(found.lms[drawn], found.ss[drawn])
    row = stereoset._scores(found, 0.95)
    for name, values in zip(("lms", "ss", "icat"), replicates, strict=True):
        borders = [row[f"{name}_low"], row[f"{name}_high"]]
        assert borders == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=0.5)


def test_intervals_hold_the_score(tmp_path):
    options = made_set(tmp_path, pairs=120, seeds=0)
    options.pop("nulls")
    tabulate_one("stereoset", **options, out=tmp_path / "out.csv")
    rows = read_csv(tmp_path / "out.csv")
    assert {row["method"] for row in rows} == {"aul", "aula", "aula_norm", "all_masked"}
    for row in rows:
        low, value, high = (float(row[f"ss{end}"]) for end in ("_low", "", "_high"))
        assert low < value < high
        lms, ss, icat = (float(row[name]) for name in ("lms", "ss", "icat"))
        assert icat == pytest.approx(lms * np.minimum(ss, 100 - ss) / 50, abs=1e-4)
