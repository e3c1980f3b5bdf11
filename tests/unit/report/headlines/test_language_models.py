import json

import pytest

from evenhand.core.tables import write_tables
from evenhand.report.headlines.language_models import by_model
from evenhand.stereotypes.tables import bias_scores
from unit.report import made_stereotypes
from unit.report.checks import headline_of

describe = headline_of("language_models")


def scores(folder, rows, name="mine", effective=25):
    both = {"subset": "all", "bias_type": "all", "pairs": 90, "scored": 90, "ties": 0}
    both |= {"unscorable": 0, "clusters": 30, "effective_clusters": effective, "null_seeds": 10}
    both |= {"delta": 5.0, "power": 0.3, "further_clusters": 70, "trusted": True}
    table = [
        {"model": model, "method": method, "score": score, "verdict": verdict, **both}
        | {"score_low": score - 5, "score_high": score + 5}
        for model, method, score, verdict in rows
    ]
    path = folder / f"tables/pairs/{name}"
    write_tables(path, [(bias_scores.TABLE, table)])
    return path


def pair_set(folder, **other):
    path = folder / "stereotypes/mine/pairs.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"name": "mine", "title": "My pairs", "pairs": 90, "effective_clusters": 25.0}
    sides = {"more_means": "stereotype", "less_means": "anti-stereotype"}
    path.write_text(json.dumps(about | sides | other), encoding="utf-8")
    return path


def test_one_model_without_a_preference(tmp_path):
    rows = [
        ("tiny", "aul", 52.0, "inconclusive"),
        ("tiny", "aula", 90.0, "above"),  # a published form and a control do not count
        ("tiny", "all_masked", 90.0, "above"),
    ]
    headline = describe([pair_set(tmp_path), scores(tmp_path, rows)], {})
    assert headline.sentence == (
        "1 model and 1 set of pairs were compared in 1 combination: none shows a significant"
        " preference, 1 is undecided (too few different word swaps, such as he for she, to decide)."
    )
    assert headline.more == [
        "On <bdi>My pairs</bdi>, <bdi>tiny</bdi> comes nearest to a preference, which may be"
        " chance: AUL 52.0 (95 % interval 47.0 to 57.0). The score is the percentage of pairs in"
        " which it finds the stereotype likelier (AUL: mean log-probability of the tokens, read"
        " from the whole sentence without masks); 50 is no preference."
    ]
    assert headline.strength == 0 and headline.line == headline.sentence
    assert headline.next == (
        "Add pairs with 70 other swapped words to <bdi>My pairs</bdi>: <bdi>tiny</bdi> is undecided"
        " there, and a true score of 55 (AUL) would then be significant in 80 % of such tests."
    )
    assert "AUL 52.0 (95 % interval 47.0 to 57.0)" in str(headline.figure.to_dict())


def test_a_preference_with_its_interval_and_its_side(tmp_path):
    rows = [
        ("tiny", "aul", 52.0, "inconclusive"),
        ("tiny", "sss", 35.0, "below"),
        ("other", "aul", 50.0, "inconclusive"),
    ]
    headline = describe([pair_set(tmp_path), scores(tmp_path, rows)], {})
    assert headline.sentence == (
        "2 models and 1 set of pairs were compared in 2 combinations: 1 shows a significant"
        " preference, 1 is undecided (too few different word swaps, such as he for she, to decide)."
    )
    assert headline.more == [
        "On <bdi>My pairs</bdi>, <bdi>tiny</bdi> prefers the anti-stereotype: SSS 35.0 (95 %"
        " interval 30.0 to 40.0). The score is the percentage of pairs in which it finds the"
        " stereotype likelier (SSS: mean log-probability of the tokens that differ, all masked at"
        " once); 50 is no preference.",
        "Add pairs with 70 other swapped words to <bdi>My pairs</bdi>: <bdi>tiny</bdi> is undecided"
        " there, and a true score of 55 (AUL) would then be significant in 80 % of such tests.",
    ]
    assert headline.details == [headline.sentence, headline.more[1]]
    assert headline.next == (
        "Do not use <bdi>tiny</bdi>; mitigate and test again. No verdict here clears another model"
        " for use."
    )
    assert headline.short == (
        "Yes: <bdi>tiny</bdi> prefers the anti-stereotype on <bdi>My pairs</bdi>. Undecided:"
        " <bdi>other</bdi>. These results clear no model for use."
    )
    assert headline.line == headline.more[0] and headline.strength == 3
    near = describe([pair_set(tmp_path), scores(tmp_path, [("tiny", "aul", 57.0, "above")])], {})
    assert near.line.endswith(" The direction is significant; the strength is uncertain.")
    few = scores(tmp_path, [("tiny", "aul", 57.0, "above")], effective=8)
    wide = describe([pair_set(tmp_path), few], {})
    assert wide.line.endswith("count like 8 independent ones, which makes the interval wide.")
    assert any("not adjusted" in doubt for doubt in headline.doubts)


@pytest.mark.parametrize(
    ("leanings", "verdict"),
    [
        (("more", "unclear"), "Biased on <bdi>set 0</bdi>: do not use it"),
        (("unclear", "unclear"), "Undecided: the pairs swap too few different words."),
        (
            ("none", "unclear"),
            "Undecided on <bdi>set 1</bdi>: the pairs swap too few different words.",
        ),
        (("none", "none"), "No preference that matters on these pairs."),
        ((None,), "Cannot be judged: no score."),
    ],
)
def test_a_model_has_one_verdict_over_all_sets(leanings, verdict):
    results = [
        {"model": "tiny", "set": f"set {n}", "rows": [{"leaning": side}], "leaning": side}
        | {"significant": ["AUL"] * (side == "more")}
        for n, side in enumerate(leanings)
    ]
    assert by_model(results)["tiny"].startswith(verdict)


def test_small_models_and_few_swaps_are_doubts(tmp_path):
    gate = tmp_path / "stereotypes/mine/gates/tiny.json"
    gate.parent.mkdir(parents=True)
    gate.write_text('{"trusted": true, "parameters": 600000}', encoding="utf-8")
    rows = [("tiny", "aul", 52.0, "inconclusive")]
    files = [pair_set(tmp_path, effective_clusters=7.76), gate, scores(tmp_path, rows)]
    small, few = describe(files, {}).doubts
    assert "at most 0.6 million parameters" in small
    assert "count like so many independent ones: <bdi>My pairs</bdi> 7.8." in few
    assert small.files == ("stereotypes/mine/gates/tiny.json",)
    assert few.files == ("stereotypes/mine/pairs.json",)


def test_reads_what_the_stages_leave(tmp_path):
    hostile = "<script>x</script>"
    folder = made_stereotypes.write_results(tmp_path / "results", text=hostile)
    headline = describe(made_stereotypes.files(folder, "*/*/pairs.parquet", "*/*/scores/*"), {})
    assert "not at hand" in headline.unjudged
    (line,) = headline.verdicts
    assert line.counts == {"reproduced": 1, "not_reproduced": 1, "no_published_number": 1}
    assert any("<bdi>headless</bdi> cannot be judged on" in doubt for doubt in headline.doubts)
    words = [headline.sentence, *headline.more, *headline.doubts, headline.caption]
    drawn = str(headline.figure.to_dict())
    assert hostile not in "".join(map(str, words))
    assert f"{made_stereotypes.SENTINEL:.1f}" not in "".join(map(str, [*words, drawn]))
