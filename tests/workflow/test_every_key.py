"""Every key of the configuration: another value changes a job, or is refused, or the schema says
that it changes nothing.

Four configurations hold every key of the schema between them. Each value of each is changed in
turn, and the plan is made anew: some job must have other parameters, inputs or outputs, or there
must be another job. A key that has no effect where it stands (``dropout`` of a linear classifier)
must be refused with a sentence that says so.
"""

import ast
import copy
import functools
import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import yaml

from evenhand.core.config import Schema, complete, pick, read_schema
from evenhand.core.places import SCHEMA
from evenhand.errors import InputError
from harness import Planner

WHOLE = read_schema(SCHEMA)

#: The sections of which each configuration shows every key, and the configuration.
CONFIGS = {
    "newspapers": (
        ["results", "mirror", "offline", "sources", "cache", "models", "slguset", "bias"],
        """\
mirror: resources/demo/newspapers
models:
  own: {language: zh, train: {layers: 1}}
  folder: {language: zh, path: models/one}
slguset:
  corpora:
    chenhe: {files: [resources/demo/newspapers/chenhe]}
    archive: {files: [resources/demo/newspapers/wire/archive.csv], format: csv}
    stories: {files: ["{mirror}/wire/stories.jsonl"], text_field: content, format: jsonl}
    people: {sources: [pd1998], format: pku}
  filters: [names_jieba, names_crf, names_spacy, pair_fit, coreference, biology]
  names_crf: {threshold: 0.5}
  names_jieba: {use_stop_words: true}
  train_names_crf:
    corpora:
      - {format: pku, source: pd1998}
      - {format: cluener, file: resources/demo/tagged/names.jsonl}
  annotation:
    round: demo
    filled: resources/demo/annotation/filled
  acceptance: {learn: true, labels: [labels.csv]}
  vocabulary: folder
  published: {file: resources/demo/slguset_published.csv}
""",
    ),
    "pairs": (
        ["notice", "report", "models", "slguset", "inference", "scoring", "stereotypes"],
        """\
report: {planted: resources/demo/planted/truth.csv}
models:
  masked: {train: {tokens: wordpiece, files: [resources/demo/english/work_and_money.txt]}}
  causal: {train: {kind: causal, files: [resources/demo/english/work_and_money.txt]}}
  folder: {language: en, path: models/one}
  far: {hub: google-bert/bert-base-cased, revision: main}
slguset:
  published: {source: slguset}
stereotypes:
  null_seeds: 2
  sets:
    own: {format: crows_pairs, file: resources/demo/stereotypes/pairs.csv, title: Our pairs}
    stereoset: {format: stereoset, source: stereoset, language: en}
  released: {gold: stereoset_gold, scores: [stereoset_scores_gpt2]}
""",
    ),
    "own pairs": (
        ["stereotypes.sets"],
        """\
models:
  chinese: {language: zh, hub: google-bert/bert-base-chinese}
  english: {language: en, hub: google-bert/bert-base-cased}
slguset:
  corpora: {chenhe: {files: [resources/demo/newspapers/chenhe]}}
  annotation: {round: demo, filled: resources/demo/annotation/filled}
  published: {file: resources/demo/slguset_published.csv}
stereotypes:
  sets: {chinese: {format: slguset}}
""",
    ),
    "people": (
        ["individual_fairness"],
        """\
individual_fairness:
  datasets:
    loans:
      format: table
      files: [resources/demo/tabular/loans.csv]
      label: decision
      positive: approved
      attribute: [gender, age]
      bins: {age: [30, 50]}
    adult: {format: adult, sources: [adult_data, adult_test]}
  official_split: [adult]
  grids:
    alfr: {individual: [none, iifr_cosine], lambdas: [1], epsilons: [0.9], mus: [4]}
    majority: {}
  eidig: {seeds: 2}
""",
    ),
    "one method": (
        [
            *(f"individual_fairness.{key}" for key in ("individual", "lambdas", "epsilons", "mus")),
            *(f"individual_fairness.{key}" for key in ("grids", "reduction", "official_split")),
        ],
        """\
individual_fairness:
  datasets: {compas: {format: compas, sources: [compas]}}
  methods: [mlp]
""",
    ),
    "predictions": (
        ["predictions"],
        """\
predictions:
  one:
    files: [resources/demo/tabular/loans.csv]
    label: decision
    prediction: savings
    positive: approved
    groups: [gender, age]
    bins: {age: [30, 50]}
    id: application
    cluster: household
    counterfactual_of: purpose
    gold: resources/demo/tabular/loans.csv
  many:
    files: [resources/demo/tabular/loans.csv]
    label: decision
    probabilities: {approved: savings, refused: loan}
    groups: [gender]
  logs: {files: [resources/demo/tabular], format: lm_eval}
""",
    ),
    "courts": (
        ["legal"],
        """\
models: {tiny: {hub: google-bert/bert-base-cased}, longer: {hub: google-bert/bert-large-cased}}
legal:
  datasets:
    ecthr:
      kind: ecthr
      tokenizers: [tiny]
      parts:
        hudoc: {format: hudoc_json, files: [resources/demo/legal/ecthr/hudoc.jsonl]}
        texts: {format: hudoc_text, files: [resources/demo/legal/ecthr/texts]}
        naacl: {format: ecthr_naacl, sources: [ecthr_naacl]}
    cail:
      kind: cail
      parts: {contest: {format: cail2018, files: [resources/demo/legal/cail/cases.jsonl]}}
    fairlex: {kind: fscs, parts: {all: {format: fairlex, sources: [fairlex_fscs]}}}
  audit: {filled: audited}
""",
    ),
    "texts": (
        ["text.datasets"],
        """\
models: {tiny: {hub: google-bert/bert-base-cased}, longer: {hub: google-bert/bert-large-cased}}
text:
  datasets:
    one:
      files: [resources/demo/tabular/loans.csv]
      text: purpose
      label: {column: decision, task: multi_class}
      attributes: {gender: {column: gender}, age: {column: age, bins: [30, 50]}}
    number:
      files: [resources/demo/tabular/loans.csv]
      text: purpose
      label: {column: loan, task: multi_class, bins: [1000, 5000]}
      attributes: {gender: {column: gender}}
    several:
      files: [resources/demo/tabular/loans.csv]
      text: [purpose]
      label: {columns: [decision], task: multi_label}
      attributes: {groups: {columns: [gender, age], overlapping: true}}
    fetched:
      hub: made/judgments
      text: facts
      label: {column: outcome, task: multi_class}
      attributes: {gender: {extract: applicant_gender}}
  classifiers:
    words: {kind: linear, datasets: [one, several, fetched], objectives: [erm], seeds: 2}
""",
    ),
    "classifiers": (
        [
            *("models.longer.pretrain", "legal.swap", "legal.objectives"),
            *(f"legal.classifiers.{name}" for name in ("words", "whole", "still")),
            *(
                f"legal.classifiers.plain.{key}"
                for key in ("attributes", "groups", "select", "counterfactuals")
            ),
        ],
        """\
models:
  tiny: {language: en, train: {files: [resources/demo/english/work_and_money.txt], layers: 1}}
  folder: {language: en, path: models/one}
  longer: {language: none, pretrain: {model: tiny, dataset: cail}}
legal:
  tables: tables
  datasets:
    cail:
      kind: cail
      parts: {contest: {format: cail2018, files: [resources/demo/legal/cail/cases.jsonl]}}
    more:
      kind: cail
      parts: {judgments: {format: judge, files: [resources/demo/legal/cail/judgments.jsonl]}}
  classifiers:
    words: {kind: linear, datasets: [cail], objectives: [erm, group_dro], counterfactuals: true}
    whole: {kind: hierarchical, model: longer, datasets: [cail], seeds: 2, objectives: [group_dro]}
    still: {kind: frozen, model: tiny, datasets: [cail], seeds: 2, objectives: [irm]}
    plain: {kind: linear, datasets: [more], objectives: [erm]}
  objectives: {group_dro: [step_size=0.1]}
""",
    ),
}

