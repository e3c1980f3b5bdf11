import pytest

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
from evenhand.tabular.prepared import RECORD
from unit.report import checks
from unit.report.checks import headline_of

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


def test_the_finding_comes_first_and_the_noise_beside_it(tmp_path):
    sentences = {"blind_fairer": "A blind network is fair.", "no_gain": "IIFR costs."}
    sentences["cells"] = "8 cells of the paper."
    cells = [row(), row("mlp_without_attribute", mean=100, sd=0), row("alfr", mean=1)]
    cells += [row(split="official", mean=2)]
    found = headline(
        tmp_path,
        {
            findings: [
                {"finding": f"headline_{name}", "sentence": words}
                for name, words in sentences.items()
            ]
            + [{"finding": "front_ddp", "dataset": "adult", "sentence": "Not here."}],
            table_4: cells,
        },
    )
    assert found.sentence == "A blind network is fair."
    assert found.sentence.files == ("tables/individual/findings.csv",)
    assert found.more == ["IIFR costs."]
    assert found.against == ["8 cells of the paper."]
    assert checks.rows(found.figure, "value") == [50.0, 100.0]
    assert not found.doubts


def test_a_cell_that_is_in_two_tables_counts_once(tmp_path):
    cosine = {"individual": "iifr_cosine", "epsilon": 0.8, "lambda": 1}
    near = {"verdict": "inconsistent_in_paper", "epsilon": 0.9}
    found = headline(
        tmp_path,
        {
            groups: [
                {"quantity": "rows"},  # is not judged
                {"quantity": "P(A)", "verdict": "reproduced"},
                {"quantity": "P(Y=1)", "verdict": "not_checked"},
            ],
            table_4: [
                row(seeds=5),
                row(**cosine),
                row(metric="acc", diverged=2, verdict="not_reproduced"),
            ],
            table_7: [row(metric="ddp")],
            table_8: [
                row(**cosine | {"epsilon": 1}),  # the plain network again
                row(**cosine),
                row(**cosine | near),
                row(metric="balanced_acc", verdict="no_published_value"),
            ],
        },
    )
    assert [line.counts for line in found.verdicts] == [
        {"reproduced": 1, "no_published_number": 1},
        {"reproduced": 2, "not_reproduced": 1},
        {"reproduced": 1},
        {"doubtful": 1, "no_published_number": 1},
    ]
    assert found.verdicts[-1].note == "2 cells more are in the tables above."
    few, diverged, inconsistent = found.doubts
    assert "means of 5 runs; for stable means use 20 or more" in few
    assert diverged == "2 runs diverged and left no numbers."
    assert inconsistent == "1 published cell contradicts the paper elsewhere."


def test_the_figure_of_one_data_set_and_of_two(tmp_path):
    single = headline(tmp_path / "single", {table_4: [row(sd=None)]}, "<i>Mine")
    assert single.caption.startswith("<bdi>&lt;i&gt;Mine</bdi>. IFR_p")
    assert checks.rows(single.figure, "name") == ["MLP"]
    assert checks.rows(single.figure, "band_low") == []
    pairs = row(individual="iifr_cosine", **{"lambda": 0.5})
    weighted = headline(tmp_path / "weighted", {table_4: [row(), pairs]})
    assert checks.rows(weighted.figure, "name") == ["MLP", "MLP with IIFR on cosine pairs (λ 0.5)"]
    both = headline(tmp_path / "both", {table_4: [row(sd=60), row(dataset="other")]}, "Mine")
    assert both.caption.startswith("IFR_p")
    assert checks.rows(both.figure, "name") == ["Mine: MLP", "other: MLP"]
    assert checks.rows(both.figure, "band_low") == [0.0, 46.0]  # the spread within the scale


