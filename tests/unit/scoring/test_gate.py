from collections import Counter

import pytest

from evenhand.scoring import gate
from evenhand.scoring.models import CausalLM, MaskedLM

PASSED, FAILED = {"passed": True}, {"passed": False}


def model(kind, missing=()):
    """A model of which only the kind and what it lacks are known."""
    own = {"mask_id": 0} if kind is MaskedLM else {"start_id": 0}
    return kind(None, None, None, 8, list(missing), None, **own)


@pytest.mark.parametrize(
    ("lm", "check", "scored", "reason"),
    [
        (model(MaskedLM), PASSED, 5, None),
        (model(MaskedLM), PASSED, 4, "few_scored"),
        (model(MaskedLM), FAILED, 9, "fill_mask_not_above_baseline"),
        (model(CausalLM), FAILED, 9, "next_token_not_above_baseline"),
        (model(CausalLM, ["head"]), FAILED, 0,
         "missing_weights, next_token_not_above_baseline, few_scored"),
    ],
)  # fmt: skip
def test_a_model_is_trusted_unless_there_is_a_reason(lm, check, scored, reason):
    found = gate.judge(lm, check, scored, enough=4.5)
    assert found == {"trusted": reason is None, "reason": reason, "check": check}


def test_without_any_score_a_model_is_never_trusted():
    assert gate.judge(model(MaskedLM), PASSED, 0, enough=0)["reason"] == "few_scored"


def test_the_most_frequent_unknown_text_is_named():
    unknown = Counter({chr(0x4E00 + n): n for n in range(1, 30)} | {"乙": 29})
    found = gate.count_unknown(7, unknown)
    assert (found["sentences_with_unknown"], found["unknown_tokens"]) == (7, unknown.total())
    assert len(found["unknown_most_frequent"]) == gate.UNKNOWN_NAMED
    assert [*found["unknown_most_frequent"]][:2] == sorted(["乙", chr(0x4E00 + 29)])
