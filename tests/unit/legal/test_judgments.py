import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.legal.judgments import articles_in, conclusions, findings, lines_of, parse
from unit.legal.made_judgments import CSS, HEADER, JUDGMENT, LAW, TEXT, flat


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


@pytest.mark.parametrize(
    ("text", "articles"),
    [
        ("of Article 8 of the Convention", ["8"]),
        ("of Article 6 § 1 of the Convention", ["6"]),
        ("of Article 5 para. 4 (art. 5-4) of the Convention", ["5"]),
        ("of Article 5 §§ 1, 2 and 4 of the Convention", ["5"]),
        ("of Article 6 §§ 1 and 3 (c) and (d) of the Convention", ["6"]),
        ("of Articles 8 and 13 of the Convention", ["8", "13"]),
        ("of Articles 3, 5 and 13", ["3", "5", "13"]),
        ("of Article 1 of Protocol No. 1", ["P1-1"]),
        ("of Article 1 of the First Protocol", ["P1-1"]),
        ("of Articles 2 and 3 of Protocol No. 4", ["P4-2", "P4-3"]),
        ("of Article 8 of the Convention and Article 1 of Protocol No. 1", ["8", "P1-1"]),
        ("of Article 14 of the Convention taken in conjunction with Article 8", ["14", "8"]),
        ("of Article 14 in conjunction with Article 1 of Protocol No. 1", ["14", "P1-1"]),
        ("of Article 13 taken together with Articles 3 and 8", ["13", "3", "8"]),
        ("of Article 10 read in the light of Article 9", ["10"]),
        ("of Article 8 in respect of Ms A. and of Article 3 in respect of Mr B.", ["8", "3"]),
        ("of Article 6 in respect of application no. 12/05", ["6"]),
        ("of the Convention", []),
        ("Article 6 § 1, taken alone, and Article 1 of Protocol No. 1", ["6", "P1-1"]),
        ("Article 6 of the Convention, as well as Article 1 of Protocol No. 1", ["6", "P1-1"]),
        ("Article 6 § 1 as regards access and Article 1 of Protocol No. 1", ["6", "P1-1"]),
        ("Article 10 read in the light of Article 9 and section 5", ["10"]),
    ],
)
def test_articles_of_a_finding(text, articles):
    assert articles_in(text) == articles


@pytest.mark.parametrize(
    ("item", "violated", "cleared"),
    [
        ("Holds by six votes to one that there has been a violation of Article 8;", ["8"], []),
        ("Holds, unanimously, that there has been no violation of Article 3;", [], ["3"]),
        ("Holds that there has been a breach of Article 10;", ["10"], []),
        ("Holds that Article 6 § 1 has been violated;", ["6"], []),
        ("Holds that Article 6 § 1 has not been violated;", [], ["6"]),
        ("Holds that there would be a violation of Article 3 if she were expelled;", ["3"], []),
        ("Holds that her removal would violate Article 3;", ["3"], []),
        ("Holds that her removal would not give rise to a violation of Article 3;", [], ["3"]),
        (
            "Holds that his expulsion would, if carried out, entail a breach of Article 3;",
            ["3"],
            [],
        ),
        ("Holds that it would entail, in that event, a violation of Article 3;", ["3"], []),
        ("Holds that the State would be in breach of Article 3 if she were removed;", ["3"], []),
        ("Holds that her removal would not be contrary to Article 3;", [], ["3"]),
        (
            "Holds that there has been a violation of Article 8, and that there would be no"
            " violation of Article 3 if she were removed;",
            ["8"],
            ["3"],
        ),
        ("Holds that the applications disclose a breach of Article 5 § 3;", ["5"], []),
        (
            "Holds that there has been a substantive and procedural violation of Article 2;",
            ["2"],
            [],
        ),
        (
            "Holds that it is not necessary to see whether there was a violation of Article 13;",
            [],
            [],
        ),
        ("Holds that no separate issue arises as to a violation of Article 14;", [], []),
        ("Holds that the finding of a violation of Article 8 is sufficient satisfaction;", [], []),
        ("Declares the complaint under Article 8 admissible;", [], []),
        (
            "Holds that there has been a violation of Article 3; Holds that there has been no"
            " violation of Article 8;",
            ["3"],
            ["8"],
        ),
    ],
)
def test_findings_of_the_operative_part(item, violated, cleared):
    assert findings([item]) == (violated, cleared)


@pytest.mark.parametrize(
    ("sentence", "violated"),
    [
        ("9. There has, accordingly, been a violation of Article 10 of the Convention.", ["10"]),
        ("9. It follows that there has been a violation of Article 1 of Protocol No. 1.", ["P1-1"]),
        ("9. The Court concludes that there has been a violation of Article 8.", ["8"]),
        ("9. The applicant submitted that there had been a violation of Article 8.", []),
        ("9. It must be seen whether there has been a violation of Article 8.", []),
    ],
)
def test_conclusions_of_the_court_only(sentence, violated):
    assert conclusions([sentence])[0] == violated


def test_the_operative_part_in_small_letters():
    text = JUDGMENT.replace("FOR THESE REASONS, THE COURT", "for these reasons, the Court")
    assert findings(parse(lines_of(flat(text))).operative) == (["6"], [])


def test_a_court_at_home_that_gives_its_reasons_ends_nothing():
    text = JUDGMENT.replace("5. She appealed.", "5. For these reasons, the court held, she lost.")
    assert len(facts(text)) == 3 and findings(parse(lines_of(text)).operative) == (["6"], [])
