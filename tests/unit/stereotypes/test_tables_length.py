from unit.stereotypes.made_scores import decided, score_rows, tabulate_one, write_model


def run(folder, scores, tokens, **options):
    model = write_model(folder, "m", score_rows({"aula": scores}, tokens), **options)
    return tabulate_one(folder, "length", [{}] * len(scores), model)[0]


def test_by_hand(tmp_path):
    # more longer and likelier; less longer and likelier; more longer, less likelier; unscored;
    # then three of equal length.
    hits = [1, 0, 0, None, 1, 1, 0]
    tokens = [(6, 5), (4, 5), (6, 5), (6, 5), (5, 5), (5, 5), (5, 5)]
    (row,) = run(tmp_path, decided(hits), tokens)
    assert (row["unequal_pairs"], row["prefers_longer"], row["share_longer"]) == (
        *("3", "2", "0.666667"),
    )
    assert (row["equal_length_pairs"], row["score_equal_length"]) == ("3", "66.666667")
    assert row["score_all"] == "50.000000"
    assert row["share_longer_low"] == row["score_equal_length_low"] == ""  # three clusters
    (row,) = run(tmp_path, decided(6 * hits), 6 * tokens)
    assert float(row["share_longer_low"]) < 2 / 3 < float(row["share_longer_high"])
    assert float(row["score_equal_length_low"]) < 66 < float(row["score_equal_length_high"])


def test_a_tie_prefers_neither(tmp_path):
    (row,) = run(tmp_path, [(-1.0, -1.0)] * 2, [(6, 5), (5, 5)])
    assert (row["unequal_pairs"], row["prefers_longer"]) == ("1", "0")
    assert (row["equal_length_pairs"], row["score_equal_length"]) == ("1", "50.000000")


def test_nothing_is_blank(tmp_path):
    nothing = decided([None, None])
    (row,) = run(tmp_path, nothing, [(6, 5), (5, 5)], methods=["aula"])
    assert (row["unequal_pairs"], row["share_longer"], row["score_all"]) == ("0", "", "")
    assert row["score_equal_length"] == row["share_longer_low"] == ""
    (row,) = run(tmp_path, decided([1, 1]), [(5, 5), (5, 5)])
    assert (row["share_longer"], row["score_equal_length"]) == ("", "100.000000")
