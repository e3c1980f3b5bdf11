"""Words that change together with a keyword, by the packs that come with the workflow."""

import pytest

from evenhand.core.places import ROOT
from evenhand.errors import InputError
from evenhand.slguset.find_keywords import sentence_judge
from evenhand.slguset.inflection import read_inflection
from evenhand.slguset.keywords import read_keywords
from evenhand.slguset.packs import read_pack
from evenhand.slguset.swap import swap


def reader(name):
    """A function that returns the verdict of a sentence, or its counterpart if it is accepted."""
    folder = ROOT / "resources/packs" / name
    files = [*folder.glob("agreement.csv"), *folder.glob("cues.csv")]
    judge = sentence_judge(
        folder / "keywords.csv", folder / "keyword_words.csv", read_pack(folder), files
    )

    def read(sentence):
        hit = judge(sentence)
        if hit.verdict != "accepted":
            return hit.verdict
        start = hit.surface_start + hit.surface.offset
        keyword = [(start, start + len(hit.surface.keyword), hit.surface.opposite)]
        return swap(sentence, hit.spans or keyword)

    return read


@pytest.fixture(scope="module")
def english():
    return reader("en_gender")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The waitress forgot her coat.", "The waiter forgot his coat."),
        ("We gave him his money.", "We gave her her money."),
        ("I told her about it.", "I told him about it."),
        ("The red book is hers.", "The red book is his."),
        ("She hurt herself.", "He hurt himself."),
        ("They watched her dance.", "agreement_unclear"),
        ("We gave her flowers.", "agreement_unclear"),
        ("His sister came.", "several_keywords"),
        ("She spoke with another woman.", "several_keywords"),
        ("The theme is here.", "no_keyword"),
    ],
)
def test_english_pronouns(english, sentence, expected):
    assert english(sentence) == expected


def test_tables_that_cannot_be_right(tmp_path):
    for name, text, message in (
        ("agreement.csv", "role,a,b,features\nverb,x,y,\n", "the role is 'verb'"),
        ("agreement.csv", "role,a,b,features\nanywhere,x,y,nom\n", "'nom' is no feature"),
        ("cues.csv", "place,words,for,features\nbehind,x,,use=a\n", "the place is 'behind'"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_inflection([tmp_path / name], ["a", "b"])
    table = tmp_path / "keywords.csv"
    table.write_text("male,female,features\nhe,she,nom\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"keywords.csv:2: 'nom' is no feature"):
        read_keywords(table)


@pytest.fixture(scope="module")
def german():
    return reader("de_gender")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Der junge Arzt vergaß seinen Mantel.", "Die junge Ärztin vergaß ihren Mantel."),
        ("Ich sah den alten Nachbarn.", "Ich sah die alte Nachbarin."),
        ("Das Auto des Lehrers ist rot.", "Das Auto der Lehrerin ist rot."),
        ("Für den Kunden ist das gut.", "Für die Kundin ist das gut."),
        ("Sie geht mit ihrem Hund nach Hause.", "Er geht mit seinem Hund nach Hause."),
        ("Eine erfahrene Köchin hilft mir.", "Ein erfahrener Koch hilft mir."),
        ("Sie gehen nach Hause.", "agreement_unclear"),
        ("Gestern sah die Ärztin krank aus.", "agreement_unclear"),
        ("Die Köchin nahm die Suppe und kostete sie.", "agreement_unclear"),
        ("Der Tisch ist alt, und er wackelt.", "agreement_unclear"),
        ("Der Arzt half der Patientin.", "several_keywords"),
    ],
)
def test_german_phrases(german, sentence, expected):
    assert german(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("彼は彼の車で来た。", "彼女は彼女の車で来た。"),
        ("その男は黙っていた。", "その女は黙っていた。"),
        ("彼らは帰った。", "not_a_gender_term"),
        ("彼岸花が咲いた。", "not_a_gender_term"),
        ("兄と妹が来た。", "several_keywords"),
    ],
)
def test_japanese_words(sentence, expected):
    pytest.importorskip("sudachidict_core")
    assert reader("ja_gender")(sentence) == expected


def test_more_than_two_values():
    read = reader("zh_age")
    found = {read(f"一名中年男子在{place}修车。") for place in "路街村城店山海河"}
    assert {one[2:4] for one in found} == {"青年", "老年"}
    assert read("老人家您好。") == "not_a_gender_term"
