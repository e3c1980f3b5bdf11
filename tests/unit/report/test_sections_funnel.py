"""The funnel's section: every reason is counted and shown, not only the first."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.sections.funnel import count_reasons, describe_funnel, first_of_each
from evenhand.slguset.count_funnel import FUNNEL
from evenhand.slguset.merge_candidates import SCHEMA
from unit.report import checks, made_results

KNOWN = {
    "pair_fit": ("The pair does not fit", "In this slot."),
    "biology": ("Biological sex", "It is."),
}
REASONS = ["pair_fit", "coreference", "biology", "near_duplicate"]


def candidates(folder: Path, lists: list[list[str]], **columns: object) -> Path:
    """Made candidates, one per list of reasons; the ids rise."""
    rows = []
    for number, reasons in enumerate(lists):
        row = made_results.row_of("她昨天说孕期过得很好。", "他/她", "她", "他", "她", "他",
                                  "female", 0)  # fmt: skip
        row |= {"sentence_id": f"{number:016x}", "reasons": reasons,
                "verdict": reasons[0] if reasons else "accepted"}  # fmt: skip
        rows.append({name: row[name] for name in SCHEMA.names} | columns)
    path = folder / "candidates.parquet"
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, row_group_size=3)
    return path


def funnel(reasons: dict[str, int], *more: tuple) -> dict[str, list]:
    rows = [("read", None, 100, 1.0), ("keyword", None, 50, 0.5)]
    rows += [("rejected", reason, n, n / 100) for reason, n in reasons.items()]
    rows += [("accepted", None, 1, 0.01), *more]
    return {"funnel": [dict(zip(FUNNEL.header, row, strict=True)) for row in rows]}


def test_a_reason_is_counted_first_at_all_and_alone(tmp_path):
    path = candidates(tmp_path, [["pair_fit"], ["pair_fit", "biology"], ["biology"], []])
    described = describe_funnel(funnel({"pair_fit": 2, "biology": 1}), path, KNOWN)
    rows = {row["reason"]: row for row in described["reasons"]}
    assert [rows["pair_fit"][key] for key in ("sentences", "applies", "alone")] == [2, 2, 1]
    assert [rows["biology"][key] for key in ("sentences", "applies", "alone")] == [1, 2, 1]


def test_a_reason_that_is_never_the_first_is_shown_as_well(tmp_path):
    path = candidates(tmp_path, [["pair_fit", "biology"], ["pair_fit"]])
    described = describe_funnel(funnel({"pair_fit": 2}), path, KNOWN)
    last = described["reasons"][-1]
    assert (last["reason"], last["sentences"], last["applies"], last["alone"]) == (
        "biology", 0, 1, 0)  # fmt: skip
    assert [row["sentence_id"] for row in last["examples"]] == [f"{0:016x}"]
    assert last["examples"][0]["others"] == ["The pair does not fit"]
    assert len(checks.rows(described["figure"], "amount")) == 3  # whole, pair_fit, accepted


def test_examples_of_the_first_reason_come_before_others(tmp_path):
    path = candidates(tmp_path, [["pair_fit", "biology"], ["biology"], ["biology"]])
    shown = first_of_each(path, 2, KNOWN)
    assert [row["sentence_id"][-1] for row in shown["biology"]] == ["1", "2"]
    assert [row["sentence_id"][-1] for row in first_of_each(path, 3, KNOWN)["biology"]] == [
        "1",
        "2",
        "0",
    ]


def test_only_evidence_of_the_shown_reason_is_marked(tmp_path):
    path = candidates(tmp_path, [["biology", "pair_fit"]], evidence="孕期")
    shown = first_of_each(path, 1, KNOWN)
    assert [p.text for p in shown["biology"][0]["pieces"] if p.kind == "evidence"] == ["孕期"]
    assert not [p for p in shown["pair_fit"][0]["pieces"] if p.kind == "evidence"]
    assert shown["pair_fit"][0]["evidence"] is None


def test_the_id_of_a_near_duplicate_is_told_and_marks_nothing(tmp_path):
    path = candidates(tmp_path, [["near_duplicate"]], evidence="她")
    shown = first_of_each(path, 1, KNOWN)["near_duplicate"][0]
    assert shown["evidence"] == "她"
    assert {piece.kind for piece in shown["pieces"]} == {"keyword female", None}


def test_without_candidates_only_the_first_reasons_are_counted():
    described = describe_funnel(funnel({"pair_fit": 2}), None, KNOWN)
    assert not described["has_all"] and not described["has_examples"]
    assert described["reasons"][0]["applies"] is None


def test_a_duplicate_has_no_row_and_so_no_count_of_rows(tmp_path):
    path = candidates(tmp_path, [[]])
    tables = funnel({}, ("duplicate", None, 3, 0.03))
    assert describe_funnel(tables, path, KNOWN)["reasons"][0]["applies"] is None


@given(st.lists(st.lists(st.sampled_from(REASONS), unique=True, max_size=3), max_size=12))
def test_counts_are_those_of_the_lists(tmp_path_factory, lists):
    applies, alone = count_reasons(candidates(tmp_path_factory.mktemp("funnel"), lists))
    for reason in REASONS:
        assert applies[reason] == sum(reason in one for one in lists)
        assert alone[reason] == lists.count([reason])
