"""What trains again after a change, on Snakemake with three small classifiers of the demo's cases.

The encoder of one of them is a tiny model whose training went on here, on the cases themselves.
As in `test_reruns.py`, what should run is told as "these jobs, and all that depends on them".
"""

import json

import pytest

from harness import PROBES, Checkout, Job, checkout, once
from workflow.test_reruns import LIBRARY, Graph, using

CONFIG = """\
offline: true
results: results
models:
  tiny:
    language: en
    train: {layers: 1, width: 16, heads: 2, steps: 5, batch: 4, tokens: wordpiece,
            files: [resources/demo/english/town_and_travel.txt]}
  longer: {language: none, pretrain: {model: tiny, dataset: swiss, epochs: 1, block: 32}}
legal:
  datasets:
    swiss:
      kind: fscs
      shares: [0.6, 0.2, 0.2]
      parts: {cases: {format: swiss_judgment, files: [resources/demo/legal/fscs/cases.jsonl]}}
  classifiers:
    words: {kind: linear, datasets: [swiss], objectives: [erm, group_dro],
            attributes: [decision_language, legal_area], seeds: 2, epochs: 2}
    whole: {kind: hierarchical, model: longer, datasets: [swiss], objectives: [erm], seeds: 1,
            epochs: 1}
    still: {kind: frozen, model: longer, datasets: [swiss], objectives: [erm], seeds: 2, epochs: 1}
  permutations: 100
"""
TARGETS = ("results/tables/classifiers/swiss",)
TRAINING = {"words": "train_linear", "whole": "train_classifier", "still": "train_frozen_head"}


@pytest.fixture(scope="session")
def trained_template(tmp_path_factory) -> Checkout:
    """The repository with these classifiers, trained and scored."""
    arguments = ("--configfile", "config/classifiers.yaml")

    def make(root):
        made = checkout(root, arguments)
        made.write("config/classifiers.yaml", CONFIG)
        made.edit(*PROBES)
        made.run(*TARGETS, cores=2)

    return Checkout(once(tmp_path_factory, "classifiers", make), arguments)


@pytest.fixture
def trained(trained_template, tmp_path) -> Checkout:
    """A copy, up to date."""
    return trained_template.copy(tmp_path / "trained")


@pytest.fixture(scope="session")
def graph(trained_template) -> Graph:
    return Graph(trained_template.planned("--forceall", *TARGETS))


def trainings(plan) -> set[tuple[str, ...]]:
    """Rule, objective, attribute (and seed) of the trainings in a plan."""
    found = set()
    for job in plan:
        if job.rule in TRAINING.values():
            told = dict(job.wildcards)
            names = ("objective", "attribute", "seed")
            found.add((job.rule, *(told[name] for name in names if name in told)))
    return found


WORDS = ("train_linear", "erm", "none")
WHOLE = ("train_classifier", "erm", "none")
STILL = ("train_frozen_head", "erm", "none")
ERM = {WORDS, (*WHOLE, "0"), STILL}
DRO = {
    ("train_linear", "group_dro", "decision_language"),
    ("train_linear", "group_dro", "legal_area"),
}


def beyond(graph: Graph, *rules: str) -> set[Job]:
    """All that depends on trainings, or on these rules."""
    return set(graph.below(graph.of_rules(*(rules or ("tabulate_classifiers",)))))


