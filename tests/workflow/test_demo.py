"""The demo shows the whole system: enough candidates, every trap met, the sheets read."""

import json

import pytest

from evenhand.io.quarantine import REASONS
from evenhand.io.tables import read_rows
from harness import checkout

#: What the demo's broken files and hostile stories are made to bring up.
QUARANTINED = {
    *("missing_field", "broken_json", "truncated_archive", "undecodable_bytes"),
    *("nul_bytes", "damaged_sentence", "empty_file"),
}

TARGETS = [
    "results/slguset/candidates.parquet",
    "results/tables/corpus",
    "results/slguset/annotation/demo/sheets",
    "results/tables/annotation",
    "results/slguset/README.md",
    "results/slguset_published/report.json",
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    made = checkout(tmp_path_factory.mktemp("demo"))
    # the model takes most of the demo's time, and is tried elsewhere
    made.edit("config/config.yaml", "  vocabulary: tiny-bert-zh\n", "")
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
