"""Stage: which rule found which group, how often, and how sure it is."""

import math
from collections import Counter, defaultdict
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import group_names, load_dataset
from evenhand.legal.findings import read_findings

HEADER = [
    *("dataset", "attribute", "rule", "value", "cases", "of", "share", "mean_confidence"),
    *("with_evidence", "flags"),
]

#: What stands for the values of an attribute without groups, such as a year.
NUMBER = "a number"


def count_rules(
    *,
    findings: list[Input],
    attributes: list[str],
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
) -> dict[str, Any]:
    """Count, by attribute, which rule found which group.

    Parameters
    ----------
    findings : list of path
        What `find_attributes` wrote; of a case that stands in several files of one attribute the
        first counts, as in the data set.
    attributes : list of str
        The attribute of each file, in the same order.
    out : path
        CSV: attribute, rule (of unknown values too: it says why), value (the group; the name of
        the unknown one; "a number"), cases, of (all cases of the attribute), share,
        mean_confidence, with_evidence (cases for which it names words), flags (each with its
        cases). By attribute in the data set's order, the most frequent rule first.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the table.

    Returns
    -------
    dict
        cases and known values, by attribute.

    Raises
    ------
    InputError
        There are not as many attributes as files, or the kind does not have one of them.
    """
    fixed = load_dataset(kind)
    if len(findings) != len(attributes):
        raise InputError(
            f"there are {len(findings)} files of findings and {len(attributes)} attributes",
            remedy="name the attribute of each file",
        )
    files = defaultdict(list)
    for path, name in zip(findings, attributes, strict=True):
        files[name].append(path)
    if strange := files.keys() - {one.name for one in fixed.attributes}:
        raise InputError(f"{fixed.title} has no attribute {min(strange)!r}")
    rows, counts = [], {}
    for attribute in fixed.attributes:
        cells: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        seen: set[str] = set()
        unknown = group_names(attribute)[-1]
        for path in files[attribute.name]:
            for row in read_findings(path):
                if row["case_id"] in seen:
                    continue
                seen.add(row["case_id"])
                value = NUMBER if not attribute.groups else row["value"]
                value = unknown if row["value"] is None else value
                cells[row["rule"], value].append(
                    {name: row[name] for name in ("confidence", "flags")}
                    | {"evidence": bool(row["evidence"])}
                )
        known = sum(len(found) for (_, value), found in cells.items() if value != unknown)
        if files[attribute.name]:
            counts[attribute.name] = {"cases": len(seen), "known": known}
        rows += _rows(dataset, attribute.name, cells, len(seen))
    write_rows(out, HEADER, rows)
    return counts


def _rows(
    dataset: str,
    attribute: str,
    cells: dict[tuple[str, str], list[dict[str, Any]]],
    total: int,
) -> list[dict[str, Any]]:
    of_rule = Counter()
    for (rule, _), found in cells.items():
        of_rule[rule] += len(found)
    ordered = sorted(
        cells.items(),
        key=lambda cell: (-of_rule[cell[0][0]], cell[0][0], -len(cell[1]), cell[0][1]),
    )
    rows = []
    for (rule, value), found in ordered:
        flags = Counter(flag for one in found for flag in one["flags"])
        rows.append(
            {
                "dataset": dataset,
                "attribute": attribute,
                "rule": rule,
                "value": value,
                "cases": len(found),
                "of": total,
                "share": len(found) / total,
                # fsum: the same whatever order the cases come in
                "mean_confidence": math.fsum(one["confidence"] for one in found) / len(found),
                "with_evidence": sum(one["evidence"] for one in found),
                "flags": "; ".join(f"{flag} {flags[flag]}" for flag in sorted(flags)),
            }
        )
    return rows


if __name__ == "__main__":
    stage.run(count_rules)
