"""What others read of this repository: how to cite it, and how the workflow catalog shows it."""

import re
import tomllib

import pytest
import yaml

#: Keys of CITATION.cff that version 1.2.0 of its schema knows.
KNOWN = {
    *("abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi"),
    *("identifiers", "keywords", "license", "license-url", "message", "preferred-citation"),
    *("references", "repository", "repository-artifact", "repository-code", "title", "type"),
    *("url", "version"),
}

#: Of the keys of a reference, those that we use, with the type of their values.
REFERENCE = {
    **dict.fromkeys(("type", "title", "scope", "collection-title", "journal", "notes"), str),
    **dict.fromkeys(("url", "doi"), str),
    **dict.fromkeys(("year", "volume", "issue", "start", "end"), int),
    **dict.fromkeys(("authors", "languages"), list),
    **dict.fromkeys(("conference", "publisher"), dict),
}


@pytest.fixture
def citation(repository):
    return yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))


def test_citation_has_what_its_schema_asks_for(citation):
    assert {"authors", "cff-version", "message", "title"} <= citation.keys() <= KNOWN
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"


def test_version_and_licence_are_those_of_the_package(citation, repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    assert str(citation["version"]) == project["version"]
    assert citation["license"] == project["license"]


def test_the_four_papers_are_referred_to(citation):
    references = citation["references"]
    assert len(references) == 4
    for one in references:
        assert {"type", "title", "authors", "year", "scope"} <= one.keys()
        for key, value in one.items():
            assert isinstance(value, REFERENCE[key]), key
        assert one["type"] in ("article", "conference-paper")
        for author in one["authors"]:
            assert set(author) in ({"family-names", "given-names"}, {"name"})
        assert re.fullmatch(r"https://\S+", one["url"]) if "url" in one else one["doi"]
        assert re.fullmatch(r"10\.\d{4,9}/\S+", one.get("doi", "10.1000/x"))
        assert one.get("start", 1) <= one.get("end", 9999)


def test_the_readme_speaks_of_the_same_papers(citation, repository):
    readme = (repository / "README.md").read_text(encoding="utf-8")
    for one in citation["references"]:
        assert one["authors"][0]["family-names"] in readme
        assert str(one["year"]) in readme


def test_the_catalog_file_has_the_keys_that_the_catalog_reads(repository):
    file = repository / ".snakemake-workflow-catalog.yml"
    usage = yaml.safe_load(file.read_text(encoding="utf-8"))["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    deployment = usage["software-stack-deployment"]
    assert set(deployment) <= {"conda", "singularity", "singularity+conda"}
    assert deployment["conda"] is True and usage["report"] is True
    # what it claims is there
    assert sorted((repository / "envs").glob("*.yaml"))
    rules = (repository / "workflow/rules").glob("*.smk")
    assert any("shown(" in rule.read_text(encoding="utf-8") for rule in rules)
