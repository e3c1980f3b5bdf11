import torch

from evenhand.scoring.describe import describe, fingerprint
from evenhand.scoring.models import load_masked_lm
from unit.scoring import tiny_models


def test_description_is_of_the_content(folder, copy, tmp_path):
    one, other = describe(load_masked_lm(folder)), describe(load_masked_lm(copy))
    assert one == other
    assert one["parameters"] > 0 and one["missing"] == []
    changed = describe(load_masked_lm(tiny_models.save(tmp_path / "x", seed=1)))
    assert changed["weights_sha256"] != one["weights_sha256"]
    assert changed["tokenizer_sha256"] == one["tokenizer_sha256"]


def test_a_fingerprint_tells_precisions_shapes_and_small_changes_apart(folder):
    lm = load_masked_lm(folder)
    before = fingerprint(lm)
    assert before != fingerprint(load_masked_lm(folder, dtype="bf16"))
    head = lm.model.cls.predictions
    bias, head.bias = head.bias, torch.nn.Parameter(head.bias[:, None])
    assert fingerprint(lm) != before
    head.bias = bias
    with torch.no_grad():
        lm.model.cls.predictions.bias[0] += 1
    assert fingerprint(lm) != before
