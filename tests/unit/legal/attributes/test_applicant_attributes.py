"""Birth year, age and gender: sentences of our own in the manner of the Court."""

import importlib
from datetime import date

import pytest

from evenhand.legal.attributes import applicant_birth_year
from evenhand.legal.attributes.applicant_age import age_group
from evenhand.legal.findings import check_evidence
from evenhand.legal.records import Record
from unit.legal.made_records import finder_of

LODGED = (
    "1. The case originated in an application (no. 1/20) against Ukraine lodged with the Court"
    " under Article 34 of the Convention (“the Convention”) by "
)


def find(attribute, *text, procedure=(), judged=date(2010, 6, 1), title=None, **metadata):
    """What is found; its evidence is checked."""
    module = importlib.import_module(f"evenhand.legal.attributes.{attribute}")
    record = Record(
        case_id="c",
        source="f",
        source_position=1,
        date=judged,
        title=title,
        text=text,
        context=procedure,
        given=metadata,
    )
    finding = finder_of(module)(record)
    check_evidence(record, finding)
    return finding


@pytest.mark.parametrize(
    ("text", "year", "rule"),
    [
        ("5. The applicant was born in 1957 and lives in Lviv.", "1957", "applicant_born"),
        ("The applicant was born on 3 March 1957.", "1957", "applicant_born"),
        ("The applicant was born on March 3, 1957.", "1957", "applicant_born"),
        ("The applicant was born in March 1957.", "1957", "applicant_born"),
        ("The applicant was born on 03.04.1957.", "1957", "applicant_born"),
        ("The applicant was born in Kyiv in 1957.", "1957", "applicant_born"),
        ("The applicant was born in St. Petersburg on 3 May 1957.", "1957", "applicant_born"),
        (
            "The applicant was born in the Kazakh SSR (now Kazakhstan) in 1957.",
            "1957",
            "applicant_born",
        ),
        ("The applicant was born as Olha Stara in 1957.", "1957", "applicant_born"),
        ("The applicant was born deaf in June 1957, in Algeria.", "1957", "applicant_born"),
        ("The applicant, O.S., is a Ukrainian born in 1957.", "1957", "applicant_born"),
        ("The applicant, Mr Ivan Novy, who was born in 1957, is ill.", "1957", "applicant_born"),
        (
            "The applicant, who is the daughter of Mr Stary, was born in 1957.",
            "1957",
            "applicant_born",
        ),
        ("The applicant is a judge. She was born in 1957.", "1957", "pronoun_born"),
        (
            "The applicant, who was represented by Mrs O. Stara, was born in 1957.",
            "1957",
            "applicant_born",
        ),
        ("Born in 1957, the applicant lives in Lviv.", "1957", "born_before_applicant"),
        (
            "The applicant and his wife were born in 1957 and 1960 respectively.",
            "1957",
            "applicant_and_relative_born",
        ),
        ("The applicant was born in 1957 and her two sons in 1990 and 1991.", "1957", None),
        ("The applicant was born in 1957. His son was born in 1990.", "1957", "applicant_born"),
        ("The applicant (date of birth: 3.4.1957) lives in Lviv.", "1957", "date_of_birth"),
        ("The applicant was born in 1957 and died in 2005.", "1957", "applicant_born"),
        ("The applicant has two children, born in 1990 and 1992.", None, "no_birth_sentence"),
        ("The applicant's husband was born in 1957.", None, "no_birth_sentence"),
        ("The applicant's son, who was born in 1990, was ill.", None, "no_birth_sentence"),
        ("The applicant met A.B., born in 1957.", None, "no_birth_sentence"),
        ("The applicant gave birth in 1957.", None, "no_birth_sentence"),
        ("A child was born to the applicant in 1990.", None, "no_birth_sentence"),
        ("The applicant was aged 23 in 1990.", None, "no_birth_sentence"),
        ("The applicant was born in Lviv and has lived there since 1990.", None, None),
        ("The applicant was born in 1857.", None, "no_birth_sentence"),
        ("The applicant was born in 2011.", None, "no_birth_sentence"),
        ("The applicants were born in 1957 and 1960.", None, "several_applicants"),
        ("The applicant company was founded in 1957.", None, "legal_person"),
        ("In 1957 a bridge fell.", None, "no_applicant"),
        ("The applicant said: “I was born in 1957 in a village near Lviv.”", None, None),
    ],
)
def test_the_year_of_birth(text, year, rule):
    finding = find("applicant_birth_year", text)
    assert finding.value == year
    assert rule is None or finding.rule == rule
    if year:
        assert year in finding.evidence[0].words


