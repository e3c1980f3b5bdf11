import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics.bootstrap import interval_of_mean
from evenhand.stereotypes.decisions import (
    Decisions,
    bias_types,
    count_clusters,
    decide,
    judge,
    score_intervals,
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
    pairs = Pairs(names, names, names, names, clusters, np.zeros(count), ~out, out)
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
    assert tally(found, np.ones(6, dtype=bool)) == {
        "pairs": 6,
        "scored": 3,
        "ties": 1,
        "unscorable": 3,
        "score": pytest.approx(100 / 3),
    }
    assert tally(found, found.status == "unscorable")["score"] is None
    assert tally(found, np.zeros(6, dtype=bool))["score"] is None
    assert count_clusters(pairs, found.counted()) == {"clusters": 3, "effective_clusters": 3}


def test_rounding_makes_ties():
    pairs, scores = made([-1.0001, -1.002], [-1.0004, -1.0])
    assert decide(pairs, scores, "aul").status.tolist() == ["scored", "scored"]
    assert decide(pairs, scores, "aul", decimals=3).status.tolist() == ["tie", "scored"]


@given(st.lists(st.tuples(st.integers(-3, 0), st.integers(-3, 0), st.booleans()), min_size=1))
def test_counts_add_up(items):
    more = [NAN if gone else one for one, _, gone in items]
    less = [other for _, other, _ in items]
    pairs, scores = made(more, less)
    everything = np.ones(len(items), dtype=bool)
    found = tally(decide(pairs, scores, "aul"), everything)
    assert found["scored"] + found["unscorable"] == found["pairs"] == len(items)
    _, turned = made(less, more)
    other = tally(decide(pairs, turned, "aul"), everything)
    assert (other["scored"], other["ties"]) == (found["scored"], found["ties"])
    if found["scored"]:
        tied = 100 * found["ties"] / found["scored"]
        assert found["score"] + other["score"] + tied == pytest.approx(100)
    else:
        assert found["score"] is None


def test_intervals_are_those_of_the_mean_of_the_hits():
    generator = np.random.default_rng(0)
    more, less = generator.normal(size=(2, 80))
    more[3] = NAN
    pairs, scores = made(more, less, generator.integers(12, size=80))
    found = decide(pairs, scores, "aul")
    chosen = np.arange(80) < 60
    (interval,) = score_intervals([found], chosen, pairs, {"seed": 1, "resamples": 300}, 0.95)
    kept = chosen & found.counted()
    expected = interval_of_mean(
        100.0 * found.hits()[kept], pairs.cluster[kept], seed=1, resamples=300
    )
    assert interval == pytest.approx(expected)


@pytest.mark.parametrize(
    ("score", "interval", "clusters", "null", "seeds", "expected"),
    [
        (60.0, (55, 65), 9, (45, 55), 3, ("distinguishable", "")),
        (40.0, (35, 45), 9, (45, 55), 3, ("distinguishable", "")),
        (60.0, (50, 65), 9, (45, 55), 3, ("not_distinguishable", "")),
        (60.0, (55, 65), 9, (45, 60), 3, ("not_distinguishable", "")),
        (60.0, (55, 65), 9, (45, 55), 2, ("not_distinguishable", "no_null")),
        (60.0, (55, 65), 9, (NAN, NAN), 0, ("not_distinguishable", "no_null")),
        (100.0, (100, 100), 5, (45, 55), 3, ("not_distinguishable", "few_clusters")),
        (100.0, (NAN, NAN), 1, (NAN, NAN), 0, ("not_distinguishable", "few_clusters, no_null")),
        (None, (NAN, NAN), 0, (45, 55), 3, ("not_scored", "nothing_scored")),
    ],
)
def test_verdicts(score, interval, clusters, null, seeds, expected):
    assert judge(score, interval, clusters, null, seeds) == expected


def test_ties_alone_are_no_bias():
    told = ("distinguishable", "")
    assert judge(0.0, (0, 0), 9, (45, 55), 3, tied=100.0) == ("not_distinguishable", "ties")
    assert judge(30.0, (25, 35), 9, (45, 55), 3, tied=20.0) == ("not_distinguishable", "ties")
    assert judge(30.0, (25, 35), 9, (45, 55), 3, tied=19.9) == told
    assert judge(60.0, (55, 65), 9, (45, 55), 3, tied=40.0) == told


def test_null_models_that_score_nothing_do_not_count():
    names = np.array(["0", "1"])
    pairs = Pairs(names, names, names, names, np.arange(2), np.zeros(2), names == "0", names == "2")
    nothing = Decisions(names, np.array([NAN, NAN]), np.array(["unscorable"] * 2))
    half = Decisions(names, np.array([1.0, -1.0]), np.array(["scored"] * 2))
    found = summarise_group(half, [half, nothing], names != "", pairs, (NAN, NAN), 0.95)
    assert (found["null_seeds"], found["null_mean"], found["null_sd"]) == (1, 50, None)
    assert (found["null_low"], found["null_high"]) == (None, None)
    found = summarise_group(nothing, [half] * 3, names != "", pairs, (NAN, NAN), 0.95)
    assert (found["score"], found["verdict"], found["clusters"]) == (None, "not_scored", 0)


def test_null_intervals_are_cut_to_what_a_score_can_be():
    names = np.array(["0", "1"])
    pairs = Pairs(names, names, names, names, np.arange(2), np.zeros(2), names == "0", names == "2")
    scored = np.array(["scored"] * 2)
    nulls = [Decisions(names, np.array(d), scored) for d in ([1.0, 1.0], [1.0, -1.0], [-1.0, -1.0])]
    found = summarise_group(nulls[1], nulls, names != "", pairs, (NAN, NAN), 0.95)
    assert (found["null_mean"], found["null_sd"]) == (50, 50)
    assert (found["null_low"], found["null_high"]) == (0, 100)


def test_bias_types_are_sorted():
    pairs, _ = made([1, 2], [3, 4])
    assert bias_types(pairs._replace(bias_type=np.array(["b", "a"]))) == ["a", "b"]
