import pytest

from evenhand.errors import InputError
from unit.legal.made_records import count_findings, find, read, table


def found(*text, **values):
    """Return value, rule and flags."""
    finding = find("defendant_gender", *text or ["案情。"], **values)
    assert finding.evidence or finding.value is None
    return finding.value, finding.rule, finding.flags


HEADER = "乙县人民法院 刑事判决书 （2017）湘1234刑初5号 公诉机关乙县人民检察院。"
END = "乙县人民检察院指控被告人甲某犯盗窃罪，向本院提起公诉。现已审理终结。"


@pytest.mark.parametrize(
    ("stated", "gender"), [("1", "female"), ("0", "male"), ("Female", "female"), ("male", "male")]
)
def test_given(stated, gender):
    assert found(metadata={"defendant_gender": stated})[:2] == (gender, "given_by_source")


def test_given_but_unknown_to_us():
    with pytest.raises(InputError, match="defendant_gender 'x'"):
        found(metadata={"defendant_gender": "x"})


@pytest.mark.parametrize(*table("defendants"))
def test_stated_in_the_header(defendant, gender):
    context = (HEADER, defendant, "辩护人丙某，女，某律师事务所律师。", END)
    assert found(context=context) == (gender, "stated_sex", ())


def test_others_in_the_header_are_not_the_defendant():
    context = (
        HEADER,
        "自诉人乙某，女，1963年1月2日出生。",
        "被告人甲某。因本案于2017年被刑事拘留。",
        "辩护人丙某，女，某律师事务所律师。",
        "法定代理人丁某，男，系被告人甲某之父。",
        END,
    )
    assert found(context=context)[:2] == (None, "not_stated")


def test_what_follows_the_header_is_not_read():
    context = (HEADER, "被告人甲某。", END, "被害人乙某的朋友说：被告人甲某，女，很高。")
    assert found(context=context)[:2] == (None, "not_stated")


def test_several_defendants():
    man, woman, unknown = "被告人甲某，男。", "被告人乙某，女。", "被告人丙某，农民。"
    flags = ("several_defendants",)
    both = found(context=(HEADER, man, man.replace("甲", "丁"), END))
    assert both == ("male", "stated_sex", flags)
    assert found(context=(HEADER, man, woman, END)) == (None, "several_defendants", flags)
    assert found(context=(HEADER, man, unknown, END)) == (None, "several_defendants", flags)


def test_one_defendant_named_several_times_is_one():
    context = (
        f"被告人甲某盗窃一案一审刑事判决书 {HEADER}",
        "被告人甲某，男，1990年生。被告人甲某曾因盗窃，于2010年被判处拘役。"
        "被告人甲某因涉嫌犯盗窃罪被逮捕。",
        END,
    )
    assert found(context=context) == ("male", "stated_sex", ())
    # but 甲某乙 is somebody else
    other = (HEADER, "被告人甲某，男。", "被告人甲某乙，农民。", END)
    assert found(context=other)[1] == "several_defendants"


@pytest.mark.parametrize(*table("defendant_facts"))
def test_facts(text, gender, rule):
    assert found(text, metadata={"criminals": "甲某"})[:2] == (gender, rule)
    assert found(text)[:2] == (gender, rule)


@pytest.mark.parametrize(*table("other_facts"))
def test_facts_about_others(text):
    assert found(text, metadata={"criminals": "甲某"})[:2] == (None, "not_stated")


def test_several_defendants_of_the_source():
    assert (
        found("被告人甲某与其妻乙某争吵。", metadata={"criminals": "甲某;丙某"})[1]
        == "several_defendants"
    )


def test_the_charge_is_no_rule():
    assert found("被告人甲某强奸被害人。", metadata={"accusation": "强奸"})[:2] == (
        None,
        "not_stated",
    )


@pytest.mark.mirror
def test_the_real_files(mirror):
    judgments, _ = read("judge", [mirror / "judge/judge_test_subset.jsonl"])
    counts = count_findings("defendant_gender", judgments)
    # all 240 were compared with the text
    assert sum(n for key, n in counts.items() if key[:2] == ("stated_sex", "male")) == 184
    assert sum(n for key, n in counts.items() if key[:2] == ("stated_sex", "female")) == 18
    assert counts["several_defendants", None, "several_defendants"] == 7
    assert counts["not_stated", None] == 31
    # the facts hardly ever state it
    cases, _ = read("cail2018", sorted((mirror / "cail2018").glob("*.jsonl")))
    counts = count_findings("defendant_gender", cases)
    assert counts["kinship", "male"] == 13 and counts["kinship", "female"] == 4
    assert counts["not_stated", None] == 2429
