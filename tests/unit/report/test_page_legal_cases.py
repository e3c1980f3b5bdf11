"""The report on the legal data sets, of a small set that the real stages have counted."""

import json

import pytest

from evenhand.core.tables import write_tables
from evenhand.legal.read_audit import TABLE
from evenhand.report.pages.legal_cases import describe_leakage, describe_lengths, describe_shift
from evenhand.report.sections.legal_data import describe_associations
from unit.legal.made_cases import declaration, recipe
from unit.made_tables import edited
from unit.report import checks, made_legal
from unit.report.checks import text

COUNTS = ("cases", "drawn", "answered", "right", "wrong", "cannot_tell")
KNOWN = {"precision": 0.75, "low": 0.3, "high": 0.95}
AUDIT = [
    {"dataset": "mine", "attribute": "applicant_gender", "scope": scope, "rule": rule}
    | dict(zip(COUNTS, counts, strict=True))
    | known
    for scope, rule, counts, known in (
        ("rule", "title_in_procedure", (20, 5, 4, 3, 1, 0), KNOWN),
        ("rule", "pronouns", (9, 5, 0, 0, 0, 0), {}),
        ("values", None, (29, 10, 4, 3, 1, 0), KNOWN | {"recall": 0.9}),
    )
]


@pytest.fixture(scope="module")
def files(repository, tmp_path_factory):
    return made_legal.write_results(repository, tmp_path_factory.mktemp("legal"))


@pytest.fixture
def page(write, files, tmp_path):
    def written(*more_files, changes=None, **options):
        tables, *others = files
        if changes:
            tables, original = tmp_path / "tables/cases/mine", tables
            edited(original, tables, **changes)
        options = {"declarations": [declaration("ecthr")], **checks.titles(mine="Mine")} | options
        return write("legal_cases", [tables, *others, *more_files], **options)

    return written


@pytest.mark.parametrize(
    "linked, expected",
    [
        (None, {"dev": "split=dev", "test": "split=test"}),
        (["test"], {"test": "split=test"}),
        (
            ["test", "dev", "train"],
            {"all": "split="} | {one: f"split={one}" for one in ("train", "dev", "test")},
        ),
    ],
)
def test_columns_lead_to_the_cases_of_the_splits_in_the_explorer(page, linked, expected):
    tree = page(linked=linked)
    tables = [
        node
        for node in tree.css("#mine table[data-items]")
        if text(node, "caption").startswith(("Cases by group", "Cases by label"))
    ]
    assert len(tables) > 2
    for table in tables:
        heads = {head.text(): head.attributes.get("data-items") for head in table.css("thead th")}
        assert {name: items for name, items in heads.items() if items is not None} == expected
        assert set(heads) >= {"train", "dev", "test", "all"}


def test_a_data_set_without_outcomes_says_so(page):
    assert "No outcomes" not in text(page(), "#mine")

    def none_known(rows):
        return [row | ({"share": 0} if row["quantity"] == "labels known" else {}) for row in rows]

    assert "No outcomes" in text(page(changes={"sizes": none_known}), "#mine")


def test_an_audit(page, tmp_path):
    audit = tmp_path / "tables/audits/mine"
    write_tables(audit, [(TABLE, AUDIT)])
    own = text(page(audit), "#mine")
    assert "title in procedure204 of 5" in own  # of its 20 cases 5 were drawn
    assert "all that give a value" in own
    assert "0 of 5" not in own  # a rule without an answer


def crossed(group, cases):
    cell = {"dataset": "mine", "split": "all", "attribute": "applicant_age", "group": group}
    cell |= {"other_attribute": "applicant_gender", "of": sum(cases)}
    return [
        cell | {"other_group": name, "cases": n} | ({"share": n / sum(cases)} if n else {})
        for name, n in zip(("male", "female"), cases, strict=True)
    ]


def test_how_attributes_cross_is_drawn(page):
    both = [*crossed("old", (3, 1)), *crossed("young", (0, 0))]
    tree = page(changes={"cross": lambda rows: both})
    [drawing] = [one for one in checks.charts(tree) if "Shares" in one["description"]]
    assert drawing["description"] == (
        "Mine: Shares of Applicant's gender in each group of Applicant's age: 1 male, 2 female"
    )
    assert checks.rows(drawing, "text") == ["75\xa0%", "25\xa0%"]
    assert checks.rows(drawing, "name") == ["old"]
    caption = text(tree, "#mine details figcaption")
    assert "1 male, 2 female." in caption and "Without cases: young." in caption
    assert "– to –" not in text(tree, "#mine details td")
    tree = page(changes={"cross": lambda rows: both[2:]})
    assert "Shares" not in str(checks.charts(tree))


