import pytest

from evenhand.core.tables import write_tables
from evenhand.individual.tables import findings, groups, table_4, table_7, table_8, tests
from evenhand.io.documents import write_json
from evenhand.report.headlines.individual_fairness import describe
from evenhand.tabular.prepared import RECORD
from unit.report import checks


def row(method="mlp", individual="none", *, mean=50, **values):
    """A cell of IFR_p on Adult."""
    same = {"dataset": "adult", "split": "random", "metric": "ifr_p", "sd": 4, "seeds": 20}
    same |= {"lambda": 0, "diverged": 0, "verdict": "reproduced"}
    return same | {"method": method, "individual": individual, "mean": mean} | values


def headline(folder, made, title=""):
    """The headline of some tables."""
    tables, data = folder / "tables/individual", folder / "tabular/adult/data.json"
    blank = {member: dict.fromkeys(member.TABLE.header) for member in made}
    write_tables(tables, [(m.TABLE, [blank[m] | one for one in own]) for m, own in made.items()])
    data.parent.mkdir(parents=True)
    write_json(data, dict.fromkeys(RECORD) | {"name": "adult", "meta": {"title": title}})
    return describe([tables, data], {})


def test_nothing_is_concluded_from_nothing(tmp_path):
    for found in (describe([], {}), headline(tmp_path, {})):
        assert found.sentence == "There is no conclusion."
        assert not (found.more or found.figure or found.verdicts or found.doubts)


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
            table_4: [row(), row(**cosine), row(metric="acc", verdict="not_reproduced")],
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
        {"reproduced": 2, "not_reproduced": 1},
        {"reproduced": 1},
        {"doubtful": 1, "no_published_number": 1},
    ]
    assert found.verdicts[-1].note == "2 cells more are in the tables above."
    assert "1 published cell contradicts the paper elsewhere." in found.doubts


def test_groups_of_the_data_are_judged_without_their_number_of_rows(tmp_path):
    verdicts = {"rows": None, "P(A)": "reproduced", "P(Y=1)": "not_checked"}
    made = [{"quantity": name, "verdict": verdict} for name, verdict in verdicts.items()]
    (line,) = headline(tmp_path, {groups: made}).verdicts
    assert line.counts == {"reproduced": 1, "no_published_number": 1}


def test_few_seeds_lost_runs_and_unknown_data_are_doubts(tmp_path):
    own = {"verdict": "no_published_value"}
    cells = [row(seeds=5, **own), row(**own | {"metric": "acc", "diverged": 2})]
    doubts = headline(tmp_path, {table_4: cells}, "<i>Mine").doubts
    assert doubts[0].startswith("The paper has no numbers for <bdi>&lt;i&gt;Mine</bdi>")
    assert "some rows have 5 seeds; use 20 or more" in doubts[1]
    assert doubts[2] == "2 runs diverged and left no numbers."


@pytest.mark.parametrize(("sd", "band"), [(None, None), (60, 0.0)])
def test_a_band_is_the_spread_within_the_scale(tmp_path, sd, band):
    found = headline(tmp_path, {table_4: [row(sd=sd)]})
    assert checks.rows(found.figure, "band_low") == ([] if band is None else [band])


def test_a_flip_that_changes_decisions_is_the_finding(tmp_path):
    flips = row(metric="ifr_b", mean=90, low=85, high=95)
    test = {"metric": "ifr_p", "verdict": "inconclusive", "dataset": "adult"}
    more = [test | {"further_seeds": n} for n in (7, 3)]
    found = headline(tmp_path, {table_4: [flips], tests: more})
    assert found.sentence == (
        "On <bdi>Adult</bdi>, another value of the protected attribute changes the decision on"
        " 10.0 % of people (plain network, IFR_b; 95 % interval 5.0 to 15.0): similar people are"
        " not treated alike."
    )
    assert found.strength == 2 and found.line == found.sentence
    assert found.next.startswith("Train 3 more seeds to give the first")
    unclear = headline(tmp_path / "2", {table_4: [flips | {"high": 100}]})
    assert unclear.strength == 0 and unclear.sentence.endswith("not clearly above zero.")
