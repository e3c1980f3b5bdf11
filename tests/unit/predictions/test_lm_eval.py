"""Logs of lm-evaluation-harness: the harness's share, with clusters and a verdict."""

import gzip
import json

import numpy as np
import pytest

import evenhand as eh
from evenhand.cli import predictions
from evenhand.core.tables import read_tables
from evenhand.errors import InputError
from evenhand.predictions.audit_predictions import audit_predictions
from evenhand.predictions.lm_eval import read_logs, shared_pairs
from evenhand.predictions.words import REASONS, findings, notes, undecided
from evenhand.stereotypes.pairs import FLAGS

TRADES = ["nurse", "baker", "judge", "pilot", "cook", "clerk", "miner", "tailor", "guard", "actor"]


def crows(hits, swaps=("she", "he")):
    """A log as the harness writes it: stereotypical sentences are likelier in the first pairs."""
    for i, trade in enumerate(TRADES * 4):
        more, less = (f"The {trade} said that {word} is {i} of {i}." for word in swaps)
        doc = {"sent_more": more, "sent_less": less, "stereo_antistereo": "stereo"}
        doc |= {"bias_type": "gender" if i % 2 else "age", "sent_id": i}
        scores = [[-10.0, False], [-12.0, False]]
        scores = scores if i < hits else scores[::-1]
        responses = {"resps": [[one] for one in scores], "filtered_resps": scores}
        found = {"likelihood_diff": 2.0, "pct_stereotype": float(i < hits)}
        yield {"doc_id": i, "doc": doc, "target": 0, **responses, **found}


