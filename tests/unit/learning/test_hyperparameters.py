import pytest

from evenhand.errors import InputError
from evenhand.learning.hyperparameters import read_hyperparameters

HEADER = "dataset,hidden,adversary,learning_rate,batch,epochs\n"


def test_the_table_of_the_repository(repository):
    path = repository / "resources/iifr/training.csv"
    adult = read_hyperparameters(path, "adult")
    assert (adult.hidden, adult.learning_rate) == ((30, 20, 15, 15, 10), 0.1)
    assert (adult.batch, adult.epochs) == (256, 10)
    assert read_hyperparameters(path, "german").batch == 30
    assert read_hyperparameters(path, "another").epochs > 0


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("made,30;x,10,0.1,256,10", "no number"),
        ("made,30,10,0.1,2_56,10", "no number"),
        ("made,3_0,10,0.1,256,10", "no number"),
        ("made,30,10,0_1,256,10", "no number"),
        ("made,30,10,0,256,10", "not above 0"),
        ("made,30,10,0.1,256,0", "not above 0"),
        ("made,30,10,nan,256,5", "not above 0"),
        ("other,30,10,0.1,256,10", "no row for made"),
    ],
)
def test_bad_rows_are_errors(tmp_path, row, problem):
    path = tmp_path / "training.csv"
    path.write_text(HEADER + row + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_hyperparameters(path, "made")
