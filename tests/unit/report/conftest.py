from pathlib import Path

import pytest

from unit.report import made_results


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder with every file that the page reads."""
    return made_results.write_results(tmp_path / "results")


@pytest.fixture
def templates(repository: Path) -> list[Path]:
    return made_results.templates(repository)
