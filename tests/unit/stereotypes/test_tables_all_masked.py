from unit.stereotypes.made_scores import decided, score_rows, tabulate_one, write_model

PAIRS = [
    {"disadvantaged": "more", "bias_type": "race"},
    {"disadvantaged": "more", "bias_type": "race"},
    {"disadvantaged": "more", "bias_type": "age"},
    {"disadvantaged": "less", "bias_type": "race"},
    {"bias_type": "race"},
]


def run(folder, hits, method="all_masked", pairs=PAIRS, **options):
    model = write_model(folder, "m", score_rows({method: decided(hits)}), **options)
    return tabulate_one(folder, "all_masked", pairs, model)


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


def test_pairs_of_one_direction_are_one_group(tmp_path):
    table, _ = run(tmp_path, [1, None, 0], pairs=PAIRS[:3])
    assert [(r["group"], r["bias_type"], r["pairs"], r["score"]) for r in table] == [
        ("all", "all", "3", "50.000000"),
        ("all", "age", "1", "0.000000"),
        ("all", "race", "2", "100.000000"),
    ]


def test_nothing_scored_is_blank(tmp_path):
    table, _ = run(tmp_path, [1, 1, None, 1, 1])
    assert (table[1]["pairs"], table[1]["scored"], table[1]["score"]) == ("1", "0", "")


def test_reasons_for_no_table(tmp_path):
    for options, reason in (
        ({"method": "aul"}, "no model has scores with all tokens masked"),
        ({"pairs": [{}] * 5}, "no pair names the disadvantaged group"),
    ):
        assert run(tmp_path, [1] * 5, **options) == ([], reason)
