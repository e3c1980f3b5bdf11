import pytest

from evenhand.report.headline import SYSTEMS
from unit.report.checks import headline_of

EMPTY = {
    "language_models": "No model has a score, so bias cannot be judged.",
    "predictions": "There are no predictions.",
    "legal": "Nothing was built yet.",
    "individual_fairness": "Cannot be judged: the plain network (mlp) has no result.",
    "mitigation": "No method of mitigation was compared with plain training.",
    "slguset": "Nothing was built yet.",
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_headline_without_results(system):
    headline = headline_of(system)([], {})
    assert headline.sentence == headline.line == EMPTY[system]
    assert not (headline.more or headline.figure or headline.verdicts or headline.doubts)
    assert not (headline.next or headline.strength)