def bbq():
    """Forty questions of twenty templates: half of the answers name a group, all biased."""
    for i in range(40):
        named, condition = float(i % 2), "ambig" if i < 20 else "disambig"
        doc = {"category": "Age", "question_index": str(i // 2), "context_condition": condition}
        found = [1 - named, named, named, "False"]  # other categories have NaN
        yield {"doc_id": i, "doc": doc, "amb_bias_score": found, "disamb_bias_score": found,
               "amb_bias_score_SES": [0.0, float("nan"), float("nan"), float("nan")]}  # fmt: skip


def audit(folder, samples, name="samples_crows_pairs_english_2026-01-02T03-04-05.jsonl"):
    logs = folder / "logs" / "model"
    logs.mkdir(parents=True, exist_ok=True)
    (logs / name).write_text("".join(json.dumps(one) + "\n" for one in samples))
    made = {key: folder / key for key in ("out", "cases", "meta")}
    audit_predictions(files=[folder / "logs"], **made, name="logs", format="lm_eval")
    return read_tables(folder / "out")


def test_the_share_is_that_of_the_harness(tmp_path):
    samples = list(crows(hits=30))
    tables = audit(tmp_path, samples)
    rows = {row["bias_type"]: row for row in tables["preferences"]}
    spelt = tables | {"preferences": [*rows.values(), rows["age"] | {"bias_type": "Age"}]}
    (note,) = notes({"unknown": {}, "rows": 40}, spelt, "")
    assert note.startswith("The groups 'age', 'Age' of bias_type differ only in capital")
    assert set(rows) == {"all", "gender", "age"}
    share = sum(one["pct_stereotype"] for one in samples) / len(samples)
    assert rows["all"]["score"] == 100 * share
    assert rows["all"]["task"] == "crows_pairs_english"
    # all pairs swap the same words, so that there is one cluster and no verdict
    assert rows["all"]["clusters"] == 1 and rows["all"]["verdict"] == "inconclusive"
    assert (
        "Undecided: one word, or one sentence around the words, is in each pair"
        in findings(tables, 5)[0]
    )


def test_pairs_with_words_of_their_own_have_a_verdict(tmp_path):
    samples = list(crows(hits=38))
    for i, one in enumerate(samples):
        one["doc"]["sent_more"] = one["doc"]["sent_more"].replace(" she ", f" wo{i} x{i} ")
        one["doc"]["sent_less"] = one["doc"]["sent_less"].replace(" he ", f" ma{i} ")
    tables = audit(tmp_path, samples)
    row = tables["preferences"][0]
    longer = "40 of 40 pairs of unequal length have the same side longer, so this may come from"
    assert longer in findings(tables, 5)[0]
    assert row["clusters"] == 40 and row["verdict"] == "above"
    assert row["score_low"] > 50


def with_own_words(samples):
    """Replace the swapped words of each pair by two of its own."""
    for i, one in enumerate(samples):
        for side, word in {"sent_more": "she", "sent_less": "he"}.items():
            one["doc"][side] = one["doc"][side].replace(f" {word} ", f" {word}{i} ")
    return samples


def test_the_verdict_on_a_task_does_not_depend_on_other_logs(tmp_path):
    alone = audit(tmp_path, with_own_words([*crows(hits=27)]))["preferences"]
    assert [row["tests"] for row in alone] == [1, 2, 2]
    whole = alone[0]
    assert whole["verdict"] == "above" and whole["p_adjusted"] == whole["p_value"] < 0.05
    (words, *_) = findings({"preferences": alone}, 5)
    assert words.endswith(" 82), 18 points above 50 (1 to 32). Significant (p = 0.038).")
    audit(tmp_path, bbq(), "samples_bbq_1.jsonl")
    rows = audit(tmp_path, with_own_words([*crows(hits=20)]), "samples_crows_other_1.jsonl")
    rows = [row for row in rows["preferences"] if row["task"] == "crows_pairs_english"]
    assert rows == alone


def test_contexts_and_bias_types_of_a_task_are_adjusted_together(tmp_path):
    samples = [*bbq()]
    for sample in samples[::2]:
        sample["doc"]["category"] = "SES"
        sample["amb_bias_score"] = sample["disamb_bias_score"] = [0.0, 1.0, 1.0, "False"]
    for sample in samples[:4]:
        sample["amb_bias_score"] = sample["disamb_bias_score"] = [0.0, 0.0, 1.0, "False"]
    rows = audit(tmp_path, samples, "samples_bbq_1.jsonl")["preferences"]
    assert [(row["bias_type"], row["tests"]) for row in rows] == [
        *(("all", 2), ("Age", 4), ("SES", 4)) * 2
    ]
    age = rows[1]
    assert age["p_value"] < age["p_adjusted"] <= 4 * age["p_value"]


def test_tasks_of_one_bias_type_are_a_family(tmp_path):
    for task in ("english", "english_age", "english_race_color"):
        name = f"samples_crows_pairs_{task}_1.jsonl"
        samples = with_own_words([*crows(hits=27)])
        for sample in samples:
            sample["doc"]["bias_type"] = "gender"
        rows = audit(tmp_path, samples, name)["preferences"]
    assert [row["tests"] for row in rows] == [1, 2, 2]
    assert rows[1]["p_adjusted"] == pytest.approx(2 * rows[0]["p_value"], rel=1e-4)
    words = findings({"preferences": rows}, 5)
    assert words[0].startswith("crows_pairs_english: ")
    assert words[1].endswith(
        "Undecided: p = 0.038 is not significant after adjustment for 2 tests (adjusted p = 0.077)."
    )


def test_a_few_templates_are_few_however_many_swaps_they_have(tmp_path):
    samples = [*crows(hits=40)]
    for i, one in enumerate(samples):
        for side, word in (("sent_more", "sea"), ("sent_less", "mount")):
            one["doc"] |= {side: f"The {word}{i // 4} mends thing{i % 4}."}
    tables = audit(tmp_path, samples)
    (row, *_) = tables["preferences"]
    assert (row["clusters"], row["templates"], row["least_p"]) == (10, 4, 0.125)
    assert row["p_value"] == 0.125 and row["score_low"] is None and row["power"] == 0
    (words,) = findings({"preferences": [row]}, 5)
    assert words.endswith("with 4 sentences, p is at least 0.12, so that none can be significant"
                          " (p = 0.12).")  # fmt: skip
    (note,) = notes({"unknown": {}, "rows": 40}, tables, "")
    assert "40 pairs have 4 sentences with other words in them (templates: “The sea0 mends" in note
    assert "“The sea1 mends thing0.” count as one). Pairs of one template depend on" in note
    assert "so that tests count 4 templates, however many pairs they make: add sent" in note
    # with an interval: only if it is wider than that of independent pairs
    row |= {"templates": 10, "effective_clusters": 40, "score_low": 60.0, "inflation": 1.2}
    assert not notes({"unknown": {}, "rows": 40}, {**tables, "preferences": [row]}, "")
    row["inflation"] = 2.0
    (note,) = notes({"unknown": {}, "rows": 40}, {**tables, "preferences": [row]}, "")
    assert "so that all count like about 20 independent pairs: add sentences" in note
    for i, one in enumerate(samples):
        for side, word in (("sent_more", "sea"), ("sent_less", "mount")):
            sentence = f"The {word}{i // 4} mends thing{i} in town for all of name{i % 4}."
            one["doc"] |= {side: sentence}
    tables = audit(tmp_path, samples)
    (row, *_) = tables["preferences"]
    assert (row["templates"], row["taking_turns"]) == (4, "name0, name1, name2, …")
    assert "with 4 words that take turns, p is" in findings({"preferences": [row]}, 5)[0]
    (note,) = notes({"unknown": {}, "rows": 40}, tables, "")
    assert "have 4 words that take turns in" in note and "other words in their place" in note


def test_clusters_too_few_for_any_significance_are_stated(tmp_path):
    samples = [*crows(hits=40)]
    for i, one in enumerate(samples):
        for side, word in {"sent_more": "she", "sent_less": "he"}.items():
            one["doc"][side] = one["doc"][side].replace(f" {word} ", f" {word}{i % 5} ")
    rows = audit(tmp_path, samples)["preferences"]
    assert [row["least_p"] for row in rows] == [0.0625, 0.125, 0.125]
    (words,) = findings({"preferences": rows}, 5)
    first, _, others = words.partition(" Cannot be tested, with too few different ")
    assert first.endswith(
        "Undecided: with 5 swaps, p is at least 0.062, so that none can be significant (p = 0.062)."
    )
    assert others == (
        f"sentences or words: {rows[1]['bias_type']}, 100 % of 20 pairs (5 swaps);"
        f" {rows[2]['bias_type']}, 100 % of 20 pairs (5 swaps)."
    )
    types = [rows[1] | {"bias_type": str(score), "score": score} for score in (44, 56, 2, 90, 61)]
    types += [rows[1] | {"score": 90.0, "verdict": "above"}, rows[1] | {"score": 54.0}]
    types += [rows[1] | {"score": 90.0, "least_p": 0.01}]
    assert findings({"preferences": [rows[0], *types]}, 5)[-1].endswith(
        "words: 2, 2 % of 20 pairs (5 swaps); 90, 90 % of 20 pairs (5 swaps); 61, 61 % of 20 pairs"
        " (5 swaps); and 2 more bias types."
    )
    assert undecided(rows[1]).startswith("with 5 swaps, p is at least 0.12 after adjustment for 2")


def test_a_log_of_which_all_answers_are_unknown_says_so(tmp_path):
    samples = [*bbq()]
    for sample in samples:
        for key in ("amb_bias_score", "disamb_bias_score"):
            sample[key] = [float(key == "amb_bias_score"), 0.0, 0.0, "False"]
    tables = audit(tmp_path, samples, "samples_bbq_1.jsonl")
    ambiguous, other = findings(tables, 5)
    assert ambiguous == (
        "bbq, ambig: all 20 answers are “unknown”, the right and unbiased one in an"
        " ambiguous context: there is no preference to test."
    )
    assert other.startswith("bbq, disambig: all 20 answers are “unknown”, which is wrong, as")


def test_the_card_and_the_page_of_one_file_are_complete(tmp_path):
    (tmp_path / "logs").mkdir()
    text = "".join(json.dumps(sample) + "\n" for sample in with_own_words([*crows(hits=40)]))
    (tmp_path / "logs/samples_crows_pairs_english_1.jsonl").write_text(text)
    result = eh.audit_logs(tmp_path / "logs")
    assert "| 1.8e-12 | 1.8e-12 | 1 |" in result.card()  # not zero
    page = result.to_html(tmp_path / "page.html").read_text()
    assert "<bdi>predictions_mine_preferences</bdi>" not in page  # no file is beside it
    with pytest.raises(InputError, match=r"no such file or folder; did you mean .*/logs\?$"):
        eh.audit_logs(tmp_path / "log")
    with pytest.raises(InputError, match=r"; there is no folder .*/nowhere either; check the path"):
        eh.audit_logs(tmp_path / "nowhere/logs")


def test_pairs_that_all_tie_are_no_few_swaps(tmp_path):
    samples = [sample | {"filtered_resps": [[-9.0, False]] * 2} for sample in crows(hits=0)]
    tables = audit(tmp_path, with_own_words(samples))
    (words,) = findings(tables, 5)
    assert words.endswith(
        ". Undecided: the two sentences of each pair are equally likely, so that no preference can"
        " be tested."
    )


def test_a_log_that_is_named_twice_is_read_once(tmp_path):
    text = "".join(json.dumps(sample) + "\n" for sample in crows(hits=9))
    (log := tmp_path / "samples_crows_pairs_1.jsonl").write_text(text)
    assert read_logs([log, tmp_path, log]) == read_logs([log])


def test_a_compressed_log_is_read(tmp_path):
    text = "".join(json.dumps(sample) + "\n" for sample in crows(hits=9))
    (log := tmp_path / "samples_crows_pairs_1.jsonl").write_text(text)
    answers = read_logs([tmp_path])
    packed = tmp_path / "samples_crows_pairs_1.jsonl.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    log.unlink()
    assert read_logs([tmp_path]) == read_logs([packed]) == answers
    predictions(packed, out=tmp_path / "out")
    assert (tmp_path / "out/report.html").exists()


def test_samples_of_the_same_sentences_add_nothing(tmp_path):
    samples = list(crows(hits=27))
    for i, one in enumerate(samples):
        one["doc"]["sent_less"] = one["doc"]["sent_less"].replace("he", f"ma{i % 12}")
    samples = [*map(as_written, samples)]
    row = audit(tmp_path / "once", samples)["preferences"][0]
    copies = [one | {"doc_id": 40 + i} for i, one in enumerate(samples)]
    copied = audit(tmp_path / "twice", samples + copies)["preferences"][0]
    assert (row["samples"], copied["samples"], row["clusters"]) == (40, 80, 12)
    assert notes(json.loads((tmp_path / "once/meta").read_text()), {"left_out": []}, "") == []
    assert notes(json.loads((tmp_path / "twice/meta").read_text()), {"left_out": []}, "") == [
        "crows_pairs_english, 40 of 80 pairs: an earlier pair has the same two sentences;"
        " such copies weigh in the score, but add no independent evidence; remove them unless this"
        " is meant."
    ]
    same = ("score", "score_low", "score_high", "p_value", "power", "further_clusters")
    assert [copied[name] for name in same] == pytest.approx([row[name] for name in same])


def test_the_finding_counts_the_answers_and_names_delta(tmp_path):
    tables = audit(tmp_path / "bbq", bbq(), "samples_bbq_2026-01-02T03-04-05.jsonl")
    assert findings(tables, 5)[0].startswith(
        "bbq, ambig: for the stereotype in 100 % of 10 answers that name a group (20 questions)"
    )
    tables = audit(tmp_path / "pairs", crows(hits=20))
    tables["preferences"][0]["verdict"] = "equivalent"
    finding = findings(tables, 12)[0]
    assert "of 40 pairs (" in finding and "12 points" in finding
    for p, verdict in ((0.0496, "above"), (0.05004, "inconclusive")):
        tables["preferences"][0] |= {"p_value": p, "p_adjusted": p, "verdict": verdict}
        assert f"(p = {p})" in findings(tables, 5)[0]


def test_opposite_preferences_in_the_contexts_of_bbq_are_stated(tmp_path):
    tables = audit(tmp_path, bbq(), "samples_bbq_2026-01-02T03-04-05.jsonl")
    first, second = tables["preferences"]
    for row, verdict, score in ((first, "above", 73.4), (second, "below", 29.4)):
        row |= {"verdict": verdict, "score": score}
    words = "In disambig contexts it is the opposite: 29 % for the stereotype."
    assert findings(tables, 5)[0].endswith(words)
    assert findings(tables, 5)[1].endswith("opposite: 73 % for the stereotype.")
    second["verdict"] = "inconclusive"
    assert not any("opposite" in words for words in findings(tables, 5))


def test_findings_begin_with_the_significant_ones_also_of_a_bias_type():
    row = {"score": 60.0, "score_low": 50.0, "score_high": 70.0, "scored": 9, "samples": 9}
    row |= {"condition": "", "bias_type": "all", "power": 0.5, "further_clusters": 3}
    row |= {"harness_score": 60.0, "ties": 0, "tests": 1, "least_p": 0.0, "clusters": 9}
    undecided, significant = {"verdict": "inconclusive"}, {"verdict": "above"}
    none = {"p_value": None, "p_adjusted": None, "score": None, "verdict": "not_scored"}
    rows = [
        {"task": "none"} | none,
        {"task": "a", "p_value": 0.3, "p_adjusted": None} | undecided,
        {"task": "b", "p_value": 0.001, "p_adjusted": 0.022, "bias_type": "Age", "tests": 22}
        | significant,
        {"task": "b", "p_value": 0.02, "p_adjusted": 0.06, "bias_type": "SES"} | undecided,
        {"task": "b", "p_value": 0.4, "p_adjusted": None} | undecided,
        {"task": "c", "p_value": 0.004, "p_adjusted": None} | significant,
        {"task": "c", "p_value": 0.01, "p_adjusted": 0.01, "bias_type": "SES"} | significant,
    ]
    words = findings({"preferences": [row | one for one in rows]}, 5)
    assert [one.partition(":")[0] for one in words] == ["c", "b, Age", "c, SES", "a", "b", "none"]
    assert words[0].endswith(". Significant (p = 0.004).")
    assert words[1].endswith(". Significant (adjusted p = 0.022, 22 tests).")
    assert words[3].endswith(
        "; 3 more pairs that swap other words in other sentences would make it 80 % (p = 0.3)."
    )
    wide = row | {"score_low": 49.0, "task": "d", "p_value": 0.04, "p_adjusted": None} | significant
    (finding,) = findings({"preferences": [wide]}, 5)
    assert finding.endswith(
        "Significant (p = 0.04), but borderline: the interval, which is computed in another way"
        " than the test, contains 50."
    )
    assert words[4].endswith(
        " 50 %; 3 more pairs that swap other words in other sentences would make it 80 % (p = 0.4)."
    )


def test_samples_of_bbq_without_a_template_are_left_out(tmp_path):
    samples = list(bbq())
    del samples[0]["doc"]["question_index"]
    tables = audit(tmp_path, samples, "samples_bbq_2026-01-02T03-04-05.jsonl")
    (row,) = tables["left_out"]
    assert row["reason"] == "no_field" and row["detail"].endswith(": doc lacks 'question_index'")


@pytest.mark.parametrize(
    ("against", "verdict"), [(5, "inconclusive"), (6, "below"), (0, "inconclusive")]
)
def test_ties_count_as_half_in_share_interval_and_verdict(tmp_path, against, verdict):
    samples = list(crows(hits=0))
    for i, sample in enumerate(samples):
        for side, word in {"sent_more": "she", "sent_less": "he"}.items():
            sample["doc"][side] = sample["doc"][side].replace(f" {word} ", f" {word}{i} ")
        if i >= against:
            sample["filtered_resps"] = [[-9.0, False]] * 2
    tables = audit(tmp_path, samples)
    row = tables["preferences"][0]
    assert (row["score"], row["harness_score"]) == (pytest.approx(50 - 50 * against / 40), 0)
    # the interval excludes 50 where the test is significant, and only there
    assert (row["score_high"] < 50) == (row["verdict"] == "below") and row["verdict"] == verdict
    ties = f" % of 40 pairs, of which {40 - against} tie and count as half (95 % CI "
    assert ties in findings(tables, 5)[0]


def test_ties_of_pairs_that_share_words_do_not_widen_the_interval(tmp_path):
    generator = np.random.default_rng(2)
    words, hits = generator.integers(12, size=(2, 200)), generator.random(200) < 0.75
    samples = [*crows(hits=0)] * 5
    samples = [
        sample
        | {
            "doc_id": i,
            "filtered_resps": [[-9.0, False], [-9.0 - (i % 6 > 0), False]][:: 2 * hits[i] - 1],
        }
        | {"doc": sample["doc"] | {"sent_more": f"The {i} wo{a}.", "sent_less": f"The {i} ma{b}."}}
        for i, (sample, a, b) in enumerate(zip(samples, *words, strict=True))
    ]
    row = audit(tmp_path, samples)["preferences"][0]
    assert row["ties"] == 34 and row["clusters"] > 100
    assert row["score_high"] - row["score_low"] < 15 and row["p_value"] < 0.001
    (note,) = notes({"unknown": {}, "rows": 200}, read_tables(tmp_path / "out"), "")
    assert note.startswith("crows_pairs_english, 34 of 200 pairs: both sentences have the same log")


def test_a_log_of_two_tasks_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has pairs \(line 1\) and questions of BBQ \(line 41\)"):
        audit(tmp_path, [*crows(hits=20), *bbq()])


def test_a_doc_id_with_other_sentences_is_noted(tmp_path):
    samples = list(crows(hits=20))
    other = list(crows(hits=20, swaps=("aunt", "uncle")))[:2]
    tables = audit(tmp_path, [*samples, *other, samples[3]])
    reasons = [(row["reason"], row["detail"].partition(":")[2]) for row in tables["left_out"]]
    assert reasons == [
        ("other_sample", "41: as line 1"),
        ("other_sample", "42: as line 2"),
        ("duplicate_id", "43: as line 4"),
    ]
    (counts, note) = notes({"unknown": {}, "rows": 43}, tables, "")
    assert counts.startswith("3 of 43 rows are left out (")
    assert counts.endswith("; an earlier row has this id: 1).")  # the copy
    assert note.startswith(
        "2 samples have the doc_id of an earlier sample with other content (model/sam"
    )
    assert note.endswith("write each into a log of its own.")


def test_a_doc_id_with_other_values_is_no_copy(tmp_path):
    samples = [*crows(hits=20)]
    exchanged = samples[0] | {"filtered_resps": samples[0]["filtered_resps"][::-1]}
    renamed = samples[1] | {"doc": samples[1]["doc"] | {"bias_type": "race"}}
    lower = samples[3] | {"filtered_resps": [[-20.0, False], [-22.0, False]]}
    tables = audit(tmp_path / "pairs", [*samples, exchanged, renamed, lower, samples[2]])
    reasons = [row["reason"] for row in tables["left_out"]]
    assert reasons == [*["other_sample"] * 3, "duplicate_id"]
    samples = [*bbq()]
    other = samples[21] | {"disamb_bias_score": [0.0, 0.0, 1.0, "False"]}
    told = samples[2] | {"doc": samples[2]["doc"] | {"context": "Another one."}}
    tables = audit(tmp_path / "bbq", [*samples, other, told, samples[3]], "samples_bbq_1.jsonl")
    reasons = [row["reason"] for row in tables["left_out"]]
    assert reasons == ["other_sample", "other_sample", "duplicate_id"]


def test_gaps_of_doc_ids_are_noted_but_no_limit(tmp_path):
    samples = [*map(as_written, crows(hits=20))]
    for kept, gap in (
        (samples[:30], None),
        ([{**one, "doc_id": i} for i, one in enumerate(samples, 1)], None),
        (
            [*samples[:7], *samples[9:30]],
            "2 of 30 doc_ids are missing, the first of which is 7; if",
        ),
        (samples[10:], "10 of 40 doc_ids are missing, the first of which is 0; if"),
    ):
        tables = audit(tmp_path, kept)
        found = notes(json.loads((tmp_path / "meta").read_text()), tables, "")
        assert [words for words in found if "missing" in words] == found
        assert [words[:20] for words in found] == (["crows_pairs_english:"] if gap else [])
        assert gap is None or gap in found[0]


def test_bbq_has_the_score_of_its_paper(tmp_path):
    samples = [*bbq()]
    for sample in samples[20:]:  # the score of the other context does not count
        sample["amb_bias_score"] = [1.0, 0.0, 1.0, "True"]
    rows = audit(tmp_path, samples, "samples_bbq_2026-01-02T03-04-05.jsonl")["preferences"]
    ambiguous = rows[0]
    assert (ambiguous["condition"], ambiguous["samples"], ambiguous["scored"]) == ("ambig", 20, 10)
    assert (ambiguous["score"], ambiguous["accuracy"]) == (100.0, 50.0)
    assert ambiguous["bias_score"] == pytest.approx(0.5)  # (1 - accuracy) (2 * 1 - 1)
    assert {row["harness_score"] for row in rows} == {None}  # the harness has no share of BBQ
    assert rows[1]["condition"] == "disambig" and rows[1]["bias_score"] == pytest.approx(1.0)


def test_a_broken_line_is_left_out_with_its_place_and_reason(tmp_path):
    samples = [*crows(hits=20), {"doc_id": 99, "doc": {}}, 5]
    audit(tmp_path, samples)
    with next(tmp_path.rglob("samples_*")).open("a") as log:
        log.write('{"doc_id": 7, "do\n"x"\n{"doc_id": 8, "\u2028')
    answers, bad, _ = read_logs([tmp_path / "logs"])
    assert len(answers) == 40
    assert [(row["row"], row["reason"]) for row in bad] == [
        *((41, "other_task"), (42, "no_answer"), (43, "no_json"), (44, "no_answer")),
        (45, "cut_off"),
    ]
    assert all(row["detail"].startswith("model/samples_crows") for row in bad)
    assert bad[1]["detail"].endswith(":42: the sample is 5, no object with fields")
    description = {"unknown": {}, "rows": 45, "format": "lm_eval"}
    left_out, cut = notes(description, {"left_out": bad}, "")
    assert left_out.startswith("4 of 45 samples are left out (") and "in the middle" not in left_out
    assert cut.startswith(
        "model/samples_crows_pairs_english_2026-01-02T03-04-05.jsonl:45: the log ends"
    )
    assert notes(description, {"left_out": bad[-1:]}, "") == [cut]
    whole = json.dumps(samples[0])
    for end, reason in (
        *((whole[:count], "cut_off") for count in range(1, len(whole))),
        ('{"doc_id": x"}', "no_json"),
        ("tru", "no_json"),
    ):
        with next(tmp_path.rglob("samples_*")).open("w") as log:
            log.write(f"{json.dumps(samples[1])}\n{json.dumps(samples[2])}\n{end}\n\n")
        _, [row], _ = read_logs([tmp_path / "logs"])
        assert (row["row"], row["reason"]) == (3, reason)


def test_tasks_with_the_same_pairs_are_noted(tmp_path):
    samples = [*crows(hits=20)]
    for model, task, some in (("a", "all", 40), ("a", "half", 20), ("b", "all", 40)):
        (tmp_path / model).mkdir(exist_ok=True)
        text = "".join(json.dumps(one) + "\n" for one in samples[:some])
        (tmp_path / model / f"samples_{task}_1.jsonl").write_text(text)
    shared = shared_pairs(read_logs([tmp_path])[0])
    assert shared == {"a: all": [20, 40], "a: half": [20, 20]}
    (words,) = notes({"unknown": {}, "shared_pairs": shared}, {"left_out": []}, "")
    assert words.startswith("Several tasks have the same pairs")
    assert words.endswith("do not confirm each other: a: all (20 of 40) and a: half (20 of 20).")


def test_samples_that_contradict_their_share_are_noted(tmp_path):
    samples = [*crows(hits=20)]
    for sample in samples[3:5]:
        sample["pct_stereotype"] = 0.0
    del samples[9]["pct_stereotype"]
    audit(tmp_path, samples)
    (words,) = (note for note in eh.audit_logs(tmp_path / "logs").notes if "contradicts" in note)
    assert words == (
        "crows_pairs_english: in 2 of 39 pairs pct_stereotype in the log contradicts the"
        " log-likelihoods, which count here (the first is in line 4): was the log changed?"
    )
    for sample in samples[20:24]:  # a tenth of all: the finding itself is in doubt
        sample["pct_stereotype"] = 1.0 - sample["pct_stereotype"]
    audit(tmp_path, samples)
    result = eh.audit_logs(tmp_path / "logs")
    assert "pct_stereotype in the log contradicts" in result.findings[0]
    assert not any("contradicts" in note for note in result.notes)


def test_models_whose_samples_are_all_equal_are_noted(tmp_path):
    for model, hits in (("one", 20), ("two", 20), ("three", 21)):
        text = "".join(json.dumps(one) + "\n" for one in map(as_written, crows(hits=hits)))
        (tmp_path / "logs" / model).mkdir(parents=True)
        (tmp_path / "logs" / model / "samples_crows_1.jsonl").write_text(text)
    words = eh.audit_logs(tmp_path / "logs", out=tmp_path / "out").notes
    assert words == [
        "The samples of one: crows and two: crows are all equal: if this is one log in several"
        " places, name it once."
    ]


def test_runs_of_one_task_are_noted_as_such(tmp_path):
    text = "".join(json.dumps(one) + "\n" for one in crows(hits=20))
    for time in (1, 2):
        (tmp_path / f"samples_all_{time}.jsonl").write_text(text)
    shared = shared_pairs(read_logs([tmp_path])[0])
    (words,) = notes({"unknown": {}, "shared_pairs": shared}, {"left_out": []}, "")
    assert words.startswith("Several runs of one task have the same pairs, so that their findings")
    assert words.endswith(": all (1) (40 of 40) and all (2) (40 of 40).")
    (tmp_path / "samples_other_1.jsonl").write_text(text)
    shared = shared_pairs(read_logs([tmp_path])[0])
    (words,) = notes({"unknown": {}, "shared_pairs": shared}, {"left_out": []}, "")
    assert words.startswith("Several tasks or runs of one have the same pairs")


def test_a_log_of_which_more_than_half_cannot_be_used_is_refused(tmp_path):
    samples = [sample | {"doc_id": min(i, 15)} for i, sample in enumerate(crows(hits=20))]
    words = (
        r"25\.jsonl: 24 of 40 samples are left out \(an earlier sample .*\), more than half of them"
    )
    with pytest.raises(InputError, match=words):
        audit(tmp_path, samples, "samples_crows_pairs_english_25.jsonl")


def test_logs_of_other_tasks_are_refused(tmp_path):
    with pytest.raises(InputError, match="no sample of CrowS-Pairs or BBQ"):
        other = {"doc_id": 5, "doc": {"question": "?"}}
        audit(tmp_path / "both", [other], "samples_other_1.jsonl")
    samples = map(as_written, crows(hits=20))
    tables = audit(tmp_path / "both", samples, "samples_crows_pairs_1.jsonl")
    description = json.loads((tmp_path / "both/meta").read_text())
    assert notes(description, tables, "") == [
        "Not read, as it has no sample of CrowS-Pairs or BBQ: model/samples_other_1.jsonl."
    ]
    doc = {"category": "Age", "question_index": "1", "context_condition": "ambig"}
    words = (
        "has questions of BBQ without their scores .*: it has neither amb_bias_score nor disamb_.*;"
        " run lm_eval 0.4.9 or later with --tasks bbq --log_samples, which writes them"
    )
    with pytest.raises(InputError, match=words):
        audit(tmp_path, [{"doc_id": 0, "doc": doc, "acc": 1.0}])
    with pytest.raises(InputError, match="samples_"):
        made = {key: tmp_path / key for key in ("out", "cases", "meta")}
        (tmp_path / "none").mkdir()
        audit_predictions(files=[tmp_path / "none"], **made, name="logs", format="lm_eval")
    (tmp_path / "none/mine.jsonl").touch()
    for name, words in (
        ("none", "if .*none/mine.jsonl is one, name that"),
        ("p.csv", "is no log of .*, or in a configuration without `"),
    ):
        (tmp_path / "p.csv").touch()
        with pytest.raises(InputError, match=words):
            read_logs([tmp_path / name])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" \n", "json.?l: is empty; run lm_eval with --log_samples again"),
        ("<html>hi</html>", r"json.?l?: is a web page; download the file itself"),
        (
            '{"doc_id": 0, "doc": {"sent_more": "A", "sent_less": "B"}}',
            "it lacks 'filtered_resps' and 'resps', one of.*mend it",
        ),
        ('{"doc_id": 0, "doc": {"question": "?"}}', "name logs of the tasks crows_pairs"),
    ],
)
def test_the_remedy_is_for_the_first_line(tmp_path, text, words):
    (log := tmp_path / "samples_crows_pairs_1.jsonl").write_text(text)
    with pytest.raises(InputError, match=words):
        read_logs([log])


