import json

from evenhand.core.tables import write_tables
from evenhand.slguset.build_dataset import AGREEMENT, ANNOTATORS
from evenhand.slguset.count_funnel import FUNNEL, QUARANTINE
from evenhand.slguset.describe_dataset import TABLE
from evenhand.slguset.tables import models
from unit.report import made_results
from unit.report.checks import headline_of
from unit.report.headlines.kept import check_kept

describe = headline_of("slguset")

STATISTICS = "slguset/statistics.json"
STEPS = (("read", 100, 1.0), ("keyword", 40, 0.4), ("accepted", 12, 0.12))


def funnel(folder):
    steps = [dict(zip(("step", "sentences", "share"), row, strict=True)) for row in STEPS]
    write_tables(folder / "tables/corpus", [(FUNNEL, steps), (QUARANTINE, [])])
    return folder / "tables/corpus"


def write(folder, text, name):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def bias(folder, rows, name="slguset"):
    path = folder / "tables/bias" / name
    common = {"scored": 20_000, "trusted": True, "verdict": "inconclusive"}
    write_tables(path, [(models.TABLE, [common | row for row in rows])])
    return path


def lean(model, mean, verdict="inconclusive", **other):
    ends = {"mean_bias_low": mean - 0.1, "mean_bias_high": mean + 0.1}
    return {"model": model, "mean_bias": mean, "verdict": verdict} | ends | other


def published(folder, sentences=20_000, characters=4_220, dropped=None, female=10_000):
    place = "slguset_published"
    row = {"pair": "a/b", "surface": "a/b", "male": 10000, "female": female}
    row |= {"published_male": 10000, "published_female": 10000}
    write_tables(folder / "tables/sentences" / place, [(TABLE, [row])])
    numbers = {"sentences": sentences, "distinct_characters": characters}
    report = {
        "keywords": {"accepted": sentences},
        "dropped": dropped or {},
        "sentences": sentences,
        "positions": {"right": sentences - 30, "wrong": 30},
        "pass_every_filter": sentences - 50,
    }
    return [
        folder / "tables/sentences" / place,
        write(folder, json.dumps(numbers), f"{place}/statistics.json"),
        write(folder, json.dumps(report), f"{place}/report.json"),
    ]


def statistics(folder, **told):
    return write(folder, json.dumps({"sentences": 7} | told), STATISTICS)


def words(female):
    """The counts of two pairs, and of all sentences."""
    pairs = [{"pair": "a", "male": 4, "female": 3}, {"pair": "b", "male": 2, "female": female - 3}]
    return {"sentences": 6 + female, "pairs": pairs}


def annotators(folder, **accuracies):
    rows = [{"annotator": a, "answers": 40, "accuracy": p} for a, p in accuracies.items()]
    path = folder / "tables/annotation"
    write_tables(path, [(AGREEMENT, []), (ANNOTATORS, rows)])
    return path


UNTRUSTED = {"trusted": False, "reason": "missing_weights, a_new_reason"}
NEAR = {"within_threshold": 7_223, "above_threshold": 6_024 + 200, "below_threshold": 6_000}
KNOWN = {"published_within": 7_223, "published_above": 6_024, "published_below": 6_743}
DROPPED = {"names_jieba": 3, "names_crf": 0, "biology": 0, "pair_fit": 0}
BIAS = "model,sentences,within,above,below\nbase,20000,1,2,3\nother,20000,1,2,3\n"

#: What writes the files that a headline reads.
MADE = {
    "a single model": lambda f: [bias(f, [lean("tiny", -0.02)])],
    "one that is near": lambda f: [bias(f, [lean("tiny", 0, "equivalent", threshold=0.3)])],
    "several models": lambda f: [
        bias(f, [lean("a", 0.3, "male"), lean("b", -0.5, "female"), lean("c", 0.01)])
    ],
    "two that are undecided": lambda f: [bias(f, [lean("a", 0.01), lean("c", 0.01)])],
    "an untrusted model": lambda f: [bias(f, [lean("<b>", 0.777, "male", **UNTRUSTED)])],
    "no answers": lambda f: [funnel(f)],
    "answers": lambda f: [funnel(f), statistics(f)],
    "a careless annotator": lambda f: [statistics(f), annotators(f, a=0.8, b=0.62, c=None)],
    "the authors' file": lambda f: published(f, dropped=DROPPED),
    "another of its size": lambda f: published(f, characters=4_221, female=9_999),
    "another in its form": lambda f: published(f, sentences=60, dropped={"biology": 1}),
    "published counts of models": lambda f: [
        bias(f, [lean("base", 0.1, **NEAR, **KNOWN)], "slguset_published"),
        write(f, BIAS, "zh_gender/published_bias.csv"),
    ],
    "both words as frequent": lambda f: [statistics(f, **words(6))],
    "one word less frequent": lambda f: [statistics(f, **words(5))],
    "what the stages leave": lambda f: [
        made_results.write_results(f) / name
        for name in (
            *("tables/corpus", "tables/annotation", "slguset/statistics.json"),
            *("tables/bias/slguset", "tables/bias/slguset_published"),
            *("tables/sentences/slguset_published", "slguset_published/statistics.json"),
            "slguset_published/report.json",
        )
    ],
}


def test_headlines_are_those_that_are_kept(tmp_path):
    found = {name: describe(make(tmp_path / name), {}) for name, make in MADE.items()}
    check_kept("slguset", found)
    assert "777" not in str(vars(found["an untrusted model"]))
