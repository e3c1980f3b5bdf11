import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.learning.examples import Examples
from evenhand.learning.objective import load_objective
from evenhand.learning.pairs import Pairs
from evenhand.learning.problem import Problem
from evenhand.learning.settings import Settings
from unit.learning.made_training import OBJECTIVES, examples, run


def remarks(some: Examples, objective: str = "erm", options=None, pairs=None, **settings):
    """What a problem's check returns."""
    module = load_objective(objective)
    options = module.OPTIONS | (options or {})
    return Problem(some, module, options, Settings(**settings), pairs or Pairs()).check()


def test_ordinary_cases_raise_no_doubts():
    assert remarks(examples(), "group_dro", select="worst_group_f1") == []


@pytest.mark.parametrize("part", ["ids", "labels", "train", "dev", "groups", "group_names"])
def test_each_part_of_the_cases_changes_their_digest(part):
    same = examples()
    other = getattr(same, part)[::-1]
    assert examples(**{part: other}).digest() != examples().digest() == same.digest()


def test_a_class_that_a_split_lacks_is_told_and_trained_around():
    some = examples()
    labels = some.labels.copy()
    labels[some.train] %= 2
    some = examples(labels=labels)
    lacking = "no case of the split train has the label 2 (from 0)"
    assert remarks(some) == [lacking]
    nobody = Pairs(swapped=np.zeros(60, dtype=bool))
    found = remarks(some, "iifr_text", {"pairs": "counterfactual"}, nobody)
    assert found[0] == lacking and "no pairs" in found[1]
    _, logits, _ = run(some, "worst_class")
    assert np.isfinite(logits).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_group_of_one_case_is_told_and_trained_with(objective):
    some = examples()
    groups = np.zeros(60, dtype=np.int64)
    groups[some.train[0]] = groups[some.dev[0]] = 1
    some = examples(groups=groups)
    said = remarks(some, objective)
    if load_objective(objective).USES_GROUPS:
        assert said == [
            f"the group 'two' has a single case in the split {s}" for s in ("train", "dev")
        ]
    _, logits, _ = run(some, objective)
    assert np.isfinite(logits).all()


NO_CASES, ONE_GROUP = np.array([], dtype=np.int64), np.where(examples().groups == 2, 2, 1)
NO_GROUPS = {"groups": None, "group_names": (), "known_groups": 0}
NOT_IN_DEV = np.where(np.arange(60) % 3 == 0, 2, examples().groups)


@pytest.mark.parametrize(
    ("changed", "objective", "select", "problem"),
    [
        ({"train": NO_CASES}, "erm", "macro_f1", "no case with a label in the split train"),
        ({"dev": NO_CASES}, "erm", "macro_f1", "no case with a label in the split dev"),
        ({"labels": np.ones(60, dtype=np.int64)}, "erm", "macro_f1", "nothing to learn"),
        ({"groups": ONE_GROUP}, "group_dro", "macro_f1", "only the group 'two'"),
        ({"groups": ONE_GROUP}, "erm_group_uniform", "macro_f1", "only the group 'two'"),
        ({"groups": np.full(60, 2)}, "irm", "macro_f1", "no known group"),
        ({"groups": NOT_IN_DEV}, "erm", "mean_group_f1", "dev has no case of a known group"),
    ],
)
def test_cases_that_cannot_be_trained_on(changed, objective, select, problem):
    with pytest.raises(InputError, match=problem):
        remarks(examples(**changed), objective, select=select)


@pytest.mark.parametrize("objective", ["leace", "inlp"])
def test_an_erasure_from_an_encoder_needs_two_groups_in_dev(objective):
    """That of a linear classifier does not: `test_odd_groups_stay_finite`."""
    groups = examples().groups.copy()
    groups[examples().dev] = 1
    with pytest.raises(InputError, match="dev has cases of fewer than two known groups"):
        run(examples(groups=groups), objective)


def test_what_a_training_does_not_use_is_not_asked_for():
    assert remarks(examples(groups=ONE_GROUP)) == remarks(examples(**NO_GROUPS)) == []
    run(examples(**NO_GROUPS))


def test_cells_are_labels_by_groups():
    rows = np.arange(600)
    labels, groups = rows // 3 % 2, rows // 6 % 3
    cells = examples(cases=600, labels=labels, groups=groups).cells
    assert cells.tolist() == (2 * groups + labels).tolist()


def test_groups_that_go_with_the_label_are_told_where_they_are_removed():
    some = examples()
    labels = np.where(some.groups < 2, some.groups, some.labels)
    (told,) = remarks(examples(labels=labels), "leace")
    assert told.startswith("label and groups are strongly correlated (Cramer's V 1.00)")
    assert "has only 4 cases in the split dev" in told
    many = examples(cases=600, labels=np.arange(600) % 2, groups=np.arange(600) % 2)
    *_, told = remarks(many, "leace")
    assert told.endswith("removed with them")
    assert remarks(examples(labels=labels), "adversarial") == [told]
    assert remarks(examples(labels=np.where(some.groups < 2, 1, some.labels)), "leace") == []
