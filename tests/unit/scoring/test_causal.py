import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core import warm
from evenhand.errors import InputError
from evenhand.scoring import causal
from evenhand.scoring.causal import encode, read_sequences
from evenhand.scoring.models import load_causal_lm
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
    (ids,), starts = encode(gpt2, ["Men drive well."])
    assert starts == [1]
    assert tokens(gpt2, ids)[0] == "</s>"
    assert tokens(gpt2, ids)[1].startswith("M") and "Ġ" in tokens(gpt2, ids)[3]
    assert gpt2.tokenizer.decode(ids[1:]) == "Men drive well."


def test_a_context_gives_the_first_word_its_space(gpt2):
    inputs, starts = encode(gpt2, ["Men drive well.", "Why"], ["He left. \n", None])
    ids, start = inputs[0], starts[0]
    assert gpt2.tokenizer.decode(ids[1:start]) == "He left."
    assert tokens(gpt2, ids)[start].startswith("Ġ")
    assert gpt2.tokenizer.decode(ids[start:]) == " Men drive well."
    assert starts[1] == 1 and gpt2.tokenizer.decode(inputs[1][1:]) == "Why"


def test_a_blank_that_is_a_token_of_its_own_is_scored(gpt2):
    (ids,), (start,) = encode(gpt2, ["龘"], ["A café"])
    assert tokens(gpt2, ids)[start] == "Ġ"
    assert gpt2.tokenizer.decode(ids[start:]) == " 龘"


@pytest.mark.parametrize("family", ["llama", "opt"])
def test_no_start_twice(models, family):
    lm = models(family)
    (ids,), starts = encode(lm, ["Men drive well."])
    own = lm.tokenizer("Men drive well.").input_ids
    assert ids.tolist() == own  # this tokenizer adds it by itself
    assert starts == [1] and own[1] != lm.start_id


def test_word_border_marks(models):
    lm = models("llama")
    (ids,), (start,) = encode(lm, ["Men drive."], ["He."])
    assert tokens(lm, ids)[start].startswith("▁")
    assert "".join(tokens(lm, ids)[start:]) == "▁Men▁drive."


def test_the_end_of_text_stands_in_for_a_start(models):
    lm = models("qwen2")
    assert lm.tokenizer.bos_token_id is None
    assert encode(lm, ["Why"])[0][0][0] == lm.tokenizer.eos_token_id


def test_without_a_start_the_first_token_is_not_scored(models):
    lm = models("gpt_neox")
    assert lm.start_id is None
    inputs, starts = encode(lm, ["Men drive.", "Men drive.", ""], [None, "He.", None])
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
    (ids,), _ = encode(lm, ["他是老师"])
    assert tokens(lm, ids) == ["[CLS]", *"他是老师"]  # and no [SEP]


def test_names_of_special_tokens_are_text(gpt2):
    (ids,), _ = encode(gpt2, ["a </s> b"])
    assert ids[0] == gpt2.start_id and gpt2.start_id not in ids[1:]
    assert gpt2.tokenizer.decode(ids[1:]) == "a </s> b"


