"""The stages of the linear classifiers, from a data set to predictions."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.learning.history import HISTORY
from evenhand.legal.built import load_dataset, read_labels
from evenhand.legal.predictions import read_predictions
from evenhand.legal.train_linear import train_linear
from evenhand.legal.weigh_words import weigh_words
from evenhand.metrics.classification import predicted_labels
from unit.legal.made_cases import read_csv, write_cases

TOPICS = {
    "ecthr": {("2",): "killed shot", ("3",): "beaten cell", (): "tax paper"},
    "scotus": {
        ("Privacy",): "home letter",
        ("Unions",): "strike worker",
        ("Federalism",): "state border",
    },
    "cail": {("0",): "自首 退赃", ("<=12",): "盗窃 手机", (">120",): "杀害 持刀"},
}
ATTRIBUTE = {
    "ecthr": ("applicant_gender", ["male", "female"]),
    "scotus": ("decision_direction", ["conservative", "liberal"]),
    "cail": ("defendant_gender", ["male", "female"]),
}


def cases(kind: str, count: int = 60, **given: Any) -> list[dict[str, Any]]:
    """Cases whose words tell their label; every tenth has no known label."""
    chance = random.Random(4)
    labels = load_dataset(kind).labels
    topics = list(TOPICS[kind].items())
    attribute, groups = ATTRIBUTE[kind]
    made = []
    for number in range(count):
        named, words = topics[number % len(topics)]
        if kind != "scotus" and named:  # the names are long: take the label by its place
            named = (labels[[*TOPICS[kind]].index(named)],)
        made.append(
            {
                "labels": None if number % 10 == 9 else list(named),
                "text": [f"{words} {chance.choice(words.split())} the case", "and more of it"],
                attribute: chance.choice([*groups, None]),
                "split": ("train", "train", "dev", "test")[number // 3 % 4],
            }
            | given
        )
    return made


def run(folder: Path, kind: str, objective: str = "erm", **given: Any) -> dict[str, Any]:
    """Train on cases in a folder; the files are out and history."""
    data = folder / "data.parquet"
    if not data.exists():
        write_cases(data, kind, cases(kind))
    usual = {"seeds": [1, 2], "epochs": 6}
    return train_linear(
        data=data,
        out=folder / "out.parquet",
        history=folder / "history.parquet",
        kind=kind,
        objective=objective,
        **usual | given,
    )


@pytest.mark.parametrize("kind", TOPICS)
def test_it_learns_and_predicts_every_labelled_case(tmp_path: Path, kind: str) -> None:
    counts = run(tmp_path, kind, "group_dro", attribute=ATTRIBUTE[kind][0], epochs=20)
    assert counts["cases"] == 54
    assert counts["left_out"] == 6
    assert sum(counts["splits"].values()) == 54
    one, other = read_predictions(tmp_path / "out.parquet")
    assert one.training == ("linear", "group_dro", ATTRIBUTE[kind][0], 1)
    assert other.seed == 2
    assert len(one.case_ids) == 54
    assert one.case_ids.tolist() == other.case_ids.tolist()
    dataset = load_dataset(kind)
    known, hot = read_labels(tmp_path / "data.parquet", dataset)
    said = predicted_labels(one.logits, dataset.task)
    assert (said == hot[known].astype(bool)).all(axis=1).mean() > 0.8
    rows = pq.read_table(tmp_path / "history.parquet")
    assert rows.schema == HISTORY
    assert len(rows) == sum(counts["epochs"])


@pytest.mark.parametrize("kind", TOPICS)
def test_weights_made_before_give_the_same(tmp_path: Path, kind: str) -> None:
    counts = run(tmp_path, kind)
    alone = (tmp_path / "out.parquet").read_bytes()
    weighed = weigh_words(
        data=tmp_path / "data.parquet",
        out=tmp_path / "words.arrow",
        vocabulary=tmp_path / "words.csv",
        kind=kind,
    )
    assert weighed["cases"] == 60
    assert weighed["train_cases"] == counts["splits"]["train"]
    assert weighed["min_df"] == 2
    assert weighed["features"] == counts["features"] == sum(weighed["by_length"])
    vocabulary = read_csv(tmp_path / "words.csv")
    assert [int(row["column"]) for row in vocabulary] == list(range(weighed["features"]))
    terms = [row["term"] for row in vocabulary]
    assert terms == sorted(terms)
    assert all(int(row["words"]) == row["term"].count(" ") + 1 for row in vocabulary)
    assert run(tmp_path, kind, words=tmp_path / "words.arrow") == counts
    assert (tmp_path / "out.parquet").read_bytes() == alone


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    write_cases(tmp_path / "data.parquet", "scotus", cases("scotus"))
    record = stage.execute(
        train_linear,
        {
            "data": tmp_path / "data.parquet",
            "out": tmp_path / "out.parquet",
            "history": tmp_path / "history.parquet",
            "kind": "scotus",
            "objective": "group_dro",
            "attribute": "decision_direction",
            "objective_options": ["step_size=0.5"],
            "seeds": [3],
            "epochs": 2,
        },
    )
    assert record["counts"]["epochs"] == [2]
    assert "scikit-learn" in record["packages"]


def test_words_of_another_data_set(tmp_path: Path) -> None:
    other = write_cases(tmp_path / "other.parquet", "scotus", cases("scotus", 48))
    weigh_words(
        data=other, out=tmp_path / "words.arrow", vocabulary=tmp_path / "words.csv", kind="scotus"
    )
    with pytest.raises(InputError, match="about other cases"):
        run(tmp_path, "scotus", words=tmp_path / "words.arrow")


def test_a_class_absent_from_training_is_remarked(tmp_path: Path) -> None:
    some = cases("scotus")
    for one in some:
        if one["labels"] == ["Unions"]:
            one["split"] = "test"
    write_cases(tmp_path / "data.parquet", "scotus", some)
    counts = run(tmp_path, "scotus")
    assert any(one.startswith("no case of the split train has") for one in counts["remarks"])
    assert np.isfinite(read_predictions(tmp_path / "out.parquet")[0].logits).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"objective": "group_dro"}, "needs groups"),
        ({"attribute": "decision_direction"}, "does not depend on"),
        ({"objective": "group_dro", "attribute": "height"}, "is no attribute"),
        ({"objective": "nothing"}, "there is no objective"),
        ({"objective_options": ["lambda=1"]}, "has no option 'lambda'"),
        ({"seeds": []}, "there is no seed"),
        ({"seeds": [1, 1]}, "or one twice"),
        ({"epochs": 0}, "epochs is 0"),
        ({"lr": 0.0}, "lr is 0"),
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"select": "accuracy"}, "select is 'accuracy'"),
        ({"features": 0}, "features is 0"),
    ],
)
def test_bad_options(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(tmp_path, "scotus", **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"split": "test"}, "no case with a label in the split train"),
        ({"labels": ["Unions"]}, "all cases of the split train have the same labels"),
        ({"text": []}, "no word stands in"),
        ({"labels": None}, "no case with a label"),
    ],
)
def test_bad_cases(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    write_cases(tmp_path / "data.parquet", "scotus", cases("scotus", **given))
    with pytest.raises(InputError, match=said):
        run(tmp_path, "scotus")


def test_an_attribute_of_one_value(tmp_path: Path) -> None:
    some = cases("scotus", decision_direction="liberal")
    write_cases(tmp_path / "data.parquet", "scotus", some)
    with pytest.raises(InputError, match="only the group 'liberal'"):
        run(tmp_path, "scotus", "v_rex", attribute="decision_direction")


def test_words_need_a_training_case(tmp_path: Path) -> None:
    data = write_cases(tmp_path / "data.parquet", "scotus", cases("scotus", split="dev"))
    with pytest.raises(InputError, match="to learn words from"):
        weigh_words(
            data=data, out=tmp_path / "out.arrow", vocabulary=tmp_path / "out.csv", kind="scotus"
        )
