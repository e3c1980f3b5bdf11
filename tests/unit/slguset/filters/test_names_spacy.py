import pytest
import spacy

from evenhand.errors import InputError
from evenhand.slguset.filters.names_spacy import names_spacy
from unit.slguset.name_rows import read_reasons, write_keywords


@pytest.fixture
def arguments(tmp_path, repository):
    folder = repository / "resources/slguset"
    sentences = [
        ("昨天王小丫去了北京，她没有去。", "她"),
        ("她去了北京。", "她"),
        ("女儿好。", "女儿"),
    ]
    return {
        "keywords": write_keywords(tmp_path / "keywords.parquet", sentences),
        "surnames": folder / "surnames.csv",
        "titles": folder / "titles.csv",
        "out": tmp_path / "names.parquet",
    }


@pytest.fixture
def pipeline(tmp_path):
    """A spaCy pipeline on disk that knows one person, one place, and takes 女儿 for a person."""
    nlp = spacy.blank("zh")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PERSON", "pattern": "王小丫"},
            {"label": "GPE", "pattern": "北京"},
            {"label": "PERSON", "pattern": "女儿"},
        ]
    )
    nlp.to_disk(tmp_path / "pipeline")
    return str(tmp_path / "pipeline")


def test_persons_are_names(arguments, pipeline):
    counts = names_spacy(pipeline=pipeline, **arguments)
    assert read_reasons(arguments["out"]) == [("name", "王小丫"), (None, None), (None, None)]
    assert counts["passed"] == 2


def test_other_labels(arguments, pipeline):
    names_spacy(pipeline=pipeline, labels=["GPE"], **arguments)
    assert read_reasons(arguments["out"]) == [("name", "北京"), ("name", "北京"), (None, None)]


def test_labels_that_the_pipeline_lacks(arguments, pipeline):
    with pytest.raises(InputError, match=r"finds none of HUMAN.*GPE.*PERSON"):
        names_spacy(pipeline=pipeline, labels=["HUMAN"], **arguments)


def test_a_pipeline_that_is_not_installed(arguments):
    with pytest.raises(InputError, match=r"not installed.*spacy download zh_none"):
        names_spacy(pipeline="zh_none", **arguments)