def test_a_flip_that_changes_decisions_is_the_finding(tmp_path):
    flips = row(metric="ifr_b", mean=90, low=85, high=95)
    test = dict.fromkeys(("method", "against"), "mlp") | {
        "individual": "none", "metric": "ifr_p", "verdict": "inconclusive", "dataset": "adult",
        "delta": 5,
    }  # fmt: skip
    more = [test | {"further_seeds": n} for n in (7, 3)]
    found = headline(tmp_path, {table_4: [flips], tests: more})
    assert found.sentence == (
        "On <bdi>Adult</bdi>, change only the protected attribute, and 10.0 % of the plain"
        " network’s decisions change (95 % interval 5.0 to 15.0): similar people are not treated"
        " alike."
    )
    assert found.strength == 2 and found.line == found.sentence
    assert found.next == (
        "Do not use the plain network (trained without mitigation) for decisions on"
        " <bdi>Adult</bdi>; mitigate and test again."
    )
    seeds = (
        "Train 3 more seeds (repeated runs): then a difference of 5 points between <bdi>the MLP"
        "</bdi> and <bdi>the MLP</bdi> (IFR_p, <bdi>Adult</bdi>) would be significant in 80 % of"
        " such tests. All undecided comparisons need 7."
    )
    assert found.more[-1] == seeds
    remedy = test | {
        "individual": "iifr_counterfactual", "lambda": 0.1, "verdict": "above", "mean": 85.6,
        "against_mean": 61.7, "difference": 23.9,
    }  # fmt: skip
    flip = remedy | {"metric": "ifr_b", "mean": 98.4, "against_mean": 86.7}
    helped = headline(tmp_path / "3", {table_4: [flips], tests: [*more, remedy, flip]})
    assert helped.next == (
        "Do not use the plain network (trained without mitigation) for decisions on"
        " <bdi>Adult</bdi>. <bdi>MLP with IIFR on"
        " counterfactual pairs (λ 0.1)</bdi> was tested: it raises IFR_p (% of people whose"
        " probability hardly changes) from 61.7 to 85.6 (+23.9 points; significant). The share of"
        " decisions that change with the attribute alone goes from 13.3 to 1.6 %, significant. See"
        " Mitigation."
    )
    flip_unclear = flip | {"verdict": "inconclusive"}
    partly = headline(tmp_path / "5", {table_4: [flips], tests: [remedy, flip_unclear]}).next
    assert "alone goes from 13.3 to 1.6 %, not significant" in partly
    blind = {"method": "mlp_without_attribute"}
    gap = test | blind | {"metric": "ddp", "mean": 0.193, "against_mean": 0.313}
    accuracies = [
        row(metric="balanced_acc", mean=73.7),
        row(**blind, metric="balanced_acc", mean=73.8),
    ]
    dropped = headline(
        tmp_path / "6", {table_4: [flips, *accuracies], tests: [gap | {"difference": -0.12}]}
    )
    assert dropped.next == (
        "Do not use the plain network (trained without mitigation) for decisions on"
        " <bdi>Adult</bdi>. The simplest remedy is to train without the attribute: then no decision"
        " can change with the attribute alone, and balanced accuracy is 73.8 % (73.7 % with it)."
        " Other columns can stand for it, so look at the gap in positive predictions between the"
        " groups, too: 19.3 points (31.3 with the attribute; the change is not significant)."
    )
    unsure = {table_4: [flips], tests: [remedy | {"verdict": "inconclusive"}, flip]}
    assert headline(tmp_path / "4", unsure).next == found.next
    unclear = headline(tmp_path / "2", {table_4: [flips | {"high": 100}], tests: more})
    assert unclear.strength == 0 and unclear.sentence.endswith(
        "undecided, as zero is not excluded."
    )
    assert unclear.next == seeds and unclear.more == []


@pytest.mark.parametrize(
    ("rates", "first", "comparison"),
    [
        (
            (0.8, 0.5),
            "50.0 % (<bdi>b</bdi>) and 80.0 % (<bdi>a</bdi>) in the data",
            ": lower for the group <bdi>b</bdi> in both",
        ),
        (
            (0.5, 0.8),
            "50.0 % (<bdi>a</bdi>) and 80.0 % (<bdi>b</bdi>) in the data",
            " and 60.0 % (<bdi>b</bdi>) in the predictions. Changing",
        ),
        (
            (0.8, 0.6, 0.7, 0.5),
            "80.0 % (<bdi>a</bdi>) in the data (the extremes of 4 groups)",
            ": lowest for the group <bdi>d</bdi> in both",
        ),
    ],
)
def test_the_group_with_fewer_positive_labels_is_named_with_the_decisions_that_change(
    tmp_path, rates, first, comparison
):
    names = "abcd"[: len(rates)]
    share = [0.9, 0.6, 0.4, 0.3]
    plain = [row(metric="ifr_b", group=n, mean=90 - n) for n in range(len(rates))]
    made = {
        table_4: [row(metric="ifr_b", mean=90, low=85, high=95)],
        table_6: plain,
        individuals: [
            {name: one.get(name) for name in individuals.TABLE.header}
            | {"positive_rate": share[one["group"]], "lambda": 0}
            for one in plain
        ],
        groups: [
            {"dataset": "adult", "quantity": "P(Y=1|A)", "value": name, "reproduced": rate}
            for name, rate in zip(names, rates, strict=True)
        ],
    }
    document = {"attribute_name": "sex", "attribute_values": list(names)}
    found = headline(tmp_path, made, **document)
    assert "change only a person’s <bdi>sex</bdi>" in found.sentence
    assert "95 % interval over repeated runs" not in found.groups
    gap = row(metric="ddp", mean=0.3, low=0.27, high=0.35)
    with_gap = headline(tmp_path / "gap", {**made, table_7: [gap]}, **document)
    ends = "(gap 30.0 points, 95 % interval over repeated runs 27.0 to 35.0)"
    assert ends in with_gap.groups and ends in with_gap.more[0]
    text = found.more[0].replace("\xa0", " ")
    assert text.startswith("<b>Which group fares worse?</b> The share with the positive label is ")
    assert first in text and comparison in text
    assert found.short.startswith("No: 10.0 % of the decisions on <bdi>Adult</bdi> change with")
    assert "the plain network predicts the positive label for " in found.groups
    assert (
        "Changing only <bdi>sex</bdi> alters" in text
        and "10.0 % (<bdi>a</bdi>)" in text
        and text.endswith(" of the decisions; whether these shares differ is not tested.")
    )
    assert found.more[0].files == tuple(
        f"tables/individual/{name}.csv" for name in ("groups", "table_6", "individuals")
    )
