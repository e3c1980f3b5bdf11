from evenhand.report.headlines.mitigation import Change, by_method, conclude
from unit.report import checks


def change(method: str, difference: float, verdict: str) -> Change:
    ends = (difference - 1, difference + 1)
    return Change(method, "mine", "the gap", "t.csv", True, 9, 9 + difference, difference, *ends, 2,
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
    assert b["clearest"] == changes[0].in_short


def test_a_single_data_set_is_named_once():
    one, two = change("a", 4, "above"), change("b", 3, "above")
    found = conclude([one, two])
    assert found.caption.startswith("<bdi>mine</bdi>. Line")
    assert checks.rows(found.figure, "name") == [
        "a: the gap, lower is fairer",
        "b: the gap, lower is fairer",
    ]
    found = conclude([one, two._replace(of="yours")])
    assert found.caption.startswith("Line")
    assert checks.rows(found.figure, "name") == [
        f"{name}: the gap, lower is fairer" for name in ("mine, a", "yours, b")
    ]
