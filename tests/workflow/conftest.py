"""Checkouts that tests may change and run; the means are in `tests/harness.py`."""

from pathlib import Path

import pytest

from harness import Checkout, checkout, once

TOY = Path(__file__).parent / "toy"


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("workflow")


@pytest.fixture(scope="session")
def toy_template(tmp_path_factory) -> Checkout:
    """The library with six tiny stages and a workflow of their own, run once."""

    def make(root: Path) -> None:
        made = checkout(root)
        for path in sorted(TOY.rglob("*")):
            name = path.relative_to(TOY).as_posix().replace("stages/", "workflow/evenhand/toy/")
            if path.is_file() and "__pycache__" not in name:
                made.write(name, path.read_text(encoding="utf-8"))
        made.run()

    return Checkout(once(tmp_path_factory, "toy", make))


@pytest.fixture
def toy(toy_template, tmp_path) -> Checkout:
    """A copy of the toy workflow, up to date."""
    return toy_template.copy(tmp_path / "toy")
