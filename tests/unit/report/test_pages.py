"""What holds of every page: all that it shows is kept as text, and nothing in data harms it."""

import pytest

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.report.page_list import PAGES
from expected import check_expected
from unit.report import checks, made_pages
from unit.report.checks import HOSTILE

#: What these show was made with the names of results that a run has.
WITH_RESULTS = {"slguset", "language_models", "predictions"}


@pytest.fixture(scope="module", params=made_pages.PAGES)
def shown(request, repository, tmp_path_factory):
    """The name of a page, what makes it, the page itself, and its counts."""
    folder = tmp_path_factory.mktemp("page")
    made = made_pages.PAGES[request.param](repository, folder / "results")
    out = folder / "page.html"
    counts = made.write(templates=made_pages.templates(repository), out=out, **made.given)
    return request.param, made, out, counts


def test_it_shows_what_it_should(shown):
    name, _, out, counts = shown
    text = checks.as_text(checks.parse(out))
    check_expected(f"pages/{name}.txt", f"{text}{counts | {'bytes': None}}\n")


def test_the_same_results_give_the_same_bytes(shown, templates, tmp_path):
    _, made, out, counts = shown
    record = stage.execute(
        made.write, made.given | {"templates": templates, "out": tmp_path / "again.html"}
    )
    assert (tmp_path / "again.html").read_bytes() == out.read_bytes()
    assert record["counts"] == counts
    assert counts["bytes"] == out.stat().st_size
    assert str(out.parent) not in out.read_text(encoding="utf-8")


def test_it_can_be_used_without_eyes_mouse_or_network(shown):
    tree = checks.parse(shown[2])
    checks.check_usable(tree)
    checks.check_no_request(tree)
    checks.check_columns(tree)


def test_it_links_to_the_pages_that_are_made(shown, templates, tmp_path):
    name, made, out, _ = shown
    links = checks.parse(out).css("nav[aria-label=Pages] a")
    assert [a.attributes["href"] for a in links] == [file for file, _ in PAGES.values()]
    here = [a.attributes["href"] for a in links if a.attributes.get("aria-current") == "page"]
    assert here == [PAGES[name][0]]
    given = made.given | {"templates": templates, "out": tmp_path / "alone.html"}
    made.write(**given, pages=[name])
    assert not checks.parse(tmp_path / "alone.html").css("nav[aria-label=Pages]")
    with pytest.raises(InputError, match="no page 'other'"):
        made.write(**given, pages=["other"])


def test_each_table_to_download_is_a_result(shown):
    name, made, out, _ = shown
    if name in WITH_RESULTS:
        folders = {one.name for one in made.results.iterdir() if one.is_dir()}
        checks.check_downloads(checks.parse(out), made.results, folders)


@pytest.mark.parametrize("name", made_pages.PAGES)
def test_hostile_strings_stay_text(name, repository, templates, tmp_path):
    made = made_pages.PAGES[name](repository, tmp_path / "results", HOSTILE)
    out = tmp_path / "page.html"
    made.write(templates=templates, out=out, **made.given)
    tree = checks.parse(out)
    checks.check_nothing_injected(tree)
    checks.check_no_request(tree)
    checks.check_usable(tree)
    if name != "reproduction":  # which has names of its own only
        assert "<script>alert(1)" in tree.css_first("main").text()
    assert "Evenhand" in tree.css_first("title").text()
    assert str(made_pages.made_stereotypes.SENTINEL) not in tree.css_first("main").text()
    assert "\u202e" not in out.read_text(encoding="utf-8")
