"""Several protected attributes of one table become data sets of their own."""

import pytest

from evenhand import plan_individual
from evenhand.core.config import complete, read_schema
from evenhand.core.places import SCHEMA
from evenhand.errors import InputError


def expanded(**options):
    given = {"format": "table", "files": ["p.csv"], "label": "y", "positive": 1} | options
    config = {"individual_fairness": {"datasets": {"loans": given}}}
    return plan_individual.expand(complete(config, read_schema(SCHEMA)))


def test_one_attribute_keeps_the_name():
    config = expanded(attribute="gender")
    options = plan_individual.table_options(config, "loans")
    assert (options["attribute"], options["positive"], options["bins"]) == (["gender"], ["1"], [])


def test_each_attribute_and_each_two_are_data_sets():
    config = expanded(attribute=["gender", "Age group"], bins={"Age group": [30, 50]})
    datasets = config["individual_fairness"]["datasets"]
    assert list(datasets) == ["loans_gender", "loans_age_group", "loans_gender_age_group"]
    options = plan_individual.table_options(config, "loans_gender_age_group")
    assert options["attribute"] == ["gender", "Age group"]
    assert options["bins"] == ["Age group=30,50"]
    assert options["title"] == "loans, gender and Age group"
    assert plan_individual.table_options(config, "loans_gender")["bins"] == []


def test_bins_of_another_column_are_refused():
    with pytest.raises(InputError, match="bins names age, which is no protected attribute"):
        expanded(attribute="gender", bins={"age": [30]})
