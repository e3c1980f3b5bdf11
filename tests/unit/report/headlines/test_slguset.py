import json

import pytest

from evenhand.core.tables import write_tables
from evenhand.slguset.count_funnel import FUNNEL, QUARANTINE
from evenhand.slguset.describe_dataset import TABLE
from evenhand.slguset.tables import models
from unit.report import made_results
from unit.report.checks import headline_of

describe = headline_of("slguset")


STATISTICS = "slguset/statistics.json"
PUBLISHED = "model,sentences,within,above,below\nbase,20000,1,2,3\nother,20000,1,2,3\n"
STEPS = (("read", 100, 1.0), ("keyword", 40, 0.4), ("accepted", 12, 0.12))


def funnel(folder):
    steps = [dict(zip(("step", "sentences", "share"), row, strict=True)) for row in STEPS]
    write_tables(folder / "tables/corpus", [(FUNNEL, steps), (QUARANTINE, [])])
    return folder / "tables/corpus"


def write(folder, text, name):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def bias(folder, rows, name="slguset"):
    path = folder / "tables/bias" / name
    common = {"scored": 20_000, "trusted": True, "verdict": "inconclusive"}
    write_tables(path, [(models.TABLE, [common | row for row in rows])])
    return path


def lean(model, mean, verdict="inconclusive", **other):
    ends = {"mean_bias_low": mean - 0.1, "mean_bias_high": mean + 0.1}
    return {"model": model, "mean_bias": mean, "verdict": verdict} | ends | other


def published(folder, sentences=20_000, characters=4_220, dropped=None, female=10_000):
    place = "slguset_published"
    row = {"pair": "a/b", "surface": "a/b", "male": 10000, "female": female}
    row |= {"published_male": 10000, "published_female": 10000}
    write_tables(folder / "tables/sentences" / place, [(TABLE, [row])])
    numbers = {"sentences": sentences, "distinct_characters": characters}
    report = {
        "keywords": {"accepted": sentences},
        "dropped": dropped or {},
        "sentences": sentences,
        "positions": {"right": sentences - 30, "wrong": 30},
        "pass_every_filter": sentences - 50,
    }
    return [
        folder / "tables/sentences" / place,
        write(folder, json.dumps(numbers), f"{place}/statistics.json"),
        write(folder, json.dumps(report), f"{place}/report.json"),
    ]


def counts(found):
    return {line.name.partition(":")[0].partition(" (")[0]: line.counts for line in found.verdicts}


def test_a_single_model(tmp_path):
    found = describe([bias(tmp_path, [lean("tiny", -0.02)])], {})
    assert found.sentence == (
        "<bdi>tiny</bdi> shows no significant bias direction; a bias is not excluded: its mean Bias"
        " (logarithm of how much likelier the male word is) is −0.020 (95 % interval −0.120 to"
        " +0.080)."
    )
    near = describe([bias(tmp_path / "2", [lean("tiny", 0, "equivalent", threshold=0.3)])], {})
    assert "no bias beyond ±0.3 on average" in near.sentence


def test_several_models_are_counted(tmp_path):
    rows = [lean("a", 0.3, "male"), lean("b", -0.5, "female"), lean("c", 0.01)]
    found = describe([bias(tmp_path, rows)], {})
    assert found.sentence.startswith(
        "Of 3 models, 1 shows a significant male bias, 1 a female one, and 1 no significant bias"
        " direction; <bdi>b</bdi>"
    )
    clear = describe([bias(tmp_path, [lean("a", 0.01), lean("c", 0.01)])], {})
    assert clear.sentence.startswith("None of 2 models shows a significant bias")


def test_an_untrusted_model_gets_no_number(tmp_path):
    row = lean("<b>", 0.777, "male", trusted=False, reason="missing_weights, a_new_reason")
    found = describe([bias(tmp_path, [row])], {})
    assert found.sentence == "No model passed its check, so bias cannot be judged."
    (doubt,) = found.doubts
    assert doubt.startswith("<bdi>&lt;b&gt;</bdi> cannot be judged. Its checkpoint lacks")
    assert "a_new_reason" in doubt
    assert "777" not in f"{found.sentence}{found.more}{found.doubts}"


