"""Results as the stages leave them, made small: what the page's tests read."""

import csv
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.families import load_members
from evenhand.core.tables import Table, read_table, write_tables
from evenhand.slguset import tables as bias_tables
from evenhand.slguset.build_dataset import AGREEMENT, ANNOTATORS
from evenhand.slguset.count_funnel import FUNNEL, QUARANTINE
from evenhand.slguset.describe_dataset import TABLE as TABLE_1
from evenhand.slguset.report_published import TABLE as FILTERS
from unit.report.made_once import made_once

PAIRS = [("男/女", "男人", "女人", "男", "女"), ("他/她", "他", "她", "他", "她"),
         ("爸爸/妈妈", "爸爸", "妈妈", "爸爸", "妈妈")]  # fmt: skip
FRAMES = [
    "记者看到{}正在路边等车。",
    "那天晚上{}一直在厨房里忙着。",
    "邻居都说{}是个热心肠，从不推辞。",
]
REASONS = {
    "several_keywords": None,
    "not_a_gender_term": None,
    "a_new_reason": "小明",
    "coreference": "姐妹",
    "biology": "孕期",
}
KEYWORD_COLUMNS = ["pair", "surface", "surface_opposite", "keyword", "opposite", "gender",
                   "start", "end", "surface_start", "surface_end", "word"]  # fmt: skip

#: The result files that the page reads.
FILES = [
    *("tables/corpus", "tables/annotation", "tables/published", "tables/bias/*"),
    *("tables/sentences/*", "slguset*/slguset.parquet", "slguset*/statistics.json"),
    *("slguset_published/report.json", "slguset/candidates.parquet"),
    *("slguset/annotation/*.parquet", "slguset/annotation/1/drawn.csv"),
    "slguset/sentences/*.counts.json",
]
BIAS = {member.TABLE.name: member.TABLE for member in load_members(bias_tables)}


def templates(repository: Path) -> list[Path]:
    return sorted((repository / "workflow/evenhand/report/templates").iterdir())


def files(folder: Path, *without: str) -> list[Path]:
    """The files that the page reads of the results in a folder, but for those of some patterns."""
    left_out = {path for pattern in without for path in folder.glob(pattern)}
    paths = [path for pattern in FILES for path in sorted(folder.glob(pattern))]
    return [path for path in paths if path not in left_out]


def sentence_rows(frames: list[str] = FRAMES) -> list[dict[str, Any]]:
    """Accepted sentences: each frame with each word of each pair."""
    rows = []
    for pair, male, female, keyword_m, keyword_f in PAIRS:
        for gender in ("male", "female"):
            own, other = (male, female) if gender == "male" else (female, male)
            key, opposite = (keyword_m, keyword_f) if gender == "male" else (keyword_f, keyword_m)
            for line, frame in enumerate(frames, start=1):
                start = frame.index("{}")
                rows.append(
                    row_of(frame.replace("{}", own), pair, own, other, key, opposite, gender, start)
                    | {"source_position": line}
                )
    return rows


def row_of(
    sentence: str, pair: str, surface: str, surface_opposite: str, keyword: str, opposite: str,
    gender: str, surface_start: int,
) -> dict[str, Any]:  # fmt: skip
    start = sentence.index(keyword, surface_start)
    return {
        "sentence_id": hashlib.blake2b(sentence.encode(), digest_size=8).hexdigest(),
        "sentence": sentence,
        "source": "corpus/day.txt",
        "source_position": 1,
        "copies": 1,
        "pair": pair,
        "surface": surface,
        "surface_opposite": surface_opposite,
        "keyword": keyword,
        "opposite": opposite,
        "gender": gender,
        "start": start,
        "end": start + len(keyword),
        "surface_start": surface_start,
        "surface_end": surface_start + len(surface),
        "word": surface,
        "verdict": "accepted",
        "reasons": [],
        "evidence": None,
    }


