import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import relative_risk
from sklearn.metrics import mutual_info_score

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.legal.check_leakage import (
    WORDS,
    check_leakage,
    mutual_information,
    risk_ratio,
)
from unit.legal.made_cases import LANGUAGES, read_csv, write_cases


def checked(tmp_path, kind, cases, patterns, **options):
    words, out = tmp_path / "words.csv", tmp_path / "leakage.csv"
    lines = [f'{kind},{language},"{pattern}"\n' for language, pattern in patterns]
    words.write_text("kind,language,pattern\n" + "".join(lines), encoding="utf-8")
    counts = check_leakage(
        data=write_cases(tmp_path / "d.parquet", kind, cases), words=words, out=out, kind=kind,
        dataset="mine", **({"seed": 1, "resamples": 300} | options),
    )  # fmt: skip
    return counts, read_csv(out)


def test_counts_and_examples(tmp_path):
    cases = [
        {"text": ["Nothing.", "Ébène: it found a VIOLATION of Article 3, violation of Article 5."]},
        {"text": ["A violation of law."]},
        {"text": ["A violation of Article 6.", "No violation of Article 8."], "labels": None},
        {"text": ["Une violation of Article 3."], "language": "fr"},
        {"text": ["violation of Article"], "language": None},
    ]
    counts, rows = checked(tmp_path, "ecthr", cases, [("en", "violation of Article")])
    row = rows[0]
    assert [row[name] for name in ("label", "cases", "of", "share", "paragraphs")] == [
        *("", "2", "3", "0.666667"),
        "3",
    ]
    assert row["examples"] == "ecthr-1 1:18-38; ecthr-3 0:2-22"
    text = cases[0]["text"][1]
    assert text[18:38] == "VIOLATION of Article"
    assert counts == {"cases": 5, "patterns": 1, "found": 1, "cases_with": 2, "associated": 0}


def test_at_most_five_examples_in_the_order_of_the_cases(tmp_path):
    cases = [{"text": ["x", "判处"]}] * 300
    _, rows = checked(tmp_path, "cail", cases, [("zh", "判处")])
    assert rows[0]["examples"] == "; ".join(f"cail-{n} 1:0-2" for n in range(1, 6))
    assert rows[0]["cases"] == "300"


def test_a_telling_word_is_associated_and_an_idle_one_is_not(tmp_path):
    cases = [
        {
            "text": ["Beschwerde abgewiesen." if n % 2 else "Strasse.", "x" if n % 3 else "Haus"],
            "labels": ["dismissal" if n % 2 else "approval"],
        }
        for n in range(60)
    ]
    counts, rows = checked(tmp_path, "fscs", cases, [("de", "abgewiesen"), ("de", "Haus")])
    telling, idle = (row for row in rows if row["label"] == "")
    assert (telling["associated"], idle["associated"]) == ("true", "false")
    assert float(telling["mutual_information"]) == pytest.approx(1)
    assert float(telling["noise_95"]) < 0.5
    assert counts["associated"] == 1
    (approval,) = [r for r in rows if (r["pattern"], r["label"]) == ("abgewiesen", "approval")]
    names = ("label_with", "of_with", "label_without", "of_without")
    assert [approval[name] for name in names] == ["0", "30", "30", "30"]
    assert float(approval["high"]) < 0.5


def test_several_labels_are_told_apart_and_none_is_one(tmp_path):
    cases = [{"labels": ["3", "6"], "text": ["breach"]}, {"labels": []}, {"labels": ["3"]}]
    _, rows = checked(tmp_path, "ecthr", cases, [("en", "breach")])
    assert [row["label"] for row in rows] == ["", "3", "6", "none"]


def test_what_is_not_found_has_one_row(tmp_path):
    counts, rows = checked(tmp_path, "cail", [{}], [("zh", "死刑")])
    assert [(row["cases"], row["of"], row["p"]) for row in rows] == [("0", "1", "")]
    assert counts["found"] == 0


