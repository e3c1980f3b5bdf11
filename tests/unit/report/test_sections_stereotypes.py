import pytest

from evenhand.report.render import interval, p_value
from evenhand.report.sections.stereotypes_measures import describe_length, left_out_pairs
from evenhand.report.sections.stereotypes_meta import _thinned, agreement_words
from evenhand.report.sections.stereotypes_scores import (
    are_alike,
    cells_by,
    conclude,
    headline,
    judge,
)
from evenhand.report.sections.stereotypes_words import gate_words, in_order, preference
from evenhand.report.sentences import aligned
from expected import check_expected

SIDES = ("the stereotype", "the anti-stereotype")


def row(method="aul", score=60.0, verdict="above", half=5.0, **other):
    one = {
        "method": method, "score": score, "score_low": score - half, "score_high": score + half,
        "verdict": verdict, "reason": "", "delta": 5.0, "power": 0.234, "further_clusters": 1200,
        "bias_type": "all", "inflation": 1.0, "p_adjusted": 0.012,
        "effective_clusters": 25.0, "scored": 30, "pairs": 30,
    }  # fmt: skip
    one |= other
    return one | judge(one, SIDES)


def model(name, significant=(), leaning="unclear", why=None, lack="few", types=()):
    return {
        "model": name,
        "why": why,
        "types": types,
        "opposed": types,
        "conclusion": {
            "significant": list(significant),
            "leaning": leaning,
            "lack": lack,
            "chance": "",
        },
    }


def area(method, auc, p=0.001, biased=100, unbiased=20):
    return {"method": method, "auc": auc, "auc_low": auc - 0.05, "auc_high": auc + 0.05,
            "p_value": p, "biased": biased, "unbiased": unbiased}  # fmt: skip


def length(method, share, low, high):
    ends = {"share_longer_low": low, "share_longer_high": high}
    return {"model": "m", "method": method, "bias_type": "all", "share_longer": share} | ends


NOT_SCORED = {"score": None, "verdict": "not_scored", "reason": "nothing_scored"}
NO_ATTENTION = NOT_SCORED | {"reason": "no_attention"}
UNCLEAR = {"score": 53.0, "verdict": "inconclusive"}
ONE_WORD = {"reason": "one_word", "inflation": None, "power": None, "further_clusters": None}
ASIDE = [row("aula"), row("sss_compat"), row("all_masked")]  # methods that do not count

#: The verdict on one score.
JUDGED = {
    "above": row(),
    "below": row(score=40.0, verdict="below"),
    "above by little": row(score=52.0, half=1.0),
    "equivalent": row(score=51.0, verdict="equivalent"),
    "undecided": row(**UNCLEAR),
    "undecided with enough": row(**UNCLEAR, power=0.85, further_clusters=0),
    "undecided with nearly enough": row(**UNCLEAR, power=0.796, further_clusters=3),
    "undecided with enough but for rounding": row(**UNCLEAR, power=0.79996, further_clusters=1),
    "one word is in every pair": row(**UNCLEAR, **ONE_WORD),
    "undecided without a number of swaps": row(**UNCLEAR, further_clusters=None),
    "many pairs look misplaced": row(misplaced=3),
    "fewer pairs look misplaced": row(misplaced=2),
    "one side is longer": row(one_longer=27),
    "one side is longer in fewer": row(one_longer=26),
    "one side is longer, beside pairs of equal length": row(one_longer=9, unequal=10),
    "one side is longer in too few for the preference": row(one_longer=5, unequal=5),
    "undecided without a power": row(**UNCLEAR, power=None, further_clusters=None),
    "not scored": row() | NOT_SCORED | judge(row() | NOT_SCORED, SIDES),
    "no attention": row() | NO_ATTENTION | judge(row() | NO_ATTENTION, SIDES),
}

#: The scores of one model by its methods.
CONCLUDED = {
    "undecided": [row(verdict="inconclusive"), row("cps", verdict="equivalent"), *ASIDE],
    "undecided by all": [row(**UNCLEAR), row("cps", **UNCLEAR)],
    "undecided with enough power": [row(**UNCLEAR, power=0.85, further_clusters=0)],
    "undecided as swaps share words": [row(**UNCLEAR, inflation=5.3)],
    "undecided as few templates are shared": [row(**UNCLEAR, further_clusters=None, templates=12)],
    "undecided as pairs are few, of which some share a template": [
        row(**UNCLEAR, further_clusters=None, templates=13, inflation=1.06)
    ],
    "many misplaced pairs, of which most are of a type": [
        row(misplaced=3),
        row(bias_type="age", pairs=5, misplaced=3),
        row(bias_type="race"),
    ],
    "undecided as one word is in every pair": [row(**UNCLEAR, **ONE_WORD)],
    "bias types against each other": [
        *(row(name, bias_type="all") for name in ("aul", "cps")),
        row(bias_type="home", score=100.0),
        row(bias_type="class", score=0.0, verdict="below"),
    ],
    "a bias type against the set, by another method": [
        row(score=40.0, verdict="below"),
        row("cps", bias_type="home", score=100.0),
        row("cps", bias_type="diet", **UNCLEAR),
    ],
    "types by two methods": [
        row(**UNCLEAR),
        row(bias_type="home", score=100.0),
        row("cps", bias_type="class", score=0.0, verdict="below"),
    ],
    "undecided but for a type": [
        row(**UNCLEAR),
        row("cps", bias_type="age"),
        row("cps", bias_type="diet", **UNCLEAR),
        *ASIDE,
    ],
    "types of one direction": [
        row(),
        *(row(bias_type=name, score=95.0) for name in ("age", "class", "home", "race")),
    ],
    "the only type": [row(), row(bias_type="age")],
    "none": [row("cps", verdict="equivalent"), *ASIDE],
    "no method that counts": ASIDE,
    "two that agree": [row(), row("cps")],
    "two that agree by chance": [row(p_adjusted=0.068), row("cps", p_adjusted=0.07)],
    "two, of which one is clear": [row(), row("cps", p_adjusted=0.07)],
    "two that disagree": [row(), row("sss", score=40.0, verdict="below")],
}

