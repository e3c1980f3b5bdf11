"""Which rule found which group, how often, and with which confidence."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from evenhand.core.tables import NotApplicable, Row, Table, integer, share, text
from evenhand.legal.built import group_names
from evenhand.legal.case_study import CaseStudy
from evenhand.legal.findings import read_findings

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
    for attribute in study.dataset.attributes:
        cells: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        seen: set[str] = set()
        unknown = group_names(attribute)[-1]
        for path in study.findings.get(attribute.name, ()):
            for row in read_findings(path):
                if row["case_id"] not in seen:
                    seen.add(row["case_id"])
                    value = row["value"] if attribute.groups else NUMBER
                    value = unknown if row["value"] is None else value
                    kept = {name: row[name] for name in ("confidence", "flags")}
                    kept |= {"evidence": bool(row["evidence"])}
                    cells[row["rule"], value].append(kept)
        for row in _rows(cells, len(seen)):
            yield {"attribute": attribute.name, **row}


def _rows(cells: dict[tuple[str, str], list[dict[str, Any]]], total: int) -> Iterator[Row]:
    of_rule = Counter()
    for (rule, _), cases in cells.items():
        of_rule[rule] += len(cases)
    order = lambda cell: (-of_rule[cell[0]], cell[0], -len(cells[cell]), cell[1])  # noqa: E731
    for rule, value in sorted(cells, key=order):
        cases = cells[rule, value]
        flags = Counter(flag for one in cases for flag in one["flags"])
        yield {
            "rule": rule,
            "value": value,
            "cases": len(cases),
            "of": total,
            "share": len(cases) / total,
            # fsum: the same in any order of the cases
            "mean_confidence": math.fsum(one["confidence"] for one in cases) / len(cases),
            "with_evidence": sum(one["evidence"] for one in cases),
            "flags": "; ".join(f"{flag} {flags[flag]}" for flag in sorted(flags)),
        }
