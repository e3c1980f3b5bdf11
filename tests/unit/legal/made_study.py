"""The tables of classifiers of made predictions, as they are read back."""

from evenhand.core.tables import write_tables
from evenhand.legal.built import BuiltCases, CaseStudy
from evenhand.legal.case_tables import shift, sizes
from evenhand.legal.classifier_study import ClassifierStudy, read_scored
from evenhand.legal.published import CLAIMS as CLAIM_COLUMNS
from evenhand.legal.published import SCORES
from unit.legal.made_predictions import write
from unit.made_tables import read_back

NO_SCORES = ",".join(SCORES) + "\n"
NO_CLAIMS = ",".join(CLAIM_COLUMNS) + "\n"


def write_case_tables(folder, data, size_rows=None):
    """The tables of cases that tables of classifiers need; sizes may be given."""
    study = CaseStudy(data, published=False, claims=data, words=data, permutations=20)
    own = {sizes.TABLE: size_rows or sizes.rows(study), shift.TABLE: shift.rows(study)}
    write_tables(folder, [(t, [{"dataset": "mine"} | row for row in r]) for t, r in own.items()])
    return folder


def make_study(
    folder, data, *trainings, scores=NO_SCORES, claims=NO_CLAIMS, size_rows=None, **options
):
    """A study of these trainings, with few draws."""
    splits = options.pop("splits", ("test",))
    paths = [write(folder / f"p{n}.parquet", one) for n, one in enumerate(trainings)]
    built = BuiltCases(data)
    cases, runs = read_scored(built, paths, splits)
    for name, text in (("scores", scores), ("claims", claims)):
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    given = {"permutations": 99, "swaps": 499, "histories": []} | options
    given |= {"predictions": paths}
    return ClassifierStudy(
        data=built,
        cases=cases,
        runs=runs,
        case_tables=write_case_tables(folder / "cases", data, size_rows),
        scores=folder / "scores.csv",
        claims=folder / "claims.csv",
        splits=tuple(splits),
        **given,
    )


def table(folder, member, study):
    """The rows of one table."""
    rows = [{"dataset": "mine"} | row for row in member.rows(study)]
    return read_back(folder / "out", member.TABLE, rows)


def only(rows, **wanted):
    """The one row with these cells."""
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    assert len(found) == 1, found
    return found[0]