def test_it_is_trained_with_what_was_asked_for(trained_template, graph):
    assert trained_template.plan(*TARGETS) == []
    assert trainings(graph.jobs) == ERM | DRO
    record = json.loads(trained_template.read("results/models/longer/training.json"))
    assert (record["steps"], record["block"]) == (record["blocks"] // 32 + 1, 32)
    about = json.loads(
        trained_template.read("results/legal/swiss/weights/whole/erm/none/0/classifier.json")
    )
    assert (about["kind"], about["objective"]) == ("fscs", "erm")


def test_adding_an_objective_trains_it_and_nothing_else(trained, graph):
    trained.edit("config/classifiers.yaml", "[erm, group_dro]", "[erm, group_dro, v_rex]")
    plan = trained.plan(*TARGETS)
    assert trainings(plan) == {
        ("train_linear", "v_rex", "decision_language"),
        ("train_linear", "v_rex", "legal_area"),
    }
    others = {job for job in plan if dict(job.wildcards).get("objective") != "v_rex"}
    assert others == beyond(graph)


def test_editing_an_objective_trains_it_again_and_nothing_else(trained, graph):
    trained.append(f"{LIBRARY}/learning/objectives/group_dro.py", "\n\nADDED = 1\n")
    trained.append(f"{LIBRARY}/learning/objectives/v_rex.py", "\n\nADDED = 1\n")  # not in use
    assert trainings(trained.plan(*TARGETS)) == DRO


def test_other_groups_of_an_attribute_train_only_what_uses_it(trained, graph):
    table = "resources/legal/swiss_legal_areas.csv"
    trained.edit(table, "penal law,penal law,", "penal law,civil law,")
    run = trained.run(*TARGETS)
    assert {job.rule for job in run.jobs} >= {"build_training", "train_classifier"}
    computed = [job for job in run.jobs if not job.served]
    assert trainings(computed) == {("train_linear", "group_dro", "legal_area")}
    rules = {job.rule for job in computed}
    assert {"find_attributes", "build_cases", "build_training", "tabulate_classifiers"} <= rules
    assert not rules & {"fit_tfidf", "tokenise_cases", "embed_paragraphs", "pretrain_encoder"}


def test_editing_a_metric_trains_nothing(trained, graph):
    for module in ("metrics/disparity", "legal/classifier_study"):
        users = using(trained, graph, "modules", f"evenhand.{module.replace('/', '.')}")
        assert users >= graph.of_rules("tabulate_classifiers")
        trained.append(f"{LIBRARY}/{module}.py", "\n\nADDED = 1\n")
    plan = trained.plan(*TARGETS)
    assert trainings(plan) == set()
    assert set(plan) >= beyond(graph)


@pytest.mark.parametrize(
    "edits",
    [  # each of another family
        [
            # a hierarchical training is one of one seed, the others are of all
            ("seeds: 1,", "seeds: 2,", {(*WHOLE, "1")}),
            ("seeds: 2, epochs: 1", "seeds: 3, epochs: 1", {STILL}),
            ("seeds: 2, epochs: 2", "seeds: 2, epochs: 3", {WORDS, *DRO}),
        ],
        [
            ("kind: linear,", "kind: linear, min_df: 3,", {WORDS, *DRO}),
            ("kind: frozen,", "kind: frozen, mode: compat,", {STILL}),
            ("kind: hierarchical,", "kind: hierarchical, dtype: bf16,", {(*WHOLE, "0")}),
        ],
        [
            ("kind: linear,", "kind: linear, epsilon: 1.0e-8,", {WORDS, *DRO}),
            ("block: 32", "block: 16", {(*WHOLE, "0"), STILL}),
        ],
        [
            (
                "permutations: 100\n",
                "permutations: 100\n  objectives: {group_dro: [step_size=0.1]}\n",
                DRO,
            )
        ],
        [("kind: linear,", "kind: linear, stands_for: none,", set())],
        [  # what a stage does anyway, or what is no change
            ("kind: linear,", "kind: linear, clip: 1.0, features: 5000, select: macro_f1,", set()),
            ("offline: true", "offline: true\nscoring: {device: cuda:7}", set()),
        ],
    ],
    ids=["seeds", "settings", "epsilon and encoder", "objective", "stands_for", "nothing"],
)
def test_a_key_trains_what_it_is_about(trained, edits):
    for old, new, _ in edits:
        trained.edit("config/classifiers.yaml", old, new)
    plan = trained.plan(*TARGETS)
    assert trainings(plan) == set().union(*(expected for *_, expected in edits))
    rules = {job.rule for job in plan}
    text = trained.read("config/classifiers.yaml")
    assert ("fit_tfidf" in rules) == ("min_df" in text)
    if "stands_for" in text:
        assert rules == {"tabulate_classifiers"}
    elif "cuda" in text:
        assert plan == []


def test_a_changed_attribute_with_the_same_findings_lets_all_else_be_served(trained):
    before = trained.results()
    trained.append(f"{LIBRARY}/legal/attributes/legal_area.py", "\n\nADDED = 1\n")
    run = trained.run(*TARGETS)
    assert {job.rule for job in run.jobs if not job.served} == {"find_attributes"}
    assert trained.results() == before
