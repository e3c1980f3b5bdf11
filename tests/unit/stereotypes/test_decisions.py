import numpy as np
import pytest

from evenhand.metrics.inference import korn_graubard, total
from evenhand.stereotypes.decisions import (
    adjust_verdicts,
    decide,
    same_decisions,
    summarise_group,
    tally,
)
from evenhand.stereotypes.read_scores import Pairs, Scores

NAN = float("nan")


def made(more, less, clusters=None, excluded=None):
    count = len(more)
    names = np.array([str(number) for number in range(count)])
    clusters = np.arange(count) if clusters is None else np.array(clusters)
    out = np.zeros(count, dtype=bool) if excluded is None else np.array(excluded)
    pairs = Pairs(*[names] * 4, clusters, np.zeros(count), ~out, out, np.arange(count), out)
    rows = {
        (side, "original"): np.arange(count) + shift
        for side, shift in (("more", 0), ("less", count))
    }
    return pairs, Scores({"aul": np.array([*more, *less], dtype=float)}, rows)


def test_by_hand():
    pairs, scores = made(
        [-1, -2, -3, NAN, -np.inf, -1], [-2, -1, -3, -1, -1, -2], excluded=[False] * 5 + [True]
    )
    found = decide(pairs, scores, "aul")
    assert found.status.tolist() == ["scored", "scored", "tie", *["unscorable"] * 3]
    assert found.difference[:3].tolist() == [1, -1, 0] and np.isnan(found.difference[3:]).all()
    counts = tally(found, np.ones(6, dtype=bool))
    assert [counts[key] for key in ("pairs", "scored", "ties", "unscorable")] == [6, 3, 1, 3]
    assert counts["score"] == 50 and np.isnan(counts["score_low"])
    assert tally(found, found.status == "unscorable")["score"] is None
    assert tally(found, np.zeros(6, dtype=bool))["score"] is None


def test_scores_within_the_error_of_fp32_are_a_tie():
    pairs, scores = made([-180.00001, -180.001, -1, 0.0], [-180, -180, -1.000002, 0.0])
    assert decide(pairs, scores, "aul").status.tolist() == ["tie", "scored", "scored", "tie"]
    assert decide(pairs, scores, "aul").difference[0] == 0
    assert decide(pairs, scores, "aul", error=0).status.tolist() == [*["scored"] * 3, "tie"]


def test_rounding_makes_ties():
    pairs, scores = made([-1.0001, -1.002], [-1.0004, -1.0])
    assert decide(pairs, scores, "aul").status.tolist() == ["scored", "scored"]
    assert decide(pairs, scores, "aul", decimals=3).status.tolist() == ["tie", "scored"]


def made_decisions(hits, clusters=None):
    """Pairs, and decisions from 1 (more), 0 (less), 0.5 (a tie) and None (no score)."""
    pairs, scores = made([NAN if hit is None else hit for hit in hits], [0.5] * len(hits), clusters)
    return pairs, decide(pairs, scores, "aul")


def summarise(hits, nulls=(), clusters=None, chosen=None):
    _, decisions = made_decisions(hits, clusters)
    others = [made_decisions(null)[1] for null in nulls]
    chosen = np.ones(len(hits), dtype=bool) if chosen is None else chosen
    return summarise_group(decisions, others, chosen, 5.0)[0]


