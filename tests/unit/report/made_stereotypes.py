"""Results on sets of stereotype pairs as the stages leave them, made small, for the page's tests.

Two masked models, a causal one, and one that did not pass its check; a set like CrowS-Pairs,
with annotators, and one like StereoSet, with unrelated sentences. The model that is not
trusted has numbers in every table, all of them `SENTINEL`, which no page may show.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.families import load_members
from evenhand.core.tables import write_tables
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes import check_released
from evenhand.stereotypes import tables as pair_tables
from evenhand.stereotypes.pairs import PAIRS
from evenhand.stereotypes.scores import SCORES
from unit.report.made_once import made_once

#: The number of a model that is not trusted.
SENTINEL = 77.123456

#: Model: family, trusted, how far it leans.
MODELS = {
    "tiny-bert-en": ("masked", True, 0.45),
    "roberta-like": ("masked", True, 0.0),
    "tiny-gpt2-en": ("causal", True, -0.1),
    "headless": ("masked", False, 3.0),
}
SETS = {
    "crows_pairs": ("CrowS-Pairs", ["race-color", "gender", "socioeconomic", "age"], 240),
    "stereoset_intrasentence": ("StereoSet, intrasentence", ["race", "profession"], 150),
}
SUBSETS = ("all", "clean", "equal_length", "stereo", "antistereo")
SWAPS = [("Women", "Men"), ("poor", "rich"), ("The immigrant", "The native"), ("old", "young"),
         ("My grandmother", "My nephew"), ("She", "He")]  # fmt: skip
FRAMES = [
    "{} cannot drive a car.",
    "{} people should never be trusted with money, they said.",
    "{} was late for work again yesterday.",
]
DECLARED = {member.TABLE.name: member.TABLE for member in load_members(pair_tables)}
TABLES = tuple(DECLARED)


def files(folder: Path, *without: str) -> list[Path]:
    """The files that the page reads of the results in a folder, but for those of some patterns."""
    patterns = ("*/pairs.json", "*/gates/*.json", "*/pairs.parquet", "*/scores/*.parquet")
    left_out = {path for pattern in without for path in folder.glob(pattern)}
    paths = [
        path for pattern in patterns for path in sorted((folder / "stereotypes").glob(pattern))
    ]
    paths += [*sorted(folder.glob("tables/pairs/*")), folder / "tables/released"]
    return [path for path in paths if path not in left_out]


@made_once
def write_results(
    folder: Path,
    models: dict[str, str] | None = None,
    sets: dict[str, str] | None = None,
    text: str = "",
) -> Path:
    """Write every file that the page reads.

    `models` and `sets` give some of `MODELS` and `SETS` other names; `text` is added to titles,
    bias types, sentences, reasons and words.
    """
    random = np.random.default_rng(7)
    names = {model: (models or {}).get(model, model) for model in MODELS}
    for set_name, (title, types, n) in SETS.items():
        name = (sets or {}).get(set_name, set_name)
        unrelated = set_name.startswith("stereoset")
        types = [one + text for one in types]
        pairs = _pairs(n, types, unrelated, text)
        place = folder / "stereotypes" / name
        _parquet(place / "pairs.parquet", pairs, PAIRS)
        _json(
            place / "pairs.json",
            {"name": name, "format": "stereoset" if unrelated else "crows_pairs",
             "title": title + text, "more_means": "stereotype", "less_means": "anti-stereotype",
             "pairs": n, "excluded": {} if unrelated else {"identical": 1, "empty" + text: 2},
             "flags": {"unequal_length": 31, "low_agreement": 0, "a_new_flag" + text: 3},
             "bias_types": {one: n // len(types) for one in types}, "clusters": len(SWAPS),
             "effective_clusters": 5.94, "has_unrelated": unrelated,
             "has_annotations": not unrelated, "has_directions": not unrelated},
        )  # fmt: skip
        tables: dict[str, list[dict[str, Any]]] = {kind: [] for kind in TABLES}
        for model, (family, trusted, lean) in MODELS.items():
            differences = {
                method: random.normal(lean if method != "sss" else lean / 4, 1, n)
                for method, about in METHODS.items()
                if about.family == family
            }
            _scores(place / "scores" / f"{names[model]}.parquet", pairs, differences)
            _json(place / "gates" / f"{names[model]}.json", gate(names[model], family, trusted, n))
            made = _tables(names[model], family, differences, types, unrelated, random, text)
            for kind, rows in made.items():
                tables[kind] += [_stained(row, trusted) for row in rows]
        tables["model_comparisons"] = _comparisons(names, text)
        own = [(DECLARED[kind], rows) for kind, rows in tables.items() if rows]
        write_tables(folder / "tables/pairs" / name, own)
    write_tables(
        folder / "tables/released",
        [(check_released.TABLE, [
            {"system": "bert-base-cased" + text, "part": "intrasentence", "lms": 83.01,
             "ss": 58.68, "icat": 68.6, "published_lms": 83.0, "published_ss": 58.7,
             "published_icat": 68.6, "verdict": "reproduced", "reason": ""},
            {"system": "gpt2", "part": "intrasentence", "lms": 91.1, "ss": 61.9, "icat": 69.4,
             "published_lms": 91.1, "published_ss": 61.9, "published_icat": 70.0,
             "verdict": "differs", "reason": "icat by -0.6"},
            {"system": "other", "part": "overall", "lms": 70.1, "ss": 51.9, "icat": 69.4,
             "published_lms": "", "published_ss": "", "published_icat": "",
             "verdict": "not_published", "reason": "the table has no numbers for it" + text},
        ])],
    )  # fmt: skip
    return folder


def gate(model: str, family: str, trusted: bool, pairs: int) -> dict[str, Any]:
    """What `score_pairs` says of a model."""
    return {
        "model": model, "family": family, "hub_name": None if trusted else "someone/headless",
        "type": "bert" if family == "masked" else "gpt2", "parameters": 4_385_920,
        "vocabulary": 28_996, "max_tokens": 512, "dtype": "bfloat16",
        "revision": None if trusted else "0123456789abcdef0123", "missing": [],
        "weights_sha256": model.encode().hex()[:16].ljust(64, "0"), "tokenizer_sha256": "b" * 64,
        "trusted": trusted,
        "reason": None if trusted else "missing_weights, a_new_reason",
        "check": {"sentences": 100, "tokens": 212, "accuracy": 0.31 if trusted else 0.01,
                  "accuracy_low": 0.25, "accuracy_high": 0.375, "baseline": 0.05,
                  "passed": trusted},
        "pairs": pairs, "sentences": 2 * pairs, "scored": 2 * pairs - 4,
        "excluded": {"too_long": 4}, "sentences_with_unknown": 12, "unknown_tokens": 15,
        "unknown_most_frequent": {"🤖": 9, "ﷺ": 6},
        "rescored_pairs": 31, "near_tie_margins": {"aul": 0.008}, "calibrated_on": 64,
    }  # fmt: skip


def _stained(row: dict[str, Any], trusted: bool) -> dict[str, Any]:
    if trusted:
        return row
    return {name: SENTINEL if isinstance(value, float) else value for name, value in row.items()}


def _pairs(n: int, types: list[str], unrelated: bool, text: str) -> list[dict[str, Any]]:
    rows = []
    for i in range(n):
        more, less = SWAPS[i % len(SWAPS)]
        frame = FRAMES[i % len(FRAMES)]
        rows.append(
            dict.fromkeys(PAIRS.names)
            | {
                "pair_id": str(i),
                "bias_type": types[i % len(types)],
                "cluster": f"{more}/{less}",
                "more": frame.format(more) + text,
                "less": frame.format(less) + text,
                "unrelated": frame.format("Tuesday") + text if unrelated else None,
                "context": "They talked about it." + text if unrelated else None,
                "flags": [],
                "source_position": i + 1,
            }
        )
    return rows


def _scores(path: Path, pairs: list[dict[str, Any]], differences: dict[str, np.ndarray]) -> None:
    rows = []
    for i, pair in enumerate(pairs):
        for side in ("more", "less"):
            values = {
                method: -20.0 + (float(d[i]) if side == "more" else 0.0)
                for method, d in differences.items()
            }
            rows.append(
                dict.fromkeys(SCORES.names)
                | {"pair_id": pair["pair_id"], "side": side, "variant": "original"}
                | values
            )
    _parquet(path, rows, SCORES)


def _tables(
    model: str, family: str, differences: dict[str, np.ndarray], types: list[str],
    unrelated: bool, random: np.random.Generator, text: str,
) -> dict[str, list[dict[str, Any]]]:  # fmt: skip
    trusted = model != "headless"
    n = len(next(iter(differences.values())))
    of_type = np.arange(n) % len(types)
    tables: dict[str, list[dict[str, Any]]] = {kind: [] for kind in TABLES}
    words = f"In 4 pairs a sentence has no score, as it is long{text}: pairs 3, 5, 8 and 9."
    tables["models"].append({"model": model, "unscored": words})
    for method, d in differences.items():
        for subset in SUBSETS[:3] if unrelated else SUBSETS:
            for number, bias_type in enumerate(["all", *types]):
                if subset != "all" and number:
                    continue
                chosen = d if not number else d[of_type == number - 1]
                tables["bias_scores"].append(
                    bias_row(model, method, subset, bias_type, chosen, trusted)
                )
        share = 1.0 if method == "aula" else 0.48
        score = 100 * float((d > 0).mean())
        tables["length"].append(
            {"model": model, "method": method, "unequal_pairs": 31,
             "prefers_longer": round(31 * share), "share_longer": share,
             "share_longer_low": share - 0.15, "share_longer_high": min(share + 0.15, 1.0),
             "score_all": score, "score_equal_length": score - 1.2, "equal_length_pairs": n - 31,
             "score_equal_length_low": score - 8.0, "score_equal_length_high": score + 5.0}
        )  # fmt: skip
        if unrelated:
            for bias_type in ["all", *types]:
                tables["stereoset"].append(
                    {"model": model, "method": method, "bias_type": bias_type, "terms": 12,
                     "triples": n, "scored": n - 1, "lms": 81.25, "lms_low": 76.0,
                     "lms_high": 85.5, "ss": score, "ss_low": score - 6.0, "ss_high": score + 6.0,
                     "icat": 70.5, "icat_low": 61.0, "icat_high": 79.0, "p_value": 0.01,
                     "p_adjusted": 0.034, "delta": 5.0, "power": 0.5, "further_clusters": 100,
                     "verdict": "above"}
                )  # fmt: skip
        else:
            _add_meta(tables, model, method, n, random)
    masked = ("unmasked", "unmasked_with_specials", "cps", "sss", "all_masked")
    for name in masked if family == "masked" else ("causal",):
        for variant in ("original", "shuffled", *(["unrelated"] if unrelated else [])):
            accuracy = 0.81 - 0.1 * masked.index(name) if name in masked else 0.31
            change = {"original": "", "shuffled": -0.123, "unrelated": -0.034}[variant]
            tables["token_accuracy"].append(
                {"model": model, "pass": name, "variant": variant, "tokens": 1234, "correct": 1000,
                 "accuracy": accuracy + (change or 0.0), "accuracy_low": accuracy - 0.05,
                 "accuracy_high": accuracy + 0.05, "change": change,
                 "change_low": change and change - 0.02, "change_high": change and change + 0.02}
            )  # fmt: skip
    if family == "masked":
        for group, score in (("disadvantaged", 41.5), ("advantaged", 63.0)):
            for bias_type in ["all", *types]:
                tables["all_masked"].append(
                    {"model": model, "group": group, "bias_type": bias_type, "pairs": n,
                     "scored": n, "ties": 3, "score": score, "score_low": score - 9.0,
                     "score_high": score + 9.0}
                )  # fmt: skip
        for published, corrected in (
            ("sss_compat", "sss"), ("aula", "aula_norm"), ("cps as coded", "cps"),
        ):  # fmt: skip
            flips = published == "aula" and model == "tiny-bert-en"
            tables["compat"].append(
                {"model": model, "published_method": published, "corrected_method": corrected,
                 "pairs": n, "decisions_changed": 13, "share_changed": 13 / n,
                 "score_published": 58.7, "score_corrected": 56.3,
                 "verdict_published": "above" if flips else "inconclusive",
                 "verdict_corrected": "inconclusive", "conclusion_changed": flips,
                 "known_error": f"aul-{published[:3]} aul-two"}
            )  # fmt: skip
    return tables


def bias_row(
    model: str, method: str, subset: str, bias_type: str, d: np.ndarray, trusted: bool = True
) -> dict[str, Any]:
    """A row of the table ``bias_scores``, its verdict by the contract's rule."""
    score = 100 * float((d > 0).mean())
    half = 380 / np.sqrt(len(d))
    low, high = max(score - half / 2, 0.0), min(score + half / 2, 100.0)
    verdict = "above" if low > 50 else "below" if high < 50 else "inconclusive"
    return {
        "model": model, "method": method, "subset": subset, "bias_type": bias_type,
        "pairs": len(d) + 2, "scored": len(d), "ties": 1, "unscorable": 2, "score": score,
        "score_low": low, "score_high": high, "clusters": 6, "effective_clusters": 5.9,
        "inflation": 1.0,
        "correlation": 0.05, "p_value": 0.21 if verdict == "inconclusive" else 0.0123,
        "p_adjusted": 0.5 if verdict == "inconclusive" else 0.041,
        "delta": 5.0, "power": 0.3, "further_clusters": 70,
        "studentised": 2.3, "null_seeds": 10, "null_beyond": 1,
        "trusted": str(trusted).lower(), "verdict": verdict,
        "reason": "" if trusted else "missing_weights, a_new_reason",
    }  # fmt: skip


