import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.scoring import execution
from evenhand.scoring.methods import METHODS
from evenhand.scoring.models import load_language_model, load_masked_lm
from evenhand.stereotypes import score_pairs as module
from evenhand.stereotypes import scoring
from evenhand.stereotypes.pairs import PAIRS
from evenhand.stereotypes.rows import PASSES
from evenhand.stereotypes.score_pairs import score_pairs
from evenhand.stereotypes.scores import EXCLUDED, NULL_SCORES, SCORES, TOKENS
from unit.io.damage import damage
from unit.stereotypes import english_models
from unit.stereotypes.english_models import pair


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of models, made when first asked for."""
    made = {}

    def get(family):
        if family not in made:
            made[family] = english_models.save(tmp_path_factory.mktemp(family), family)
        return made[family]

    return get


def write(path, pairs):
    pq.write_table(pa.Table.from_pylist(pairs, PAIRS), path)
    return path


def arguments(tmp_path, folder, pairs=None, **options):
    table = write(tmp_path / "pairs.parquet", pairs or english_models.all_pairs())
    outputs = {name: tmp_path / f"{name}.parquet" for name in ("out", "tokens", "null")}
    gate = tmp_path / "gate.json"
    return {"pairs": table, **outputs, "gate": gate, "name": "tiny", "model": folder} | options


def run(tmp_path, folder, pairs=None, **options):
    given = arguments(tmp_path, folder, pairs, **options)
    counts = score_pairs(**given)
    scores, tokens = (pq.read_table(given[name]) for name in ("out", "tokens"))
    assert scores.schema.equals(SCORES) and tokens.schema.equals(TOKENS)
    gate = json.loads(given["gate"].read_text(encoding="utf-8"))
    return scores.to_pylist(), tokens.to_pylist(), gate, counts


def files(given):
    return [given[name].read_bytes() for name in ("out", "tokens", "gate", "null")]


# ---------------------------------------------------------------- the stores


def test_both_stores_tell_when_they_are_damaged(tmp_path, folders):
    given = arguments(tmp_path, folders("bert"), methods=["aul"])
    score_pairs(**given)
    for name, column in (("out", "aul"), ("tokens", "log_p")):
        with pytest.raises(InputError, match=damage(given[name], column)):
            list(read_rows(given[name]))


@pytest.mark.parametrize("family", english_models.FAMILIES)
def test_the_scores_follow_from_the_token_store(tmp_path, folders, family):
    scores, tokens, _, _ = run(tmp_path, folders(family), shuffle=True)
    store = {(t["pair_id"], t["side"], t["variant"], t["pass"]): t for t in tokens}
    assert len(store) == len(tokens)
    checked = dict.fromkeys(METHODS, 0)
    for row in scores:
        key = row["pair_id"], row["side"], row["variant"]
        passes = {name: store[*key, name] for name in PASSES if (*key, name) in store}
        log_p = {name: np.array(one["log_p"]) for name, one in passes.items()}
        expected = {}
        if "unmasked" in passes:
            alpha = np.array(passes["unmasked"]["alpha"])
            weighted = alpha * log_p["unmasked"]
            expected["aul"] = log_p["unmasked"].mean()
            expected["aula"] = weighted.mean()
            expected["aula_norm"] = weighted.sum() / alpha.sum()
            assert row["n_tokens"] == len(log_p["unmasked"])
            assert row["n_correct"] == sum(passes["unmasked"]["first"])
        if len(log_p.get("cps", ())):
            expected["cps"] = log_p["cps"].sum()
            assert row["cps_correct"] == sum(passes["cps"]["first"])
        if len(log_p.get("sss", ())):
            expected["sss"] = log_p["sss"].mean()
            assert row["sss_tokens"] == len(log_p["sss"])
        if "all_masked" in passes:
            expected["all_masked"] = log_p["all_masked"].mean()
            assert row["all_masked_correct"] == sum(passes["all_masked"]["first"])
        if "causal" in passes:
            expected["log_likelihood"] = log_p["causal"].sum()
            expected["log_likelihood_per_token"] = log_p["causal"].mean()
            assert row["n_correct"] == sum(passes["causal"]["first"])
        for method in METHODS:
            if method in expected:
                checked[method] += 1
                assert row[method] == pytest.approx(expected[method], rel=1e-5, abs=1e-5)
            elif method != "sss_compat":
                assert row[method] is None
    family = "causal" if family == "gpt2" else "masked"
    for name, method in METHODS.items():
        assert (checked[name] > 0) == (method.family == family and name != "sss_compat")


def test_the_token_store_says_what_was_asked(tmp_path, folders):
    lm = load_masked_lm(folders("bert"))
    _, tokens, _, _ = run(tmp_path, folders("bert"))
    text = english_models.ordinary_pairs()[0]["more"]
    ids = lm.tokenizer(text).input_ids
    found = {t["pass"]: t for t in tokens if (t["pair_id"], t["side"]) == ("pair-0", "more")}
    for name, one in found.items():
        assert [ids[place] for place in one["place"]] == one["token"]
        assert all(entropy >= 0 for entropy in one["entropy"])
        assert (one["alpha"] is None) == (name != "unmasked")
    assert found["unmasked"]["place"] == list(range(1, len(ids) - 1))
    assert sorted(found["cps"]["place"] + found["sss"]["place"]) == found["unmasked"]["place"]
    assert 0 < sum(found["unmasked"]["alpha"]) < 1  # the rest goes to the special tokens


def test_rows_keep_the_order_of_the_pairs(tmp_path, folders):
    pairs = english_models.all_pairs()
    scores, tokens, _, _ = run(tmp_path, folders("bert"), pairs, shuffle=True)
    expected = [
        (one["pair_id"], side, variant)
        for one in pairs
        for side in ("more", "less", "unrelated")
        for variant in ("original", "shuffled")
        if (side != "unrelated" or (one["unrelated"] is not None and variant == "original"))
    ]
    assert [(row["pair_id"], row["side"], row["variant"]) for row in scores] == expected
    told = [(t["pair_id"], t["side"], t["variant"]) for t in tokens]
    assert list(dict.fromkeys(told)) == [
        key for key, row in zip(expected, scores, strict=True) if row["excluded"] is None
    ]


# ---------------------------------------------------------------- the same bytes


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_two_threads_and_a_second_run_give_the_same_bytes(tmp_path, folders, family):
    given = arguments(tmp_path, folders(family), shuffle=True)
    score_pairs(**given)
    first = files(given)
    score_pairs(**given, threads=2)
    assert files(given) == first


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, folders, monkeypatch):
    settings = {"tokens_per_batch": 30, "shuffle": True, "null_seeds": 1}
    settings |= {"methods": ["aul", "sss"], "dtype": "bf16"}
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(scoring, "PAIRS_AT_ONCE", 6)
    calls = {"all": 0}
    real = execution._fit

    def counting(run, batch, device):
        if calls["all"] == calls.get("stop"):
            raise KeyboardInterrupt
        calls["all"] += 1
        return real(run, batch, device)

    monkeypatch.setattr(execution, "_fit", counting)
    whole = tmp_path / "whole"
    whole.mkdir()
    given = arguments(whole, folders("bert"), **settings)
    stage.execute(score_pairs, given)
    needed = calls["all"]
    assert needed > 20
    part = tmp_path / "part"
    part.mkdir()
    again = arguments(part, folders("bert"), **settings)
    calls |= {"all": 0, "stop": 2 * needed // 3}
    with pytest.raises(KeyboardInterrupt):
        stage.execute(score_pairs, again)
    assert not any(again[name].exists() for name in ("out", "tokens", "gate"))
    assert not list(part.glob(".partial*"))
    calls |= {"all": 0, "stop": None}
    stage.execute(score_pairs, again)
    # the check of the model is made anew; of the rest only what was missing
    assert calls["all"] < needed - needed // 3
    assert files(again) == files(given)
    assert not list((tmp_path / "state" / "scratch").glob("*"))


# ---------------------------------------------------------------- the gate


def test_the_gate_counts_everything(tmp_path, folders):
    scores, _, gate, counts = run(tmp_path, folders("bert"), shuffle=True)
    original = [row for row in scores if row["variant"] == "original"]
    assert gate["pairs"] == len(english_models.all_pairs()) == counts["pairs"]
    assert gate["sentences"] == len(original)
    assert gate["scored"] == sum(row["excluded"] is None for row in original)
    assert gate["scored"] + sum(gate["excluded"].values()) == gate["sentences"]
    assert gate["shuffled"] + gate["sentences"] == len(scores)
    assert gate["shuffled_scored"] + sum(gate["shuffled_excluded"].values()) == gate["shuffled"]
    assert {*gate["excluded"]} == {*EXCLUDED}
    both = {
        row["pair_id"]
        for row in original
        if row["side"] != "unrelated" and row["excluded"] is not None
    }
    assert gate["pairs_scored"] == gate["pairs"] - len(both)
    assert gate["sentences_with_unknown"] == sum(bool(row["n_unknown"]) for row in original)
    assert gate["unknown_tokens"] == sum(row["n_unknown"] or 0 for row in original)
    assert gate["unknown_most_frequent"]["北"] == 1
    assert (gate["model"], gate["family"], gate["hub_name"]) == ("tiny", "masked", None)
    assert gate["dtype"] == "float32" and gate["rescored_pairs"] is None
    assert not gate["trusted"] and gate["reason"] == "fill_mask_not_above_baseline"
    assert {"tokens", "accuracy", "accuracy_low", "baseline", "passed"} <= {*gate["check"]}


def test_a_model_with_nothing_to_score_is_not_trusted(tmp_path, folders):
    pairs = [pair(0, "", "Men are late."), pair(1, "北", "京")]
    scores, tokens, gate, _ = run(tmp_path, folders("bert"), pairs)
    assert [row["excluded"] for row in scores] == ["empty", None, "unknown_only", "unknown_only"]
    assert gate["pairs_scored"] == 0 and "few_scored" in gate["reason"]
    nothing = [pair(0, "Men", "Men"), pair(1, None, " ")]
    scores, tokens, gate, _ = run(tmp_path, folders("gpt2"), nothing)
    assert tokens == [] and gate["scored"] == 0 and not gate["trusted"]
    assert gate["reason"] == "few_scored"


def test_a_model_that_scores_too_few_is_not_trusted(tmp_path, folders):
    _, _, gate, _ = run(tmp_path, folders("bert"), least_scored=0.4)
    assert "few_scored" not in gate["reason"]
    _, _, gate, _ = run(tmp_path, folders("bert"), least_scored=0.8)
    assert "few_scored" in gate["reason"]


def test_a_model_that_knows_the_sentences_is_trusted(tmp_path):
    """A head that gives every place its own token passes the check, a broken one does not."""
    folder = english_models.save(tmp_path / "model", "bert")
    passed = {"accuracy": 0.9, "baseline": 0.1, "passed": True, "tokens": 9}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "check_model", lambda *_, **__: passed)
        _, _, gate, counts = run(tmp_path, folder)
    assert gate["trusted"] and gate["reason"] is None and counts["trusted"]
    assert gate["check"] == passed


def test_a_broken_model_gives_no_number(tmp_path):
    folder = english_models.save(tmp_path / "model", "bert")
    lm = load_masked_lm(folder)
    with torch.no_grad():
        lm.model.bert.embeddings.word_embeddings.weight.fill_(math.nan)
    lm.model.save_pretrained(folder)
    for options in ({"dtype": "fp32"}, {"dtype": "bf16", "methods": ["aula", "sss"]}):
        scores, tokens, gate, _ = run(tmp_path, folder, **options)
        assert tokens == [] and gate["scored"] == 0 and gate["excluded"]["not_finite"] > 0
        assert all(row["excluded"] for row in scores)
        assert "few_scored" in gate["reason"]


@pytest.mark.parametrize("methods", [["aul", "sss"], ["aula"]])
def test_a_model_whose_forward_pass_fails_gets_a_gate(tmp_path, folders, monkeypatch, methods):
    folder = english_models.save_broken(tmp_path / "model")
    scores, tokens, gate, _ = run(tmp_path, folder, methods=methods, null_seeds=1, shuffle=True)
    assert tokens == [] and gate["scored"] == 0 and not gate["trusted"]
    assert gate["reason"] == "broken_model" and "is invalid for input" in gate["error"]
    assert gate["excluded"]["broken_model"] > 0
    whole, *_ = run(tmp_path, folders("bert"), methods=["aul"], shuffle=True)
    key = ("pair_id", "side", "variant")
    assert [[row[k] for k in key] for row in scores] == [[row[k] for k in key] for row in whole]
    assert all(row["excluded"] for row in scores)

    def slip(*_arguments):
        raise RuntimeError("ours")

    monkeypatch.setattr(scoring, "_ask", slip)
    with pytest.raises(RuntimeError, match="ours"):
        run(tmp_path, folders("bert"), methods=["aul"])


def test_bf16_says_what_it_read_again(tmp_path, folders):
    pairs = [
        one | {"pair_id": f"{one['pair_id']}-{copy}"}
        for copy in range(6)
        for one in english_models.ordinary_pairs()
    ]
    exact, _, _, _ = run(tmp_path, folders("bert"), pairs)
    scores, _, gate, _ = run(tmp_path, folders("bert"), pairs, dtype="bf16")
    assert gate["dtype"] == "bfloat16" and gate["calibrated_on"] == len(pairs)
    assert {*gate["near_tie_margins"]} == {n for n, m in METHODS.items() if m.family == "masked"}
    assert all(margin > 0 for margin in gate["near_tie_margins"].values())
    assert 0 < gate["rescored_pairs"] <= len(pairs)
    assert sum(gate["rescored_by_pass"].values()) >= gate["rescored_pairs"]
    assert [row["aul"] for row in scores] != [row["aul"] for row in exact]
    few, _, gate, _ = run(tmp_path, folders("bert"), pairs[:8], dtype="bf16")
    assert set(gate["near_tie_margins"].values()) == {None}  # too few to tell: all in fp32
    assert gate["rescored_pairs"] == 8
    for low, full in zip(few, exact, strict=False):
        for name in ("aul", "aula", "cps", "all_masked"):
            if full[name] is None:
                continue
            assert low[name] == pytest.approx(full[name], rel=1e-5)


# ---------------------------------------------------------------- options and bad input


def test_methods_choose_columns_and_passes(tmp_path, folders):
    scores, tokens, gate, _ = run(tmp_path, folders("bert"), methods=["cps", "log_likelihood"])
    assert gate["methods"] == ["cps"]
    assert {t["pass"] for t in tokens} == {"unmasked", "cps"}  # the first for the accuracy
    assert all(t["alpha"] is None for t in tokens)
    for row in scores:
        assert row["aul"] is row["sss"] is row["all_masked"] is None
        assert (row["n_correct"] is None) == (row["excluded"] is not None)


def test_no_method_for_the_model_is_an_error(tmp_path, folders):
    with pytest.raises(InputError, match=r"none of the methods aul, cps is for a causal model"):
        run(tmp_path, folders("gpt2"), methods=["aul", "cps"])


@pytest.mark.parametrize(
    ("options", "message"),
    [({"model": None}, "a folder or a hub name"), ({"methods": ["bias"]}, "no method 'bias'")],
)
def test_wrong_options(tmp_path, folders, options, message):
    with pytest.raises(InputError, match=message):
        run(tmp_path, folders("bert"), **options)


def test_tables_that_cannot_be_scored(tmp_path, folders):
    given = arguments(tmp_path, folders("bert"))
    write(given["pairs"], [])
    with pytest.raises(InputError, match="holds no pair"):
        score_pairs(**given)


# ---------------------------------------------------------------- models with random weights


def untrained(tmp_path, folder, **options):
    *_, counts = run(tmp_path, folder, **options)
    table = pq.read_table(tmp_path / "null.parquet")
    assert table.schema.equals(NULL_SCORES)
    return table.to_pylist(), counts


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_each_seed_has_the_scores_of_that_model(tmp_path, folders, family):
    rows, counts = untrained(tmp_path, folders(family), null_seeds=2)
    assert [row["seed"] for row in rows] == sorted(row["seed"] for row in rows)
    assert counts["null_seeds"] == len({row["seed"] for row in rows}) == 2
    kind = "masked" if family == "bert" else "causal"
    lm = load_language_model(folders(family), kind, seed=1)
    folder = tmp_path / "random"
    lm.model.save_pretrained(folder)
    lm.tokenizer.save_pretrained(folder)
    expected, *_ = run(tmp_path, folder)
    found = [row for row in rows if row.pop("seed") == 1]
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        # the weights lie elsewhere in memory, and with that the last bit of a sum may differ
        assert row == {
            key: pytest.approx(value, rel=1e-5) if isinstance(value, float) else value
            for key, value in other.items()
        }
    method = "aul" if family == "bert" else "log_likelihood"
    values = {row[method] for row in rows if row["pair_id"] == "pair-0" and row["side"] == "more"}
    assert len(values) == 2


@pytest.mark.parametrize(
    ("options", "scored_by"),
    [
        ({"null_methods": ["sss"]}, {"sss"}),
        ({"null_methods": []}, {"aul"}),
        ({"null_methods": None}, {"aul"}),
        ({"null_methods": ["log_likelihood"]}, set()),
        ({"null_seeds": 0}, set()),
    ],
)
def test_only_the_requested_methods_are_scored(tmp_path, folders, options, scored_by):
    options = {"methods": ["aul"], "null_seeds": 1} | options
    rows, counts = untrained(tmp_path, folders("bert"), **options)
    found = {name for row in rows for name in ("aul", "sss", "cps") if row[name] is not None}
    assert found == scored_by
    assert counts["null_seeds"] == bool(scored_by)
    assert counts["null_scored"] == sum(row["excluded"] is None for row in rows)
    if scored_by == {"sss"}:
        assert all(row["n_correct"] is None for row in rows)


def test_models_of_random_weights_run_in_bf16(tmp_path, folders):
    full, _ = untrained(tmp_path, folders("bert"), null_seeds=1)
    low, _ = untrained(tmp_path, folders("bert"), null_seeds=1, dtype="bf16")
    scored = [(a["aul"], b["aul"]) for a, b in zip(low, full, strict=True) if b["aul"] is not None]
    assert any(a != b for a, b in scored)
    assert all(a == pytest.approx(b, abs=0.05) for a, b in scored)
