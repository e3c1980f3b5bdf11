import csv
import re
import shutil
from collections import Counter
from itertools import product
from types import MappingProxyType, SimpleNamespace

import pytest

from evenhand.certificates import certify as module
from evenhand.certificates import check, problems
from evenhand.certificates.certify import certify
from evenhand.certificates.problems import language_models, name_filters, slguset_bias
from evenhand.certificates.study import RECIPES, Finding, Study
from evenhand.core.families import load_members, member_names
from evenhand.core.tables import Table, number, read_tables, text
from evenhand.errors import InputError
from evenhand.legal.planted_training import TRAINED, variants
from evenhand.scoring.methods import METHODS
from evenhand.slguset.filters import names_jieba

#: Enough to learn an association that all sentences carry.
FAST = MappingProxyType({"causal": {**RECIPES["causal"], "steps": 200, "learning_rate": 0.004}})


@pytest.fixture
def resources(repository, tmp_path):
    """A copy of what the name filters read, to be changed."""
    for part in ("planted", "packs/zh_gender", "demo/tagged"):
        shutil.copytree(repository / "resources" / part, tmp_path / "resources" / part)
    return tmp_path / "resources"


def test_a_planted_association_is_found(repository, tmp_path, monkeypatch):
    """Both groups are stereotypical equally often: without an association, 50 % are expected."""
    monkeypatch.setattr(language_models, "TRAINED", (("english", "causal"),))
    study = Study(repository / "resources", tmp_path, (1,), (0,), FAST)
    rows = [row for row in language_models.rows(study) if not row["new_frames"]]
    methods = {name for name, one in METHODS.items() if one.family == "causal"}
    assert {row["method"] for row in rows} == methods
    assert all(row["score"] >= 80 and row["p_value"] < 0.05 for row in rows)
    assert len(list(tmp_path.iterdir())) == 1, "one model, trained once"


def test_name_filters_find_planted_names_and_keep_clean_sentences(
    repository, resources, tmp_path, capsys, monkeypatch
):
    out = tmp_path / "certificate"
    counts = certify(resources=resources, out=out, problems=["name_filters"])
    assert not counts["failed"] and not counts["stale"]
    verdicts = read_tables(out)
    shares = {(row["method"], row["planted"]): row["share"] for row in verdicts["name_filters"]}
    assert shares["names_jieba", "anonymised_name"] == 100
    assert shares["names_jieba", name_filters.NONE] == 0
    assert {name for name, _ in shares} == {"names_crf", "names_jieba", "names_lac", "names_spacy"}
    kept = read_tables(repository / "resources/certificate")["name_filters"]
    run, kept = (
        [row for row in rows if row["sentences"]] for rows in (verdicts["name_filters"], kept)
    )
    assert run == kept, "out of date: make certify PROBLEMS=name_filters"
    assert check.main(out) == 0
    # without the excuse the same measure fails
    known = resources / "planted/known_failures.csv"
    lines = known.read_text(encoding="utf-8").splitlines()
    rows = [row for row in csv.reader(lines) if "given_name" not in row[2]]
    known.write_text("".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows))
    monkeypatch.setattr(name_filters, "rows", lambda study: verdicts["name_filters"])
    counts = certify(resources=resources, out=tmp_path / "again", problems=["name_filters"])
    assert len(counts["failed"]) == 3
    assert check.main(tmp_path / "again") == 1
    said = capsys.readouterr()
    assert said.err.count("failed: ") == 3
    first, second = said.out.splitlines()
    counted = Counter(row["verdict"] for row in verdicts["certificate"])
    certified, excused = counted["certified"], counted["known_failure"]
    assert excused >= 3 and first == (
        f"{certified} measures certified, {excused} known failures, 0 failed: {out}/certificate.csv"
    )
    words = f"{certified} measures certified, {excused - 3} known failures, 3 failed: "
    assert second.startswith(words)
    with pytest.raises(InputError, match="no problem"):
        certify(resources=resources, out=tmp_path / "none", problems=["names"])


def test_a_name_filter_without_a_rule_is_found(repository, tmp_path, monkeypatch):
    """The tagger alone finds some names such as 小王."""
    rules = names_jieba.read_rules

    def without_xiao(*args):
        old = rules(*args)
        forms = [
            form._replace(pattern=re.compile(form.pattern.pattern.replace("[小老]", "老")))
            for form in old.forms
        ]
        return old._replace(forms=forms)

    def verdicts():
        found = list(name_filters.rows(Study(repository / "resources", tmp_path)))
        findings = name_filters.findings(row for row in found if row["planted"] == "xiao_name")
        return [finding.holds for finding in findings]

    monkeypatch.setattr(name_filters, "member_names", lambda package: [names_jieba.__name__])
    assert verdicts() == [True]
    monkeypatch.setattr(names_jieba, "read_rules", without_xiao)
    assert verdicts() == [False]


