import json
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer

from evenhand.core.files import content_digest
from evenhand.errors import InputError
from evenhand.scoring import train_causal_lm as module
from evenhand.scoring.causal import encode, read_sequences
from evenhand.scoring.models import family_of, load_causal_lm
from evenhand.scoring.train_causal_lm import train_causal_lm

SMALL = {"layers": 1, "width": 16, "steps": 6, "max_length": 24, "vocabulary": 300}


def sentences(count=300):
    """Sentences of a tiny grammar, in which a word tells the next."""
    generator = random.Random(0)
    people = ["The doctor", "A nurse", "My teacher", "The engineer", "Our neighbour"]
    verbs = ["walked to", "looked at", "lives near", "talked about"]
    places = ["the station", "the hospital", "the school", "the market", "the river"]
    made = set()
    while len(made) < count:
        made.add(
            f"{generator.choice(people)} {generator.choice(verbs)} {generator.choice(places)}"
            f" {generator.choice(['today', 'again', 'in May', 'on Sunday'])}."
        )
    return sorted(made)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(sentences()) + "\n", encoding="utf-8")
    return path


def test_it_learns_more_than_frequencies(tmp_path, text):
    sizes = SMALL | {"width": 64, "steps": 120, "batch": 16}
    counts = train_causal_lm(out=tmp_path / "m", files=[text], **sizes)
    record = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf-8"))
    found = record["next_token_held_out"]
    assert found["passed"] is True
    assert found["accuracy"] > 2 * found["baseline"]
    assert counts["accuracy_held_out"] == found["accuracy"]
    assert (record["sentences_trained_on"], record["sentences_held_out"]) == (270, 30)
    assert record["loss"][-1]["loss"] < record["loss"][0]["loss"] - 1
    lm = load_causal_lm(tmp_path / "m")
    likely, unlikely = read_sequences(
        lm,
        *encode(lm, ["The doctor walked to the river.", "The doctor river to walked the."]),
        tokens_per_batch=500,
    )
    assert likely.log_p.sum() > unlikely.log_p.sum() + 5


def test_the_folder(tmp_path, text):
    train_causal_lm(out=tmp_path / "m", files=[text], **SMALL)
    assert family_of(tmp_path / "m") == "causal"
    lm = load_causal_lm(tmp_path / "m")
    assert (lm.max_tokens, lm.vocabulary, lm.missing) == (24, 300, [])
    assert lm.tokenizer.convert_ids_to_tokens(lm.start_id) == "<|endoftext|>"
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "m")
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "m").config.vocab_size == 300
    assert tokenizer.is_fast
    line = "The nurse saw 男 <|endoftext|> café."
    coded = tokenizer(line, return_offsets_mapping=True, split_special_tokens=True)
    assert tokenizer.decode(coded["input_ids"]) == line
    assert coded["offset_mapping"][0][0] == 0 and coded["offset_mapping"][-1][1] == len(line)
    assert lm.start_id not in coded["input_ids"]
    assert str(tmp_path) not in "".join(
        path.read_text(encoding="utf-8") for path in (tmp_path / "m").glob("*.json")
    )


def test_same_bytes_whatever_the_threads_and_the_order_of_inputs(tmp_path, text):
    back = tmp_path / "back.txt"
    back.write_text("\n".join(sentences()[::-1]) + "\n", encoding="utf-8")
    before, state = torch.get_num_threads(), torch.random.get_rng_state()
    train_causal_lm(out=tmp_path / "a", files=[text], **SMALL)
    torch.set_num_threads(3)
    torch.manual_seed(99)
    try:
        train_causal_lm(out=tmp_path / "b", files=[back], **SMALL)
    finally:
        torch.set_num_threads(before)
        torch.random.set_rng_state(state)
    assert content_digest(tmp_path / "a") == content_digest(tmp_path / "b")


def test_the_seed_counts(tmp_path, text):
    for seed in (0, 1):
        train_causal_lm(out=tmp_path / str(seed), files=[text], seed=seed, **SMALL)
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in "01")
    assert one != other


def test_sentences_longer_than_the_model_are_cut(tmp_path):
    lines = [*sentences(20), "walked to the river " * 20]
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    train_causal_lm(out=tmp_path / "m", files=[tmp_path / "t.txt"], **SMALL)
    state = load_causal_lm(tmp_path / "m").model.state_dict()
    assert all(torch.isfinite(tensor).all() for tensor in state.values())


@given(st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=9), min_size=1, max_size=6))
def test_each_token_but_the_first_is_asked_for_once(batch):
    ids, rows, columns, wanted = module._next_tokens(batch, 1)
    for row, sentence in enumerate(batch):
        assert wanted[rows == row].tolist() == sentence[1:]
        assert columns[rows == row].tolist() == list(range(len(sentence) - 1))
        assert ids[row].tolist() == sentence + [1] * (ids.shape[1] - len(sentence))


def test_bad_inputs(tmp_path, text):
    out = tmp_path / "m"
    with pytest.raises(InputError, match="not a multiple"):
        train_causal_lm(out=out, files=[text], width=16, heads=3)
    with pytest.raises(InputError, match="256 tokens is too small"):
        train_causal_lm(out=out, files=[text], vocabulary=256)
    with pytest.raises(InputError, match="nothing to train on"):
        train_causal_lm(out=out)
    assert not out.exists()