#: Values to try where none can be made by a rule, by the key's place in the schema.
OTHERS = {
    "results": ["elsewhere"],
    "mirror": ["mirror"],
    "sources": ["sources.csv"],
    "cache.folder": ["shared"],
    "models.NAME.path": ["models/two"],
    "models.NAME.hub": ["google-bert/bert-base-uncased"],
    "models.NAME.revision": ["v2"],
    "models.NAME.language": ["fr", "zh"],
    "models.NAME.pretrain.model": ["folder"],
    "models.NAME.pretrain.dataset": ["more"],
    "models.NAME.train.files": [["resources/demo/english/town_and_travel.txt"]],
    "scoring.device": ["cuda"],
    "slguset.pack": ["tables"],
    "slguset.shard_megabytes": [0.001],
    "slguset.corpora.NAME.files": [["resources/demo/newspapers/evening"]],
    "slguset.corpora.NAME.sources": [["xwlb_2022"]],
    "slguset.corpora.NAME.text_field": ["body"],
    "slguset.corpora.NAME.delimiter": [";"],
    "slguset.train_names_crf.corpora": [[{"format": "pku", "source": "pd1998"}]],
    "slguset.train_names_crf.corpora.N.file": ["resources/demo/tagged/people.txt"],
    "slguset.train_names_crf.corpora.N.source": ["cluener_train"],
    "slguset.names_spacy.pipeline": ["zh_core_web_lg"],
    "slguset.annotation.round": ["next"],
    "slguset.annotation.quotas": ["quotas.csv"],
    "slguset.annotation.annotators": [["a", "b", "c"]],
    "slguset.annotation.filled": ["filled"],
    "slguset.acceptance.labels": [[], ["pairs.csv"]],
    "slguset.acceptance.model": ["folder"],
    "notice": ["A remark."],
    "report.planted": [None],
    "slguset.vocabulary": ["own", "folder"],
    "slguset.published.file": ["published.csv"],
    "slguset.published.source": ["crows_pairs"],
    "bias.compounds": [["男人/女人"]],
    "stereotypes.sets.NAME.file": ["pairs.csv"],
    "stereotypes.sets.NAME.source": ["stereoset_relaid"],
    "stereotypes.sets.NAME.title": ["Another title"],
    "stereotypes.sets.NAME.language": ["zh", "en"],
    "stereotypes.released.gold": ["stereoset"],
    "stereotypes.released.scores": [["stereoset_scores_bert_base"]],
    "predictions.NAME.files": [["people.csv"], ["resources/demo/tabular"]],
    "predictions.NAME.title": ["Another title"],
    "predictions.NAME.label": ["purpose"],
    "predictions.NAME.prediction": ["loan"],
    "predictions.NAME.probabilities.NAME": ["months"],
    "predictions.NAME.positive": ["refused"],
    "predictions.NAME.groups": [["gender", "age", "contract"]],
    "predictions.NAME.id": ["months"],
    "predictions.NAME.cluster": ["months"],
    "predictions.NAME.counterfactual_of": ["months"],
    "predictions.NAME.gold": ["people.csv"],
    "individual_fairness.datasets.NAME.files": [["people.csv"]],
    "individual_fairness.datasets.NAME.sources": [["german"]],
    "individual_fairness.datasets.NAME.label": ["purpose"],
    "individual_fairness.datasets.NAME.positive": ["car"],
    "individual_fairness.datasets.NAME.attribute": ["age", ["gender", "age"]],
    "individual_fairness.datasets.NAME.features": [["age"]],
    "individual_fairness.datasets.NAME.split": ["purpose"],
    "individual_fairness.datasets.NAME.categories": [["age"]],
    "individual_fairness.datasets.NAME.title": ["Another title"],
    "individual_fairness.official_split": [[], ["compas"]],
    "individual_fairness.settings": ["settings.csv"],
    "individual_fairness.training": ["training.csv"],
    "legal.tables": ["resources/legal", "tables"],
    "legal.swap": ["names"],
    "legal.datasets.NAME.title": ["Another title"],
    "legal.datasets.NAME.shares": [[0.6, 0.2, 0.2]],
    "legal.datasets.NAME.tokenizers": [["longer"]],
    "legal.datasets.NAME.parts.NAME.files": [["resources/demo/legal/README.md"]],
    "legal.datasets.NAME.parts.NAME.sources": [["ecthr_rmu"]],
    "legal.datasets.NAME.parts.NAME.documents": [["CHAMBER"]],
    "legal.datasets.NAME.parts.NAME.encoding": ["gb18030"],
    "legal.classifiers.NAME.datasets": [["cail"], ["more"]],
    "legal.classifiers.NAME.model": ["longer", "tiny"],
    "legal.classifiers.NAME.attributes": [["defendant_gender"]],
    "legal.classifiers.NAME.groups": [["label", "defendant_gender"]],
    "legal.objectives.NAME": [["step_size=0.2"]],
    "legal.audit.filled": ["filled"],
    "text.datasets.NAME.files": [["people.csv"]],
    "text.datasets.NAME.hub": ["made/others"],
    "text.datasets.NAME.revision": ["v2"],
    "text.datasets.NAME.text": ["contract", ["contract"]],
    "text.datasets.NAME.label.column": ["gender"],
    "text.datasets.NAME.label.columns": [["gender"]],
    "text.datasets.NAME.label.labels": [["approved", "refused"]],
    "text.datasets.NAME.label.positive": ["approved"],
    "text.datasets.NAME.label.separator": ["|"],
    "text.datasets.NAME.label.bins": [[2000]],
    "text.datasets.NAME.attributes.NAME.column": ["purpose"],
    "text.datasets.NAME.attributes.NAME.columns": [["gender", "purpose"]],
    "text.datasets.NAME.split.column": ["purpose"],
    "text.datasets.NAME.split.date": ["purpose"],
    "text.datasets.NAME.split.shares": [[0.6, 0.2, 0.2]],
    "text.datasets.NAME.id": ["application"],
    "text.datasets.NAME.language": ["en"],
    "text.datasets.NAME.title": ["Another title"],
    "text.datasets.NAME.tokenizers": [["longer"]],
}

