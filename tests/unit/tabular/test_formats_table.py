from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.core.files import content_digest
from evenhand.core.numbers import missing_codes
from evenhand.errors import InputError
from evenhand.tabular.formats.table import read
from evenhand.tabular.prepared import check
from unit.cases import load_cases

CASES = load_cases(__file__)

HEADER = "id,town,age,grade,group,result"
ROWS = ["a,Ost,20,1,x,yes", "b,West,30.5,2,y,no", "c,Ost,40,1,x,no", "d,,41,2,y,yes"]
OPTIONS = {
    "others": False,
    "label": "result",
    "positive": ["yes"],
    "attribute": ["group"],
    "bins": {},
    "missing": "drop",
    "features": ["town", "age", "grade"],
    "categories": ["grade"],
    "scale": "standard",
    "test_share": 0.3,
    "split": None,
    "title": "",
}


def made(folder, *more, header=HEADER, rows=ROWS, encoding="utf-8", **options):
    path = folder / "people.csv"
    path.write_bytes(("\n".join([header, *rows, *more]) + "\n").encode(encoding))
    return read([path], OPTIONS | options)


def test_what_pandas_reads_as_missing_is_blank_and_doubtful_values_are_counted(tmp_path):
    rows = ["e,Ost,7,1,x,n/a", "f,Ost,NULL,1,x,no", "g,West,8,2,unknown,no"]
    rows += ["h,West,-99,1,x,yes", "h,West,-99.0,1,y,no"]
    table = made(tmp_path, *rows)
    assert table.meta["excluded"] == {"blank_cell": 3} and len(table.y) == 6
    assert table.meta["table"] == content_digest(tmp_path / "people.csv")
    assert table.meta["doubtful"] == {"group": {"unknown": 1}, "age": {"-99": 2}}
    binned = made(tmp_path, *rows, attribute=["age"], bins={"age": [20]})
    assert binned.meta["doubtful"] == {"age": {"-99": 2}}


def test_a_feature_may_have_unclear_values_or_be_an_id(tmp_path):
    rows = [f"a{n},{['Ost', '?'][n % 2]},{n % 9},1,{'xy'[n % 2]},yes" for n in range(120)]
    rows = [f"{7919 * n % 1009}{row[row.index(',') :]}" for n, row in enumerate(rows)]
    table = made(
        tmp_path, "5000,Ost,3,2,x,no", rows=rows, features=["id", "town", "age"], categories=[]
    )
    assert table.meta["doubtful"] == {"town": {"?": 60}} and table.meta["distinct"] == ["id"]
    points = [row.replace(",", ".5,", 1) for row in rows]
    options = {"features": ["id", "age"], "rows": points, "categories": []}
    assert "distinct" not in made(tmp_path, "5000.5,Ost,3,2,x,no", **options).meta


def test_people_with_a_blank_cell_in_an_intersection_are_one_group(tmp_path):
    rows = ["a,Ost,,1,x,yes", "b,Ost,30,2,,no", "c,Ost,,1,,no", "d,West,41,2,y,yes"]
    options = {"attribute": ["group", "age"], "bins": {"age": [30]}, "missing": "category"}
    table = made(tmp_path, rows=rows, features=["town"], categories=[], **options)
    assert table.attribute_values == ["missing", "y × ≥30"]
    assert table.meta["missing"]["grouped"] == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_numbers_categories_and_two_groups(tmp_path, encoding):
    table = made(tmp_path, "", encoding=encoding)
    assert table.features == ["group=y", "town=Ost", "town=West", "age", "grade=1", "grade=2"]
    assert table.x.tolist() == [[0, 1, 0, 20, 1, 0], [1, 0, 1, 30.5, 0, 1], [0, 1, 0, 40, 1, 0]]
    assert (table.y.tolist(), table.a.tolist()) == ([1, 0, 0], [0, 1, 0])
    assert table.attribute_codes.tolist() == [[0], [1]] and table.attribute_values == ["x", "y"]
    assert table.meta["excluded"] == {"blank_cell": 1}


def test_three_groups_are_one_hot(tmp_path):
    table = made(tmp_path, "e,Ost,7,1,z,no")
    assert table.features[:3] == ["group=x", "group=y", "group=z"]
    assert (table.x[:, table.attribute_columns] == table.attribute_codes[table.a]).all()


