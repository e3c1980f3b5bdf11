"""What others read of this repository: how to cite it, and how the workflow catalog shows it."""

import tomllib

import pytest
import yaml

import evenhand


@pytest.fixture
def citation(repository):
    return yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))


def test_version_and_licence_are_those_of_the_package(citation, repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    assert str(citation["version"]) == project["version"] == evenhand.__version__
    assert citation["license"] == project["license"]


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
    assert any("in_report(" in rule.read_text(encoding="utf-8") for rule in rules)
