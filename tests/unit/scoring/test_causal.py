import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evenhand.scoring.models import load_causal_lm
from evenhand.scoring.questions import encode_sequences, read_sequences
from unit.scoring import tiny_causal, tiny_models
from unit.scoring.tiny_causal import SENTENCES

FIELDS = ("log_p", "best", "first", "entropy")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    loaded = {}

    def load(family):
        if family not in loaded:
            folder = tmp_path_factory.mktemp(family)
            loaded[family] = load_causal_lm(tiny_causal.save(folder, family))
        return loaded[family]

    return load


@pytest.fixture(scope="module")
def gpt2(models):
    return models("gpt2")


def tokens(lm, ids):
    return lm.tokenizer.convert_ids_to_tokens(ids.tolist())


# ---------------------------------------------------------------- text to tokens


def test_a_start_and_no_space_before_the_first_word(gpt2):
    (ids,), starts = encode_sequences(gpt2, ["Men drive well."])
    assert starts == [1]
    assert tokens(gpt2, ids)[0] == "</s>"
    assert tokens(gpt2, ids)[1].startswith("M") and "Ġ" in tokens(gpt2, ids)[3]
    assert gpt2.tokenizer.decode(ids[1:]) == "Men drive well."


def test_a_context_gives_the_first_word_its_space(gpt2):
    inputs, starts = encode_sequences(gpt2, ["Men drive well.", "Why"], ["He left. \n", None])
    ids, start = inputs[0], starts[0]
    assert gpt2.tokenizer.decode(ids[1:start]) == "He left."
    assert tokens(gpt2, ids)[start].startswith("Ġ")
    assert gpt2.tokenizer.decode(ids[start:]) == " Men drive well."
    assert starts[1] == 1 and gpt2.tokenizer.decode(inputs[1][1:]) == "Why"


def test_a_blank_that_is_a_token_of_its_own_is_scored(gpt2):
    (ids,), (start,) = encode_sequences(gpt2, ["龘"], ["A café"])
    assert tokens(gpt2, ids)[start] == "Ġ"
    assert gpt2.tokenizer.decode(ids[start:]) == " 龘"


@pytest.mark.parametrize("family", ["llama", "opt"])
def test_no_start_twice(models, family):
    lm = models(family)
    (ids,), starts = encode_sequences(lm, ["Men drive well."])
    own = lm.tokenizer("Men drive well.").input_ids
    assert ids.tolist() == own  # this tokenizer adds it by itself
    assert starts == [1] and own[1] != lm.start_id


def test_word_border_marks(models):
    lm = models("llama")
    (ids,), (start,) = encode_sequences(lm, ["Men drive."], ["He."])
    assert tokens(lm, ids)[start].startswith("▁")
    assert "".join(tokens(lm, ids)[start:]) == "▁Men▁drive."


def test_the_end_of_text_stands_in_for_a_start(models):
    lm = models("qwen2")
    assert lm.tokenizer.bos_token_id is None
    assert encode_sequences(lm, ["Why"])[0][0][0] == lm.tokenizer.eos_token_id


def test_without_a_start_the_first_token_is_not_scored(models):
    lm = models("gpt_neox")
    assert lm.start_id is None
    inputs, starts = encode_sequences(lm, ["Men drive.", "Men drive.", ""], [None, "He.", None])
    assert lm.tokenizer.decode(inputs[0]) == "Men drive."
    assert starts[0] == 1 and starts[1] > 1
    assert lm.tokenizer.decode(inputs[1][starts[1] :]) == " Men drive."
    assert [len(s.log_p) for s in read_sequences(lm, inputs, starts, tokens_per_batch=99)] == [
        len(inputs[0]) - 1,
        len(inputs[1]) - starts[1],
        0,
    ]


def test_a_tokenizer_of_bert_gives_its_own_start(tmp_path):
    folder = tiny_causal.save(tmp_path, tokenizer=tiny_models.characters())
    lm = load_causal_lm(folder)
    (ids,), _ = encode_sequences(lm, ["他是老师"])
    assert tokens(lm, ids) == ["[CLS]", *"他是老师"]  # and no [SEP]


def test_names_of_special_tokens_are_text(gpt2):
    (ids,), _ = encode_sequences(gpt2, ["a </s> b"])
    assert ids[0] == gpt2.start_id and gpt2.start_id not in ids[1:]
    assert gpt2.tokenizer.decode(ids[1:]) == "a </s> b"


def test_an_empty_sentence_has_nothing_to_score(gpt2):
    inputs, starts = encode_sequences(gpt2, ["", "Why"])
    assert (inputs[0].tolist(), starts[0]) == ([gpt2.start_id], 1)
    empty, _ = read_sequences(gpt2, inputs, starts, tokens_per_batch=99)
    assert all(len(getattr(empty, name)) == 0 for name in FIELDS)
    assert encode_sequences(gpt2, []) == ([], [])
    assert read_sequences(gpt2, [], [], tokens_per_batch=99) == []


@given(st.text(max_size=20), st.text(max_size=20))
def test_context_and_sentence_share_out_the_text(gpt2, context, sentence):
    (ids,), (start,) = encode_sequences(gpt2, [sentence], [context])
    whole = gpt2.tokenizer.backend_tokenizer.decode  # of all bytes, as they are
    before, after = whole(ids[1:start].tolist()), whole(ids[start:].tolist())
    kept = context.rstrip()
    assert before == kept
    assert after == (f" {sentence}" if kept else sentence)


# ---------------------------------------------------------------- scores


@pytest.mark.parametrize("family", tiny_causal.FAMILIES)
def test_scores_are_those_of_one_prefix_at_a_time(models, family):
    lm = models(family)
    contexts = [None, "He left.", "Why?", *[None] * (len(SENTENCES) - 3)]
    inputs, starts = encode_sequences(lm, SENTENCES, contexts)
    scores = read_sequences(lm, inputs, starts, tokens_per_batch=60)
    for ids, start, score in zip(inputs, starts, scores, strict=True):
        log_p, first, entropy = tiny_causal.plain_scores(lm, ids.tolist(), start)
        np.testing.assert_allclose(score.log_p, log_p, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(score.entropy, entropy, rtol=1e-5, atol=1e-4)
        assert score.first.tolist() == first
        assert ((score.best == ids[start:]) == score.first).all()
        assert abs(score.log_p.sum() - sum(log_p)) <= 1e-5 * abs(sum(log_p))


def test_equal_inputs_are_run_once(gpt2):
    inputs, starts = encode_sequences(gpt2, ["Why", "Men drive well.", "Why"])
    told = []
    scores = read_sequences(
        gpt2, [*inputs, inputs[0]], [*starts, 2], tokens_per_batch=99, progress=told.append
    )
    assert sum(told) == sum(len(i) - 1 for i in inputs[:2])
    assert scores[0].log_p.tobytes() == scores[2].log_p.tobytes()
    assert scores[3].log_p.tobytes() == scores[0].log_p[1:].tobytes()


def test_nan_is_told(tmp_path):
    lm = load_causal_lm(tiny_causal.save(tmp_path, "llama"))
    with torch.no_grad():
        lm.model.lm_head.weight[7] = torch.nan
    (score,) = read_sequences(lm, *encode_sequences(lm, ["Why"]), tokens_per_batch=99)
    assert np.isnan(score.log_p).all() and not score.first.any()


def test_a_first_token_without_start_cannot_be_asked(gpt2):
    with pytest.raises(ValueError, match="first token"):
        read_sequences(gpt2, [np.array([4, 5])], [0], tokens_per_batch=99)
