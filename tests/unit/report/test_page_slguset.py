"""The SlguSet report, with all results and without some."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.core.tables import read_table, write_tables
from evenhand.io.quarantine import ROWS_PER_REASON
from evenhand.report.collect_provenance import collect_provenance
from evenhand.report.page_list import DRAWING
from evenhand.report.sections.funnel import EXAMPLES
from evenhand.report.sections.slguset import judge
from evenhand.slguset.count_funnel import FUNNEL, QUARANTINE
from unit.cases import read_csv
from unit.report import checks, made_results
from unit.report.checks import text

SECTIONS = ("funnel", "dataset", "annotation", "bias", "published", "quarantine", "files")

#: Results that are written together.
DATASET = ["slguset/slguset.parquet", "tables/sentences/slguset", "slguset/statistics.json"]
GROUPS = {
    "corpus": ["tables/corpus", "slguset/candidates.parquet", "slguset/sentences/*"],
    "candidates": ["slguset/candidates.parquet"],
    "annotation": ["slguset/annotation/*", "slguset/annotation/1/*", "tables/annotation"],
    "answers": ["slguset/annotation/answers.parquet", "tables/annotation", *DATASET],
    "dataset": DATASET,
    "bias": ["tables/bias/*"],
    "published": ["slguset_published/*", "tables/sentences/slguset_published", "tables/published"],
}


@pytest.fixture
def page(write, results):
    def written(*without, more=()):
        return write("slguset", [*made_results.files(results, *without), *more])

    return written


@pytest.mark.parametrize("group", GROUPS)
def test_renders_without(page, group):
    tree = page(*GROUPS[group])
    for id in SECTIONS:
        assert len(text(tree, f"section#{id}")) > 40
    assert "None" not in tree.body.text()


def test_renders_without_other_tables_of_bias(page, results):
    for folder in results.glob("tables/bias/*"):
        write_tables(folder, [(made_results.BIAS["models"], read_table(folder / "models.csv"))])
    assert len(text(page(), "section#bias")) > 40


def test_renders_with_nothing(write):
    tree = write("slguset")
    assert text(tree, ".lead") == "Nothing was built yet."
    assert len(tree.css(".absent")) == len(SECTIONS)


def test_the_published_file_alone(page):
    tree = page(*GROUPS["corpus"], *GROUPS["annotation"], *DATASET)
    lead = text(tree, ".lead")
    assert (
        lead.startswith("This page shows a stand-in for the authors’ published file, with ")
        and "beside it" not in lead
    )
    assert "sheets are read" not in text(tree, "#dataset")
    assert "builds no data set of its own" in text(tree, "#dataset")


def test_waits_for_sheets_and_gives_the_next_steps(page):
    tree = page(*GROUPS["answers"])
    assert "do this next" in text(tree, ".notice.waiting")
    assert "handed_out.csv" in text(tree, ".notice.waiting")
    assert "18 of these were drawn" in text(tree, ".lead + ul")
    assert not page().css(".notice.waiting")


def test_waits_for_a_later_round_beside_the_data_set_of_an_earlier_one(page, results):
    rows = pq.read_table(results / "slguset/annotation/sample.parquet").to_pylist()
    later = [row | {"sentence_id": f"{i:016x}", "round": "2027"} for i, row in enumerate(rows)]
    path = results / "later/sample.parquet"
    path.parent.mkdir()
    pq.write_table(pa.Table.from_pylist(later), path)
    tree = page(more=[path])
    assert "come back for the round 2027." in text(tree, ".notice.waiting")
    answered = "3 annotators, who judged 18; 1 sentence waits for more answers; the 18"
    assert answered in text(tree, ".lead + ul")


def test_examples_are_the_first_by_id_of_each_reason(page, results):
    rows = pq.read_table(results / "slguset/candidates.parquet").to_pylist()
    first = [row["sentence"] for row in rows if row["verdict"] == "biology"][:EXAMPLES]
    groups = page().css("#funnel details")
    assert len(groups) == 1 + len(made_results.REASONS)
    assert not [group for group in groups if "open" in group.attributes]
    assert {len(group.css("li")) for group in groups} == {EXAMPLES}
    group = next(group for group in groups if "Biology" in group.text())
    assert [node.text() for node in group.css(".sentence")] == first
    assert {node.text() for node in group.css("mark.evidence")} == {"孕期"}
    assert len(group.css("mark.keyword")) == EXAMPLES


def test_without_a_trusted_model_there_is_no_figure_of_distributions(page, results):
    table = results / "tables/bias/slguset/distribution.csv"
    table.write_text("model,low,high,sentences,share\n", encoding="utf-8")
    tree = page()
    assert tree.css_first("#bias-slguset-distribution") is None
    assert tree.css_first("#bias-slguset_published-distribution") is not None


def test_links_to_the_provenance(page, results, tmp_path):
    provenance = tmp_path / "provenance.json"
    collect_provenance(
        files=[results / "tables/corpus/funnel.csv"], out=provenance, table=tmp_path / "p.csv"
    )
    section = page(more=[provenance]).css_first("#files")
    assert section.css_first("a").attributes["href"] == "provenance.html"
    assert "traces the one file of" in section.text() and "0 of them are traced" in section.text()
    assert "not collected" in text(page(), "#files")


def test_quarantined_parts_that_share_a_last_row_are_counted(write, tmp_path):
    numbered = [(n, f"line {n}", 1) for n in range(1, ROWS_PER_REASON + 1)]
    rows = [("a.jsonl", *row) for row in [*numbered, (101, "more", 50)]] + [("b.jsonl", 3, "x", 1)]
    table = [
        dict(zip(("file", "position", "detail", "parts"), row, strict=True))
        | {"reason": "broken_json", "unit": "line"}
        for row in rows
    ]
    corpus = tmp_path / "tables/corpus"
    write_tables(corpus, [(FUNNEL, []), (QUARANTINE, table)])
    by_reason, by_file = write("slguset", [corpus]).css("#quarantine table")
    assert by_reason.css("td")[-1].text() == str(ROWS_PER_REASON + 51)
    cells = [[cell.text() for cell in row.css("th, td")] for row in by_file.css("tbody tr")]
    assert cells == [
        ["a.jsonl", "broken_json", str(ROWS_PER_REASON + 50), "line 1: line 1"],
        ["b.jsonl", "broken_json", "1", "line 3: x"],
    ]


@pytest.mark.parametrize(
    ("sentences", "alpha", "agreement", "words"),
    [
        (None, 0.9, 1, "is not usable yet: the annotators’ answers are missing."),
        (200, None, 1, "was not measured."),
        (
            200,
            0.7,
            0.9,
            "(agreement beyond chance) is 0.70, and tentative conclusions need 0.667, others 0.8.",
        ),
        (200, 0.34, 0.6, "is 0.34, and tentative conclusions need 0.667, others 0.8."),
        (200, 0.34, 0.92, "as most answers are the same, chance alone would give about 88\xa0%."),
    ],
)
def test_the_agreement_of_annotators_decides_whether_a_data_set_is_usable(
    sentences, alpha, agreement, words
):
    row = {"krippendorff_alpha": alpha, "percent_agreement": agreement}
    assert judge(sentences, row)[-1].endswith(words)


@pytest.mark.mirror
def test_the_published_sentences_make_a_page(write, mirror, tmp_path):
    path = mirror / "chinese_gender/slguset/SlguSet.csv"
    male = {"男", "他", "爸爸", "父", "儿子", "叔叔", "哥哥", "弟弟", "爷爷", "丈夫", "公", "爷"}
    rows = []
    published = read_csv(path)
    for row in published:
        word, other = row["原始关键词"], row["对立关键词"]
        gender = "male" if word in male else "female"
        pair = f"{word}/{other}" if gender == "male" else f"{other}/{word}"
        place = row["句子"].index(word)
        rows.append(made_results.row_of(row["句子"], pair, word, other, word, other, gender, place))
    results = made_results.write_results(tmp_path / "results", rows)
    tree = write("slguset", made_results.files(results))
    assert "20,000" in text(tree, "section#dataset tfoot")
    sentences = {node.text() for node in tree.css("#bias .sentence")}
    assert sentences <= {row["句子"] for row in published}
    drawing = sum((checks.TEMPLATES / name).stat().st_size for name in DRAWING)
    assert (tmp_path / "slguset.html").stat().st_size - drawing < 500_000
