import pytest

from unit.stereotypes.made_scores import (
    made_set,
    read_csv,
    score_rows,
    tabulate_one,
    write_model,
    write_pairs,
)


def said(correct, **other):
    return {"n_correct": correct, "n_specials_correct": 1} | other


def run(folder, pairs, model, **options):
    counts = tabulate_one("token_accuracy", pairs=pairs, **model, out=folder / "out.csv", **options)
    return {(r["pass"], r["variant"]): r for r in read_csv(folder / "out.csv")}, counts


def test_by_hand(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.parquet", [{}] * 3)
    more = {
        (0, "more", "original"): said(5, cps_tokens=4, cps_correct=2, all_masked_correct=1),
        (0, "less", "original"): said(4, cps_tokens=4, cps_correct=0, all_masked_correct=0),
        (0, "unrelated", "original"): said(3),
        (1, "more", "original"): said(2),
        (1, "less", "original"): said(1),
        (0, "more", "shuffled"): said(1),
        (0, "less", "shuffled"): said(0),
    }
    # The third pair was excluded: its rows have tokens and no counts.
    rows = score_rows({"aul": [(-1.0, -2.0, -3.0)] * 3}, more=more)
    found, counts = run(tmp_path, pairs, write_model(tmp_path, "m", rows))
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
    assert counts == {"rows": 8, "models": 1, "untrusted": {}}


def test_causal_models_have_one_pass(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.parquet", [{}] * 2)
    more = {(n, side, "original"): {"n_correct": 2} for n in range(2) for side in ("more", "less")}
    rows = score_rows({"log_likelihood": [(-1.0, -2.0)] * 2}, more=more)
    found, _ = run(tmp_path, pairs, write_model(tmp_path, "m", rows, family="causal"))
    assert list(found) == [("causal", "original")]
    assert found["causal", "original"]["accuracy"] == "0.400000"


def test_nothing_read_has_no_row(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.parquet", [{}] * 2)
    rows = score_rows({"aul": [(None, None)] * 2})
    assert run(tmp_path, pairs, write_model(tmp_path, "m", rows))[0] == {}
    bad = write_model(tmp_path, "m", rows, trusted=False)
    found, counts = run(tmp_path, pairs, bad)
    assert found == {} and counts["untrusted"]


def test_changes_are_paired(tmp_path):
    # Each pair loses one token when shuffled, so the change has no spread though accuracy has.
    pairs = write_pairs(tmp_path / "pairs.parquet", [{}] * 40)
    more = {}
    for number in range(40):
        for side in ("more", "less"):
            more[number, side, "original"] = said(1 + number % 4)
            more[number, side, "shuffled"] = said(number % 4)
    rows = score_rows({"aul": [(-1.0, -2.0)] * 40}, more=more)
    found, _ = run(tmp_path, pairs, write_model(tmp_path, "m", rows))
    row = found["unmasked", "shuffled"]
    assert row["change"] == row["change_low"] == row["change_high"] == "-0.200000"
    assert float(row["accuracy_high"]) - float(row["accuracy_low"]) > 0.05


def test_intervals_hold_the_accuracy(tmp_path):
    options = made_set(tmp_path, pairs=100, seeds=0)
    options.pop("nulls")
    tabulate_one("token_accuracy", **options, out=tmp_path / "out.csv")
    rows = read_csv(tmp_path / "out.csv")
    assert len(rows) == 15
    for row in rows:
        value = int(row["correct"]) / int(row["tokens"])
        assert float(row["accuracy"]) == pytest.approx(value, abs=1e-6)
        assert float(row["accuracy_low"]) <= value + 1e-6 <= float(row["accuracy_high"]) + 2e-6