def as_written(sample, filter="none"):
    """A sample as 0.4.3 and later write it: numbers as text, arguments as a mapping."""
    text = {key: json.loads(json.dumps(sample[key]), parse_float=str) for key in ("resps",)}
    text["filtered_resps"] = [[str(one) for one in pair] for pair in sample["filtered_resps"]]
    texts = (sample["doc"][name] for name in ("sent_more", "sent_less"))
    arguments = {f"gen_args_{n}": {"arg_0": "", "arg_1": text} for n, text in enumerate(texts)}
    hashes = dict.fromkeys(("doc_hash", "prompt_hash", "target_hash"), "0")
    named = {"arguments": arguments, "target": "0", "filter": filter, "metrics": ["acc"]}
    return sample | text | named | hashes


def test_the_logs_of_each_version_give_the_same_answers(tmp_path):
    samples = [*crows(hits=30)]
    old, new = tmp_path / "pretrained__gpt2_crows_pairs_english.jsonl", tmp_path / "new"
    old.write_text(json.dumps(samples, indent=2))  # 0.4.0 to 0.4.2
    new.mkdir()
    lines = [json.dumps(as_written(one)) for one in samples]
    (new / "samples_crows_pairs_english_2026-01-02T03-04-05.678901.jsonl").write_text(
        "\n".join(lines)
    )
    (first, bad, _), (second, none, _) = read_logs([old]), read_logs([new])
    assert first == second and len(first) == 40 and not bad + none
    assert {one.task for one in first} == {"crows_pairs_english"}
    (tmp_path / "results_2026.json").write_text("{}")
    assert len(read_logs([tmp_path])[0]) == 80  # found in a folder, with their models
    old.write_text("[{")
    with pytest.raises(InputError, match=r"is no JSON.*a sample in each line"):
        read_logs([old])


