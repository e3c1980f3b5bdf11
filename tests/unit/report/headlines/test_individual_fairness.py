import pytest

from evenhand.core.rows import where
from evenhand.core.tables import write_tables
from evenhand.individual.tables import (
    findings,
    groups,
    individuals,
    table_4,
    table_6,
    table_7,
    table_8,
    tests,
)
from evenhand.io.documents import write_json
from evenhand.report.headline import say
from evenhand.report.headlines.individual_fairness import conclude
from evenhand.tabular.prepared import RECORD
from unit.report.checks import headline_of
from unit.report.headlines.kept import check_kept

describe = headline_of("individual_fairness")


def row(method="mlp", individual="none", *, mean=50, **values):
    """A cell of IFR_p on Adult."""
    same = {"dataset": "adult", "split": "random", "metric": "ifr_p", "sd": 4, "seeds": 20}
    same |= {"lambda": 0, "diverged": 0, "verdict": "reproduced"}
    return same | {"method": method, "individual": individual, "mean": mean} | values


def headline(folder, made, title="", **document):
    """The headline of some tables."""
    tables, data = folder / "tables/individual", folder / "tabular/adult/data.json"
    blank = {member: dict.fromkeys(member.TABLE.header) for member in made}
    write_tables(tables, [(m.TABLE, [blank[m] | one for one in own]) for m, own in made.items()])
    data.parent.mkdir(parents=True)
    write_json(data, dict.fromkeys(RECORD) | {"name": "adult", "meta": {"title": title}} | document)
    return describe([tables, data], {})


def found(name, words, dataset=None):
    return {"finding": name, "sentence": words, "dataset": dataset}


COSINE = {"individual": "iifr_cosine", "epsilon": 0.8, "lambda": 1}
BLIND = {"method": "mlp_without_attribute"}
FLIPS = row(metric="ifr_b", mean=90, low=85, high=94)
TEST = dict.fromkeys(("method", "against"), "mlp") | {
    "individual": "none", "metric": "ifr_p", "verdict": "inconclusive", "dataset": "adult",
    "delta": 5,
}  # fmt: skip
PEOPLE = row() | {"group": None, "label": None, "ifr_b_low": 84.0, "ifr_b_high": 94.5}
PEOPLE |= {"gap": 0.3, "gap_low": -0.02, "gap_high": 0.6}
SAME = FLIPS | {"mean": 100, "low": 100, "high": 100}
SEEDS = [TEST | {"further_seeds": n} for n in (7, 3)]
REMEDY = TEST | {
    "individual": "iifr_counterfactual", "lambda": 0.1, "verdict": "above", "mean": 85.6,
    "against_mean": 61.7, "difference": 23.9,
}  # fmt: skip
FLIP = REMEDY | {"metric": "ifr_b", "mean": 98.4, "against_mean": 86.7}
DROPPED = TEST | BLIND | {"metric": "ddp", "mean": 0.193, "against_mean": 0.313}
ACCURACIES = [row(metric="balanced_acc", mean=73.7), row(**BLIND, metric="balanced_acc", mean=73.8)]

COSTS = found("headline_no_gain", "On Adult, IIFR costs.")