def test_labels_of_each_group_are_counted_unless_there_are_too_many(page):
    [cell, _] = crossed("old", (3, 1))
    cell |= {"other_attribute": "label"}

    def shown(labels):
        rows = [cell | {"other_group": f"label {number}"} for number in range(labels)]
        return text(page(changes={"cross": lambda _: rows}), "#mine")

    assert "Applicant's age by label" in shown(25) and "75.0 %3" in shown(25)
    assert (
        "More than 25 columns, in tables/cases/mine/cross.csv only: Applicant's age by label."
        in (shown(26))
    )


def of_label(group, shares, cases=1000, *, attribute="applicant_age", split="train"):
    """The cells of a group's cases by label, with intervals of 5 points to either side."""
    cell = {"dataset": "mine", "split": split, "attribute": attribute, "group": group}
    cell |= {"other_attribute": "label", "of": cases}
    return [
        cell
        | {"other_group": label, "cases": round(cases * share), "share": share}
        | {"low": share - 0.05, "high": share + 0.05}
        for label, share in shares.items()
    ]


def test_labels_that_go_with_an_attribute_in_training_are_named(page):
    by_gender = {"attribute": "applicant_gender"}
    rows = [
        *of_label("old", {"3": 0.82, "6": 0.18, "unknown": 0.9}),
        *of_label("young", {"3": 0.22, "6": 0.78, "unknown": 0.0}),
        *of_label("unknown", {"3": 0.0, "6": 1.0}),
        # a tiny group with a wide interval
        *(row | {"low": 0.3, "high": 1.0} for row in of_label("tiny", {"6": 1.0}, 3)),
        *of_label("male", {"3": 0.5}, **by_gender),
        *of_label("female", {"3": 0.41}, **by_gender),  # the intervals overlap
        *of_label("old", {"3": 0.1}, split="all"),
    ]
    [row] = describe_associations(rows)
    assert (row["attribute"], row["label"], row["distance"]) == ("applicant_age", "6", 0.5)
    assert (row["most"]["group"], row["least"]["group"]) == ("young", "old")
    tree = page(changes={"cross": lambda _: rows})
    shares = "78.0 % of young (73.0 % to 83.0 %) and 18.0 % of old (13.0 % to 23.0 %)"
    assert f"Mine, Applicant's age: {shares} have the label 6." in text(tree, "main")
    assert "balanced batches (erm_group_uniform)" in text(tree, "main")
    assert f"Applicant's age: {shares} have the label 6" in text(tree, "#mine li")
    both = ("applicant_age", "applicant_gender"), ("applicant_gender", "applicant_age")
    pairs = [
        row | {"attribute": one, "other_attribute": other, "split": "all"}  # as the table has them
        for row in rows[:6]
        for one, other in both
    ]
    words = text(page(changes={"cross": lambda _: [*rows, *pairs]}), "#mine")
    assert words.count("Attributes go together") == 1 == words.count(f"{shares} are 6")
    tree = page(changes={"cross": lambda _: rows[-3:]})
    assert "Attributes go together" not in text(tree, "main")
    assert "Labels go with attributes" not in text(tree, "main")
    assert "no label’s share clearly differs between groups" in text(tree, "#mine")


def test_associations_are_adjusted_for_the_pairs_of_groups():
    few = [*of_label("one", {"6": 1.0}, 4), *of_label("two", {"6": 0.0}, 5)]  # Fisher: p = 0.008
    assert len(describe_associations(few)) == 1
    many = [row for n in range(3, 9) for row in of_label(f"group {n}", {"6": 0.5}, 4)]
    assert describe_associations([*few, *many]) == []


def test_the_largest_shift_of_labels_is_named(page):
    def shifted(*shifts):
        cells = {"dataset": "mine", "attribute": "applicant_age", "noise_95": 0.2}
        return [
            cells
            | {"group": f"group {number}", "splits": "train and test", "distance": distance}
            | {"train_cases": 9, "other_cases": 9, "p": p}
            for number, (distance, p) in enumerate(shifts)
        ]

    words = text(
        page(changes={"shift": lambda _: shifted((0.3, 0.01), (0.45, 0.02), (0.1, 0.9))}), ".lead"
    )
    assert "The labels of train, dev and test differ significantly in Mine: 2 of 3" in words
    clearest = "Applicant's age, group 1, train and test (distance 0.45, random parts up to 0.20)."
    assert f"clearest {clearest}" in words
    words = text(page(changes={"shift": lambda _: shifted((0.3, 0.06))}), ".lead")
    assert "differ significantly in none of 1 comparison." in words


