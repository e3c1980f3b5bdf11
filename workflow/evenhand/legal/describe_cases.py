"""Stage: what a legal data set holds, beside what FairLex published (its Tables 1, 6 and 7)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.legal.built import (
    Groups,
    label_names,
    load_dataset,
    parts_of,
    read_cases_table,
    read_groups,
    read_labels,
    read_splits,
    with_none,
)
from evenhand.legal.dataset import Dataset
from evenhand.legal.records import SPLITS

SIZES = ["dataset", "quantity", "item", "ours", "of", "share", "published", "verdict"]
GROUPS = ["dataset", "attribute", "split", "group", "cases", "of", "share", "known", "share_known"]
LABELS = ["dataset", "split", "label", "cases", "of", "share"]

REPRODUCED, NOT_REPRODUCED, NOT_RUN = "reproduced", "not_reproduced", "not_run"

#: What a case is called whose labels the source does not tell.
LABEL_UNKNOWN = "unknown"


def describe_cases(
    *,
    data: Input,
    sizes: Output,
    groups: Output,
    labels: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    published: bool = False,
) -> dict[str, Any]:
    """Count a data set's cases, labels and groups, beside the published sizes.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    sizes : path
        CSV (Table 1): quantity (task, classes, classes that occur, cases, near duplicates, labels
        known, cases with several labels or none, years, attributes), item (a split or an
        attribute), ours, of (ours is one of so many), share, published, verdict (reproduced, not
        reproduced, not run; blank where nothing was published).
    groups : path
        CSV (Tables 6 and 7): attribute, split (or all), group (the unknown one last), cases, of
        (cases of the split), share, known (cases of the split with a known group), share_known.
    labels : path
        CSV: split, label (``none``: no label applies; ``unknown``: the source does not tell),
        cases, of (cases whose labels are known; of unknown: all), share. Shares of a task with
        several labels add up to more than 1.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the tables.
    published : bool
        Whether the cases are FairLex's own, so that its numbers are to be met. If not, they
        stand beside ours with the verdict not_run.

    Returns
    -------
    dict
        cases, by split, unlabelled, reproduced, not_reproduced.

    Raises
    ------
    InputError
        The data set is not what `build_cases` writes.
    """
    fixed = load_dataset(kind)
    parts = parts_of(read_splits(data))
    found = read_groups(data, fixed)
    known, hot = read_labels(data, fixed)
    rows = list(_sizes(data, fixed, parts, found, known, hot))
    for row in rows:
        if row.get("published") is not None and not published:
            row["verdict"] = NOT_RUN
    for path, header, lines in (
        (sizes, SIZES, rows),
        (groups, GROUPS, _groups(parts, found)),
        (labels, LABELS, _labels(fixed, parts, known, hot)),
    ):
        write_rows(path, header, ({"dataset": dataset} | line for line in lines))
    verdicts = [row.get("verdict") for row in rows]
    return {
        "cases": len(known),
        "splits": {split: int(parts[split].sum()) for split in SPLITS},
        "unlabelled": int((~known).sum()),
        REPRODUCED: verdicts.count(REPRODUCED),
        NOT_REPRODUCED: verdicts.count(NOT_REPRODUCED),
    }


def _sizes(
    data: Path,
    fixed: Dataset,
    parts: dict[str, np.ndarray],
    found: list[Groups],
    known: np.ndarray,
    hot: np.ndarray,
) -> Iterator[dict[str, Any]]:
    total, labelled = len(known), int(known.sum())
    yield {"quantity": "task", "ours": fixed.task}
    yield {"quantity": "classes", "ours": len(fixed.labels)}
    occurring = int(hot.any(axis=0).sum())
    yield _share("classes that occur", "", occurring, len(fixed.labels))
    yield _against("cases", "", total, sum(fixed.published.values()))
    for split in SPLITS:
        yield _against("cases", split, int(parts[split].sum()), fixed.published[split])
    lost = total - sum(int(parts[split].sum()) for split in SPLITS)
    if lost:
        yield {"quantity": "cases", "item": "without a split", "ours": lost}
    copies = read_cases_table(data, ["duplicate_of"])["duplicate_of"]
    yield _share("near duplicates", "", total - copies.null_count, total)
    yield _share("labels known", "", labelled, total)
    if fixed.task == "multi_label":
        per_case = hot[known].sum(axis=1)
        yield _share("cases with several labels", "", int((per_case > 1).sum()), labelled)
        yield _share("cases without a label", "", int((per_case == 0).sum()), labelled)
    yield from _years(data, fixed, parts)
    for one in found:
        row = {"quantity": "groups", "item": one.attribute.name, "ours": len(one.attribute.groups)}
        yield row
    for one in found:
        unknown = int((one.codes == one.unknown).sum())
        yield _share("group unknown", one.attribute.name, unknown, total)


def _years(data: Path, fixed: Dataset, parts: dict[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    """From the first to the last year of each split, as FairLex prints it (2001-16)."""
    dates = read_cases_table(data, ["date"])["date"].to_numpy(zero_copy_only=False)
    dates = dates.astype("datetime64[D]")
    dated = ~np.isnat(dates)
    yield _share("cases with a date", "", int(dated.sum()), len(dates))
    for split, printed in zip(SPLITS, fixed.years.split(" / "), strict=True):
        years = dates[dated & parts[split]].astype("datetime64[Y]").astype(int) + 1970
        row = {"quantity": "years", "item": split, "published": printed}
        if not len(years):
            yield row | {"verdict": NOT_RUN}
            continue
        first, last = int(years.min()), int(years.max())
        same = (first, last) == _span(printed)
        yield row | {
            "ours": _printed(first, last),
            "verdict": REPRODUCED if same else NOT_REPRODUCED,
        }


def _printed(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first}-{last % 100:02}" if first // 100 == last // 100 else f"{first}-{last}"


def _span(printed: str) -> tuple[int, int]:
    """The first and last year of ``2001-16``, ``1991-2016`` or ``2018``."""
    ends = [int(end) for end in printed.split("-")]
    first = ends[0]
    last = ends[-1] if ends[-1] > 99 else first - first % 100 + ends[-1]
    return first, last


def _groups(parts: dict[str, np.ndarray], found: list[Groups]) -> Iterator[dict[str, Any]]:
    for one in found:
        for split, members in parts.items():
            counts = np.bincount(one.codes[members], minlength=len(one.names)).tolist()
            of, known = sum(counts), sum(counts[:-1])
            for code, (name, count) in enumerate(zip(one.names, counts, strict=True)):
                yield {
                    "attribute": one.attribute.name,
                    "split": split,
                    "group": name,
                    "cases": count,
                    "of": of,
                    "share": count / of if of else None,
                    "known": known,
                    "share_known": count / known if known and code != one.unknown else None,
                }


def _labels(
    fixed: Dataset, parts: dict[str, np.ndarray], known: np.ndarray, hot: np.ndarray
) -> Iterator[dict[str, Any]]:
    names, counted = label_names(fixed), with_none(hot, fixed)
    for split, members in parts.items():
        of = int((known & members).sum())
        for name, count in zip(names, counted[known & members].sum(axis=0), strict=True):
            row = {"split": split, "label": name, "cases": int(count), "of": of}
            yield row | {"share": count / of if of else None}
        cases = int(members.sum())
        row = {"split": split, "label": LABEL_UNKNOWN, "cases": cases - of, "of": cases}
        yield row | {"share": (cases - of) / cases if cases else None}


def _share(quantity: str, item: str, ours: int, of: int) -> dict[str, Any]:
    share = ours / of if of else None
    return {"quantity": quantity, "item": item, "ours": ours, "of": of, "share": share}


def _against(quantity: str, item: str, ours: int, published: int) -> dict[str, Any]:
    verdict = REPRODUCED if ours == published else NOT_REPRODUCED
    row = {"quantity": quantity, "item": item, "ours": ours, "published": published}
    return row | {"verdict": verdict}


if __name__ == "__main__":
    stage.run(describe_cases)