#: Tables, and the title of the data set.
MADE = {
    "the finding is first, and the noise beside it": (
        {
            findings: [
                found("headline_blind_fairer", "A blind network is fair."),
                found("headline_no_gain", "IIFR costs."),
                found("headline_cells", "8 cells of the paper."),
                found("front_ddp", "Not here.", "adult"),
            ],
            table_4: [
                row(), row(**BLIND, mean=100, sd=0), row("alfr", mean=1),
                row(split="official", mean=2),
            ],
        },
        "",
    ),
    "a cell that is in two tables counts once": (
        {
            groups: [
                {"quantity": "rows"},  # is not judged
                {"quantity": "P(A)", "verdict": "reproduced"},
                {"quantity": "P(Y=1)", "verdict": "not_checked"},
            ],
            table_4: [
                row(seeds=5), row(**COSINE),
                row(metric="acc", diverged=2, verdict="not_reproduced"),
            ],
            table_7: [row(metric="ddp")],
            table_8: [
                row(**COSINE | {"epsilon": 1}),  # the plain network again
                row(**COSINE),
                row(**COSINE | {"verdict": "inconsistent_in_paper", "epsilon": 0.9}),
                row(metric="balanced_acc", verdict="no_published_value"),
            ],
        },
        "",
    ),
    "one data set without a spread": ({table_4: [row(sd=None)]}, "<i>Mine"),
    "methods without the plain network, and one on a given split": (
        {table_4: [
            row("logistic_regression", metric="ifr_b", mean=80), row(metric="ifr_b", mean=None),
            row(metric="ifr_b", split="official", mean=90.5),
        ]},
        "<i>Mine",
    ),
    "a weight": ({table_4: [row(), row(individual="iifr_cosine", **{"lambda": 0.5})]}, ""),
    "two data sets, and a spread beyond the scale": (
        {table_4: [row(sd=60), row(dataset="other")]}, "Mine",
    ),
    "a flip that changes decisions": ({table_4: [FLIPS], tests: SEEDS}, ""),
    "a remedy": ({table_4: [FLIPS], tests: [*SEEDS, REMEDY, FLIP]}, ""),
    "a remedy whose decisions are undecided": (
        {table_4: [FLIPS], tests: [REMEDY, FLIP | {"verdict": "inconclusive"}]}, "",
    ),
    "the attribute may be dropped": (
        {
            table_4: [FLIPS, *ACCURACIES],
            tests: [
                DROPPED | {"difference": -0.12}, TEST | BLIND | {"mean": 99, "difference": 9},
                TEST | {"method": "alfr", "metric": "ddp", "mean": 0.9, "difference": 0.6},
            ],
        },
        "",
    ),
    "a finding on the data set": ({table_4: [FLIPS], findings: [COSTS]}, ""),
    "a finding beside two data sets": (
        {table_4: [FLIPS, FLIPS | {"dataset": "other"}], findings: [COSTS]}, "",
    ),
    "a finding alone": ({findings: [COSTS]}, ""),
    "an undecided remedy": (
        {table_4: [FLIPS], tests: [REMEDY | {"verdict": "inconclusive"}, FLIP]}, "",
    ),
    "intervals over people": ({table_4: [FLIPS], individuals: [
        {name: PEOPLE.get(name) for name in individuals.TABLE.header}
    ]}, ""),
    "everyone gets the same decision": ({table_4: [SAME, row(metric="positive_rate", mean=0)]}, ""),
    "nearly everyone, and a few decisions change": (
        {table_4: [FLIPS, row(metric="positive_rate", mean=0.995)]}, "",
    ),
    "one seed": (
        {table_4: [FLIPS | {"low": None, "high": None, "seeds": 1}], individuals: [
            {name: PEOPLE.get(name) for name in individuals.TABLE.header}
        ]}, "",
    ),
    "one seed is left of three": (
        {table_4: [FLIPS | {"low": None, "high": None, "seeds": 1, "empty": 2}]}, "",
    ),
    "a network at chance": (
        {table_4: [FLIPS, row(metric="balanced_acc", mean=51.2)]}, "",
    ),
    "random splits beside that of the data": (
        {table_4: [FLIPS, FLIPS | {"split": "official", "mean": 80.25}]}, "",
    ),
    "an effect that is significant before adjustment only": (
        {table_4: [FLIPS], tests: [FLIP | {
            "verdict": "inconclusive", "difference": 11.7, "difference_low": 0.5,
            "difference_high": 22.9, "p_adjusted": 0.4,
        }] * 2}, "",
    ),
    "a flip that is undecided": ({table_4: [FLIPS | {"high": 95}], tests: SEEDS}, ""),
    "a flip that changes few decisions": (
        {table_4: [FLIPS | {"mean": 97.3, "low": 95.1, "high": 99}], tests: [*SEEDS, REMEDY]}, "",
    ),
    "few decisions, though perhaps more of other people": (
        {table_4: [FLIPS | {"mean": 97.3, "low": 95.1, "high": 99}], individuals: [
            {name: PEOPLE.get(name) for name in individuals.TABLE.header}
        ]}, "",
    ),
}  # fmt: skip