def rejected_rows(accepted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Five of each reason, made from accepted sentences."""
    rows = []
    for reason, evidence in REASONS.items():
        for row in accepted[:5]:
            sentence = f"{row['sentence'][:-1]}，{evidence or reason}也在。"
            changed = row | {
                "sentence": sentence,
                "sentence_id": hashlib.blake2b(sentence.encode(), digest_size=8).hexdigest(),
                "verdict": reason,
                "reasons": [reason],
                "evidence": row["word"] if reason == "not_a_gender_term" else evidence,
            }
            if reason == "several_keywords":
                changed |= dict.fromkeys(KEYWORD_COLUMNS)
            rows.append(changed)
    return rows


@made_once
def write_results(
    folder: Path, accepted: list[dict[str, Any]] | None = None, seed: int = 1
) -> Path:
    """Write every file that the page reads."""
    accepted = accepted or sentence_rows()
    rejected = rejected_rows(accepted)
    by_id = sorted(accepted + rejected, key=lambda row: row["sentence_id"])
    read = len(by_id) * 5
    _parquet(folder / "slguset/candidates.parquet", by_id)
    _tables(
        folder / "tables/corpus", (FUNNEL, [
            {"step": "read", "reason": "", "sentences": read, "share": 1.0},
            {"step": "keyword", "reason": "", "sentences": len(by_id), "share": len(by_id) / read},
            {"step": "duplicate", "reason": "", "sentences": 0, "share": 0.0},
            *(
                {"step": "rejected", "reason": reason, "sentences": n, "share": n / read}
                for reason in REASONS
                if (n := sum(row["verdict"] == reason for row in rejected))
            ),
            {"step": "accepted", "reason": "", "sentences": len(accepted),
             "share": len(accepted) / read},
        ]),
        (QUARANTINE, [
            {"reason": "nul_bytes", "file": f"corpus/{shard}.txt", "position": 7, "unit": "line",
             "detail": "2 NUL bytes", "parts": 1} for shard in "ab"
        ]),
    )  # fmt: skip
    _corpus(folder / "slguset/sentences", read)
    _annotation(folder / "slguset", accepted)
    for edition in ("slguset", "slguset_published"):
        _dataset(folder / edition, accepted)
        _bias(folder, edition, accepted, seed)
    _published(folder / "slguset_published", len(accepted))
    return folder


def write_hostile(folder: Path, text: str) -> Path:
    """The same with this text as what people, files and models say and are called."""
    rows = sentence_rows([text + "记者看到{}正在路边等车。"])
    for row in rows:
        row["source"] = text
    write_results(folder, rows)
    path = folder / "slguset/candidates.parquet"
    table = pq.read_table(path).to_pylist()
    for row in table:
        row["evidence"] = text
    pq.write_table(pa.Table.from_pylist(table), path)
    for name in ("corpus/funnel.csv", "annotation/agreement.csv", "published/filters.csv"):
        quoted = '"' + text.replace('"', '""') + '"'
        words = (folder / "tables" / name).read_text(encoding="utf-8")
        for old in ("a_new_reason", "他/她", "biology,biology"):
            words = words.replace(old, quoted if "," not in old else f"{quoted},{quoted}")
        (folder / "tables" / name).write_text(words, encoding="utf-8")
    row = {"reason": text, "file": text, "position": 1, "unit": "line"}
    corpus = folder / "tables/corpus"
    quarantine = [row | {"detail": "\x00\x1b[31m", "parts": 1}]
    _tables(corpus, (FUNNEL, read_table(corpus / "funnel.csv")), (QUARANTINE, quarantine))
    summary = folder / "tables/bias/slguset/models.csv"
    summary.write_text(
        summary.read_text(encoding="utf-8").replace(
            "bert-base-chinese", '"' + text.replace('"', '""') + '"'
        ),
        encoding="utf-8",
    )
    return folder


def _published(folder: Path, sentences: int) -> None:
    example = FRAMES[0].replace("{}", "女人") + "[女人]"
    _tables(
        folder.parent / "tables/published", (FILTERS, [
            {"filter": "biology", "reason": "", "sentences": 2, "share": 0.1, "examples": ""},
            {"filter": "biology", "reason": "biology", "sentences": 2, "share": 0.1,
             "examples": example},
        ]),
    )  # fmt: skip
    _json(
        folder / "report.json",
        {"sentences": sentences, "distinct_sentences": sentences,
         "positions": {"right": sentences - 3, "wrong": 3, "whole_word": 2, "new_kind": 1},
         "problems": {"wrong_slice": 3, "new_problem": 1}, "keywords": {"accepted": sentences},
         "dropped": {"biology": 2},
         "pass_every_filter": sentences - 2},
    )  # fmt: skip


def _corpus(folder: Path, read: int) -> None:
    for shard, encoding in (("a", "utf-8"), ("b", "gb18030")):
        _json(
            folder / f"{shard}.counts.json",
            {"files": 2, "bytes": 5000, "characters": 2000, "records": 100, "paragraphs": 100,
             "sentences": read // 2, "keyword_sentences": 50, "duplicates": 3,
             "quarantined": {"nul_bytes": 1}, "encodings": {encoding: 2}},
        )  # fmt: skip


def _annotation(folder: Path, accepted: list[dict[str, Any]]) -> None:
    _parquet(
        folder / "annotation/sample.parquet",
        [
            row | {"round": "1", "rank": i, "lost": i == 2}
            for i, row in enumerate(accepted, start=1)
        ],
    )
    _parquet(
        folder / "annotation/answers.parquet",
        [
            {"sentence_id": row["sentence_id"], "annotator": f"annotator_{k}", "answer": "accept",
             "criterion": None, "comment": None}
            for row in accepted
            for k in (1, 2, 3)
        ],
    )  # fmt: skip
    _csv(
        folder / "annotation/1/drawn.csv",
        [
            {"pair": pair, "surface_male": male, "surface_female": female, "gender": gender,
             "wanted": 4, "available": 3, "drawn": 3, "missing": 1}
            for pair, male, female, _, _ in PAIRS
            for gender in ("female", "male")
        ],
    )  # fmt: skip
    said = {"answers": len(accepted), "accept": len(accepted), "reject": 0, "unsure": 0}
    said |= {"waiting": 1, "accuracy": 0.93}
    words = [f"{male}/{female}" for _, male, female, _, _ in PAIRS]
    _tables(
        folder.parent / "tables/annotation",
        (ANNOTATORS, [{"annotator": f"annotator_{k}"} | said for k in (1, 2, 3)]),
        (AGREEMENT, [{"pair": pair, "n": 6, "unanimous": 5, "percent_agreement": 0.889,
                      "fleiss_kappa": 0.61, "krippendorff_alpha": 0.62} for pair in words]
         + [{"pair": "all", "n": 18, "unanimous": 15, "percent_agreement": 0.889,
             "krippendorff_alpha": 0.62, "estimated_accept": 0.8, "adjudicated": 2,
             "waiting": 1}]),
    )  # fmt: skip


def _dataset(folder: Path, accepted: list[dict[str, Any]]) -> None:
    keep = ["sentence_id", "sentence", "pair", "surface", "surface_opposite", "keyword", "opposite",
            "gender", "start", "end", "surface_start", "surface_end", "source",
            "source_position"]  # fmt: skip
    _parquet(folder / "slguset.parquet", [{k: row[k] for k in keep} for row in accepted])
    words = [_surface_pair(row) for row in accepted]
    genders = [row["gender"] for row in accepted]
    table = [
        {"pair": pair, "surface": word, "male": n["male"], "female": n["female"],
         "total": n.total(), "published_male": 500 if word == "爸爸/妈妈" else "",
         "published_female": 500 if word == "爸爸/妈妈" else ""}
        for pair, word in dict.fromkeys(zip((r["pair"] for r in accepted), words, strict=True))
        for n in [Counter(g for g, w in zip(genders, words, strict=True) if w == word)]
    ]  # fmt: skip
    _tables(folder.parent / "tables/sentences" / folder.name, (TABLE_1, table))
    lengths = Counter(len(row["sentence"]) // 10 for row in accepted)
    _json(
        folder / "statistics.json",
        {"sentences": len(accepted),
         "length": {"mean": 14.5, "median": 14.0, "min": 9, "max": 21, "histogram": [
             {"from": 10 * bar, "to": 10 * bar + 9, "sentences": lengths[bar]}
             for bar in range(max(lengths) + 1)
         ]},
         "distinct_characters": len({c for row in accepted for c in row["sentence"]}),
         "vocabulary": None if folder.name == "slguset" else {
             "entries": 21128, "characters_covered": 4000, "characters_missing": 220,
             "share_of_characters": 0.947867, "share_of_entries": 0.189322,
             "distinct_characters_per_entry": 0.199735,
             "most_frequent_missing": [{"character": "“", "occurrences": 1000}]},
         "pairs": []},
    )  # fmt: skip


def _bias(folder: Path, edition: str, accepted: list[dict[str, Any]], seed: int) -> None:
    """Random scores, in tables of the shape that the stages of SlguSet's bias give them."""
    random = np.random.default_rng(seed)
    models = {"tiny-bert-zh": True, "bert-base-chinese": True, "headless": False}
    surface_pairs = [_surface_pair(row) for row in accepted]
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in BIAS}
    for i, (model, trusted) in enumerate(models.items()):
        bias = random.normal(0.1 - 0.25 * i, 0.8, len(accepted))
        bias[0] = np.nan
        scores = [None if np.isnan(b) else float(b) for b in bias]
        _parquet(
            folder / edition / "bias" / f"{model}.parquet",
            [
                {"sentence_id": row["sentence_id"], "bias": score}
                for row, score in zip(accepted, scores, strict=True)
            ],
        )
        mean, above, below = (
            float(np.nanmean(bias)),
            int((bias > 0.3).sum()),
            int((bias < -0.3).sum()),
        )
        interval = {"mean_bias": mean, "mean_bias_low": mean - 0.05, "mean_bias_high": mean + 0.05}
        degrees = {"male_degree": 0.4, "female_degree": 0.3, "mean_degree": 0.7}
        tables["models"].append(
            {"model": model, "family": "masked", "sentences": len(bias), "scored": len(bias) - 1,
             "excluded": 1, "with_unknown_tokens": 2, **interval,
             "verdict": "male" if trusted else "not_scored", **degrees,
             "within_threshold": len(bias) - 1 - above - below,
             "above_threshold": above, "below_threshold": below,
             "published_within": 7223 if model == "bert-base-chinese" else "",
             "published_above": 6024 if model == "bert-base-chinese" else "",
             "published_below": 6743 if model == "bert-base-chinese" else "",
             "log_base": 10.0, "threshold": 0.3, "check_accuracy": 0.31,
             "check_baseline": 0.04, "trusted": trusted,
             "reason": "" if trusted else "fill_mask_not_above_baseline, new_reason"}
        )  # fmt: skip
        names = dict.fromkeys(surface_pairs)
        groups = [("all", "all"), *(("surface_pair", name) for name in names)]
        groups += [("compound", "男童/女童"), ("compound", "男婴/女婴")]
        for k, (group, name) in enumerate(groups):
            for gender in ("all", "male", "female"):
                for direction in ("all", "male", "female"):
                    n = 0 if name == "男童/女童" else 6 if direction == "all" else 3
                    centre = mean + 0.1 * (k % 5) - 0.2
                    tables["pairs"].append(
                        {"model": model, "group": group, "pair": name, "surface_pair": name,
                         "gender": gender, "direction": direction, "n": n,
                         "share": n / 6 if n else "", "mean_bias": centre if n else "",
                         "mean_bias_low": centre - 0.1 if n else "",
                         "mean_bias_high": centre + 0.1 if n else "",
                         "share_above": 0.25 if n else "", "share_below": 0.5 if n else ""}
                    )  # fmt: skip
        for variant in ("whole_word", "left_to_right", "one_character", "single_mask"):
            for words in ("all", "several_tokens"):
                tables["variants"].append(
                    {"model": model, "variant": variant, "words": words, "n": 6, **interval,
                     **degrees, "sign_changed": 2 if variant == "single_mask" else 0}
                )  # fmt: skip
        if not trusted:
            continue
        inner = [-1.0, -0.5, 0.0, 0.5, 1.0]
        kept = [b for b in scores if b is not None]
        for low, high in zip([None, *inner], [*inner, None], strict=True):
            n = sum((low is None or low <= b) and (high is None or b < high) for b in kept)
            tables["distribution"].append(
                {"model": model, "low": low, "high": high, "sentences": n, "share": n / len(kept)}
            )
        ranked = sorted(
            (b, row["sentence_id"], row)
            for b, row in zip(scores, accepted, strict=True)
            if b is not None
        )
        keep = ["sentence_id", "sentence", "surface", "surface_opposite", "gender", "start",
                "end", "surface_start", "surface_end", "source", "source_position"]  # fmt: skip
        for direction, chosen in (("male", ranked[::-1]), ("female", ranked)):
            sign = 1 if direction == "male" else -1
            for rank, (b, _, row) in enumerate(chosen[:7], start=1):
                if sign * b > 0:
                    tables["sentences"].append(
                        {"model": model, "direction": direction, "rank": rank, "bias": b}
                        | {name: row[name] for name in keep}
                    )
            for method in ("tf_idf", "textrank"):
                for rank, word in enumerate(("厨房", "邻居", direction), start=1):
                    tables["words"].append(
                        {"model": model, "direction": direction, "sentences": 5,
                         "method": method, "rank": rank, "word": word, "weight": 1 / rank,
                         "count": 4 - rank, "count_opposite": 1}
                    )  # fmt: skip
    tables["correlations"] = [
        {"model_a": "tiny-bert-zh", "model_b": other, "n": 17, "pearson": 0.5, "spearman": -0.4}
        for other in ("bert-base-chinese", "headless")
    ]
    tables["methods"] = [
        {"model": "tiny-bert-zh", "method": method, "n": 17, "pearson": 0.31,
         "pearson_low": 0.1, "pearson_high": 0.5, "spearman": 0.3, "sign_agreement": 0.6,
         "share_male": 0.55, "share_male_bias": 0.45}
        for method in ("aul", "a_new_method")
    ] + [{"model": "bert-base-chinese", "n": 0, "reason": "few_scored"}]  # fmt: skip
    write_tables(
        folder / "tables/bias" / edition, [(BIAS[name], rows) for name, rows in tables.items()]
    )


def _surface_pair(row: dict[str, Any]) -> str:
    words = (row["surface"], row["surface_opposite"])
    return "/".join(words if row["gender"] == "male" else words[::-1])


def _tables(folder: Path, *tables: tuple[Table, list[dict[str, Any]]]) -> None:
    write_tables(folder, tables)


def _parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def _csv(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _json(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
