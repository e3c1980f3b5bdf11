from collections import Counter

import numpy as np
import pytest
import torch

from evenhand.scoring import validity
from evenhand.scoring.models import CausalLM, MaskedLM, load_causal_lm, load_masked_lm
from evenhand.scoring.questions import encode_sequences
from evenhand.scoring.validity import check_model
from unit.scoring import tiny_causal, tiny_models

SENTENCES = {"masked": tiny_models.SENTENCES, "causal": tiny_causal.SENTENCES}


@pytest.fixture
def masked(tmp_path):
    return load_masked_lm(tiny_models.save(tmp_path / "masked"))


@pytest.fixture
def causal(tmp_path):
    return load_causal_lm(tiny_causal.save(tmp_path / "causal", "llama"))  # head of its own


@pytest.fixture(params=["masked", "causal"])
def kind(request):
    return request.param


@pytest.fixture
def lm(kind, request):
    return request.getfixturevalue(kind)


def check(lm, sentences, **options):
    if isinstance(lm, MaskedLM):
        options = {"least_tokens": 1} | options
    return check_model(lm, sentences, seed=0, tokens_per_batch=200, **options)


def prefer(lm, token):
    """Make a masked model predict one token everywhere."""
    lm.model.cls.predictions.bias.data[lm.tokenizer.convert_tokens_to_ids(token)] = 1e4


def test_random_weights_fail(lm, kind):
    record = check(lm, SENTENCES[kind] * 5)
    assert record["sentences"] == 5 * len(SENTENCES[kind]) <= record["tokens"]
    assert list(record) == list(validity.NOTHING_CHECKED)
    assert record["passed"] is False


def test_nan_is_no_correct_prediction(lm, kind):
    lm.model.get_output_embeddings().weight.data.fill_(torch.nan)
    record = check(lm, SENTENCES[kind])
    assert (record["accuracy"], record["passed"]) == (0, False)


@pytest.mark.parametrize("sentences", [[], [""], ["龘靐"], ["a他" * 100]])
def test_a_check_without_tokens_fails(masked, causal, sentences):
    assert check(masked, sentences) == validity.NOTHING_CHECKED
    if sentences != ["龘靐"]:
        assert check(causal, sentences) == validity.NOTHING_CHECKED


def test_the_most_frequent_token_everywhere_is_not_above_the_baseline(masked):
    prefer(masked, "。")
    record = check(masked, ["他。。。。。。。"] * 40, share=1.0)
    assert record["accuracy"] == record["baseline"] == 0.875
    assert record["baseline_token"] == "。"
    assert record["accuracy_low"] < 0.875 < record["accuracy_high"]
    assert record["passed"] is False


def test_accuracy_above_the_baseline_passes(masked):
    prefer(masked, "他")
    record = check(masked, ["他"] * 30 + ["一" * 8] * 5)
    assert (record["tokens"], record["baseline_token"]) == (35, "一")
    assert record["accuracy"] == round(30 / 35, 6)
    assert record["baseline"] == round(5 / 35, 6)
    assert record["passed"] is True
    n, p, z = 35, 30 / 35, 1.959964  # Wilson's interval
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    assert record["accuracy_low"] == round(centre - half, 6)
    assert record["accuracy_high"] == round(centre + half, 6)


def test_few_sentences_are_masked_again_at_other_positions(masked):
    sentence = tiny_models.SENTENCES[:1]
    ids = masked.tokenizer(sentence).input_ids
    once = check(masked, sentence)
    assert check(masked, ids) == once
    more = check(masked, sentence, least_tokens=once["tokens"] + 1)["tokens"]
    assert once["tokens"] < more <= 2 * once["tokens"]
    assert check(masked, sentence, least_tokens=10_000)["tokens"] <= len(ids[0]) - 2


def test_a_causal_model_that_learned_a_sentence_passes(causal):
    sentence = tiny_causal.SENTENCES[0]
    (ids,), _ = encode_sequences(causal, [sentence])
    batch = torch.from_numpy(ids.astype(np.int64))[None]
    causal.model.requires_grad_(True)
    optimizer = torch.optim.AdamW(causal.model.parameters(), lr=0.01)
    with torch.random.fork_rng():
        for _ in range(60):
            loss = causal.model(input_ids=batch, labels=batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    record = check(causal, [sentence] * 3)
    assert record["accuracy"] > 0.9 and record["passed"] is True


def test_equal_predictions_of_all_tokens_fail(causal):
    causal.model.lm_head.weight.data.zero_()
    record = check(causal, tiny_causal.SENTENCES)
    assert (record["accuracy"], record["passed"]) == (0, False)


def test_unknown_tokens_are_not_predicted(causal):
    (ids,), _ = encode_sequences(causal, ["Men 龘龘 drive"])
    assert causal.unknown_id in ids
    assert check(causal, ["Men 龘龘 drive"])["tokens"] == sum(token > 2 for token in ids)


# ---------------------------------------------------------------- the gate

PASSED, FAILED = {"passed": True}, {"passed": False}


def stub(kind, missing=()):
    options = {"mask_id": 0} if kind is MaskedLM else {"start_id": 0}
    return kind(torch.nn.Linear(1, 1), None, None, 8, list(missing), None, **options)


@pytest.mark.parametrize(
    ("lm", "check", "scored", "reason"),
    [
        (stub(MaskedLM), PASSED, 5, None),
        (stub(MaskedLM), PASSED, 4, "few_scored"),
        (stub(MaskedLM), FAILED, 9, "fill_mask_not_above_baseline"),
        (stub(CausalLM), FAILED, 9, "next_token_not_above_baseline"),
        (stub(CausalLM, ["head"]), FAILED, 0, "missing_weights, few_scored"),
    ],
)
def test_a_model_is_trusted_unless_there_is_a_reason(lm, check, scored, reason):
    found = validity.judge(lm, check, scored, enough=4.5)
    assert found == {"trusted": reason is None, "reason": reason, "check": check}


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_weights_that_are_not_finite_are_the_reason(value):
    lm = stub(MaskedLM)
    lm.model.bias.data.fill_(value)
    assert validity.judge(lm, FAILED, 9, enough=1)["reason"] == "weights_not_finite"
    assert validity.judge(lm, PASSED, 9, enough=1)["trusted"]


def test_a_model_without_scores_is_not_trusted():
    assert validity.judge(stub(MaskedLM), PASSED, 0, enough=0)["reason"] == "few_scored"


def test_the_most_frequent_unknown_texts_are_listed():
    unknown = Counter({chr(0x4E00 + n): n for n in range(1, 30)} | {"乙": 29})
    counts = validity.count_unknown(7, unknown)
    assert (counts["sentences_with_unknown"], counts["unknown_tokens"]) == (7, unknown.total())
    assert len(counts["unknown_most_frequent"]) == validity.UNKNOWN_NAMED
    assert [*counts["unknown_most_frequent"]][:2] == sorted(["乙", chr(0x4E00 + 29)])
