from evenhand.core.tables import write_tables
from evenhand.individual.tables import grid, tests
from evenhand.report.headlines.mitigation import (
    Change,
    by_method,
    compare_weights,
    conclude,
    find_changes,
)
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
        "IFR_p depends on the weight λ of the individual loss, so compare losses at the same λ:"
        " at λ 1, IFR_p of the plain network is"
        " 50.0 with <bdi>IIFR on cosine pairs</bdi> and 97.6 with"
        " <bdi>IIFR on counterfactual pairs</bdi>."
    )
    write_tables(tmp_path, [(grid.TABLE, rows[:3])])
    assert compare_weights([tmp_path]) == ""


def test_a_change_of_people_has_its_decisions_and_what_the_loss_adds(tmp_path):
    def row(individual, metric, verdict, reach, difference, **values):
        ends = {"difference_low": difference - reach, "difference_high": difference + reach}
        names = {"dataset": "d", "method": "cfair", "individual": individual, "metric": metric}
        numbers = {"mean": 60 + difference, "against_mean": 60, "difference": difference}
        same = dict.fromkeys(tests.TABLE.header) | {"against": "mlp", "lambda": 0.1, "delta": 5}
        same |= {"mu": 4, "js_base": "e", "split": "random", "verdict": verdict}
        return same | names | numbers | ends | values

    def found(*rows):
        write_tables(tmp_path, [(tests.TABLE, rows)])
        changes = find_changes([], [tmp_path], [], {})
        return next(change for change in changes if "IIFR" in change.method)

    loss = row("iifr_cosine", "ifr_p", "above", 2, 10)
    alone = row("none", "ifr_p", "inconclusive", 9, 11, **{"lambda": 0})
    flip = row("iifr_cosine", "ifr_b", "inconclusive", 9, 11)
    change = found(loss, alone, flip)
    assert change.decisions == (40, 29) and not change.decisions_differ and change.alone_varies
    assert found(loss, flip | {"verdict": "above"}).decisions_differ
    assert found(loss).decisions is None and not found(loss).alone_varies
    others = [{"verdict": "above"}, {"difference_low": None}, {"mu": 9}, {"metric": "ddp"}]
    others += [{"difference_low": 10, "difference_high": 13}, {"against": "none"}]
    assert not any(found(loss, alone | other).alone_varies for other in others)