def by_group(*rates, share=(0.9, 0.6, 0.4, 0.3)):
    """Tables of a group for each rate of positive labels of the test people, and of predictions."""
    plain = [row(metric="ifr_b", group=n, mean=90 - n) for n in range(len(rates))]
    return {
        table_4: [FLIPS],
        table_6: plain,
        individuals: [
            {name: one.get(name) for name in individuals.TABLE.header}
            | {"positive_rate": 0.5 if one is PEOPLE else share[one["group"]], "lambda": 0}
            | {"label_rate": 0.5 if one is PEOPLE else rates[one["group"]]}
            for one in [*plain, PEOPLE]
        ],
        groups: [  # of train too, which is not stated beside predictions
            {"dataset": "adult", "quantity": "P(Y=1|A)", "value": name, "reproduced": 0.1}
            for name, _ in zip("abcd", rates, strict=False)
        ],
    }


@pytest.mark.parametrize(("positives", "differ"), [((30, 70), True), ((48, 55), False)])
def test_the_group_with_the_lowest_share_is_named_if_the_labels_differ(positives, differ):
    answers = FLIPS | {"seeds": 1, "people": 100, "gap": 0.2, "gap_low": 0.1, "gap_high": 0.3}
    people = [
        answers
        | {"group": code, "label": None, "positive_rate": rate, "extreme_seeds": 1}
        | {"label_rate": positive / 100}
        for code, (rate, positive) in enumerate(zip((0.4, 0.6), positives, strict=True))
    ]
    people += [answers | {"group": None, "label": None}]
    shares = [
        {"dataset": "adult", "quantity": "P(Y=1|A)", "value": value, "reproduced": 0.5}
        | {"count": 2 * count, "of": 200}  # of training, too
        for value, count in zip("fm", positives, strict=True)
    ]
    tables = {"table_4": [FLIPS], "groups": shares, "individuals": people}
    tables["table_6"] = [FLIPS | {"group": code} for code in (0, 1)]
    named = {"attribute_name": "sex", "attribute_values": [*"fm"], "meta": {}}
    _, sentences, _, worse = conclude(tables, [{"name": "adult"} | named], 5)
    assert ("lower for the group <bdi>f</bdi>" in sentences[1]) is differ
    assert f"In the test data these shares are {positives[0]}.0" in worse
    for words in (sentences[1], worse):
        assert (
            "The labels do not differ significantly between the groups (p = 0.16" in words
        ) is not differ
        assert ("The labels differ significantly between the groups (p" in words) is differ
        assert "few people" not in words
    for one in where(people, group=1):
        one["people"] = 9
    _, sentences, _, worse = conclude(tables, [{"name": "adult"} | named], 5)
    for words in (sentences[1], worse):
        assert "; it may come from few people: the group <bdi>m</bdi> has 9 test people)" in words
    # a small group that is an extreme in no run is not why
    between = people[0] | {"group": 2, "positive_rate": 0.5, "people": 9, "extreme_seeds": 0}
    for extreme in (0, 1):
        third = [between | {"extreme_seeds": extreme}]
        with_third = tables | {"individuals": [*third, *people[:1], *where(people, group=None)]}
        with_third["individuals"] += [people[1] | {"people": 100}]
        with_third |= {"table_6": [FLIPS | {"group": code} for code in (0, 1, 2)]}
        with_third["groups"] = [*shares, shares[0] | {"value": "x"}]
        document = {"name": "adult"} | named | {"attribute_values": [*"fmx"]}
        worse = conclude(with_third, [document], 5)[3]
        words = "the group <bdi>x</bdi> has 9 test people and is an extreme in 1 of 1 run)"
        assert (words in worse) is ("group <bdi>x</bdi> has" in worse) is bool(extreme)
        assert "(<bdi>x</bdi>, 9 people)" in worse


@pytest.mark.parametrize("other", ["the same table", "another"])
def test_labels_are_tested_with_those_of_other_attributes_of_the_table(other):
    tables = by_group(0.5, 0.6) | {groups: []}
    tables = {member.TABLE.name: rows for member, rows in tables.items()}
    tables["groups"] = [
        {"dataset": name, "quantity": "P(Y=1|A)", "value": value, "reproduced": 0.5}
        | {"count": count, "of": 200}
        for name, counts in (("adult", (100, 121)), ("b", (100, 100)))
        for value, count in zip("fm", counts, strict=True)
    ]
    documents = [
        {"name": name, "attribute_name": "sex", "attribute_values": [*"fm"]}
        | {"meta": {"label": "y = 1", "table": table}}
        for name, table in (("adult", "the same table"), ("b", other))
    ]
    worse = conclude(tables, documents, 5)[3]
    assert {
        "the same table": "The labels do not differ significantly between the groups (p = 0.069,"
        " adjusted for the 2 attributes and intersections of this table, chi-squared test of all",
        "another": "The labels differ significantly between the groups (p = 0.035)",
    }[other] in worse


