"""Groups that are products of attributes and the label."""

import numpy as np
import pytest

from evenhand.legal.built import Groups, label_sets
from evenhand.legal.declaration import Attribute, Dataset
from evenhand.legal.groups import multiply, title
from evenhand.metrics.group import LEAST
from unit.legal.made_cases import court


def groups(name, names, codes):
    attribute = Attribute(name=name, module="", title=name, groups=names)
    return Groups(attribute, (*names, "unknown"), np.array(codes, dtype=np.int64))


GENDER = groups("gender", ("f", "m"), np.repeat([0, 1, 2], 4 * LEAST))
STATE = groups("state", ("east", "west"), np.tile(np.repeat([0, 1], 2 * LEAST), 3))
LABELS = np.tile([0, 1], 6 * LEAST)
EVERY = np.arange(len(LABELS))


def test_label_and_attribute():
    codes, names, remarks = multiply([GENDER], LABELS, ("no", "yes"), EVERY)
    assert names == ("no x f", "yes x f", "no x m", "yes x m", "unknown")
    known = GENDER.codes < 2
    assert (codes[known] == (2 * GENDER.codes + LABELS)[known]).all()
    assert (codes[~known] == 4).all()
    assert remarks == []


def test_tiny_and_empty_cells_are_merged_and_named():
    train = np.concatenate([EVERY[GENDER.codes == 0], EVERY[2 * LEAST * 2 : 5 * LEAST], EVERY[-1:]])
    codes, names, remarks = multiply([GENDER, STATE], None, (), train)
    assert names == ("f x east", "f x west", "m x east", "unknown")
    assert (codes[(GENDER.codes == 1) & (STATE.codes == 1)] == 3).all()
    assert remarks == []  # no training case is in it
    codes, names, remarks = multiply([GENDER, STATE], None, (), np.append(train, 7 * LEAST))
    assert remarks == [f"groups with fewer than {LEAST} training cases are unknown: m x west (1)"]
    rare = np.where((GENDER.codes == 0) & (np.arange(len(LABELS)) % 9 > 0), 0, LABELS)
    codes, names, remarks = multiply([GENDER], rare, ("no", "yes"), EVERY)
    assert names == ("no x f", "no x m", "yes x m", "unknown")
    assert (codes[GENDER.codes == 0] == 0).all()
    assert len(remarks) == 1


@pytest.mark.parametrize("dataset", [court("ecthr")])
def test_sets_of_labels(dataset: Dataset):
    hot = np.zeros((3, len(dataset.labels)), dtype=np.int64)
    hot[1, [0, 2]] = 1
    hot[2, 0] = 1
    codes, names = label_sets(hot, dataset)
    said = [names[code] for code in codes]
    assert said == ["none", f"{dataset.labels[0]} and {dataset.labels[2]}", dataset.labels[0]]


def test_a_product_has_the_titles_of_its_attributes():
    assert title("applicant_gender", court("ecthr")) == "Applicant's gender"
    assert title("label+applicant_gender", court("ecthr")) == "label x Applicant's gender"
