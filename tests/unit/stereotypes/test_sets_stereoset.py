import copy
import gzip
import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stereotypes.sets.stereoset import form, read, read_json


def cluster(name="c1", context="The nurse is BLANK.", target="nurse", votes=None):
    texts = {"stereotype": "kind", "anti-stereotype": "rude", "unrelated": "paper"}
    sentences = []
    for number, (label, word) in enumerate(texts.items()):
        sentence = {"id": f"{name}-{number}", "sentence": f"It is {word}.", "gold_label": label}
        if votes and label == "stereotype":
            sentence["labels"] = [{"label": vote, "human_id": "h"} for vote in votes]
        sentences.append(sentence)
    return {
        "id": name,
        "target": target,
        "bias_type": "profession",
        "context": context,
        "sentences": sentences,
    }


INTER = cluster("c2", "He is a baker.", "baker")


def original(intra=None, inter=None):
    return {"version": "1.0", "data": {"intrasentence": intra or [], "intersentence": inter or []}}


def relaid(*clusters):
    lists = {"anti-stereotype": [], "stereotype": [], "unrelated": []}
    for one in clusters:
        shared = {key: one[key] for key in ("id", "target", "bias_type", "context")}
        for sentence in one["sentences"]:
            record = shared | {"sentence": sentence["sentence"], "label": 0}
            lists[sentence["gold_label"]].insert(0, record)  # the lists have orders of their own
    return lists


@pytest.fixture
def file(tmp_path):
    return tmp_path / "dev.json"


def rows(file, document, part="intrasentence"):
    file.write_text(json.dumps(document), encoding="utf-8")
    return list(read(file, part))


def refused(file, document, match, part="intrasentence"):
    with pytest.raises(InputError, match=match) as caught:
        rows(file, document, part)
    assert caught.value.file == file


def test_the_original_layout(file):
    votes = ["stereotype", "stereotype", "anti-stereotype", "related", "unrelated"]
    document = original([cluster(votes=votes)], [INTER])
    (row,) = rows(file, document)
    assert (row["pair_id"], row["cluster"], row["bias_type"]) == ("c1", "nurse", "profession")
    assert (row["more"], row["less"], row["unrelated"]) == (
        *("It is kind.", "It is rude.", "It is paper."),
    )
    assert row["context"] is row["direction"] is row["disadvantaged"] is None
    assert (row["annotators"], row["agreement"], row["agreement_any"]) == (5, 2, 3)
    (row,) = rows(file, document, "intersentence")
    assert (row["pair_id"], row["context"]) == ("c2", "He is a baker.")
    assert row["annotators"] is row["agreement"] is row["agreement_any"] is None


def test_every_layout_gives_the_same_pairs(file):
    other = cluster("c3", "A BLANK baker.", "baker")
    wanted = rows(file, original([cluster(), other], [INTER]))
    assert rows(file, [cluster(), INTER, other]) == wanted
    found = rows(file, relaid(other, INTER, cluster()))
    assert sorted(found, key=lambda row: row["pair_id"]) == wanted
    for document in ([cluster(), INTER], relaid(cluster(), INTER)):
        assert [row["pair_id"] for row in rows(file, document, "intersentence")] == ["c2"]


@given(st.permutations(range(3)))
def test_the_order_inside_a_cluster_does_not_matter(tmp_path_factory, order):
    file = tmp_path_factory.mktemp("stereoset") / "dev.json"
    shuffled = cluster()
    shuffled["sentences"] = [shuffled["sentences"][place] for place in order]
    assert rows(file, original([shuffled])) == rows(file, original([cluster()]))


