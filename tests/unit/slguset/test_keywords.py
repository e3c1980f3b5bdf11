import re

import pytest

from evenhand.errors import InputError
from evenhand.slguset.keywords import read_keywords

HEADER = "pair,male,female,surface_male,surface_female\n"


def read(tmp_path, rows):
    path = tmp_path / "keywords.csv"
    path.write_text(HEADER + rows, encoding="utf-8")
    return read_keywords(path)


def test_our_table_holds_19_surface_pairs_in_12_mask_pairs(repository):
    keywords = read_keywords(repository / "resources/packs/zh_gender/keywords.csv")
    assert len(keywords.surfaces) == 38
    assert len(keywords.pair_names()) == 12
    assert keywords.pair_names()[0] == "男/女"


def test_the_keyword_is_where_the_surfaces_differ(tmp_path):
    keywords = read(
        tmp_path, "爷/姥,爷,姥,姥爷,姥姥\n公/婆,公,婆,老公,老婆\n父/母,父,母,父亲,母亲\n"
    )
    assert [s.offset for s in keywords.surfaces.values()] == [1, 1, 1, 1, 0, 0]
    grandmother = keywords.surfaces["姥姥"]
    assert (grandmother.keyword, grandmother.opposite, grandmother.value) == ("姥", "爷", "female")
    assert grandmother.surface_opposite == "姥爷"


def test_the_longest_surface_is_found(tmp_path):
    keywords = read(tmp_path, "男/女,男,女,男,女\n儿子/女儿,儿子,女儿,儿子,女儿\n")
    assert keywords.pattern.findall("女和女儿") == ["女", "女儿"]
    found = keywords.surfaces["女儿"]
    assert keywords.shorter(found, 1, "妇女儿童", 2) == keywords.surfaces["女"]
    assert keywords.shorter(keywords.surfaces["儿子"], 0, "儿子", 1) is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "holds no pair"),
        ("男/女,男,女,男,男\n", "男 has itself as its opposite"),
        ("男/女,男,女,男人,女生\n", "男人 does not become 女生"),
        ("他/她,男,女,男,女\n", "the pair is not 男/女"),
        ("公/婆,公,婆,公老,婆老\n男/女,男,女,老男,老女\n男/女,男,女,老男,女老\n", ":4: "),
        ("男/女,男,女,男,女\n父/女,父,女,父,女\n", "the surface 女 stands there twice"),
    ],
)
def test_a_table_that_cannot_be_right_is_an_error(tmp_path, rows, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(tmp_path, rows)
