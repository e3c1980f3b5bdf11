"""The page of the classifiers, of small predictions that the real stages have scored."""

import json

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.errors import InputError
from evenhand.legal.compare_objectives import compare_objectives
from evenhand.legal.explain_groups import explain_groups
from evenhand.legal.measure_calibration import measure_calibration
from evenhand.legal.measure_shift import measure_shift
from evenhand.legal.score_groups import score_groups
from evenhand.legal.tabulate_classifiers import tabulate_classifiers
from evenhand.legal.write_classifier_findings import write_classifier_findings
from evenhand.report.write_classifiers_page import write_classifiers_page
from unit.legal.made_predictions import noisy, predictions, write, write_people, wrong_for

HOSTILE = "<script>alert(1)</script>'\"><img src=x onerror=alert(2)>{{ 7*7 }}"


@pytest.fixture(scope="module")
def files(repository, tmp_path_factory):
    """What the stages say of ERM, which fails women, and of Group DRO, which does not."""
    folder = tmp_path_factory.mktemp("classifiers")
    data, genders = write_people(folder / "d.parquet")
    dro = {"objective": "group_dro", "attribute": "defendant_gender"}
    runs = []
    for seed in (1, 2, 3):
        runs.append(predictions(data, "cail", wrong_for(genders, "female"), seed=seed))
        runs.append(predictions(data, "cail", noisy(seed, 0.5), seed=seed, **dro))
    path = write(folder / "p.parquet", *runs)
    about = {"kind": "cail", "dataset": "mine"}
    names = ("scores", "group_scores", "shift", "tests", "table_2", "calibration", "bins")
    out = {name: folder / f"{name}.csv" for name in (*names, "table_4", "claims")}
    common = {"data": data, "predictions": [path], **about}
    score_groups(
        **common, out=out["scores"], groups_out=out["group_scores"], splits=["test"],
        resamples=50, permutations=50,
    )  # fmt: skip
    measure_shift(data=data, out=out["shift"], resamples=50, **about)
    compare_objectives(**common, out=out["tests"], resamples=99)
    explain_groups(**common, shift=out["shift"], out=out["table_2"])
    measure_calibration(**common, out=out["calibration"], bins_out=out["bins"], permutations=20)
    published = repository / "resources/legal"
    tabulate_classifiers(
        scores=out["scores"], groups=out["group_scores"],
        anchors=published / "published_scores.csv", claims=published / "published_claims.csv",
        out=out["table_4"], claims_out=out["claims"], **about,
    )  # fmt: skip
    tables = ("table_4", "tests", "table_2", "calibration")
    found = {name: [out[name]] for name in tables}
    findings = folder / "findings.json"
    write_classifier_findings(**found, claims=published / "published_claims.csv", out=findings)
    return found | {"claims": [out["claims"]], "findings": findings}


@pytest.fixture
def page(templates, files, tmp_path):
    def write(title="Mine", **more) -> LexborHTMLParser:
        out = tmp_path / "legal_classifiers.html"
        about = {"names": ["mine"], "kinds": ["cail"], "titles": [title]}
        write_classifiers_page(templates=templates, out=out, **(about | files | more))
        return LexborHTMLParser(out.read_text(encoding="utf-8"))

    return write


def text(tree, selector: str) -> str:
    return " ".join(" ".join(node.text() for node in tree.css(selector)).split())


def test_whole_page(page, files):
    tree = page(provenance="../provenance.json")
    findings = json.loads(files["findings"].read_text(encoding="utf-8"))
    assert text(tree, ".lead") == " ".join(findings["headline"])
    assert len(tree.css("#glance li")) == len(findings["findings"]) > 0
    own = text(tree, "#mine")
    for words in (
        "Table 4: Mine",
        "group dro",
        "Group disparity",
        "chance up to",
        "All comparisons",
    ):
        assert words in own
    assert "female" in text(tree, "#mine")
    assert "Calibration by group" in own and "Claims: Mine" in own
    assert tree.css_first("#limits a").attributes["href"] == "../provenance.json"
    assert not tree.css(".absent")


def test_hostile_names_stay_text(page):
    tree = page(title=HOSTILE)
    assert not tree.css("script") and not tree.css("img")
    assert "{{ 7*7 }}" in text(tree, "h2")


def test_files_that_do_not_belong_together(page, files):
    with pytest.raises(InputError, match="not one file of each kind"):
        page(tests=[])
    with pytest.raises(InputError, match="is not JSON"):
        page(findings=files["tests"][0])


def test_same_input_same_bytes(page, tmp_path):
    page()
    first = (tmp_path / "legal_classifiers.html").read_bytes()
    page()
    assert (tmp_path / "legal_classifiers.html").read_bytes() == first