@pytest.mark.parametrize(
    ("facts", "year"),
    [
        ("The applicant was born in Plovdiv and in 1994 moved to Sofia, where he works.", None),
        ("The applicant was born in Minsk and graduated in 1985.", None),
        (
            "The applicant was born in Grozny, fled to Ingushetia in 1999 and now lives in Vienna.",
            None,
        ),
        ("The applicant was born in Baku; in 1990 she and her family left.", None),
        ("The applicant was born in a village near Mardin and was arrested there in 1993.", None),
        ("The applicant was born in Tirana, in 1997 he left for Italy.", None),
        ("The applicant was born in Bosnia and Herzegovina in 1961.", "1961"),
        ("The applicant was born into a family of Jehovah's Witnesses in 1919.", "1919"),
        ("The applicant was born out of wedlock on 4 June 1972 in Graz.", "1972"),
        (
            "The applicant was born Olha Stara in Lviv in 1957 and took her current surname "
            "in 1980.",
            "1957",
        ),
        (
            "The applicant was born as Olha Stara in Lviv. She took her current surname on "
            "marrying in 1980.",
            None,
        ),
        ("The applicant's date of birth is 3 April 1957.", "1957"),
        ("The applicant lives in Lviv. The date of birth of his wife is 4 May 1960.", None),
        (
            "The applicant, who had been granted legal aid, was represented by Ms A. Nova, a "
            "lawyer in Kyiv. He was born in 1957.",
            "1957",
        ),
        ("The applicant, assisted by counsel, Mr Stary, was born in 1957.", "1957"),
        (
            ["The applicant lives in Lviv.", "He was born in Odesa in 1957.", "He is a baker."],
            "1957",
        ),
        ("The applicant lives with his partner, who was born in 1960.", None),
        (
            "The applicant and her long-term partner, Mr Stary, were born in 1957 and 1960 "
            "respectively.",
            "1957",
        ),
        ("The applicant adopted Olha, who was born in 1990.", None),
        ("The applicant was born in 1957. His partner was born in 1960.", "1957"),
        (
            "The applicant, a stateless person born in Latvia, acquired Russian citizenship "
            "in 2001.",
            None,
        ),
        ("The applicant was born in what was then Yugoslavia in 1961.", "1961"),
        ("The applicant was born in Ankara and has worked as a teacher from 1980.", None),
        (
            "The applicant is Mr Ivan Novy. He was born in Lviv, Ukraine, in 1957, and lives "
            "in Kyiv. The applicant's sister, who was born in 1960, lives in Lviv.",
            "1957",
        ),
        ("The applicant, whose son was born in 1990, is a widow.", None),
        ("The applicant said that he was born in 1957.", "1957"),
        (
            "The applicant was born in Split and in the summer of 1991 volunteered for the army.",
            None,
        ),
        (
            (
                "The applicant was born in Turkey and applied for asylum in 2004. She lives in "
                "Lyon. The applicant says that she fled."
            ),
            None,
        ),
        ("The applicant was born and grew up in Kyiv, and in 1992 emigrated to Canada.", None),
        ("The applicant was born in Osijek. In 1991 the applicant left the town.", None),
        (
            (
                "The applicant was born in Riga and, after his studies in Moscow, in 1979 joined "
                "the army."
            ),
            None,
        ),
        ("The applicant, born in Lille, began work at the post office in 1988.", None),
        ("The applicant was born in Aleppo, having left which in 2012 he came to Greece.", None),
        (
            (
                "The applicant was born in the town of Ivano-Frankivsk, in the west of Ukraine, "
                "on 3 May 1961."
            ),
            "1961",
        ),
        ("The applicant was born to Polish parents in Vilnius in 1931.", "1931"),
        ("The applicant was born blind and deaf in 1984.", "1984"),
        ("The applicant was born as Olha Stara and took her current surname in 1980.", None),
        (["Date of birth of the applicant: 3 April 1957.", "The applicant lives in Lviv."], "1957"),
        ("The applicant lives in Lviv; his year of birth is 1957.", "1957"),
        (
            (
                "The applicant, represented by Mr J. Novy, a lawyer practising in Kyiv, was born "
                "in 1957."
            ),
            "1957",
        ),
        (
            (
                "The applicant, who was represented before the Court by Mrs O. Stara, was born in"
                " 1957 and lives in Kyiv."
            ),
            "1957",
        ),
        (
            ["The applicant is a Ukrainian national.", "She was born in 1957 and lives in Lviv."],
            "1957",
        ),
        (["The applicant's neighbour is Mr Stary.", "He was born in 1957."], None),
        ("The applicant and his partner were born in 1957 and 1960 respectively.", "1957"),
        ("The applicant, who lives with her partner, was born in 1957.", "1957"),
        ("The applicant met Olha Stara, born in 1960, at work.", None),
        ("Born in Lviv in 1957, the applicant is a teacher.", "1957"),
        ("The applicant was born in 1957 in Tuzla and came to Austria in 1992.", "1957"),
        (
            (
                "The applicant was born in Algeria, from where her parents brought her to France "
                "in 1963."
            ),
            None,
        ),
        ("The applicant was born prematurely in June 2001 in Porto.", "2001"),
        ("The applicant was born in Ankara and studied law, qualifying in 1980.", None),
        (
            ("A daughter was born to the applicant in 1990. The applicant brought her up alone."),
            None,
        ),
        ("The applicant (born in 1957) is a widow.", "1957"),
        (
            (
                "The applicant is a Russian national who was born in the Sverdlovsk Region of the"
                " former USSR on 1 January 1957."
            ),
            "1957",
        ),
        ("The applicant was born in Chechnya and by 1999 owned a shop there.", None),
        ("Mr Stary, the applicant's father, was born in 1930. She was born in 1957.", "1957"),
        ("The applicant is the widow of Mr Stary, who was born in 1930.", None),
        ("The applicant's husband was ill. He was born in 1950.", None),
        ("The applicant is the mother of a boy, T. She was born in 1957.", "1957"),
        ("The applicant has two children and a friend, T. He was born in 1960.", None),
        ("The applicant has two children. He was born in 1957.", "1957"),
        ("The applicant, then a student, moved to Kyiv. He was born in 1957.", "1957"),
    ],
)
def test_the_year_is_that_of_the_birth(facts, year):
    """No other clause lies between "born" and the year, and the applicant is who was born."""
    facts = [facts] if isinstance(facts, str) else facts
    assert find("applicant_birth_year", *facts).value == year