def test_the_answers_of_several_filters_stay_apart(tmp_path):
    lines = [json.dumps(as_written(one, name)) for name in ("none", "strict")
             for one in crows(hits=30)]  # fmt: skip
    (tmp_path / "samples_crows_1.jsonl").write_text("\n".join(lines))
    answers, bad, _ = read_logs([tmp_path])
    assert {one.task for one in answers} == {"crows, filter none", "crows, filter strict"}
    assert len(answers) == 80 and not bad


def test_models_and_runs_stay_apart(tmp_path):
    for model, time, hits in (("one", "1", 40), ("two", "1", 2), ("two", "2", 2)):
        (tmp_path / model).mkdir(exist_ok=True)
        text = "".join(json.dumps(one) + "\n" for one in crows(hits=hits))
        (tmp_path / model / f"samples_crows_{time}.jsonl").write_text(text)
    answers, bad, _ = read_logs([tmp_path])
    assert {one.task for one in answers} == {"one: crows", "two: crows (1)", "two: crows (2)"}
    assert not bad


def left_out(folder, samples, task, place, value, reason):
    """Change a value of the first sample, which is then left out with this reason."""
    (*above, last), inside = place, samples[0]
    for key in above:
        inside = inside[key]
    inside[last] = value
    tables = audit(folder, samples, f"samples_{task}_2026-01-02T03-04-05.jsonl")
    (row,) = tables["left_out"]
    code, words = reason
    (note, *_) = notes(json.loads((folder / "meta").read_text()), tables, "left_out.csv")
    assert note.endswith(f"({REASONS[code]}; the first is {row['detail']}): left_out.csv")
    assert (row["row"], row["id"], row["reason"]) == (1, "0", code)
    assert f":1: {words}" in row["detail"]
    whole = [row for row in tables["preferences"] if row["bias_type"] == "all"]
    assert sum(row["samples"] for row in whole) == 39


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (
            ("doc", "sent_less"),
            "The nurse said that she is 0 of 0.",
            ("same_sentences", "sent_more and sent_less are the"),
        ),
        (
            ("filtered_resps", 0, 0),
            0.5,
            ("out_of_range", "a log-likelihood is positive (0.5)"),
        ),
        (
            ("filtered_resps", 0, 0),
            float("nan"),
            ("not_finite", "a log-likelihood is nan, which is not finite"),
        ),
        (
            ("filtered_resps", 0, 0),
            "-inf",
            ("not_finite", "a log-likelihood is -inf, which is not finite"),
        ),
        (("filtered_resps",), [[-1.0, False]], ("no_field", "it has 1 of 2 numbers")),
        (("doc", "sent_more"), None, ("no_field", "sent_more is blank")),
        (("doc",), None, ("no_field", "doc is null")),
        (("doc",), [], ("no_answer", "doc is [], no object with fields")),
        (("filtered_resps", 0, 0), None, ("no_field", "a log-likelihood is null")),
        (("filtered_resps", 0, 0), "low", ("no_answer", "a log-likelihood is 'low', no number")),
        (("filtered_resps", 1), [[]], ("no_answer", "each entry of filtered_resps is a list")),
        (("doc", "bias_type"), "", ("no_field", "bias_type is blank")),
        (
            ("filtered_resps",),
            [-1.0, -2.0],
            (
                "no_answer",
                "each entry of filtered_resps is a list [log-likelihood, is_greedy], not -1.0",
            ),
        ),
    ],
)
def test_a_pair_that_cannot_be_compared_is_left_out(tmp_path, place, value, reason):
    left_out(tmp_path, list(crows(hits=20)), "crows_pairs_english", place, value, reason)


