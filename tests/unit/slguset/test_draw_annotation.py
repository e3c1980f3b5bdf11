import itertools
import json
import random
import re
import shutil
import xml.etree.ElementTree as ET
from collections import Counter

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.core.files import content_digest
from evenhand.errors import InputError
from evenhand.sheets.tasks import HANDED_OUT, read_handed_out
from evenhand.slguset.annotation import TASK, random_order
from evenhand.slguset.dataset import spans_of, swap
from evenhand.slguset.draw_annotation import draw_annotation
from made_sentences import (
    ANNOTATION_TEMPLATES,
    candidate_row,
    made_sentences,
    write_candidates,
    write_keywords_csv,
)
from unit.cases import read_csv


@pytest.fixture
def keywords(tmp_path):
    return write_keywords_csv(tmp_path / "keywords.csv")


@pytest.fixture
def candidates(tmp_path):
    rows = [candidate_row(s) for s in made_sentences(60)]
    rows.append(candidate_row("第一天，他没来。", verdict="length"))
    rows.append(candidate_row("他和她。", verdict="several_keywords"))
    return write_candidates(tmp_path / "candidates.parquet", rows)


def draw(folder, candidates, keywords, **options):
    out, drawn, sheets = (folder / name for name in ("sample.parquet", "drawn.csv", "sheets"))
    shutil.rmtree(sheets, ignore_errors=True)
    counts = draw_annotation(
        candidates=candidates,
        keywords=keywords,
        out=out,
        drawn=drawn,
        sheets=sheets,
        **ANNOTATION_TEMPLATES,
        **({"round": "r1", "sentences_per_pair": 6} | options),
    )
    return pq.read_table(out).to_pylist(), read_csv(drawn), counts


def freeze(folder, name="r1"):
    """A copy of the list beside the sheets."""
    return shutil.copy(folder / "sheets" / HANDED_OUT, folder / f"{name}.csv")


def ids(sample):
    return {row["sentence_id"] for row in sample}


def test_quotas_are_met_half_and_half(tmp_path, candidates, keywords):
    sample, drawn, counts = draw(tmp_path, candidates, keywords)
    assert [row["rank"] for row in sample] == list(range(1, 19))
    assert {row["verdict"] for row in sample} == {"accepted"}
    assert [(row["surface_male"], row["gender"], row["drawn"]) for row in drawn] == [
        (word, gender, "3") for word in ("男人", "他", "爷爷") for gender in ("male", "female")
    ]
    assert counts == {"wanted": 18, "drawn": 18, "random": 0, "missing": 0} | {
        "frozen": False,
        "rejected_since": 0,
        "lost": 0,
    }
    schema = pq.read_schema(tmp_path / "sample.parquet")
    added = ["round", "rank", "random", "assigned", "lost"]
    assert schema.names == [*pq.read_schema(candidates).names, *added]


def test_the_order_mixes_the_pairs_and_depends_on_the_seed(tmp_path, candidates, keywords):
    first, *_ = draw(tmp_path, candidates, keywords, sentences_per_pair=20)
    pairs = [row["pair"] for row in first]
    assert sum(a != b for a, b in itertools.pairwise(pairs)) > 20
    other, *_ = draw(tmp_path, candidates, keywords, sentences_per_pair=20, seed=2)
    assert ids(other) == ids(first)  # that is all there is
    assert [row["sentence_id"] for row in other] != [row["sentence_id"] for row in first]
    other, *_ = draw(tmp_path, candidates, keywords, seed=2)
    assert ids(other) != ids(draw(tmp_path, candidates, keywords)[0])


def test_the_order_of_the_rows_has_no_effect(tmp_path, candidates, keywords):
    outputs = [tmp_path / name for name in ("sample.parquet", "drawn.csv", "sheets")]
    draw(tmp_path, candidates, keywords)
    digests = [content_digest(path) for path in outputs]
    rows = pq.read_table(candidates).to_pylist()
    random.Random(1).shuffle(rows)
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(candidates)), candidates)
    draw(tmp_path, candidates, keywords)
    assert [content_digest(path) for path in outputs] == digests


def test_shortfalls_are_reported(tmp_path, candidates, keywords):
    sample, drawn, counts = draw(tmp_path, candidates, keywords, sentences_per_pair=24)
    assert len(sample) == counts["drawn"] == 60
    assert counts["missing"] == 12
    assert [(row["wanted"], row["available"], row["missing"]) for row in drawn] == [
        ("12", "10", "2")
    ] * 6


