from pathlib import Path

import pytest

from evenhand.core.places import ROOT
from evenhand.errors import InputError
from evenhand.slguset.find_keywords import read_word_rules
from evenhand.slguset.inflection import read_inflection
from evenhand.slguset.keywords import read_keywords
from evenhand.slguset.packs import read_pack, with_pack
from evenhand.slguset.patterns import read_patterns

PACKS = sorted((ROOT / "resources/packs").iterdir())


@pytest.mark.parametrize("folder", PACKS, ids=lambda folder: folder.name)
def test_each_pack_can_be_read(folder):
    pack = read_pack(folder)
    assert folder.name == f"{pack['language']}_{pack['attribute']}"
    table = read_keywords(folder / "keywords.csv", pack["values"])
    assert {one.value for one in table.surfaces.values()} == {*pack["values"]}
    read_word_rules(folder / "keyword_words.csv", table)
    read_inflection([*folder.glob("agreement.csv"), *folder.glob("cues.csv")], pack["values"])
    for name in ("biology", "coreference", "pair_fit"):
        for path in folder.glob(f"{name}.csv"):
            read_patterns(path, pack["attribute"], pack["values"])
    assert pack["filters"] or pack["loses"]


def test_a_pack_gives_what_the_configuration_leaves_open():
    default = str(ROOT / "resources/packs/zh_gender")
    written = {"slguset": {"find_keywords": {"max_length": 50}}}
    added = with_pack(written, default)["slguset"]
    assert added["filters"] == read_pack(Path(default))["filters"]
    assert added["find_keywords"]["max_length"] == 50
    chosen = {"slguset": {"filters": ["biology"]}}
    assert with_pack(chosen, default)["slguset"]["filters"] == ["biology"]
    assert with_pack({"slguset": 3}, default) == {"slguset": 3}


def test_a_folder_without_a_pack_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no pack"):
        read_pack(tmp_path)
    (tmp_path / "pack.yaml").write_text("title: x\nattribute: Gender\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"pack\.yaml"):
        read_pack(tmp_path)
