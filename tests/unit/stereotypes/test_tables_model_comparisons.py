import numpy as np
import pytest

from unit.stereotypes.made_scores import decided, score_rows, tabulate_one, write_model


def run(folder, hits, clusters=None, sentences=None):
    """Compare models by name, each with hits by method; all of one family."""
    count = len(next(iter(next(iter(hits.values())).values())))
    names = clusters or range(count)
    pairs = [{"cluster": f"c{name}"} for name in names]
    for pair, number in zip(pairs, sentences or range(count), strict=True):
        pair |= {"more": f"a {number}", "less": f"b {number}"}
    models = [
        write_model(folder, name, score_rows({m: decided(h) for m, h in of.items()}))
        for name, of in hits.items()
    ]
    return tabulate_one(folder, "model_comparisons", pairs, *models)


def test_by_hand(tmp_path):
    a, b = [1] * 7 + [0] * 2 + [None], [1] * 2 + [0] * 7 + [1]
    ((row,), _) = run(tmp_path, {"a": {"aul": a}, "b": {"aul": b}})
    # Of the nine pairs that both scored: 7 and 2.
    assert (row["pairs"], row["score_a"], row["score_b"]) == ("9", "77.777778", "22.222222")
    # As far from 50, on different sides: no difference in bias.
    assert row["difference"] == "0.000000" and row["less_biased"] == ""
    assert row["p_value"] == row["p_adjusted"] == "1.000000"
    assert row["words"].startswith("Undecided: a difference between a and b of 5 points would")
    assert "They lie 27.8 and 27.8 points from 50, a difference of 0.0" in row["words"]
    assert row["verdict"] == "inconclusive"


def test_nearer_to_50_is_less_biased_on_either_side(tmp_path):
    even, below = [1, 0] * 30, [0] * 55 + [1] * 5
    (first, second), _ = run(
        tmp_path, {"even": {"aul": even, "sss": below}, "below": {"aul": below, "sss": even}}
    )
    assert first["less_biased"] == second["less_biased"].replace("below", "even") == "even"
    assert second["less_biased"] == "below"
    assert float(first["difference"]) == pytest.approx(-41.666667)
    assert float(first["difference_high"]) < 0 < float(second["difference_low"])
    assert float(first["p_adjusted"]) < 0.01
    words = first["words"]
    assert words.startswith(
        "even is less biased than below: 41.7 points nearer to 50 (95 % interva"
    )
    ends = words.split("interval ")[1].split(", p")[0].split(" to ")
    assert 0 < float(ends[0]) < 41.7 < float(ends[1])
    assert words.endswith("after correction)")


def test_copies_of_pairs_give_no_power(tmp_path):
    a, b, clusters = [1, 0, 0] * 8, [1, 1, 0] * 8, [n % 12 for n in range(24)]
    ((row,), _) = run(tmp_path, {"a": {"aul": a}, "b": {"aul": b}}, clusters)
    twice = {"a": {"aul": a * 2}, "b": {"aul": b * 2}}
    ((copied,), _) = run(tmp_path, twice, clusters * 2, [*range(24)] * 2)
    assert copied["power"] == row["power"] and copied["words"] == row["words"]


def test_clusters_count_and_not_pairs(tmp_path):
    hits = {"a": {"aul": [1, 0] * 30}, "b": {"aul": [1] * 60}}
    ((row,), _) = run(tmp_path, hits)
    assert row["less_biased"] == "a"
    ((row,), _) = run(tmp_path, hits, clusters=[number // 20 for number in range(60)])
    assert row["less_biased"] == "" and float(row["p_value"]) == pytest.approx(0.25, abs=0.02)
    ((row,), _) = run(tmp_path, hits, clusters=[0] * 60)
    assert row["p_value"] == row["difference_low"] == row["less_biased"] == ""
    assert "too few swaps" in row["words"] and row["words"].endswith("(one cluster, so no test)")
    ((row,), _) = run(tmp_path, hits, clusters=[f"she|{number}" for number in range(60)])
    assert row["words"].startswith("Undecided: one word or one sentence is in every pair. They")
    assert row["words"].endswith("(one word or one sentence is in every pair, so no test)")


def test_adjusted_over_the_comparisons_of_a_method(tmp_path):
    generator = np.random.default_rng(0)
    hits = {
        name: {m: (generator.random(60) < share).astype(int).tolist() for m in ("aul", "sss")}
        for name, share in (("a", 0.5), ("b", 0.7), ("c", 0.9))
    }
    table, _ = run(tmp_path, hits)
    assert [(r["model_a"], r["model_b"], r["method"]) for r in table] == [
        (*couple, method)
        for couple in (("a", "b"), ("a", "c"), ("b", "c"))
        for method in ("aul", "sss")
    ]
    for method in ("aul", "sss"):
        own = [row for row in table if row["method"] == method]
        p_values = sorted(float(row["p_value"]) for row in own)
        adjusted = sorted(float(row["p_adjusted"]) for row in own)
        assert adjusted[0] == pytest.approx(min(1, 3 * p_values[0]), abs=1e-6)


def test_models_without_a_common_method_or_pair(tmp_path):
    table, reason = run(tmp_path, {"a": {"aul": [1, 0]}, "b": {"sss": [1, 0]}})
    assert table == [] and reason == "no two models have a method in common"
    ((row,), _) = run(tmp_path, {"a": {"aul": [1, None]}, "b": {"aul": [None, 1]}})
    assert row["pairs"] == "0" and row["score_a"] == row["difference"] == row["p_adjusted"] == ""
    assert row["words"] == "a and b have no pair that both could score"