#: Of data sets that are all read by one rule, the same value of a key is changed in one only.
ALIKE = ("text.datasets", "slguset.corpora")


@pytest.fixture(scope="module")
def planner(tmp_path_factory) -> Iterator[Planner]:
    """What the configurations and `OTHERS` name, and no more."""
    folder = tmp_path_factory.mktemp("every_key")
    demo = "resources/demo"
    planner = Planner(folder)
    for name in ("models/one", "models/two"):
        (folder / name).mkdir(parents=True)
        for file in ("config.json", "tokenizer.json", "vocab.txt", "model.safetensors"):
            (folder / name / file).write_text("{}")
    for part in ("packs/zh_gender", "legal"):
        shutil.copytree(folder / "resources" / part, folder / "tables", dirs_exist_ok=True)
    shutil.copy(folder / "tables/swap_gender_zh.csv", folder / "tables/swap_names_zh.csv")
    for name, like in (
        ("mirror/wire/stories.jsonl", f"{demo}/newspapers/wire/stories.jsonl"),
        ("published.csv", f"{demo}/slguset_published.csv"),
        ("pairs.csv", f"{demo}/stereotypes/pairs.csv"),
        ("people.csv", f"{demo}/tabular/loans.csv"),
        ("settings.csv", "resources/iifr/settings.csv"),
        ("training.csv", "resources/iifr/training.csv"),
        ("labels.csv", "resources/packs/zh_gender/keywords.csv"),
        ("quotas.csv", "resources/packs/zh_gender/keywords.csv"),
        ("audited/ecthr/applicant_gender/handed_out.csv", "resources/sources.csv"),
        ("audited/ecthr/applicant_gender/a.csv", "resources/sources.csv"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / like, folder / name)
    sources = (folder / "resources/sources.csv").read_text(encoding="utf-8")
    digests = re.sub(r",([0-9a-f])([0-9a-f]{63}),", r",\2\1,", sources)
    (folder / "sources.csv").write_text(digests, encoding="utf-8")
    yield planner
    planner.close()


def walk(value: Any, part: Schema, path: tuple = (), place: str = "") -> Iterator[tuple]:
    """Each key with a value: its path in the configuration, its place in the schema, its schema."""
    if isinstance(value, dict):
        known = part.get("properties", {})
        for key, inner in value.items():
            name = key if key in known else "NAME"
            yield from walk(
                inner,
                known.get(key) or part["additionalProperties"],
                (*path, key),
                f"{place}.{name}".lstrip("."),
            )
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for number, one in enumerate(value):
            yield from walk(one, part["items"], (*path, number), f"{place}.N")
    else:
        yield path, place, part


def others(value: Any, place: str, part: Schema) -> Iterator[Any]:
    """Values that are allowed, and not this one."""
    kinds, items = part.get("type", []), part.get("items", {})
    kinds = {kinds} if isinstance(kinds, str) else {*kinds}
    if place in OTHERS:
        found = OTHERS[place]
    elif "enum" in part:
        found = part["enum"]
    elif "enum" in items:
        found = [value[:-1], value[1:], *([*value, one] for one in items["enum"])]
    elif "boolean" in kinds:
        found = [True, False]
    elif {"number", "integer"} & kinds:
        found = [0.3, 0.6, 7, (value or 0) + 1]
    elif items:
        found = [[0.3], value[1:]]
    else:
        raise AssertionError(f"OTHERS has no value for {place}, which is {value!r}")
    for one in found:
        if one != value and not list(jsonschema.Draft202012Validator(part).iter_errors(one)):
            yield one


def values() -> Iterator[Any]:
    """A test for each value that a configuration has in its sections, by default or not."""
    for name, (sections, text) in CONFIGS.items():
        config, seen = complete(yaml.safe_load(text), WHOLE), set()
        for path, place, part in walk(config, WHOLE):
            key = ".".join(map(str, path))
            again = place.startswith(ALIKE) and (place, repr(pick(config, *path))) in seen
            if not again and any(f"{key}.".startswith(f"{section}.") for section in sections):
                yield pytest.param(name, path, place, part, id=f"{name}: {key}")
            seen.add((place, repr(pick(config, *path))))


def put(config: dict, path: tuple, value: Any) -> dict:
    """The configuration with another value at a path."""
    changed = inner = copy.deepcopy(config)
    for key in path[:-1]:
        inner = inner.setdefault(key, {}) if isinstance(inner, dict) else inner[key]
    inner[path[-1]] = value
    return changed


PLANS: dict[str, Any] = {}


@pytest.mark.parametrize(("name", "path", "place", "part"), list(values()))
def test_another_value_is_seen(planner, name, path, place, part):
    config = yaml.safe_load(CONFIGS[name][1])
    if name not in PLANS:
        PLANS[name] = planner.plan(config)
    assert isinstance(PLANS[name], dict), PLANS[name]
    value = pick(complete(config, WHOLE), *path)
    tried = {}
    for other in others(value, place, part):
        plan = planner.plan(put(config, path, other))
        if part.get("effect") == "none":
            assert plan == PLANS[name], "the schema says that it has no effect"
            return
        if isinstance(plan, dict) and plan != PLANS[name]:
            return
        tried[repr(other)] = plan if isinstance(plan, str) else "ignored"
    said = [plan for plan in tried.values() if plan.startswith("error: config: ")]
    assert said == list(tried.values()), tried
    assert path[-1] in DECIDES or any("has no effect" in plan for plan in said), tried


#: Keys that decide which others there must be, so that their other values may need more changes.
DECIDES = ("format", "kind", "header")


@pytest.mark.parametrize("name", CONFIGS)
def test_jobs_name_keys_that_there_are(planner, name):
    """`make why` and provenance call a parameter by its key."""
    plan = planner.plan(yaml.safe_load(CONFIGS[name][1]))
    values = {param for params, *_ in plan.values() for param in params if param.startswith("{")}
    keys = {key for value in values for key in ast.literal_eval(value)} - {"inputs"}
    assert len(keys) > 20
    for key in keys:
        part = WHOLE
        for step in [] if key.startswith("--") else key.split(" ")[0].split("."):
            part = part.get("properties", {}).get(step) or part.get("additionalProperties")
            assert part, key


def test_a_key_that_is_set_twice_is_refused_with_its_line(planner):
    text = CONFIGS["one method"][1]
    assert "walked.yaml:4: sets the key individual_fairness a second time, after line 1" in (
        planner.plan(text + "individual_fairness: {}\n")
    )


#: Names that a file system, a rule, a dotted key or YAML may trip over.
NAMES = [
    *("qwen2.5", "two words", "with-dash", "Capital", "none", "null", "all", "twins", "splits"),
    *("duplicates", "x.gate", "slguset", "iifr", "legal_cail", "train", "a/b", "ä", "1998", "-x"),
    *(
        "x.",
        ".x",
        "abcdefghijklmnopqrstuvwxyz" * 3,
        "{x}",
        "words",
        "tokens",
        "training",
        "audit",
        "loans",
        "a=b",
        "a:b",
    ),
]

#: Where each kind of name stands in a configuration that does little else.
NAMED = {
    "model": "{models: {X: {hub: h}}, slguset: {published: {file: published.csv}}}",
    "trained model": """
        models: {X: {train: {files: [resources/demo/english/work_and_money.txt], kind: causal}}}
        stereotypes: {sets: {own: {format: crows_pairs, file: pairs.csv}}}
    """,
    "corpus": "slguset: {corpora: {X: {files: [resources/demo/newspapers/chenhe]}}}",
    "round": """
        slguset:
          corpora: {a: {files: [resources/demo/newspapers/chenhe]}}
          annotation: {round: X, annotators: [a, b]}
    """,
    "annotator": """
        slguset:
          corpora: {a: {files: [resources/demo/newspapers/chenhe]}}
          annotation: {annotators: [X, b]}
    """,
    "set of pairs": """
        models: {m: {hub: h}}
        slguset: {published: {file: published.csv}}
        stereotypes: {sets: {X: {format: crows_pairs, file: pairs.csv}}}
    """,
    "table": """
        individual_fairness:
          methods: [mlp]
          datasets: {X: {format: compas, sources: [compas]}}
        legal: {datasets: {cail: {kind: cail, parts: {p: {format: judge, sources: [judge_test]}}}}}
    """,
    "cases": """
        legal: {datasets: {X: {kind: cail, parts: {p: {format: judge, sources: [judge_test]}}}}}
    """,
    "part": """
        legal: {datasets: {c: {kind: cail, parts: {X: {format: judge, sources: [judge_test]}}}}}
    """,
    "classifier": """
        models: {m: {hub: h}}
        legal:
          datasets: {c: {kind: cail, parts: {p: {format: judge, sources: [judge_test]}}}}
          classifiers:
            X: {kind: linear, datasets: [c], objectives: [erm], counterfactuals: true}
            other: {kind: frozen, model: m, datasets: [c], objectives: [erm], counterfactuals: true}
    """,
}


@pytest.mark.parametrize("kind", NAMED)
def test_a_name_works_or_is_refused_in_one_line(planner, kind):
    accepted = []
    for name in NAMES:
        config = yaml.safe_load(NAMED[kind].replace("X", json.dumps(name)))
        try:
            complete(config, WHOLE)
        except InputError as error:
            assert re.fullmatch(r"config: .*; it must be .*", str(error)), name
        else:
            accepted.append(config)
    assert 4 < len(accepted) < len(NAMES)
    one_at_a_time = kind in ("round", "annotator")  # all others stand side by side
    for config in accepted if one_at_a_time else [functools.reduce(merge, accepted)]:
        plan = planner.plan(config)
        assert isinstance(plan, dict), plan


def merge(one: Any, two: Any) -> Any:
    if not isinstance(one, dict):
        return two
    return one | {key: merge(one.get(key), value) for key, value in two.items()}
