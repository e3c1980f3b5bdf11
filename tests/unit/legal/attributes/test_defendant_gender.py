import pytest

from unit.legal.made_records import count_findings, find, read, table


def found(*text, **values):
    """Return value, rule and flags."""
    finding = find("defendant_gender", *text or ["案情。"], **values)
    assert finding.evidence or finding.value is None
    return finding.value, finding.rule, finding.flags


HEADER = "乙县人民法院 刑事判决书 （2017）湘1234刑初5号 公诉机关乙县人民检察院。"
END = "乙县人民检察院指控被告人甲某犯盗窃罪，向本院提起公诉。现已审理终结。"


@pytest.mark.parametrize(*table("defendants"))
def test_stated_in_the_header(defendant, gender):
    context = (HEADER, defendant, "辩护人丙某，女，某律师事务所律师。", END)
    assert found(context=context) == (gender, "stated_sex", ())


@pytest.mark.parametrize(*table("defendant_facts"))
def test_facts(text, gender, rule):
    assert found(text, metadata={"criminals": "甲某"})[:2] == (gender, rule)
    assert found(text)[:2] == (gender, rule)


@pytest.mark.parametrize(*table("other_facts"))
def test_facts_about_others(text):
    assert found(text, metadata={"criminals": "甲某"})[:2] == (None, "not_stated")


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
