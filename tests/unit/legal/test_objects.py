import json

import pytest

from evenhand.io.quarantine import Quarantine
from evenhand.legal.objects import read_objects


def objects(path, content):
    path.write_text(content, encoding="utf-8")
    quarantine = Quarantine()
    found = [(one.position, one.unit, one.value) for one in read_objects([path], quarantine)]
    return found, dict(quarantine.counts)


A, B = {"a": "x\u2028y"}, {"b": [1, 2.5]}


@pytest.mark.parametrize(
    ("name", "content", "unit"),
    [
        ("a.jsonl", f"{json.dumps(A)}\n\n{json.dumps(B)}\n", "line"),
        ("a.ndjson", f"{json.dumps(A, ensure_ascii=False)}\n\n{json.dumps(B)}", "line"),
        ("a.json", f"{json.dumps(A)}\n\n{json.dumps(B)}\n", "line"),
        ("a.json", json.dumps([A, B], indent=2), "record"),
        ("a.json", f"{json.dumps(A, indent=1)}{json.dumps(B, indent=1)}", "record"),
    ],
)
def test_all_layouts(tmp_path, name, content, unit):
    found, counts = objects(tmp_path / name, content)
    places = (1, 3) if unit == "line" else (1, 2)
    assert found == [(places[0], unit, A), (places[1], unit, B)] and not counts


@pytest.mark.parametrize(
    ("name", "content", "kept", "counts"),
    [
        ("a.jsonl", '{"a": 1}\n{"a"\n[2]\n{"a": 2}\n', 2, {"broken_json": 2}),
        ("a.json", '[{"a": 1}, "x", {"a": 2}, {"a"', 2, {"broken_json": 2}),
        ("a.jsonl", '{"a": "\\ud83d\\ude00"}\n{"a": "\\ud800"}\n', 2, {"undecodable_bytes": 1}),
        ("a.json", '[{"a": 1}, {"a": "\\ud800"}]', 2, {"undecodable_bytes": 1}),
        ("a.json", '[{"a": 1}, {"a": ' + "[" * 5000, 1, {"too_deep": 1}),
        ("a.jsonl", '{"a": 1}\n{"a": ' + "[" * 5000 + "\n", 1, {"too_deep": 1}),
        ("a.json", " \n", 0, {"broken_json": 1}),
        ("a.json", "", 0, {"empty_file": 1}),
        ("a.txt", "{}", 0, {"unknown_format": 1}),
    ],
)
def test_what_is_no_object_is_told(tmp_path, name, content, kept, counts):
    found, told = objects(tmp_path / name, content)
    assert len(found) == kept and told == counts
