import csv
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand import plan_report
from evenhand.core import stage
from evenhand.core.tables import read_table, write_tables
from evenhand.errors import InputError
from evenhand.report.collect_provenance import collect_provenance
from evenhand.report.pages import DRAWING, PAGES
from evenhand.report.write_slguset_page import SECTIONS, write_slguset_page
from unit.report import checks, made_results
from unit.report.checks import HOSTILE

PAGE_FILES = [file for file, _ in PAGES.values()]

#: Groups of arguments that stand or fall together.
GROUPS = {
    "corpus": ["corpus", "candidates", "counts"],
    "candidates": ["candidates"],
    "annotation": ["samples", "drawn", "answers", "annotation"],
    "answers": ["answers", "annotation", "dataset", "table_1", "statistics"],
    "dataset": ["dataset", "table_1", "statistics"],
    "bias": ["bias"],
    "published": ["published_dataset", "published_table_1", "published_statistics",
                  "published_filters", "published_report"],
}  # fmt: skip


def render(templates: list[Path], folder: Path, *without: str, **more) -> LexborHTMLParser:
    page = folder / "report.html"
    write_slguset_page(
        templates=templates,
        out=page,
        **plan_report.reason_options({"slguset": {"filters": ["names_jieba", "biology"]}}),
        **made_results.arguments(folder, *without),
        **more,
    )
    return checks.parse(page)