def test_capitals_matter_where_they_are_said_to(tmp_path):
    cases = [{"text": ["the court finds"]}, {"text": ["the Court FINDS"]}]
    _, rows = checked(tmp_path, "ecthr", cases, [("en", "(?-i:the Court) finds")])
    assert rows[0]["cases"] == "1"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("(open", "words.csv:2: .* is no regular expression"), ("x*", "found in every text")],
)
def test_broken_patterns(tmp_path, pattern, said):
    with pytest.raises(InputError, match=said):
        checked(tmp_path, "cail", [{}], [("zh", pattern)])


def test_no_case_and_no_pattern(tmp_path):
    assert checked(tmp_path, "cail", [], [("zh", "判处")])[0]["found"] == 0
    assert checked(tmp_path, "cail", [{}], [])[1] == []


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=5))
def test_mutual_information_is_sklearns(table):
    with_it, without = np.array(table).T
    if not (with_it + without).sum():
        return
    labels = np.repeat(np.arange(len(table)), with_it + without)
    has = np.concatenate([np.repeat([1, 0], pair) for pair in table])
    expected = mutual_info_score(labels, has) / np.log(2)
    found = mutual_information(with_it[None], with_it + without)
    assert found[0] == pytest.approx(max(expected, 0), abs=1e-9)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 50), st.integers(1, 50))
def test_the_risk_ratio_is_scipys(a, other, b, more):
    theirs = relative_risk(a, a + other, b, b + more)
    interval = theirs.confidence_interval(0.95)
    ours = risk_ratio(a, a + other, b, b + more)
    assert ours == pytest.approx((theirs.relative_risk, interval.low, interval.high))


def test_empty_cells():
    ratio, low, high = risk_ratio(0, 10, 5, 10)
    assert 0 < low < ratio < high < 2
    assert np.isnan(risk_ratio(0, 0, 1, 2)).all()


@pytest.mark.parametrize("kind", sorted(LANGUAGES))
def test_the_words_of_the_kind(tmp_path, repository, kind):
    table = repository / "resources/legal/outcome_words.csv"
    rows = [row for row in read_resource(table, WORDS) if row["kind"] == kind]
    assert rows
    counts = check_leakage(
        data=write_cases(tmp_path / "d.parquet", kind, [{}]), words=table,
        out=tmp_path / "l.csv", kind=kind, dataset="mine", resamples=10,
    )  # fmt: skip
    assert counts["patterns"] == len(rows)


#: Sentences that tell an outcome.
TELLING = {
    "ecthr": ["There has been no violation of Article 8.", "FOR THESE REASONS, THE COURT",
              "The Court finds that he suffered.", "It holds that the State: Holds by six votes"],
    "scotus": ["The judgment of the Court of Appeals is reversed.", "We therefore affirm."],
    "fscs": ["Die Beschwerde wird abgewiesen.", "Das Gericht wies die Beschwerde ab.",
             "Es hiess die Beschwerde teilweise gut.", "Er trat darauf nicht ein."],
    "cail": ["判处有期徒刑三年", "判决如下："],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "sentences"), TELLING.items())
def test_sentences_that_tell_an_outcome_are_found(tmp_path, repository, kind, sentences):
    counts = check_leakage(
        data=write_cases(tmp_path / "d.parquet", kind, [{"text": [s]} for s in sentences]),
        words=repository / "resources/legal/outcome_words.csv",
        out=tmp_path / "l.csv", kind=kind, dataset="mine", resamples=10,
    )  # fmt: skip
    assert counts["cases_with"] == len(sentences)


def test_french_and_italian(tmp_path, repository):
    sentences = {
        "fr": ["Le tribunal a rejeté le recours.", "Le recours est partiellement admis."],
        "it": ["La Corte ha respinto il ricorso.", "Il gravame è accolto."],
    }
    cases = [{"text": [s], "language": lang} for lang, found in sentences.items() for s in found]
    counts = check_leakage(
        data=write_cases(tmp_path / "d.parquet", "fscs", cases),
        words=repository / "resources/legal/outcome_words.csv",
        out=tmp_path / "l.csv", kind="fscs", dataset="mine", resamples=10,
    )  # fmt: skip
    assert counts["cases_with"] == 4