def test_a_quota_table_takes_over(tmp_path, candidates, keywords):
    quotas = tmp_path / "quotas.csv"
    quotas.write_text("surface_male,surface_female,sentences\n他,她,4\n", encoding="utf-8")
    sample, drawn, _ = draw(tmp_path, candidates, keywords, quotas=quotas)
    assert sorted(row["surface"] for row in sample) == ["他", "他", "她", "她"]
    assert [row["wanted"] for row in drawn] == ["0", "0", "2", "2", "0", "0"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"quotas": "他,她,3"}, "3 sentences of a pair"),
        ({"quotas": "他,她,-2"}, r"quotas\.csv:2: '-2' is no number"),
        ({"quotas": "男孩,女孩,4"}, "no surface pair 男孩/女孩"),
        ({"sentences_per_pair": 5}, "even number"),
        ({"annotators": ["a", "A"]}, "cannot each have a file"),
        ({"annotators": ["a", "handed_out"]}, "cannot each have a file"),
        ({"per_sentence": 4}, "per_sentence is 4, and there are 3 annotators"),
    ],
)
def test_wrong_options_are_an_error(tmp_path, candidates, keywords, options, problem):
    if "quotas" in options:
        quotas = tmp_path / "quotas.csv"
        header = "surface_male,surface_female,sentences"
        quotas.write_text(f"{header}\n{options['quotas']}\n", encoding="utf-8")
        options = {"quotas": quotas}
    with pytest.raises(InputError, match=problem):
        draw(tmp_path, candidates, keywords, **options)


def test_nothing_is_handed_out_twice(tmp_path, candidates, keywords):
    seen, handed_out = set(), []
    for name in ("r1", "r2", "r3"):
        sample, drawn, _ = draw(tmp_path, candidates, keywords, round=name, handed_out=handed_out)
        assert not ids(sample) & seen
        assert drawn[0]["available"] == str(10 - 3 * len(handed_out))
        seen |= ids(sample)
        handed_out.append(freeze(tmp_path, name))
    _, _, counts = draw(tmp_path, candidates, keywords, round="r4", handed_out=handed_out)
    assert (counts["drawn"], counts["missing"]) == (6, 12)


def test_a_round_that_was_handed_out_is_frozen(tmp_path, candidates, keywords):
    first, *_ = draw(tmp_path, candidates, keywords)
    handed_out = [freeze(tmp_path)]
    rows = pq.read_table(candidates).to_pylist()
    rejected = first[0]["sentence_id"]
    rows = [row | {"verdict": "name"} if row["sentence_id"] == rejected else row for row in rows]
    rows += [candidate_row(f"新来的第{n}个，她说。") for n in range(50)]
    write_candidates(candidates, rows)
    again, _, counts = draw(
        tmp_path, candidates, keywords, handed_out=handed_out, seed=7, sentences_per_pair=8
    )
    assert [(row["rank"], row["sentence_id"]) for row in again] == [
        (row["rank"], row["sentence_id"]) for row in first
    ]
    assert counts == {"wanted": 24, "drawn": 18, "random": 0, "missing": 6} | {
        "frozen": True,
        "rejected_since": 1,
        "lost": 0,
    }


@pytest.mark.parametrize("lost", ["row", "keyword", "opposite"])
def test_a_frozen_sentence_that_is_gone_is_reported(tmp_path, candidates, keywords, capsys, lost):
    first, *_ = draw(tmp_path, candidates, keywords)
    handed_out = freeze(tmp_path)
    gone = first[4]["sentence_id"]
    rows = pq.read_table(candidates).to_pylist()
    if lost == "row":
        rows = [row for row in rows if row["sentence_id"] != gone]
    else:
        rows = [r | {lost: None if lost == "keyword" else "它"} if r["sentence_id"] == gone else r
                for r in rows]  # fmt: skip
    write_candidates(candidates, rows)
    again, drawn, counts = draw(tmp_path, candidates, keywords, handed_out=[handed_out])
    assert f"r1.csv:6: sentence {gone} is no longer a candidate" in capsys.readouterr().err
    assert (counts["lost"], sum(int(row["drawn"]) for row in drawn)) == (1, 17)
    assert [row["lost"] for row in again] == [row["rank"] == 5 for row in again]
    assert again[4]["sentence"] == first[4]["sentence"]
    assert (tmp_path / "sheets/handed_out.csv").read_bytes() == handed_out.read_bytes()
    sheet = (tmp_path / "sheets/annotator_1.csv").read_text(encoding="utf-8-sig")
    assert gone not in sheet and sheet.count("\n") == 18


