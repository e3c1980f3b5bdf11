"""Sentences and pairs with scores, as many as wanted: what the tests of the explorer read."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.tables import write_tables
from evenhand.slguset.dataset import SCHEMA
from evenhand.slguset.tables import models as bias_by_model
from evenhand.stereotypes.pairs import PAIRS, pair_row
from evenhand.stereotypes.scores import SCORES

#: Surface, opposite, keyword, opposite keyword, mask pair, gender.
WORDS = [
    ("男人", "女人", "男", "女", "男/女", "male"),
    ("女人", "男人", "女", "男", "男/女", "female"),
    ("他", "她", "他", "她", "他/她", "male"),
    ("她", "他", "她", "他", "他/她", "female"),
    ("妈妈", "爸爸", "妈妈", "爸爸", "爸爸/妈妈", "female"),
]
PLACES = ["车站", "厨房", "学校", "河边", "工地", "医院", "菜场", "剧院"]
DOINGS = ["等车", "修自行车", "和邻居谈起天气", "数着台阶", "把雨伞借给别人", "读完了半本书"]
#: A sentence to be found, and how one goes on after a text.
PLANTED = "埋在这里的{}捧着独一无二的记号。"
FRAME = "记者看到{}正在等车𠮷。"
#: Pairs; {text} stands for a text.
MADE_PAIRS = [
    ("The baker is kind.", "The baker is loud."),
    ("{text} she waits.", "{text} he waits."),
    ("My aunt sings at night.", "My uncle sings at night."),
    ("The same.", "The same."),
]


def sentence_rows(number: int, frames: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Rows of a data set: `frames` (with a place ``{}`` for the word) first, then made ones."""
    rows = []
    for i in range(number):
        surface, opposite_surface, keyword, opposite, pair, gender = WORDS[i % len(WORDS)]
        if i < len(frames):
            frame = frames[i]
        else:
            place, doing = PLACES[i // 5 % len(PLACES)], DOINGS[i // 40 % len(DOINGS)]
            frame = f"第{i}天，有人看到{{}}在{place}{doing}，一直到天黑才离开。"
        before, after = frame.split("{}")
        sentence = before + surface + after
        at = len(before)
        start = at + surface.index(keyword)
        row = {
            "sentence_id": hashlib.blake2b(sentence.encode(), digest_size=8).hexdigest(),
            "sentence": sentence,
            "masked_sentence": sentence[:start] + "[MASK]" + sentence[start + len(keyword) :],
            "swapped_sentence": before + opposite_surface + after,
            "pair": pair,
            "surface": surface,
            "surface_opposite": opposite_surface,
            "keyword": keyword,
            "opposite": opposite,
            "gender": gender,
            "start": start,
            "end": start + len(keyword),
            "surface_start": at,
            "surface_end": at + len(surface),
            "source": f"corpus/{i % 7}.txt",
            "source_position": i + 1,
        }
        rows.append(row)
    return rows


def write_edition(
    folder: Path,
    edition: str,
    rows: list[dict[str, Any]],
    models: Sequence[str] = ("one", "two"),
    untrusted: Sequence[str] = (),
    seed: int = 1,
) -> dict[str, Any]:
    """Write an edition with made scores; return its arguments of `explore_sentences`.

    Of every model the second row has no number (too_long), and the third holds an unknown sign.
    """
    random = np.random.default_rng(seed)
    home = folder / edition
    (home / "bias").mkdir(parents=True)
    (folder / "tables").mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), home / "slguset.parquet")
    paths = []
    for i, model in enumerate(models):
        bias = random.normal(0.1 * i, 0.8, len(rows))
        table = [
            {
                "sentence_id": row["sentence_id"],
                "bias": None if k == 1 else float(bias[k]),
                "has_unk": k == 2,
                "excluded": "too_long" if k == 1 else None,
            }
            for k, row in enumerate(rows)
        ]
        paths.append(home / "bias" / f"{file_name(model)}.parquet")
        pq.write_table(pa.Table.from_pylist(table), paths[-1])
    summary = folder / "tables/bias" / edition
    rows = [
        {"model": file_name(model), "log_base": 10.0, "threshold": 0.3, "trusted": True}
        | (
            {"trusted": False, "reason": "fill_mask_not_above_baseline"}
            if model in untrusted
            else {}
        )
        for model in models
    ]
    write_tables(summary, [(bias_by_model.TABLE, rows)])
    return {"datasets": [home / "slguset.parquet"], "summaries": [summary], "bias_scores": paths}


