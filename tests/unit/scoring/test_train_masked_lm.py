import hashlib
import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.files import content_digest
from evenhand.core.scratch import scratch_at
from evenhand.errors import InputError
from evenhand.io import checkpoint
from evenhand.io.checkpoint import Checkpoints
from evenhand.scoring import train_masked_lm as module
from evenhand.scoring.fill_mask import check_fill_mask
from evenhand.scoring.models import load_masked_lm
from evenhand.scoring.train_masked_lm import train_masked_lm
from evenhand.scoring.vocabulary import BERT_SPECIALS

SMALL = {"layers": 1, "width": 16, "steps": 6, "max_length": 24}


def sentences(count=300):
    """Sentences of a tiny grammar, in which neighbours tell a character."""
    generator = random.Random(0)
    subjects = ["老师", "学生", "医生", "记者", "司机", "邻居"]
    verbs = ["走进", "离开", "看见", "喜欢"]
    places = ["教室", "医院", "车站", "北京", "公园"]
    made = set()
    while len(made) < count:
        made.add(
            f"{generator.choice(subjects)}和{generator.choice(subjects)}"
            f"{generator.choice(verbs)}{generator.choice(places)}，{generator.randint(10, 99)}次。"
        )
    return sorted(made)


def write_lines(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def text(tmp_path):
    return write_lines(tmp_path / "text.txt", sentences())


def test_it_learns_more_than_frequencies(tmp_path, text):
    counts = train_masked_lm(
        out=tmp_path / "m", files=[text], layers=1, width=64, steps=250, batch=16, max_length=24
    )
    record = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf-8"))
    found = record["fill_mask_held_out"]
    assert found["passed"] is True
    assert found["accuracy"] > 2 * found["baseline"]
    assert counts["accuracy_held_out"] == found["accuracy"]
    assert record["loss"][-1]["step"] == 250
    assert record["loss"][-1]["loss"] < record["loss"][0]["loss"] - 1
    lm = load_masked_lm(tmp_path / "m")
    assert check_fill_mask(lm, sentences()[:40], seed=1, tokens_per_batch=500)["passed"]


def test_the_folder(tmp_path, text):
    train_masked_lm(out=tmp_path / "m", files=[text], **SMALL)
    lm = load_masked_lm(tmp_path / "m")
    assert lm.max_tokens == 24 and lm.missing == []
    lines = (tmp_path / "m" / "vocab.txt").read_text(encoding="utf-8").splitlines()
    assert lines[:5] == BERT_SPECIALS
    assert {line: n for n, line in enumerate(lines)} == lm.tokenizer.get_vocab()
    assert lm.tokenizer.tokenize("老师12龘") == ["老", "师", "1", "##2", "[UNK]"]
    assert str(tmp_path) not in "".join(
        path.read_text(encoding="utf-8") for path in (tmp_path / "m").glob("*.json")
    )


def test_same_bytes_whatever_the_threads_and_the_order_of_inputs(tmp_path, text):
    lines = sentences()
    table = tmp_path / "half.parquet"
    pq.write_table(pa.table({"sentence": lines[:150]}), table)
    rest = write_lines(tmp_path / "rest.txt", lines[150:][::-1] + lines[140:160])
    before, state = torch.get_num_threads(), torch.random.get_rng_state()
    train_masked_lm(out=tmp_path / "a", files=[text], **SMALL)
    torch.set_num_threads(3)
    torch.manual_seed(99)
    try:
        train_masked_lm(out=tmp_path / "b", tables=[table], files=[rest], **SMALL)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
        torch.random.set_rng_state(state)
    a, b = (
        json.loads((tmp_path / name / "training.json").read_text(encoding="utf-8")) for name in "ab"
    )
    assert (a.pop("sentences_read"), b.pop("sentences_read")) == (300, 320)
    assert a == b
    for name in "ab":
        (tmp_path / name / "training.json").unlink()
    assert content_digest(tmp_path / "a") == content_digest(tmp_path / "b")


def test_the_seed_counts(tmp_path, text):
    for seed in (0, 1):
        train_masked_lm(out=tmp_path / str(seed), files=[text], seed=seed, **SMALL)
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in "01")
    assert one != other


def test_what_was_trained_on(tmp_path):
    lines = sentences(20)
    text = write_lines(tmp_path / "t.txt", ["", *lines, lines[0], "  "])
    counts = train_masked_lm(out=tmp_path / "m", files=[text], held_out=0.2, **SMALL)
    record = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf-8"))
    assert (record["sentences_read"], counts["sentences"]) == (21, 20)
    assert (record["sentences_trained_on"], record["sentences_held_out"]) == (16, 4)
    ordered = sorted(lines, key=lambda s: hashlib.blake2b(s.encode(), digest_size=16).digest())
    assert record["data_sha256"] == hashlib.sha256("\n".join(ordered).encode()).hexdigest()


def test_rare_characters_can_be_left_unknown(tmp_path):
    text = write_lines(tmp_path / "t.txt", [*sentences(20), *(f"龘{i}。" for i in range(1))])
    train_masked_lm(out=tmp_path / "m", files=[text], least_count=2, **SMALL)
    tokenizer = load_masked_lm(tmp_path / "m").tokenizer
    assert tokenizer.tokenize("龘老") == ["[UNK]", "老"]


def test_batches_of_unknown_characters_spoil_nothing(tmp_path):
    rare = [chr(0x4E00 + 50 * i) * 5 for i in range(20)]
    text = write_lines(tmp_path / "t.txt", [*rare, "老" * 6, "师" * 6, "老师" * 6])
    train_masked_lm(out=tmp_path / "m", files=[text], least_count=6, **SMALL | {"batch": 1})
    assert all(
        torch.isfinite(tensor).all()
        for tensor in load_masked_lm(tmp_path / "m").model.state_dict().values()
    )


