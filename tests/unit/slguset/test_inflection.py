"""Words that change together with a keyword, by the packs that come with the workflow."""

from functools import cache

import pytest

from evenhand.core.places import ROOT
from evenhand.errors import InputError
from evenhand.slguset.dataset import swap
from evenhand.slguset.find_keywords import SEVERAL, sentence_judge
from evenhand.slguset.inflection import read_inflection
from evenhand.slguset.keywords import read_keywords
from evenhand.slguset.packs import read_pack
from unit.cases import read_cases


@cache
def judge_of(name):
    """The judge of a pack."""
    folder = ROOT / "resources/packs" / name
    files = [*folder.glob("agreement.csv"), *folder.glob("cues.csv")]
    return sentence_judge(
        folder / "keywords.csv", folder / "keyword_words.csv", read_pack(folder), files
    )


@cache
def reader(name):
    """A function that returns the verdict of a sentence, or its counterpart if it is accepted."""
    judge = judge_of(name)

    def read(sentence):
        hit = judge(sentence)
        if hit.verdict != "accepted":
            return hit.verdict
        start = hit.surface_start + hit.surface.offset
        keyword = [(start, start + len(hit.surface.keyword), hit.surface.opposite)]
        return swap(sentence, hit.spans or keyword)

    return read


@pytest.mark.parametrize(("pack", "sentence", "expected"), read_cases(__file__, "inflection"))
def test_words_that_change_together(pack, sentence, expected):
    assert reader(pack)(sentence) == expected


@pytest.mark.parametrize(
    ("pack", "sentence", "verdict", "words"),
    [
        ("en_gender", "The woman met a man.", "several_keywords", "woman、man"),
        ("en_gender", "My sister lent her book to me.", "agreement_unclear", "sister、her"),
        ("en_gender", "Her first trip took her to Spain.", "agreement_unclear", "Her、her"),
        ("de_gender", "Die Mutter und der Mörder kamen.", "agreement_unclear", "Mutter、Mörder"),
    ],
)
def test_the_words_that_cannot_be_exchanged_are_kept(pack, sentence, verdict, words):
    hit = judge_of(pack)(sentence)
    assert (hit.verdict, hit.word) == (verdict, words)
    # the swapped sentence of a rejected one begins with a capital letter too
    written = sentence[hit.surface_start :]
    assert written.startswith(hit.surface.keyword) if hit.surface else verdict == SEVERAL
    assert not hit.surface or hit.surface.opposite[0].isupper() == written[0].isupper()


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


def test_more_than_two_values():
    read = reader("zh_age")
    found = {read(f"一名中年男子在{place}修车。") for place in "路街村城店山海河"}
    assert {one[2:4] for one in found} == {"青年", "老年"}
    assert read("老人家您好。") == "not_a_gender_term"


@pytest.mark.parametrize(
    ("name", "sentence", "counterpart"),
    [
        ("zh_age", "门外站着一位身材高大的老人。", "门外站着一位身材高大的中年人。"),
        ("zh_age", "有个年轻人问路。", "有个中年人问路。"),
        ("zh_age", "老人喜欢早起。", "not_a_gender_term"),
        ("zh_age", "其中一个指着老人说话。", "not_a_gender_term"),
        ("zh_age", "这座城市里，年轻人很多。", "not_a_gender_term"),
        ("zh_region", "她是东北人。", "她是北京人。"),
        ("zh_region", "她讨厌东北人。", "not_a_gender_term"),
    ],
)
def test_of_words_for_groups_only_those_for_single_people_are_taken(name, sentence, counterpart):
    assert reader(name)(sentence) == counterpart
