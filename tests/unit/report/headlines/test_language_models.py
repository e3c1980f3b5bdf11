import json

import pytest

from evenhand.core.tables import write_tables
from evenhand.report.headlines.language_models import by_model
from evenhand.stereotypes.tables import bias_scores
from unit.report import made_stereotypes
from unit.report.checks import headline_of
from unit.report.headlines.kept import check_kept

describe = headline_of("language_models")

ONE_WORD = {"reason": "one_word", "inflation": None, "power": None, "further_clusters": None}


def scores(folder, rows, name="mine", effective=25, **other):
    both = {"subset": "all", "bias_type": "all", "pairs": 90, "scored": 90, "ties": 0}
    both |= {"unscorable": 0, "clusters": 30, "effective_clusters": effective, "null_seeds": 10}
    both |= {
        "delta": 5.0,
        "inflation": 1.0,
        "power": 0.3,
        "further_clusters": 70,
        "trusted": True,
        "p_adjusted": 0.012,
    }
    table = [
        {"model": model, "method": method, "score": score, "verdict": verdict, **both}
        | {"score_low": score - 5, "score_high": score + 5}
        | dict(zip(("bias_type", "p_value"), more, strict=False))
        | other
        for model, method, score, verdict, *more in rows
    ]
    path = folder / f"tables/pairs/{name}"
    write_tables(path, [(bias_scores.TABLE, table)])
    return path


def pair_set(folder, **other):
    path = folder / "stereotypes/mine/pairs.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"name": "mine", "title": "My pairs", "pairs": 90}
    sides = {"more_means": "stereotype", "less_means": "anti-stereotype"}
    path.write_text(json.dumps(about | sides | other), encoding="utf-8")
    return path


def gate(folder):
    path = folder / "stereotypes/mine/gates/tiny.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"trusted": true, "parameters": 600000}', encoding="utf-8")
    return path


UNDECIDED = ("tiny", "aul", 52.0, "inconclusive")
CLEAR = ("tiny", "aul", 57.0, "above")

#: What writes the files that a headline reads.
MADE = {
    "one model without a preference": lambda f: [
        pair_set(f),
        # a published form and a control do not count
        scores(f, [UNDECIDED, *(("tiny", name, 90.0, "above") for name in ("aula", "all_masked"))]),
    ],
    "one model that comes nearest to a preference by its second method": lambda f: [
        pair_set(f),
        scores(
            f,
            [
                ("tiny", "aul", 52.0, "inconclusive", "all", 0.4),
                ("tiny", "cps", 53.0, "inconclusive", "all", 0.06),
                ("tiny", "sss", 54.0, "inconclusive", "all", 0.2),
            ],
        ),
    ],
    "a preference, and another model": lambda f: [
        pair_set(f),
        scores(f, [UNDECIDED, ("tiny", "sss", 35.0, "below"), ("other", *UNDECIDED[1:])]),
    ],
    "bias types that cancel each other": lambda f: [
        pair_set(f),
        scores(
            f,
            [
                UNDECIDED,
                ("tiny", "aul", 80.0, "above", "age"),
                ("tiny", "aul", 20.0, "below", "race"),
                ("tiny", "aul", 52.0, "inconclusive", "class"),
                ("tiny", "cps", 80.0, "above", "class"),
                ("tiny", "aula", 80.0, "above", "rank"),  # does not count
            ],
        ),
    ],
    "a preference of the set, and one of a bias type against it": lambda f: [
        pair_set(f),
        scores(
            f,
            [
                CLEAR,
                ("tiny", "cps", 52.0, "inconclusive"),
                ("tiny", "aul", 95.0, "above", "home"),
                ("tiny", "cps", 5.0, "below", "class"),
            ],
        ),
    ],
    "methods that contradict each other on a bias type": lambda f: [
        pair_set(f),
        scores(
            f,
            [
                UNDECIDED,
                ("tiny", "aul", 95.0, "above", "<age>"),
                ("tiny", "cps", 5.0, "below", "<age>"),
                ("tiny", "cps", 50.0, "inconclusive", "class"),
            ],
        ),
    ],
    "a method that excludes a preference, and one that does not": lambda f: [
        pair_set(f),
        scores(
            f,
            [
                ("tiny", "aul", 51.0, "equivalent", "all", 0.3),
                ("tiny", "cps", 48.5, "inconclusive", "all", 0.4),
            ],
        ),
    ],
    "a preference of uncertain strength": lambda f: [pair_set(f), scores(f, [CLEAR])],
    "methods that disagree": lambda f: [
        pair_set(f), scores(f, [CLEAR, ("tiny", "cps", 37.0, "below"), ("tiny", "sss", *CLEAR[2:])])
    ],
    "an interval of another method that contains 50": lambda f: [
        pair_set(f), scores(f, [("tiny", "aul", 54.0, "above")]),
    ],
    "a bias type with such an interval, and a preference of the control": lambda f: [
        pair_set(f),
        scores(
            f,
            [
                UNDECIDED,
                ("tiny", "aul", 54.0, "above", "age"),
                ("tiny", "aul", 61.0, "above", "race"),
                ("tiny", "all_masked", 63.0, "above", "race"),
                ("other", *CLEAR[1:]),
                ("other", "all_masked", 62.0, "above"),
            ],
        ),
    ],
    "a causal model has no control": lambda f: [
        pair_set(f), scores(f, [("tiny", "log_likelihood", *CLEAR[2:])]),
    ],
    "a causal model whose swaps occur in both directions": lambda f: [
        pair_set(f, same_word=46), scores(f, [("tiny", "log_likelihood", *CLEAR[2:])]),
    ],
    "a causal model that prefers the other side of them": lambda f: [
        pair_set(f, same_word=46), scores(f, [("tiny", "log_likelihood", 41.0, "below")]),
    ],
    "one model with such an interval, and one without": lambda f: [
        pair_set(f), scores(f, [("tiny", "aul", 54.0, "above"), ("other", *CLEAR[1:])]),
    ],
    "a set with such an interval, and one without": lambda f: [
        pair_set(f),
        scores(f, [("tiny", "aul", 54.0, "above")]),
        scores(f, [("tiny", "aul", 57.0, "above")], name="second"),
    ],
    "one word in every pair": lambda f: [
        pair_set(f), scores(f, [UNDECIDED], **ONE_WORD),
    ],
    "perhaps by chance": lambda f: [pair_set(f), scores(f, [CLEAR], p_adjusted=0.2)],
    "many misplaced pairs": lambda f: [pair_set(f), scores(f, [CLEAR], misplaced=9)],
    "one side is longer": lambda f: [pair_set(f), scores(f, [CLEAR], one_longer=90, scored=90)],
    "a bias type of many misplaced pairs": lambda f: [
        pair_set(f),
        scores(f, [UNDECIDED, (*CLEAR, "age"), (*UNDECIDED, "race")], misplaced=9),
    ],
    "few different words": lambda f: [pair_set(f), scores(f, [CLEAR], effective=8)],
    "a small model and few swaps": lambda f: [
        pair_set(f), gate(f), scores(f, [UNDECIDED], effective=7.76),
    ],
}  # fmt: skip


