import warnings

from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.segmentation import Token, cut, token_at

texts = st.text(alphabet="女儿妇童男人们老公正在的，。、“”,1.5年a", min_size=1, max_size=25)

MARKS = set("，。、“”,")


def test_words_are_those_of_jieba_without_the_hidden_model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's own sources give some when first compiled
        import jieba
    text = "妇女儿童的祖父亲手种下了吉他，女人们在老公正要走时来了。"
    assert cut(text) == list(jieba.cut(text, HMM=False))


@given(texts, st.data())
def test_the_word_at_a_place_is_the_one_of_the_whole_text(text, data):
    position = data.draw(st.integers(0, len(text) - 1))
    token = token_at(text, position)
    end, starts = 0, {}
    for word in cut(text):
        starts[end] = word
        end += len(word)
    assert starts[token.start] == token.word
    assert token.start <= position < token.end
    following = starts.get(token.end, "")
    if text[position] not in MARKS:
        assert token.following == ("" if following in MARKS else following)


def test_following_word():
    assert token_at("这些女人们", 2) == Token("女", 2, "人们")