def test_many_data_sets_are_counted_where_the_groups_of_three_are_named():
    names, codes = "abcde", (0, 1)
    flips = [FLIPS | {"dataset": name} for name in names]
    same = {"seeds": 1, "answers": 40, "positive_rate": 0.5, "people": 40, "gap_low": None}
    same |= {"label_rate": 0.5, "extreme_seeds": 0}
    tables = {
        "table_4": flips,
        "table_6": [row | {"group": code} for row in flips for code in codes],
        "groups": [
            {
                "dataset": name,
                "quantity": "P(Y=1|A)",
                "value": value,
                "reproduced": 0.3,
                "count": None,
                "of": None,
            }
            for name in names
            for value in "fm"
        ],
        "individuals": [
            row | same | {"group": code, "label": None} for row in flips for code in (None, *codes)
        ],
    }
    documents = [
        {"name": name, "attribute_name": "sex", "attribute_values": [*"fm"], "meta": {}}
        for name in names
    ]
    worse = conclude(tables, documents, 5)[3]
    assert worse.count("the plain network predicts") == 3 and "2 further data sets" in worse


def test_an_attribute_precedes_a_clearer_intersection():
    crossed = FLIPS | {"dataset": "b", "mean": 60, "low": 58, "high": 62}
    documents = [
        {"name": name, "attribute_name": attribute, "meta": {}}
        for name, attribute in {"adult": "sex", "b": "sex × race"}.items()
    ]
    sentences, short = conclude({"table_4": [crossed, FLIPS]}, documents, 5)[1:3]
    assert "sex</bdi>, and 10.0 %" in sentences[0] and "10.0 %" in short
    # of two attributes that of the larger share, though it is less clear; both are named
    wide = FLIPS | {"dataset": "b", "mean": 70, "low": 55, "high": 85}
    alone = [document | {"attribute_name": "race"} for document in documents]
    sentences, short = conclude({"table_4": [FLIPS, wide]}, alone, 5)[1:3]
    assert "and 30.0 %" in sentences[0] and "30.0 %" in short.split(";")[0] and "10.0 %" in short
    same = {"low": 90, "high": 100}
    sentences = conclude({"table_4": [FLIPS | same, crossed]}, documents, 5)[1]
    assert "race</bdi>, and 40.0 %" in sentences[0]


def test_advice_has_the_details_of_the_largest_shares_alone():
    drop = {"attribute": "sex", "before": 70, "after": 71, "gap": None, "few": []}
    facts = {"datasets": [*"abc"], "drops": dict.fromkeys("abc", drop), "helps": {}}
    words = say("if_mitigate", **facts, most=2)
    assert words.count("The simplest remedy") == 2 and "Of the other 1, with smaller" in words


def test_advice_names_the_remedy_of_each_attribute_before_intersections(tmp_path):
    attributes = {**{name: name for name in "abcd"}, "ab": "a × b", "cd": "c × d"}
    cells, files = [], [tmp_path / "tables/individual"]
    for place, (name, attribute) in enumerate(attributes.items()):
        of = {"dataset": name, "low": 60 - place, "high": 80, "mean": 70 - place}
        cells += [FLIPS | of, *(row(metric="balanced_acc", **one) | {"dataset": name}
                                for one in ({}, BLIND))]  # fmt: skip
        files.append(tmp_path / f"tabular/{name}/data.json")
        files[-1].parent.mkdir(parents=True)
        described = {"name": name, "meta": {}, "attribute_name": attribute}
        write_json(files[-1], dict.fromkeys(RECORD) | described)
    blank = dict.fromkeys(table_4.TABLE.header)
    write_tables(files[0], [(table_4.TABLE, [blank | cell for cell in cells])])
    advice = describe(files, {}).next
    assert all(f"is to train without <bdi>{name}</bdi>:" in advice for name in "abcd")
    assert "a × b" not in advice and "Of the other 2, with" in advice


