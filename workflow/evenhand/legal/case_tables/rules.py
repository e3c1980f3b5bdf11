"""Which rule found which group, how often, and with which confidence."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from evenhand.core.tables import NotApplicable, Row, Table, integer, share, text
from evenhand.io.tables import read_rows
from evenhand.legal.built import CaseStudy, group_names

#: The value of an attribute without groups, such as a year.
NUMBER = "a number"

TABLE = Table(
    "rules",
    title="Rules that found the attributes",
    key=("dataset", "attribute", "rule", "value"),
    columns=(
        text("dataset"),
        text("attribute"),
        text("rule", "Of unknown values: why they are unknown"),
        text("value", 'The group, the name of the unknown group, or "a number"'),
        integer("cases"),
        integer("of", "All cases of the attribute"),
        share("share"),
        share("mean_confidence", "As stated with the rule"),
        integer("with_evidence", "Cases for which the rule names words"),
        text("flags", "Each with its number of cases"),
    ),
)


def rows(study: CaseStudy) -> Iterator[Row]:
    """Yield a row per attribute, rule and value, the most frequent rule first."""
    if not study.findings:
        raise NotApplicable("there are no findings")
    for name, path in study.findings.items():
        attribute = study.dataset.attribute(name)
        cells: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        unknown = group_names(attribute)[-1]
        for row in read_rows(path, ["rule", "value", "confidence", "flags", "evidence"]):
            value = row["value"] if attribute.groups else NUMBER
            row["evidence"] = bool(row["evidence"])  # all rows are in memory at once
            cells[row["rule"], unknown if row["value"] is None else value].append(row)
        for row in _rows(cells):
            yield {"attribute": name, **row}


def _rows(cells: dict[tuple[str, str], list[dict[str, Any]]]) -> Iterator[Row]:
    of_rule = Counter(rule for (rule, _), cases in cells.items() for _ in cases)

    def order(cell: tuple[str, str]) -> tuple[int, str, int, str]:
        rule, value = cell
        return -of_rule[rule], rule, -len(cells[cell]), value

    for rule, value in sorted(cells, key=order):
        cases = cells[rule, value]
        flags = Counter(flag for case in cases for flag in case["flags"])
        yield {
            "rule": rule,
            "value": value,
            "cases": len(cases),
            "of": of_rule.total(),
            "share": len(cases) / of_rule.total(),
            # fsum: the same in any order of the cases
            "mean_confidence": math.fsum(case["confidence"] for case in cases) / len(cases),
            "with_evidence": sum(case["evidence"] for case in cases),
            "flags": "; ".join(f"{flag} {flags[flag]}" for flag in sorted(flags)),
        }