def test_unknown_values_without_cases_are_left_out(page):
    def known(rows):
        return [row | {"cases": 0} if row.get("group") == "unknown" else row for row in rows]

    def none_unknown(rows):
        return [row | {"ours": "0"} if row["quantity"] == "group unknown" else row for row in rows]

    assert "unknown" in text(page(), "#mine")
    assert "Applicant's gender applicant_gender" in text(page(), "#mine-sizes")
    cells = [
        *of_label("old", {"3": 0.5, "unknown": 0}, split="all"),
        *of_label("unknown", {"3": 0}, cases=0, split="all"),
    ]
    changes = {"groups": known, "sizes": none_unknown, "cross": lambda _: cells}
    changes["labels"] = lambda rows: [
        row | {"cases": 0} if row["label"] == "unknown" else row for row in rows
    ]
    tree = page(changes=changes)
    assert "unknown" not in [cell.text() for cell in tree.css("#mine th")]
    assert "group unknown" not in text(tree, "#mine-sizes")


def test_encoders_are_named_only_if_they_read_a_declared_data_set(page):
    own = json.dumps(recipe("ecthr") | {"kind": "declared"})

    def shown(tokenizer):
        lengths = {"dataset": "mine", "unit": "tokens", "quantity": "median", "value": 7}
        rows = [lengths | {"tokenizer": tokenizer}] * bool(tokenizer)
        changes = {"lengths": lambda old: [*old, *rows]}
        return text(page(changes=changes, declarations=[own]), "#mine")

    assert "A classifier with an encoder reads" in shown("tiny")
    assert "Beyond the segments" in shown("tiny")
    assert "with an encoder" not in shown("") and "Beyond the segments" not in shown("")


def test_long_cases(page):
    def longer(rows):
        return [
            row | ({"value": 1012.4} if row["quantity"] == "percentile 95" else {}) for row in rows
        ]

    assert "95 % at most 1,012." in text(page(changes={"lengths": longer}), "#mine figcaption")


def test_the_last_bar_of_lengths_is_as_wide_as_the_first():
    bar = {"unit": "words", "tokenizer": "", "quantity": "histogram"}
    (lengths,) = describe_lengths([bar | {"from": f, "count": n} for f, n in ((50, 3), (100, 1))])
    assert "100 to 149" in json.dumps(lengths["figure"].to_dict())


SHIFT = {"group": "a", "splits": "train to test", "distance": 0.2, "low": 0.1, "high": 0.3}
SHIFT |= {"noise_95": 0.15, "p": 0.003, "compat_published": None}
UNKNOWN = dict.fromkeys(("distance", "low", "high", "noise_95", "p"))


def test_shifts_are_counted_and_drawn_where_they_were_measured():
    chance = [SHIFT | {"group": str(n), "p": 0.5} for n in range(10)]
    alone, clearer = SHIFT | {"distance": 0.8, "p": 0.04}, SHIFT | {"noise_95": 0.05}
    shift = describe_shift([SHIFT, SHIFT | UNKNOWN, clearer, alone, *chance])
    assert (shift["measured"], shift["compat"]) == (13, False)
    assert shift["significant"] == [clearer, SHIFT]  # one in twenty is below 0.05 by chance
    assert describe_shift([SHIFT, SHIFT | {"compat_published": 0.2}])["compat"] is True


def test_a_pattern_names_the_label_farthest_from_a_risk_ratio_of_one():
    pattern = {"language": "de", "pattern": "x", "cases": 9, "label": None, "risk_ratio": None}
    counts = {"label_with": 3, "of_with": 4, "label_without": 1, "of_without": 4}

    def label(name, low, high):
        return pattern | counts | {"label": name, "risk_ratio": 1.0, "low": low, "high": high}

    above, below, near = label("above", 2, 3), label("below", 0.1, 0.25), label("near", 0.5, 1.5)
    for rows, farthest in (([near, above], "above"), ([near, above, below], "below")):
        [row] = describe_leakage([pattern, *rows])
        assert row["words"].replace("\xa0", " ") == f"{farthest}: 75 % with it, 25 % without"
    [row] = describe_leakage([pattern, label("none", None, None), label("half", 1.1, 9)])
    assert row["words"].startswith("half")
    assert describe_leakage([pattern])[0]["words"] is None
    assert describe_leakage([pattern | {"cases": 0}]) == []
