"""The stages after `build_cases`, on what it really writes."""

import importlib

import pyarrow.parquet as pq
import pytest

from evenhand.core.tables import read_table
from evenhand.legal.build_cases import build_cases
from evenhand.legal.declaration import description
from evenhand.legal.draw_audit import draw_audit
from evenhand.legal.find_attributes import find_attributes
from evenhand.legal.read_audit import read_audit
from evenhand.legal.read_cases import read_cases
from evenhand.legal.records import write_records
from evenhand.legal.tabulate_cases import tabulate_cases
from evenhand.legal.tokenise_cases import tokenise_cases
from evenhand.report.write_legal_cards import write_legal_cards
from unit.legal import made_tokenizers
from unit.legal.made_cases import court, declaration, record, schema

#: The names of the unknown groups.
UNKNOWN = ("unknown", "n/a")


def build(folder, repository, kind, records):
    """Build the data set; return it and the folder of findings."""
    findings = folder / "findings"
    find_attributes(
        records=[records], tables=list((repository / "resources/legal").glob("*.csv")),
        out=findings, modules=[one.module for one in court(kind).attributes],
    )  # fmt: skip
    data = folder / "mine.parquet"
    others = {name: folder / name for name in ("counts", "splits", "duplicates", "split_counts")}
    build_cases(records=[records], findings=findings, out=data, **others)
    return data, findings


def measure(folder, repository, kind, records):
    """Run all stages; return the counts of some, and the folder of the tables."""
    data, findings = build(folder, repository, kind, records)
    about = {"dataset": "mine"}
    resources = repository / "resources/legal"
    templates = repository / "workflow/evenhand"
    model = made_tokenizers.save(folder / "model", made_tokenizers.bytes_with_merges())
    names = [one.name for one in court(kind).attributes]
    tokens, meta, tables = folder / "t.arrow", folder / "t.json", folder / "tables"
    counts = {
        "tokenise_cases": tokenise_cases(data=data, out=tokens, meta=meta, name="tiny", model=model)
    }
    tabulate_cases(
        data=data, claims=resources / "published_cross.csv", words=resources / "outcome_words.csv",
        out=tables, findings=findings, tokens=[tokens], metas=[meta], resamples=50,
        **about,
    )  # fmt: skip
    draw_audit(
        records=[records], findings=findings,
        instructions=templates / "legal/templates/audit.md.jinja", out=folder / "audit", **about,
    )  # fmt: skip
    counts["read_audit"] = read_audit(
        drawn=[folder / "audit" / name / "handed_out.csv" for name in names],
        sheets=[folder / "audit" / name / f"{name}.csv" for name in names],
        findings=findings, out=folder / "audit.csv", **about,
    )  # fmt: skip
    counts["write_legal_cards"] = write_legal_cards(
        data=[data], tables=[tables], template=templates / "report/cards/legal_card.md.jinja",
        out=[folder / "README.md"], datasets=["mine"], titles=["Mine"],
        sources=["made"],
    )  # fmt: skip
    return counts, tables


def agree(counts, tables, cases):
    """Check that all stages counted the same cases."""
    assert counts["tokenise_cases"]["cases"] == cases
    assert counts["write_legal_cards"] == {"mine": cases}
    [size] = [row for row in read_table(tables / "sizes.csv")
              if (row["quantity"], row["item"]) == ("cases", None)]  # fmt: skip
    assert size["ours"] == str(cases)
    known = {}
    for row in read_table(tables / "groups.csv"):
        if row["split"] == "all" and row["share_known"] is not None:
            known[row["attribute"]] = known.get(row["attribute"], 0) + row["cases"]
    rules = read_table(tables / "rules.csv")
    for attribute, count in known.items():
        own = [row for row in rules if row["attribute"] == attribute]
        assert {row["of"] for row in own} == {cases}
        assert sum(row["cases"] for row in own if row["value"] not in UNKNOWN) == count
    audit = counts["read_audit"]
    assert audit["drawn"] == audit["unanswered"] > 0


def test_made_records(tmp_path, repository):
    text = "{0}. The applicant was born in 19{0} and lives in Ghent. {1} worked in shop {0}."
    records = [
        record(
            n,
            text=(text.format(n, "He" if n % 2 else "She"), f"Fact number {n}: {n * n}, {n**3}."),
            labels=("6",) if n % 3 else (),
            metadata={"respondent": "BELGIUM" if n % 2 else "POLAND"},
            language="en",
        )
        for n in range(40, 90)
    ]
    write_records(tmp_path / "records.parquet", records, lambda: description(court("ecthr")))
    counts, tables = measure(tmp_path, repository, "ecthr", tmp_path / "records.parquet")
    assert pq.read_schema(tmp_path / "mine.parquet").equals(schema("ecthr"))
    agree(counts, tables, 50)


@pytest.mark.mirror
def test_real_judgments(tmp_path, repository, mirror):
    """JuDGE, of which some facts hold the end of the judgment."""
    module = importlib.import_module("evenhand.legal.formats.judge")
    read = read_cases(
        files=[mirror / "judge/judge_test_subset.jsonl"],
        tables=[repository / f"resources/legal/{name}.csv" for name in module.TABLES],
        out=tmp_path / "records.parquet", quarantine=tmp_path / "q.parquet",
        counts=tmp_path / "c.json", declaration=declaration("cail"), format="judge",
    )  # fmt: skip
    counts, tables = measure(tmp_path, repository, "cail", tmp_path / "records.parquet")
    agree(counts, tables, read["records"])
    rows = [row for row in read_table(tables / "leakage.csv") if row["label"] is None]
    assert {row["of"] for row in rows} == {read["records"]}
    assert any(row["cases"] for row in rows)