def test_the_year_may_stand_in_the_procedure():
    clause = LODGED + "Mrs Olha Nova, a Ukrainian national born in 1957 (“the applicant”)."
    finding = find("applicant_birth_year", "The applicant lives in Lviv.", procedure=(clause,))
    assert (finding.value, finding.rule) == ("1957", "introduced_born")
    clause = LODGED + "Mrs Olha Nova (“the applicant”), who was born in 1957."
    finding = find("applicant_birth_year", "The applicant lives in Lviv.", procedure=(clause,))
    assert (finding.value, finding.evidence[0].part) == ("1957", "context")


def test_another_year_is_told():
    text = (
        "The applicant was born in 1957.",
        "Later the applicant said that she was born in 1960.",
    )
    finding = find("applicant_birth_year", *text)
    assert (finding.value, finding.flags) == ("1957", ("several_years",))


def test_the_procedure_names_whom_the_facts_call_by_name():
    procedure = [LODGED + "a Pole, Mrs Anna Nowa (“the applicant”), on 2 May 2000."]
    facts = "Mrs Anna Nowa is a Polish national who was born in 1957."
    assert find("applicant_birth_year", facts, procedure=procedure).value == "1957"


def test_older_judgments_call_people_by_name():
    text = ("Mr Novy, a Ukrainian citizen, was born in 1957.", "He met Mr Stary, born in 1960.")
    assert find("applicant_birth_year", *text, title="CASE OF NOVY v. UKRAINE").value == "1957"
    assert find("applicant_gender", *text).rule == "title_with_name"


@pytest.mark.parametrize(
    ("told", "year"), [("1957", "1957"), ("1957.0", "1957"), ("n/a", None), ("0", None)]
)
def test_a_year_that_the_source_gives(told, year):
    finding = find("applicant_birth_year", "The applicant.", applicant_birth_year=told)
    assert (finding.value, finding.rule) == (year, "given_by_source")
    finding = find("applicant_birth_year", "The applicant.", applicant_birth_year="1880")
    assert (finding.value, finding.rule) == (None, "given_impossible")