def test_an_empty_sentence_has_nothing_to_score(gpt2):
    inputs, starts = encode(gpt2, ["", "Why"])
    assert (inputs[0].tolist(), starts[0]) == ([gpt2.start_id], 1)
    empty, _ = read_sequences(gpt2, inputs, starts, tokens_per_batch=99)
    assert all(len(getattr(empty, name)) == 0 for name in FIELDS)
    assert encode(gpt2, []) == ([], [])
    assert read_sequences(gpt2, [], [], tokens_per_batch=99) == []


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20), st.text(max_size=20))
def test_context_and_sentence_share_out_the_text(gpt2, context, sentence):
    (ids,), (start,) = encode(gpt2, [sentence], [context])
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
    inputs, starts = encode(lm, SENTENCES, contexts)
    scores = read_sequences(lm, inputs, starts, tokens_per_batch=60)
    for ids, start, score in zip(inputs, starts, scores, strict=True):
        log_p, first, entropy = tiny_causal.plain_scores(lm, ids.tolist(), start)
        np.testing.assert_allclose(score.log_p, log_p, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(score.entropy, entropy, rtol=1e-5, atol=1e-4)
        assert score.first.tolist() == first
        assert ((score.best == ids[start:]) == score.first).all()
        assert abs(score.log_p.sum() - sum(log_p)) <= 1e-5 * abs(sum(log_p))


def test_the_head_sees_scored_places_only(gpt2):
    inputs, starts = encode(gpt2, ["Men drive well."], ["He can't cook, can he?"])
    shapes = []
    hook = gpt2.model.lm_head.register_forward_hook(
        lambda _module, arguments, _output: shapes.append(arguments[0].shape[-2])
    )
    try:
        read_sequences(gpt2, inputs, starts, tokens_per_batch=99)
    finally:
        hook.remove()
    assert max(shapes, default=0) <= len(inputs[0]) - starts[0]


def test_equal_inputs_are_run_once(gpt2):
    inputs, starts = encode(gpt2, ["Why", "Men drive well.", "Why"])
    told = []
    scores = read_sequences(
        gpt2, [*inputs, inputs[0]], [*starts, 2], tokens_per_batch=99, progress=told.append
    )
    assert sum(told) == sum(len(i) - 1 for i in (inputs[0], inputs[0], inputs[1]))
    assert scores[0].log_p.tobytes() == scores[2].log_p.tobytes()
    np.testing.assert_allclose(scores[3].log_p, scores[0].log_p[1:], rtol=1e-5)


def test_threads_change_no_bit_and_batches_rounding_only(gpt2):
    inputs, starts = encode(gpt2, SENTENCES * 2)
    one, two, whole = (
        read_sequences(gpt2, inputs, starts, tokens_per_batch=n, threads=t)
        for n, t in ((40, 1), (40, 2), (10_000, 1))
    )
    for a, b, c in zip(one, two, whole, strict=True):
        for name in FIELDS:
            assert getattr(a, name).tobytes() == getattr(b, name).tobytes()
        np.testing.assert_allclose(a.log_p, c.log_p, rtol=1e-5, atol=1e-5)


def test_nan_is_told(tmp_path):
    lm = load_causal_lm(tiny_causal.save(tmp_path, "llama"))
    with torch.no_grad():
        lm.model.lm_head.weight[7] = torch.nan
    (score,) = read_sequences(lm, *encode(lm, ["Why"]), tokens_per_batch=99)
    assert np.isnan(score.log_p).all() and not score.first.any()


def test_a_first_token_without_start_cannot_be_asked(gpt2):
    with pytest.raises(ValueError, match="first token"):
        read_sequences(gpt2, [np.array([4, 5])], [0], tokens_per_batch=99)


# ---------------------------------------------------------------- crashes and memory


def test_an_interrupted_scoring_goes_on(gpt2, tmp_path, monkeypatch):
    inputs, starts = encode(gpt2, SENTENCES)
    expected = read_sequences(gpt2, inputs, starts, tokens_per_batch=20)
    real, calls = causal.read_places, []

    def counting(*arguments, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(causal, "read_places", counting)
    options = {"tokens_per_batch": 20, "scratch": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        read_sequences(gpt2, inputs, starts, **options)
    calls[:] = [1] * 4
    again = read_sequences(gpt2, inputs, starts, **options)
    resumed = len(calls) - 4
    calls[:] = [1] * 4
    read_sequences(gpt2, inputs, starts, scratch=tmp_path / "other", tokens_per_batch=20)
    assert resumed == len(calls) - 4 - 3  # three batches were done
    for a, b in zip(again, expected, strict=True):
        assert all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in FIELDS)


def test_another_model_finds_nothing_saved(gpt2, tmp_path):
    other = load_causal_lm(tiny_causal.save(tmp_path / "model", seed=1))
    inputs, starts = encode(gpt2, SENTENCES)
    options = {"tokens_per_batch": 20, "scratch": tmp_path / "scratch"}
    one = read_sequences(gpt2, inputs, starts, **options)
    two = read_sequences(other, inputs, starts, **options)
    assert all(not np.array_equal(a.log_p, b.log_p) for a, b in zip(one, two, strict=True))
    read_sequences(gpt2, inputs, [s + 1 for s in starts], **options)
    assert len(list((tmp_path / "scratch").iterdir())) == 3


def test_short_memory_halves_a_batch(gpt2, monkeypatch):
    inputs, starts = encode(gpt2, [f"{a}{b} drive" for a in "ABCD" for b in "efg"])
    expected = read_sequences(gpt2, inputs, starts, tokens_per_batch=10_000)
    real, most = causal.read_places, 3

    def scarce(model, ids, *arguments, **options):
        if len(ids) > most:
            raise torch.OutOfMemoryError
        return real(model, ids, *arguments, **options)

    monkeypatch.setattr(causal, "read_places", scarce)
    found = read_sequences(gpt2, inputs, starts, tokens_per_batch=10_000)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.log_p, b.log_p, rtol=1e-5, atol=1e-5)
    most = 0
    with pytest.raises(InputError, match="smaller tokens_per_batch"):
        read_sequences(gpt2, inputs, starts, tokens_per_batch=10_000)


def test_a_scoring_that_is_killed_goes_on(tmp_path, monkeypatch):
    lm = load_causal_lm(tiny_causal.save(tmp_path / "model"))
    script = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from evenhand.scoring import causal, execution
        from evenhand.scoring.models import load_causal_lm
        from unit.scoring.tiny_causal import SENTENCES

        execution.SAVE_SECONDS = 0
        folder, calls, real = Path(sys.argv[1]), [], causal.read_places

        def killed(*arguments, **options):
            calls.append(1)
            if len(calls) == 6:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        causal.read_places = killed
        lm = load_causal_lm(folder / "model")
        inputs = causal.encode(lm, SENTENCES)
        causal.read_sequences(lm, *inputs, tokens_per_batch=20, scratch=folder / "scratch")
        """
    )
    (tmp_path / "script.py").write_text(script)
    died = subprocess.run(
        [warm.folder() / "python", tmp_path / "script.py", tmp_path],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert died.returncode == -signal.SIGKILL
    real, calls, told = causal.read_places, [], []

    def counting(*arguments, **options):
        calls.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(causal, "read_places", counting)
    options = {"tokens_per_batch": 20, "progress": told.append}
    expected = read_sequences(lm, *encode(lm, SENTENCES), **options)
    batches = len(calls)
    calls.clear()
    found = read_sequences(lm, *encode(lm, SENTENCES), scratch=tmp_path / "scratch", **options)
    for a, b in zip(found, expected, strict=True):
        assert all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in FIELDS)
    # The sixth batch is begun when the fourth was saved, and the fifth is on its way.
    assert len(calls) in (batches - 4, batches - 5)
    assert told[:batches] == told[batches:]
