from unit.stereotypes.made_scores import (
    decided,
    read_csv,
    score_rows,
    tabulate_one,
    write_model,
    write_pairs,
)

PAIRS = [
    {"disadvantaged": "more", "bias_type": "race"},
    {"disadvantaged": "more", "bias_type": "race"},
    {"disadvantaged": "more", "bias_type": "age"},
    {"disadvantaged": "less", "bias_type": "race"},
    {"bias_type": "race"},
]


def run(folder, hits, method="all_masked", pairs=PAIRS, **options):
    model = write_model(folder, "m", score_rows({method: decided(hits)}), **options)
    path = write_pairs(folder / "pairs.parquet", pairs)
    counts = tabulate_one("all_masked", pairs=path, **model, out=folder / "out.csv")
    return read_csv(folder / "out.csv"), counts


def test_by_hand(tmp_path):
    table, _ = run(tmp_path, [1, None, 0, 1, 0])
    assert [(r["group"], r["bias_type"], r["pairs"], r["scored"], r["score"]) for r in table] == [
        ("disadvantaged", "all", "3", "2", "50.000000"),
        ("disadvantaged", "age", "1", "1", "0.000000"),
        ("disadvantaged", "race", "2", "1", "100.000000"),
        ("advantaged", "all", "1", "1", "100.000000"),
        ("advantaged", "race", "1", "1", "100.000000"),
    ]
    assert table[0]["score_low"] == ""  # two clusters


def test_nothing_scored_is_blank(tmp_path):
    table, _ = run(tmp_path, [1, 1, None, 1, 1])
    assert (table[1]["pairs"], table[1]["scored"], table[1]["score"]) == ("1", "0", "")


def test_it_is_left_out_with_the_reason(tmp_path):
    table, counts = run(tmp_path, [1] * 5, method="aul")
    assert table == [] and counts["reason"] == "no model has scores with every token masked"
    table, counts = run(tmp_path, [1, 1], pairs=[{}, {}])
    assert table == [] and counts["reason"] == "no pair names the disadvantaged group"
    table, counts = run(tmp_path, [1] * 5, trusted=False)
    assert table == [] and counts["untrusted"]
