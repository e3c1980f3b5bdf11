import csv
import json

import pytest

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.tabular.describe_table import describe_table
from evenhand.tabular.prepare_table import prepare_table
from evenhand.tabular.prepared import read_prepared
from unit.learning.made_tables import table, write
from unit.tabular import made_files

PEOPLE = "age,group,result\n" + "".join(
    f"{20 + i},{'xy'[i % 2]},{'yes' if i % 3 else 'no'}\n" for i in range(12)
)


def prepare(folder, **options):
    file = folder / "people.csv"
    file.write_text(PEOPLE)
    chosen = {"label": "result", "positive": "yes", "attribute": "group"}
    options = {"files": [file], "name": "people", "format": "table"} | chosen | options
    data, meta = folder / "data.parquet", folder / "data.json"
    return stage.execute(prepare_table, options | {"out": data, "meta": meta})["counts"], data, meta


def test_prepare_any_table(tmp_path):
    counts, data, meta = prepare(tmp_path, title="People", scale="none", test_share=0.5)
    assert counts == {"rows": 12, "features": 2, "excluded": {"blank_cell": 0}}
    made = read_prepared(data, meta)
    assert (made.name, made.scale, made.test_share) == ("people", "none", 0.5)
    assert made.meta["title"] == "People"
    assert made.official is None and made.integers is None


def test_prepare_a_data_set_that_is_known(tmp_path):
    files = made_files.adult(tmp_path, *made_files.adult_lines())
    counts, data, meta = prepare(tmp_path, files=files, name="adult", format="adult")
    assert counts == {"rows": 5, "features": 114, "excluded": {"missing_value": 1}}
    assert read_prepared(data, meta).official.tolist() == ["train"] * 3 + ["test"] * 2
    record = json.loads(meta.read_text())
    assert record["meta"]["title"] == "Adult (UCI census income)"
    assert record["meta"]["integer_groups"] == ["Female", "Male"]
    prepare(tmp_path, files=files, name="adult", format="adult", title="Census of 1994")
    assert json.loads(meta.read_text())["meta"]["title"] == "Census of 1994"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"label": None}, "needs a label"),
        ({"test_share": 1.0}, "no share between 0 and 1"),
        ({"scale": "minmax"}, "the scale is 'minmax'"),
    ],
)
def test_prepare_with_wrong_options(tmp_path, options, match):
    with pytest.raises(InputError, match=match):
        prepare(tmp_path, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def described(folder, made, *published):
    data, meta = write(folder, made)
    files = []
    for i, lines in enumerate(published):
        files.append(folder / f"published_{i}.csv")
        files[-1].write_text("\n".join(["dataset,quantity,value,published,note", *lines]) + "\n")
    out = folder / "table.csv"
    counts = describe_table(data=data, meta=meta, out=out, published=files or None)
    with out.open(newline="") as stream:
        return counts, {(r["quantity"], r["value"]): r for r in csv.DictReader(stream)}


def test_describe_counts(tmp_path):
    made = table(60, values=3)
    counts, rows = described(tmp_path, made)
    assert counts["rows"] == 60 and {r["verdict"] for r in rows.values()} == {""}
    assert rows["rows", ""]["ours"] == "60"
    assert float(rows["P(Y=1)", ""]["ours"]) == pytest.approx(made.y.mean(), abs=1e-6)
    for code, value in enumerate(made.attribute_values):
        group = made.a == code
        assert rows["P(A)", value]["count"] == str(group.sum())
        given = float(rows["P(Y=1|A)", value]["ours"])
        assert given == pytest.approx(made.y[group].mean(), abs=1e-6)


@pytest.mark.parametrize(
    ("printed", "verdict", "digits"),
    [
        ("0.667", "reproduced", "rounded"),
        ("0.666", "reproduced", "truncated"),
        ("0.665", "not_reproduced", ""),
        ("1", "reproduced", "rounded"),
        ("", "not_checked", ""),
    ],
)
def test_describe_verdicts(tmp_path, printed, verdict, digits):
    made = table(6)
    made.y[:] = [0, 0, 1, 1, 1, 1]
    _, rows = described(tmp_path, made, [f"made,P(Y=1),,{printed},"], ["adult,P(A),Male,0.1,"])
    row = rows["P(Y=1)", ""]
    assert (row["verdict"], row["digits"], row["published"]) == (verdict, digits, printed)


def test_describe_both_ways(tmp_path):
    made = table(8)
    made.y[:] = [0, 0, 0, 0, 0, 0, 1, 1]
    _, rows = described(tmp_path, made, ["made,P(Y=1),,0.250,"])
    assert rows["P(Y=1)", ""]["digits"] == "both"


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("made,P(A),g9,0.5,", r"has P\(A\) of g9 of made, which the table lacks"),
        ("made,P(Y=1),,about half,", "'about half', which is no share"),
    ],
)
def test_describe_beside_wrong_numbers(tmp_path, line, match):
    with pytest.raises(InputError, match=match):
        described(tmp_path, table(30), [line])


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "file", "wanted"),
    [
        ("compas", "compas/compas-scores-two-years.csv", (0, 0, 4)),
        ("german", "german_credit/german.data-numeric", (10, 0, 0)),
    ],
)
def test_the_papers_numbers(tmp_path, mirror, repository, name, file, wanted):
    _, data, meta = prepare(tmp_path, files=[mirror / file], name=name, format=name)
    counts = describe_table(
        data=data,
        meta=meta,
        out=tmp_path / "table.csv",
        published=[repository / f"resources/iifr/published_table_{i}.csv" for i in (1, 2)],
    )
    names = ("reproduced", "not_reproduced", "not_checked")
    assert tuple(counts[verdict] for verdict in names) == wanted