def file_name(model: str) -> str:
    """A model's name as a file has it."""
    return model.replace("/", "∕")


def write_pairs(
    folder: Path,
    name: str,
    sentences: Sequence[tuple[str, str]],
    models: dict[str, Sequence[str]],
    untrusted: Sequence[str] = (),
    title: str = "Made pairs",
    ids: Sequence[str] = (),
    seed: int = 1,
) -> dict[str, list[Path]]:
    """Write a set of pairs with made scores by the methods of each model.

    Returns the arguments of `explore_sentences`. The last pair has no score (identical).
    """
    random = np.random.default_rng(seed)
    home = folder / "stereotypes" / name
    for part in ("scores", "gates"):
        (home / part).mkdir(parents=True)
    rows = [
        pair_row(
            pair_id=ids[i] if i < len(ids) else str(i),
            bias_type="age" if i % 2 else "profession",
            direction="antistereo" if i % 3 == 0 else "stereo",
            cluster="made",
            more=more,
            less=less,
            flags=["several_edits"] if i == 0 else [],
            excluded="identical" if i == len(sentences) - 1 else None,
            source_position=i + 1,
        )
        for i, (more, less) in enumerate(sentences)
    ]
    pq.write_table(pa.Table.from_pylist(rows, PAIRS), home / "pairs.parquet")
    about = {
        "name": name,
        "title": title,
        "more_means": "stereotype",
        "less_means": "anti-stereotype",
        "pairs": len(rows),
    }
    (home / "pairs.json").write_text(json.dumps(about), encoding="utf-8")
    scores, gates = [], []
    for model, methods in models.items():
        table = []
        for row in rows:
            for side in ("more", "less"):
                for variant in ("original", "shuffled"):
                    score = dict.fromkeys(SCORES.names) | {
                        "pair_id": row["pair_id"],
                        "side": side,
                        "variant": variant,
                        "n_unknown": 0,
                        "excluded": row["excluded"],
                    }
                    if row["excluded"] is None:
                        score |= {method: float(random.normal(-3, 1)) for method in methods}
                    table.append(score)
        scores.append(home / "scores" / f"{model}.parquet")
        pq.write_table(pa.Table.from_pylist(table, SCORES), scores[-1])
        gates.append(home / "gates" / f"{model}.json")
        reason = "next_token_not_above_baseline" if model in untrusted else None
        gates[-1].write_text(json.dumps({"trusted": reason is None, "reason": reason}))
    return {"sets": [home / "pairs.json"], "pairs": [home / "pairs.parquet"],
            "scores": scores, "gates": gates}  # fmt: skip


def write_results(folder: Path, text: str) -> dict[str, Any]:
    """Two editions and two sets of pairs, with this text wherever data has a say.

    Returns the arguments of `explore_sentences`. The first sentence holds the text, the second
    is `PLANTED`.
    """
    pairs = [
        (more.replace("{text}", text), less.replace("{text}", text)) for more, less in MADE_PAIRS
    ]
    rows = sentence_rows(120, [text + FRAME, PLANTED])
    rows[3]["source"] = text
    hostile = text.replace("/", "∕")
    sources = [
        write_edition(folder, "slguset", rows, ["one", "two", hostile], ["two"]),
        write_edition(folder, "slguset_published", rows[60:100], ["one"]),
    ]
    english = {"masked": ["aul", "cps"], "other": ["aul"], "causal": ["log_likelihood"]}
    sets = [
        write_pairs(folder, "made", pairs, english, ["causal"], ids=["0", f"1/{text}"]),
        write_pairs(folder, "second", pairs[:1] * 2, {"one": ["aul"]}, title=text),
    ]
    return {
        name: [path for one in made for path in one[name]]
        for made in (sources, sets)
        for name in made[0]
    }
