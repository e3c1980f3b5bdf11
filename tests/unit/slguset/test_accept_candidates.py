import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.core.tables import read_table
from evenhand.errors import InputError
from evenhand.slguset.accept_candidates import accept_candidates
from evenhand.slguset.acceptance_model import (
    HIDDEN,
    Example,
    Model,
    balanced,
    features,
    names_by_document,
)
from evenhand.slguset.annotation import random_order
from evenhand.slguset.gather_examples import gather_examples
from evenhand.text.segmentation import cut
from made_sentences import candidate_row, write_candidates, write_keywords_csv

#: Of these a sentence is bad: no filter knows it, only labels tell.
BAD = "穿着裙子"
CORPORA = {"paper": "papers/a.txt", "court": "courts/b.txt"}


def made(corpus: str, numbers: range) -> list[dict]:
    rows = []
    for number in numbers:
        clothes = BAD if number % 4 == 0 else "提着袋子"
        row = candidate_row(f"第{number}天，她{clothes}去了{corpus}城里的市场。")
        rows.append(row | {"source": CORPORA[corpus]})
    return rows


def bad(row: dict) -> bool:
    return BAD in row["sentence"]


@pytest.fixture
def study(tmp_path):
    """Candidates of two corpora, and a function that runs the stage with labels of some."""
    rows = [*made("paper", range(400)), *made("court", range(400, 600))]
    rejected = [
        candidate_row(f"她怀孕后第{number}个月回家。", verdict="biology") for number in range(9)
    ]
    rows += [row | {"source": CORPORA["paper"], "evidence": "怀孕"} for row in rejected]
    candidates = write_candidates(tmp_path / "candidates.parquet", rows)
    inventories = []
    for name, file in CORPORA.items():
        inventories.append(tmp_path / f"{name}.parquet")
        pq.write_table(pa.table({"file": [file]}), inventories[-1])

    def run(labelled: list[dict], **options):
        labels = tmp_path / "labels.csv"
        with labels.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["sentence", "label"])
            writer.writerows([r["sentence"], "reject" if bad(r) else "accept"] for r in labelled)
        counts = accept_candidates(
            candidates=candidates,
            keywords=write_keywords_csv(tmp_path / "keywords.csv"),
            inventories=inventories,
            corpora=[*CORPORA],
            out=tmp_path / "verdicts.parquet",
            table=tmp_path / "accepted.csv",
            tables=tmp_path / "tables",
            labels=[labels],
            **options,
        )
        guarantees = read_table(tmp_path / "tables/guarantees.csv")
        return counts, pq.read_table(tmp_path / "verdicts.parquet").to_pylist(), guarantees

    return rows, run


def in_random_order(rows: list[dict], corpus: str) -> list[dict]:
    own = {r["sentence_id"]: r for r in rows if r["source"] == CORPORA[corpus]}
    own = {one: r for one, r in own.items() if r["verdict"] == "accepted"}
    return [own[one] for one in random_order(own, 1)]


def test_labels_of_other_sentences_teach_and_those_of_the_sample_guarantee(study, capsys):
    rows, run = study
    paper, court = (in_random_order(rows, name) for name in CORPORA)
    taught = [*paper[300:], *court[150:]]
    counts, verdicts, (of_court, of_paper) = run([*taught, *paper[:100]])
    assert (of_paper["corpus"], of_paper["labelled"]) == ("paper", 100)
    assert of_paper["bad"] == sum(map(bad, paper[:100]))
    assert of_paper["guaranteed"] and of_paper["bad_at_most"] <= 0.05 and not of_paper["note"]
    by_id = {row["sentence_id"]: row for row in verdicts}
    accepted = [r for r in paper if by_id[r["sentence_id"]]["verdict"] == "accepted"]
    assert len(accepted) > 200 and not any(map(bad, accepted))
    sample = {one for one, row in by_id.items() if row["random_sample"]}
    assert sample == {r["sentence_id"] for r in paper[:100]}
    low = [row for row in verdicts if row["verdict"] == "below_threshold"]
    assert low and all(any("穿" in one for one in row["reasons"]) for row in low)
    # nobody labelled a random sample of the other corpus: only labelled sentences are accepted
    assert not of_court["guaranteed"] and "no guarantee: 0 random labels" in of_court["note"]
    assert {by_id[r["sentence_id"]]["verdict"] for r in court[:150]} == {"no_guarantee"}
    assert counts["guaranteed"] == 1
    warned = "no guarantee for the corpus court: see the table guarantees\n"
    assert capsys.readouterr().err == warned


def test_the_odds_of_a_language_model_are_features_of_the_keyword(study, tmp_path):
    """Planted: a model finds 她 unlikely in the bad sentences, which no word tells apart."""
    rows, run = study
    taught = [*in_random_order(rows, "paper")[300:], *in_random_order(rows, "court")[150:]]
    odds = {
        row["sentence_id"]: (-1 if row["gender"] == "female" else 1) * (-1.5 if bad(row) else 1.5)
        for row in rows
    }
    table = pa.table({"sentence_id": [*odds], "bias": [*odds.values()]})
    pq.write_table(table, tmp_path / "odds.parquet")
    gate = tmp_path / "gate.json"
    described = {"model": "m", "trusted": True, "reason": None, "log_base": 10.0}
    gate.write_text(json.dumps(described))
    given = {"log_odds": tmp_path / "odds.parquet", "gate": gate}
    run(taught, **given)
    weights = {
        row["feature"]: row["weight"] for row in read_table(tmp_path / "tables/features.csv")
    }
    assert weights["a model finds the keyword 10 times as likely"] > 0.05
    assert weights["a model finds the counterpart 10 times as likely"] < -0.05
    gate.write_text(json.dumps(described | {"trusted": False, "reason": "few_scored"}))
    with pytest.raises(InputError, match="the model m did not pass its check: few_scored"):
        run(taught, **given)


