import csv

import pytest

from evenhand.errors import InputError
from evenhand.legal.draw_audit import draw_audit
from evenhand.legal.findings import Finding
from evenhand.legal.read_audit import TABLE, read_audit
from unit.cases import read_csv
from unit.legal.made_cases import evidence, record, write_found
from unit.made_tables import check_rows

RECORDS = [record(n, text=(f"He was number {n}.",)) for n in range(1, 31)]


def findings_of(rules):
    """(rule, value) for each record."""
    return [
        (one, Finding(value, rule, 0.9, (evidence(one, "He"),)))
        for one, (rule, value) in zip(RECORDS, rules, strict=False)
    ]


RULES = [("pronouns", "male")] * 8 + [("title", "female")] * 2 + [("legal_person", None)] * 5


@pytest.fixture
def audit(tmp_path, repository):
    """What read_audit gets, all but the sheets; per_rule is 4."""
    records, findings = write_found(tmp_path, findings_of(RULES))
    draw_audit(
        records=[records], findings=findings, out=tmp_path / "audit", dataset="mine", per_rule=4,
        instructions=repository / "workflow/evenhand/sentences/legal.draw_audit.jinja",
    )  # fmt: skip
    return {
        "drawn": [tmp_path / "audit/applicant_gender/handed_out.csv"],
        "findings": findings,
        "out": tmp_path / "tables",
        "dataset": "mine",
    }


def fill(audit, name, answers, **cells):
    """A filled sheet: `answers` by rule, a list of (right, should_be); `cells` in the first row."""
    folder = audit["drawn"][0].parent
    rows = read_csv(folder / "applicant_gender.csv")
    left = {rule: list(given) for rule, given in answers.items()}
    for row in rows:
        if left.get(row["rule"]):
            row["right"], row["should_be"] = left[row["rule"]].pop(0)
    rows[0] |= cells
    path = folder.parent / name
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


ANSWERS = {
    "pronouns": [("right", ""), ("RIGHT ", "male"), ("wrong", "female"), ("cannot_tell", "")],
    "title": [("right", ""), ("wrong", "")],
    "legal_person": [("right", ""), ("wrong", "Male"), ("", "")],
}


def result(audit, *sheets, **changed):
    counts = read_audit(**audit | changed, sheets=list(sheets))
    rows = check_rows(audit["out"], TABLE)
    return counts, {(row["scope"], row["rule"] or ""): row for row in rows}


def test_precision_by_rule(audit):
    counts, rows = result(audit, fill(audit, "me.csv", ANSWERS))
    assert [*counts.values()] == [10, 8, 2, 0, 0]
    assert [*counts] == ["drawn", "answered", "unanswered", "contradicted", "changed_since"]
    names = ("cases", "drawn", "answered", "right", "wrong", "cannot_tell", "unanswered")
    row = rows["rule", "pronouns"]
    assert [row[name] for name in names] == [8, 4, 4, 2, 1, 1, 0]
    assert row["precision"] == 0.666667
    assert row["low"] == pytest.approx(0.2077, abs=1e-4)  # Wilson's, 2 of 3
    assert row["high"] == pytest.approx(0.9385, abs=1e-4)
    row = rows["rule", "legal_person"]
    assert [row[name] for name in names] == [5, 4, 2, 1, 1, 0, 2]
    rules = [rule for scope, rule in rows if scope == "rule"]
    assert rules == ["pronouns", "legal_person", "title"]


def test_all_values_weigh_by_the_cases_of_their_rules(audit):
    _, rows = result(audit, fill(audit, "me.csv", ANSWERS))
    row = rows["values", ""]
    assert row["precision"] == pytest.approx((8 * 2 / 3 + 2 * 1 / 2) / 10, abs=1e-6)
    assert row["low"] < row["precision"] < row["high"]
    got, missed = 8 * 2 / 3 + 2 / 2, 8 / 3 + 5 / 2
    assert row["recall"] == pytest.approx(got / (got + missed), abs=1e-6)
    assert rows["no_values", ""]["precision"] == 0.5
    assert rows["no_values", ""]["recall"] is None


