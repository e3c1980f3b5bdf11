"""The demo shows the whole system: enough candidates, every trap met, the sheets read.

What is extracted from its texts is kept: each candidate with its verdict, and each attribute of a
case with its evidence.
"""

import json

import pyarrow.parquet as pq
import pytest

from evenhand.io.quarantine import REASONS
from evenhand.io.tables import read_rows
from expected import check_expected
from harness import checkout

#: What the demo's broken files and hostile stories are made to bring up.
QUARANTINED = {
    *("missing_field", "broken_json", "truncated_archive", "undecodable_bytes"),
    *("nul_bytes", "damaged_sentence", "empty_file", "no_text"),
}

COURTS = ("ecthr", "scotus", "fscs", "cail")

TARGETS = [
    "results/slguset/candidates.parquet",
    "results/tables/corpus",
    "results/slguset/annotation/demo/sheets",
    "results/tables/annotation",
    "results/slguset/README.md",
    "results/slguset_published/report.json",
    *(f"results/tables/cases/{court}" for court in COURTS),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    made = checkout(tmp_path_factory.mktemp("demo"))
    # the model takes most of the demo's time, and is tried elsewhere
    made.edit("config/config.yaml", "  vocabulary: tiny-bert-zh\n", "")
    for _ in range(2):
        made.edit("config/config.yaml", "      tokenizers: [tiny-bert-en]\n", "")
    made.run(*TARGETS)
    return made.root / "results"


def test_there_are_enough_candidates_of_each_word(results):
    accepted = [
        row
        for row in read_rows(results / "slguset/candidates.parquet")
        if row["verdict"] == "accepted"
    ]
    assert len(accepted) >= 250
    surfaces = [row["surface"] for row in accepted]
    assert len(set(surfaces)) == 38
    assert min(surfaces.count(surface) for surface in surfaces) >= 6
    for row in accepted:
        assert row["sentence"][row["start"] : row["end"]] == row["keyword"]
        assert row["sentence"][row["surface_start"] : row["surface_end"]] == row["surface"]


def test_nothing_is_lost(results):
    counts = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (results / "slguset/sentences").glob("*.counts.json")
    ]
    candidates = list(read_rows(results / "slguset/candidates.parquet"))
    kept = sum(one["keyword_sentences"] for one in counts)
    assert sum(row["copies"] for row in candidates) == kept
    quarantined = {reason for one in counts for reason in one["quarantined"]}
    assert quarantined == QUARANTINED <= set(REASONS)


def test_hostile_text_stays_text(results):
    card = (results / "slguset/README.md").read_text(encoding="utf-8")
    assert "<script" not in card
    sheet = (results / "slguset/annotation/demo/sheets/annotator_1.csv").read_text("utf-8-sig")
    cells = [cell for line in sheet.splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_the_filled_sheets_belong_to_the_round(results):
    report = (results / "tables/annotation/agreement.csv").read_text(encoding="utf-8").splitlines()
    assert report[-1].startswith("all,228,")


def lines_of(path, *columns):
    """A line for each row of a Parquet file."""
    rows = read_rows(path)
    return [" | ".join(str(row[column] or "") for column in columns) for row in rows]


def test_each_candidate_has_the_verdict_that_is_kept(results):
    told = ("pair", "surface", "gender", "verdict", "evidence", "sentence")
    lines = lines_of(results / "slguset/candidates.parquet", *told)
    check_expected("demo/candidates.txt", "\n".join(sorted(lines)))


@pytest.mark.parametrize("court", COURTS)
def test_each_case_has_what_is_kept_of_it(results, court):
    file = results / f"legal/{court}/{court}.parquet"
    told = [name for name in pq.read_schema(file).names if name not in ("text", "source")]
    lines = [", ".join(told), *sorted(lines_of(file, *told))]
    for table in sorted((results / "tables/cases" / court).glob("*.csv")):
        lines += [table.name, *table.read_text(encoding="utf-8").splitlines()]
    check_expected(f"demo/{court}.txt", "\n".join(lines))