@pytest.mark.parametrize(
    ("age", "group"), [(0, "<=35"), (35, "<=35"), (36, "<=65"), (65, "<=65"), (66, ">65")]
)
def test_age_groups(age, group):
    assert age_group(age) == group
    finding = find("applicant_age", f"The applicant was born in {2010 - age}.")
    assert (finding.value, finding.rule) == (group, "applicant_born")


def test_no_age():
    with pytest.raises(ValueError, match="-1 is no age"):
        age_group(-1)
    finding = find("applicant_age", "The applicant was born in 1957.", judged=None)
    assert (finding.value, finding.rule) == (None, "no_judgment_date")
    assert find("applicant_age", "The applicants were born in 1957.").rule == "several_applicants"


@pytest.mark.parametrize(("told", "group"), [("2", "<=65"), ("0", None), (">65", ">65")])
def test_an_age_that_the_source_gives(told, group):
    assert find("applicant_age", "x", applicant_age=told).value == group
    assert find("applicant_age", "x", applicant_birth_year="1957").value == "<=65"


@pytest.mark.parametrize(
    ("introduced", "gender"),
    [
        ("a Ukrainian national, Mr Ivan Novy (“the applicant”), on 5 May 2009.", "male"),
        ("a Ukrainian national, Ms O.N. (“the applicant”), on 5 May 2009.", "female"),
        ("Princess Olha of Lviv (“the applicant”), on 5 May 2009.", "female"),
        ("Dr Olha Nova (“the applicant”), on 5 May 2009.", None),
        ("Mr Ivan Novy on behalf of his daughter Olha (“the applicant”).", None),
        ("Ms Olha Nova on her own behalf (“the applicant”).", "female"),
        ("a Ukrainian national, Olha Nova (“the applicant”), on 5 May 2009.", None),
    ],
)
def test_the_title_in_the_procedure(introduced, gender):
    finding = find("applicant_gender", "The applicant is ill.", procedure=(LODGED + introduced,))
    assert (finding.value, finding.rule == "title_in_procedure") == (gender, gender is not None)


@pytest.mark.parametrize(
    ("text", "gender", "rule"),
    [
        ("The applicant, Mr Ivan Novy, is a Ukrainian.", "male", "title_in_facts"),
        ("The court heard the applicant, Mrs S., Mrs C. and others.", None, None),
        ("The applicant said that she was ill. The applicant lost her job.", "female", "pronouns"),
        ("The applicant said that he was ill.", "male", "one_pronoun"),
        ("The applicant told A.B. that he was ill.", None, "no_gendered_word"),
        ("The judge told the applicant that she had to go.", None, "no_gendered_word"),
        ("The applicant met his lawyer. The applicant met her doctor.", None, "pronouns_differ"),
        ("The applicant gave birth in 2001.", "female", "gave_birth"),
        ("The applicant (born in 1957) is a widow.", "female", "predicate"),
        ("The applicant was the father of A.B.", "male", "predicate"),
        ("The applicant is the mayor of Lviv.", None, "no_gendered_word"),
        ("The applicant's wife was ill.", "male", "spouse"),
        ("The applicant's husband was ill.", "female", "spouse"),
        ("The applicant's spouse was ill.", None, "no_gendered_word"),
        ("The applicant may appeal if he or she wants to.", None, "no_gendered_word"),
        ("The applicant said “my husband told me that she would never come back”.", None, None),
        ("The applicant's house is old. He sold it.", "male", "far_pronoun"),
        ("The applicant has a son. He sold it.", None, "no_gendered_word"),
        ("The applicant has a son. She sold it.", "female", "far_pronoun"),
        ("The applicant was represented by her mother.", "female", "one_pronoun"),
        ("The applicant's house is old. On 3 May 2001 she sold it.", "female", "far_pronoun"),
        ("The applicant, a businesswoman from Lviv, is ill.", "female", "predicate"),
        ("The applicant is the child's mother.", "female", "predicate"),
        ("The applicant is a human.", None, "no_gendered_word"),
        ("The applicant, a German national, is ill.", None, "no_gendered_word"),
        ("The applicant is ill. The medical adviser gave his opinion.", None, "no_gendered_word"),
        ("The applicant's house is old. He sold it. Her friend left.", None, None),
        ("The applicants are brothers; he is ill and she is not.", None, "several_applicants"),
        ("The applicant company lost its case; he wept.", None, "legal_person"),
    ],
)
def test_the_gender_in_the_facts(text, gender, rule):
    finding = find("applicant_gender", text)
    assert finding.value == gender
    assert rule is None or finding.rule == rule


