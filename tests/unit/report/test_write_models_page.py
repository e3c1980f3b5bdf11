import csv
import json
import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.core import stage
from evenhand.report.pages import PAGES
from evenhand.report.write_models_page import _methods, write_models_page
from evenhand.scoring.methods import METHODS
from unit.report import checks, made_results, made_stereotypes
from unit.report.checks import HOSTILE

#: The same as a file's name.
HOSTILE_NAME = "=cmd|'<script>alert(1)\"><img src=x onerror=alert(2)>\u202e{{ 7*7 }}"

PAGE_FILES = [file for file, _ in PAGES.values()]
SET_IDS = ["set-crows_pairs", "set-stereoset_intrasentence"]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A results folder that no test changes."""
    return made_stereotypes.write_results(tmp_path_factory.mktemp("models") / "results")


@pytest.fixture(scope="module")
def full(made, repository, tmp_path_factory) -> LexborHTMLParser:
    """The page of all of it, which no test changes."""
    out = tmp_path_factory.mktemp("page") / "language_models.html"
    write_models_page(
        templates=made_results.templates(repository), out=out, **made_stereotypes.arguments(made)
    )
    return checks.parse(out)


@pytest.fixture
def own(tmp_path) -> Path:
    """A results folder of the test's own."""
    return made_stereotypes.write_results(tmp_path / "results")


@pytest.fixture
def hostile(tmp_path) -> Path:
    return made_stereotypes.write_results(
        tmp_path / "results",
        models={"tiny-bert-en": HOSTILE_NAME, "headless": f"{HOSTILE_NAME} 2"},
        sets={"crows_pairs": HOSTILE_NAME},
        text=HOSTILE,
    )


@pytest.fixture
def page(templates, tmp_path):
    def write(folder: Path, *without: str, **more) -> LexborHTMLParser:
        out = tmp_path / "language_models.html"
        arguments = made_stereotypes.arguments(folder, *without)
        write_models_page(templates=templates, out=out, **arguments | more)
        return checks.parse(out)

    return write


def text(tree, selector: str) -> str:
    node = tree.css_first(selector)
    assert node is not None, selector
    return " ".join(node.text().split())


def table(tree, *words: str):
    """The first table whose caption holds all of these."""
    return next(
        node
        for node in tree.css("table")
        if all(word in node.css_first("caption").text() for word in words)
    )


def rows(node) -> dict[str, list[str]]:
    """Cells of a table by the head of their row."""
    return {
        " ".join(row.css_first("th").text().split()): [
            " ".join(cell.text().split()) for cell in row.css("td")
        ]
        for row in node.css("tbody tr")
    }


def change(path: Path, **columns: str) -> None:
    """Overwrite columns of every row of a CSV table."""
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        header, kept = reader.fieldnames, list(reader)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header)
        writer.writeheader()
        writer.writerows(row | columns for row in kept)


def test_says_in_the_first_lines_what_came_of_it(full):
    lead = text(full, ".lead")
    assert lead.startswith(
        "In 2 of 6 combinations of a model and a set, the preference is significant (3 models and"
        " 2 sets of pairs). In 4 the pairs are too few to tell, which clears no model."
        " On CrowS-Pairs, tiny-bert-en prefers the stereotype: AULA, normalised"
        " 69.6 (95 % interval 57.3 to 81.8)."
    )
    [forest] = checks.charts(full, "#glance")
    assert "tiny-bert-en, CrowS-Pairs" in checks.rows(forest, "name")
    verdicts = table(full, "Verdict on each model")
    said = {
        tr.css("td")[0].text(): [tr.css("td")[1].text()]
        for tr in verdicts.css("tbody tr")
        if tr.css_first("th").text() == "CrowS-Pairs"
    }
    assert said["tiny-bert-en"] == [
        "It prefers the stereotype by AUL, AULA normalised and CPS; by the other method it has no"
        " significant preference."
    ]
    assert said["tiny-gpt2-en"] == ["Cannot tell: too few pairs, by 2 of 2 methods that count."]
    assert said["headless"][0].startswith("No number: this model did not pass its check.")
    for id in SET_IDS:
        assert text(full, f"#{id} .say").startswith("1 of the 3 models with numbers has a sig")


