import csv

import pytest

from evenhand.errors import InputError
from evenhand.legal.respondents import folded
from unit.legal.made_records import FOLDER, find, table

FIRST, REST = "C.E. European", "Rest of Europe"


def state(context=(), title=None, changed=(), **metadata):
    return find("defendant_state", context=context, title=title, changed=changed, metadata=metadata)


@pytest.mark.parametrize(*table("states"))
def test_spellings_and_groupings(name, fairlex, eurovoc):
    for attribute, group in (("defendant_state", fairlex), ("defendant_state_eurovoc", eurovoc)):
        finding = find(attribute, metadata={"respondent": name})
        assert (finding.value, finding.rule, finding.flags) == (group, "respondent_given", ())
        assert finding.evidence[0].words == f"respondent={name}"


@pytest.mark.parametrize(
    ("names", "group"),
    [
        ("BEL;GRC", REST),
        ("BGR;ITA", FIRST),
        ("ITALY AND BULGARIA", FIRST),
        ("Bosnia and Herzegovina, Italy and France", FIRST),
        ("the Netherlands; Czech Republic", FIRST),
    ],
)
def test_several_respondents(names, group):
    finding = state(respondent=names)
    assert (finding.value, finding.flags) == (group, ("several_respondents",))
    assert state(respondent="ITA;ITALY").flags == ()


@pytest.mark.parametrize(*table("state_titles"))
def test_the_title(title, group):
    header = ("FIRST SECTION", title, "JUDGMENT")
    finding = state(title=title, context=header)
    assert (finding.value, finding.rule) == (group, "respondent_in_title")
    assert finding.evidence[0].paragraph == 1
    assert state(title=title).evidence == ()


def test_the_procedure():
    context = (
        "2. The applicant complained against a decision of the court.",
        "1. The case originated in an application (no. 1/20) against the Republic of Poland lodged"
        " with the Court by a Ukrainian national.",
    )
    finding = state(context=context)
    assert (finding.value, finding.rule) == (FIRST, "respondent_in_procedure")
    assert finding.evidence[0].words == "the Republic of Poland"
    assert state(context=context, title="CASE OF NOWY v. POLONIA").value == FIRST


def test_a_name_that_nobody_knows():
    message = (
        r"ecthr\.jsonl:3: the case ecthr-3 has the respondent 'ATLANTIS'.*respondent_states\.csv"
    )
    with pytest.raises(InputError, match=message):
        state(respondent="ATLANTIS")
    with pytest.raises(InputError, match="'POLAND;ATLANTIS'"):
        state(respondent="POLAND;ATLANTIS", title="CASE OF NOWY v. POLAND")
    with pytest.raises(InputError, match="'ATLANTIS'"):
        state(title="CASE OF NOWY v. ATLANTIS")
    assert state().rule == "no_respondent"


@pytest.mark.parametrize(("stated", "group"), [("0", FIRST), ("1", REST), ("c.e. european", FIRST)])
def test_the_group_of_fairlex_goes_first(stated, group):
    finding = state(defendant_state=stated, respondent="FRANCE")
    assert (finding.value, finding.rule) == (group, "given_by_source")


def test_the_table_has_all_members_and_the_published_list():
    with (FOLDER / "respondent_states.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    first = {row["state"] for row in rows if row["fairlex"] == FIRST}
    published = (
        "RUS TUR UKR POL BGR HRV HUN ROU SVK MDA SVN LTU SRB AZE CZE GEO EST BIH MKD ARM LVA"
    )
    assert first == {*published.split(), "MNE"}  # 23 names of 22 States
    assert len({row["state"] for row in rows}) == 47
    assert folded("BOSNIA & HERZEGOVINA") == folded("The Bosnia and Herzegovina")


def test_and_is_no_name_of_andorra(tmp_path):
    text = (FOLDER / "respondent_states.csv").read_text(encoding="utf-8")
    table = tmp_path / "respondent_states.csv"
    table.write_text(text.replace("Andorra,Rest of Europe", f"Andorra,{FIRST}"), encoding="utf-8")
    assert state(changed=(table,), respondent="ITALY AND FRANCE").value == REST
    assert state(changed=(table,), respondent="ITA;AND").value == FIRST
    assert state(changed=(table,), respondent="Italy and Andorra").value == FIRST


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("POLAND,POL,Poland,C.E. European", "POLAND,POL,Poland,Rest of Europe"), "POL in two"),
        (("FRENCH REPUBLIC,FRA", "Polànd,FRA"), "POL and FRA|FRA and POL"),
    ],
)
def test_a_table_that_contradicts_itself(tmp_path, change, message):
    text = (FOLDER / "respondent_states.csv").read_text(encoding="utf-8")
    assert change[0] in text
    table = tmp_path / "respondent_states.csv"
    table.write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        find("defendant_state", changed=(table,))