def test_the_pronoun_of_the_court_where_gender_is_the_case():
    clause = LODGED + "a Ukrainian national, Ms O.N. (“the applicant”), on 5 May 2009."
    facts = ["The applicant said that he was ill.", "The applicant lost his job."]
    finding = find("applicant_gender", *facts, procedure=(clause,))
    assert (finding.value, finding.rule) == ("female", "title_in_procedure")
    assert finding.flags == ("title_and_pronouns_differ",)
    facts.insert(0, "The applicant is a transgender person.")
    finding = find("applicant_gender", *facts, procedure=(clause,))
    assert (finding.value, finding.rule) == ("male", "pronouns")
    assert finding.flags == ("title_and_pronouns_differ",)


@pytest.mark.parametrize(("told", "gender"), [("1", "male"), ("0", None), ("Female", "female")])
def test_a_gender_that_the_source_gives(told, gender):
    finding = find("applicant_gender", "x", applicant_gender=told)
    assert (finding.value, finding.rule) == (gender, "given_by_source")


@pytest.mark.parametrize("attribute", ["applicant_birth_year", "applicant_age", "applicant_gender"])
def test_nobody_has_attributes_where_several_or_a_company_apply(attribute):
    born = "The applicant was born in 1957. He lives in Lviv, and he is ill."
    for title in ("CASE OF NOVY AND OTHERS v. UKRAINE", "CASE OF NOVY AND STARA v. UKRAINE"):
        assert find(attribute, born, title=title).rule == "several_applicants"
    clause = LODGED + "Novy Ltd (“the applicant company”), owned by Mr Ivan Novy."
    assert find(attribute, born, procedure=(clause,)).rule == "legal_person"


def test_the_title_is_that_of_the_person_whom_the_case_is_named_after():
    clause = LODGED + "Mr Veli Çınar and Mrs Işıl Yıldız, Turkish nationals (“the applicant”)."
    finding = find("applicant_gender", "A.", procedure=(clause,), title="CASE OF YILDIZ v. TURKEY")
    assert (finding.value, finding.evidence[0].words) == ("female", "Mrs Işıl Yıldız")
    facts = "Mr İnan, a Turkish citizen, was born in 1950."
    assert find("applicant_birth_year", facts, title="CASE OF INAN v. TURKEY").value == "1950"


def test_a_pronoun_of_the_next_paragraph_and_one_after_a_representative():
    facts = ("1. The applicant lives in Lviv.", "2. He is a baker.", "3. He met Mr Stary.")
    assert find("applicant_gender", *facts).rule == "pronouns"
    facts = ("1. The applicant's neighbour is Mr Stary.", "2. He is a baker.")
    assert find("applicant_gender", *facts).value is None
    facts = "The applicant was represented by Ms A. Nova, a lawyer in Lviv. He is a baker."
    assert find("applicant_gender", facts).value == "male"


def test_rules_and_confidences():
    assert all(0 < one <= 1 for one in applicant_birth_year.CONFIDENCE.values())


@pytest.mark.mirror
def test_the_real_judgments(mirror):
    """Counts only: how many judgments of the texts get a value, by what was counted by hand."""
    from unit.legal.made_records import read

    records, _ = read("hudoc_text", [mirror / "ecthr" / "rmu_echr_txt.tar.gz"])
    known = {}
    for attribute in ("applicant_birth_year", "applicant_gender", "defendant_state"):
        module = importlib.import_module(f"evenhand.legal.attributes.{attribute}")
        findings = [*map(finder_of(module), records)]
        for record, finding in zip(records, findings, strict=True):
            check_evidence(record, finding)
        known[attribute] = sum(finding.value is not None for finding in findings)
    assert known == {
        "applicant_birth_year": 125,
        "applicant_gender": 138,
        "defendant_state": len(records),
    }
