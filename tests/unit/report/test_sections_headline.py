import pytest

from evenhand.report.sections.slguset import describe_headline, judge


def test_without_results_nothing_was_built():
    assert describe_headline(None, None, None, None) == "Nothing was built yet."


@pytest.mark.parametrize(
    ("sentences", "alpha", "agreement", "words"),
    [
        (None, 0.9, 1, "is not usable yet: the annotators’ answers are missing."),
        (200, None, 1, "was not measured."),
        (200, 0.7, 0.9, "is usable as far as its annotators agree"),
        (200, 0.34, 0.6, "alpha, agreement beyond chance, is 0.34; 0.667 is needed)."),
        (200, 0.34, 0.92, "chance alone would give about 88\xa0%."),
    ],
)
def test_the_agreement_of_annotators_decides_whether_a_data_set_is_usable(
    sentences, alpha, agreement, words
):
    row = {"krippendorff_alpha": alpha, "percent_agreement": agreement}
    assert words in judge(sentences, row)
