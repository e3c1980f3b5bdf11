from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.sentences import Piece, marked, pieces


def test_keyword_and_evidence_are_marked():
    assert pieces("姐妹说他来了，姐妹也来。", 3, 4, "姐妹", "male") == [
        Piece("姐妹", "evidence"),
        Piece("说"),
        Piece("他", "keyword male"),
        Piece("来了，"),
        Piece("姐妹", "evidence"),
        Piece("也来。"),
    ]


def test_several_words_of_evidence_and_one_that_is_not_there():
    assert pieces("甲乙丙", evidence="丙、丁、甲") == [
        Piece("甲", "evidence"),
        Piece("乙"),
        Piece("丙", "evidence"),
    ]


def test_the_keyword_wins_over_evidence():
    assert pieces("女人来", 0, 1, "女人") == [
        Piece("女", "keyword"),
        Piece("人", "evidence"),
        Piece("来"),
    ]


def test_the_surface_word_is_marked_where_there_is_one():
    row = {"sentence": "男人来", "start": 0, "end": 1, "surface_start": 0, "surface_end": 2}
    assert marked(row)[0] == Piece("男人", "keyword")
    assert marked(row | {"surface_start": None})[0] == Piece("男", "keyword")


@given(
    st.text(alphabet="甲乙丙、", max_size=12), st.integers(-2, 14), st.integers(-2, 14),
    st.text(alphabet="甲乙、", max_size=5),
)  # fmt: skip
def test_the_pieces_joined_are_the_sentence(sentence, start, end, evidence):
    cut = pieces(sentence, start, end, evidence)
    assert "".join(piece.text for piece in cut) == sentence
    assert all(a.kind != b.kind for a, b in pairwise(cut))
