"""The stages after `build_cases`, on what it really writes."""

import importlib

import pyarrow.parquet as pq
import pytest

from evenhand.legal.build_cases import build_cases
from evenhand.legal.built import load_dataset
from evenhand.legal.check_leakage import check_leakage
from evenhand.legal.count_rules import count_rules
from evenhand.legal.cross_attributes import cross_attributes
from evenhand.legal.describe_cases import describe_cases
from evenhand.legal.draw_audit import draw_audit
from evenhand.legal.find_attributes import find_attributes
from evenhand.legal.measure_lengths import measure_lengths
from evenhand.legal.measure_shift import measure_shift
from evenhand.legal.read_audit import read_audit
from evenhand.legal.read_cases import read_cases
from evenhand.legal.records import write_records
from evenhand.legal.split_cases import split_cases
from evenhand.legal.tokenise_cases import tokenise_cases
from evenhand.legal.write_legal_card import write_legal_card
from unit.legal import made_tokenizers
from unit.legal.made_cases import read_csv, record, schema


def build(folder, repository, kind, records):
    """The data set and what was found: {attribute: path}."""
    found = {}
    for one in load_dataset(kind).attributes:
        module = importlib.import_module(f"evenhand.legal.attributes.{one.module}")
        found[one.name] = folder / f"{one.name}.parquet"
        find_attributes(
            records=records,
            tables=[repository / f"resources/legal/{name}.csv" for name in module.TABLES],
            out=found[one.name],
            attribute=one.module,
        )
    split_cases(
        records=[records], out=folder / "splits.parquet", duplicates=folder / "dup.parquet",
        counts=folder / "splits.json",
    )  # fmt: skip
    data = folder / "mine.parquet"
    build_cases(
        records=[records], splits=folder / "splits.parquet", attributes=list(found.values()),
        out=data, counts=folder / "counts.json", kind=kind,
    )  # fmt: skip
    return data, found


def measure(folder, repository, kind, records):
    """Run everything; return what each stage counted."""
    data, found = build(folder, repository, kind, records)
    about = {"kind": kind, "dataset": "mine"}
    resources = repository / "resources/legal"
    templates = repository / "workflow/evenhand/legal/templates"
    model = made_tokenizers.save(folder / "model", made_tokenizers.bytes_with_merges())
    tables = {
        name: folder / f"{name}.csv"
        for name in
        ("sizes", "groups", "labels", "shift", "cross", "lengths", "leakage", "rules", "audit")
    }  # fmt: skip
    named = {name: tables[name] for name in ("sizes", "groups", "labels")}
    names, files = list(found), list(found.values())
    counts = {
        "describe_cases": describe_cases(data=data, **named, **about),
        "measure_shift": measure_shift(data=data, out=tables["shift"], resamples=50, **about),
        "cross_attributes": cross_attributes(
            data=data, claims=resources / "published_cross.csv", out=tables["cross"], **about
        ),
        "check_leakage": check_leakage(
            data=data, words=resources / "outcome_words.csv", out=tables["leakage"],
            resamples=50, **about,
        ),
        "count_rules": count_rules(findings=files, attributes=names, out=tables["rules"], **about),
        "tokenise_cases": tokenise_cases(
            data=data, out=folder / "t.arrow", meta=folder / "t.json", kind=kind, name="tiny",
            model=model,
        ),
        "measure_lengths": measure_lengths(
            data=data, out=tables["lengths"], tokens=[folder / "t.arrow"],
            metas=[folder / "t.json"], **about,
        ),
    }  # fmt: skip
    for name, path in found.items():
        draw_audit(
            records=[records], findings=[path], instructions=templates / "audit.md.jinja",
            out=folder / "audit" / name, attribute=name, **about,
        )  # fmt: skip
    counts["read_audit"] = read_audit(
        drawn=[folder / "audit" / name / "handed_out.csv" for name in names],
        sheets=[folder / "audit" / name / f"{name}.csv" for name in names],
        findings=files, attributes=names, out=tables["audit"], **about,
    )  # fmt: skip
    card = {name: tables[name] for name in ("shift", "lengths", "leakage", "rules", "audit")}
    counts["write_legal_card"] = write_legal_card(
        data=data, **named, **card, template=templates / "data_card.md.jinja",
        out=folder / "README.md", **about,
    )  # fmt: skip
    return counts, tables


def agree(counts, tables, cases):
    assert counts["describe_cases"]["cases"] == cases
    assert counts["check_leakage"]["cases"] == cases
    assert counts["tokenise_cases"]["cases"] == cases
    assert counts["measure_lengths"]["cases"] == cases
    assert counts["write_legal_card"] == {"cases": cases}
    known = {}
    for row in read_csv(tables["groups"]):
        if row["split"] == "all" and row["share_known"]:
            known[row["attribute"]] = known.get(row["attribute"], 0) + int(row["cases"])
    for attribute, count in known.items():
        assert counts["count_rules"][attribute] == {"cases": cases, "known": count}
    audit = counts["read_audit"]
    assert audit["drawn"] == audit["unanswered"] > 0


def test_made_records(tmp_path, repository):
    (tmp_path / "audit").mkdir()
    text = "{0}. The applicant was born in 19{0} and lives in Ghent. {1} worked in shop {0}."
    records = [
        record(
            n,
            text=(text.format(n, "He" if n % 2 else "She"), f"Fact number {n}: {n * n}, {n**3}."),
            labels=("6",) if n % 3 else (),
            given={"respondent": "BELGIUM" if n % 2 else "POLAND"},
            language="en",
        )
        for n in range(40, 90)
    ]
    write_records(tmp_path / "records.parquet", records)
    counts, tables = measure(tmp_path, repository, "ecthr", tmp_path / "records.parquet")
    assert pq.read_schema(tmp_path / "mine.parquet").equals(schema("ecthr"))
    agree(counts, tables, 50)


@pytest.mark.mirror
def test_real_judgments(tmp_path, repository, mirror):
    """JuDGE, of which some facts hold the end of the judgment."""
    (tmp_path / "audit").mkdir()
    module = importlib.import_module("evenhand.legal.formats.judge")
    read = read_cases(
        files=[mirror / "judge/judge_test_subset.jsonl"],
        tables=[repository / f"resources/legal/{name}.csv" for name in module.TABLES],
        out=tmp_path / "records.parquet", quarantine=tmp_path / "q.parquet",
        counts=tmp_path / "c.json", kind="cail", format="judge",
    )  # fmt: skip
    counts, tables = measure(tmp_path, repository, "cail", tmp_path / "records.parquet")
    agree(counts, tables, read["records"])
    rows = [row for row in read_csv(tables["leakage"]) if not row["label"]]
    assert {int(row["of"]) for row in rows} == {read["records"]}
    assert counts["check_leakage"]["found"] == sum(row["cases"] != "0" for row in rows) > 0
