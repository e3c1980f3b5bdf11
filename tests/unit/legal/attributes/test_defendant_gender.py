import pytest

from evenhand.errors import InputError
from unit.legal.made_records import count_findings, find, read


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


@pytest.mark.parametrize(
    ("defendant", "gender"),
    [
        ("被告人甲某，男，1990年1月1日出生，汉族。", "male"),
        ("被告人甲某（曾用名“甲乙”、甲丙），女，1990年出生。", "female"),
        ("被告人：甲某，曾用名：甲乙，又名甲丁，男。", "male"),
        ("被告人自报甲某，汉族，女。", "female"),
        ("上诉人（原审被告人）甲某，男，1990年生。", "male"),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "gender", "rule"),
    [
        ("被告人甲某（女，30岁）到被害人家中。", "female", "stated_in_facts"),
        ("被告人甲某及其妻子乙某到场。", "male", "kinship"),
        ("被告人甲某伙同其前夫乙某盗窃。", "female", "kinship"),
        ("被告人甲某的丈夫报了警。", "female", "kinship"),
        ("被害人到其前夫被告人甲某的住处。", "male", "kinship"),
        ("被告人甲某正处于哺乳期。", "female", "pregnancy"),
        ("被告人甲某与其妻乙某争吵；被告人甲某及其男友逃走。", None, "contradiction"),
    ],
)
def test_facts(text, gender, rule):
    assert found(text, metadata={"criminals": "甲某"})[:2] == (gender, rule)
    assert found(text)[:2] == (gender, rule)


@pytest.mark.parametrize(
    "text",
    [
        "被告人甲某将被害人乙某（女，10岁）打伤。",
        "被告人甲某与被害人乙某及其妻子争吵。",
        "被告人甲某某的妻子报了警。",  # another person
        "被告人甲某2及其丈夫到场。",
        "被害人乙某将其女儿甲某的手机交给民警。",  # a name, but no defendant
        "被告人甲某提供伪造的怀孕报告。",
        "被告人甲某殴打怀孕的乙某，她报了警。",
        "被告人甲某侵犯他人财产。",
    ],
)
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
