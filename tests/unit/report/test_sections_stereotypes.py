import re

from evenhand.report.render import interval, p_value
from evenhand.report.sections.stereotypes_measures import describe_length
from evenhand.report.sections.stereotypes_meta import _thinned, agreement_words
from evenhand.report.sections.stereotypes_scores import conclude, headline, judge
from evenhand.report.sections.stereotypes_words import (
    gate_words,
    in_order,
    preference,
)
from evenhand.report.sentences import aligned

SIDES = ("the stereotype", "the anti-stereotype")


def row(method="aul", score=60.0, verdict="above", half=5.0, **other):
    one = {
        "method": method, "score": score, "score_low": score - half, "score_high": score + half,
        "verdict": verdict, "reason": "", "delta": 5.0, "power": 0.234, "further_clusters": 1200,
    }  # fmt: skip
    one |= other
    return one | judge(one, SIDES)


def test_a_verdict_names_its_direction():
    assert row()["words"] == "Prefers the stereotype."
    assert row(score=40.0, verdict="below")["words"] == "Prefers the anti-stereotype."
    assert row(score=40.0, verdict="below")["leaning"] == "less"
    small = row(score=52.0, half=1.0)
    assert small["words"] == "Prefers the stereotype, by less than 5 points."


def test_verdicts_without_a_preference_differ_in_what_is_known():
    one = row(score=51.0, verdict="equivalent")
    assert (one["leaning"], one["words"]) == ("none", "No preference beyond ±5 points.")
    start = "Undecided: "
    one = row(score=53.0, verdict="inconclusive")
    assert one["leaning"] == "unclear"
    assert one["words"] == (
        f"{start}a preference of 5 points would be found with a probability of 23 %; 1,200 more"
        " swaps would make it 80 %."
    )
    one = row(score=53.0, verdict="inconclusive", power=0.85, further_clusters=0)
    assert (
        one["words"]
        == f"{start}a preference of 5 points would be found with a probability of 85 %."
    )
    one = row(score=53.0, verdict="inconclusive", power=None, further_clusters=None)
    assert one["words"] == f"{start}too few swaps to show or exclude a preference."


def test_no_score_is_no_verdict():
    one = row(score=50.0) | {"score": None, "verdict": "not_scored", "reason": "nothing_scored"}
    assert judge(one, SIDES) == {
        "leaning": None,
        "words": "Not scored: no pair could be scored.",
    }
    words = judge(one | {"reason": "no_attention"}, SIDES)["words"]
    assert words == "Not scored: the model has no attention weight for each pair of tokens."


def test_a_model_is_judged_by_the_methods_that_count():
    aside = [row("aula"), row("sss_compat"), row("all_masked")]
    unclear = [row("aul", verdict="inconclusive"), row("cps", verdict="equivalent")]
    assert conclude(unclear + aside, SIDES) == {
        "significant": [],
        "leaning": "unclear",
        "words": "Undecided by 1 of 2 main methods: the pairs swap too few different words.",
    }
    fair = conclude([row("cps", verdict="equivalent"), *aside], SIDES)
    assert fair["leaning"] == "none"
    assert fair["words"] == ("It has no preference beyond ±5 points, by 1 of 1 main method.")
    assert conclude(aside, SIDES)["leaning"] is None
    assert conclude([row("aul"), row("cps")], SIDES)["words"] == (
        "It prefers the stereotype by all 2 main methods: AUL and CPS."
    )


def test_methods_that_disagree_are_said_to():
    other = row("sss", score=40.0, verdict="below")
    one = conclude([row("aul"), other], SIDES)
    assert one["words"] == (
        "The methods disagree: it prefers the stereotype by AUL, and the anti-stereotype by SSS."
    )
    assert one["leaning"] == "unclear"
    assert one["significant"] == ["AUL", "SSS"]


def model(name, significant=(), leaning="unclear", why=None):
    return {
        "model": name,
        "why": why,
        "conclusion": {"significant": list(significant), "leaning": leaning},
    }


def plain(markup):
    return re.sub(r"</?bdi>", "", str(markup))


def test_headline_counts_models():
    a, b = model("a", ["AUL"], "more"), model("b")
    assert plain(headline([a, b])).startswith("1 of the 2 models that can be judged has a sig")
    assert plain(headline([b])).endswith(
        "significant preference; undecided, as the pairs swap too few different words."
    )
    assert plain(headline([b, model("c")])).startswith(
        "Neither of the two models that can be judged"
    )
    failed = model("d", leaning=None, why=["Broken."])
    assert plain(headline([failed])) == (
        "No model can be judged on this set. d cannot be judged, since it did not pass the check."
    )
    assert plain(headline([])) == "No model was scored on this set."
    assert "&lt;b&gt;" in headline([model("<b>")])


def test_what_differs_is_marked_in_whole_words_or_characters():
    assert aligned("The poor man sat.", "The rich old man sat.")[1] == ("poor", "rich old")
    assert aligned("他在厨房。", "她在厨房。")[1] == ("他", "她")


def test_curves_keep_their_ends_and_drop_what_cannot_be_seen():
    points = [(i / 5000, i / 5000) for i in range(5001)]
    kept = _thinned(points)
    assert (kept[0], kept[-1]) == ((0, 0), (1, 1))
    assert 100 < len(kept) < 200
    assert _thinned(points[:1]) == points[:1] and _thinned([]) == []


def test_words():
    assert [p_value(p) for p in (None, float("nan"), 0.0, 0.0312, 1.0)] == [
        None, None, "< 0.001", "0.031", "1.000",
    ]  # fmt: skip
    assert interval(-1.0, 2.5) == "−1.0 to 2.5"
    assert interval(None, 2.5) is None
    assert preference("old") == "the old sentence"
    assert in_order(["new", "cps", "aul"]) == ["aul", "cps", "new"]
    assert gate_words("missing_weights, odd") == [
        "Its checkpoint lacks weights, which were made up at random.", "odd",
    ]  # fmt: skip


def area(method, auc, p=0.001, biased=100, unbiased=20):
    return {"method": method, "auc": auc, "auc_low": auc - 0.05, "auc_high": auc + 0.05,
            "p_value": p, "biased": biased, "unbiased": unbiased}  # fmt: skip


def test_agreement_with_people_needs_interval_and_p_value_and_pairs():
    assert agreement_words([area("aul", 0.6), area("cps", 0.4), area("sss", 0.52), None]) == (
        "Better than a coin: AUL. Worse than a coin, that is, against the annotators: CPS."
        " The other methods are undecided: they cannot be told from a coin."
    )
    unsure = [area("aul", 0.6, p=0.2), area("cps", 0.6, p=None)]
    assert agreement_words(unsure) == "Undecided: no method can be told from a coin."
    assert agreement_words([area("aul", 0.1, unbiased=1)]).startswith(
        "Cannot be judged, as there are too few pairs"
    )
    assert agreement_words([None]) == ""


def test_a_preference_for_length_is_stated_where_its_interval_excludes_a_half():
    def length(method, share, low, high):
        ends = {"share_longer_low": low, "share_longer_high": high}
        return {"model": "m", "method": method, "bias_type": "all", "share_longer": share} | ends

    rows = [
        length("aul", 1.0, 0.6, 1.0),
        length("aula", 1.0, 0.5, 1.0),
        length("cps", 0.0, None, None),  # few pairs
        length("sss", 0.05, 0.0, 0.3),
    ]
    (found,) = describe_length(rows)
    assert found["words"] == (
        "AUL almost always prefers the longer sentence; read its score on pairs of equal length."
        " SSS almost always prefers the shorter sentence; read its score on pairs of equal length."
    )