def test_every_sentence_that_is_judged_or_learned_from_is_gathered(study, tmp_path):
    rows, run = study
    run(rows[:3])
    labels = tmp_path / "more.csv"
    labels.write_text("sentence,label\n爷爷在这里。,accept\n他和她。,reject\n", encoding="utf-8")
    counts = gather_examples(
        candidates=tmp_path / "candidates.parquet",
        keywords=tmp_path / "keywords.csv",
        out=tmp_path / "examples.parquet",
        labels=[tmp_path / "labels.csv", labels],
    )
    found = pq.read_table(tmp_path / "examples.parquet").to_pylist()
    assert counts["sentences"] == len(found) == len(rows) + 1
    *_, last = found
    assert last["sentence"][last["start"] : last["end"]] == last["keyword"] == "爷爷"
    assert (last["opposite"], last["gender"]) == ("奶奶", "male")


def test_a_gap_ends_the_sample(study):
    rows, run = study
    paper = in_random_order(rows, "paper")
    _, _, (_, of_paper) = run([*paper[:30], *paper[31:200]])
    assert of_paper["labelled"] == 30 and not of_paper["guaranteed"]
    assert of_paper["labels_needed"] > 30


def test_without_a_guarantee_all_are_accepted_only_on_request(study):
    rows, run = study
    labelled = in_random_order(rows, "paper")[-40:]
    assert {row["verdict"] for row in run(labelled)[1] if row["good"] is None} == {"no_guarantee"}
    _, verdicts, _ = run(labelled, without_guarantee="all")
    assert {row["verdict"] for row in verdicts if row["good"] is not False} == {"accepted"}
    assert not any(row["guaranteed"] for row in verdicts)
    assert {row["verdict"] for row in verdicts if row["good"] is False} == {
        "rejected_by_annotators"
    }


def test_equal_input_gives_equal_bytes_and_nothing_to_learn_is_refused(study, tmp_path):
    rows, run = study
    labelled = in_random_order(rows, "paper")[:150]
    files = [tmp_path / name for name in ("verdicts.parquet", "accepted.csv")]
    run(labelled)
    first = [file.read_bytes() for file in files]
    run(labelled[::-1])
    assert [file.read_bytes() for file in files] == first
    table = tmp_path / "labels.csv"
    with pytest.raises(InputError, match="the label is 'yes'"):
        table.write_text("sentence,label\n她去了市场。,yes\n", encoding="utf-8")
        accept_candidates(
            candidates=tmp_path / "candidates.parquet", keywords=tmp_path / "keywords.csv",
            inventories=[], corpora=[], labels=[table],
            **{name: tmp_path / name for name in ("out", "table", "tables")},
        )  # fmt: skip


def test_no_feature_tells_the_source_or_shows_why_a_filter_rejected():
    row = {"surface": "她", "surface_opposite": "他", "surface_start": 4, "surface_end": 5}
    sentence = "昨天，，她怀孕了３次。"
    [found] = features([row | {"sentence": sentence, "hidden": ["怀孕"]}], cut)
    assert not [one for one in found if "怀" in one or HIDDEN in one]
    [other] = features([row | {"sentence": "昨天,、她怀孕了3次！", "hidden": ["怀孕"]}], cut)
    assert found == other
    [named] = features([row | {"sentence": "昨天，，她和王小明。", "names": ["王小明"]}], cut)
    assert "a name of the same document" in named
    rejected = {"reasons": ["name"], "evidence": "王小明", "sentence_id": "1"}
    of_file = names_by_document([rejected | {"source": "a.txt", "source_position": 0}])
    assert of_file == {("a.txt", 0): {"王小明": "1", "小明": "1"}}


def test_a_word_that_contains_the_keyword_is_a_feature():
    row = {"surface": "女", "surface_opposite": "男", "surface_start": 2, "surface_end": 3}
    row |= {"sentence": "那位女演员来了。"}

    def cut_so(text):
        return ["那位", "女演员", "来", "了", "。"]

    [found] = features([row], cut_so)
    assert [one for one in found if one.startswith("within")] == ["within 女演员"]
    assert sum(one.startswith("counterpart of the whole word") for one in found) == 1
    assert {"left 那位", "right 来", "right 了", "word 女演员"} <= {*found}
    [whole] = features([row], lambda text: ["那位", "女", "演员", "来", "了", "。"])
    assert not [one for one in whole if one.startswith(("within", "counterpart"))]


def test_weights_are_those_of_a_logistic_regression_with_its_penalty():
    examples = [Example(["bag" if good else "skirt"], good, "paper") for good in [True, False] * 20]
    model = Model(examples)
    # at the optimum of |w|^2 / 2 + strength * loss, the gradient is 0
    for feature, sign in (("bag", 1), ("skirt", -1)):
        wrong = 1 - model.score([feature]) if sign > 0 else model.score([feature])
        assert model.weights[feature] == pytest.approx(0.03 * sign * 20 * wrong, rel=1e-3)


def test_a_source_with_few_bad_sentences_gives_itself_not_away():
    many = [Example(["court"], True, "court")] * 90 + [Example(["court"], False, "court")] * 10
    news = [Example(["news"], True, "news")] * 50 + [Example(["news"], False, "news")] * 50
    weights = balanced(many + news)
    assert weights[:90].sum() == pytest.approx(weights[90:100].sum())
    model = Model(many + news)
    assert model.score(["court"]) == pytest.approx(model.score(["news"]), abs=0.01)
