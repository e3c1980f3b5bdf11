from evenhand.report.sections.legal_measures import describe_leakage, describe_shift

SHIFT = {"group": "a", "splits": "train to test", "distance": 0.2, "low": 0.1, "high": 0.3}
SHIFT |= {"noise_95": 0.15, "above_noise": True, "compat_published": None}
UNKNOWN = dict.fromkeys(("distance", "low", "high", "noise_95", "above_noise"))


def test_shifts_are_counted_and_drawn_where_they_were_measured():
    shown = describe_shift([SHIFT, SHIFT | UNKNOWN, SHIFT | {"above_noise": False}])
    assert (shown["above"], shown["measured"], shown["compat"]) == (1, 2, False)
    assert [row["figure"] is None for row in shown["rows"]] == [False, True, False]
    assert describe_shift([SHIFT, SHIFT | {"compat_published": 0.2}])["compat"] is True


def test_a_pattern_names_the_label_farthest_from_a_risk_ratio_of_one():
    pattern = {"language": "de", "pattern": "x", "cases": 9, "label": None, "risk_ratio": None}
    counts = {"label_with": 3, "of_with": 4, "label_without": 1, "of_without": 4}

    def label(name, low, high):
        return pattern | counts | {"label": name, "risk_ratio": 1.0, "low": low, "high": high}

    above, below, near = label("above", 2, 3), label("below", 0.1, 0.25), label("near", 0.5, 1.5)
    for rows, farthest in (([near, above], "above"), ([near, above, below], "below")):
        (shown,) = describe_leakage([pattern, *rows])
        assert (
            shown["words"]
            == f"{farthest}: 75\N{NO-BREAK SPACE}% with it, 25\N{NO-BREAK SPACE}% without"
        )
    (shown,) = describe_leakage([pattern, label("none", None, None), label("half", 1.1, 9)])
    assert shown["words"].startswith("half")
    assert describe_leakage([pattern])[0]["words"] is None
    assert describe_leakage([pattern | {"cases": 0}]) == []