def test_a_parquet_file_and_numbers_with_points_are_a_table_too(tmp_path):
    path = tmp_path / "people.parquet"
    columns = {
        "y": [1.0, 0.0, float("nan"), 1.0],
        "g": [0.0, 1.0, 0.0, 1.0],
        "age": [20, 30.5, 40, 50],
    }
    pq.write_table(pa.table(columns), path)
    options = {"label": "y", "attribute": ["g"], "features": ["age"], "categories": []}
    for positive in (["1"], None):  # which is 1 by default
        table = read([path], OPTIONS | options | {"positive": positive})
        assert table.x.tolist() == [[0, 20], [1, 30.5], [1, 50]]
        assert (table.y.tolist(), table.attribute_values) == ([1, 0, 1], ["0", "1"])
        assert table.meta["excluded"] == {"blank_cell": 1}
    for cells, words in (
        ([*range(21)], "; give numbers"),
        (["x", *range(20)], ", and the text 'x'"),
    ):
        pq.write_table(pa.table({"y": [0, 1] * 21, "g": [*map(str, cells)] * 2}), path)
        with pytest.raises(InputError, match=f"the attribute g has 21 numbers in 42 rows{words}"):
            read([path], OPTIONS | options | {"positive": None, "features": []})
    with pytest.raises(InputError, match="not known which value of y counts as 1; name `positive`"):
        pq.write_table(pa.table({"y": ["a", "b"], "g": [1, 2]}), path)
        read([path], OPTIONS | options | {"positive": None, "features": []})
    with pytest.raises(InputError, match="has no column beside the label and the attribute; add"):
        pq.write_table(pa.table({"y": [0, 1], "g": [1, 2]}), path)
        read([path], OPTIONS | options | {"features": [], "positive": None})
    with pytest.raises(InputError, match="has no rows"):
        pq.write_table(pa.table({"y": [], "g": []}), path)
        read([path], OPTIONS | options)


@pytest.mark.parametrize(
    ("copied", "options", "copies"),
    [
        (True, {}, 60),
        (False, {}, None),
        # with so few values, people may well be equal
        (True, {"features": ["town"], "categories": []}, None),
        (True, {"split": "part"}, 15),  # rows of test that are in train
    ],
)
def test_rows_that_repeat_another_one_are_counted(tmp_path, copied, options, copies):
    rows = [
        f"{i},{['Ost', 'West'][i % 2]},{i},{i % 3},{'xy'[i // 2 % 2]},{['yes', 'no'][i % 2]}"
        for i in range(120 if not copied else 60)
    ]
    rows = [*rows, *rows] if copied else rows
    rows = [f"{row},{'test' if i >= 105 else 'train'}" for i, row in enumerate(rows)]
    table = made(tmp_path, header=f"{HEADER},part", rows=rows, **options)
    assert table.meta.get("copies") == copies


def test_dummies_of_all_groups_imply_the_attribute(tmp_path):
    cells = [f"{int(i % 3 == 0)},{int(i % 3 == 1)},{int(i % 3 == 2)},{i % 2}" for i in range(90)]
    options = {"label": "y", "attribute": ["a"], "bins": {}, "categories": [], "positive": None}
    for features, implied in ((["b", "c"], True), (["b"], None)):
        table = made(tmp_path, header="a,b,c,y", rows=cells, features=features, **options)
        assert table.meta.get("implied") is implied


def test_blank_lines_above_the_header_do_not_count(tmp_path):
    table, with_lines = made(tmp_path), made(tmp_path, header=f"\n\r\n{HEADER}")
    assert with_lines.features == table.features and len(with_lines.y) == len(table.y)


def test_a_blank_cell_counts_only_where_it_is_used(tmp_path):
    table = made(tmp_path, features=["age", "group", "age"], categories=[])
    assert table.features == ["group=y", "age"] and len(table.y) == 4
    assert table.meta["excluded"] == {"blank_cell": 0}


@pytest.mark.parametrize(("more", "options", "match"), CASES["input_that_is_wrong"])
def test_input_that_is_wrong(tmp_path, more, options, match):
    with pytest.raises(InputError, match=match):
        made(tmp_path, *more, **options)


@pytest.mark.parametrize("positive", [None, ["1"]])
def test_a_label_of_many_numbers(tmp_path, positive):
    rows = [f"{i},Ost,{i},{i % 2},{'xy'[i % 2]},{i / 8}" for i in range(30)]
    with pytest.raises(InputError, match=r"30 values, .* numbers; .* make it a column of 1"):
        made(tmp_path, rows=rows, positive=positive, features=["age"], categories=[])


def test_codes_that_python_would_read_as_numbers_are_categories(tmp_path):
    rows = ["a,Ost,18_25,1,x,yes", "b,West,26_35,2,y,no", "c,West,18_25,1,y,no"]
    assert {"age=18_25", "age=26_35"} < set(made(tmp_path, rows=rows).features)


@pytest.mark.parametrize("value", ["n{0}", "{0},5", "${0}", "{0} %", "2024-01-{0}"])
@pytest.mark.parametrize(("rows", "copies"), [(201, 9), (21, 1)])
def test_a_column_of_names_or_misspelt_numbers(tmp_path, value, rows, copies):
    lines = [
        f'{i},"{value.format(i)}",2{i % 2},{i % 2},{"xy"[i % 2]},{["yes", "no"][i % 3 > 0]}'
        for i in range(rows)
    ]
    for features, remedy in (
        (OPTIONS["features"], "leave it out of"),
        ([], "name the other columns"),
    ):
        problem = f"town has {rows} values that are no numbers, such as '.*; {remedy}"
        with pytest.raises(InputError, match=problem):
            made(tmp_path, rows=lines * copies, features=features)
    if copies == 1:  # as many names that recur are categories, and numbers on request
        if value != "n{0}":
            with pytest.raises(InputError, match=r"1234\.5, or name it among `categories`"):
                made(tmp_path, rows=lines * 2)
        table = made(tmp_path, rows=lines * 2, categories=["town", "grade"])
        assert len(table.features) > rows


