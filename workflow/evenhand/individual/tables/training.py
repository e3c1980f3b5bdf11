"""The layers, learning rate, batch size and epochs of each data set."""

from collections.abc import Iterator

from evenhand.core.tables import Row, Table, integer, number, text
from evenhand.individual.study import IndividualStudy
from evenhand.learning.hyperparameters import read_hyperparameters

TABLE = Table(
    "training",
    title="Layers, learning rates, batches and epochs",
    key=("dataset",),
    columns=(
        text("dataset"),
        text("hidden", "Sizes of the layers of the network"),
        text("adversary", "Sizes of the hidden layers of each adversary"),
        number("learning_rate"),
        integer("batch", "Rows per step"),
        integer("epochs"),
    ),
    source="IIFR, Table 3",
    form="g",
)


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per data set."""
    for name in study.people:
        used = read_hyperparameters(study.training, name)
        layers = {"hidden": used.hidden, "adversary": used.adversary}
        yield {
            "dataset": name,
            **{part: ", ".join(map(str, sizes)) for part, sizes in layers.items()},
            "learning_rate": used.learning_rate,
            "batch": used.batch,
            "epochs": used.epochs,
        }