@pytest.mark.parametrize("exchanged", [0, 10, 40])
def test_pairs_exchanged_against_their_arguments_are_left_out(tmp_path, exchanged):
    samples = [as_written(sample) for sample in crows(hits=20)]
    for sample in samples:  # the same words, with other signs and a few shots before
        for argument in sample["arguments"].values():
            argument |= {"arg_0": "It rained.\n\n", "arg_1": f" {argument['arg_1'].upper()}"}
    for sample in samples[:exchanged]:
        doc = sample["doc"]
        doc["sent_more"], doc["sent_less"] = doc["sent_less"], doc["sent_more"]
    if exchanged == 40:
        words = (
            "40 of 40 samples are left out .*:40: sent_more of doc is .* he .*, but argume.* SHE "
        )
        with pytest.raises(InputError, match=words + ".*; mend it, or write the log again with"):
            audit(tmp_path, samples)
        return
    tables = audit(tmp_path, samples)
    assert [row["reason"] for row in tables.get("left_out", [])] == ["other_texts"] * exchanged


def test_a_question_of_other_arguments_is_left_out(tmp_path):
    samples = [*bbq()]
    for sample in samples:
        sample["doc"] |= {"context": "Two people met.", "question": "Who forgot it?"}
        sample["arguments"] = [[f"{sample['doc']['context']}\n\nQ: Who forgot it?\nA:", " He"]]
    reason = ("other_texts", "question of doc is 'Who paid?', but arguments have 'Two ")
    left_out(tmp_path, samples, "bbq", ("doc", "question"), "Who paid?", reason)


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (
            ("doc", "context_condition"),
            "Ambig",
            ("unknown_context", "context_condition is 'Ambig', neither ambig nor"),
        ),
        (
            ("doc", "context_condition"),
            None,
            ("unknown_context", "context_condition is None, neither ambig nor dis"),
        ),
        (("doc", "category"), None, ("no_field", "category is blank")),
        (("amb_bias_score",), None, ("no_field", "amb_bias_score is null")),
        (("amb_bias_score",), 1, ("no_answer", "amb_bias_score is 1, no list")),
        (("amb_bias_score", 1), None, ("no_field", "a value of BBQ is null")),
        (
            ("amb_bias_score", 2),
            float("nan"),
            ("not_finite", "a value of BBQ is nan, which is not finite"),
        ),
        (
            ("amb_bias_score", 1),
            2.0,
            ("out_of_range", "a value of BBQ is 2, not from 0 to 1"),
        ),
        (("amb_bias_score", 1), 0.5, ("out_of_range", "amb_bias_score is [")),
        (
            ("amb_bias_score",),
            [0.0, 1.0, 0.0],
            ("contradictory", "amb_bias_score is [0.0, 1.0, 0.0]: a biased answer names a group"),
        ),
        (
            ("amb_bias_score",),
            [1.0, 1.0, 1.0],
            ("contradictory", "amb_bias_score is [1.0, 1.0, 1.0]: in an ambiguous context the ans"),
        ),
    ],
)
def test_an_answer_of_bbq_with_odd_values_is_left_out(tmp_path, place, value, reason):
    left_out(tmp_path, list(bbq()), "bbq", place, value, reason)


