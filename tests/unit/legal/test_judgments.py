from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evenhand.legal.judgments import articles_in, conclusions, findings, lines_of, parse
from expected import check_expected
from unit.legal.made_judgments import CSS, HEADER, JUDGMENT, LAW, TEXT, changed, flat
from unit.legal.made_records import table


def facts(text):
    return tuple(parse(lines_of(text)).facts)


@pytest.mark.parametrize("form", [str, flat])
def test_the_sections_of_a_judgment(form):
    judgment = parse(lines_of(form(JUDGMENT)))
    assert tuple(judgment.facts) == TEXT
    assert [line[:2] for line in judgment.procedure] == ["1.", "2."]
    assert judgment.header[0].startswith("SECOND SECTION")
    assert "SEPARATE OPINION" not in " ".join([*judgment.rest, *judgment.operative])
    assert findings(judgment.operative) == (["6"], [])
    assert conclusions(judgment.rest) == (["6"], [])


def test_sections_of_other_judgments():
    """Facts (`usual` are those of `TEXT`), the law after them, and findings, as kept."""
    cases = yaml.safe_load((Path(__file__).parent / "judgments.yaml").read_text(encoding="utf-8"))
    lines = []
    for name, judgments in cases.items():
        lines.append(f"## {name}")
        for case in judgments:
            judgment = parse(lines_of(changed(case)))
            usual = tuple(judgment.facts) == TEXT
            lines.append(f"{'usual' if usual else judgment.facts} {judgment.rest[:2]}")
            lines.append(f"{len(judgment.procedure)} {findings(judgment.operative)}")
    check_expected("judgments.txt", "\n".join(lines) + "\n")


def test_a_judgment_without_a_section_on_the_law_has_its_findings():
    judgment = parse(lines_of(JUDGMENT.replace(f"{LAW}\n", "")))
    assert tuple(judgment.facts) == TEXT
    assert findings(judgment.operative) == (["6"], [])


def test_facts_without_numbers_are_lines():
    text = "\n".join((HEADER, "THE FACTS", "She sued.", "She lost.", "THE LAW", "She complained."))
    assert facts(text) == ("She sued.", "She lost.")


def test_a_text_without_sections_has_no_facts():
    assert facts("A letter to the Court.") == ()
    assert facts("") == ()


def test_what_remains_of_markup():
    text = f"\ufeff{CSS}<p>THE FACTS</p><p>1.\u00a0She\u00a0won \u2011 twice&amp;more .</p>"
    assert lines_of(text) == ["THE FACTS", "1. She won-twice&more."]
    assert lines_of("Mr X ( “ the\u00adre ” ) , who") == ["Mr X (“there”), who"]


@given(st.lists(st.text(max_size=30), max_size=20))
def test_lines_are_clean_and_none_is_lost_in_parsing(parts):
    lines = lines_of("\n".join(parts))
    assert all(line == " ".join(line.split()) and line for line in lines)
    judgment = parse(lines)
    kept = " ".join([*judgment.header, *judgment.procedure, *judgment.facts, *judgment.rest])
    assert all(word in kept for line in lines for word in line.split())


@pytest.mark.parametrize(*table("articles", "articles"))
def test_articles_of_a_finding(text, articles):
    assert articles_in(text) == articles


@pytest.mark.parametrize(*table("findings", "violated", "cleared"))
def test_findings_of_the_operative_part(item, violated, cleared):
    assert findings([item]) == (violated, cleared)


@pytest.mark.parametrize(*table("conclusions", "violated"))
def test_conclusions_of_the_court_only(sentence, violated):
    assert conclusions([sentence])[0] == violated
