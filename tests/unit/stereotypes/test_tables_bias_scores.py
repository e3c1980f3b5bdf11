import json

import pytest

from evenhand.stereotypes.tables import bias_scores
from evenhand.stereotypes.tables import models as models_table
from unit.stereotypes.made_scores import decided, score_rows, tabulate_one, write_model

#: Eight pairs of eight clusters: bias type, direction, flags.
PAIRS = [
    {"bias_type": "race", "direction": "stereo"},
    {"bias_type": "race", "direction": "stereo", "flags": ["duplicate", "misplaced"]},
    {"bias_type": "race", "direction": "antistereo"},
    {"bias_type": "age", "direction": "stereo"},
    {"bias_type": "age", "direction": "stereo"},
    {"bias_type": "age", "direction": "stereo"},
    {"bias_type": "age", "direction": "stereo"},
    {"bias_type": "age", "direction": "stereo", "excluded": "identical"},
]
HITS = [1, 1, 0, 1, None, 1, 1, None]
TOKENS = [(5, 5)] * 6 + [(5, 6), (5, 5)]


def run(folder, *models, pairs=PAIRS, **options):
    return tabulate_one(folder, "bias_scores", pairs, *models, **options)[0]


def rows_of(hits):
    return score_rows({"aul": decided(hits)}, TOKENS)


def test_by_hand(tmp_path):
    halves = [[1, 0] * 4, [0, 1] * 4, [1, 1, 0, 0] * 2, [0, 0, 1, 1] * 2]
    nulls = [rows_of(hits) for hits in halves]
    table = run(tmp_path, write_model(tmp_path, "m", rows_of(HITS), nulls=nulls))
    assert list(table[0]) == bias_scores.TABLE.header
    found = {(row["subset"], row["bias_type"]): row for row in table}
    assert list(found) == [
        (subset, bias_type)
        for subset in ("all", "clean", "equal_length", "stereo", "antistereo")
        for bias_type in ("all", "age", "race")
        if (subset, bias_type) != ("antistereo", "age")
    ]
    whole = found["all", "all"]
    assert [whole[name] for name in ("pairs", "scored", "ties", "unscorable")] == [*"8602"]
    assert whole["score"] == "83.333333"
    assert (whole["clusters"], whole["effective_clusters"]) == ("6", "6.000000")
    assert (whole["score_low"], whole["p_value"]) == ("", "0.218750")  # 14 of 64 patterns
    assert (whole["verdict"], whole["reason"]) == ("inconclusive", "few_clusters")
    # 2 of 6 over its standard error; the excluded pair is left out of the nulls too
    assert float(whole["studentised"]) == pytest.approx(2 / 1.5**0.5, abs=1e-6)
    assert (whole["null_seeds"], whole["null_beyond"]) == ("4", "0")
    assert found["all", "race"]["score"] == "66.666667"
    assert [found[name, "race"]["misplaced"] for name in ("all", "clean")] == ["1", "0"]
    assert found["clean", "all"]["pairs"] == "6" and found["clean", "all"]["scored"] == "5"
    assert found["equal_length", "all"]["scored"] == "5"
    assert found["stereo", "all"]["score"] == "100.000000"
    assert found["antistereo", "all"]["score"] == "0.000000"
    assert found["antistereo", "all"]["score_low"] == ""
    assert found["antistereo", "all"]["reason"] == "few_clusters"


def test_never_a_score_from_nothing(tmp_path):
    nothing = score_rows({"aul": [(None, None)] * 8})
    (row,) = run(tmp_path, write_model(tmp_path, "m", nothing))
    assert (row["method"], row["verdict"], row["reason"]) == ("", "not_scored", "nothing_scored")
    assert row["score"] == row["score_low"] == row["p_value"] == ""
    for rows in (nothing, rows_of([None] * 8)):
        row, *_ = run(tmp_path, write_model(tmp_path, "m", rows, methods=["aul"]))
        assert (row["method"], row["verdict"], row["score"]) == ("aul", "not_scored", "")
    row, *_ = run(tmp_path, write_model(tmp_path, "n", rows_of([1] * 4 + [None] * 4)))
    assert row["scored"] == "4" and row["reason"] == "few_clusters"