def test_a_table_of_methods_gives_score_interval_band_counts_and_verdict(full):
    found = rows(table(full, "Scores:", "CrowS-Pairs", "tiny-bert-en"))
    assert list(found) == ["AUL", "AULA, normalised", "CPS", "SSS", "AULAas published",
                           "SSS as codedas published", "All maskedcontrol"]  # fmt: skip
    plot, score, span, p_value, beyond, verdict, *counts = found["AUL"]
    assert plot == f"score {score}, interval {span}"
    assert (p_value, beyond) == ("0.012", "1 of 10")
    assert float(score) > 58.5
    assert verdict == "Prefers the stereotype."
    assert counts == ["240", "1", "2"]
    assert found["SSS"][5] == (
        "Cannot tell whether there is a preference: the test finds one of 5 points with a power of"
        " 30 %, and 70 more swaps would give 80 %."
    )


def test_the_ruler_has_50_in_the_middle(full):
    head = table(full, "Scores:", "CrowS-Pairs", "tiny-bert-en").css_first("th.plot")
    ticks = head.css("text.value")
    middle = ticks[len(ticks) // 2]
    assert middle.text() == "50"
    assert middle.attributes["x"] == "50.000%"
    zero = full.css_first("td.plot line.zero")
    assert zero.attributes["x1"] == "50.000%"


def test_direction_is_told_in_the_words_of_the_set(page, own):
    path = own / "stereotypes/crows_pairs/pairs.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document |= {"more_means": "male", "less_means": "female"}
    path.write_text(json.dumps(document), encoding="utf-8")
    section = page(own).css_first("#set-crows_pairs").text()
    assert "Above 50, a model prefers the male sentence; below 50, the female sentence." in section
    assert "Prefers the male sentence." in section
    assert "the stereotype by" not in section


def test_no_number_of_a_model_that_is_not_trusted(page, made, full):
    body = full.css_first("main").text()
    assert "77.1" not in body
    assert "7712" not in body
    for id in ("glance", *SET_IDS):
        for node in full.css(f"#{id} table"):
            for row in node.css("tbody tr"):
                if row.css_first("th").text() == "headless":
                    assert not re.search(r"\d", row.text())
            if id != "glance":
                assert "headless" not in node.css_first("caption").text()
        assert "made up at random" in full.css_first(f"#{id}").text()
        assert "a_new_reason" in full.css_first(f"#{id}").text()
    assert not [node for node in full.css("figcaption, summary") if "headless" in node.text()]


def test_models_of_random_weights_are_shown_where_there_are_some(page, full, own):
    assert "models of the same architecture with random weights" in text(full, "#set-crows_pairs")
    change(own / "tables/pairs/crows_pairs/bias_scores.csv", null_seeds="0", null_beyond="")
    found = page(own)
    assert "with random weights have" not in text(found, "#set-crows_pairs")
    assert len(rows(table(found, "Scores:", "CrowS-Pairs", "tiny-bert-en"))["AUL"]) == 8


def test_a_gate_alone_is_enough_not_to_trust_a_model(page, own):
    for path in (own / "tables").glob("pairs/*/bias_scores.csv"):
        change(path, trusted="true", reason="")
    tree = page(own)
    assert "77.1" not in tree.css_first("main").text()
    assert page(own, "gates").css_first("main").text().count("77.1") > 10


def test_the_row_of_a_model_without_scores_has_no_method(page, own):
    path = own / "tables/pairs/crows_pairs/bias_scores.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        kept = list(csv.DictReader(stream))
    header = list(kept[0])
    kept = [row for row in kept if row["model"] not in ("headless", "tiny-gpt2-en")]
    blank = dict.fromkeys(header, "") | {"subset": "all", "bias_type": "all", "pairs": 240}
    blank["verdict"] = "not_scored"
    kept += [
        blank | {"model": "headless", "trusted": "false", "reason": "few_scored"},
        blank | {"model": "tiny-gpt2-en", "trusted": "true", "reason": "nothing_scored"},
    ]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header)
        writer.writeheader()
        writer.writerows(kept)
    tree = page(own)
    assert "No number: no method that counts could score a pair." in text(tree, "#glance tbody")
    assert "tiny-gpt2-en has no number, since no pair could be scored." in text(
        tree, "#set-crows_pairs .say"
    )
    assert "None" not in tree.css_first("#set-crows_pairs").text()


