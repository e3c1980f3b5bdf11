import numpy as np
import pytest
from sklearn.metrics import f1_score

from evenhand.learning.problem import dev_scores
from unit.learning.made_training import examples


@pytest.mark.parametrize("task", ["multi_class", "multi_label"])
def test_scores_are_those_of_scikit_learn(task):
    some = examples(task)
    logits = np.random.default_rng(1).normal(size=(len(some.dev), 3)).astype(np.float32)
    found = dev_scores(logits, some)

    def f1(rows):
        truth, said = some.hot[some.dev][rows], logits[rows] > 0
        if task == "multi_class":
            truth, said = truth.argmax(1), logits[rows].argmax(1)
            labels = [0, 1, 2]
        else:
            truth, said = (np.c_[one, ~one.any(axis=1)] for one in (truth, said))
            labels = [0, 1, 2, 3]
        return f1_score(truth, said, average="macro", labels=labels, zero_division=0)

    codes = some.groups[some.dev]
    by_group = [f1(codes == 0), f1(codes == 1)]  # the unknown group is left out
    assert found["dev_macro_f1"] == pytest.approx(f1(slice(None)))
    assert found["dev_group_f1"] == pytest.approx(by_group)
    assert found["dev_mean_group_f1"] == pytest.approx(np.mean(by_group))
    assert found["dev_worst_group_f1"] == pytest.approx(min(by_group))
    cells = [some.cells[some.dev] == cell for cell in np.unique(some.cells[some.dev][codes < 2])]
    of_cells = dev_scores(logits, some, "cell_uniform")
    assert of_cells["dev_worst_group_f1"] == pytest.approx(min(map(f1, cells)))
    assert {**of_cells, "dev_worst_group_f1": 0} == {**found, "dev_worst_group_f1": 0}


def test_a_group_without_dev_cases_has_no_score():
    some = examples()
    groups = some.groups.copy()
    groups[some.dev] = 0
    found = dev_scores(np.zeros((len(some.dev), 3), np.float32), examples(groups=groups))
    assert found["dev_group_f1"][1] is None
    assert found["dev_worst_group_f1"] == found["dev_group_f1"][0]


def test_a_cell_without_dev_cases_is_not_the_worst():
    some = examples()
    cells = some.cells[some.dev]
    fewer = examples(dev=some.dev[cells != 1])
    logits = fewer.hot[fewer.dev].astype(np.float32)
    # each cell has one of three classes, and is predicted without an error
    worst = dev_scores(logits, fewer, "cell_uniform")["dev_worst_group_f1"]
    assert worst == pytest.approx(1 / 3)