def test_the_loans_of_the_demo(repository):
    names = "age household occupation contract weekly_hours monthly_income savings loan months"
    table = read(
        [repository / "resources/demo/tabular/loans.csv"],
        OPTIONS
        | {
            "label": "decision",
            "positive": ["approved"],
            "attribute": ["gender"],
            "features": [*names.split(), "purpose", "late_payments"],
            "categories": [],
        },
    )
    check(table)
    assert (len(table.y), table.meta["excluded"]) == (625, {"blank_cell": 15})
    man, woman = (table.y[table.a == code].mean() for code in range(2))
    assert table.attribute_values == ["man", "woman"] and man - woman > 0.2
    assert np.isfinite(table.x).all()


def test_several_labels_are_made_binary_by_a_list(tmp_path):
    with pytest.raises(InputError, match=r"as a list of all that count as 1, such as \[\"yes\"\]"):
        made(tmp_path, "e,Ost,7,1,x,maybe")
    table = made(tmp_path, "e,Ost,7,1,x,maybe", others=True)
    assert table.y.tolist() == [1, 0, 0, 0] and table.meta["label"] == "result = yes"
    table = made(tmp_path, "e,Ost,7,1,x,maybe", positive=["yes", "maybe"], others=True)
    assert table.y.tolist() == [1, 0, 0, 1] and table.meta["label"] == "result = yes and maybe"
    with pytest.raises(InputError, match="all values of the label result count as 1; leave out of"):
        made(tmp_path, positive=["yes", "no"])


def test_two_attributes_are_intersected_and_numbers_binned(tmp_path):
    table = made(tmp_path, attribute=["group", "age"], bins={"age": [30]})
    assert table.attribute_name == "group × age"
    assert table.attribute_values == ["x × <30", "x × ≥30", "y × ≥30"]
    assert table.a.tolist() == [0, 2, 1]
    assert "age" not in table.features  # it is in the groups
    words = "csv:6: age is 'young', and its bins need a number; write numbers like 1234.5, leave"
    for policy in ("drop", "category", "impute"):
        with pytest.raises(InputError, match=words):
            made(
                tmp_path,
                "e,Ost,young,1,y,no",
                attribute=["age"],
                bins={"age": [30]},
                missing=policy,
            )


def test_missing_values_by_policy(tmp_path):
    rows = ["a,Ost,20,1,x,yes", "b,,,2,y,no", "c,Ost,40,1,,no", "d,West,42,2,y,"]
    more = "e,Nord,7,2,y,no", "f,Ost,8,1,x,yes", "g,Nord,9,2,y,no"
    dropped = made(tmp_path, *more, rows=rows)
    assert len(dropped.y) == 4 and dropped.meta["excluded"] == {"blank_cell": 3}
    filled = made(tmp_path, "e,Nord,7,2,y,no", rows=rows, missing="impute")
    assert len(filled.y) == 3  # neither a label nor a protected attribute is made up
    assert filled.x[1, filled.features.index("age")] == 13.5  # the median
    rows_of = [f"{row},train" for row in rows] + ["e,Nord,7,2,y,no,test", "g,Nord,9,2,y,no,test"]
    options = {"header": f"{HEADER},part", "rows": rows_of, "missing": "impute", "split": "part"}
    of_train = made(tmp_path, **options)  # the values of test fill in nothing
    assert of_train.x[1, of_train.features.index("age")] == 20
    assert of_train.x[1, of_train.features.index("town=Ost")] == 1
    own = made(tmp_path, "e,Nord,7,2,y,no", rows=rows, missing="category")
    assert own.attribute_values == ["missing", "x", "y"] and len(own.y) == 4
    assert {"town=missing", "age=missing"} <= set(own.features)
    facts = {"policy": "category", "rows": 5, "filled": 2, "grouped": 1}
    assert own.meta["missing"] == facts


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*range(18, 81), -1, -1, 99, 99, 999, 999], ["-1", "99", "999"]),
        ([*range(18, 81), -999, 1e400], ["-999"]),  # infinite is none
        ([*range(18, 61), 99], []),  # once only: it may be an age
        ([*range(18, 101), 99, 88], []),  # among the others
        ([1, 2, 9, 9], ["9"]),
        ([1, 2, 3, 4, 5, 6, 7, 7, 8, 8], []),
        ([-1, -1, 0, 1], []),
        ([-1, -1, -2, 0, 1], []),
        ([-1, -1, 0, 1, 2], ["-1"]),
        ([5, 999, 999], []),
        (["north", "south", -999, -999], ["-999"]),  # among words
        (["north", "south", 9], ["9"]),
        (["a", 7, 7, 8], []),
    ],
)
def test_codes_of_missing_values_are_numbers_apart_from_the_others(values, codes):
    assert list(missing_codes(Counter(map(str, values)))) == codes
