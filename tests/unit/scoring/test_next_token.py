import numpy as np
import pytest
import torch

from evenhand.scoring.causal import encode
from evenhand.scoring.fill_mask import check_fill_mask
from evenhand.scoring.models import load_causal_lm, load_masked_lm
from evenhand.scoring.next_token import check_next_token
from unit.scoring import tiny_causal, tiny_models
from unit.scoring.tiny_causal import SENTENCES


@pytest.fixture
def lm(tmp_path):
    return load_causal_lm(tiny_causal.save(tmp_path, "llama"))  # its head has its own weights


def always(lm, token):
    """Make the model give one token everywhere."""
    with torch.no_grad():
        for layer in lm.model.model.layers:  # what the embedding gives is what the head sees
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        lm.model.model.embed_tokens.weight.fill_(1.0)
        lm.model.lm_head.weight.zero_()
        lm.model.lm_head.weight[token] = 1.0


def test_random_weights_fail(lm):
    record = check_next_token(lm, SENTENCES * 5, tokens_per_batch=200)
    inputs, starts = encode(lm, SENTENCES)
    known = sum(
        int(token) not in lm.tokenizer.all_special_ids
        for ids, start in zip(inputs, starts, strict=True)
        for token in ids[start:]
    )
    assert (record["sentences"], record["tokens"]) == (45, 5 * known)
    assert record["passed"] is False


def test_the_record_has_the_keys_of_the_masked_one(lm, tmp_path):
    masked = load_masked_lm(tiny_models.save(tmp_path / "masked"))
    one = check_next_token(lm, SENTENCES, tokens_per_batch=200)
    other = check_fill_mask(masked, tiny_models.SENTENCES, seed=0, tokens_per_batch=200)
    assert list(one) == list(other)


def test_always_the_most_frequent_token_is_no_pass(lm):
    (ids,), _ = encode(lm, ["e e e e"])
    token = lm.tokenizer.convert_ids_to_tokens(int(ids[-1]))
    share = float(np.mean(ids[1:] == ids[-1]))
    assert token == "e" and share >= 0.5
    always(lm, int(ids[-1]))
    record = check_next_token(lm, ["e e e e"] * 30, tokens_per_batch=200)
    assert record["accuracy"] == record["baseline"] == pytest.approx(share, abs=1e-6)
    assert record["accuracy_low"] < record["accuracy"] < record["accuracy_high"]
    assert record["passed"] is False


def test_a_model_without_opinion_is_no_pass(lm):
    with torch.no_grad():
        lm.model.lm_head.weight.zero_()  # every token is the likeliest
    record = check_next_token(lm, SENTENCES, tokens_per_batch=200)
    assert (record["accuracy"], record["passed"]) == (0, False)


def test_a_model_that_learned_something_passes(lm):
    """A few steps on one sentence are enough to know what follows there."""
    sentence = SENTENCES[0]
    (ids,), _ = encode(lm, [sentence])
    batch = torch.from_numpy(ids.astype(np.int64))[None]
    lm.model.requires_grad_(True)
    optimizer = torch.optim.AdamW(lm.model.parameters(), lr=0.01)
    with torch.random.fork_rng():
        for _ in range(60):
            loss = lm.model(input_ids=batch, labels=batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    record = check_next_token(lm, [sentence] * 3, tokens_per_batch=200)
    assert record["accuracy"] > 0.9 and record["passed"] is True


def test_nan_is_not_a_right_answer(lm):
    with torch.no_grad():
        lm.model.lm_head.weight.fill_(torch.nan)
    record = check_next_token(lm, SENTENCES, tokens_per_batch=200)
    assert (record["accuracy"], record["passed"]) == (0, False)


def test_unknown_tokens_are_not_asked(lm):
    with_unknown = check_next_token(lm, ["Men 龘龘 drive"], tokens_per_batch=200)
    (ids,), _ = encode(lm, ["Men 龘龘 drive"])
    assert lm.unknown_id in ids
    assert with_unknown["tokens"] == sum(t > 2 for t in ids)


@pytest.mark.parametrize("sentences", [[], [""], ["drive " * 100]])
def test_nothing_to_ask_is_no_pass(lm, sentences):
    record = check_next_token(lm, sentences, tokens_per_batch=200)
    assert (record["tokens"], record["accuracy"], record["passed"]) == (0, None, False)
