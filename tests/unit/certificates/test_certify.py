import csv
import shutil
from types import MappingProxyType

import pytest

from evenhand.certificates import certify as module
from evenhand.certificates import check
from evenhand.certificates.certify import certify
from evenhand.certificates.problems import language_models, name_filters
from evenhand.certificates.study import RECIPES, Study
from evenhand.core.tables import read_table, read_tables
from evenhand.errors import InputError
from evenhand.scoring.methods import METHODS

#: Enough to learn an association that all sentences carry.
FAST = MappingProxyType({"causal": {**RECIPES["causal"], "steps": 300, "learning_rate": 0.004}})


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


def test_name_filters_find_planted_names_and_keep_clean_sentences(resources, tmp_path):
    out = tmp_path / "certificate"
    counts = certify(resources=resources, out=out, problems=["name_filters"])
    assert not counts["failed"] and not counts["stale"]
    verdicts = read_tables(out)
    shares = {(row["method"], row["planted"]): row["share"] for row in verdicts["name_filters"]}
    assert shares["names_jieba", "anonymised_name"] == 100
    assert shares["names_jieba", name_filters.NONE] == 0
    assert check.main(out) == 0
    # without the excuse the same measure fails
    known = resources / "planted/known_failures.csv"
    lines = known.read_text(encoding="utf-8").splitlines()
    rows = [row for row in csv.reader(lines) if "given_name" not in row[2]]
    known.write_text("".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows))
    counts = certify(resources=resources, out=tmp_path / "again", problems=["name_filters"])
    assert len(counts["failed"]) == 2
    assert check.main(tmp_path / "again") == 1
    with pytest.raises(InputError, match="no problem"):
        certify(resources=resources, out=tmp_path / "none", problems=["names"])


def test_a_known_failure_that_holds_is_stale():
    known = {("p", "m", "one"): "why"}
    row = {"problem": "p", "method": "m", "measure": "one", "found": 1.0, "verdict": "certified"}
    assert module.stale([row], known) == ["p: m: one is 1.0"]
    assert not module.stale([row], {})


def test_the_certificate_that_is_delivered_holds(repository):
    """And it has all methods: a new one is to be certified before it is delivered."""
    folder = repository / "resources/certificate"
    assert check.main(folder) == 0
    rows = read_table(folder / "language_models.csv")
    assert {row["method"] for row in rows} == {*METHODS}
