"""Made sentences with a keyword, as the stages of SlguSet hand them on."""

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.io.tables import FORM
from evenhand.slguset import surface_pairs
from evenhand.slguset.verdicts import FINDINGS

#: (pair, surface, opposite surface, keyword, opposite, gender)
TERMS = {
    "他": ("他/她", "他", "她", "他", "她", "male"),
    "她": ("他/她", "她", "他", "她", "他", "female"),
    "男人": ("男/女", "男人", "女人", "男", "女", "male"),
    "女人": ("男/女", "女人", "男人", "女", "男", "female"),
    "爷爷": ("爷爷/奶奶", "爷爷", "奶奶", "爷爷", "奶奶", "male"),
    "奶奶": ("爷爷/奶奶", "奶奶", "爷爷", "奶奶", "爷爷", "female"),
}

_TEMPLATES = Path(__file__).resolve().parents[1] / "resources/packs/zh_gender"

#: The templates of the annotators' sheets, by argument.
ANNOTATION_TEMPLATES = {
    "instructions": _TEMPLATES / "instructions.md.jinja",
    "interface": _TEMPLATES / "label_studio.xml",
}

KEYWORDS_CSV = (
    "pair,male,female,surface_male,surface_female,note\n"
    "男/女,男,女,男人,女人,\n他/她,他,她,他,她,\n爷爷/奶奶,爷爷,奶奶,爷爷,奶奶,\n"
)


def identify(sentence: str) -> str:
    return hashlib.blake2b(sentence.encode(), digest_size=8).hexdigest()


def keyword_row(sentence: str, **changes: Any) -> dict[str, Any]:
    """A row of a keywords table; the term is the longest of TERMS in the sentence."""
    row: dict[str, Any] = {
        "sentence_id": identify(sentence),
        "sentence": sentence,
        "source": "a.txt",
        "source_position": 1,
        "copies": 1,
        "verdict": "accepted",
    }
    term = max((t for t in TERMS if t in sentence), key=len, default=None)
    if term and changes.get("verdict") != "several_keywords":
        names = ("pair", "surface", "surface_opposite", "keyword", "opposite", "gender")
        row |= dict(zip(names, TERMS[term], strict=True))
        start = sentence.index(term)
        row |= {"start": start, "end": start + len(row["keyword"]), "word": term}
        row |= {"surface_start": start, "surface_end": start + len(term)}
    return {name: (row | changes).get(name) for name in surface_pairs.SCHEMA.names}


def candidate_row(sentence: str, **changes: Any) -> dict[str, Any]:
    """A row of candidates.parquet."""
    row = keyword_row(sentence, **changes)
    reasons = [] if row["verdict"] == "accepted" else [row["verdict"]]
    return row | {"reasons": reasons, "evidence": None} | changes


def made_sentences(count: int) -> list[str]:
    """So many different sentences, terms in turn."""
    terms = list(TERMS)
    return [f"第{i}天，{terms[i % len(terms)]}在城里买了{i // 7}斤米。" for i in range(count)]


def write_keywords(path: Path, rows: list[dict[str, Any]]) -> Path:
    rows = sorted(rows, key=lambda row: row["sentence_id"])
    pq.write_table(pa.Table.from_pylist(rows, surface_pairs.SCHEMA), path, **FORM)
    return path


def write_judged(
    path: Path,
    rows: list[dict[str, Any]],
    reasons: dict[str, dict[str, tuple[str, str | None]]] | None = None,
) -> Path:
    """A table of `apply_filters`: `reasons` maps filters to sentences to (reason, evidence)."""
    judged = []
    for row in rows:
        findings = [
            {"filter": name, "reason": of[row["sentence"]][0], "evidence": of[row["sentence"]][1]}
            for name, of in (reasons or {}).items()
            if row["verdict"] == "accepted" and row["sentence"] in of
        ]
        judged.append(row | {"findings": findings})
    pq.write_table(
        pa.Table.from_pylist(judged, surface_pairs.SCHEMA.append(FINDINGS)), path, **FORM
    )
    return path


def write_candidates(path: Path, rows: list[dict[str, Any]]) -> Path:
    from evenhand.slguset.merge_candidates import SCHEMA

    rows = sorted(rows, key=lambda row: row["sentence_id"])
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, **FORM)
    return path


def write_keywords_csv(path: Path) -> Path:
    path.write_text(KEYWORDS_CSV, encoding="utf-8")
    return path


def write_sample(path: Path, rows: list[dict[str, Any]], name: str = "r1") -> Path:
    """A sample of candidate rows, ranked as they come."""
    from evenhand.slguset.draw_annotation import ADDED
    from evenhand.slguset.merge_candidates import SCHEMA

    assigned = [f"annotator_{number}" for number in (1, 2, 3)]
    added = {"round": name, "random": False, "assigned": assigned, "lost": False}
    ranked = [added | row | {"rank": rank} for rank, row in enumerate(rows, start=1)]
    schema = pa.schema([*SCHEMA, *ADDED])
    pq.write_table(pa.Table.from_pylist(ranked, schema), path, **FORM)
    return path


def write_answers(path: Path, said: dict[str, str]) -> Path:
    """Answers by sentence: a letter (a, r, u; - for none) per annotator."""
    from evenhand.slguset.read_sheets import SCHEMA

    words = {"a": "accept", "r": "reject", "u": "unsure"}
    rows = [
        {
            "sentence_id": identify(sentence),
            "annotator": f"annotator_{number}",
            "answer": words[letter],
            "criterion": "b" if letter == "r" else None,
            "comment": "=1+1" if letter == "u" else None,
        }
        for sentence, letters in said.items()
        for number, letter in enumerate(letters, start=1)
        if letter != "-"
    ]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, **FORM)
    return path