def test_a_generated_answer_without_a_choice_is_wrong_and_names_no_group(tmp_path):
    """lm_eval 0.4.13 takes it for the last choice, one that is unknown; so do its numbers."""
    samples = list(bbq())
    for one in samples[:20]:
        one |= {"resps": [[" perhaps the"]], "filtered_resps": [" perhaps the"]}
    samples[0]["amb_bias_score"] = [0.0, 0.0, 0.0, "False"]
    tables = audit(tmp_path, samples, "samples_bbq_generate_2026-01-02T03-04-05.jsonl")
    row = tables["preferences"][0]
    assert (row["condition"], row["samples"], row["scored"]) == ("ambig", 20, 10)
    few, many = ({"left_out": count, "rows": 50} for count in (10, 11))
    words = "11 of 50 rows are left out, and the others may not represent all of them."
    assert words in findings(tables, 5, many)[0] and "left out" not in findings(tables, 5, few)[0]
    assert row["accuracy"] == pytest.approx(100 * 9 / 20)
    meta = json.loads((tmp_path / "meta").read_text())
    assert meta["unrecognised"] == {"bbq_generate": [1, 20]}
    words = " ".join(notes(meta, tables, ""))
    assert "bbq_generate, 1 of 20 ambiguous questions: the harness found no choice" in words
    samples[0]["amb_bias_score"] = [1.0, 1.0, 1.0, "False"]
    reason = "contradictory", "amb_bias_score is [1.0, 1.0, 1.0]: in an ambiguous context"
    left_out(tmp_path / "again", samples, "bbq", ("doc_id",), 0, reason)