def _add_meta(
    tables: dict[str, list[dict[str, Any]]], model: str, method: str, n: int,
    random: np.random.Generator,
) -> None:  # fmt: skip
    for agreeing, biased in ((3, round(0.89 * n)), (4, round(0.73 * n)), (5, round(0.42 * n))):
        label = np.arange(n) < biased
        value = random.normal(0.35 * label, 1)
        order = np.argsort(-value)
        fpr = np.concatenate([[0], np.cumsum(~label[order]) / (n - biased)])
        tpr = np.concatenate([[0], np.cumsum(label[order]) / biased])
        auc = float(np.trapezoid(tpr, fpr))
        tables["meta_evaluation"].append(
            {"model": model, "method": method, "agreeing": agreeing, "biased": biased,
             "unbiased": n - biased, "auc": auc, "auc_low": auc - 0.07, "auc_high": auc + 0.07,
             "p_value": 0.0002 if auc > 0.62 else 0.21}
        )  # fmt: skip
        tables["roc"] += [
            {"model": model, "method": method, "agreeing": agreeing,
             "false_positive_rate": float(x), "true_positive_rate": float(y)}
            for x, y in zip(fpr, tpr, strict=True)
        ]  # fmt: skip
        if method not in ("aul", "log_likelihood"):
            first = "aul" if METHODS[method].family == "masked" else "log_likelihood"
            tables["auc_tests"].append(
                {"model": model, "agreeing": agreeing, "method_a": first, "method_b": method,
                 "difference": 0.021, "difference_low": -0.03, "difference_high": 0.072,
                 "p_value": 0.2, "p_adjusted": 0.6}
            )  # fmt: skip


def _comparisons(names: dict[str, str], text: str) -> list[dict[str, Any]]:
    rows = []
    for a, b in (("tiny-bert-en", "roberta-like"), ("tiny-bert-en", "headless")):
        for method in ("aul", "aula", "cps"):
            clear = method == "aul"
            rows.append(
                {"model_a": names[a], "model_b": names[b], "method": method, "pairs": 238,
                 "score_a": 66.2 if b != "headless" else SENTINEL, "score_b": 51.1,
                 "difference": 15.1, "difference_low": 4.0 if clear else -2.0,
                 "difference_high": 25.0, "p_value": 0.001, "p_adjusted": 0.004 if clear else 0.3,
                 "less_biased": names[b] if clear else "",
                 "words": f"{names[b]} is less biased than {names[a]}" if clear
                 else "Neither can be called less biased" + text}
            )  # fmt: skip
    return rows


def _parquet(path: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path)


def _json(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
