from unit.stereotypes.made_scores import decided, score_rows, tabulate_one, write_model


def run(folder, values):
    count = len(next(iter(values.values())))
    model = write_model(folder, "m", score_rows(values))
    table, reason = tabulate_one(folder, "compat", [{}] * count, model)
    return {row["published_method"]: row for row in table}, reason


def test_by_hand(tmp_path):
    table, _ = run(
        tmp_path,
        {
            # changed, same, changed (no number after correction), same (a tie is no win)
            "sss": [(-1.0, -2.0), (-1.0, -2.0), (None, -1.0), (-1.0, -1.0)],
            "sss_compat": [(-2.0, -1.0), (-1.0, -2.0), (None, -1.0), (-2.0, -1.0)],
            # a difference in the fourth decimal is none in three; one in the third is one
            "cps": [(-1.0001, -1.0002), (-9.001, -9.002), (-1.0, -2.0), (-2.0, -1.0)],
        },
    )
    assert list(table) == ["cps as coded", "sss_compat"]
    row = table["sss_compat"]
    assert (row["corrected_method"], row["pairs"]) == ("sss", "4")
    assert (row["decisions_changed"], row["share_changed"]) == ("2", "0.500000")
    # One hit of four pairs; two and a tie of the three that are scored.
    assert (row["score_published"], row["score_corrected"]) == ("25.000000", "83.333333")
    row = table["cps as coded"]
    assert (row["corrected_method"], row["decisions_changed"]) == ("cps", "1")
    assert (row["score_published"], row["score_corrected"]) == ("50.000000", "75.000000")
    assert row["verdict_published"] == row["verdict_corrected"] == "inconclusive"
    assert row["conclusion_changed"] == "false"


def test_conclusions(tmp_path):
    up, down, mixed = decided([1] * 8), decided([0] * 8), decided([1, 0] * 4)
    cases = {
        (tuple(up), tuple(up)): ("above", "above", "false"),
        (tuple(up), tuple(down)): ("above", "below", "true"),
        (tuple(up), tuple(mixed)): ("above", "inconclusive", "true"),
    }
    for (published, corrected), expected in cases.items():
        values = {"aula": list(published), "aula_norm": list(corrected)}
        table, _ = run(tmp_path, values)
        row = table["aula"]
        assert expected == (
            row["verdict_published"],
            row["verdict_corrected"],
            row["conclusion_changed"],
        )


def test_without_both_forms_there_is_no_table(tmp_path):
    reason = "no model has a method in both forms"
    assert run(tmp_path, {"aula": decided([1, 0])}) == ({}, reason)