def test_sentences_longer_than_the_model_are_cut(tmp_path):
    text = write_lines(tmp_path / "t.txt", [*sentences(20), "老师" * 100, "学生" * 100])
    train_masked_lm(out=tmp_path / "m", files=[text], **SMALL)
    assert load_masked_lm(tmp_path / "m").max_tokens == 24


@given(st.lists(st.integers(1, 20), min_size=1, max_size=5), st.integers(1, 9), st.integers(0, 99))
def test_pieces_are_parts_of_sentences(lengths, piece, seed):
    coded = [[100 * i + j for j in range(n)] for i, n in enumerate(lengths)]
    pieces, starts = module._cut(coded, piece, np.random.default_rng(seed))
    for part, start in zip(pieces, starts, strict=True):
        whole = coded[part[0] // 100]
        assert part == whole[start : start + len(part)]
        assert len(part) <= max(piece, 2)


def english(count=300):
    generator = random.Random(0)
    people = ["The doctor", "A nurse", "The café owner", "My teacher", "The engineer"]
    verbs = ["walked to", "left", "likes", "talked about"]
    places = ["the station", "the hospital", "a school", "the market", "London"]
    made = set()
    while len(made) < count:
        made.add(
            f"{generator.choice(people)} and {generator.choice(people).lower()} "
            f"{generator.choice(verbs)} {generator.choice(places)} "
            f"{generator.choice(['today', 'again', 'in May', 'with friends', 'on Sunday'])}."
        )
    return sorted(made)


def test_pieces_of_words(tmp_path):
    text = write_lines(tmp_path / "text.txt", english())
    sizes = SMALL | {"width": 64, "steps": 150, "batch": 16}
    train_masked_lm(out=tmp_path / "m", files=[text], tokens="wordpiece", vocabulary=120, **sizes)
    record = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf-8"))
    assert record["vocabulary"] == 120
    assert record["fill_mask_held_out"]["passed"] is True
    lm = load_masked_lm(tmp_path / "m")
    assert lm.max_tokens == 24 and lm.vocabulary == 120
    coded = lm.tokenizer("The Café  LEFT London.", return_offsets_mapping=True)
    spans = [("The Café  LEFT London."[a:b]) for a, b in coded["offset_mapping"][1:-1]]
    assert lm.tokenizer.decode(coded["input_ids"][1:-1]) == "the cafe left london."
    assert "".join(spans) == "TheCaféLEFTLondon."
    # an unseen word of letters that occur is written in letters
    assert lm.unknown_id not in lm.tokenizer("namedfrown").input_ids
    assert lm.unknown_id in lm.tokenizer("老").input_ids


def test_same_bytes_with_pieces_of_words(tmp_path):
    text = write_lines(tmp_path / "text.txt", english())
    options = {"tokens": "wordpiece", "vocabulary": 120, **SMALL}
    for name in "ab":
        train_masked_lm(out=tmp_path / name, files=[text], **options)
    assert content_digest(tmp_path / "a") == content_digest(tmp_path / "b")


def test_bad_inputs(tmp_path, text):
    out = tmp_path / "m"
    with pytest.raises(InputError, match="not a multiple"):
        train_masked_lm(out=out, files=[text], width=16, heads=3)
    with pytest.raises(InputError, match="mask_probability is a share"):
        train_masked_lm(out=out, files=[text], mask_probability=1.0)
    with pytest.raises(InputError, match="no character occurs least_count = 9999 times"):
        train_masked_lm(out=out, files=[text], least_count=9999, **SMALL)
    with pytest.raises(InputError, match="30 tokens is too small for the letters"):
        train_masked_lm(out=out, files=[text], tokens="wordpiece", vocabulary=30, **SMALL)
    with pytest.raises(InputError, match="nothing to train on"):
        train_masked_lm(out=out, **SMALL)
    assert not out.exists()


class Killed(BaseException):
    """What a kill looks like from inside: nothing is tidied up."""


@pytest.mark.parametrize("step", [1, 7, 29])
def test_a_training_that_was_stopped_goes_on_to_the_same_bytes(tmp_path, text, monkeypatch, step):
    settings = SMALL | {"files": [text], "steps": 30, "dropout": 0.1, "batch": 64}
    train_masked_lm(out=tmp_path / "whole", **settings)
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0)
    save = Checkpoints.save_if_due

    def stop(self, collect):
        if len(collect()["losses"]) > step:
            raise Killed
        save(self, collect)

    monkeypatch.setattr(Checkpoints, "save_if_due", stop)
    with pytest.raises(Killed), scratch_at(tmp_path / "scratch"):
        train_masked_lm(out=tmp_path / "stopped", **settings)
    seen = []
    monkeypatch.setattr(Checkpoints, "save_if_due", lambda *_: seen.append(1))
    with scratch_at(tmp_path / "scratch"):
        train_masked_lm(out=tmp_path / "resumed", **settings)
    assert len(seen) == 30 - step  # the steps before were not made again
    assert content_digest(tmp_path / "resumed") == content_digest(tmp_path / "whole")
    assert not (tmp_path / "scratch").exists()


def test_a_broken_checkpoint_costs_time_only(tmp_path, text, capsys):
    settings = SMALL | {"files": [text]}
    train_masked_lm(out=tmp_path / "whole", **settings)
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "checkpoint.pt").write_bytes(b"half of")
    with scratch_at(tmp_path / "scratch"):
        train_masked_lm(out=tmp_path / "other", **settings)
    assert "checkpoint.pt is broken" in capsys.readouterr().err
    assert content_digest(tmp_path / "other") == content_digest(tmp_path / "whole")
