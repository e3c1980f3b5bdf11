"""What networks see of people, in words."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.report.features import features_of, read_words
from evenhand.tabular.formats import adult, compas, german
from unit.report import made_people
from unit.tabular import made_files


@pytest.fixture(scope="module")
def words(repository):
    return read_words(repository / "resources/iifr/feature_words.csv")


def told(table, words=(), format=""):
    """Of each person name and value."""
    features = features_of(table, words, format)
    return [
        {one.name: one.values[one.codes[row]] for one in features} for row in range(len(table.y))
    ]


def test_one_hot_columns_are_put_together_and_numbers_stay_numbers():
    people = told(made_people.table())
    assert people[2] == {"job": made_people.PLANTED, "monthly income": 2000.0}
    assert people[3] == {"job": "nurse", "monthly income": 3000.5}


def test_the_attribute_is_left_out_where_its_columns_are_its_own():
    assert "gender" not in told(made_people.table(values=3))[0]


@given(st.lists(st.sampled_from(["a", "b=c", "<d>", ""]), min_size=1))
def test_each_value_comes_back(values):
    kinds = sorted(set(values))
    table = made_people.table()
    x = np.column_stack([[float(one == kind) for one in values] for kind in kinds])
    names = [f"it={kind}" for kind in kinds]
    table = replace(
        table, x=x, y=np.zeros(len(values)), features=names, attribute_columns=[]
    )  # fmt: skip
    assert [one["it"] for one in told(table)] == values


def test_a_column_that_only_looks_like_a_category_is_a_number():
    table = made_people.table()
    x = table.x.copy()
    x[:, 1] = 0.5
    table = replace(table, x=x, features=["gender=woman", "job=nurse", "alone=yes", "income"])
    person = told(table)[2]
    assert person == {"job=nurse": 0.5, "alone": "yes", "income": 2000.0}
    assert told(table)[0]["alone"] == "not yes"


def test_words_of_adult(words, tmp_path):
    made = adult.read(made_files.adult(tmp_path, *made_files.adult_lines()), {})
    people = told(made, words, "adult")
    assert len(people[0]) == 12
    assert (people[0]["age"], people[1]["age"], people[3]["age"]) == (
        "26 to 30", "61 to 65", "66 and older")  # fmt: skip
    assert people[0]["occupation"] == "Sales" and people[3]["hours per week"] == 41.0


def test_words_of_compas(words, tmp_path):
    made = compas.read([made_files.compas(tmp_path, *made_files.COMPAS)], {})
    people = told(made, words, "compas")
    assert people[0] == {
        "prior offences": 2.0, "COMPAS score": "low", "age": "25 to 45",
        "race": "African-American", "sex": "male", "charge": "felony",
    }  # fmt: skip
    assert (people[1]["age"], people[1]["race"], people[1]["charge"]) == (
        "below 25", "Hispanic", "misdemeanor")  # fmt: skip
    assert (people[2]["age"], people[2]["race"]) == ("above 45", "Caucasian")
    assert not any("A A" in str(person) for person in people)  # the name in the file


def test_words_of_german(words, tmp_path):
    lines = [made_files.german_line(), made_files.german_line(foreign=2, months=7, age=60)]
    made = german.read([made_files.german(tmp_path, *lines)], {})
    people = told(made, words, "german")
    units = {one.name: one.unit for one in features_of(made, words, "german")}
    assert people[0]["checking account"] == "below 0 marks"
    assert (people[1]["duration"], units["duration"]) == (7.0, "months")
    assert (people[0]["foreign worker"], people[1]["foreign worker"]) == ("yes", "no")
    assert people[0]["purpose"] == "another" and "age" not in people[0]


def test_every_column_that_the_words_name_is_there(words, tmp_path):
    columns = {
        "adult": adult.read(made_files.adult(tmp_path, *made_files.adult_lines()), {}),
        "compas": compas.read([made_files.compas(tmp_path, *made_files.COMPAS)], {}),
        "german": german.read([made_files.german(tmp_path, made_files.german_line())], {}),
    }
    for row in words:
        assert not row["feature"] or row["feature"] in columns[row["format"]].features, row


def test_a_code_without_a_word_stays_a_number():
    table = made_people.table()
    x = table.x.copy()
    x[:, 3] = [1, 2, 3, 1, 2, 9]
    rows = [
        {"format": "f", "name": "state", "feature": "monthly_income", "value": value,
         "words": word, "unit": None}
        for value, word in ((1.0, "one"), (2.0, "two"))
    ]  # fmt: skip
    people = told(replace(table, x=x), rows, "f")
    assert [one["state"] for one in people] == ["one", "two", "3", "one", "two", "9"]
    assert "state" not in told(replace(table, x=x), rows, "g")[0]


def test_a_faulty_table_of_words_is_told(tmp_path):
    assert read_words(None) == []
    path = tmp_path / "words.csv"
    path.write_text("format,name,feature,value,words,unit\na,b,c,d,e,\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"words\.csv:2: the value 'd' is no number"):
        read_words(path)