def test_a_rule_without_answers_leaves_the_whole_open(audit):
    answers = {"pronouns": ANSWERS["pronouns"]}
    _, rows = result(audit, fill(audit, "me.csv", answers))
    assert rows["rule", "title"]["precision"] is None
    assert rows["values", ""]["precision"] is rows["values", ""]["recall"] is None


def test_two_auditors(audit):
    one = fill(audit, "one.csv", ANSWERS)
    other = fill(audit, "two.csv", {"pronouns": [("right", ""), ("wrong", "female")]})
    _, rows = result(audit, one, other)
    row = rows["rule", "pronouns"]
    # the second case is right for one and wrong for the other
    assert [row[name] for name in ("right", "wrong", "contradicted")] == [1, 1, 1]


def test_what_is_found_otherwise_now_does_not_count(audit, tmp_path):
    sheet = fill(audit, "me.csv", ANSWERS)
    changed = [("pronouns", "female")] * 8 + RULES[8:]
    _, now = write_found(tmp_path, findings_of(changed), "now")
    counts, rows = result(audit, sheet, findings=now)
    assert rows["rule", "pronouns"]["changed_since"] == 4
    assert rows["rule", "pronouns"]["answered"] == 0
    assert counts["changed_since"] == 4


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"right": "yes"}, r"me.csv:2: .* in right: 'yes'; fill in right, wrong or cannot_tell"),
        ({"right": "wrong", "should_be": "man"}, "in should_be: 'man'; fill in male, female or n"),
        ({"right": "right", "should_be": "male"}, "contradict each other about the value: 'n/a'"),
        ({"right": "wrong", "should_be": "n/a"}, "contradict each other about the value: 'n/a'"),
        ({"right": "", "should_be": "male"}, "should_be is filled in, and right is blank"),
        ({"value": "male"}, "the cell value was changed: 'male'"),
        ({"attribute": ""}, "was not handed out in the attribute applicant_gender"),
    ],
)
def test_cells_that_cannot_be_meant(audit, cells, said):
    with pytest.raises(InputError, match=said):
        result(audit, fill(audit, "me.csv", {}, **cells))


def test_files_that_are_no_sheets(audit, tmp_path):
    with pytest.raises(InputError, match="has no findings; give what find_attributes wrote"):
        result(audit, findings=tmp_path / "nothing")
    with pytest.raises(InputError, match="second file of applicant_gender"):
        result(audit, drawn=audit["drawn"] * 2)


def test_a_number_may_be_corrected(tmp_path, repository):
    pairs = [(one, Finding("1950", "born_in_year", 1.0)) for one in RECORDS[:3]]
    name = "applicant_birth_year"
    records, findings = write_found(tmp_path, pairs, attribute=name)
    draw_audit(
        records=[records], findings=findings, out=tmp_path / "audit", dataset="mine",
        instructions=repository / "workflow/evenhand/sentences/legal.draw_audit.jinja",
    )  # fmt: skip
    sheet = tmp_path / "audit" / name / f"{name}.csv"
    text = sheet.read_text(encoding="utf-8-sig").splitlines()
    for line, (right, year) in enumerate([("wrong", "1951"), ("wrong", "unknown")], start=1):
        text[line] = text[line].replace(f",,,,{name}", f",{right},{year},,{name}")
    filled = tmp_path / "filled.csv"
    filled.write_text("\n".join(text) + "\n", encoding="utf-8")
    audit = {
        "drawn": [tmp_path / "audit" / name / "handed_out.csv"], "findings": findings,
        "out": tmp_path / "tables", "dataset": "mine",
    }  # fmt: skip
    _, rows = result(audit, filled)
    assert rows["rule", "born_in_year"]["wrong"] == 2
    filled.write_text("\n".join(text).replace("1951", "nineteen"), encoding="utf-8")
    with pytest.raises(InputError, match="in should_be: 'nineteen'; fill in a number or unknown"):
        result(audit, filled)