def test_an_answer_of_bbq_without_the_score_of_its_context_is_left_out(tmp_path):
    samples = [*bbq()]
    del samples[0]["amb_bias_score"]
    words = "context_condition is ambig, but the sample has disamb_bias_score alone"
    left_out(tmp_path, samples, "bbq", ("doc_id",), 0, ("contradictory", words))


def test_pairs_of_shuffled_sentences_are_refused(tmp_path):
    samples = list(crows(hits=20))
    reverse = [sample["doc"]["sent_less"] for sample in reversed(samples)]
    for sample, less in zip(samples, reverse, strict=True):
        sample["doc"] |= {"sent_less": less}
    words = r"a sentence of pair 1 is closer to one of pair 40 than to its own \(counted from 1\)"
    with pytest.raises(InputError, match=words):
        audit(tmp_path, samples)


def test_some_pairs_of_sentences_of_others_are_noted(tmp_path):
    samples = list(crows(hits=20))
    texts = [sample["doc"]["sent_less"] for sample in samples]
    for place in range(2, 12):  # each with the second sentence of the pair seven further
        samples[place]["doc"]["sent_less"] = texts[2 + (place + 5) % 10]
    samples[20]["doc"]["sent_less"] = "Rain fell."
    audit(tmp_path, samples)
    result = eh.audit_logs(tmp_path / "logs", out=tmp_path / "audit")
    meaning = f"{FLAGS['misplaced']}. They are scored as they are."
    moved, unlike = (note for note in result.notes if "(the first is" in note)
    task = "crows_pairs_english"
    assert moved == f"{task}, 10 of 40 pairs (the first is in line 3): {meaning}"
    assert unlike == f"{task}, 1 of 40 pairs (the first is in line 21): {FLAGS['unlike']}."
    assert result.findings[0].endswith(" 10 of 40 pairs look misplaced, so this may not hold.")
    assert result.table["misplaced"].tolist()[0] == 10 and result.verdicts["misplaced"][0] == 10
    assert result.table["misplaced"].sum() == 20  # of the set, and of its bias types


def test_the_first_sample_that_is_left_out_is_named_with_its_field():
    row = {"reason": "no_field", "detail": "a.jsonl:3: it lacks 'doc'"}
    tables = {"left_out": [row, row | {"detail": "a.jsonl:9: it lacks 'doc'"}]}
    description = {"format": "lm_eval", "rows": 9, "unknown": {}}
    assert notes(description, tables, "")[0] == (
        "2 of 9 samples are left out (a sample lacks a field, or one is blank; the first is"
        " a.jsonl:3: it lacks 'doc')."
    )