def test_the_bias_of_both_genders_points_to_the_planted_side(repository, tmp_path, monkeypatch):
    def score(model, sentences, **options):
        signs = [1.0 if row["gender"] == "male" else -1.0 for row in sentences]
        return [(dict.fromkeys(slguset_bias.METHODS, sign), None) for sign in signs]

    monkeypatch.setattr(slguset_bias, "score_sentences", score)
    monkeypatch.setattr(slguset_bias, "METHODS", ["bias"])
    monkeypatch.setattr(Study, "model", lambda *names: None)
    rows = list(slguset_bias.rows(Study(repository / "resources", tmp_path, (1,), (0,), FAST)))
    assert {row["new_frames"] for row in rows} == {False, True}
    assert all(row["score"] == 100 and row["difference"] == 1 for row in rows)


@pytest.mark.parametrize(
    ("found", "least", "most", "holds"),
    [
        (1, 1, 1, True), (0.9, 1, None, False), (1.1, None, 1, False), (1, None, None, True),
        (None, None, None, True), (None, 1, None, False), (float("nan"), None, 1, False),
    ],
)  # fmt: skip
def test_a_finding_holds_within_its_bounds(found, least, most, holds):
    assert Finding("m", "x", found, least, most).holds is holds


def test_a_known_failure_that_holds_is_stale():
    known = {("p", "m", "one"): "why"}
    row = {"problem": "p", "method": "m", "measure": "one", "found": 1.0, "verdict": "certified"}
    assert module.stale([row], known) == ["p: m: one is 1.0"]
    assert not module.stale([row], {})


def test_problems_can_be_run_one_by_one(resources, tmp_path, monkeypatch):
    """The certificate is then the same, and known failures judge the rows that are kept."""

    def problem(name, value):
        columns = (text("method"), number("value"))
        rows = [{"method": "m", "value": value}]
        return SimpleNamespace(
            __name__=f"problems.{name}",
            TABLE=Table(name, title=name, key=("method",), columns=columns),
            rows=lambda study: rows,
            findings=lambda found: [Finding("m", "value", row["value"], least=1) for row in found],
        )

    first, second = problem("first", 1 / 3), problem("second", 2.0)
    monkeypatch.setattr(module, "load_members", lambda family: [first, second])
    certify(resources=resources, out=tmp_path / "whole")
    parts = tmp_path / "parts"
    certify(resources=resources, out=parts, problems=["second"])
    certify(resources=resources, out=parts, problems=["first"], former=parts)
    for file in (tmp_path / "whole").iterdir():
        assert (parts / file.name).read_bytes() == file.read_bytes()
    with (resources / "planted/known_failures.csv").open("a") as stream:
        stream.write("first,m,value,,why\n")
    counts = certify(resources=resources, out=parts, problems=["second"], former=parts)
    assert not counts["failed"] and check.main(parts) == 0
    changed = problem("first", 1.0)
    changed.TABLE = Table("first", title="", key=("method",), columns=(text("method"),))
    monkeypatch.setattr(module, "load_members", lambda family: [changed, second])
    with pytest.raises(InputError, match="other columns"):
        certify(resources=resources, out=parts, problems=["second"], former=parts)


def test_the_certificate_that_is_delivered_holds(repository):
    """And it has all methods: a new one is to be certified before it is delivered."""
    folder = repository / "resources/certificate"
    assert check.main(folder) == 0
    tables = read_tables(folder)
    assert {one.TABLE.name for one in load_members(problems)} < {*tables}
    assert {row["method"] for row in tables["language_models"]} == {*METHODS}
    trained = {(row["classifier"], row["objective"]) for row in tables["certified_mitigation"]}
    every = {title for name in names("objectives") for title, _ in variants(name)}
    assert trained == {*product(TRAINED, every)} - {("linear", "adversarial")}
    for column, family in (("method", "methods"), ("individual", "individual_losses")):
        assert {row[column] for row in tables["certified_tables"]} >= {*names(family)}


def names(family):
    return [one.rpartition(".")[2] for one in member_names(f"evenhand.learning.{family}")]