def test_measures_of_stereoset_are_where_they_belong(full):
    found = rows(table(full, "LMS, SS and ICAT:", "tiny-bert-en"))
    assert found["AUL"][0] == "81.276.0 to 85.5"
    assert found["AUL"][3:] == ["significantly above", "0.034", "12", "150", "149"]
    assert "language modelling score" in full.css_first(f"#{SET_IDS[1]}").text()
    assert "language modelling score" not in full.css_first(f"#{SET_IDS[0]}").text()


def test_accuracy_gives_the_change_in_brackets(full):
    found = rows(table(full, "Token accuracy:", "StereoSet", "tiny-bert-en"))
    whole = found["Whole sentence, nothing masked (AUL, AULA)"]
    assert whole[0].startswith("81.0 %")
    assert whole[1].startswith("68.7 % (−12.3)")
    assert whole[2].startswith("77.6 % (−3.4)")
    assert whole[3] == "1,234"
    assert "The same, special tokens counted (as the paper does)" in found


def test_length_artefact_is_told_in_words(full):
    assert "AULA almost always prefers the longer sentence" in text(full, f"#{SET_IDS[0]}")
    assert rows(table(full, "Length", "CrowS", "tiny-bert-en"))["AULAas published"][:4] == [
        "31", "31", "100.0 %", "85.0 to 100.0",
    ]  # fmt: skip


def test_curves_are_told_apart_and_told_in_words(full):
    figures = full.css(f"#{SET_IDS[0]} .rocs")[0].css("figure")
    assert [figure.css_first("figcaption").text() for figure in figures] == [
        "tiny-bert-en", "roberta-like", "tiny-gpt2-en",
    ]  # fmt: skip
    for figure in figures:
        [spec] = checks.charts(figure, "figure")
        line = spec["layer"][-1]["encoding"]
        names, dashes = (line["strokeDash"]["scale"][key] for key in ("domain", "range"))
        assert len({str(dash) for dash in dashes}) == len(names) == len(set(names))
        assert set(checks.rows(spec, "name")) == set(names)
        assert all(re.search(r"0\.\d\d$", name) for name in names)
        assert "Areas: " in figure.css_first(".chart").attributes["aria-label"]
    assert not full.css(f"#{SET_IDS[1]} .rocs")
    assert "no judgements of people" in text(full, f"#{SET_IDS[1]}")
    cells = rows(table(full, "AUC:", "tiny-bert-en"))["AUL"]
    assert len(cells) == 6


def test_compat_and_comparisons_are_told_in_words(full):
    said = text(full, f"#{SET_IDS[0]}")
    assert "1 conclusion of 6 changes." in said
    links = full.css(f"#{SET_IDS[0]} p a[href^='known_errors.html#aul-']")
    assert len(links) == 6  # two of each method, for all models
    assert "roberta-like is the less biased one by AUL." in said
    assert rows(table(full, "Compared:", "CrowS"))["AUL"][0] == (
        "roberta-like is less biased than tiny-bert-en."
    )


