from unit.stereotypes.made_scores import (
    decided,
    read_csv,
    score_rows,
    tabulate_one,
    write_model,
    write_pairs,
)


def run(folder, hits, tokens, **options):
    pairs = write_pairs(folder / "pairs.parquet", [{}] * len(hits))
    model = write_model(folder, "m", score_rows({"aula": decided(hits)}, tokens))
    counts = tabulate_one("length", pairs=pairs, **model, out=folder / "out.csv", **options)
    return read_csv(folder / "out.csv"), counts


def test_by_hand(tmp_path):
    # more longer and likelier; less longer and likelier; more longer, less likelier; unscored;
    # then three of equal length.
    hits = [1, 0, 0, None, 1, 1, 0]
    tokens = [(6, 5), (4, 5), (6, 5), (6, 5), (5, 5), (5, 5), (5, 5)]
    ((row,), counts) = run(tmp_path, hits, tokens)
    assert (row["unequal_pairs"], row["prefers_longer"], row["share_longer"]) == (
        *("3", "2", "0.666667"),
    )
    assert (row["equal_length_pairs"], row["score_equal_length"]) == ("3", "66.666667")
    assert row["score_all"] == "50.000000"
    assert row["share_longer_low"] == row["score_equal_length_low"] == ""  # three clusters
    ((row,), _) = run(tmp_path, 6 * hits, 6 * tokens)
    assert float(row["share_longer_low"]) < 2 / 3 < float(row["share_longer_high"])
    assert float(row["score_equal_length_low"]) < 66 < float(row["score_equal_length_high"])
    assert counts["rows"] == 1


def test_a_tie_prefers_neither(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.parquet", [{}] * 2)
    rows = score_rows({"aul": [(-1.0, -1.0), (-1.0, -1.0)]}, [(6, 5), (5, 5)])
    tabulate_one(
        "length", pairs=pairs, **write_model(tmp_path, "m", rows), out=tmp_path / "out.csv"
    )
    (row,) = read_csv(tmp_path / "out.csv")
    assert (row["unequal_pairs"], row["prefers_longer"]) == ("1", "0")
    assert (row["equal_length_pairs"], row["score_equal_length"]) == ("1", "0.000000")


def test_nothing_is_blank(tmp_path):
    ((row,), _) = run(tmp_path, [None, None], [(6, 5), (5, 5)], methods=["aula"])
    assert (row["unequal_pairs"], row["share_longer"], row["score_all"]) == ("0", "", "")
    assert row["score_equal_length"] == row["share_longer_low"] == ""
    ((row,), _) = run(tmp_path, [1, 1], [(5, 5), (5, 5)])
    assert (row["share_longer"], row["score_equal_length"]) == ("", "100.000000")


def test_untrusted_models_have_no_row(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.parquet", [{}])
    model = write_model(tmp_path, "m", score_rows({"aul": [(-1.0, -2.0)]}), trusted=False)
    counts = tabulate_one("length", pairs=pairs, **model, out=tmp_path / "out.csv")
    assert read_csv(tmp_path / "out.csv") == [] and list(counts["untrusted"]) == ["m"]
