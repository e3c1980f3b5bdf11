from evenhand.report.sections.headline import describe_headline


def test_the_size_of_the_data_set_is_the_last_step():
    flow = describe_headline(None, {"answered": 0, "drawn": 9}, 5, None)["flow"]
    assert [(one["name"], one["n"], one["final"]) for one in flow] == [
        ("drawn for the annotators", 9, False),
        ("in the data set", 5, True),
    ]


def test_without_results_there_is_no_step():
    assert describe_headline(None, None, None, None) == {
        "sentence": "Nothing was built yet.",
        "flow": [],
    }
