import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.legal.judgments import articles_in, conclusions, findings, lines_of, parse
from unit.legal.made_judgments import CSS, HEADER, JUDGMENT, LAW, TEXT, flat
from unit.legal.made_records import table


def facts(text):
    return tuple(parse(lines_of(text)).facts)


@pytest.mark.parametrize("form", [str, flat])
def test_the_sections_of_a_judgment(form):
    judgment = parse(lines_of(form(JUDGMENT)))
    assert tuple(judgment.facts) == TEXT
    assert [line[:2] for line in judgment.procedure] == ["1.", "2."]
    assert judgment.stopped == "II. RELEVANT DOMESTIC LAW AND PRACTICE"
    assert "A. The first proceedings" in judgment.headings
    assert judgment.header[0].startswith("SECOND SECTION")
    assert "SEPARATE OPINION" not in " ".join([*judgment.rest, *judgment.operative])
    assert findings(judgment.operative) == (["6"], [])
    assert conclusions(judgment.rest) == (["6"], [])


def test_no_line_of_the_law_is_among_the_facts():
    for form in (str, flat):
        assert not set(facts(form(JUDGMENT))) & set(LAW.split("\n"))


def test_a_flat_text_and_lines_give_the_same_facts():
    assert facts(JUDGMENT) == facts(flat(JUDGMENT)) == TEXT


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("THE FACTS\n", "AS TO THE FACTS\n"),
        ("THE FACTS\n", "FACTS\n"),
        ("THE FACTS\nI. THE CIRCUMSTANCES", "THE FACTS\nI. Particular circumstances"),
        ("PROCEDURE\n", "INTRODUCTION\n"),
        ("THE FACTS\nI. THE CIRCUMSTANCES OF THE CASE\n", "SUBJECT MATTER OF THE CASE\n"),
        ("II. RELEVANT DOMESTIC LAW AND PRACTICE", "II. Relevant domestic law"),
        ("II. RELEVANT DOMESTIC LAW AND PRACTICE", "RELEVANT LEGAL FRAMEWORK"),
        ("II. RELEVANT DOMESTIC LAW AND PRACTICE", "B. Relevant domestic law and practice"),
        ("II. RELEVANT DOMESTIC LAW AND PRACTICE", "II. DOMESTIC LAW"),
        ("II. RELEVANT DOMESTIC LAW AND PRACTICE", "PROCEEDINGS BEFORE THE COMMISSION"),
        ("II. RELEVANT DOMESTIC LAW AND PRACTICE\n6. The Civil Code says who owns a wall.\n", ""),
    ],
)
def test_headings_of_all_times(old, new):
    assert old in JUDGMENT
    assert facts(JUDGMENT.replace(old, new)) == TEXT


@pytest.mark.parametrize(
    "heading", ["Relevant facts", "Relevant proceedings", "The relevant press"]
)
def test_headings_that_are_facts(heading):
    assert facts(JUDGMENT.replace("A. The first proceedings", f"A. {heading}")) == TEXT


def test_a_heading_at_the_end_of_a_paragraph_of_a_flat_text():
    text = JUDGMENT.replace("II. RELEVANT DOMESTIC LAW AND PRACTICE", "Relevant domestic law")
    judgment = parse(lines_of(flat(text)))
    assert tuple(judgment.facts) == TEXT and judgment.stopped == "Relevant domestic law"


@pytest.mark.parametrize(
    "heading", ["II. RELEVANT DOMESTIC LAW", "RELEVANT LEGAL FRAMEWORK AND PRACTICE"]
)
@pytest.mark.parametrize(
    "after", [" ...", " A. The Civil Code 6. It says who owns a wall." + " x" * 99]
)
def test_a_heading_on_the_law_that_shares_its_line(heading, after):
    old = "II. RELEVANT DOMESTIC LAW AND PRACTICE"
    judgment = parse(lines_of(JUDGMENT.replace(old, heading + after)))
    assert tuple(judgment.facts) == TEXT and heading.startswith(judgment.stopped)


@pytest.mark.parametrize(
    "begin",
    [
        "The relevant provisions of the Civil Code",
        "Section 3(2) of the Walls Act provides that they",
        "For the relevant provisions, see above. They",
        "Under Article 9 of the Constitution they",
    ],
)
def test_law_whose_heading_was_lost(begin):
    law = f"6. {begin} stand.\n7. Directive 1/2 is on walls."
    heading = "II. RELEVANT DOMESTIC LAW AND PRACTICE\n6. The Civil Code says who owns a wall."
    renumbered = JUDGMENT.replace("7. The applicant comp", "8. The applicant comp")
    judgment = parse(lines_of(renumbered.replace(heading, law)))
    assert tuple(judgment.facts) == TEXT
    assert judgment.rest[:2] == law.split("\n")


def test_a_judgment_without_a_section_on_the_law_has_its_findings():
    judgment = parse(lines_of(JUDGMENT.replace(f"{LAW}\n", "")))
    assert tuple(judgment.facts) == TEXT
    assert findings(judgment.operative) == (["6"], [])


def test_a_provision_among_the_facts_is_no_law_section():
    more = "6. Under Article 9 of the Code the court fined her.\n7. The applicant paid in full."
    heading = "II. RELEVANT DOMESTIC LAW AND PRACTICE\n6. The Civil Code says who owns a wall."
    renumbered = JUDGMENT.replace("7. The applicant comp", "8. The applicant comp")
    assert facts(renumbered.replace(heading, more)) == (*TEXT, *more.split("\n"))


def test_a_table_of_contents_is_no_judgment():
    contents = "THE FACTS\nI. THE CIRCUMSTANCES OF THE CASE\nTHE LAW\n"
    text = JUDGMENT.replace("PROCEDURE\n", f"{contents}PROCEDURE\n")
    assert facts(text) == facts(flat(text)) == TEXT


def test_a_lost_number_leaves_the_row_whole():
    text = JUDGMENT.replace("4. On 4 June", "On 4 June")
    assert len(facts(text)) == 2 and facts(text)[1] == TEXT[2]


def test_facts_without_numbers_are_lines():
    text = "\n".join((HEADER, "THE FACTS", "She sued.", "She lost.", "THE LAW", "She complained."))
    assert facts(text) == ("She sued.", "She lost.")


def test_numerals_on_lines_of_their_own():
    assert (
        facts(JUDGMENT.replace("I. THE CIRC", "I.\nTHE CIRC").replace("3. The", "3.\nThe")) == TEXT
    )


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


def test_the_operative_part_in_small_letters():
    text = JUDGMENT.replace("FOR THESE REASONS, THE COURT", "for these reasons, the Court")
    assert findings(parse(lines_of(flat(text))).operative) == (["6"], [])


def test_a_court_at_home_that_gives_its_reasons_ends_nothing():
    text = JUDGMENT.replace("5. She appealed.", "5. For these reasons, the court held, she lost.")
    assert len(facts(text)) == 3 and findings(parse(lines_of(text)).operative) == (["6"], [])
