"""How soon a table of many rows on a page of the report can be used, in Chromium.

    python benchmarks/long_tables.py [--rows 20000] [--beside TEMPLATES] [--repeats 5]

The page is one table of made rows (tests/browser/numbers.html). Per side, the medians of: loading
until the table is drawn; an order by numbers at once; and, of a page that was looked at for some
seconds first, an order by numbers, by words, a filter, and the last page of the table. The sides
take turns in one browser. TEMPLATES is the folder of another version, such as
`workflow/evenhand/report/templates` of an older checkout.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "workflow"), str(REPOSITORY / "tests")]

from evenhand.report.render import environment  # noqa: E402
from in_browser import View, browser  # noqa: E402

OURS = REPOSITORY / "workflow/evenhand/report/templates"

#: Milliseconds that a page is looked at before something is done.
LOOKED = 3_000

#: What is done to the table, by name; each is over when the browser has drawn what came of it.
DEEDS = {
    "numbers": "document.querySelectorAll('thead th')[2].click()",
    "words": "document.querySelector('thead th').click()",
    "filter": "((field) => { field.value = '第12'; field.dispatchEvent(new Event('input')); })"
    "(document.querySelector('.dt-search input'))",
    "turn": "document.querySelector('.dt-paging button.last').click()",
}
TIMED = """(async () => {
  const start = performance.now();
  %s;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start;
})()"""
LOADED = """new Promise((done) => {
  requestAnimationFrame(() => setTimeout(() => done(performance.now())));
})"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    sides = {"ours": OURS} | ({"beside": arguments.beside} if arguments.beside else {})
    with tempfile.TemporaryDirectory() as folder, browser() as one:
        pages = {
            name: write(Path(folder) / f"{name}.html", templates, arguments.rows)
            for name, templates in sides.items()
        }
        taken: dict[str, list[dict[str, float]]] = {name: [] for name in pages}
        for _ in range(arguments.repeats):
            for name, page in pages.items():
                taken[name].append(measure(one, page))
    columns = ["side", *taken["ours"][0]]
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for name, times in taken.items():
        cells = [f"{statistics.median(one[key] for one in times):.0f}" for key in times[0]]
        print(f"| {name} | " + " | ".join(cells) + " |")


def write(page: Path, templates: Path, n: int) -> Path:
    """A page with a table of so many rows."""
    rows = [
        {"name": f"第{i * 7919 % n}对", "n": i * 104_729 % 90_001, "low": 1, "high": 9,
         "p": i % 500 / 500} for i in range(n)
    ]  # fmt: skip
    links = [{"href": "sentences.html", "name": "Sentences", "current": False}]
    files = [*sorted(templates.glob("*.*")), REPOSITORY / "tests/browser/numbers.html"]
    html = environment(files).get_template("numbers.html").render(
        rows=rows, sections=[], pages=links
    )  # fmt: skip
    page.write_text(html, encoding="utf-8")
    return page


def measure(one: Any, page: Path) -> dict[str, float]:
    """Megabytes of the page, and milliseconds of what is done."""
    view = opened(one, page)
    times = {"MB": page.stat().st_size / 1e6, "load": view.page.evaluate(LOADED)}
    times["numbers at once"] = view.page.evaluate(TIMED % DEEDS["numbers"])
    view.close()
    view = opened(one, page)
    view.page.wait_for_timeout(LOOKED)
    for name, deed in DEEDS.items():
        times[name] = view.page.evaluate(TIMED % deed)
    view.close()
    return times


def opened(one: Any, page: Path) -> View:
    view = View(one, page)
    view.page.wait_for_selector(".dt-info")
    return view


if __name__ == "__main__":
    main()
