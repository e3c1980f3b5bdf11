import pytest

from evenhand.errors import InputError
from evenhand.tabular.formats.compas import read
from evenhand.tabular.prepared import flip
from unit.tabular import made_files


def made(folder, *more):
    return read([made_files.compas(folder, *made_files.COMPAS, *more)], {})


def test_the_derived_features(tmp_path):
    dropped = [
        "D D,Male,25 - 45,Martian,3,2,31,F,0,Low,99,0",  # arrested too long before
        "E E,Male,25 - 45,Martian,3,2,,F,0,Low,99,0",
        "F F,Male,25 - 45,Martian,3,2,0,F,-1,Low,99,0",
        "G G,Male,25 - 45,Martian,3,2,0,O,0,Low,99,0",
        "H H,Male,25 - 45,Martian,3,2,0,F,0,N/A,99,0",
    ]
    table = made(tmp_path, *dropped)
    assert table.meta["excluded"] == {"propublica_filter": 5}
    assert table.features == [
        *("Number_of_Priors", "score_factor", "Age_Above_FourtyFive", "Age_Below_TwentyFive"),
        *("African_American", "Asian", "Hispanic", "Native_American", "Other"),
        *("Female", "Misdemeanor"),
    ]
    # priors_count stands there twice: the first counts
    assert table.x.tolist() == [
        [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1],
        [7, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
    assert (table.y.tolist(), table.a.tolist(), table.scale) == ([0, 1, 1], [1, 0, 0], "none")
    # a flip leaves the dummies of the other races
    assert flip(table, table.x, 1)[1].tolist() == [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1]


def test_files_that_are_wrong(tmp_path):
    header = made_files.COMPAS_HEADER.replace("race", "origin")
    path = made_files.compas(tmp_path, *made_files.COMPAS, header=header)
    with pytest.raises(InputError, match="lacks the column race"):
        read([path], {})
    with pytest.raises(InputError, match="2 are named"):
        read([path, path], {})
    path = made_files.compas(tmp_path, made_files.COMPAS[0].replace(",-1,", ",-31,"))
    with pytest.raises(InputError, match="no row that passes"):
        read([path], {})


@pytest.mark.mirror
def test_the_real_file(mirror):
    table = read([mirror / "compas" / "compas-scores-two-years.csv"], {})
    assert table.x.shape == (6_172, 11)
    assert table.meta["excluded"] == {"propublica_filter": 1_042}
    others = table.a == 0
    shares = [others.mean(), table.y.mean(), table.y[others].mean(), table.y[~others].mean()]
    assert [round(share, 5) for share in shares] == [0.48558, 0.45512, 0.38305, 0.52315]
    # rows without any feature have no direction, and no neighbour by cosine
    assert (table.x == 0).all(axis=1).sum() == 117
    assert table.x[:, 0].max() == 38
