"""Stage: the page of the sentences, where every one can be found with every model's number."""

from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.io.sheets import write_csv
from evenhand.report.render import slug, write_page
from evenhand.report.sections.explorer import describe_pairs, describe_sentences, table_of

#: The sections in the order of the page: id, short name, title.
SECTIONS = (
    ("sentences", "SlguSet", "Sentences of SlguSet"),
    ("pairs", "Pairs", "Pairs of the stereotype sets"),
    ("files", "Files", "Where these rows lie"),
)


def write_sentences_page(
    *,
    templates: list[Input],
    out: Output,
    tables_out: Output,
    dataset: Input | None = None,
    bias: Input | None = None,
    bias_scores: list[Source] | None = None,
    published_dataset: Input | None = None,
    published_bias: Input | None = None,
    published_bias_scores: list[Source] | None = None,
    sets: list[Source] | None = None,
    pairs: list[Source] | None = None,
    scores: list[Source] | None = None,
    gates: list[Source] | None = None,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the page of the sentences: one HTML file that needs nothing beside it.

    It holds every sentence of SlguSet (this run's and the published one) and every pair of the
    stereotype sets, with the number of each model that is to be trusted. Its script finds,
    sorts and opens them; ``sentences.html#{id}`` opens one. Without the script the rows
    furthest from zero are shown. Whatever is left out, the page says that it is not there.

    Parameters
    ----------
    templates
        The files of ``evenhand/report/templates``.
    out
        The page, HTML.
    tables_out
        The folder ``sentences`` beside it: what the page's script shows, as one CSV for each
        edition and set, safe to open in a spreadsheet program.
    dataset
        ``slguset/slguset.parquet``.
    bias
        ``tables/slguset_bias.csv``: which models are to be trusted.
    bias_scores
        ``slguset/bias/{model}.parquet``; the name of the file is the name of the model.
    published_dataset
        ``slguset_published/slguset.parquet``.
    published_bias
        ``tables/slguset_published_bias.csv``.
    published_bias_scores
        ``slguset_published/bias/{model}.parquet``.
    sets
        ``stereotypes/{set}/pairs.json`` of each set, in the order of the page.
    pairs
        ``stereotypes/{set}/pairs.parquet``.
    scores
        ``stereotypes/{set}/scores/{model}.parquet``.
    gates
        ``stereotypes/{set}/gates/{model}.json``.
    pages
        The pages that this run makes, of `evenhand.report.pages.PAGES`, to link to in the
        masthead; all of them if it is not said.

    Returns
    -------
    dict
        rows (by collection), bytes.
    """
    editions = [
        describe_sentences("slguset", "This run’s data set", dataset, bias, bias_scores or []),
        describe_sentences(
            "slguset_published",
            "The published file",
            published_dataset,
            published_bias,
            published_bias_scores or [],
        ),
    ]
    collections = {
        "sentences": [one for one in editions if one],
        "pairs": _pair_sets(sets or [], pairs or [], scores or [], gates or []),
    }
    every = [one for group in collections.values() for one in group]
    Path(tables_out).mkdir(parents=True, exist_ok=True)
    for one in every:
        one["block"] = f"data-{slug(one['key'])}"
        name = f"{one['key'].replace('/', '_')}.csv"
        write_csv(Path(tables_out) / name, *table_of(one["data"]))
        one["tables"] = [f"sentences/{name}"]
    written = write_page(
        out,
        "sentences",
        templates,
        pages,
        sections=SECTIONS,
        collections=collections,
        files=[file for one in every for file in _files(one)],
        has_provenance=pages is None or "provenance" in pages,
    )
    return {"rows": {one["key"]: one["rows"] for one in every}, "bytes": written}


def _pair_sets(
    sets: list[Path], pairs: list[Path], scores: list[Path], gates: list[Path]
) -> list[dict[str, Any]]:
    """A collection per set of which the pairs are there; its folder is its name."""
    tables = {path.parent.name: path for path in pairs}
    described = []
    for document in sets:
        name = document.parent.name
        if name in tables:
            by_model = [
                {path.stem: path for path in paths if path.parents[1].name == name}
                for paths in (scores, gates)
            ]
            described.append(describe_pairs(document, tables[name], *by_model))
    return described


def _files(collection: dict[str, Any]) -> list[str]:
    """The results that a collection was read from, below the results' folder."""
    key = collection["key"]
    if key.startswith("stereotypes/"):
        return [
            f"{key}/pairs.parquet",
            *(f"{key}/scores/{m}.parquet" for m in collection["models"]),
        ]
    return [f"{key}/slguset.parquet", *(f"{key}/bias/{m}.parquet" for m in collection["models"])]


if __name__ == "__main__":
    stage.run(write_sentences_page)
