"""What every rule file keeps: one stem a rule, and conda files that cover the code."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from rattler import MatchSpec

from evenhand.core import code

REPOSITORY = Path(__file__).resolve().parents[2]

#: Conda names that differ from PyPI's.
CONDA_NAMES = {
    "duckdb": "python-duckdb",
    "huggingface-hub": "huggingface_hub",
    "torch": "pytorch",
}

#: What conda-forge does not carry, so that pip installs it inside the environment.
ONLY_PYPI = {"rjieba"}


@dataclass
class Rule:
    name: str
    text: str
    file: Path

    @property
    def modules(self) -> set[str]:
        run = set(re.findall(r"python -m (evenhand[\w.]*)", self.text))
        return run | set(re.findall(r'"(evenhand\.[\w.]+)"', self.text))

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


def test_there_are_rules():
    assert len(STAGE_RULES) > 15


@pytest.mark.parametrize("rule", STAGE_RULES, ids=lambda rule: rule.name)
def test_rule_module_log_and_benchmark_share_a_stem(rule):
    stages = re.findall(r"python -m evenhand\.([\w.]+)", rule.text)
    assert [stage.split(".")[-1] for stage in stages] == [rule.name]
    assert re.search(rf'"<logs>/{rule.name}[./]', rule.text)
    assert re.search(rf'"<benchmarks>/{rule.name}[./]', rule.text)
    assert f'code("evenhand.{stages[0]}"' in rule.text.replace("\n", "").replace(" ", "") or (
        "of_kind(" in rule.text or "of_training(" in rule.text
    )


@pytest.mark.parametrize("rule", STAGE_RULES, ids=lambda rule: rule.name)
def test_a_rule_asks_for_threads_memory_and_time_and_for_more_after_a_failure(rule):
    assert re.search(r"^ {4}threads: \S", rule.text, re.M)
    for resource in ("mem_mb", "runtime"):
        amount = rf"^ {{8}}{resource}=lambda wildcards(?:, input)?, attempt: .+ \* attempt,$"
        assert re.search(amount, rule.text, re.M), resource


@pytest.mark.parametrize("rule", STAGE_RULES, ids=lambda rule: rule.name)
def test_how_often_and_where_a_rule_runs_is_the_profiles_business(rule):
    # retries of a rule would be made inside the first allocation, with its memory
    assert not re.search(r"^ {4}(retries|group|localrule):", rule.text, re.M)
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
