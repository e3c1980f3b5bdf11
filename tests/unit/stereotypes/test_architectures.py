"""Less usual architectures: the scores are those of plain forward passes, or blank."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from transformers import AutoModelForMaskedLM

from evenhand.scoring.describe import describe
from evenhand.scoring.models import load_masked_lm
from evenhand.stereotypes.pairs import PAIRS
from evenhand.stereotypes.score_pairs import score_pairs
from unit.scoring import architectures, plain
from unit.stereotypes import english_models

#: Swaps, an insertion, and an equal number of tokens in some sentences.
TEXTS = [
    ("The old man was late.", "The young man was late."),
    ("Men are bad at this.", "Women are bad at this."),
    ("My tall aunt is poor.", "My aunt is poor."),
    ("Dad is bad.", "Mum is bad."),
]


@pytest.mark.parametrize("name", architectures.CONFIGS)
def test_scores_are_those_of_single_sentences(tmp_path, name):
    folder = architectures.save(tmp_path / "model", name)
    pairs = tmp_path / "pairs.parquet"
    rows = [english_models.pair(number, *texts) for number, texts in enumerate(TEXTS)]
    pq.write_table(pa.Table.from_pylist(rows, PAIRS), pairs)
    files = {key: tmp_path / key for key in ("out", "tokens", "gate", "null")}
    counts = score_pairs(pairs=pairs, name=name, model=folder, **files)
    assert counts["pairs_scored"] == len(TEXTS)
    found = {(r["pair_id"], r["side"]): r for r in pq.read_table(files["out"]).to_pylist()}
    gate = json.loads(files["gate"].read_text(encoding="utf-8"))
    blank = ["aula", "aula_norm"] if name in architectures.WITHOUT_WEIGHTS else []
    assert gate["blank_methods"] == dict.fromkeys(blank, "no_attention")

    model = AutoModelForMaskedLM.from_pretrained(folder, attn_implementation="eager")
    model(torch.tensor([[6] * 5]))  # BigBird replaces its layers at its first input
    lm = load_masked_lm(folder)
    for number, texts in enumerate(TEXTS):
        ids = lm.tokenizer(list(texts)).input_ids
        both = plain.pair_scores(model.eval(), *ids, lm.mask_id, attention=not blank)
        for side, scores in zip(("more", "less"), both, strict=True):
            row = found[f"pair-{number}", side]
            assert all(row[method] is None for method in blank)
            for method, score in scores.items():
                expected = score and pytest.approx(score, rel=5e-7, abs=5e-7)
                assert row[method] == expected, (texts, method)


def test_a_class_that_cannot_run_in_bf16_runs_in_fp32(tmp_path, capsys):
    folder = architectures.save(tmp_path, "fnet")
    for seed in (None, 1):
        low, full = (load_masked_lm(folder, dtype=d, seed=seed) for d in ("bf16", "fp32"))
        assert describe(low) == describe(full)
        words = capsys.readouterr().err
        assert "FNetForMaskedLM cannot run in bf16, so it runs in fp32" in words


@pytest.mark.parametrize("name", architectures.CONFIGS)
def test_the_longest_input_can_be_read(tmp_path, name):
    lm = load_masked_lm(architectures.save(tmp_path, name))
    assert lm.max_tokens == 64
    with torch.inference_mode():
        lm.model(input_ids=torch.full((1, 64), 6))
