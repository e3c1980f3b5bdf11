import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.learning.examples import Examples, check
from evenhand.learning.objective import load_objective
from evenhand.learning.settings import Settings
from unit.learning.made_training import OBJECTIVES, examples, run


def remarks(some: Examples, objective: str = "erm", **settings):
    """What `check` says."""
    module = load_objective(objective)
    return check(some, module, module.OPTIONS, Settings(**settings))


def test_ordinary_cases_raise_no_doubts():
    assert remarks(examples(), "group_dro", select="worst_group_f1") == []


@pytest.mark.parametrize("part", ["ids", "labels", "train", "dev", "groups", "group_names"])
def test_each_part_of_the_cases_changes_their_digest(part):
    same = examples()
    other = getattr(same, part)[::-1]
    assert examples(**{part: other}).digest() != examples().digest() == same.digest()


@pytest.mark.parametrize("split", ["train", "dev"])
def test_an_empty_split(split):
    with pytest.raises(InputError, match=f"no case with a label in the split {split}"):
        remarks(examples(**{split: np.array([], dtype=np.int64)}))


def test_labels_out_of_range():
    labels = examples().labels.copy()
    labels[4] = 3
    with pytest.raises(InputError, match="none of the 3"):
        remarks(examples(labels=labels))
    with pytest.raises(InputError, match="have 3 labels, and there are 2"):
        remarks(examples("multi_label", classes=2))


def test_all_cases_alike():
    with pytest.raises(InputError, match="nothing to learn"):
        remarks(examples(labels=np.ones(60, dtype=np.int64)))


def test_a_class_that_a_split_lacks_is_told_and_trained_around():
    some = examples()
    labels = some.labels.copy()
    labels[some.train] %= 2
    some = examples(labels=labels)
    assert remarks(some) == ["no case of the split train has the label 2 (from 0)"]
    _, logits, _ = run(some, "worst_class")
    assert np.isfinite(logits).all()


def test_an_attribute_with_one_value():
    groups = np.where(examples().groups == 2, 2, 1)
    for objective in ("group_dro", "erm_group_uniform"):
        with pytest.raises(InputError, match="only the group 'two'"):
            remarks(examples(groups=groups), objective)
    with pytest.raises(InputError, match="no known group"):
        remarks(examples(groups=np.full(60, 2)), "irm")
    assert remarks(examples(groups=groups)) == []  # ERM looks at no group


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


def test_groups_that_are_needed_and_missing():
    some = examples(groups=None, group_names=(), known_groups=0)
    assert remarks(some) == []
    with pytest.raises(InputError, match=r"group_dro .* needs groups"):
        remarks(some, "group_dro")
    with pytest.raises(InputError, match="worst_group_f1 needs groups"):
        remarks(some, select="worst_group_f1")
    run(some)


def test_epochs_cannot_be_chosen_by_groups_that_dev_lacks():
    some = examples()
    groups = some.groups.copy()
    groups[some.dev] = 2
    with pytest.raises(InputError, match="dev has no case of a known group"):
        remarks(examples(groups=groups), select="mean_group_f1")


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
    assert remarks(examples(labels=np.where(some.groups < 2, 1, some.labels)), "leace") == []
