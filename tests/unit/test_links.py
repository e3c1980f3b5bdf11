"""Each link in the documents leads to a file and a heading that exist."""

import re

import pytest

DOCUMENTS = ("README.md", "CHANGELOG.md", "docs/*.md", "benchmarks/*.md", "results/README.md")


def anchors(path):
    """The anchors that GitHub gives the headings of a document."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("pattern", DOCUMENTS)
def test_links_lead_somewhere(repository, pattern):
    for document in repository.glob(pattern):
        for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
            place, _, anchor = target.partition("#")
            if "://" in place:
                continue
            path = document.parent / place if place else document
            assert path.exists(), (document.name, target)
            assert not anchor or anchor in anchors(path), (document.name, target)