def test_examples_are_the_pairs_that_lean_most(page, made):
    import pyarrow.parquet as pq

    scores = pq.read_table(made / "stereotypes/crows_pairs/scores/tiny-bert-en.parquet").to_pylist()
    values = {(row["pair_id"], row["side"]): row["aul"] for row in scores}
    leans = sorted((v - values[p, "less"], p) for (p, side), v in values.items() if side == "more")
    tree = page(made, examples=2)
    group = next(
        node
        for node in tree.css("#set-crows_pairs details")
        if node.css_first("summary").text().startswith("tiny-bert-en by AUL")
    )
    more, less = group.css("ol.leans")
    assert [item.css("bdi")[-1].text() for item in more.css("li")] == [p for _, p in leans[:-3:-1]]
    assert [item.css("bdi")[-1].text() for item in less.css("li")] == [p for _, p in leans[:2]]
    first = more.css_first("li")
    assert first.css_first("mark.more").text() != first.css_first("mark.less").text()
    assert not page(made, examples=0).css(".leans")


def test_models_and_their_checks(full):
    facts = rows(table(full, "Description of the models"))
    assert facts["tiny-bert-en"][2] == "4,385,920"
    checks = table(full, "The check of each model").css("tbody tr")
    assert len(checks) == 8
    assert "31.0 % (25.0 to 37.5)" in " ".join(checks[1].text().split())
    scored = rows(table(full, "Coverage of each set"))
    assert "4: it has more tokens than the model takes" in scored["tiny-bert-en"]


def test_released_scores(full):
    assert "1 of 2 published results came out the same." in text(full, "#released")
    found = rows(table(full, "Our results"))
    assert found["gpt2"] == ["intrasentence", "91.1", "91.1", "61.9", "61.9", "69.4", "70.0",
                             "differs: icat by -0.6"]  # fmt: skip


ABSENT = [
    *made_stereotypes.TABLES, "tables", "sets", "gates", "pairs", "scores", "released"
]  # fmt: skip


@pytest.mark.parametrize("kind", ABSENT)
def test_says_so_where_a_table_is_missing(page, own, full, kind):
    for path in own.glob("tables/pairs/*/datapackage.json"):
        package = json.loads(path.read_text(encoding="utf-8"))
        package["resources"] = [one for one in package["resources"] if one["name"] != kind]
        path.write_text(json.dumps(package), encoding="utf-8")
    tree = page(own, kind)
    assert "None" not in tree.css_first("main").text()
    assert len(tree.css("h2")) == len(full.css("h2"))
    if kind not in ("roc", "auc_tests"):
        assert len(tree.css(".absent")) > len(full.css(".absent"))


def test_renders_with_nothing(templates, tmp_path):
    write_models_page(templates=templates, out=tmp_path / "page.html")
    tree = checks.parse(tmp_path / "page.html")
    assert text(tree, ".lead") == "No model has a score, so nothing is known of bias."
    assert [text(tree, f"#{id} .absent") for id in ("glance", "models", "released")]
    assert "Blodgett" in text(tree, "#limits")


def test_two_sets_of_one_title_are_told_apart(page, own):
    path = own / "stereotypes/stereoset_intrasentence/pairs.json"
    document = json.loads(path.read_text(encoding="utf-8")) | {"title": "CrowS-Pairs"}
    path.write_text(json.dumps(document), encoding="utf-8")
    titles = [text(page(own), f"#{id} h2") for id in SET_IDS]
    assert titles == ["CrowS-Pairs (crows_pairs)", "CrowS-Pairs (stereoset_intrasentence)"]


def test_hostile_strings_stay_text(page, hostile):
    tree = page(hostile, provenance=f"javascript:alert(1)//{HOSTILE_NAME}")
    checks.check_nothing_injected(tree)
    for node in tree.css("*"):
        href = node.attributes.get("href") or ""
        assert ":" not in href
    for id in ("glance", "models", "released"):
        assert "<script>alert(1)" in tree.css_first(f"#{id}").text(), id
    assert tree.css_first("title").text() == "Language models · Evenhand"
    assert "{{ 7*7 }}" in tree.css_first("main").text()
    assert "77.1" not in tree.css_first("main").text()