def test_each_sentence_goes_to_some_of_the_annotators(tmp_path, candidates, keywords):
    team = {"annotators": ["li", "wang", "zhao", "qian", "sun"], "per_sentence": 3}
    sample, *_ = draw(tmp_path, candidates, keywords, **team)
    assert {len(set(row["assigned"])) for row in sample} == {3}
    load = Counter(name for row in sample for name in row["assigned"])
    assert sorted(load.values()) == [10, 11, 11, 11, 11]  # 18 sentences, 3 each
    together = Counter(
        pair for row in sample for pair in itertools.combinations(row["assigned"], 2)
    )
    assert len(together) == 10  # everyone is compared with everyone
    own = [row["sentence_id"] for row in read_csv(tmp_path / "sheets/sun.csv")]
    assert own == [row["sentence_id"] for row in sample if "sun" in row["assigned"]]
    handed_out = [freeze(tmp_path)]
    again, *_ = draw(
        tmp_path, candidates, keywords, handed_out=handed_out, annotators=["zhou", "wu"]
    )
    assert [row["assigned"] for row in again] == [row["assigned"] for row in sample]
    assert not (tmp_path / "sheets/zhou.csv").exists()


def test_a_frozen_sentence_with_other_text_is_named(tmp_path, candidates, keywords):
    first, *_ = draw(tmp_path, candidates, keywords)
    handed_out, sentence = freeze(tmp_path), first[2]["sentence"]
    text = handed_out.read_text(encoding="utf-8-sig")
    handed_out.write_text(text.replace(f"{sentence},", f"{sentence}！,", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"r1\.csv:4: the text .* was changed"):
        draw(tmp_path, candidates, keywords, handed_out=[handed_out])


def test_nothing_to_draw_is_an_empty_sample_and_no_error(tmp_path, candidates, keywords, capsys):
    write_candidates(candidates, [candidate_row("第一天，他没来。", verdict="length")])
    rows, drawn, counts = draw(tmp_path, candidates, keywords)
    assert rows == [] and counts["drawn"] == 0 and drawn
    assert "no accepted sentence" in capsys.readouterr().err


EVIL = ["=HYPERLINK(他)", "+1-她在家。", "@他。", "'=她在家。", "－爷爷<b>&。"]


@pytest.fixture
def evil(tmp_path, keywords):
    """A round of sentences that look like formulas and markup, and the folder of its sheets."""
    path = write_candidates(tmp_path / "evil.parquet", [candidate_row(text) for text in EVIL])
    sample, *_ = draw(
        tmp_path, path, keywords, annotators=["王-1", "Li"], headings=["answer 判 断"]
    )
    assert {row["sentence"] for row in sample} == set(EVIL)
    return sample, tmp_path / "sheets"


def test_the_folder_of_sheets(evil):
    sample, folder = evil
    assert sorted(path.name for path in folder.iterdir()) == [
        *("Li.csv", "Li.xlsx", "handed_out.csv", "instructions.md", "label_studio.json"),
        *("label_studio.xml", "王-1.csv", "王-1.xlsx"),
    ]
    for row in (row for path in folder.glob("*.csv") for row in read_csv(path)):
        assert not any(cell.startswith(tuple("=+-@＝＋－＠")) for cell in row.values())
    entries = read_handed_out([folder / "handed_out.csv"], TASK)
    names = ("round", "rank", "sentence_id", "sentence")
    assert [entry.row for entry in entries.values()] == [
        {name: row[name] for name in names}
        | {"swapped_sentence": swap(row["sentence"], spans_of(row)), "annotators": "王-1 Li"}
        for row in sample
    ]
    text = (folder / "instructions.md").read_text(encoding="utf-8")
    assert "王-1 / Li" in text and text.endswith("\n")


def test_the_workbook(evil):
    sample, folder = evil
    book = openpyxl.load_workbook(folder / "Li.xlsx", rich_text=True)
    notes, sheet = book.worksheets
    text = "\n".join(str(cell.value) for (cell,) in notes.iter_rows() if cell.value)
    assert "Li" in text and "5 句" in text and "5 sentences" in text
    header = [cell.value for cell in sheet[1]]
    assert header[:4] == ["rank", "sentence", "swapped_sentence", "answer 判 断"]
    assert {str(rule.sqref): rule.formula1 for rule in sheet.data_validations.dataValidation} == {
        "D2:D6": '"accept,reject,unsure"',
        "E2:E6": '"a,b,c,name,other"',
    }
    for number, row in enumerate(sample, start=2):
        cells = sheet[number]
        assert all(cell.data_type != "f" for cell in cells)
        assert str(cells[1].value) == row["sentence"]
        for cell, word in ((cells[1], row["keyword"]), (cells[2], row["opposite"])):
            assert [str(block) for block in cell.value if block.font.b] == [word]
        assert [cell.value for cell in cells[3:]] == [None] * 3 + ["Li", "r1", row["sentence_id"]]


def test_the_label_studio_project(evil):
    sample, folder = evil
    text = (folder / "label_studio.json").read_text(encoding="utf-8")
    assert "爷爷" in text
    tasks = json.loads(text)
    assert [task["data"]["sentence"] for task in tasks] == [row["sentence"] for row in sample]
    (data,) = [task["data"] for task in tasks if "爷爷" in task["data"]["sentence"]]
    assert "&lt;b&gt;&amp;" in data["sentence_html"]
    assert re.findall(r"<b [^>]*>(.*?)</b>", data["sentence_html"]) == ["爷爷"]
    assert re.findall(r"<b [^>]*>(.*?)</b>", data["swapped_html"]) == ["奶奶"]
    config = ET.parse(folder / "label_studio.xml").getroot()
    assert {node.get("value")[1:] for node in config.iter("HyperText")} <= set(data)
    choices = {
        node.get("name"): [choice.get("value") for choice in node]
        for node in config.iter("Choices")
    }
    assert choices == {
        "answer": ["accept", "reject", "unsure"],
        "criterion": ["a", "b", "c", "name", "other"],
    }


def test_a_random_sample_is_drawn_beside_and_goes_on_in_the_next_round(
    tmp_path, candidates, keywords
):
    inventory = tmp_path / "inventory.parquet"
    pq.write_table(pa.table({"file": ["a.txt"]}), inventory)
    corpus = {"inventories": [inventory], "corpora": ["a"], "random_per_corpus": 10}
    plain, *_ = draw(tmp_path, candidates, keywords)
    first, _, counts = draw(tmp_path, candidates, keywords, **corpus)
    assert ids(plain) <= ids(first) and counts["random"] == 10
    sample = {row["sentence_id"] for row in first if row["random"]}
    assert sample == {*random_order(ids(made_accepted(candidates)), 1)[:10]}
    handed_out = [freeze(tmp_path)]
    second, *_ = draw(tmp_path, candidates, keywords, round="r2", handed_out=handed_out, **corpus)
    sample |= {row["sentence_id"] for row in second if row["random"]}
    order = random_order(ids(made_accepted(candidates)), 1)
    gapless = next(i for i, one in enumerate(order) if one not in ids(first) | ids(second))
    assert gapless >= 20 and not ids(first) & ids(second)


def test_the_most_uncertain_are_drawn_first(tmp_path, candidates, keywords):
    rows = made_accepted(candidates)
    far = {row["sentence_id"]: 0.5 + (-1) ** i * (i % 30) / 60 for i, row in enumerate(rows)}
    scores = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"sentence_id": [*far], "score": [*far.values()]}), scores)
    sample, *_ = draw(tmp_path, candidates, keywords, draw="uncertain", scores=[scores])
    with pytest.raises(InputError, match="no scores to draw by"):
        draw(tmp_path, candidates, keywords, draw="uncertain", round="other")
    for side in {(row["surface"], row["gender"]) for row in rows}:
        own = [r["sentence_id"] for r in rows if (r["surface"], r["gender"]) == side]
        drawn = [one for one in own if one in ids(sample)]
        others = [one for one in own if one not in drawn]
        assert max(abs(far[one] - 0.5) for one in drawn) <= min(abs(far[o] - 0.5) for o in others)


def made_accepted(candidates):
    return [r for r in pq.read_table(candidates).to_pylist() if r["verdict"] == "accepted"]