def text(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    assert node is not None, selector
    return " ".join(node.text().split())


def test_says_what_was_built(templates, results):
    lead = text(render(templates, results), ".lead")
    assert "Of 215 sentences read, 43 (20.0 %) hold a gender keyword" in lead
    assert "18 (8.37 %) passed every filter" in lead
    assert "3 annotators answered for 18 of these; the 18 that were accepted make" in lead


def test_every_section_says_something(templates, results):
    tree = render(templates, results)
    for id, _, title in SECTIONS:
        assert text(tree, f"section#{id} h2") == title
    absent = [node.text() for node in tree.css(".absent")]
    assert absent == [
        *["No scored sentence contains these words."] * 2,  # 男童/女童, in each edition
        "The record of where each file comes from was not collected in this run.",
    ]


@pytest.mark.parametrize("group", GROUPS)
def test_renders_without(templates, results, group):
    tree = render(templates, results, *GROUPS[group])
    for id, _, _ in SECTIONS:
        assert len(text(tree, f"section#{id}")) > 40
    assert "None" not in tree.body.text()


def test_renders_without_other_tables_of_bias(templates, results):
    for folder in results.glob("tables/bias/*"):
        write_tables(folder, [(made_results.BIAS["models"], read_table(folder / "models.csv"))])
    assert len(text(render(templates, results), "section#bias")) > 40


def test_renders_with_nothing(templates, tmp_path):
    write_slguset_page(templates=templates, out=tmp_path / "page.html")
    tree = checks.parse(tmp_path / "page.html")
    assert text(tree, ".lead") == "Nothing was built yet."
    assert len(tree.css(".absent")) == len(SECTIONS)


def test_the_published_file_alone_is_said_to_be_alone(templates, results):
    tree = render(
        templates, results, *{*GROUPS["corpus"], *GROUPS["annotation"], *GROUPS["dataset"]}
    )
    lead = text(tree, ".lead")
    assert lead.startswith("The published file has ") and "beside it" not in lead
    assert "sheets are read" not in text(tree, "#dataset")
    assert "builds no data set of its own" in text(tree, "#dataset")


def test_waits_for_sheets_and_says_what_to_do(templates, results):
    tree = render(templates, results, *GROUPS["answers"])
    assert "do this next" in text(tree, ".notice.waiting")
    assert "hand_out" in text(tree, ".notice.waiting")
    assert "18 of these were drawn" in text(tree, ".lead")
    assert not render(templates, results).css(".notice.waiting")


def test_waits_for_a_later_round_beside_the_data_set_of_an_earlier_one(templates, results):
    rows = pq.read_table(results / "slguset/annotation/sample.parquet").to_pylist()
    later = [row | {"sentence_id": f"{i:016x}", "round": "2027"} for i, row in enumerate(rows)]
    pq.write_table(pa.Table.from_pylist(later), results / "later.parquet")
    arguments = made_results.arguments(results)
    arguments["samples"].append(results / "later.parquet")
    write_slguset_page(templates=templates, out=results / "page.html", **arguments)
    tree = LexborHTMLParser((results / "page.html").read_text(encoding="utf-8"))
    assert "come back for the round 2027." in text(tree, ".notice.waiting")
    assert "annotators answered for 18 of these; the 18 that were" in text(tree, ".lead")


def test_table_1_has_both_directions_and_what_the_authors_state(templates, results):
    table = next(t for t in render(templates, results).css("table") if "Mask pair" in t.text())
    rows = [[cell.text() for cell in row.css("th, td")] for row in table.css("tbody tr")]
    assert rows[0] == ["男/女", "男人/女人", "3", "3", "6", "3", "3", "6", "–", "–"]
    assert rows[2][-2:] == ["500", "500"]
    sums = [cell.text() for cell in table.css("tfoot tr th, tfoot tr td")]
    assert sums == ["All", "", "9", "9", "18", "9", "9", "18", "", ""]


def test_examples_are_the_first_by_id(templates, results):
    rows = pq.read_table(results / "slguset/candidates.parquet").to_pylist()
    wanted = [row["sentence"] for row in rows if row["verdict"] == "biology"][:2]
    tree = render(templates, results, examples=2)
    group = next(d for d in tree.css("#funnel details") if "Biological" in d.text())
    assert [node.text() for node in group.css(".sentence")] == wanted
    assert {node.text() for node in group.css("mark.evidence")} == {"孕期"}
    assert len(group.css("mark.keyword")) == 2
    assert not render(templates, results, examples=0).css("#funnel details")


def test_reasons_are_told_in_words(templates, results):
    tree = render(templates, results)
    rows = {row.css_first("th").text(): row.text() for row in tree.css("#funnel tbody tr")}
    assert "孕期" in rows["Biological sex"]
    assert "one copy is kept" in rows["Duplicate"]
    assert "A new reason" in rows
    [spec] = checks.charts(tree, "#funnel")
    assert checks.rows(spec, "name")[1:] == list(rows)[2:]


def test_an_untrusted_model_gets_a_warning_and_no_number(templates, results):
    tree = render(templates, results)
    row = next(r for r in tree.css("#bias tbody tr") if r.css_first("th").text() == "headless")
    assert "not to be trusted" in row.text()
    assert "not above the majority-class baseline" in row.text()
    assert "new_reason" in row.text()
    assert not re.search(r"\d", row.text())
    assert len([node for node in tree.css("#bias *") if node.text() == "headless"]) == 4


def bias_table(tree, caption):
    table = next(t for t in tree.css("#bias table") if t.css_first("caption").text() == caption)
    return [[cell.text().strip() for cell in row.css("th, td")] for row in table.css("tbody tr")]


def test_most_male_and_most_female_sentences(templates, results):
    scores = pq.read_table(results / "slguset/bias/tiny-bert-zh.parquet")["bias"].to_pylist()
    sentences = pq.read_table(results / "slguset/slguset.parquet")["sentence"].to_pylist()
    ranked = sorted((b, s) for b, s in zip(scores, sentences, strict=True) if b is not None)
    male, female = render(templates, results).css_first("#bias .columns").css("ol.sentences")
    assert male.css_first(".sentence").text() == ranked[-1][1]
    assert female.css_first(".sentence").text() == ranked[0][1]
    assert len(male.css("li")) == 5
    assert male.css_first("mark").text() in ("男人", "女人", "他", "她", "爸爸", "妈妈")


def test_one_figure_has_the_distributions_of_all_models(templates, results):
    tree = render(templates, results)
    drawn = [one for one in checks.charts(tree, "#bias") if "Bias of" in one["description"]]
    assert len(drawn) == 2  # one per edition
    assert checks.rows(drawn[0], "name")[:2] == ["tiny-bert-zh", "bert-base-chinese"]
    (caption,) = tree.css("#bias-slguset-distribution + figure figcaption")
    assert "1 sentence was not scored by tiny-bert-zh" in caption.text()
    assert "headless" not in caption.text()


def test_the_figure_shows_the_table_that_stands_beneath_it(templates, results):
    tree = render(templates, results)
    (drawn, _) = [one for one in checks.charts(tree, "#bias") if "Bias of" in one["description"]]
    with (results / "tables/bias/slguset/distribution.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    shown = [row for row in rows if row["sentences"] != "0"]
    bars = drawn["data"]["values"]
    assert [one["share"] for one in bars] == [
        pytest.approx(float(r["share"]), abs=1e-6) for r in shown
    ]
    for one, row in zip(bars, shown, strict=True):  # an open end is as wide as the other bins
        assert one["low"] == float(row["low"] or -1.5) and one["high"] == float(row["high"] or 1.5)
    links = tree.css("#bias-slguset-distribution + figure .downloads a")
    assert [link.attributes["href"] for link in links][::3] == [
        "tables/bias_slguset_distribution.csv",
        "provenance.html#file-tables-bias-slguset-distribution-csv",
    ]


def test_no_model_to_trust_leaves_no_figure_of_distributions(templates, results):
    table = results / "tables/bias/slguset/distribution.csv"
    table.write_text("model,low,high,sentences,share\n", encoding="utf-8")
    tree = render(templates, results)
    assert tree.css_first("#bias-slguset-distribution") is None
    assert tree.css_first("#bias-slguset_published-distribution") is not None


def test_the_verdict_in_words(templates, results):
    rows = bias_table(render(templates, results), "Bias per model: This run’s data set")
    assert rows[0][4] == rows[1][4] == "leans male"


def test_bias_by_original_gender_pair_and_compound(templates, results):
    tree = render(templates, results)
    rows = bias_table(tree, "Bias by original gender: This run’s data set")
    assert [row[0] for row in rows] == ["tiny-bert-zh", "bert-base-chinese"]
    assert rows[0][3:5] == ["50\xa0%", "25\xa0%"]
    caption = "Pairs by original gender and direction, tiny-bert-zh: This run’s data set"
    rows = bias_table(tree, caption)
    assert [row[0] for row in rows][:2] == ["All", "男人/女人"]
    assert rows[1][1] == "6" and rows[1][3] == "50\xa0%"
    rows = bias_table(tree, "男婴/女婴 by original gender and direction: This run’s data set")
    assert [row[0] for row in rows] == ["tiny-bert-zh", "bert-base-chinese"]
    absent = [node.text() for node in tree.css("#bias .absent")]
    assert absent == ["No scored sentence contains these words."] * 2


def test_ways_to_read_a_word_stand_side_by_side(templates, results):
    rows = bias_table(render(templates, results), "Ways to read a word: This run’s data set")
    assert len(rows) == 8
    assert rows[0][:2] == ["tiny-bert-zh", "Whole word, both orders"]
    assert rows[3][1] == "One mask, first character" and rows[3][-1] == "2"


def test_other_methods_beside_the_bias(templates, results):
    rows = bias_table(
        render(templates, results), "Other methods beside the bias: This run’s data set"
    )
    assert rows[0] == ["tiny-bert-zh", "AUL", "55.0\xa0%", "45.0\xa0%", "60.0\xa0%", "0.31",
                       "+0.10 to +0.50", "0.30", "17"]  # fmt: skip
    assert rows[1][1] == "a_new_method"
    assert rows[2][0] == "bert-base-chinese" and "It can score too few" in rows[2][1]


def test_heat_maps_of_trusted_models(templates, results):
    tree = render(templates, results)
    drawn = [one for one in checks.charts(tree, "#bias") if "between" in one["description"]]
    pearson, spearman = drawn[:2]
    assert checks.rows(pearson, "name") == ["1 tiny-bert-zh", "2 bert-base-chinese"]
    assert checks.rows(pearson, "text") == ["0.50", "0.50"]
    assert checks.rows(spearman, "text") == ["−0.40", "−0.40"]
    assert checks.rows(spearman, "kind") == ["evidence", "evidence"]


def test_problems_of_the_published_file_lead_to_what_is_known_of_them(templates, results):
    tree = render(templates, results)
    links = tree.css("#published td a[href^='known_errors.html#']")
    assert [link.attributes["href"] for link in links] == ["known_errors.html#slguset-positions"]


def test_subject_words_of_both_directions(templates, results):
    tree = render(templates, results)
    rows = bias_table(tree, "Subject words, tiny-bert-zh: This run’s data set")
    assert rows[0] == ["厨房 3 : 1"] * 4
    assert rows[2] == ["male 1 : 1", "male 1 : 1", "female 1 : 1", "female 1 : 1"]
    assert {node.text() for node in tree.css("#bias .own")} == {"male", "female"}


def test_hostile_strings_stay_text(templates, tmp_path):
    folder = made_results.write_hostile(tmp_path / "results", HOSTILE)
    entry = dict.fromkeys(("stage", "code"), HOSTILE) | {
        "file": f"results/{HOSTILE}",
        "kind": "file", "sha256": "0" * 64, "bytes": 1, "rows": 1, "columns": [HOSTILE],
        "parameters": {HOSTILE: HOSTILE}, "packages": {HOSTILE: HOSTILE}, "counts": {HOSTILE: 1},
        "inputs": {HOSTILE: [{"sha256": HOSTILE, "file": HOSTILE}]},
    }  # fmt: skip
    document = {"files": [entry]}
    provenance = tmp_path / "provenance.json"
    provenance.write_text(json.dumps(document), encoding="utf-8")
    tree = render(templates, folder, provenance=provenance)
    checks.check_nothing_injected(tree)
    for section in ("funnel", "bias", "quarantine", "annotation", "published"):
        assert "<script>alert(1)</script>" in tree.css_first(f"#{section}").text(), section
    assert tree.css_first("title").text() == "SlguSet · Evenhand"
    assert "␀␛" in text(tree, "#quarantine")
    assert "{{ 7*7 }}" in text(tree, ".sentence")


def test_marks_of_direction_turn_nothing_around_them(templates, tmp_path):
    tree = render(templates, made_results.write_hostile(tmp_path / "results", HOSTILE))
    assert any("\u202e" in node.text() for node in tree.css(".sentence"))
    for isolated in tree.css("bdi, code, svg, script"):
        isolated.decompose()
    for line in tree.css("p, li, dd, figcaption, caption, .small"):
        assert "\u202e" not in line.text()


def test_asks_nothing_of_the_network(templates, results):
    checks.check_no_request(render(templates, results))


def test_the_same_input_gives_the_same_bytes(templates, results, tmp_path):
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        write_slguset_page(templates=templates, out=page, **made_results.arguments(results))
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert str(tmp_path) not in pages[0].read_text(encoding="utf-8")


def test_can_be_used_without_eyes_or_mouse(templates, results, tmp_path):
    provenance = tmp_path / "provenance.json"
    files = sorted([*results.glob("slguset/*.*"), *results.glob("tables/*/*.csv")])
    collect_provenance(files=files, out=provenance, table=tmp_path / "p.csv")
    tree = render(templates, results, provenance=provenance)
    checks.check_usable(tree)
    for node in tree.css(".sentence"):
        assert node.attributes["lang"] == "zh-Hans"


def test_leads_to_what_made_the_files(templates, results, tmp_path):
    provenance = tmp_path / "provenance.json"
    collect_provenance(
        files=[results / "tables/corpus/funnel.csv"], out=provenance, table=tmp_path / "p.csv"
    )
    section = render(templates, results, provenance=provenance).css_first("#files")
    assert section.css_first("a").attributes["href"] == "provenance.html"
    assert "traces the one file of" in section.text() and "0 of them are traced" in section.text()
    assert "not collected" in text(render(templates, results), "#files")


def test_links_to_the_pages_that_are_made(templates, results):
    links = render(templates, results).css("nav[aria-label=Pages] a")
    assert [a.attributes["href"] for a in links] == PAGE_FILES
    assert [a.attributes.get("aria-current") for a in links].count("page") == 1
    own = next(a for a in links if a.attributes["href"] == PAGES["slguset"][0])
    assert own.attributes.get("aria-current") == "page"
    assert not render(templates, results, pages=["slguset"]).css("nav[aria-label=Pages]")
    with pytest.raises(InputError, match="no page 'other'"):
        render(templates, results, pages=["other"])


def test_columns_of_a_table_add_up(templates, results):
    for table in render(templates, results).css("table"):
        widths = set()
        for row in table.css("tbody tr"):
            widths.add(sum(int(c.attributes.get("colspan", 1)) for c in row.css("th, td")))
        assert len(widths) == 1, table.css_first("caption").text()


def test_runs_as_a_stage(templates, results, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EVENHAND_STATE", raising=False)
    page = tmp_path / "report/index.html"
    arguments = {"templates": templates, "out": page, **made_results.arguments(results)}
    record = stage.execute(write_slguset_page, arguments)
    assert record["counts"]["bytes"] == page.stat().st_size
    changed = tmp_path / "style.css"
    changed.write_text("body { color: inherit }", encoding="utf-8")
    arguments["templates"] = [*(t for t in templates if t.name != "style.css"), changed]
    stage.execute(write_slguset_page, arguments)
    assert "color: inherit }" in page.read_text(encoding="utf-8")


@pytest.mark.mirror
def test_the_published_sentences_make_a_page(templates, mirror, tmp_path):
    import csv

    path = mirror / "chinese_gender/slguset/SlguSet.csv"
    with path.open(encoding="utf-8-sig", newline="") as stream:
        published = list(csv.DictReader(stream))
    male = {"男", "他", "爸爸", "父", "儿子", "叔叔", "哥哥", "弟弟", "爷爷", "丈夫", "公", "爷"}
    rows = []
    for row in published:
        own, other = row["原始关键词"], row["对立关键词"]
        gender = "male" if own in male else "female"
        pair = f"{own}/{other}" if gender == "male" else f"{other}/{own}"
        place = row["句子"].index(own)
        rows.append(made_results.row_of(row["句子"], pair, own, other, own, other, gender, place))
    tree = render(templates, made_results.write_results(tmp_path / "results", rows))
    assert "20,000" in text(tree, "section#dataset tfoot")
    shown = {node.text() for node in tree.css("#bias .sentence")}
    assert shown <= {row["句子"] for row in published}
    drawing = sum((checks.TEMPLATES / name).stat().st_size for name in DRAWING)
    assert (tmp_path / "results/report.html").stat().st_size - drawing < 500_000


def test_every_table_for_download_is_a_result(templates, results):
    tree = render(templates, results)
    (results / "slguset_published/problems.csv").touch()  # other stages write these
    checks.check_downloads(tree, results, {"slguset", "slguset_published"})
