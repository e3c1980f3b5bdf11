"""The three stages that train classifiers, on cases with twins and neighbours."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.errors import InputError
from evenhand.learning import trainer
from evenhand.legal.embed_paragraphs import embed_paragraphs
from evenhand.legal.find_neighbours import find_neighbours
from evenhand.legal.predictions import read_predictions
from evenhand.legal.swap_cases import swap_cases
from evenhand.legal.tokenise_cases import tokenise_cases
from evenhand.legal.tokens import TokenStore
from evenhand.legal.train_classifier import train_classifier
from evenhand.legal.train_linear import train_linear
from evenhand.legal.train_top import train_top
from evenhand.legal.vectors import VectorStore
from evenhand.legal.weigh_twins import weigh_twins
from evenhand.legal.weigh_words import weigh_words
from unit.legal.made_classifiers import Made, make, options

STAGES = {"linear": train_linear, "frozen": train_top, "hierarchical": train_classifier}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[Made, dict[str, dict[str, Any]]]:
    """Data, and for each kind of classifier what it reads; facts is swapped for born."""
    folder = tmp_path_factory.mktemp("pairs")
    made = make(folder)
    table = folder / "swap.csv"
    table.write_text("word,opposite,opposite_alone\nfacts,born,\nborn,facts,\n")
    twins = folder / "twins.parquet"
    swap_cases(data=made.data, words=[table], languages=["en"], out=twins)
    words, of_twins = folder / "w.arrow", folder / "tw.arrow"
    vocabulary = folder / "w.csv"
    weigh_words(data=made.data, out=words, vocabulary=vocabulary, kind="ecthr")
    weigh_twins(twins=twins, vocabulary=vocabulary, out=of_twins, kind="ecthr")
    tokens, meta = folder / "tt.arrow", folder / "tt.json"
    tokenise_cases(data=twins, out=tokens, meta=meta, kind="ecthr", name="words", model=made.model)
    base = {"model": made.model}
    embed_paragraphs(
        tokens=made.tokens, tokens_meta=made.meta, out=folder / "v.arrow", meta=folder / "v.json",
        **base,
    )  # fmt: skip
    embed_paragraphs(
        tokens=tokens, tokens_meta=meta, same_tokens=made.tokens, same=folder / "v.arrow",
        out=folder / "tv.arrow", meta=folder / "tv.json", **base,
    )  # fmt: skip
    near = {}
    for name, given in (("w", {"words": words}), ("v", {"embeddings": folder / "v.arrow"})):
        near[name] = folder / f"near_{name}.parquet"
        find_neighbours(data=made.data, out=near[name], kind="ecthr", **given)
    reads = {
        "linear": {"words": words, "twins": of_twins, "neighbours": near["w"]},
        "frozen": {
            "embeddings": folder / "v.arrow", "embeddings_meta": folder / "v.json",
            "twins": folder / "tv.arrow", "neighbours": near["v"],
        },
        "hierarchical": {
            "tokens": made.tokens, "tokens_meta": made.meta, "model": made.model,
            "twins": tokens, "twins_meta": meta, "neighbours": near["v"],
        },
    }  # fmt: skip
    return made, reads


PAIRS = ("twins", "twins_meta", "neighbours")


def arguments(files, kind: str, folder: Path, leave: tuple[str, ...] = (), **given: Any) -> dict:
    made, reads = files
    folder.mkdir(exist_ok=True)
    usual = options(kind="ecthr") | ({"seed": 1} if kind == "hierarchical" else {"seeds": [1]})
    usual |= {name: folder / name for name in ("out", "history")}
    if kind == "hierarchical":
        usual["weights"] = folder / "weights"
    read = {name: path for name, path in reads[kind].items() if name not in leave}
    return {"data": made.data, **read, **usual, **given}


def run(files, kind: str, folder: Path, *, leave: tuple[str, ...] = (), **given: Any):
    counts = STAGES[kind](**arguments(files, kind, folder, leave, **given))
    (found,) = read_predictions(folder / "out")
    return found, counts


def learning(pairs: str, weight: float = 10.0) -> dict[str, Any]:
    return {"objective": "iifr_text", "objective_options": [f"pairs={pairs}", f"weight={weight}"]}


def swapped(made: Made, found, most: int | None = None) -> np.ndarray:
    """Which of the predicted cases have the word, in so many paragraphs."""
    text = dict(zip(*pq.read_table(made.data, columns=["case_id", "text"]), strict=True))
    said = {case.as_py(): " ".join((one.as_py() or [])[:most]) for case, one in text.items()}
    return np.array(["facts" in said[case] for case in found.case_ids.tolist()])


@pytest.mark.parametrize("kind", STAGES)
def test_twins_are_predicted_whatever_the_objective(files, tmp_path, kind):
    plain, _ = run(files, kind, tmp_path / "plain", leave=PAIRS)
    assert plain.twin_logits is None
    found, counts = run(files, kind, tmp_path / "twins")
    assert (found.logits == plain.logits).all()
    has = np.isfinite(found.twin_logits).all(axis=1)
    assert (has == swapped(files[0], found)).all()
    assert 0 < has.sum() < len(has)
    assert (found.twin_logits[has] != found.logits[has]).any()
    assert counts["twins"] == {
        split: int(has[found.splits == split].sum()) for split in ("train", "dev", "test")
    }


@pytest.mark.parametrize("kind", STAGES)
def test_pairs_of_no_weight_train_as_erm(files, tmp_path, kind):
    erm, _ = run(files, kind, tmp_path / "erm")
    found, _ = run(files, kind, tmp_path / "none", **learning("counterfactual", 0.0))
    assert (found.logits == erm.logits).all()
    np.testing.assert_array_equal(found.twin_logits, erm.twin_logits)


@pytest.mark.parametrize("kind", STAGES)
def test_answers_to_twins_come_nearer(files, tmp_path, kind):
    gaps, given = [], {"epochs": 15, "patience": 15}
    given |= {} if kind == "linear" else {"dropout": 0.0}
    for weight in (0.0, 300.0):
        one = given | learning("counterfactual", weight)
        found, _ = run(files, kind, tmp_path / str(weight), **one)
        gaps.append(np.nanmean(np.abs(found.logits - found.twin_logits)))
    assert gaps[1] < gaps[0]


@pytest.mark.parametrize("pairs", ["counterfactual", "graph"])
@pytest.mark.parametrize("kind", STAGES)
def test_the_same_bytes_again(files, tmp_path, kind, pairs):
    erm, _ = run(files, kind, tmp_path / "erm")
    for name in ("one", "two"):
        found, _ = run(files, kind, tmp_path / name, **learning(pairs))
        assert (found.logits != erm.logits).any()
    for name in ("out", "history"):
        assert content_digest(tmp_path / "one" / name) == content_digest(tmp_path / "two" / name)


@pytest.mark.parametrize("pairs", ["counterfactual", "graph"])
@pytest.mark.parametrize("kind", STAGES)
def test_pairs_that_are_not_given(files, tmp_path, kind, pairs):
    with pytest.raises(InputError, match=f"pairs={pairs} needs the cases' "):
        run(files, kind, tmp_path, leave=PAIRS, **learning(pairs))


@pytest.mark.parametrize("kind", ["frozen", "hierarchical"])
def test_a_training_that_died_goes_on_to_the_same_bytes(files, tmp_path, monkeypatch, kind):
    monkeypatch.setattr("evenhand.io.checkpoint.SECONDS", 0.0)
    monkeypatch.setattr("evenhand.io.checkpoint.SHARE", 0)
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    given = learning("counterfactual")
    run(files, kind, tmp_path / "whole", **given)
    step, seen = trainer._Run._one_step, []

    def dies(self, places):
        seen.append(self.step)
        if len(seen) == 6:
            raise KeyboardInterrupt
        step(self, places)

    monkeypatch.setattr(trainer._Run, "_one_step", dies)
    died = arguments(files, kind, tmp_path / "died", **given)
    with pytest.raises(KeyboardInterrupt):
        stage.execute(STAGES[kind], died)
    stage.execute(STAGES[kind], died)
    assert seen[6] == 5
    for name in ("out", "history"):
        assert content_digest(tmp_path / "died" / name) == content_digest(tmp_path / "whole" / name)


def test_what_is_not_read_makes_no_twin(files, tmp_path):
    found, _ = run(files, "hierarchical", tmp_path, segments=1)
    has = np.isfinite(found.twin_logits).all(axis=1)
    assert (has == swapped(files[0], found, 1)).all()
    short, _ = run(files, "hierarchical", tmp_path, segments=1, paragraph_tokens=2)
    assert short.twin_logits is None  # of two tokens none is a word


def test_paragraphs_with_the_same_tokens_keep_their_vectors(files):
    made, reads = files
    cases, twins = (VectorStore(reads["frozen"][name]) for name in ("embeddings", "twins"))
    tokens, swapped_tokens = TokenStore(made.tokens), TokenStore(reads["hierarchical"]["twins"])
    changed = 0
    for row in range(len(tokens)):
        one, other = (
            np.split(ids, np.cumsum(lengths)[:-1])
            for ids, lengths in (tokens.case(row), swapped_tokens.case(row))
        )
        for place in range(len(cases.case(row))):
            same = np.array_equal(one[place], other[place])
            assert np.array_equal(cases.case(row)[place], twins.case(row)[place]) == same
            changed += not same
    assert changed


def test_vectors_of_twins_need_the_tokens_too(files, tmp_path):
    made, reads = files
    given = {"tokens": made.tokens, "tokens_meta": made.meta, "model": made.model}
    given |= {"out": tmp_path / "v", "meta": tmp_path / "m", "same": reads["frozen"]["embeddings"]}
    with pytest.raises(InputError, match="tokens or vectors are missing"):
        embed_paragraphs(**given)
    with pytest.raises(InputError, match="another width or number format"):
        embed_paragraphs(**given, same_tokens=made.tokens, stored="fp32")


def test_twins_that_were_made_otherwise(files, tmp_path):
    made, _ = files
    with pytest.raises(InputError, match="not tokenised as the cases were"):
        run(files, "hierarchical", tmp_path, leave=("twins_meta",))
    with pytest.raises(InputError, match="words that are not given"):
        run(files, "linear", tmp_path, leave=("words",))
    vocabulary = tmp_path / "v.csv"
    other = tmp_path / "other.arrow"
    weigh_words(data=made.data, out=other, vocabulary=vocabulary, kind="ecthr", features=3)
    with pytest.raises(InputError, match="has 3 n-grams, and the cases have"):
        run(files, "linear", tmp_path, twins=other)
