"""The sizes of a data set beside the published ones: FairLex's Table 1."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from pyarrow.compute import is_in

from evenhand.core.tables import Row, Table, integer, share, text
from evenhand.legal.built import CaseStudy
from evenhand.legal.published import NOT_REPRODUCED, NOT_RUN, REPRODUCED
from evenhand.legal.records import SPLITS

TABLE = Table(
    "sizes",
    title="Sizes beside the published ones",
    key=("dataset", "quantity", "item"),
    columns=(
        text("dataset"),
        text("quantity"),
        text("item", "A split or an attribute"),
        text("ours"),
        integer("of", "ours is a part of this number"),
        share("share"),
        text("published"),
        text("verdict", "reproduced, not_reproduced or not_run; blank without a published value"),
    ),
    source="FairLex (Chalkidis et al. 2022), table 1",
)


def rows(study: CaseStudy) -> Iterator[Row]:
    """Yield a row per quantity and item; of other cases than FairLex's, verdicts are not_run."""
    for row in _quantities(study):
        other = row.get("published") is not None and not study.published
        yield row | ({"verdict": NOT_RUN} if other else {})


def _quantities(study: CaseStudy) -> Iterator[dict[str, Any]]:
    dataset, parts, (known, hot) = study.dataset, study.parts, study.labels
    columns = study.table("case_id", "duplicate_of", "date")
    total, labelled = len(known), int(known.sum())
    yield {"quantity": "task", "ours": dataset.task_name}
    yield {"quantity": "classes", "ours": len(dataset.labels)}
    yield _part("classes that occur", "", int(hot.any(axis=0).sum()), len(dataset.labels))
    yield _compared("", total, sum(dataset.published.values()) or None)
    for split in SPLITS:
        yield _compared(split, int(parts[split].sum()), dataset.published.get(split))
    if without := total - sum(int(parts[split].sum()) for split in SPLITS):
        yield {"quantity": "cases", "item": "without a split", "ours": without}
    firsts, trained = columns["duplicate_of"], columns["case_id"].filter(parts["train"])
    yield _part("near duplicates", "", total - firsts.null_count, total)
    if copies := _count_copies(study, firsts.to_pylist()):
        yield _part("near duplicates", "exact copies", copies, total)
    # a group names a case of train if it has one
    if copied := sum(is_in(firsts.filter(parts["test"]), trained).to_pylist()):
        yield _part("near duplicates", "test of train", copied, int(parts["test"].sum()))
    yield _part("labels known", "", labelled, total)
    if dataset.task == "multi_label":
        per_case = hot[known].sum(axis=1)
        yield _part("cases with several labels", "", int((per_case > 1).sum()), labelled)
        yield _part("cases without a label", "", int((per_case == 0).sum()), labelled)
    dates = columns["date"].to_numpy(zero_copy_only=False).astype("datetime64[D]")
    dated = ~np.isnat(dates)
    if dated.any() or dataset.years:
        yield _part("cases with a date", "", int(dated.sum()), total)
    years = dates.astype("datetime64[Y]").astype(int) + 1970
    for split, printed in zip(SPLITS, filter(None, dataset.years.split(" / ")), strict=False):
        yield _years(split, years[dated & parts[split]], printed)
    attributes = [groups.attribute for groups in study.groups]
    for attribute in attributes:
        yield {"quantity": "groups", "item": attribute.name, "ours": len(attribute.groups)}
    for attribute, groups in zip(attributes, study.groups, strict=True):
        unknown = int((groups.codes == groups.unknown).sum())
        yield _part("group unknown", attribute.name, unknown, total)


def _count_copies(study: CaseStudy, firsts: list[str | None]) -> int:
    """Return the number of cases with the text of the first case of their near duplicates."""
    needed = {*firsts} - {None}
    if not needed:
        return 0
    digests, others = {}, []
    cases = zip(study.case_ids, firsts, study.documents(), strict=True)
    for case_id, first, (paragraphs, _) in cases:
        if first or case_id in needed:
            digests[case_id] = blake2b("\n".join(paragraphs).encode()).digest()
            others += [(case_id, first)] if first else []
    return sum(digests[case_id] == digests.get(first) for case_id, first in others)


def _years(split: str, years: np.ndarray, printed: str) -> dict[str, Any]:
    """The first and the last year of a split, as FairLex prints them (2001-16)."""
    row = {"quantity": "years", "item": split, "published": printed}
    if not len(years):
        return row | {"verdict": NOT_RUN}
    first, last = int(years.min()), int(years.max())
    short = f"{last % 100:02}" if first // 100 == last // 100 else str(last)
    verdict = REPRODUCED if (first, last) == _ends(printed) else NOT_REPRODUCED
    return row | {"ours": f"{first}-{short}" if first != last else str(first), "verdict": verdict}


def _ends(printed: str) -> tuple[int, int]:
    """The first and last year of ``2001-16``, ``1991-2016`` or ``2018``."""
    first, *last = (int(end) for end in printed.split("-"))
    end = last[0] if last else first
    return first, end if end > 99 else first - first % 100 + end


def _part(quantity: str, item: str, count: int, of: int) -> dict[str, Any]:
    share = count / of if of else None
    return {"quantity": quantity, "item": item, "ours": count, "of": of, "share": share}


def _compared(item: str, count: int, published: int | None) -> dict[str, Any]:
    row = {"quantity": "cases", "item": item, "ours": count}
    if published is None:
        return row
    verdict = REPRODUCED if count == published else NOT_REPRODUCED
    return row | {"published": published, "verdict": verdict}
