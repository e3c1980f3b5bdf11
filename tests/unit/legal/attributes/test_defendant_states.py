import pytest

from evenhand.errors import InputError
from evenhand.legal.attributes.defendant_state import folded
from unit.cases import read_csv
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


@pytest.mark.parametrize(*table("state_titles"))
def test_the_title(title, group):
    header = ("FIRST SECTION", title, "JUDGMENT")
    finding = state(title=title, context=header)
    assert (finding.value, finding.rule) == (group, "respondent_in_title")
    assert finding.evidence[0].paragraph == 1
    assert state(title=title).evidence == ()


def test_the_table_has_all_members_and_the_published_list():
    rows = read_csv(FOLDER / "respondent_states.csv")
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
