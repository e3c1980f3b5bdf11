"""One browser for all tests, the pages of a finished run, and pages of made results.

Pictures of all pages are left in ``.screenshots`` for a person to look at.
"""

import shutil
from pathlib import Path

import pytest

from browser import made_pages
from evenhand.report.pages import PAGES
from in_browser import browser as start


def pytest_addoption(parser):
    parser.addoption("--results", help="a results folder other than that of the checkout")


@pytest.fixture(scope="session")
def browser():
    with start() as one:
        yield one


@pytest.fixture(scope="session")
def places(request, repository, tmp_path_factory):
    """Folders of pages by their names, each made when it is first asked for."""
    given = request.config.getoption("--results")
    made: dict[str, Path] = {}

    def place(name: str) -> Path:
        if name == "demo":
            return finished(Path(given) if given else repository / "results")
        if name not in made:
            folder = tmp_path_factory.mktemp(name) / "results"
            made[name] = getattr(made_pages, name)(repository, folder)
        return made[name]

    return place


def finished(results: Path) -> Path:
    for file, _ in PAGES.values():
        if not (results / "report" / file).is_file():
            pytest.exit(
                f"{results.absolute() / 'report' / file} is missing: these tests look at the pages"
                " of the demo; run `make demo` first.",
                returncode=1,
            )
    return results.absolute() / "report"


@pytest.fixture(scope="session")
def pictures(repository) -> Path:
    folder = repository / ".screenshots"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