def test_an_untrusted_model_is_a_row_with_the_reason(tmp_path):
    good = write_model(tmp_path, "good", rows_of(HITS))
    bad = write_model(tmp_path, "bad", rows_of(HITS), trusted=False)
    table = run(tmp_path, bad, good)
    row = table[0]
    assert {name: value for name, value in row.items() if value} == {
        "model": "bad",
        "subset": "all",
        "bias_type": "all",
        "pairs": "8",
        "trusted": "false",
        "verdict": "not_scored",
        "reason": "missing_weights, few_scored",
    }
    assert [row["model"] for row in table[1:]] == ["good"] * 14


def test_a_method_that_a_model_cannot_be_scored_by_costs_nothing_else(tmp_path):
    both = score_rows({"aul": decided(HITS), "aula": decided(HITS)}, TOKENS)
    models = [
        write_model(tmp_path, "a", both, methods=["aul", "aula"]),
        write_model(
            tmp_path, "b", rows_of(HITS), methods=["aul", "aula"], blank={"aula": "no_attention"}
        ),
    ]
    alone = run(tmp_path, models[0])
    table = run(tmp_path, *models)
    assert table[: len(alone)] == alone
    rows = [row for row in table[len(alone) :] if row["method"] == "aula"]
    assert len(rows) == len(alone) / 2
    assert {(row["verdict"], row["reason"]) for row in rows} == {("not_scored", "no_attention")}
    assert {(row["score"], row["scored"]) for row in rows} == {("", "0")}
    _, row = tabulate_one(tmp_path, "models", PAIRS, *models)[0]
    assert row["blank_methods"] == "aula: no_attention"


def test_what_the_gates_say_of_the_models(tmp_path):
    models = [write_model(tmp_path, name, rows_of(HITS)) for name in ("b", "a")]
    models.append(write_model(tmp_path, "bad", rows_of(HITS), trusted=False))
    gate = tmp_path / "gates/b.json"
    told = json.loads(gate.read_text(encoding="utf-8"))
    told |= {"check": {"passed": True, "tokens": 12, "accuracy": 0.5, "baseline_token": "x"}}
    told |= {"excluded": {"empty": 2, "too_long": 0, "identical": 1}, "unknown_tokens": 3}
    told |= {"unknown_most_frequent": {"ab": 2, "=c": 1}, "missing": ["one", "two"]}
    gate.write_text(json.dumps(told), encoding="utf-8")
    rows, _ = tabulate_one(tmp_path, "models", PAIRS, *models)
    assert list(rows[0]) == models_table.TABLE.header
    assert [(row["model"], row["trusted"], row["reason"]) for row in rows] == [
        ("b", "true", ""),
        ("a", "true", ""),
        ("bad", "false", "missing_weights, few_scored"),
    ]
    known = {name: value for name, value in rows[0].items() if value}
    assert known == {
        "model": "b",
        "family": "masked",
        "missing": "one; two",
        "trusted": "true",
        "check_passed": "true",
        "check_tokens": "12",
        "check_accuracy": "0.500000",
        "excluded": "empty: 2; identical: 1",
        "unknown_tokens": "3",
        "unknown_most_frequent": "ab: 2; =c: 1",
    }


def test_sets_without_directions_have_no_such_rows(tmp_path):
    table = run(tmp_path, write_model(tmp_path, "m", rows_of(HITS)), pairs=[{}] * 8)
    assert {row["subset"] for row in table} == {"all", "clean", "equal_length"}


def test_pairs_of_a_few_templates_are_few(tmp_path):
    pairs = [
        {"cluster": f"a{n}|b{n}", "more": f"a{n} sees {n % 4}", "less": f"b{n} sees {n % 4}"}
        for n in range(48)
    ]
    (row, *_) = run(tmp_path, write_model(tmp_path, "m", score_rows({"aul": decided([1] * 48)})),
                    pairs=pairs)  # fmt: skip
    assert (row["score"], row["p_value"], row["verdict"]) == (
        "100.000000",
        "0.125000",
        "inconclusive",
    )
    assert (row["reason"], row["score_low"]) == ("few_clusters", "")
