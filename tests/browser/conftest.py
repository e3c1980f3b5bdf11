"""One browser for all tests, the pages of a finished run, and pages of made results.

Pictures of them are left in ``.screenshots`` for a person to look at.
"""

import shutil
from pathlib import Path

import pytest

from browser import made_pages
from evenhand.report.page_list import PAGES
from harness import once
from in_browser import browser as start
from in_browser import chromium

#: The folder of pictures in the repository.
PICTURES = ".screenshots"


def pytest_addoption(parser):
    parser.addoption("--results", help="a results folder other than that of the checkout")


def pytest_sessionstart(session):
    """What all workers need, once, before they start."""
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        chromium()
        demo(session.config)
        shutil.rmtree(session.config.rootpath / PICTURES, ignore_errors=True)
        (session.config.rootpath / PICTURES).mkdir()


@pytest.fixture(scope="session")
def browser():
    with start() as one:
        yield one


@pytest.fixture(scope="session")
def places(request, repository, tmp_path_factory):
    """Folders of pages by their names, each made once for all workers, when it is asked for."""

    def place(name: str) -> Path:
        if name == "demo":
            return demo(request.config)
        make = getattr(made_pages, name)
        made = once(tmp_path_factory, name, lambda root: make(repository, root / "results"))
        return made / "results" / "report"

    return place


def demo(config) -> Path:
    """The pages of the finished run."""
    given = config.getoption("--results")
    results = Path(given).absolute() if given else config.rootpath / "results"
    for page in made_pages.DEMO:
        file = PAGES[page][0]
        if not (results / "report" / file).is_file():
            pytest.exit(
                f"{results / 'report' / file} is missing: these tests look at the pages of the"
                " demo; run `make demo` first.",
                returncode=1,
            )
    return results / "report"


@pytest.fixture(scope="session")
def pictures(repository) -> Path:
    return repository / PICTURES