def test_marks_of_direction_turn_nothing_around_them(page, hostile):
    tree = page(hostile)
    assert any("\u202e" in node.text() for node in tree.css(".sentence"))
    for isolated in tree.css("bdi, code, svg, script"):
        isolated.decompose()
    assert "\u202e" not in tree.body.text()


def test_asks_nothing_of_the_network(page, made):
    tree = page(made, provenance="../provenance.json")
    checks.check_no_request(tree)
    assert [a.attributes["href"] for a in tree.css("#limits a")] == ["../provenance.json"]


def test_links_to_the_other_page(page, made, full):
    links = full.css("nav[aria-label=Pages] a")
    assert [a.attributes["href"] for a in links] == PAGE_FILES
    assert [a.attributes.get("aria-current") for a in links].count("page") == 1
    own = next(a for a in links if a.attributes["href"] == "language_models.html")
    assert own.attributes.get("aria-current") == "page"
    assert not page(made, pages=["language_models"]).css("nav[aria-label=Pages]")


def test_the_same_input_gives_the_same_bytes(templates, made, tmp_path):
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for out in pages:
        write_models_page(templates=templates, out=out, **made_stereotypes.arguments(made))
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert str(made.parent) not in pages[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("names", ["made", "hostile"])
def test_can_be_used_without_eyes_or_mouse(page, names, request):
    tree = page(request.getfixturevalue(names))
    checks.check_usable(tree)


def test_columns_of_a_table_add_up(full):
    for node in full.css("table"):
        head = sum(
            int(c.attributes.get("colspan", 1)) for c in node.css_first("thead tr").css("th")
        )
        for row in node.css("tbody tr"):
            width = sum(int(c.attributes.get("colspan", 1)) for c in row.css("th, td"))
            assert width == head, node.css_first("caption").text()


def test_runs_as_a_stage(templates, own, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EVENHAND_STATE", raising=False)
    out = tmp_path / "report/language_models.html"
    arguments = {"templates": templates, "out": out, **made_stereotypes.arguments(own)}
    record = stage.execute(write_models_page, arguments)
    assert record["counts"] == {"sets": 2, "models": 4, "untrusted": 1,
                                "bytes": out.stat().st_size}  # fmt: skip
    moved = own.rename(tmp_path / "elsewhere")
    arguments |= made_stereotypes.arguments(moved)
    assert stage.execute(write_models_page, arguments)["counts"] == record["counts"]


def test_a_model_that_fails_on_one_set_only_is_said_to(page, own):
    path = own / "stereotypes/crows_pairs/gates/roberta-like.json"
    gate = json.loads(path.read_text(encoding="utf-8")) | {
        "trusted": False,
        "reason": "fill_mask_not_above_baseline",
    }
    path.write_text(json.dumps(gate), encoding="utf-8")
    verdicts = text(page(own), "#glance tbody")
    assert verdicts.count("No number: this model did not pass its check.") == 3


def test_every_table_for_download_is_a_result(page, made):
    for folder in (made / "stereotypes").iterdir():
        (made / f"tables/pairs/{folder.name}/models.csv").touch()
    checks.check_downloads(page(made), made, {"stereotypes"})


def test_the_methods_are_those_that_the_page_mentions_or_all():
    scores = {"models": [{"rows": [{"method": "aul"}, {"method": "cps"}]}]}
    titles = [one["title"] for one in _methods([{"scores": scores}, {"scores": None}])]
    assert titles == [method.title for name, method in METHODS.items() if name in ("aul", "cps")]
    assert len(_methods([{"scores": None}])) == len(METHODS)