@pytest.mark.parametrize(
    ("counts", "mean", "usual"),
    [((99, 100), 90, True), ((60, 140), 90, False), ((99, 100), 60, False)],
)
def test_a_change_that_an_attribute_without_effect_has_is_no_reason_against_a_network(
    tmp_path, counts, mean, usual
):
    shares = [
        {"dataset": "adult", "quantity": "P(Y=1|A)", "value": value, "count": count, "of": 200}
        for value, count in zip("fm", counts, strict=True)
    ]
    cells = FLIPS | {"mean": mean, "low": mean - 5, "high": mean + 4}
    made = headline(tmp_path, {table_4: [cells], groups: shares}, attribute_name="sex")
    words = "alone (the labels do not differ significantly between its groups, and a network uses"
    assert made.short.startswith("No: ") and (words in made.short.replace("</bdi>", "")) is usual
    assert ("Do not use the plain network" in made.next) is not usual


@pytest.mark.parametrize(("seeds", "high"), [(2, 90), (2, 90.5), (3, 90)])
def test_two_runs_that_agree_have_no_interval(tmp_path, seeds, high):
    cells = FLIPS | {"mean": 90, "low": 90, "high": high, "seeds": seeds}
    made = headline(tmp_path, {table_4: [cells]})
    words = "change (of 2 runs): undecided, as two runs that agree give no interval; train more"
    agree = (seeds, high) == (2, 90)
    assert (words in made.sentence) is made.short.startswith("Undecided: 10.0 %") is agree
    assert ("Do not use" in made.next) is not agree


@pytest.mark.parametrize(("difference", "side"), [(0.2, "less fair"), (-0.2, "fairer")])
@pytest.mark.parametrize(("resampled", "others"), [(0.3, True), (0.01, False), (None, False)])
def test_a_significant_effect_has_its_side_and_its_data(
    tmp_path, difference, side, resampled, others
):
    effect = DROPPED | {"difference": difference, "verdict": "above" if difference > 0 else "below"}
    effect |= {"p_adjusted": 0.01, "p_resampled_adjusted": resampled}
    made = {table_4: [row(metric="ifr_b", mean=90)], tests: [effect]}
    (words,) = (each for each in headline(tmp_path, made).more if "did</b>" in each)
    assert f"; {side}, significant" in words
    assert ("for more runs on these data; other data were not tested" in words) == others


def test_headlines_are_those_that_are_kept(tmp_path):
    kept = {name: headline(tmp_path / name, made, title) for name, (made, title) in MADE.items()}
    gap = {table_7: [row(metric="ddp", mean=0.3, low=0.27, high=0.35)]}
    # of the third, b has the lowest rate, but not the lowest of the predictions
    for rates in ((0.8, 0.5), (0.5, 0.8), (0.8, 0.5, 0.6, 0.7), (0.8, 0.6, 0.7, 0.5)):
        document = {"attribute_name": "sex", "attribute_values": list("abcd"[: len(rates)])}
        for more in ({}, gap):
            name = f"groups of {rates}{' with a gap' * bool(more)}"
            kept[name] = headline(tmp_path / name, by_group(*rates) | more, **document)
    for one in (alone := by_group(0.8, 0.5) | gap)[individuals]:
        one["gap_low"] = one["gap_high"] = None  # a group of few people has no interval
    kept["a gap over runs alone"] = headline(tmp_path / "runs", alone, **document)
    same = by_group(0.8, 0.5, share=(0.0, 0.0))  # neither group is lower
    kept["equal rates"] = headline(tmp_path / "same", same, **document)
    few = {table_4: [FLIPS | {"mean": 97.3, "low": 95.1, "high": 99}]}
    copy = {"revealing": {"attribute": [{"feature": "copy"}]}}
    for name, meta in {"a copy of the attribute": copy, "dummies": {"implied": True}}.items():
        kept[name] = headline(tmp_path / name, few, attribute_name="sex", meta=meta)
    paper = document | {"meta": {"gap": "deviation"}}  # which is no gap, and not called one
    without = headline(tmp_path / "deviation", by_group(*rates) | gap, **paper)
    shown = kept[f"groups of {rates}"]
    assert (without.more, without.groups) == (shown.more, shown.groups)
    dropped = headline(tmp_path / "dropped", MADE["the attribute may be dropped"][0], **paper)
    assert "The simplest remedy" in dropped.next and "points" not in dropped.next
    check_kept("individual_fairness", kept)