CLEAR = model("a", ["AUL"], "more")

#: Models on one set.
HEADED = {
    "one of two": [CLEAR, model("b")],
    "none of one": [model("b")],
    "bias types against each other in one": [
        model("a", ["AUL"], "more", types=["age"]),
        model("b"),
    ],
    "none but for a type": [model("b", types=["age"]), model("c")],
    "none whose swaps are independent": [model("b", lack="shared")],
    "none of fewer sentences than words": [model("b", lack="templates")],
    "none, for two reasons": [model("b", lack="one_word"), model("c")],
    "none of two": [model("b"), model("c", leaning="none")],
    "one that failed": [model("d", leaning=None, why=["Broken."])],
    "no model": [],
    "a hostile name": [model("<b>")],
}

#: Whether scores agree with people.
AGREED = {
    "better, worse and undecided": [
        area("aul", 0.6), area("cps", 0.4), area("sss", 0.52), None,
    ],
    "undecided": [area("aul", 0.6, p=0.2), area("cps", 0.6, p=None)],
    "too few pairs": [area("aul", 0.1, unbiased=1)],
    "nothing": [None],
}  # fmt: skip

LENGTHS = [
    length("aul", 1.0, 0.6, 1.0),
    length("aula", 1.0, 0.5, 1.0),
    length("cps", 0.0, None, None),  # few pairs
    length("sss", 0.05, 0.0, 0.3),
]


def test_two_methods_that_must_decide_alike_count_once():
    both = [
        row(name, subset=subset, pairs=10 if subset == "all" else 9, scored=9)
        for name in ("log_likelihood", "log_likelihood_per_token")
        for subset in ("all", "equal_length")
    ]
    assert are_alike(both) and not are_alike(both[:2])
    assert not are_alike([*both[:3], both[3] | {"scored": 8}])
    words = conclude(both[::2], SIDES, alike=True)["words"]
    assert words == (
        "It prefers the stereotype by Log-likelihood and Log-likelihood per token. Both methods"
        " decide alike, as the two sentences of each pair have equally many tokens."
    )


def test_parts_that_are_the_whole_set_have_no_row():
    sizes = {"all": 30, "clean": 28, "equal_length": 30, "stereo": 30}
    table = cells_by("subset", [row(subset=name, pairs=size) for name, size in sizes.items()])
    assert [line["pairs"] for line in table["rows"]] == [30, 28]
    assert table["same"] == (
        "These are every pair, too: Both sentences have equally many tokens; Pairs that show a"
        " stereotype."
    )
    types = cells_by("bias_type", [row(subset="all", bias_type=name) for name in ("all", "age")])
    assert len(types["rows"]) == 2 and not types["same"]


def test_verdicts_are_those_that_are_kept():
    lines = [f"{name}: {one['leaning']} {one['words']}" for name, one in JUDGED.items()]
    lines += [f"{name}: {conclude(rows, SIDES)}" for name, rows in CONCLUDED.items()]
    lines += [f"{name}: {headline(models)}" for name, models in HEADED.items()]
    lines += [f"{name}: {agreement_words(areas)}" for name, areas in AGREED.items()]
    lines += [one["words"] for one in describe_length(LENGTHS)]
    check_expected("headlines/pairs.txt", "\n".join(lines) + "\n")
    seldom = [length("aul", 0.3, 0.2, 0.4), length("aula", 0.7, 0.6, 0.8)]
    assert not describe_length(seldom)[0]["words"]


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
    assert [p_value(p) for p in (None, float("nan"), 0.0, 0.0312, 0.049996, 0.05, 0.0504, 1)] == [
        None, None, "< 0.001", "0.031", "0.049996", "0.050", "0.0504", "1.000",
    ]  # fmt: skip
    assert interval(-1.0, 2.5) == "−1.0 to 2.5"
    assert interval(None, 2.5) is None
    assert preference("old") == "the old sentence"
    assert in_order(["new", "cps", "aul"]) == ["aul", "cps", "new"]
    assert gate_words("missing_weights, odd") == [
        "Its checkpoint lacks weights, which were made up at random.", "odd",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("unscorable", "words"),
    [
        ({"aul": 3, "sss": 3}, "3 of 60 pairs are left out (a sentence has no score)"),
        ({"aul": 0, "sss": 3}, "3 of 60 pairs are left out (no score by SSS"),
        ({"aul": 0, "sss": 0}, ""),
    ],
)
def test_pairs_without_a_score_by_one_method_name_it(unscorable, words):
    whole = {"subset": "all", "bias_type": "all"}
    rows = [whole | {"method": name, "unscorable": n} for name, n in unscorable.items()]
    found = left_out_pairs({"excluded": {"empty": 0}, "pairs": 60}, rows)
    assert found.startswith(words) and bool(found) == bool(words)
    assert ("by" in found) == (len({*unscorable.values()}) > 1)
