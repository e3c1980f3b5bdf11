import numpy as np
import pytest
import torch

from evenhand.scoring.fill_mask import check_fill_mask
from evenhand.scoring.models import load_masked_lm
from unit.scoring import tiny_models

OPTIONS = {"seed": 0, "tokens_per_batch": 200, "least_tokens": 1}


@pytest.fixture
def lm(tmp_path):
    return load_masked_lm(tiny_models.save(tmp_path))


def test_random_weights_fail(lm):
    record = check_fill_mask(lm, tiny_models.SENTENCES * 5, **OPTIONS)
    assert record["sentences"] == 50
    assert record["tokens"] >= 50
    assert record["passed"] is False


def test_a_model_that_always_says_one_token(lm):
    ids = lm.tokenizer.convert_tokens_to_ids(["。", "他"])
    with torch.no_grad():
        lm.model.cls.predictions.bias[ids[0]] = 1e4
    full_stops = check_fill_mask(lm, ["他。。。。。。。"] * 40, share=1.0, **OPTIONS)
    # Seven of eight tokens are right, and so is the baseline: nothing was shown.
    assert full_stops["accuracy"] == full_stops["baseline"] == 0.875
    assert full_stops["baseline_token"] == "。"
    assert full_stops["accuracy_low"] < 0.875 < full_stops["accuracy_high"]
    assert full_stops["passed"] is False


def test_a_model_that_beats_the_most_frequent_token(lm):
    lm.model.cls.predictions.bias.data[lm.tokenizer.convert_tokens_to_ids("他")] = 1e4
    record = check_fill_mask(lm, ["他"] * 30 + ["一" * 8] * 5, **OPTIONS)
    assert (record["tokens"], record["baseline_token"]) == (35, "一")
    assert record["accuracy"] == pytest.approx(30 / 35, abs=1e-6)
    assert record["baseline"] == pytest.approx(5 / 35, abs=1e-6)
    assert record["passed"] is True


def test_nan_is_not_a_right_answer(lm):
    with torch.no_grad():
        lm.model.cls.predictions.bias.fill_(torch.nan)
    record = check_fill_mask(lm, tiny_models.SENTENCES, **OPTIONS)
    assert (record["accuracy"], record["passed"]) == (0, False)


def test_wilson_interval(lm):
    lm.model.cls.predictions.bias.data[lm.tokenizer.convert_tokens_to_ids("他")] = 1e4
    record = check_fill_mask(lm, ["他是", "她是"] * 10, share=0.5, **OPTIONS)
    n, p, z = record["tokens"], record["accuracy"], 1.959964
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    assert record["accuracy_low"] == pytest.approx(centre - half, abs=1e-5)
    assert record["accuracy_high"] == pytest.approx(centre + half, abs=1e-5)


@pytest.mark.parametrize("sentences", [[], ["龘靐"], ["他" * 100]])
def test_nothing_to_ask_is_no_pass(lm, sentences):
    record = check_fill_mask(lm, sentences, **OPTIONS)
    assert (record["tokens"], record["accuracy"], record["passed"]) == (0, None, False)


def test_few_sentences_are_masked_again_at_other_places(lm):
    sentence = tiny_models.SENTENCES[:1]
    length = len(lm.tokenizer(sentence[0]).input_ids) - 2
    once = check_fill_mask(lm, sentence, **OPTIONS)["tokens"]
    more = check_fill_mask(lm, sentence, **OPTIONS | {"least_tokens": once + 1})["tokens"]
    every = check_fill_mask(lm, sentence, **OPTIONS | {"least_tokens": 10_000})["tokens"]
    assert once < more <= 2 * once
    assert every <= length  # each place is asked for once
