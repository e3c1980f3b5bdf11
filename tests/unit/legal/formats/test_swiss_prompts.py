import pytest

from unit.legal.made_records import json_lines, read

QUESTION = "\n\nTwo labels: \n-  critical\n-  non-critical\nThe relevant label is:"


def prompt(facts, language="de"):
    text = f'Given the facts from the following decision:\n"{facts}"{QUESTION}'
    return {"input_text": text, "language": language, "answer": "critical", "prediction": "x"}


def test_the_facts_without_the_prompt(tmp_path):
    rows = [
        prompt('Sachverhalt:\nA.\nEr sagte "nein".'),
        prompt("Objet\nune demande.\nFaits :\nA.\nElle a recouru.", "fr"),
        prompt("Nach Einsicht\nin die Beschwerde vom 1. Mai,"),
        prompt("Considérant en fait et en droit :\n1.\nLe recours est rejeté.", "fr"),
        prompt("que le recours est irrecevable,", "fr"),
        prompt("Facts", "en"),
        {"input_text": "no quotation", "language": "de"},
    ]
    records, counts = read("swiss_prompts", [json_lines(tmp_path / "prompts.jsonl", *rows)])
    assert [one.text for one in records] == [
        ("A.", 'Er sagte "nein".'),
        ("A.", "Elle a recouru."),
        ("Nach Einsicht", "in die Beschwerde vom 1. Mai,"),
    ]
    assert records[1].context == ("Objet", "une demande.")
    assert all(one.labels is None and one.date is None for one in records)
    assert records[0].metadata == {"swiss_language": "de", "text_kind": "facts_in_prompt"}
    assert counts == {"no_facts": 2, "other_language": 1, "missing_field": 1}


def test_the_same_facts_are_one_case_in_any_file(tmp_path):
    files = [
        json_lines(tmp_path / name, prompt("Fatti:\nA.\nB.", "it"))
        for name in ("a.jsonl", "b.jsonl")
    ]
    first, second = read("swiss_prompts", files)[0]
    assert first.case_id == second.case_id and first.source != second.source


@pytest.mark.mirror
def test_the_real_files(mirror):
    records, counts = read("swiss_prompts", sorted((mirror / "swiss").glob("*.jsonl")))
    assert len(records) + counts["no_facts"] == 1_558 and counts["no_facts"] == 129
    assert len({one.case_id for one in records}) == 1_386
    assert not any("en fait et en droit" in one.text[0] for one in records)
