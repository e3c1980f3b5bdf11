"""The tables of each family, of small results: every number is kept as text."""

import pytest

from evenhand.individual.tabulate_individual import tabulate_individual
from evenhand.stereotypes.tabulate_pairs import tabulate_pairs
from expected import check_expected
from unit.individual.test_family import arguments
from unit.report import made_classifiers, made_legal, made_pages, made_people
from unit.slguset import made_bias
from unit.stereotypes.made_scores import made_set


def pairs(repository, folder):
    tabulate_pairs(**made_set(folder, models=2, pairs=60, seeds=3, sides=2), out=folder / "out")


def triples(repository, folder):
    tabulate_pairs(**made_set(folder, models=2, pairs=60, seeds=3, sides=3), out=folder / "out")


def people(repository, folder):
    tabulate_individual(**arguments(made_people.two_groups(folder / "one")), out=folder / "out")


def cases(repository, folder):
    made_legal.write_results(repository, folder)


def classifiers(repository, folder):
    made_classifiers.write_results(repository, folder)


def predictions(repository, folder):
    made_pages.predictions(repository, folder)


def bias(repository, folder):
    made_bias.write_dataset(folder / "dataset.parquet")
    for name, column in (("a", 3), ("b", 4)):
        made_bias.write_model(folder, name, [row[column] for row in made_bias.ROWS])
        made_bias.write_scores(folder, name, [0.5, -0.25, 0.125, -1, 2])
    made_bias.tabulate(folder, "a", "b", scored=("a", "b"), compounds=["男童/女童"])


@pytest.mark.parametrize(
    "make",
    [pairs, triples, people, cases, classifiers, predictions, bias],
    ids=lambda f: f.__name__,
)
def test_the_numbers_are_those_that_are_kept(make, repository, tmp_path, further_draws):
    make(repository, tmp_path)
    texts = [
        f"{package.parent.relative_to(tmp_path) / file.name}\n{file.read_text(encoding='utf-8')}"
        for package in sorted(tmp_path.rglob("datapackage.json"))
        for file in sorted(package.parent.glob("*.csv"))
    ]
    texts += [file.read_text(encoding="utf-8") for file in sorted(tmp_path.rglob("*findings.json"))]
    assert texts
    check_expected(f"tables/{make.__name__}.txt", "\n".join(texts))