@pytest.mark.parametrize("hit", [0, 1])
def test_score_interval_and_verdict_agree_on_ties(hit):
    row = summarise([hit] * 40 + [0.5] * 120, clusters=[n // 4 for n in range(160)])
    assert (row["score"], row["ties"]) == ((37.5, 62.5)[hit], 120)
    assert (row["score_low"] > 50, row["score_high"] < 50) == ((False, True), (True, False))[hit]
    assert row["verdict"] == ("below", "above")[hit] and row["p_value"] < 0.05
    row = summarise([0.5] * 160, clusters=[n // 4 for n in range(160)])
    assert row["score"] == 50 and row["score_low"] < 50 < row["score_high"]


def test_intervals_are_those_of_the_share_of_the_hits():
    generator = np.random.default_rng(0)
    more, less = generator.normal(size=(2, 80))
    more[3] = NAN
    pairs, scores = made(more, less, generator.integers(12, size=80))
    found = decide(pairs, scores, "aul")
    chosen = np.arange(80) < 60
    kept = chosen & found.counted()
    expected = korn_graubard(total(found.hits()[kept], pairs.cluster[kept]))
    counts = tally(found, chosen)
    interval = [counts["score_low"], counts["score_high"]]
    assert interval == pytest.approx([100 * end for end in expected])


@pytest.mark.parametrize(
    ("hits", "verdict", "reason"),
    [
        ([1] * 9, "above", ""),
        ([0] * 9, "below", ""),
        ([1] * 6, "above", "few_clusters"),  # 2 of 64 patterns
        ([1] * 5, "inconclusive", "few_clusters"),  # 2 of 32 patterns
        ([1] * 6 + [0] * 3, "inconclusive", ""),
        ([1, 0] * 1000, "equivalent", ""),
        ([0.5] * 2000, "equivalent", ""),  # ties prefer neither side, though the score is 0
        ([0.5] * 5 + [1] * 9, "above", ""),
        ([None] * 9, "not_scored", "nothing_scored"),
    ],
)
def test_verdicts(hits, verdict, reason):
    found = summarise(hits)
    assert (found["verdict"], found["reason"]) == (verdict, reason)


def test_a_word_in_each_pair_leaves_no_test():
    found = summarise([1] * 20, clusters=[[0, n] for n in range(1, 21)])
    assert (found["verdict"], found["reason"]) == ("inconclusive", "one_word")
    assert np.isnan([found["p_value"], found["score_low"], found["inflation"]]).all()


def test_clusters_and_not_pairs_decide():
    assert summarise([1] * 20)["verdict"] == "above"
    found = summarise([1] * 20, clusters=np.arange(20) // 5)
    assert (found["verdict"], found["p_value"]) == ("inconclusive", 2 / 2**4)
    assert (found["clusters"], found["effective_clusters"]) == (4, 4)


def test_models_of_random_weights_are_compared_and_decide_nothing():
    alone = summarise([1] * 8 + [0] * 2)
    assert (alone["null_seeds"], alone["null_beyond"]) == (0, None)
    assert alone["studentised"] == pytest.approx(3 / (10 / 4) ** 0.5)
    nulls = [[1, 0] * 5, [0] * 9 + [1], [1] * 8 + [0] * 2, [None] * 10]
    found = summarise([1] * 8 + [0] * 2, nulls)
    assert (found["null_seeds"], found["null_beyond"]) == (3, 2)
    kept = [key for key in alone if not key.startswith("null_")]
    assert str([found[key] for key in kept]) == str([alone[key] for key in kept])


def test_verdicts_on_bias_types_are_adjusted_and_those_on_the_set_are_not():
    rows = []
    for bias_type, hits in (("all", 8), ("age", 8), ("race", 9), ("sex", 5)):
        pairs, decisions = made_decisions([1] * hits + [0] * (9 - hits))
        row, found = summarise_group(decisions, [], pairs.pair_id != "", 5.0)
        rows.append((row | {"bias_type": bias_type, "method": "aul"}, found))
    assert [row["verdict"] for row, _ in rows] == ["above", "above", "above", "inconclusive"]
    whole, age, race, sex = adjust_verdicts(rows)
    assert (whole["p_adjusted"], whole["verdict"]) == (whole["p_value"], "above")
    assert race["p_adjusted"] == pytest.approx(3 * race["p_value"])
    assert age["p_adjusted"] == pytest.approx(2 * age["p_value"])
    assert [one["verdict"] for one in (age, race, sex)] == ["inconclusive", "above", "inconclusive"]


def test_methods_that_decide_alike_are_one_test():
    rows, pairs, hits = [], made_decisions([1] * 8 + [0])[0], {"aul": 8, "cps": 8, "sss": 7}
    decisions = {name: made_decisions([1] * n + [0] * (9 - n))[1] for name, n in hits.items()}
    for bias_type in ("all", "age"):
        for name, of in decisions.items():
            row, found = summarise_group(of, [], pairs.pair_id != "", 5.0)
            rows.append((row | {"bias_type": bias_type, "method": name}, found))
    first = same_decisions(decisions)
    assert first == {"aul": "aul", "cps": "aul", "sss": "sss"}
    for row in adjust_verdicts(rows, first):
        if row["method"] != "sss":
            assert row["p_adjusted"] == pytest.approx(2 * row["p_value"])


def test_bias_types_are_sorted():
    pairs, _ = made([1, 2], [3, 4])
    pairs = pairs._replace(bias_type=np.array(["b", "a"]))
    assert pairs.bias_types == ["all", "a", "b"]
    assert pairs.of_type("a").tolist() == [False, True] and pairs.of_type("all").all()


def test_copies_of_a_pair_count_once():
    more, clusters = [1.0, 0, 1, 1, 0, 1] * 4, [n % 12 for n in range(24)]
    once, scores = made(more, [0.5] * 24, clusters)
    twice, more_scores = made(more * 2, [0.5] * 48, clusters * 2)
    twice = twice._replace(sentences=np.tile(once.sentences, 2))
    rows = [
        summarise_group(decide(pairs, of, "aul"), [], np.ones(len(pairs.cluster), bool), 5.0)
        for pairs, of in ((once, scores), (twice, more_scores))
    ]
    same = ("score", "score_low", "score_high", "p_value", "power", "further_clusters")
    (row, _), (copied, _) = rows
    assert [copied[name] for name in same] == pytest.approx([row[name] for name in same])
    assert copied["pairs"] == 2 * row["pairs"]
