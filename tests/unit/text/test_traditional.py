import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.traditional import in_script_of, matching_form, simplified, traditional


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("他看著媽媽，接著說她們後來瞭解爺爺。", "他看着妈妈，接着说她们后来了解爷爷。"),
        (
            "著名的著作，土著，著書立說；看著書，隨著作品",
            "著名的著作，土著，著书立说；看着书，随着作品",
        ),
        ("乾杯，乾隆，乾安县，扭轉乾坤，餅乾", "干杯，乾隆，乾安县，扭转乾坤，饼干"),
        ("答覆，覆蓋，鍛鍊，項鍊，藉口，慰藉，瞭望", "答复，覆盖，锻炼，项链，借口，慰藉，瞭望"),
        ("衞生署説裏面爲空，妳和牠，姊姊", "卫生署说里面为空，你和它，姐姐"),
        ("彼女は学校で働いている。", "彼女は学校で働いている。"),
    ],
)
def test_the_simplified_form(text, plain):
    assert simplified(text) == plain


def test_simplified_text_stays_as_it_is():
    """Of the characters of GB 2312, only variants that Simplified text hardly has are converted."""
    rows = range(0xB0, 0xF8)
    codes = bytes(b for row in rows for cell in range(0xA1, 0xFF) for b in (row, cell))
    characters = codes.decode("gb2312", "ignore")
    changed = [a for a, b in zip(characters, simplified(characters), strict=True) if a != b]
    assert "".join(changed) == "藉乾著菸捱摺後徵夥甯姊於麴麽"


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x9FFF), max_size=40))
def test_the_simplified_form_is_as_long(text):
    assert len(simplified(text)) == len(text)


def test_the_simplified_form_stays_the_same():
    characters = "".join(map(chr, range(0x20, 0xA000)))
    for by_context in "著乾徵覆藉瞭鍊彷":  # 迴覆
        once = simplified(by_context.join(characters))
        assert simplified(once) == once


def test_words_follow_the_script_of_their_sentence():
    assert traditional("爷爷和父亲的孙女儿，姐姐、小伙子") == "爺爺和父親的孫女兒，姐姐、小伙子"
    assert in_script_of("爸爸在家裡。", "妈妈") == "媽媽"
    assert in_script_of("爸爸说妳们好。", "妈妈") == "妈妈"
    assert in_script_of("爸爸很好。", "妈妈") == "妈妈"


def test_only_chinese_text_is_converted():
    assert matching_form("zh-TW")("媽媽") == "妈妈"
    assert matching_form("ja")("母親") == "母親"