def test_compressed_and_with_a_byte_order_mark(tmp_path):
    text = "\ufeff" + json.dumps(original([cluster()]))
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(text.encode()))
    assert len(list(read(tmp_path / "a.json.gz", "intrasentence"))) == 1
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(text.encode())[:-9])
    with pytest.raises(InputError, match="no whole gzip file"):
        read_json(tmp_path / "b.json.gz")
    (tmp_path / "c.json").write_text('{\n"a": [1,\n}', encoding="utf-8")
    with pytest.raises(InputError, match=r"c.json:3: is no JSON"):
        read_json(tmp_path / "c.json")
    (tmp_path / "d.json").write_bytes('{\n"é": 1}'.encode("latin-1"))
    with pytest.raises(InputError, match=r"d.json:2: is not UTF-8"):
        read_json(tmp_path / "d.json")


def changed(**keys):
    return original([cluster() | keys])


def without(label, times=0):
    document = cluster()
    chosen = [one for one in document["sentences"] if one["gold_label"] == label]
    others = [one for one in document["sentences"] if one["gold_label"] != label]
    return original([document | {"sentences": others + chosen * times}])


def test_broken_clusters_are_named(file):
    refused(file, changed(target=" "), "the cluster 'c1' has no target")
    refused(file, changed(bias_type=None), "the cluster 'c1' has no bias_type")
    refused(file, changed(bias_type="all"), "'c1' has the bias_type 'all'")
    refused(file, changed(id=3), "the cluster 3 has no id")
    refused(file, changed(sentences="x"), "'c1' has no list of sentences")
    refused(file, without("unrelated"), "'c1' has no sentences with the gold label unrelated")
    refused(file, without("stereotype", 2), "'c1' has 2 sentences with the gold label stereotype")
    strange = cluster()
    strange["sentences"].append({"sentence": "x", "gold_label": "related"})
    refused(file, original([strange]), "'c1' has a sentence with the gold label 'related'")
    textless = cluster()
    textless["sentences"][1].pop("sentence")
    refused(file, original([textless]), "'c1' has no sentence")
    voted = cluster(votes=["stereotype"])
    voted["sentences"][0]["labels"] = ["stereotype"]
    refused(file, original([voted]), "'c1' has labels that are no list")


def test_broken_files(file):
    refused(file, {"a": 1}, "has no layout of StereoSet")
    refused(file, "text", "has no layout of StereoSet")
    refused(file, original([cluster()]), "holds no intersentence cluster", "intersentence")
    refused(file, [], "holds no intrasentence cluster")
    refused(file, original("abc"), "its intrasentence is no list of clusters")
    refused(file, original(["a"]), "its intrasentence is no list of clusters")
    refused(file, ["a"], "has no layout of StereoSet")
    for text in ('{"a": "\\ud800"}', "9" * 5000, "[" * 5000, "[1"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="is no JSON"):
            list(read(file, "intrasentence"))
    labelled = cluster()
    labelled["sentences"][0]["gold_label"] = {}
    refused(file, original([labelled]), "'c1' has no sentences with the gold label stereotype")


def test_broken_parallel_lists(file):
    lacking = relaid(cluster())
    lacking["unrelated"] = []
    refused(file, lacking, "'c1' has no unrelated sentence with its target")
    moved = relaid(cluster())
    moved["unrelated"][0]["context"] = "Another BLANK."
    refused(file, moved, "'c1' has no unrelated sentence with its target")
    odd = relaid(cluster())
    odd["stereotype"][0]["id"] = {}
    refused(file, odd, "the cluster {} has no id")
    twice = relaid(cluster(), cluster())
    refused(file, twice, "'c1' stands twice among the stereotype sentences")
    extra = relaid(cluster())
    extra["unrelated"].append(copy.deepcopy(extra["unrelated"][0]) | {"id": "c9"})
    refused(file, extra, "'c9' has no stereotype sentence beside its unrelated one")


def test_the_part_must_be_one(file):
    for part in (None, "both"):
        for read_part in (form, partial(rows, file, relaid(cluster()))):
            with pytest.raises(InputError, match="choose the part intrasentence or intersentence"):
                read_part(part)
