from evenhand.core.tables import write_tables
from evenhand.individual.tables import grid
from evenhand.report.headlines.mitigation import Change, by_method, compare_weights, conclude
from unit.report import checks


def change(method: str, difference: float, verdict: str) -> Change:
    ends = (difference - 1, difference + 1)
    return Change(method, "mine", "ddp", "t.csv", True, 9, 9 + difference, difference, *ends, 2,
                  verdict)  # fmt: skip


def test_the_significant_changes_of_each_method_are_counted_by_direction():
    changes = [
        change("b", -5, "below"),
        change("a", 4, "above"),
        change("b", 3, "above"),
        change("b", -3, "below"),
        change("b", 0.5, "inconclusive"),
    ]
    b, a = by_method(changes)
    assert [b[key] for key in ("method", "comparisons", "better", "worse")] == ["b", 4, 2, 1]
    assert [a[key] for key in ("method", "comparisons", "better", "worse")] == ["a", 1, 0, 1]
    assert b["clearest"] == changes[0]


def test_a_single_data_set_is_named_once():
    one, two = change("a", 4, "above"), change("b", 3, "above")
    found = conclude([one, two])
    assert found.caption.startswith("<bdi>mine</bdi>. ↑: higher")
    assert checks.rows(found.figure, "name") == [
        "dDP ↓ a",
        "dDP ↓ b",
    ]
    found = conclude([one, two._replace(of="yours")])
    assert found.caption.startswith("↑: higher")
    assert checks.rows(found.figure, "name") == [
        "mine, dDP ↓ a",
        "yours, dDP ↓ b",
    ]


def test_a_method_without_a_significant_change_shows_both_directions():
    changes = [change("a", 3, "inconclusive"), change("a", 2, "inconclusive")]
    assert by_method(changes)[0]["opposite"] is None
    changes.append(change("a", -1, "inconclusive"))
    assert by_method(changes)[0]["opposite"] is changes[2]
    changes.insert(0, change("a", 5, "above"))
    assert by_method(changes)[0]["opposite"] is None


def loss(name, weight, mean):
    """A row of the grid: IFR_p of the plain network with an individual loss."""
    row = {"dataset": "d", "method": "mlp", "individual": name, "lambda": weight, "mean": mean}
    return row | {"metric": "ifr_p", "split": "random"}


def test_individual_losses_are_compared_at_the_largest_weight_that_all_have(tmp_path):
    rows = [
        loss("none", 0, 9), loss("iifr_cosine", 0.1, 60), loss("iifr_cosine", 1, 50),
        loss("iifr_counterfactual", 0.1, 85), loss("iifr_counterfactual", 1, 97.6),
        loss("iifr_counterfactual", 4, 99),
    ]  # fmt: skip
    write_tables(tmp_path, [(grid.TABLE, rows)])
    words = compare_weights([tmp_path])
    assert words.files == ("tables/individual/grid.csv",)
    assert words == (
        "Compare individual losses at equal weight λ only: at λ 1, IFR_p of the plain network is"
        " 50.0 with <bdi>IIFR on cosine pairs</bdi> and 97.6 with"
        " <bdi>IIFR on counterfactual pairs</bdi>."
    )
    write_tables(tmp_path, [(grid.TABLE, rows[:3])])
    assert compare_weights([tmp_path]) == ""
