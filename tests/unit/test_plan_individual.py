"""Several protected attributes of one table become data sets of their own."""

import pytest

from evenhand import plan, plan_individual
from evenhand.core.config import complete, read_schema
from evenhand.core.places import SCHEMA
from evenhand.errors import InputError

HERE = {"files": [__file__]}


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
    assert options["title"] == "loans (gender and Age group)"
    assert plan_individual.table_options(config, "loans_gender")["bins"] == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"attribute": "gender", "bins": {"age": [30]}},
            "bins names age, .* protected attributes; they are gender; name one of these, or leave",
        ),
        (
            {"attribute": ["A b", "a_b"]},
            r"fairness\.datasets\.loans: two data sets would be called loans_a_b; rename the data",
        ),
        (
            {"attribute": ["town", "age", "town"]},
            r"config: .*\.datasets\.loans\.attribute names town twice; keep one",
        ),
        (
            {"attribute": ["gender", "age"], "files": ["gone.csv"]},
            r"config: individual_fairness\.datasets\.loans\.files\.0 is gone\.csv, and there is no",
        ),
        (HERE | {"attribute": "g", "label": None}, r"\.loans\.label is missing; name a column"),
        (HERE, r"config: .*\.datasets\.loans\.attribute is missing; name a column"),
        (HERE | {"attribute": [None]}, r"\.datasets\.loans\.attribute is missing; name a column"),
    ],
)
def test_errors_name_the_data_set_as_it_is_written(options, problem):
    with pytest.raises(InputError, match=problem):
        plan.check_files(expanded(**options))


def test_runs_are_planned_by_split_method_and_track():
    one = {"format": "table", "files": ["p.csv"], "label": "y", "positive": 1, "attribute": "g"}
    adult = {"format": "adult", "files": ["adult.data"]}
    given = {"datasets": {"loans": one, "adult": adult}, "methods": ["mlp", "majority"]}
    given |= {"official_split": ["adult"], "lambdas": [0.1, 2], "epsilons": [0.9, 0.8]}
    given |= {"eidig": {"seeds": 2, "tracks": ["base", "integers"]}}
    config = plan_individual.expand(complete({"individual_fairness": given}, read_schema(SCHEMA)))
    plan_individual.check_tables(config)
    runs = ["random/mlp", "random/majority", "eidig/base"]
    assert plan_individual.table_runs(config) == [
        *(f"<results>/tabular/adult/runs/{run}.parquet" for run in runs[:2]),
        "<results>/tabular/adult/runs/official/mlp.parquet",
        *(f"<results>/tabular/adult/runs/eidig/{run}.parquet" for run in ("base", "integers")),
        *(f"<results>/tabular/loans/runs/{run}.parquet" for run in runs),
    ]
    options = [
        plan_individual.training_options(config, "mlp", split) for split in ("random", "official")
    ]
    assert [one["lambdas"] for one in options] == [[0.1, 2], [1]]
    assert [one["epsilons"] for one in options] == [[0.9, 0.8], [0.9]]
    given |= {"datasets": {"loans": one}}
    config = complete({"individual_fairness": given}, read_schema(SCHEMA))
    with pytest.raises(InputError, match="official_split names adult, which is none of"):
        plan_individual.check_tables(config)
    config["individual_fairness"]["official_split"] = []
    with pytest.raises(InputError, match="names integers, and no data set has whole numbers"):
        plan_individual.check_tables(config)