def test_a_data_set_without_and_with_answers(tmp_path):
    found = describe([funnel(tmp_path)], {})
    assert found.sentence == (
        "This edition of SlguSet is not usable yet: the annotators’ answers are missing."
    )
    assert found.more == ["Of 100 sentences read, 12 passed every filter."]
    assert "sheets are still out" in found.doubts[0]
    found = describe([funnel(tmp_path), write(tmp_path, '{"sentences": 7}', STATISTICS)], {})
    assert "agreement of its annotators was not measured" in found.sentence
    assert "the 7 that the annotators accepted make the data set" in found.more[0]
    assert not found.doubts


def test_the_authors_file_is_judged(tmp_path):
    dropped = {"names_jieba": 3, "names_crf": 0, "biology": 0, "pair_fit": 0}
    headline = describe(published(tmp_path, dropped=dropped), {})
    assert headline.sentence == (
        "19,950 of 20,000 sentences of the authors’ published file pass every filter."
    )
    (doubt,) = headline.doubts
    assert doubt == "30 of the 20,000 keyword positions in the authors’ published file are wrong."
    found = counts(headline)
    assert found["Table 1"] == {"reproduced": 1}
    assert found["Distinct characters"] == {"reproduced": 1}
    assert found["What the paper says of its sentences"] == {"reproduced": 2, "not_reproduced": 1}
    found = counts(describe(published(tmp_path, characters=4_221, female=9_999), {}))
    assert found == {"Table 1": {"not_reproduced": 1}, "Distinct characters": {"not_reproduced": 1}}


def test_another_file_in_the_authors_form_is_not_judged(tmp_path):
    found = describe(published(tmp_path, sentences=60, dropped={"biology": 1}), {})
    assert set(map(tuple, counts(found).values())) == {("not_run",)}
    assert "60 sentences and is not the authors’" in found.verdicts[0].note


def test_published_counts_of_models_are_judged_within_a_share(tmp_path):
    near = {"within_threshold": 7_223, "above_threshold": 6_024 + 200, "below_threshold": 6_000}
    known = {"published_within": 7_223, "published_above": 6_024, "published_below": 6_743}
    files = [
        bias(tmp_path, [lean("base", 0.1, **near, **known)], "slguset_published"),
        write(tmp_path, PUBLISHED, "zh_gender/published_bias.csv"),
    ]
    found = describe(files, {})
    assert counts(found)["Sentences by Bias"] == {
        "reproduced": 2,
        "not_reproduced": 1,
        "not_run": 3,
    }
    assert found.sentence.endswith("This is on a stand-in for the authors’ published file.")


def test_reads_what_the_stages_leave(tmp_path):
    folder = made_results.write_results(tmp_path / "results")
    files = [
        folder / "tables/corpus",
        folder / "tables/annotation",
        folder / "slguset/statistics.json",
        folder / "tables/bias/slguset",
        folder / "tables/bias/slguset_published",
        folder / "tables/sentences/slguset_published",
        folder / "slguset_published/statistics.json",
        folder / "slguset_published/report.json",
    ]
    found = describe(files, {})
    assert found.sentence.replace("\xa0", " ") == (
        "This edition of SlguSet is not usable for conclusions yet: Krippendorff’s alpha of its"
        " annotators (agreement beyond chance) is 0.62, and conclusions need 0.667."
    )
    assert found.short == "Not usable for conclusions yet: the annotators agree too little."
    assert found.more[0].replace("\xa0", " ") == (
        "Two annotators give the same answer in 88.9 % of cases; as most answers are the same,"
        " chance alone would give about 71 %."
    )
    assert found.sentence.files == ("tables/annotation/agreement.csv",)
    assert found.more[1].startswith("Of 215 sentences read, 18 passed every filter")
    assert found.next == "Clarify the criteria, annotate a new sample, and report its alpha."
    assert found.more[2].startswith("Of 2 models, 2 show a significant male bias, 0 a female one")
    doubts = " ".join(found.doubts)
    assert "<bdi>headless</bdi> cannot be judged" in doubts
    assert "2 parts of the corpus could not be read." in doubts


@pytest.mark.parametrize(("female", "word"), [(6, "Balanced"), (5, "Not balanced")])
def test_the_answer_states_whether_both_words_are_as_frequent(tmp_path, female, word):
    pairs = [{"pair": "a", "male": 4, "female": 3}, {"pair": "b", "male": 2, "female": female - 3}]
    document = json.dumps({"sentences": 6 + female, "pairs": pairs})
    found = describe([write(tmp_path, document, STATISTICS)], {})
    assert f"{word}: 6 sentences with a male word, {female} sentences with a female" in found.short
