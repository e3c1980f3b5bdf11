import json

import pycrfsuite
import pytest

from evenhand.errors import InputError
from evenhand.slguset.filters.names_crf import names_crf
from evenhand.slguset.names_crf_model import NameModel, features, labels
from evenhand.text.segmentation import cut
from unit.slguset.name_rows import read_reasons, write_keywords

TRAINING = [
    ("昨天王小丫看望了他。", [(2, 5)]),
    ("记者李明报道了她的事。", [(2, 4)]),
    ("阿姨在家里等女儿。", [(0, 2)]),
    ("他在家里等工人。", []),
    ("她很文明。", []),
]


@pytest.fixture
def arguments(tmp_path, repository):
    """A model that knows its five training sentences, in which 阿姨 is a name."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for text, names in TRAINING * 5:
        words = cut(text)
        trainer.append(features(words), labels(words, names))
    trainer.train(str(tmp_path / "crf.crfsuite"))
    report = tmp_path / "crf.json"
    report.write_text(json.dumps({"threshold": 0.5}), encoding="utf-8")
    folder = repository / "resources/slguset"
    sentences = [
        ("昨天王小丫看望了他。", "他"),
        ("阿姨在家里等人。", "阿姨"),
        ("他在家里等小王。", "他"),
        ("她很文明。", "她"),
    ]
    return {
        "keywords": write_keywords(tmp_path / "keywords.parquet", sentences),
        "model": tmp_path / "crf.crfsuite",
        "model_report": report,
        "surnames": folder / "surnames.csv",
        "titles": folder / "titles.csv",
        "out": tmp_path / "names.parquet",
    }


def test_names_above_the_threshold(arguments):
    counts = names_crf(**arguments)
    assert read_reasons(arguments["out"]) == [
        ("name", "王小丫"),
        (None, None),  # 阿姨 is the keyword
        ("familiar_name", "小王"),
        (None, None),
    ]
    assert (counts["threshold"], counts["passed"]) == (0.5, 2)


def test_a_model_of_its_own_decides(arguments):
    model = NameModel(arguments["model"])
    assert model.name_probability("阿姨在家里等人。") > 0.5
    assert model.name_probability("阿姨在家里等人。", (0, 2)) < 0.5
    assert model.find_names("", 0.5) == []


def test_another_threshold(arguments):
    counts = names_crf(**arguments, threshold=0.0, familiar="keep")
    assert counts["threshold"] == 0.0
    assert counts["passed"] == 0
    with pytest.raises(InputError, match="no probability"):
        names_crf(**arguments, threshold=1.5)
