from pathlib import Path

import pytest

from unit.report import checks, made_results, made_stereotypes


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder with every file that the page of SlguSet reads."""
    return made_results.write_results(tmp_path / "results")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Results of language models that the test changes."""
    return made_stereotypes.write_results(tmp_path / "results")


@pytest.fixture
def templates(repository: Path) -> list[Path]:
    return made_results.templates(repository)


@pytest.fixture
def write(tmp_path: Path):
    """Write a page of some files, and parse it."""

    def written(page, files=(), **options):
        return checks.write(page, tmp_path / f"{page}.html", files, **options)

    return written
