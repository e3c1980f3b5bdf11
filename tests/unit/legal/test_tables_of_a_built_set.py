"""The stages after `build_cases`, on what it really writes."""

from collections import Counter

import pyarrow.parquet as pq

from evenhand.core.tables import read_table
from evenhand.legal.build_cases import build_cases
from evenhand.legal.declaration import description
from evenhand.legal.draw_audit import draw_audit
from evenhand.legal.find_attributes import find_attributes
from evenhand.legal.read_audit import read_audit
from evenhand.legal.records import write_records
from evenhand.legal.tabulate_cases import tabulate_cases
from evenhand.legal.tokenise_cases import tokenise_cases
from evenhand.report.write_legal_cards import write_legal_cards
from unit.legal import made_tokenizers
from unit.legal.made_cases import court, record, schema

#: The names of the unknown groups.
UNKNOWN = ("unknown", "n/a")


def test_all_stages_count_the_same_cases(tmp_path, repository):
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
    source, data, findings = tmp_path / "r.parquet", tmp_path / "mine.parquet", tmp_path / "found"
    write_records(source, records, lambda: description(court("ecthr")))
    resources, library = repository / "resources/legal", repository / "workflow/evenhand"
    attributes = court("ecthr").attributes
    modules = [attribute.module for attribute in attributes]
    lists = list(resources.glob("*.csv"))
    find_attributes(records=[source], tables=lists, out=findings, modules=modules)
    others = {name: tmp_path / name for name in ("counts", "splits", "duplicates", "split_counts")}
    build_cases(records=[source], findings=findings, out=data, **others)
    assert pq.read_schema(data).equals(schema("ecthr"))

    model = made_tokenizers.save(tmp_path / "model", made_tokenizers.bytes_with_merges())
    tokens, meta, tables = tmp_path / "t.arrow", tmp_path / "t.json", tmp_path / "tables"
    counts = tokenise_cases(data=data, out=tokens, meta=meta, name="tiny", model=model)
    assert counts["cases"] == 50
    claims, words = resources / "published_cross.csv", resources / "outcome_words.csv"
    inputs = {"data": data, "claims": claims, "words": words, "findings": findings}
    inputs |= {"tokens": [tokens], "metas": [meta]}
    tabulate_cases(**inputs, out=tables, dataset="mine", resamples=100)
    sizes = read_table(tables / "sizes.csv")
    assert [row["ours"] for row in sizes if (row["quantity"], row["item"]) == ("cases", None)] == [
        "50"
    ]
    known = Counter()
    for row in read_table(tables / "groups.csv"):
        if row["split"] == "all" and row["share_known"] is not None:
            known[row["attribute"]] += row["cases"]
    rules = read_table(tables / "rules.csv")
    assert {row["of"] for row in rules} == {50}
    for name, cases in known.items():
        rows = [row for row in rules if row["attribute"] == name and row["value"] not in UNKNOWN]
        assert sum(row["cases"] for row in rows) == cases

    audit = tmp_path / "audit"
    instructions = library / "legal/templates/audit.md.jinja"
    sample = {"findings": findings, "dataset": "mine"}
    draw_audit(records=[source], instructions=instructions, out=audit, **sample)
    names = [attribute.name for attribute in attributes]
    drawn = [audit / name / "handed_out.csv" for name in names]
    sheets = [audit / name / f"{name}.csv" for name in names]
    counts = read_audit(drawn=drawn, sheets=sheets, out=tmp_path / "audit.csv", **sample)
    assert counts["drawn"] == counts["unanswered"] > 0

    template, names = library / "report/cards/legal_card.md.jinja", {"datasets": ["mine"]}
    names |= {"titles": ["Mine"], "sources": ["made"]}
    out = [tmp_path / "README.md"]
    counts = write_legal_cards(data=[data], tables=[tables], template=template, out=out, **names)
    assert counts == {"mine": 50}