def test_headlines_are_those_that_are_kept(tmp_path):
    found = {name: describe(make(tmp_path / name), {}) for name, make in MADE.items()}
    check_kept("language_models", found)


@pytest.mark.parametrize(
    ("leanings", "verdict"),
    [
        (("more", "unclear"), "Biased on <bdi>set 0</bdi>: do not use it"),
        (("wide", "none"), "A significant preference on <bdi>set 0</bdi>, but borderline: the"),
        (("unclear", "unclear"), "Undecided: the pairs swap too few different words."),
        (
            ("none", "unclear"),
            "Undecided on <bdi>set 1</bdi>: the pairs swap too few different words.",
        ),
        (("split", "unclear"), "Biased for single bias types on <bdi>set 0</bdi>. By bias type it"),
        (("none", "none"), "No preference that matters on these pairs."),
        (("more", "moved"), "Biased on <bdi>set 0</bdi>: do not use it"),
        (("moved",), "A significant preference on <bdi>set 0</bdi>, but 9 pairs look misplaced."),
        (("many", "none"), "A significant preference on <bdi>set 0</bdi>, but no p-value is below"),
        ((None,), "Cannot be judged: no score."),
        (
            ("frequent",),
            "Biased on <bdi>set 0</bdi> (perhaps from word frequencies): do not use it where",
        ),
        (
            ("more", "frequent"),
            "Biased on <bdi>set 0</bdi> and <bdi>set 1</bdi> (perhaps from word frequencies on"
            " <bdi>set 1</bdi>): do not use it where",
        ),
    ],
)
def test_a_model_has_one_verdict_over_all_sets(leanings, verdict):
    ends = dict.fromkeys(("more", "frequent", "moved", "many"), (51, 70)) | {"wide": (49, 70)}
    types = [{"doubt": ""}]
    results = [
        {"model": "tiny", "set": f"set {n}", "leaning": side, "lack": "few"}
        | {"doubt": "9 pairs look misplaced" * (side == "moved")}
        | {"control": "it prefers the same side" * (side == "frequent")}
        | {
            "rows": [
                {"leaning": "more" if side in ends else side, "verdict": "above"}
                | dict(zip(("score_low", "score_high"), ends.get(side, ()), strict=False))
            ]
        }
        | {"chance": "no p-value is below 0.05" * (side == "many")}
        | {"opposed": types * (side == "split"), "types": types * (side == "split")}
        | {"significant": ["AUL"] * (side in ends)}
        for n, side in enumerate(leanings)
    ]
    assert by_model(results)["tiny"].startswith(verdict)


def test_reads_what_the_stages_leave(tmp_path):
    hostile = "<script>x</script>"
    folder = made_stereotypes.write_results(tmp_path / "results", text=hostile)
    headline = describe(made_stereotypes.files(folder, "*/*/pairs.parquet", "*/*/scores/*"), {})
    (line,) = headline.verdicts
    assert line.counts == {"reproduced": 1, "not_reproduced": 1}
    assert any("<bdi>headless</bdi> cannot be judged on" in doubt for doubt in headline.doubts)
    words = [headline.sentence, *headline.more, *headline.doubts, headline.caption]
    drawn = str(headline.figure.to_dict())
    assert hostile not in "".join(map(str, words))
    assert f"{made_stereotypes.SENTINEL:.1f}" not in "".join(map(str, [*words, drawn]))
