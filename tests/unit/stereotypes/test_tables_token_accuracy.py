from unit.stereotypes.made_scores import score_rows, tabulate_one, write_model


def counts(correct, **other):
    return {"n_correct": correct, "n_specials_correct": 1} | other


def run(folder, values, more=None, **options):
    count = len(next(iter(values.values())))
    model = write_model(folder, "m", score_rows(values, more=more), **options)
    table, _ = tabulate_one(folder, "token_accuracy", [{}] * count, model)
    return {(row["pass"], row["variant"]): row for row in table}


def test_by_hand(tmp_path):
    more = {
        (0, "more", "original"): counts(5, cps_tokens=4, cps_correct=2, all_masked_correct=1),
        (0, "less", "original"): counts(4, cps_tokens=4, cps_correct=0, all_masked_correct=0),
        (0, "unrelated", "original"): counts(3),
        (1, "more", "original"): counts(2),
        (1, "less", "original"): counts(1),
        (0, "more", "shuffled"): counts(1),
        (0, "less", "shuffled"): counts(0),
    }
    # The third pair was excluded: its rows have tokens and no counts.
    found = run(tmp_path, {"aul": [(-1.0, -2.0, -3.0)] * 3}, more)
    assert list(found) == [
        ("unmasked", "original"),
        ("unmasked", "shuffled"),
        ("unmasked", "unrelated"),
        ("unmasked_with_specials", "original"),
        ("unmasked_with_specials", "shuffled"),
        ("unmasked_with_specials", "unrelated"),
        ("cps", "original"),
        ("all_masked", "original"),
    ]
    row = found["unmasked", "original"]
    assert (row["tokens"], row["correct"], row["accuracy"]) == ("20", "12", "0.600000")
    assert row["accuracy_low"] == ""  # two clusters have counts
    assert row["change"] == row["change_low"] == ""
    row = found["unmasked", "shuffled"]
    assert (row["tokens"], row["correct"], row["accuracy"]) == ("10", "1", "0.100000")
    assert row["change"] == "-0.800000"  # against the pair that was shuffled, not against all
    assert row["accuracy_low"] == row["change_low"] == ""  # one cluster
    assert found["unmasked", "unrelated"]["change"] == "-0.300000"
    row = found["unmasked_with_specials", "original"]
    assert (row["tokens"], row["correct"]) == ("28", "16")
    assert (found["cps", "original"]["tokens"], found["cps", "original"]["accuracy"]) == (
        *("8", "0.250000"),
    )
    assert found["all_masked", "original"]["accuracy"] == "0.100000"


def test_causal_models_have_one_pass(tmp_path):
    more = {(n, side, "original"): {"n_correct": 2} for n in range(2) for side in ("more", "less")}
    found = run(tmp_path, {"log_likelihood": [(-1.0, -2.0)] * 2}, more, family="causal")
    assert list(found) == [("causal", "original")]
    assert found["causal", "original"]["accuracy"] == "0.400000"


def test_nothing_read_has_no_row(tmp_path):
    assert run(tmp_path, {"aul": [(None, None)] * 2}) == {}


def test_changes_are_paired(tmp_path):
    # Each pair loses one token when shuffled, so the change has no spread though accuracy has.
    more = {}
    for number in range(40):
        for side in ("more", "less"):
            more[number, side, "original"] = counts(1 + number % 4)
            more[number, side, "shuffled"] = counts(number % 4)
    found = run(tmp_path, {"aul": [(-1.0, -2.0)] * 40}, more)
    row = found["unmasked", "shuffled"]
    assert row["change"] == row["change_low"] == row["change_high"] == "-0.200000"
    assert float(row["accuracy_high"]) - float(row["accuracy_low"]) > 0.05
