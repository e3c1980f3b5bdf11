"""What holds of every page: all that it shows is kept as text, and nothing in data harms it."""

import pytest

from evenhand.core import stage
from evenhand.core.rows import where
from evenhand.errors import InputError
from evenhand.report.page_list import PAGES
from evenhand.report.write_page import write_page
from expected import check_expected
from unit.made_tables import edited
from unit.report import checks, made_legal, made_pages, made_results
from unit.report.checks import HOSTILE

#: What these show was made with the names of results that a run has.
WITH_RESULTS = {"slguset", "language_models", "predictions"}


@pytest.fixture(scope="module", params=made_pages.PAGES)
def shown(request, repository, tmp_path_factory):
    """The name of a page, the results that it shows, the page itself, and its record."""
    folder = tmp_path_factory.mktemp("page")
    made = made_pages.PAGES[request.param](repository, folder / "results")
    arguments = {"page": request.param, "templates": made_results.templates(repository)}
    arguments |= {"files": made.files, "out": folder / "page.html", **made.options}
    return request.param, made, arguments, stage.execute(write_page, arguments)


def test_it_shows_what_it_should(shown):
    name, _, arguments, _ = shown
    check_expected(f"pages/{name}.txt", checks.as_text(checks.parse(arguments["out"])))


def test_the_same_results_give_the_same_bytes(shown, tmp_path):
    _, _, arguments, record = shown
    again = stage.execute(write_page, arguments | {"out": tmp_path / "again.html"})
    assert again["outputs"]["out"]["sha256"] == record["outputs"]["out"]["sha256"]
    assert record["counts"] == {"bytes": arguments["out"].stat().st_size}
    assert str(arguments["out"].parent) not in arguments["out"].read_text(encoding="utf-8")


def test_it_can_be_used_without_eyes_mouse_or_network(shown):
    tree = checks.parse(shown[2]["out"])
    checks.check_usable(tree)
    checks.check_no_request(tree)
    checks.check_columns(tree)


def test_it_links_to_the_pages_that_are_made(shown):
    name, _, arguments, _ = shown
    links = checks.parse(arguments["out"]).css("nav[aria-label=Pages] a")
    assert [a.attributes["href"] for a in links] == [file for file, _ in PAGES.values()]
    here = [a.attributes["href"] for a in links if a.attributes.get("aria-current") == "page"]
    assert here == [PAGES[name][0]]


def test_a_page_alone_links_to_no_other(write):
    assert not write("slguset", pages=["slguset"]).css("nav[aria-label=Pages]")
    with pytest.raises(InputError, match="no page 'other'"):
        write("slguset", pages=["other"])


def test_each_table_to_download_is_a_result(shown):
    name, made, arguments, _ = shown
    if name in WITH_RESULTS:
        folders = {path.name for path in made.results.iterdir() if path.is_dir()}
        checks.check_downloads(checks.parse(arguments["out"]), made.results, folders)


@pytest.mark.parametrize("name", made_pages.PAGES)
def test_hostile_strings_stay_text(name, repository, write, tmp_path):
    made = made_pages.PAGES[name](repository, tmp_path / "results", HOSTILE)
    tree = write(name, made.files, **made.options)
    checks.check_nothing_injected(tree)
    checks.check_no_request(tree)
    checks.check_usable(tree)
    if name != "reproduction":  # which has names of its own only
        assert "<script>alert(1)" in tree.css_first("main").text()
    assert "Evenhand" in tree.css_first("title").text()
    assert str(made_pages.made_stereotypes.SENTINEL) not in tree.css_first("main").text()
    assert "\u202e" not in (tmp_path / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["legal_cases", "legal_classifiers", "mitigation", "predictions"])
def test_test_texts_that_are_copies_of_training_texts_are_stated_first(
    name, repository, write, tmp_path
):
    made = made_pages.PAGES[name](repository, tmp_path / "results")
    texts, *_ = made_legal.write_results(repository, tmp_path / "texts")
    size = {"item": "test of train", "ours": "90", "of": 200}
    copied = edited(
        texts,
        tmp_path / "tables/cases/mine",
        sizes=lambda rows: [*rows, where(rows, quantity="near duplicates")[0] | size],
    )
    files = [copied, *(path for path in made.files if path.parent.name != "cases")]
    words = "90 of 200 test texts are near duplicates of training texts, which the data’s own split"
    page = write(name, files, **made.options)
    assert words in page.css_first("main").text().partition("At a glance")[0]
    assert words not in write(name, made.files, **made.options).css_first("main").text()


def test_each_name_has_a_title(write):
    with pytest.raises(InputError, match="not one title for each name"):
        write("legal_cases", names=["a"])
