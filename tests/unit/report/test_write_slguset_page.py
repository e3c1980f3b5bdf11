import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand import plan_report
from evenhand.core.tables import read_table, write_tables
from evenhand.report.collect_provenance import collect_provenance
from evenhand.report.page_list import DRAWING
from evenhand.report.write_slguset_page import SECTIONS, write_slguset_page
from unit.report import checks, made_results

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


def test_examples_are_the_first_by_id(templates, results):
    rows = pq.read_table(results / "slguset/candidates.parquet").to_pylist()
    wanted = [row["sentence"] for row in rows if row["verdict"] == "biology"][:2]
    tree = render(templates, results, examples=2)
    group = next(d for d in tree.css("#funnel details") if "Biological" in d.text())
    assert [node.text() for node in group.css(".sentence")] == wanted
    assert {node.text() for node in group.css("mark.evidence")} == {"孕期"}
    assert len(group.css("mark.keyword")) == 2
    assert not render(templates, results, examples=0).css("#funnel details")


def test_no_model_to_trust_leaves_no_figure_of_distributions(templates, results):
    table = results / "tables/bias/slguset/distribution.csv"
    table.write_text("model,low,high,sentences,share\n", encoding="utf-8")
    tree = render(templates, results)
    assert tree.css_first("#bias-slguset-distribution") is None
    assert tree.css_first("#bias-slguset_published-distribution") is not None


def test_leads_to_what_made_the_files(templates, results, tmp_path):
    provenance = tmp_path / "provenance.json"
    collect_provenance(
        files=[results / "tables/corpus/funnel.csv"], out=provenance, table=tmp_path / "p.csv"
    )
    section = render(templates, results, provenance=provenance).css_first("#files")
    assert section.css_first("a").attributes["href"] == "provenance.html"
    assert "traces the one file of" in section.text() and "0 of them are traced" in section.text()
    assert "not collected" in text(render(templates, results), "#files")


@pytest.mark.mirror
def test_the_published_sentences_make_a_page(templates, mirror, tmp_path):

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
